/** The listing half of a reflector: the first list, the list after a gap, and the audit beside a running watch. */
import { isMass } from '../../../crds/kernel/desire/absence.ts'
import type { Key } from '../../../crds/kernel/object.ts'
import { sleep } from '../../base/backoff.ts'
import { isGone } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isNewer, keyOfObject, type Store } from '../cache.ts'
import type { KindRef, Kube, Listing, Selection } from '../kube.ts'
import type { AnyObject } from '../objects.ts'

/** How long the watch may lag behind a list before a difference counts as a missed event. */
const GRACE_MS = 2_000
const PAGE_LIMIT = 500

export type ListerOptions<R> = {
  kube: Pick<Kube, 'list'>
  kind: KindRef
  selection: Selection
  store: Store<R>
  /** `lost`: it is not there any more, and nobody is known to have deleted it. */
  notify: (object: R, deleted: boolean, lost?: boolean) => void
  /** The server has answered. */
  onAnswer: () => void
  signal: AbortSignal
  graceMs?: number
  pageLimit?: number
  log?: Log
}

export type Lister = {
  /** Makes the cache what the server says, and finds what was deleted meanwhile. @returns where a watch may start */
  relist(): Promise<string>
  /** Compares a list with the cache. @returns how many events were missed, or 'time_travel': then list again */
  audit(): Promise<number | 'time_travel'>
}

/** All pages, one by one. @returns the version of the list */
const eachPage = async <R>(options: ListerOptions<R>, onPage: (page: Listing<R>) => void): Promise<string> => {
  const { kube, kind, selection, signal } = options
  let limit = options.pageLimit ?? PAGE_LIMIT
  let next = ''
  for (;;) {
    try {
      const paging = { ...(limit > 0 && { limit }), ...(next && { continue: next }) }
      const page = await kube.list<R>(kind, { ...selection, ...paging, signal })
      options.onAnswer()
      onPage(page)
      if (page.continue === '') return page.resourceVersion
      next = page.continue
    } catch (error) {
      // The continue token expired under a large list: once more, in one piece.
      if (!isGone(error) || next === '') throw error
      limit = 0
      next = ''
    }
  }
}

const isBornAfter = (held: AnyObject | undefined, listed: string): boolean =>
  held !== undefined && isNewer(held.metadata.resourceVersion, listed)

const at = <R extends AnyObject>(object: R, resourceVersion: string): R => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
})

/** @returns whether it was news to the cache */
const take = <R extends AnyObject>({ store, notify }: ListerOptions<R>, object: R): boolean => {
  if (!store.put(object)) return false
  notify(object, store.get(keyOfObject(object)) === undefined)
  return true
}

const isMassLost = <R>({ kind, log }: ListerOptions<R>, gone: number, known: number): boolean => {
  const lost = isMass(gone, known)
  if (lost) log?.error({ kind: kind.kind, gone, known }, 'too much is missing at once to have been deleted')
  return lost
}

/** Lists everything into the cache. @returns what was listed at which version, and whether the server went back in time */
const listAll = async <R extends AnyObject>(
  options: ListerOptions<R>,
): Promise<{ seen: Set<Key>; listed: string; wentBack: boolean }> => {
  const { store, kind, log } = options
  const newestBefore = store.newest()
  const seen = new Set<Key>()
  let wentBack = false
  const listed = await eachPage(options, (page) => {
    if (seen.size === 0 && newestBefore !== undefined && isNewer(newestBefore, page.resourceVersion)) {
      // The server was restored from an old snapshot: our versions lie in its future and mean nothing there.
      const versions = { listed: page.resourceVersion, held: newestBefore }
      log?.warn({ kind: kind.kind, ...versions }, 'the API server went back in time')
      store.reset(page.resourceVersion)
      wentBack = true
    }
    for (const item of page.items) {
      seen.add(keyOfObject(item))
      take(options, item)
    }
  })
  return { seen, listed, wentBack }
}

const relist = async <R extends AnyObject>(options: ListerOptions<R>): Promise<string> => {
  const { store, notify } = options
  const before = store.list()
  const { seen, listed, wentBack } = await listAll(options)
  const gone = before.filter((object) => {
    const key = keyOfObject(object)
    // Born after the list was made: our own write has just put it here.
    return !seen.has(key) && !isBornAfter(store.get(key), listed)
  })
  const lost = wentBack || isMassLost(options, gone.length, before.length)
  for (const object of gone) {
    const held = store.get(keyOfObject(object))
    if (held !== undefined) store.remove(at(held, listed))
    notify(object, true, lost)
  }
  store.advance(listed)
  return listed
}

const audit = async <R extends AnyObject>(options: ListerOptions<R>): Promise<number | 'time_travel'> => {
  const { store, notify, kind, log, signal } = options
  const newestBefore = store.newest()
  const seen = new Set<Key>()
  const ahead: R[] = []
  const listed = await eachPage(options, (page) => {
    for (const item of page.items) {
      const key = keyOfObject(item)
      seen.add(key)
      if (isNewer(item.metadata.resourceVersion, store.get(key)?.metadata.resourceVersion)) ahead.push(item)
    }
  })
  if (newestBefore !== undefined && isNewer(newestBefore, listed)) return 'time_travel'
  // The watch may bring the same a moment later: that is no missed event.
  await sleep(options.graceMs ?? GRACE_MS, signal)
  if (signal.aborted) return 0
  const missed = ahead.filter((object) => take(options, object)).length
  const known = store.list()
  const gone = known.filter((object) => !seen.has(keyOfObject(object)) && !isBornAfter(object, listed))
  const lost = isMassLost(options, gone.length, known.length)
  for (const object of gone) {
    if (store.remove(at(object, listed))) notify(object, true, lost)
  }
  if (missed + gone.length > 0) {
    log?.warn({ kind: kind.kind, missed, gone: gone.length }, 'the watch had missed events')
  }
  return missed + gone.length
}

export const makeLister = <R extends AnyObject>(options: ListerOptions<R>): Lister => ({
  relist: () => relist(options),
  audit: () => audit(options),
})
