/** Lists and watches over several namespaces, as if they were one. */
import { sleep } from '../../base/backoff.ts'
import { KubeError } from '../../base/errors.ts'
import { isNewer } from '../cache.ts'
import type { KindRef, Kube, Listing, ListOptions, WatchOptions } from '../kube.ts'
import type { AnyObject, WatchEvent } from '../objects.ts'
import { admit, admitKnown, type Gateway, insideOf, isMany, leave, type Owned } from './admit.ts'

/** How often a namespace that cannot be looked into is asked again. */
const AGAIN_MS = 10_000

/** The Role is not there: the namespace goes, or was made anew. Nothing is said of what was in it. */
const isShut = (error: unknown): error is KubeError => error instanceof KubeError && error.status === 403

/** Where a list over several namespaces goes on: which one, and the oldest version of those before. */
type Cursor = { at: number; oldest: string; token: string }
const cursorOf = (text: string | undefined): Cursor =>
  text === undefined || text === '' ? { at: 0, oldest: '', token: '' } : (JSON.parse(text) as Cursor)

const older = (a: string, b: string): string => (a === '' || (b !== '' && isNewer(a, b)) ? b : a)

/** What was seen of a kind in a namespace, for as long as nobody may look there. */
type Kept = Map<string, AnyObject>
export type Streaming = Gateway & { kept: Map<string, Kept>; shut: Set<string>; againMs?: number }

const keptIn = ({ kept }: Streaming, { plural }: KindRef, namespace: string): Kept => {
  const key = `${plural}/${namespace}`
  const found = kept.get(key) ?? new Map<string, AnyObject>()
  kept.set(key, found)
  return found
}

const setReached = async ({ shut, places }: Streaming, namespace: string, isReached: boolean): Promise<void> => {
  if (shut.has(namespace) !== isReached) return
  await places.reach(namespace, isReached)
  if (isReached) shut.delete(namespace)
  else shut.add(namespace)
}

/** A page of one namespace; of one that is shut what was seen there last. */
const pageIn = async (
  door: Streaming,
  kind: KindRef,
  namespace: string,
  options: ListOptions,
): Promise<Listing<AnyObject>> => {
  try {
    const page = await door.kube.list<Owned>(kind, { ...options, namespace })
    await setReached(door, namespace, true)
    const admitted = await admit(door, kind, namespace, page.items)
    return { ...page, items: admitted.filter((one) => one !== null) }
  } catch (error) {
    if (!isShut(error) || namespace === door.tenants.home) throw error
    await setReached(door, namespace, false)
    return { resourceVersion: '', continue: '', items: [...keptIn(door, kind, namespace).values()] }
  }
}

export const makeList = (door: Streaming): Pick<Kube, 'list'> => ({
  list: async <R>(kind: KindRef, options: ListOptions = {}): Promise<Listing<R>> => {
    if (!isMany(door, kind, options.namespace)) return door.kube.list<R>(kind, options)
    const { namespaces } = door
    const { at, oldest, token } = cursorOf(options.continue)
    const { continue: _, ...plain } = options
    const namespace = namespaces[at] ?? door.tenants.home
    const page = await pageIn(door, kind, namespace, { ...plain, ...(token && { continue: token }) })
    const kept = keptIn(door, kind, namespace)
    if (token === '' && !door.shut.has(namespace)) kept.clear()
    for (const item of page.items) kept.set(item.metadata.name, item)
    // a watch begins where the first of them was looked at: what changed meanwhile comes twice, and nothing is missed
    const resourceVersion = older(oldest, page.resourceVersion)
    const isLast = page.continue === '' && at + 1 >= namespaces.length
    const next: Cursor = { at: page.continue === '' ? at + 1 : at, oldest: resourceVersion, token: page.continue }
    return { resourceVersion, items: page.items as R[], continue: isLast ? '' : JSON.stringify(next) }
  },
})

/** Each stream is at a version of its own; what all have reached is the least of them. */
const makeMarks = (namespaces: readonly string[], from: string) => {
  const reached = new Map(namespaces.map((namespace) => [namespace, from]))
  return {
    /** @returns what all have reached */
    at: (namespace: string, version: string | undefined): string => {
      if (version !== undefined && isNewer(version, reached.get(namespace))) reached.set(namespace, version)
      return [...reached.values()].reduce((least, one) => (isNewer(least, one) ? one : least))
    },
    /** Nobody waits for it. */
    without: (namespace: string): void => void reached.delete(namespace),
  }
}

/** What is seen inside of one event, in the order of its stream: whose a new name is has to be asked. */
const makeTake = (door: Streaming, kind: KindRef, namespace: string, tell: (event: WatchEvent) => void) => {
  const kept = keptIn(door, kind, namespace)
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  const told = (type: WatchEvent['type'], seen: AnyObject | null): void => {
    if (seen === null) return
    if (type === 'DELETED') kept.delete(seen.metadata.name)
    else kept.set(seen.metadata.name, seen)
    tell({ type, object: seen })
  }
  const later = async ({ type, object }: WatchEvent): Promise<void> => {
    const wasSeen = kept.get(object.metadata.name)?.metadata.uid === object.metadata.uid
    if (type === 'DELETED') {
      await leave(door, kind, namespace, object)
      told(type, wasSeen ? insideOf(door, object) : null)
    } else told(type, (await admit(door, kind, namespace, [object]))[0] ?? null)
  }
  /** @param done is told once it is seen */
  const take = (event: WatchEvent, done: () => void, failed: (error: unknown) => void): void => {
    const { type, object } = event
    if (waiting === 0 && type === 'BOOKMARK') {
      done()
      return
    }
    const known = waiting > 0 || type === 'DELETED' ? undefined : admitKnown(door, kind, namespace, object)
    if (known !== undefined) {
      told(type, known)
      done()
      return
    }
    waiting += 1
    const work = async () => {
      if (type !== 'BOOKMARK') await later(event)
      done()
    }
    // after one that failed nothing more is told: the stream is opened again from before it
    last = last.then(work).finally(() => {
      waiting -= 1
    })
    last.catch(failed)
  }
  return { take, settled: () => last }
}

/** Until it can be looked into again. @throws KubeError Expired then: all is listed anew */
const untilOpen = async (door: Streaming, kind: KindRef, namespace: string, signal: AbortSignal): Promise<void> => {
  await setReached(door, namespace, false)
  for (;;) {
    await sleep(door.againMs ?? AGAIN_MS, signal)
    if (signal.aborted) return
    const isOpen = await door.kube.list(kind, { namespace, limit: 1, signal }).then(
      () => true,
      () => false,
    )
    if (isOpen) throw new KubeError(`watch ${kind.plural}`, { status: 410, reason: 'Expired' })
  }
}

const isCut = (error: unknown): boolean => error instanceof KubeError && error.reason === 'Aborted'

const watchAll = async (door: Streaming, kind: KindRef, options: WatchOptions): Promise<void> => {
  const { namespaces, tenants } = door
  const marks = makeMarks(namespaces, options.resourceVersion)
  const ended = new AbortController()
  const signal = AbortSignal.any([options.signal, ended.signal])
  let cause: unknown
  const fail = (error: unknown): void => {
    if (!ended.signal.aborted && !(options.signal.aborted && isCut(error))) cause ??= error
    ended.abort()
  }
  const stream = async (namespace: string): Promise<void> => {
    const tell = (event: WatchEvent): void => {
      if (!signal.aborted) options.onEvent(event)
    }
    const { take, settled } = makeTake(door, kind, namespace, tell)
    const onEvent = (event: WatchEvent): void => {
      const version = event.object.metadata.resourceVersion
      // an event says where its own stream is; from where to go on is what all have reached
      const reached = () =>
        tell({ type: 'BOOKMARK', object: { metadata: { name: '', resourceVersion: marks.at(namespace, version) } } })
      take(event, reached, fail)
    }
    try {
      await door.kube.watch(kind, { ...options, namespace, signal, onEvent })
      await settled()
    } catch (error) {
      if (!isShut(error) || namespace === tenants.home) throw error
      marks.without(namespace)
      await untilOpen(door, kind, namespace, signal)
    }
  }
  // the first that ends ends all: they are opened again together, from what all have reached
  await Promise.all(namespaces.map((namespace) => stream(namespace).then(() => ended.abort(), fail)))
  if (cause !== undefined) throw cause
}

export const makeWatch = (door: Streaming): Pick<Kube, 'watch'> => ({
  watch: (kind, options) =>
    isMany(door, kind, options.namespace) ? watchAll(door, kind, options) : door.kube.watch(kind, options),
})
