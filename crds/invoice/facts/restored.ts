/** What was given back to an older copy of the ledger (planning/recovery/restoration.ts): nobody is told of it a second time. */
import type { FactLike } from './fact.ts'

export const restoredKey = (factSeq: number): string => `restored:${factSeq}`

/**
 * How often it had been sent, how it stood, and the ids of its credit notes. Null of an invoice of which nothing was lost. `at` and
 * `seq`: what fell due, or was asked, before that may have been done.
 */
export type RestoredTo = { sends: number; phase: string; notes: string[]; at: string; seq: number }

export const restoredOf = (facts: readonly FactLike[]): RestoredTo | null => {
  const last = facts.findLast(({ kind, state }) => kind === 'restored' && state === 'accepted')
  if (!last) return null
  const { at, seq, body } = last
  const { sends, phase, notes } = body
  const ids = Array.isArray(notes) ? notes.map(String) : []
  return { sends: Number(sends), phase: String(phase), notes: ids, at, seq }
}
