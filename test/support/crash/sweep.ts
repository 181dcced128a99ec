import { appendFileSync } from 'node:fs'
import { assert, type Suite } from '../runner/spec.ts'
import { drawn, seed } from './seed.ts'
import { type Death, type Lived, live, type Story } from './story.ts'

/**
 * The sweeps as sentences: which deaths of a story are lived. The plain run takes some, chosen by the seed; `--full` each call
 * in each way. Between the two, `BOTTEGA_TEST_DEATHS=20` takes so many of each story; and `BOTTEGA_TEST_SWEEP_LOG=FILE` has a line
 * of each death as it was lived, for runs that take hours.
 */

const DEATHS_MAX = 400
const LIMIT_MS = 600_000
/** Of a story on a real host: a hundred calls, each in six ways, ten seconds each. */
const FULL_LIMIT_MS = 4 * 3_600_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const deathsAsked = Number(process.env.BOTTEGA_TEST_DEATHS ?? 0)
const logFile = process.env.BOTTEGA_TEST_SWEEP_LOG
/** Every death that there is, or as many as were asked for. */
export const isLong = isFull || deathsAsked > 0

const told = ({ call, when, of, client, isAsync, again }: Death): string =>
  [
    `crash ${when} ${of ? 'effect' : 'call'} ${call}`,
    ...(client ? [`a client that ${client}${isAsync ? ' and did not wait' : ''}`] : []),
    ...(again ? [`and ${again.when} call ${again.call} of the next life`] : []),
    `seed ${seed}`,
  ].join(', ')

const note = (line: string): void => {
  if (logFile) appendFileSync(logFile, `${new Date().toISOString()} ${line}\n`)
}

/** As `live`; what fails says where it died. */
const die = <Played>(story: Story<Played>, death: Death): Promise<Lived> =>
  live(story, death).catch((error) => {
    const what = `${told(death)}: ${error.details ?? ''}${error.stack}`
    note(`failed, ${what}`)
    throw new Error(what)
  })

/** The two sweeps as sentences, by a client that asks again. @param what the story's end, as "one number, one mail" */
export const sweeps = <Played>(t: Suite, what: string, story: () => Story<Played>): void => {
  const limit = { timeoutMs: isLong ? FULL_LIMIT_MS : LIMIT_MS }
  for (const when of ['before', 'after'] as const) {
    t(
      `${when} any call: ${what}, nothing left to do`,
      async () => {
        const { deathsMin = 1, deathsMax = DEATHS_MAX, every = 1 } = story()
        const stride = isFull ? 1 : every
        const from = Math.floor(drawn(what, when) * stride)
        let deaths = 0
        for (let at = from; ; at += stride) {
          const { crashed, calls } = await die(story(), { call: at, when })
          if (!crashed) break
          deaths++
          assert.ok(at < deathsMax, `no end after ${calls.length} calls`)
        }
        assert.ok(from + deaths * stride >= deathsMin, `only ${deaths} crash points`)
        console.log(`  ${deaths} crash points ${when} a call, from ${from} on (seed ${seed})`)
      },
      limit,
    )
  }
}

/** Each way of dying, in an order in which few of them are unlike. */
const WAYS: readonly Omit<Death, 'call'>[] = [
  { when: 'after', client: 'never comes back', isAsync: true },
  { when: 'before', client: 'comes again' },
  { when: 'before', client: 'never comes back' },
  { when: 'after', client: 'comes again' },
  { when: 'after', client: 'never comes back' },
  { when: 'before', client: 'never comes back', isAsync: true },
]

/** Deaths spread over so many calls, each at a place and in a way that the seed says. */
const drawDeaths = (calls: number, { what, points: few, ways = WAYS }: Ended): Death[] => {
  const points = deathsAsked > 0 ? Math.min(deathsAsked, calls) : few
  const turn = Math.floor(drawn(what) * ways.length)
  return Array.from({ length: points }, (_, n) => {
    const call = Math.floor(((n + drawn(what, n)) * calls) / points)
    return { call, ...(ways[(n + turn) % ways.length] as Omit<Death, 'call'>) }
  })
}

const everyDeath = (calls: number, { ways = WAYS }: Ended): Death[] =>
  Array.from({ length: calls }, (_, call) => ways.map((way) => ({ call, ...way }))).flat()

/** Calls of a start, and of the work after it. */
const AGAIN_MAX = 40

const dyingAgain = (what: string, deaths: readonly Death[]): Death[] =>
  deaths.map((death, n) => {
    const call = Math.floor(drawn(what, 'again', n) * AGAIN_MAX)
    return { ...death, again: { call, when: n % 2 === 0 ? 'after' : 'before' } }
  })

export type Ended = {
  /** What the story's end is, as "it is voided once". */
  what: string
  /** At least so many calls are on the way, or the sweep swept nothing. */
  callsMin: number
  /** How many deaths a plain run takes. */
  points: number
  ways?: typeof WAYS
  /** The life after the first crash ends in its start or its work, too. */
  diesAgain?: boolean
  /** It dies round calls of these names alone, each of which leaves something behind. Any call when left out. */
  effects?: RegExp
}

const ALONE = WAYS.filter(({ client }) => client === 'never comes back')

const dieAll = async <Played>(story: () => Story<Played>, calls: number, ended: Ended) => {
  const { what, diesAgain = false, effects: of } = ended
  const chosen = isFull ? everyDeath(calls, ended) : drawDeaths(calls, ended)
  const once = of ? chosen.map((death) => ({ ...death, of })) : chosen
  const deaths = diesAgain ? dyingAgain(what, once) : once
  const came = new Map<string, number>()
  for (const death of deaths) {
    const beganMs = performance.now()
    const lived = await die(story(), death)
    const end = lived.crashed ? lived.came || death.client || '' : 'not reached'
    came.set(end, (came.get(end) ?? 0) + 1)
    note(
      `${what}: ${told(death)} (${lived.calls.findLast((call) => death.of?.test(call) !== false)}): ${end}, in ${Math.round((performance.now() - beganMs) / 1_000)} s`,
    )
  }
  const counted = [...came].map(([end, count]) => `${count} ${end}`).join(', ')
  console.log(`  ${what}: ${deaths.length} deaths in ${calls} calls (seed ${seed}): ${counted}`)
}

/**
 * One story as one sentence: without a crash, then with crashes at calls and of kinds that the seed says, the client that
 * never comes back among them; with `--full` each call in each way.
 */
export const sweep = <Played>(t: Suite, ended: Ended, story: () => Story<Played>): void => {
  t(
    `wherever it dies, whoever comes back: ${ended.what}`,
    async () => {
      const { calls: all } = await live(story())
      const calls = all.filter((call) => ended.effects?.test(call) !== false)
      assert.ok(calls.length >= ended.callsMin, `only ${calls.length} calls: ${calls.join(', ')}`)
      await dieAll(story, calls.length, ended)
    },
    { timeoutMs: isLong ? FULL_LIMIT_MS : LIMIT_MS },
  )
}

/** What one story on a host tells it, at least: beyond that a cut may find nothing to cut. */
const CUTS_OF = 12

/**
 * Nobody dies, and the line to the host breaks in one of the things that it is told; with a long run in each of the first ones.
 * @param story with the place of the cut
 */
export const cuts = <Played>(t: Suite, what: string, story: (cutAt: number) => Story<Played>): void => {
  const one = Math.floor(drawn(what, 'cut') * CUTS_OF)
  t(
    `wherever the line to the host breaks: ${what}`,
    async () => {
      const places = isLong ? Array.from({ length: CUTS_OF }, (_, place) => place) : [one]
      for (const place of places) {
        await live(story(place)).catch((error) => {
          throw new Error(
            `cut in number ${place} of what the host is told, seed ${seed}: ${error.details ?? ''}${error.stack}`,
          )
        })
        note(`${what}: the line cut in number ${place}`)
      }
    },
    { timeoutMs: isLong ? FULL_LIMIT_MS : LIMIT_MS },
  )
}

/** Deaths of which nobody comes back, in a plain run. */
const ALONE_POINTS = 3

/** The same by a client that never comes back. */
export const sweepAlone = <Played>(t: Suite, what: string, story: () => Story<Played>): void => {
  t(
    `and nobody comes back: ${what}, or less, and nothing left to do`,
    async () => {
      const { calls } = await live(story())
      await dieAll(story, calls.length, { what, callsMin: 1, points: ALONE_POINTS, ways: ALONE })
    },
    { timeoutMs: isLong ? FULL_LIMIT_MS : LIMIT_MS },
  )
}

const LAG_MS = 1_500

/** The story without a crash, where the controllers see late what others wrote, and not all of it. */
export const lags = <Played>(t: Suite, what: string, story: () => Story<Played>): void => {
  t(`with a cache that lags, and misses what was between: ${what}`, async () => {
    const { options, ...more } = story()
    await live({ ...more, options: { ...options, lagMs: LAG_MS } })
  })
}
