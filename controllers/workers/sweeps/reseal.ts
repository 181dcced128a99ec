/**
 * Whoever leads seals anew what is not under the newest key of the ring, and counts what is under which: a key under which
 * nothing is left may go (hack/decisions/047). Nothing is kept of how far it has come: each value says so itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeyRing } from '../../base/keyring.ts'
import type { Log } from '../../base/log.ts'
import { countSealed, PLAIN, resealPage, type SealedCounts } from '../../store/installation/reseal.ts'
import { readRingKeys, settleKeys } from '../../store/installation/ringkeys.ts'
import { SEALED, type SealedKey } from '../../store/installation/sealed.ts'
import type { Pg } from '../../store/pg/pg.ts'

/** Taking over comes first. */
const FIRST_MS = 60_000
/** Somebody waits for a change of the ring. */
const FIRST_OF_CHANGE_MS = 2_000
/** While the ring is being changed. */
const AGAIN_MS = 30_000
/** Where there is one key, and all is under it. */
const SETTLED_MS = 6 * 3_600_000
/** Between two batches: whoever serves requests comes first. */
const PAUSE_MS = 25

export type ResealDeps = {
  pg: Pg
  ring: KeyRing
  log: Log
  /** After each round. @param counts by the id of the key */
  onCounted?: (counts: SealedCounts, newest: string) => void
  /** After each round: what is kept beside the database may be another now. */
  onRound?: () => Promise<void>
}

/** Seals anew what is under other keys. @returns how many values were */
const resealAll = async ({ pg, ring, log }: ResealDeps, signal: AbortSignal): Promise<number> => {
  let all = 0
  for (const one of SEALED) {
    let after: SealedKey | null = null
    let bad = 0
    const missing = new Set<string>()
    do {
      signal.throwIfAborted()
      const page = await resealPage(pg, one, ring, after)
      all += page.moved
      bad += page.bad.length
      for (const { missing: id } of page.bad) if (id !== null) missing.add(id)
      after = page.last
      if (after !== null) await sleep(PAUSE_MS, undefined, { signal })
    } while (after !== null)
    const { table, column } = one
    if (bad > 0) log.error({ table, column, bad, missing: [...missing] }, 'sealed values cannot be opened')
  }
  return all
}

/** One round: all is sealed under the newest key, then counted. @returns whether nothing is left to be watched */
export const resealRound = async (deps: ResealDeps, signal: AbortSignal): Promise<boolean> => {
  const { pg, ring, log } = deps
  const [newest = ''] = ring.ids
  const moved = await resealAll(deps, signal)
  if (moved > 0) log.info({ moved, key: newest }, 'sealed values were sealed anew')
  const counts = await countSealed(pg)
  const known = (await readRingKeys(pg)).map(({ id }) => id)
  const isClear = (id: string) => id !== newest && !counts.has(id) && !counts.has(PLAIN)
  await settleKeys(
    pg,
    known.map((id) => ({ id, isClear: isClear(id) })),
  )
  deps.onCounted?.(counts, newest)
  await deps.onRound?.()
  return ring.ids.length === 1 && [...counts.keys()].every((id) => id === newest)
}

/** @returns the way to end it */
export const startReseal = (deps: ResealDeps): (() => void) => {
  const stopped = new AbortController()
  const { signal } = stopped
  const loop = async (): Promise<void> => {
    for (let waitMs = deps.ring.ids.length > 1 ? FIRST_OF_CHANGE_MS : FIRST_MS; ; ) {
      await sleep(waitMs, undefined, { signal, ref: false })
      const isSettled = await resealRound(deps, signal).catch((error) => {
        if (!signal.aborted) deps.log.warn({ err: error }, 'sealed values were not all looked at')
        return false
      })
      waitMs = isSettled ? SETTLED_MS : AGAIN_MS
    }
  }
  void loop().catch(() => undefined) // stopped
  return () => stopped.abort()
}
