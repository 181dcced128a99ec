/** What a document has against it, by the rules of EN 16931-1 and their validation artefacts. */
import type { EInvoice } from './model.ts'

/**
 * One broken rule. Every rule we check is fatal there, so a document with a finding gets no XML and its PDF stays plain.
 * `pointer` is in the names of the invoice's spec, `/issuer/…` is of its issuer, and sums are named as in the frozen document.
 */
export type EinvoiceFinding = { rule: string; pointer: string; words: string }

/** A rule looks at the model and gives what breaks it. */
export type EinvoiceRule = (invoice: EInvoice) => EinvoiceFinding[]

/** The finding, unless the rule is kept. */
export const demand = (kept: boolean, rule: string, pointer: string, words: string): EinvoiceFinding[] =>
  kept ? [] : [{ rule, pointer, words }]
