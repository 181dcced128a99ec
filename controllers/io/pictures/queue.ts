/**
 * Pictures that are under way: fetched, made showable in one quick width, then made in all of them, one width after the other. It
 * holds up no pass; accounts take turns in each lane, width by width, so that nobody waits behind somebody's forty pictures. What
 * is made is kept at once, and what was asked for is asked for again by the pass that needs it: a process that dies loses the
 * width that it was at (hack/decisions/066).
 */

import { availableParallelism } from 'node:os'
import { SITE_KIND } from '../../../crds/site/schema.ts'
import { makeTurns, type Turns } from '../../base/threads/turns.ts'
import { PICTURE_WORK, type PictureLane, type PictureNext, type PictureTools, type WorkedPicture } from './work.ts'

/** For whom: `life` names a site and what it asks for now, so that a verdict on it is not one on what it asks for next. */
export type PictureAsker = { site: string; account: string; life: string }
export type PictureStanding = { state: 'asked' } | { state: 'bad'; detail: string } | null

export type PictureQueue = {
  /** All that a site needs, in place of what it asked for before. */
  ask(asker: PictureAsker, sources: readonly string[]): void
  /** Null for what it did not ask for, or what is done. */
  standing(asker: PictureAsker, source: string): PictureStanding
  /** The site is gone. */
  forget(site: string): void
  /** Nothing waits and nothing runs. */
  idle(): boolean
  /** Begins nothing more; what runs ends. */
  stop(): Promise<void>
}

/** `slots` at once, `own` of them for one account. Fetching costs nobody a core; the encoders leave one to everybody else. */
const LANES: Record<PictureLane, { slots: number; own: number }> = {
  fetch: { slots: 8, own: 4 },
  quick: { slots: 2, own: 2 },
  widths: { slots: Math.min(2, Math.max(1, availableParallelism() - 1)), own: 2 },
}
/** Decoded pictures that are kept between two widths, some 10 MB each; another is decoded again. */
const OPEN_MAX = 4
/** What could not be fetched is tried again by whoever looks after so long; bytes do not change. */
const BAD_FETCH_MS = 60_000
/** After a fault of ours. */
const AGAIN_MS = 5_000

export type PictureQueueDeps = PictureTools & {
  /** Something became of a picture of the site. */
  wake(kind: string, name: string): void
  now: () => Date
  log: { warn(fields: object, message: string): void }
}

/** One picture of one account. `askers`: site → life. */
type Task = WorkedPicture & { account: string; lane: PictureLane; askers: Map<string, string> }
type Bad = { life: string; detail: string; untilMs: number }

type Queue = {
  deps: PictureQueueDeps
  tasks: Map<string, Task>
  waiting: Record<PictureLane, Turns<Task>>
  running: Record<PictureLane, Set<Task>>
  /** By site, then by source. */
  bad: Map<string, Map<string, Bad>>
  opened: Set<Task>
  timers: Set<NodeJS.Timeout>
  stopping: PromiseWithResolvers<void> | null
}

const isAddress = (source: string): boolean => source.startsWith('https:')
const keyOf = (account: string, source: string): string => `${account}\n${source}`
const isRunning = ({ running }: Queue, task: Task): boolean => running[task.lane].has(task)

/** A decoded picture is large: only some are kept, those that were opened last. */
const remember = (queue: Queue, task: Task): void => {
  const { opened } = queue
  opened.delete(task)
  if (task.open === null) return
  opened.add(task)
  for (const other of opened) {
    if (opened.size <= OPEN_MAX) return
    if (isRunning(queue, other) || other === task) continue
    other.open = null
    opened.delete(other)
  }
}

const wakeAll = ({ deps }: Queue, { askers }: Task): void => {
  for (const site of askers.keys()) deps.wake(SITE_KIND, site)
}

const drop = (queue: Queue, task: Task): void => {
  queue.tasks.delete(keyOf(task.account, task.source))
  queue.waiting[task.lane].drop(task)
  queue.opened.delete(task)
  task.open = null
}

const condemn = ({ deps, bad }: Queue, { askers, source }: Task, detail: string): void => {
  const untilMs = isAddress(source) ? deps.now().getTime() + BAD_FETCH_MS : Number.POSITIVE_INFINITY
  for (const [site, life] of askers) {
    const own = bad.get(site) ?? new Map<string, Bad>()
    bad.set(site, own.set(source, { life, detail, untilMs }))
  }
}

/** What follows from one piece of work. */
const goOn = (queue: Queue, task: Task, next: PictureNext): void => {
  if ('to' in next) {
    const isNew = next.to !== task.lane
    task.lane = next.to
    // one picture after the other: each that is whole is one that the page has
    if (isNew) queue.waiting[task.lane].add(task)
    else queue.waiting[task.lane].addFirst(task)
    if (isNew && next.to === 'widths') wakeAll(queue, task)
    return
  }
  drop(queue, task)
  if ('bad' in next) condemn(queue, task, next.bad)
  wakeAll(queue, task)
}

/** Our own fault: whoever asked asks again. */
const failed = (queue: Queue, task: Task, error: unknown): void => {
  drop(queue, task)
  queue.deps.log.warn({ err: error, lane: task.lane }, 'a picture was not worked on; it is tried again')
  const timer = setTimeout(() => {
    queue.timers.delete(timer)
    wakeAll(queue, task)
  }, AGAIN_MS).unref()
  queue.timers.add(timer)
}

const run = async (queue: Queue, task: Task): Promise<void> => {
  const { lane } = task
  try {
    const next = await PICTURE_WORK[lane](queue.deps, task)
    remember(queue, task)
    queue.running[lane].delete(task)
    if (queue.stopping || task.askers.size === 0) drop(queue, task)
    else goOn(queue, task, next)
  } catch (error) {
    queue.running[lane].delete(task)
    if (queue.stopping) drop(queue, task)
    else failed(queue, task, error)
  }
  feed(queue)
}

const isEmpty = ({ running }: Queue): boolean => Object.values(running).every(({ size }) => size === 0)

const feed = (queue: Queue): void => {
  if (queue.stopping) {
    if (isEmpty(queue)) queue.stopping.resolve()
    return
  }
  for (const lane of Object.keys(LANES) as PictureLane[]) {
    const { slots, own } = LANES[lane]
    const running = queue.running[lane]
    const mayGo = (account: string) => (Map.groupBy(running, (one) => one.account).get(account)?.length ?? 0) < own
    while (running.size < slots) {
      const task = queue.waiting[lane].take(mayGo)
      if (!task) break
      running.add(task)
      void run(queue, task)
    }
  }
}

/** Nobody of that site waits for it any longer; what nobody waits for goes. */
const leave = (queue: Queue, site: string, stays: (source: string) => boolean): void => {
  for (const task of queue.tasks.values()) {
    if (!task.askers.has(site) || stays(task.source)) continue
    task.askers.delete(site)
    if (task.askers.size === 0 && !isRunning(queue, task)) drop(queue, task)
  }
}

const ask = (queue: Queue, { site, account, life }: PictureAsker, sources: readonly string[]): void => {
  if (queue.stopping) return
  const wanted = new Set(sources)
  // what was said of what it asked for before is of no more use
  if ([...(queue.bad.get(site)?.values() ?? [])].some((one) => one.life !== life)) queue.bad.delete(site)
  leave(queue, site, (source) => wanted.has(source))
  for (const source of wanted) {
    const key = keyOf(account, source)
    const known = queue.tasks.get(key)
    if (known) known.askers.set(site, life)
    else {
      const lane = isAddress(source) ? 'fetch' : 'quick'
      const task: Task = { account, source, lane, askers: new Map([[site, life]]), open: null }
      queue.tasks.set(key, task)
      queue.waiting[lane].add(task)
    }
  }
  feed(queue)
}

const standing = (queue: Queue, { site, account, life }: PictureAsker, source: string): PictureStanding => {
  const found = queue.bad.get(site)?.get(source)
  if (found?.life === life && queue.deps.now().getTime() < found.untilMs) return { state: 'bad', detail: found.detail }
  return queue.tasks.get(keyOf(account, source))?.askers.get(site) === life ? { state: 'asked' } : null
}

export const makePictureQueue = (deps: PictureQueueDeps): PictureQueue => {
  const queue: Queue = {
    deps,
    tasks: new Map(),
    waiting: { fetch: makeTurns(), quick: makeTurns(), widths: makeTurns() },
    running: { fetch: new Set(), quick: new Set(), widths: new Set() },
    bad: new Map(),
    opened: new Set(),
    timers: new Set(),
    stopping: null,
  }
  return {
    ask: (asker, sources) => ask(queue, asker, sources),
    standing: (asker, source) => standing(queue, asker, source),
    forget: (site) => {
      leave(queue, site, () => false)
      queue.bad.delete(site)
    },
    idle: () => queue.tasks.size === 0 && queue.timers.size === 0,
    stop: () => {
      queue.stopping ??= Promise.withResolvers()
      for (const timer of queue.timers) clearTimeout(timer)
      queue.timers.clear()
      if (isEmpty(queue)) queue.stopping.resolve()
      return queue.stopping.promise
    },
  }
}
