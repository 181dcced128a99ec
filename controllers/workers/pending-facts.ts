/**
 * Nothing that was reported stays undecided: whoever reports wakes the resource, and where that went wrong (the control plane
 * was away, the process died in between) whoever leads finds what is pending in the ledger itself, and wakes it, or has it
 * settled where its resource is not there. It knows no kind; what can be decided now is the pass's to say.
 */

import type { Kind } from '../../crds/kernel/kind.ts'
import { isNotFound } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Kube, Ref } from '../kube/kube.ts'
import type { PendingFact } from '../store/ledger/facts.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { MirrorReader, MirrorRow } from '../store/mirror.ts'

/** What is seen twice is overdue: a fact of the ordinary way is decided long before. */
const LOOK_MS = 2_000
const PAGE = 500
/** Resources that are not there of which one look takes care; more wait for the next. */
const ABSENT_MAX = 20

/** What is undecided of one resource: its kind, and the numbers of the facts. */
export type Undecided = { kind: string; resource: string; seqs: number[] }

export type OverdueDeps = {
  /** A page of what is undecided, after one fact. */
  read(after: PendingFact | null, limit: number): Promise<PendingFact[]>
  /** Whether the cluster has it. */
  isHeld(kind: string, resource: string): boolean
  wake(kind: string, resource: string): void
  /** Of a resource that the cluster does not have. */
  settleAbsent(undecided: Undecided): Promise<void>
  log: Log
  lookMs?: number
}

const overdueOf = (
  page: readonly PendingFact[],
  before: ReadonlySet<string> | null,
  seen: Set<string>,
): Undecided[] => {
  const overdue = new Map<string, Undecided>()
  for (const { kind, resource, seq } of page) {
    const fact = `${resource}/${seq}`
    seen.add(fact)
    if (before !== null && !before.has(fact)) continue
    const undecided = overdue.get(resource) ?? { kind, resource, seqs: [] }
    undecided.seqs.push(seq)
    overdue.set(resource, undecided)
  }
  return [...overdue.values()]
}

/** One look over all pages. @param before what the look before saw; null: whatever there is, is overdue @returns what this one saw */
const look = async (deps: OverdueDeps, before: ReadonlySet<string> | null): Promise<Set<string>> => {
  const { read, isHeld, wake, settleAbsent, log } = deps
  const seen = new Set<string>()
  let left = ABSENT_MAX
  for (let page = await read(null, PAGE); ; page = await read(page.at(-1) ?? null, PAGE)) {
    for (const undecided of overdueOf(page, before, seen)) {
      const { kind, resource } = undecided
      if (isHeld(kind, resource)) wake(kind, resource)
      else if (left > 0) {
        left -= 1
        await settleAbsent(undecided).catch((error: unknown) =>
          log.warn({ err: error, kind, resource }, 'what is undecided of an absent resource was not settled'),
        )
      }
    }
    if (page.length < PAGE) return seen
  }
}

/**
 * Looks at once, for whoever reported before we led told nobody, and then every two seconds. What it finds goes before all
 * that is only looked at again. @returns the way to end it
 */
export const startOverdue = (deps: OverdueDeps): (() => void) => {
  const { log, lookMs = LOOK_MS } = deps
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let before: ReadonlySet<string> | null = null
  const turn = async () => {
    try {
      before = await look(deps, before)
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'it was not looked for what is undecided')
    }
    if (!stopped) timer = setTimeout(turn, lookMs)
  }
  void turn()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** How one that left comes back, and how what was said of a deleted one is decided. */
type AbsentKind = {
  kind: Kind
  bringBack?: (row: MirrorRow) => Promise<unknown>
  settleDeleted?: (resource: string) => Promise<boolean>
}

export type AbsentDeps = {
  kube: Pick<Kube, 'get'>
  namespace: string
  mirror: Pick<MirrorReader, 'get'>
  ledger: Pick<Ledger, 'decideFact' | 'observe'>
  kinds: ReadonlyMap<string, AbsentKind>
  now: () => Date
}

/** The watch may be behind. @throws KubeError */
const isThere = async ({ kube }: AbsentDeps, kind: Kind, ref: Ref): Promise<boolean> => {
  try {
    await kube.get(kind, ref)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/**
 * Of a resource that the cluster does not have: one that left is brought back by its kind, and decides; what was said of one that
 * was deleted is decided by what is kept of it, and where nothing is, it is refused. What is merely absent waits
 * (rules/platform.md#absence).
 */
export const makeSettleAbsent =
  (deps: AbsentDeps): OverdueDeps['settleAbsent'] =>
  async ({ kind, resource, seqs }) => {
    const known = deps.kinds.get(kind)
    if (!known) return
    const row = await deps.mirror.get(known.kind, resource)
    if (row?.archived) await known.bringBack?.(row)
    if (row || (await isThere(deps, known.kind, { namespace: deps.namespace, name: resource }))) return
    if (await known.settleDeleted?.(resource)) return
    const { record } = await deps.ledger.observe(resource)
    // what has a number is on record for ever, whatever became of its view
    if (record !== null && !record.claimed.test) return
    const outcome = { detail: `${resource} was deleted before this was decided` }
    const verdict = { state: 'refused', refusedCode: 'NOT_FOUND', outcome, at: deps.now().toISOString() } as const
    for (const seq of seqs) await deps.ledger.decideFact({ resource, seq, ...verdict })
  }
