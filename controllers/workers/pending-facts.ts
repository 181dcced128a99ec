/**
 * Nothing that was reported stays undecided: whoever reports wakes the resource, and where that went wrong (the control plane
 * was away, the process died in between) whoever leads finds what is pending in the ledger itself, and wakes it. It knows no
 * kind; what can be decided now is the pass's to say.
 */

import type { Log } from '../base/log.ts'
import type { PendingFact } from '../store/ledger/facts.ts'

/** What is seen twice is overdue: a fact of the ordinary way is decided long before. */
const LOOK_MS = 2_000
const PAGE = 500

export type OverdueDeps = {
  /** A page of what is undecided, after one fact. */
  read(after: PendingFact | null, limit: number): Promise<PendingFact[]>
  wake(kind: string, resource: string): void
  log: Log
  lookMs?: number
}

/** One look over all pages. @param before what the look before saw; null: whatever there is, is overdue @returns what this one saw */
const look = async ({ read, wake }: OverdueDeps, before: ReadonlySet<string> | null): Promise<Set<string>> => {
  const seen = new Set<string>()
  for (let page = await read(null, PAGE); ; page = await read(page.at(-1) ?? null, PAGE)) {
    const overdue = new Map<string, string>()
    for (const { kind, resource, seq } of page) {
      const fact = `${resource}/${seq}`
      seen.add(fact)
      if (before?.has(fact) ?? true) overdue.set(resource, kind)
    }
    for (const [resource, kind] of overdue) wake(kind, resource)
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
