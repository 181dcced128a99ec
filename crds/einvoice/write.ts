/** Electronic invoices by EN 16931: the one door to the model, its rules and its two syntaxes. Source: DESIGN section 6.2. */
import { writeCii } from './cii.ts'
import type { Finding } from './finding.ts'
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
export const findingsOf = (invoice: EInvoice): Finding[] => [
  ...presenceFindings(invoice),
  ...taxFindings(invoice),
  ...sumFindings(invoice),
]

const WRITERS: Record<Syntax, (invoice: EInvoice) => string> = { cii: writeCii, ubl: writeUbl }

/** The XML of a document, or why it has none. The same document gives the same text, for ever. */
export type Written = { xml: string } | { findings: Finding[] }

export const writeEInvoice = (source: Source, syntax: Syntax): Written => {
  const invoice = modelOf(source)
  const findings = findingsOf(invoice)
  return findings.length === 0 ? { xml: WRITERS[syntax](invoice) } : { findings }
}

/** What goes into a PDF/A-3 to make it Factur-X; or the reason why this document stays a plain one. */
export type Attachment = { name: string; profile: string; bytes: Buffer } | { reason: string }

/** The attachment of a document. `profile` is what its XMP says as ConformanceLevel (Factur-X 1.0, section 6.3). */
export const facturXOf = (source: Source): Attachment => {
  const written = writeEInvoice(source, 'cii')
  if ('xml' in written) return { name: 'factur-x.xml', profile: 'EN 16931', bytes: Buffer.from(written.xml, 'utf8') }
  const rules = written.findings.map(({ rule, words }) => `${rule}: ${words}`)
  return { reason: `no electronic invoice by EN 16931: ${rules.join(' ')}` }
}
