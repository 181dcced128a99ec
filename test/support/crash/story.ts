import { setTimeout as sleep } from 'node:timers/promises'
import { type Commands, readOperation } from '../../../api/command/operation.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { commands } from '../../../api/wiring/commands.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert } from '../runner/spec.ts'
import { eventually } from '../stage/invoicing.ts'
import { makeDatabase } from '../stage/stage.ts'
import { type CrashPoint, type Life, makeLife } from './crash.ts'
import { type OneProcess, type ProcessApi, type ProcessOptions, startOneProcess } from './process.ts'
import { outlived } from './reserved.ts'
import { unrest } from './rest.ts'

/**
 * The crash sweep: a story is played by both processes, killed before and after every call they make, started again,
 * played again by a client that never got its answer (or left alone by one that never comes back), and looked at; a third
 * life then finds nothing left to do.
 */
export type Story<Played> = Over & {
  options: Omit<ProcessOptions, 'databaseUrl'>
  /** Before each life of the world. */
  prepare?(databaseUrl: string): Promise<void>
  /** What stands before the client begins: no process dies in it. */
  setUp?(process: OneProcess): Promise<void>
  /** What the client does. Played again after the crash: the same references, the same answers. */
  play(process: OneProcess, asking: Asking): Promise<Played>
  /** Whether the world is as it should be in the end. */
  isSettled(databaseUrl: string): Promise<boolean>
  /** Asserts what must hold after the second life. */
  look(databaseUrl: string, played: Played): Promise<void>
  /** Asserts what must hold when nobody came back: each request did nothing, or all of it, once. @returns how far it came */
  alone?(databaseUrl: string): Promise<string>
  /** How it stands, for whoever reads that it never settled. */
  stand?(databaseUrl: string): Promise<unknown>
  /** Something that nobody may have changed while there was nothing to do. */
  fingerprint(databaseUrl: string): Promise<unknown>
  /** Calls that a life without work may make. */
  mayDo: RegExp
  /** A call that shows that the third life looked at the resource. */
  looked: RegExp
  /** Removes what the story made outside its database. */
  clear(): Promise<void>
}

/** How the sweep of every n-th call goes over those of its story. */
type Over = {
  /** At least so many calls are on the way, or the sweep swept nothing. */
  deathsMin?: number
  deathsMax?: number
  /** The plain run dies at every n-th call only, from one that the seed says; `--full` at each. */
  every?: number
  /** How long it may take to come to rest; two minutes when left out. */
  restMs?: number
}

/** Of the requests of a story: where the client does not wait, `prefer: respond-async`. */
export type Asking = { headers: Record<string, string> }

export type Client = 'comes again' | 'never comes back'
export type Death = CrashPoint & {
  client?: Client
  /** The client has not even waited for its first answer. */
  isAsync?: boolean
  /** The second life ends too, so many calls from its start. */
  again?: CrashPoint
}

const REST_MS = 120_000
/** What nobody waits for ends soon: its next call of any kind fails. */
const LATE_MS = 2_000

type World = { databaseUrl: string; start(life: Life): Promise<OneProcess> }

const unrestIn = <Played>({ options }: Story<Played>, { databaseUrl }: World): Promise<string[]> => {
  const { namespace, now = () => new Date() } = options
  return unrest(databaseUrl, namespace, now())
}

const LAST_CALLS = 12

/** Waits until everything that was taken in is decided, by nobody but the process itself. @param calls of its life */
const comeToRest = async <Played>(
  story: Story<Played>,
  world: World,
  { process, calls }: { process: OneProcess; calls: readonly string[] },
): Promise<void> => {
  const operator = await process.operator()
  let owed: string[] = []
  const isAtRest = async () => {
    owed = await unrestIn(story, world)
    return owed.length === 0 && operator.idle()
  }
  await eventually('rest', isAtRest, story.restMs ?? REST_MS).catch(async () => {
    const stand = JSON.stringify(await story.stand?.(world.databaseUrl))
    const left = owed.join('; ') || `it is still working: ${calls.slice(-LAST_CALLS).join(', ')}`
    throw new Error(`nobody came back, and after ${story.restMs ?? REST_MS} ms ${left}; it stands as ${stand}`)
  })
}

/** Whoever was answered 202 and asks now is told how it ended. */
const readOperations = async ({ api }: OneProcess, databaseUrl: string): Promise<void> => {
  // what a story's requests are answered with is enough to tell how they ended
  const all = commands as unknown as Commands<ProcessApi>
  for (const { id, account, command } of await query(databaseUrl, 'select id, account, command from operations')) {
    const caller = { account, scopes: null, by: { kind: 'token', id: 't' }, profile: {} } as unknown as Caller
    const { state } = await readOperation(api, all, { id: String(id), caller })
    assert.is.not(state, 'pending', `the operation of ${command} is never settled`)
  }
}

const settle = async <Played>(story: Story<Played>, { databaseUrl }: World, what: string, isOver = () => false) => {
  try {
    await eventually(what, async () => isOver() || story.isSettled(databaseUrl), story.restMs ?? REST_MS)
  } catch (error) {
    throw new Error(`${error}; it stands as ${JSON.stringify(await story.stand?.(databaseUrl))}`)
  }
}

const orThrow = (error: unknown, life: Life): unknown => {
  if (life.isDead()) return error
  throw error
}

/** The first life up to its end. @returns the calls that are the story's, and whether it was killed */
const firstLife = async <Played>(story: Story<Played>, world: World, death?: Death) => {
  const life = makeLife(story.setUp ? undefined : death)
  const first = await world.start(life).catch((error) => {
    if (life.isDead()) return null
    throw error
  })
  if (first && story.setUp) {
    await story.setUp(first)
    await comeToRest(story, world, { process: first, calls: life.calls })
  }
  const from = story.setUp ? life.calls.length : 0
  if (story.setUp && death) life.endIn(death)
  const headers: Record<string, string> = death?.isAsync ? { prefer: 'respond-async' } : {}
  // What a client is told by the dead is nothing to go by; what it is told by the living is.
  const played = first && story.play(first, { headers }).catch((error: unknown) => orThrow(error, life))
  const done = settle(story, world, 'the story to settle, or the crash', () => life.isDead())
  done.catch(() => {})
  await Promise.race([life.death, Promise.all([played, done])])
  const crashed = life.isDead()
  // A client of the dead that is still at it would go on in the world of the next life.
  await Promise.all([first?.end(), crashed && Promise.race([played, sleep(LATE_MS)])])
  return { crashed, calls: life.calls.slice(from) }
}

/** The life after the crash ends as well, somewhere in its start or its work. */
const dieAgain = async (world: World, again: CrashPoint): Promise<void> => {
  const life = makeLife(again)
  const next = await world.start(life).catch((error) => {
    if (life.isDead()) return null
    throw error
  })
  await Promise.race([life.death, sleep(LATE_MS)])
  await next?.end()
}

/** What every life reads again and again, whatever its story. */
const READS = /^sql (schedule_due|due_site_names|reviews_waiting|account_logos|facts_pending|roots)$/

/** A third life looks at everything and does nothing. @param isThere whether there is anything to look at */
const nothingLeft = async <Played>(story: Story<Played>, world: World, isThere: boolean) => {
  const { calls, ...life } = makeLife()
  const third = await world.start({ calls, ...life })
  const operator = await third.operator()
  const isLooked = () => !isThere || calls.some((call) => story.looked.test(call))
  await eventually('the third life to look', async () => isLooked() && operator.idle())
  await third.end()
  const work = calls.filter((call) => !story.mayDo.test(call) && !READS.test(call))
  assert.equal(work, [], `a life with nothing to do did: ${work.join(', ')}`)
}

/** Looks in a row that find nothing to do: what was just recorded has not woken its resource yet. */
const CALM_LOOKS = 8
const REST_LOOKS_MAX = 100
const REST_LOOK_MS = 50

/** The last view is written after what it shows: a life that ends between the two leaves that to the next. */
const rest = async (process: OneProcess): Promise<void> => {
  const operator = await process.operator()
  let calm = 0
  // what is never idle looks at a host again and again, and shows the same
  for (let look = 0; look < REST_LOOKS_MAX && calm < CALM_LOOKS; look++) {
    calm = operator.idle() ? calm + 1 : 0
    await sleep(REST_LOOK_MS)
  }
}

/** The parts of a fingerprint, each apart: what differs is read in one line. */
const assertSameWorld = (after: unknown, before: unknown): void => {
  const parts = (world: unknown): string[] =>
    (Array.isArray(world) ? world : [world]).flat().map((part) => JSON.stringify(part))
  const [now, then] = [parts(after), parts(before)]
  const changed = now.filter((part) => !then.includes(part))
  const gone = then.filter((part) => !now.includes(part))
  assert.equal({ changed, gone }, { changed: [], gone: [] }, 'a life with nothing to do left the world as it was')
}

/** After the crash: the client plays again, or nobody does. @returns how far it came, where nobody did */
const secondLife = async <Played>(story: Story<Played>, world: World, { client, again }: Death): Promise<string> => {
  if (again) await dieAgain(world, again)
  const life = makeLife()
  const next = await world.start(life)
  if (client === 'never comes back') {
    await comeToRest(story, world, { process: next, calls: life.calls })
    const came = (await story.alone?.(world.databaseUrl)) ?? ''
    await readOperations(next, world.databaseUrl)
    await rest(next)
    await next.end()
    return came
  }
  const played = await story.play(next, { headers: {} })
  await settle(story, world, 'the story to settle after the crash')
  await comeToRest(story, world, { process: next, calls: life.calls })
  await story.look(world.databaseUrl, played)
  await rest(next)
  await next.end()
  return ''
}

export type Lived = { crashed: boolean; calls: string[]; came: string }

/** One life up to its crash (or its end), a second life after it, and what the world looks like then. */
export const live = async <Played>(story: Story<Played>, death?: Death): Promise<Lived> => {
  const database = await makeDatabase()
  const started: OneProcess[] = []
  const world: World = {
    databaseUrl: database.url,
    start: async (life) => {
      const process = await startOneProcess({ ...story.options, databaseUrl: database.url }, life)
      started.push(process)
      return process
    },
  }
  try {
    await story.prepare?.(database.url)
    const { crashed, calls } = await firstLife(story, world, death)
    const isAlone = crashed && death?.client === 'never comes back'
    const came = await secondLife(story, world, { call: 0, when: 'before', ...(crashed && death) })
    const before = await story.fingerprint(database.url)
    await nothingLeft(story, world, !isAlone)
    assertSameWorld(await story.fingerprint(database.url), before)
    if (isAlone) assert.equal(await outlived(database.url), [], 'reserved for nobody')
    return { crashed, calls, came }
  } finally {
    // A life that a failed assertion left behind would go on in the world of the next one.
    await Promise.allSettled(started.map((one) => one.end()))
    await story.clear()
    await database.drop()
  }
}
