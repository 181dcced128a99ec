import { assert, type Suite } from '../runner/spec.ts'
import { eventually } from '../stage/invoicing.ts'
import { makeDatabase } from '../stage/stage.ts'
import { type CrashPoint, type Life, makeLife } from './crash.ts'
import { type OneProcess, type ProcessOptions, startOneProcess } from './process.ts'

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
const LIMIT_MS = 600_000
const FULL_LIMIT_MS = 3_600_000
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
  const started: OneProcess[] = []
  const start = async (life: Life): Promise<OneProcess> => {
    const process = await startOneProcess(options, life)
    started.push(process)
    return process
  }
  try {
    const life = makeLife(point)
    const first = await start(life).catch((error) => {
      if (life.isDead()) return null
      throw error
    })
    const played = first && story.play(first).catch((error: unknown) => error)
    const done = eventually('the story to settle, or the crash', async () => life.isDead() || settled(), 120_000)
    done.catch(() => {})
    await Promise.race([life.death, Promise.all([played, done])])
    const crashed = life.isDead()
    await first?.end()

    const next = await start(makeLife())
    const again = await story.play(next)
    await eventually('the story to settle after the crash', settled, 120_000)
    await story.look(database.url, again)
    await next.end()
    const before = await story.fingerprint(database.url)
    const idle = makeLife()
    await nothingLeft(story, idle, await start(idle))
    assert.equal(await story.fingerprint(database.url), before)
    return { crashed, calls: life.calls }
  } finally {
    // A life that a failed assertion left behind would go on in the world of the next one.
    await Promise.allSettled(started.map((one) => one.end()))
    await story.clear()
    await database.drop()
  }
}

/** What every life reads again and again, whatever its story. */
const READS = /^sql (schedule_due|account_logos|facts_pending)$/

/** A third life looks at everything and does nothing. */
const nothingLeft = async <Played>(story: Story<Played>, { calls }: Life, third: OneProcess) => {
  const operator = await third.operator()
  const looked = async () => calls.some((call) => story.looked.test(call)) && operator.idle()
  await eventually('the third life to look', looked)
  await third.end()
  const work = calls.filter((call) => !story.mayDo.test(call) && !READS.test(call))
  assert.equal(work, [], `a life with nothing to do did: ${work.join(', ')}`)
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
      { timeoutMs: isFull ? FULL_LIMIT_MS : LIMIT_MS },
    )
  }
}
