/**
 * What a document costs to be drawn, known before it is: from its letters by what their script asks for, and from its lines.
 * Drawing is the one work of an invoice whose price a caller sets by what he writes, so what is too dear is refused before a
 * number is taken. A unit is about a microsecond of one thread; how it was measured: hack/decisions/032-what-a-document-costs.md.
 */

import type { Fault } from '../../kernel/problem.ts'
import { NEWLINE, PLAIN } from '../../text/drawn.ts'
import { grouped } from '../../values/money.ts'
import { oncePerFrozen } from '../../values/once.ts'
import type { Frozen, FrozenDraft } from '../order/frozen.ts'
import type { InvoiceSpec } from '../schema.ts'

/** Of one document: some five seconds of a thread. 500 items of 2,000 plain letters come to a fifth of it. */
export const DRAW_UNITS_MAX = 5_000_000

/** A line is dear by its memory: each is an object until its page is written. */
const LINE_UNITS = 45
const ITEM_UNITS = 100

/**
 * Letters that are shaped: once in their word, to see where the line ends, and once more in the line, which is shaped whole.
 * The dearest script of a text says what a line of it costs. Dearest first.
 */
const SHAPED = [
  { script: 'Devanagari', letters: /[\u0900-\u097f\u1cd0-\u1cff\ua8e0-\ua8ff]/g, units: 60 },
  { script: 'Hangul letters', letters: /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/g, units: 20 },
  { script: 'Arabic', letters: /[\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufeff]/g, units: 18 },
  { script: 'combining marks', letters: /[\p{M}\u200c\u200d]/gu, units: 14 },
  { script: 'Hebrew', letters: /[\u0590-\u05ff\ufb1d-\ufb4f]/g, units: 6 },
  { script: 'Thai', letters: /[\u0e00-\u0e7f]/g, units: 6 },
] as const
/** Drawn one by one, out of larger fonts than Latin, Greek and Cyrillic. */
const WIDE = { letters: /[\u1100-\uffff]/g, units: 1 }

export type DrawCost = { units: number; letters: number; lines: number; shaped: string[] }

const countOf = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0

const paragraphCost = (written: string, shaped: Set<string>): number => {
  if (PLAIN.test(written)) return written.length
  // letters are composed before they are drawn
  const text = written.normalize('NFC')
  let units = text.length + countOf(text, WIDE.letters) * WIDE.units
  let line = 0
  for (const { script, letters, units: each } of SHAPED) {
    const count = countOf(text, letters)
    if (count === 0) continue
    shaped.add(script)
    line = Math.max(line, each)
    units += count * each
  }
  return units + text.length * line
}

const costOf = (texts: readonly string[], items: number): DrawCost => {
  const shaped = new Set<string>()
  let [units, letters, lines] = [items * ITEM_UNITS, 0, 0]
  for (const text of texts) {
    const paragraphs = text.split(NEWLINE)
    lines += paragraphs.length
    letters += text.length
    for (const paragraph of paragraphs) units += paragraphCost(paragraph, shaped)
  }
  return { units: units + lines * LINE_UNITS, letters, lines, shaped: [...shaped] }
}

type Texts = (string | undefined)[]
const given = (texts: Texts): string[] => texts.filter((text) => text !== undefined && text !== '') as string[]

const specTexts = (spec: InvoiceSpec): string[] =>
  given([
    ...spec.items.map(({ description }) => description),
    ...[spec.terms, spec.clientName, spec.clientEmail, spec.clientAddress, spec.clientCity, spec.clientTaxId],
    ...[spec.paid?.method, spec.paid?.reference, spec.zeroRate?.reason],
  ])

/** The words of a document, all that its cost depends on. */
export const drawnTexts = ({ seller, client, items, terms, paid, zeroRate, credits }: Frozen | FrozenDraft): string[] =>
  given([
    ...items.map(({ description }) => description),
    ...[terms, seller.legalName, seller.taxId, seller.address, seller.city, seller.email, seller.footer],
    ...[client.name, client.email, client.address, client.city, client.taxId],
    ...[paid?.method, paid?.reference, zeroRate?.reason, credits?.reason],
  ])

const known = new WeakMap<InvoiceSpec, DrawCost>()

/** What the document of a spec costs. The seller's own words, which are short, are not counted. */
export const specCost = (spec: InvoiceSpec): DrawCost =>
  oncePerFrozen(spec, known, (one) => costOf(specTexts(one), one.items.length))

/** What a document costs that stands as it will be drawn. */
export const frozenCost = (frozen: Frozen | FrozenDraft): DrawCost => costOf(drawnTexts(frozen), frozen.items.length)

const figure = (count: number): string => grouped(String(count))

const tooLarge = ({ units, letters, lines, shaped }: DrawCost): Fault[] => {
  if (units <= DRAW_UNITS_MAX) return []
  const size = `${figure(letters)} letters in ${figure(lines)} lines${shaped.length > 0 ? `, with ${shaped.join(' and ')}` : ''}`
  const detail = `${size}, come to ${figure(units)} units of drawing, of which a document may take ${figure(DRAW_UNITS_MAX)}`
  return [{ code: 'DOCUMENT_TOO_LARGE', pointer: '/items', detail }]
}

/** Refuses a spec whose document would hold a thread for too long; pointers in the names of the spec. */
export const sizeFaults = (spec: InvoiceSpec): Fault[] => tooLarge(specCost(spec))

/** The same for the items of a credit note. */
export const creditSizeFaults = (items: readonly { description: string }[]): Fault[] =>
  tooLarge(costOf(given(items.map(({ description }) => description)), items.length))
