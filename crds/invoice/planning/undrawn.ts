/**
 * Documents that ran out of what a thread may take while they were drawn. Each try is a fact, so that a restart begins
 * nothing anew; after the second the document is not tried again until it says something else.
 */

import { createHash } from 'node:crypto'
import type { ProblemCode } from '../../kernel/problem.ts'
import { drawnTexts } from '../document/drawcost.ts'
import type { FactLike } from '../facts/fact.ts'
import type { Frozen, FrozenDraft } from '../order/frozen.ts'
import { INVOICE_KIND } from '../schema.ts'

/** The first may have met a machine that was out of breath. */
export const DRAW_TRIES_MAX = 2

/** `needs` says in words what was not enough: time of a thread, or memory. */
export type Undrawn = { digest: string; needs: string }

/**
 * Stands for what makes a document dear: its words. The invoice, its PAID and VOID stamps and another day's draft share it,
 * so that none of them is tried twice more.
 */
export const digestOf = (frozen: Frozen | FrozenDraft): string =>
  createHash('sha256')
    .update(JSON.stringify([frozen.kind, frozen.lang, frozen.seller.logo?.sha256 ?? null, drawnTexts(frozen)]))
    .digest('hex')
    .slice(0, 32)

/** @param n which try of this document it was, from 1 */
export const undrawnFact = (resource: string, { digest, needs }: Undrawn, n: number, now: Date) => ({
  resource,
  resourceKind: INVOICE_KIND,
  key: `undrawn:${digest}:${n}`,
  kind: 'undrawn',
  body: { digest, needs },
  state: 'accepted' as const,
  at: now.toISOString(),
})

export const undrawnOf = (facts: readonly Pick<FactLike, 'kind' | 'body'>[]): Undrawn[] =>
  facts
    .filter(({ kind }) => kind === 'undrawn')
    .map(({ body }) => ({ digest: String(body.digest), needs: String(body.needs) }))

/** Why a document is not tried again; null while it may be. */
export const givenUp = (
  undrawn: readonly Undrawn[],
  frozen: Frozen | FrozenDraft,
): { code: ProblemCode; detail: string } | null => {
  if (undrawn.length < DRAW_TRIES_MAX) return null
  const digest = digestOf(frozen)
  const tries = undrawn.filter((one) => one.digest === digest)
  if (tries.length < DRAW_TRIES_MAX) return null
  const what = frozen.kind === 'credit_note' ? `the credit note ${frozen.number}` : 'the document'
  const detail = `${what} was tried ${tries.length} times and needs ${tries.at(-1)?.needs}; say it in fewer words`
  return { code: 'DOCUMENT_TOO_LARGE', detail }
}
