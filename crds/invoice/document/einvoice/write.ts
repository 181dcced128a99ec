/**
 * Electronic invoices by EN 16931: the one door to the model, its rules and its two syntaxes. Source:
 * rules/invoice.md#electronic-invoice.
 */
import type { Enclosure } from '../../order/frozen.ts'
import { writeCii } from './cii.ts'
import type { EinvoiceFinding } from './finding.ts'
import { type EInvoice, modelOf } from './model.ts'
import { presenceFindings } from './rules-presence.ts'
import { sumFindings } from './rules-sums.ts'
import { taxFindings } from './rules-tax.ts'
import type { Source } from './source.ts'
import { writeUbl } from './ubl.ts'

/** `cii` is what a PDF carries (Factur-X, profile EN 16931); `ubl` is UBL 2.1. */
export const SYNTAXES = ['cii', 'ubl'] as const
export type Syntax = (typeof SYNTAXES)[number]

/** What the model breaks of EN 16931, in the order of a reader who mends it. Empty: it is an electronic invoice. */
export const findingsOf = (invoice: EInvoice): EinvoiceFinding[] => [
  ...presenceFindings(invoice),
  ...taxFindings(invoice),
  ...sumFindings(invoice),
]

const WRITERS: Record<Syntax, (invoice: EInvoice) => string> = { cii: writeCii, ubl: writeUbl }

/** The XML of a document that has nothing against it, today or when it was frozen. The same document, the same text. */
export const xmlOf = (source: Source, syntax: Syntax): string => WRITERS[syntax](modelOf(source))

/** The XML of a document, or why it has none. */
export type Written = { xml: string } | { findings: EinvoiceFinding[] }

export const writeEInvoice = (source: Source, syntax: Syntax): Written => {
  const findings = findingsOf(modelOf(source))
  return findings.length === 0 ? { xml: xmlOf(source, syntax) } : { findings }
}

/** Findings that are named. A document of a thousand broken lines says it of the first. */
const FINDINGS_MAX = 20

/** Whether a document can go into its own PDF as an electronic invoice. */
export const enclosureOf = (source: Source): Enclosure => {
  const findings = findingsOf(modelOf(source))
  if (findings.length === 0) return { profile: PROFILE }
  const rules = [...new Set(findings.map(({ rule }) => rule))].slice(0, FINDINGS_MAX).join(', ')
  return { profile: null, reason: `EN 16931 asks for more: ${rules}`, findings: findings.slice(0, FINDINGS_MAX) }
}

const PROFILE = 'EN 16931'

/** What makes a PDF/A-3 a Factur-X. `profile` is what its XMP says as ConformanceLevel (Factur-X 1.0, section 6.3). */
export type Attachment = { name: 'factur-x.xml'; profile: typeof PROFILE; bytes: Buffer }

/** The file that goes into the PDF of a document with an enclosure. */
export const attachmentOf = (source: Source): Attachment => ({
  name: 'factur-x.xml',
  profile: PROFILE,
  bytes: Buffer.from(xmlOf(source, 'cii'), 'utf8'),
})
