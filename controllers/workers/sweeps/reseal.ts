/**
 * Whoever leads seals anew what is not under the newest key of the ring, and counts what is under which: a key under which
 * nothing is left may go (hack/decisions/047). Nothing is kept of how far it has come: each value says so itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeyRing } from '../../base/keyring.ts'
import type { Log } from '../../base/log.ts'
import { PLAIN, resealPage, type SealedCounts } from '../../store/installation/reseal.ts'
import { readRingKeys, settleKeys } from '../../store/installation/ringkeys.ts'
import { SEALED, type SealedColumn, type SealedKey } from '../../store/installation/sealed.ts'
import type { Pg } from '../../store/pg/pg.ts'

/** Taking over comes first. */
const FIRST_MS = 60_000
/** Somebody waits for a change of the ring. */
const FIRST_OF_CHANGE_MS = 2_000
/** After a round that has moved something: only one that finds nothing to move says that a key may go. */
const NEXT_MS = 3_000
/** While the ring is being changed. */
const AGAIN_MS = 30_000
/** Where there is one key, and all is under it. */
const SETTLED_MS = 6 * 3_600_000
/** Between two pages: whoever serves requests comes first. */
const PAUSE_MS = 25

export type ResealDeps = {
  pg: Pg
  ring: KeyRing
  log: Log
  /** After each round. @param counts by the id of the key, as they were found */
  onCounted?: (counts: SealedCounts, newest: string) => void
  /** After each round: what is kept beside the database may be another now. */
  onRound?: () => Promise<void>
}

export type ResealRound = { moved: number; isSettled: boolean }

/** Of one column. @returns how many values were sealed anew */
const resealColumn = async (
  { pg, ring, log }: ResealDeps,
  one: SealedColumn,
  counts: Map<string, number>,
  signal: AbortSignal,
): Promise<number> => {
  let after: SealedKey | null = null
  let [moved, bad] = [0, 0]
  const missing = new Set<string>()
  do {
    signal.throwIfAborted()
    const page = await resealPage(pg, one, ring, after)
    moved += page.moved
    bad += page.bad.length
    for (const { missing: id } of page.bad) if (id !== null) missing.add(id)
    for (const [id, count] of page.counts) counts.set(id, (counts.get(id) ?? 0) + count)
    after = page.last
    if (after !== null) await sleep(PAUSE_MS, undefined, { signal })
  } while (after !== null)
  const { table, column } = one
  if (bad > 0) log.error({ table, column, bad, missing: [...missing] }, 'sealed values cannot be opened')
  return moved
}

/**
 * One round over all columns. Keys under which it found nothing are needed no more; what it has moved itself counts as found, for
 * somebody may have sealed behind its back meanwhile.
 */
export const resealRound = async (deps: ResealDeps, signal: AbortSignal): Promise<ResealRound> => {
  const { pg, ring, log } = deps
  const [newest = ''] = ring.ids
  const counts = new Map<string, number>()
  let moved = 0
  for (const one of SEALED) moved += await resealColumn(deps, one, counts, signal)
  if (moved > 0) log.info({ moved, key: newest }, 'sealed values were sealed anew')
  const isClear = (id: string) => id !== newest && !counts.has(id) && !counts.has(PLAIN)
  const known = (await readRingKeys(pg)).map(({ id }) => ({ id, isClear: isClear(id) }))
  await settleKeys(pg, known)
  deps.onCounted?.(counts, newest)
  await deps.onRound?.()
  return { moved, isSettled: ring.ids.length === 1 && [...counts.keys()].every((id) => id === newest) }
}

const waitAfter = ({ moved, isSettled }: ResealRound): number => {
  if (moved > 0) return NEXT_MS
  return isSettled ? SETTLED_MS : AGAIN_MS
}

/** @returns the way to end it */
export const startReseal = (deps: ResealDeps): (() => void) => {
  const stopped = new AbortController()
  const { signal } = stopped
  const loop = async (): Promise<void> => {
    let waitMs = deps.ring.ids.length > 1 ? FIRST_OF_CHANGE_MS : FIRST_MS
    for (;;) {
      await sleep(waitMs, undefined, { signal, ref: false })
      waitMs = await resealRound(deps, signal).then(waitAfter, (error) => {
        if (!signal.aborted) deps.log.warn({ err: error }, 'sealed values were not all looked at')
        return AGAIN_MS
      })
    }
  }
  void loop().catch(() => undefined) // stopped
  return () => stopped.abort()
}
