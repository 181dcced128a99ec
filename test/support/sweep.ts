import { type CrashPoint, makeLife } from './crash.ts'
import { eventually } from './invoicing.ts'
import { type OneProcess, type ProcessOptions, startOneProcess } from './process.ts'
import { assert, type Suite } from './spec.ts'
import { makeDatabase } from './stage.ts'

/**
 * The crash sweep: a story is played by both processes, killed before and after every call they make, started again,
 * played again by a client that never got its answer, and looked at; a third life then finds nothing left to do.
 */
export type Story<Played> = {
  options: Omit<ProcessOptions, 'databaseUrl'>
  /** Before each life of the world. */
  prepare?(databaseUrl: string): Promise<void>
  /** What the client does. Played again after the crash: the same references, the same answers. */
  play(process: OneProcess): Promise<Played>
  /** Whether the world is as it should be in the end. */
  isSettled(databaseUrl: string): Promise<boolean>
  /** Asserts what must hold after the second life. */
  look(databaseUrl: string, played: Played): Promise<void>
  /** Something that nobody may have changed while there was nothing to do. */
  fingerprint(databaseUrl: string): Promise<unknown>
  /** Calls that a life without work may make. */
  mayDo: RegExp
  /** A call that shows that the third life looked at the resource. */
  looked: RegExp
  /** Removes what the story made outside its database. */
  clear(): Promise<void>
  /** At least so many calls are on the way, or the sweep swept nothing. */
  deathsMin: number
  deathsMax?: number
  /** The plain run dies at every n-th call only, `--full` at each. */
  every?: number
}

const DEATHS_MAX = 400
const isFull = process.env.BOTTEGA_TEST_FULL === '1'

/** One life up to its crash (or its end), a second life after it, and what the world looks like then. */
export const live = async <Played>(
  story: Story<Played>,
  point?: CrashPoint,
): Promise<{ crashed: boolean; calls: string[] }> => {
  const database = await makeDatabase()
  await story.prepare?.(database.url)
  const options = { ...story.options, databaseUrl: database.url }
  const settled = () => story.isSettled(database.url)
  try {
    const life = makeLife(point)
    const first = await startOneProcess(options, life).catch((error) => {
      if (life.isDead()) return null
      throw error
    })
    const played = first && story.play(first).catch((error: unknown) => error)
    const done = eventually('the story to settle, or the crash', async () => life.isDead() || settled(), 60_000)
    done.catch(() => {})
    await Promise.race([life.death, Promise.all([played, done])])
    const crashed = life.isDead()
    await first?.end()

    const next = await startOneProcess(options, makeLife())
    const again = await story.play(next)
    await eventually('the story to settle after the crash', settled, 60_000)
    await story.look(database.url, again)
    await next.end()
    await nothingLeft(story, options)
    return { crashed, calls: life.calls }
  } finally {
    await story.clear()
    await database.drop()
  }
}

/** A third life looks at everything and does nothing. */
const nothingLeft = async <Played>(story: Story<Played>, options: ProcessOptions) => {
  const before = await story.fingerprint(options.databaseUrl)
  const life = makeLife()
  const third = await startOneProcess(options, life)
  const operator = await third.operator()
  const looked = async () => life.calls.some((call) => story.looked.test(call)) && operator.idle()
  await eventually('the third life to look', looked)
  await third.end()
  const work = life.calls.filter((call) => !story.mayDo.test(call))
  assert.equal(work, [], `a life with nothing to do did: ${work.join(', ')}`)
  assert.equal(await story.fingerprint(options.databaseUrl), before)
}

/** The two sweeps as sentences. @param what the story's end, as "one number, one mail" */
export const sweeps = <Played>(t: Suite, what: string, story: () => Story<Played>): void => {
  for (const when of ['before', 'after'] as const) {
    t(
      `${when} any call: ${what}, nothing left to do`,
      async () => {
        const { deathsMin, deathsMax = DEATHS_MAX, every = 1 } = story()
        const stride = isFull ? 1 : every
        let deaths = 0
        for (let at = 0; ; at += stride) {
          const { crashed, calls } = await live(story(), { call: at, when }).catch((error) => {
            throw new Error(`crash ${when} call ${at}: ${error.details ?? ''}${error.stack}`)
          })
          if (!crashed) break
          deaths++
          assert.ok(at < deathsMax, `no end after ${calls.length} calls`)
        }
        assert.ok(deaths * stride >= deathsMin, `only ${deaths} crash points`)
        console.log(`  ${deaths} crash points ${when} a call`)
      },
      { timeoutMs: 600_000 },
    )
  }
}
