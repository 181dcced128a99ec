/**
 * Documents that were not drawn. Those that ran out of what a thread may take are tried twice; those that failed otherwise (an
 * exception, a thread that died or stood still) as often as a mail is, later each time, and are then set aside until an
 * administrator releases them. Each try is a fact, so that a restart begins nothing anew; a document that says something else
 * is another one.
 */

import { createHash } from 'node:crypto'
import type { ProblemCode } from '../../kernel/problem.ts'
import { drawnTexts } from '../document/drawcost.ts'
import type { FactLike } from '../facts/fact.ts'
import type { Frozen, FrozenDraft } from '../order/frozen.ts'
import { INVOICE_KIND } from '../schema.ts'

/** Of what is too dear: the first may have met a machine that was out of breath. */
export const DRAW_TRIES_MAX = 2
/** The wait after each try that failed otherwise; then the document is set aside. */
export const DRAW_AGAIN_MS: readonly number[] = [1_000, 10_000, 60_000, 600_000]

/**
 * What is on record of one document, oldest first: that it `needs` more than it may take (in words), that drawing it `failed` (in
 * words that are safe to show), or that what was set aside was `released`. `at` is an ISO instant.
 */
export type Undrawn = { digest: string; at: string } & ({ needs: string } | { failed: string } | { released: true })

/**
 * Stands for what makes a document dear: its words. The invoice, its PAID and VOID stamps and another day's draft share it,
 * so that none of them is tried as often once more.
 */
export const digestOf = (frozen: Frozen | FrozenDraft): string =>
  createHash('sha256')
    .update(JSON.stringify([frozen.kind, frozen.lang, frozen.seller.logo?.sha256 ?? null, drawnTexts(frozen)]))
    .digest('hex')
    .slice(0, 32)

/** A document that is too dear. @param n which try of this document it was, from 1 */
export const undrawnFact = (
  resource: string,
  { digest, needs }: { digest: string; needs: string },
  n: number,
  now: Date,
) => ({
  resource,
  resourceKind: INVOICE_KIND,
  key: `undrawn:${digest}:${n}`,
  kind: 'undrawn',
  body: { digest, needs },
  state: 'accepted' as const,
  at: now.toISOString(),
})

/** Of a try that failed otherwise: its row is written with what is set aside (controllers/store/sql/functions/put_off_drawing.sql). */
export const failedKey = (digest: string, n: number): string => `undrawable:${digest}:${n}`

/** @param facts of one invoice, in the order of their happening */
export const undrawnOf = (facts: readonly Pick<FactLike, 'kind' | 'body' | 'at'>[]): Undrawn[] =>
  facts.flatMap(({ kind, body, at }): Undrawn[] => {
    const of = { digest: String(body.digest), at }
    if (kind === 'undrawn') return [{ ...of, needs: String(body.needs) }]
    if (kind === 'undrawable') return [{ ...of, failed: String(body.failed) }]
    return kind === 'redraw' ? [{ ...of, released: true }] : []
  })

export type DrawFailures = {
  /** Tries of it that failed, for another reason than what it needs. */
  tries: number
  /** Since it was released last, or in all. */
  since: number
  /** After how many of those it is set aside: what was released is tried once more. */
  most: number
  last: { failed: string; at: string } | null
}

/** How drawing it failed so far. */
export const failuresOf = (undrawn: readonly Undrawn[], digest: string): DrawFailures => {
  const own = undrawn.filter((one) => one.digest === digest)
  const released = own.findLastIndex((one) => 'released' in one)
  const failed = own.filter((one) => 'failed' in one)
  return {
    tries: failed.length,
    since: own.slice(released + 1).filter((one) => 'failed' in one).length,
    most: released < 0 ? DRAW_AGAIN_MS.length + 1 : 1,
    last: failed.at(-1) ?? null,
  }
}

/** Why a document is not drawn now: never again as it is (`code`), or not before so long. */
export type HeldBack = { code: ProblemCode; detail: string } | { afterMs: number; detail: string }

const whatOf = ({ kind, number }: Frozen | FrozenDraft): string =>
  kind === 'credit_note' ? `the credit note ${number}` : 'the document'

const tooDear = (undrawn: readonly Undrawn[], digest: string, what: string): HeldBack | null => {
  const tries = undrawn.filter((one) => one.digest === digest && 'needs' in one)
  const last = tries.at(-1)
  if (tries.length < DRAW_TRIES_MAX || !last || !('needs' in last)) return null
  const detail = `${what} was tried ${tries.length} times and needs ${last.needs}; say it in fewer words`
  return { code: 'DOCUMENT_TOO_LARGE', detail }
}

const failing = (undrawn: readonly Undrawn[], digest: string, what: string, now: Date): HeldBack | null => {
  const { tries, since, most, last } = failuresOf(undrawn, digest)
  if (last === null || since === 0) return null
  if (since >= most) {
    const detail = `${what} was tried ${tries} times and cannot be drawn (${last.failed}); it was set aside until it is released`
    return { code: 'DOCUMENT_SET_ASIDE', detail }
  }
  const afterMs = Date.parse(last.at) + (DRAW_AGAIN_MS[since - 1] ?? 0) - now.getTime()
  return afterMs <= 0 ? null : { afterMs, detail: notDrawn(what, last.failed, tries) }
}

const notDrawn = (what: string, failed: string, tries: number): string =>
  `${what} was tried ${tries} times and could not be drawn (${failed}); it is tried again`

/** Why a document is not drawn now; null while it may be. */
export const heldBack = (undrawn: readonly Undrawn[], frozen: Frozen | FrozenDraft, now: Date): HeldBack | null => {
  if (undrawn.length === 0) return null
  const [digest, what] = [digestOf(frozen), whatOf(frozen)]
  return tooDear(undrawn, digest, what) ?? failing(undrawn, digest, what, now)
}
