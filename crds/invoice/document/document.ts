/**
 * What stands on an invoice, block by block, with every word and amount already in its final form. The PDF, the
 * client's page and the tests read the same document, so they cannot show different cents (rules/invoice.md#the-same-cents).
 */

import { displayCents } from '../../values/money.ts'
import { trimmedEnd } from '../../values/trimmed.ts'
import type { DocumentLang, Frozen, FrozenDraft, FrozenItem } from '../order/frozen.ts'
import { groundOf } from './einvoice/model.ts'
import { type DocumentWords, dateWords, fill, WORDS } from './words/words.ts'

/** A labelled value. */
export type DocumentFact = { label: string; value: string }

/** One side of the invoice. `lines` follow the name; none is empty. */
export type Party = { label: string; name: string; lines: string[] }

export type DocumentColumn = { id: 'description' | 'qty' | 'unit' | 'tax' | 'amount'; label: string; numeric: boolean }

/** One line of the sums; `strong` for the total and the balance. */
export type Sum = DocumentFact & { strong: boolean }

/** A mark that nobody can overlook; `note` says it in a sentence. */
export type Stamp = { stamp: 'PAID' | 'TEST' | 'DRAFT' | 'VOID'; word: string; note: string }

export type Document = {
  lang: DocumentLang
  heading: { title: string; number: string }
  seller: Party
  client: Party
  facts: DocumentFact[]
  /** The one amount that the reader looks for. */
  due: DocumentFact
  /** `running[i]` is the sum of the first i + 1 amounts, for tables that go on over the page. */
  items: {
    caption: string
    columns: DocumentColumn[]
    rows: string[][]
    running: string[]
    carried: string
    brought: string
  }
  sums: Sum[]
  stamps: Stamp[]
  /** How it was paid: amount and date, method, reference. */
  payment: { text: string; facts: DocumentFact[] } | null
  terms: { label: string; text: string } | null
  /** `page` has places {page} and {pages}. */
  footer: { text: string; page: string }
}

/** Basis points as percent without needless zeros: 2000 → '20%', 1950 → '19.5%'. */
export const displayRate = (rateBp: number): string =>
  `${trimmedEnd(trimmedEnd(`${Math.trunc(rateBp / 100)}.${String(rateBp % 100).padStart(2, '0')}`, '0'), '.')}%`

/** The amount without its currency, for columns whose head names it. */
const figures = (cents: number, currency: string): string => displayCents(cents, currency).replace(` ${currency}`, '')

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

type Place = { address?: string; city?: string; postcode?: string; country?: string }

/** The lines of an address; city and country where its text does not name them already. */
const addressOf = ({ address = '', city = '', postcode = '', country = '' }: Place): string[] => {
  const lines = linesOf(address)
  const isNamed = city === '' ? address.includes(postcode) : address.includes(city)
  return [...lines, isNamed ? '' : `${postcode} ${city}`.trim(), country].filter(Boolean)
}

const factsOf = (pairs: [string, string][]): DocumentFact[] =>
  pairs.filter(([, value]) => value !== '').map(([label, value]) => ({ label, value }))

const columnsOf = (words: DocumentWords, currency: string, taxed: boolean): DocumentColumn[] => [
  { id: 'description', label: words.description, numeric: false },
  { id: 'qty', label: words.qty, numeric: true },
  { id: 'unit', label: words.unitPrice, numeric: true },
  ...(taxed ? [{ id: 'tax', label: words.tax, numeric: true } as const] : []),
  { id: 'amount', label: `${words.amount} (${currency})`, numeric: true },
]

const rowOf = (item: FrozenItem, currency: string, taxed: boolean): string[] => [
  item.description,
  item.qty,
  figures(item.unitCents, currency),
  ...(taxed ? [displayRate(item.taxRateBp)] : []),
  figures(item.amountCents, currency),
]

const sumsOf = (frozen: Frozen | FrozenDraft, words: DocumentWords): Sum[] => {
  const money = (cents: number): string => displayCents(cents, frozen.currency)
  const sums: Sum[] = [{ label: words.subtotal, value: money(frozen.subtotalCents), strong: false }]
  if (frozen.discountCents > 0) {
    sums.push({ label: words.discount, value: money(-frozen.discountCents), strong: false })
  }
  for (const group of frozen.taxGroups.filter((one) => one.rateBp > 0)) {
    const label = fill(words.taxOn, { rate: displayRate(group.rateBp), base: money(group.baseCents) })
    sums.push({ label, value: money(group.taxCents), strong: false })
  }
  sums.push(...untaxedOf(frozen, words))
  sums.push({ label: words.total, value: money(frozen.totalCents), strong: true })
  if (frozen.creditedCents !== undefined) {
    sums.push({ label: words.credited, value: money(-frozen.creditedCents), strong: false })
  }
  if (frozen.paid !== null) {
    sums.push({ label: words.paid, value: money(-frozen.paid.amountCents), strong: false })
  }
  if (frozen.paid !== null || frozen.creditedCents !== undefined) {
    sums.push({ label: words.balance, value: money(balanceOf(frozen)), strong: true })
  }
  return sums
}

/** Why nothing is charged on what is free of tax, where there is a ground to give. */
const untaxedOf = ({ zeroRate, taxGroups, lang, currency }: Frozen | FrozenDraft, words: DocumentWords): Sum[] => {
  const ground = zeroRate ? groundOf(zeroRate, lang) : ''
  const group = taxGroups.find(({ rateBp }) => rateBp === 0)
  if (ground === '' || !group) return []
  const on = fill(words.taxOn, { rate: displayRate(0), base: displayCents(group.baseCents, currency) })
  return [{ label: `${on} (${ground})`, value: displayCents(0, currency), strong: false }]
}

/** The sums so far, line by line. */
const runningOf = ({ items, currency }: Frozen | FrozenDraft): string[] => {
  let cents = 0
  return items.map((item) => {
    cents += item.amountCents
    return figures(cents, currency)
  })
}

type Balanced = Pick<Frozen, 'totalCents' | 'paid' | 'creditedCents' | 'voidedOn'>

/** What is still to be paid by the document itself, in cents; nothing of a voided one. */
export const balanceOf = ({ totalCents, paid, creditedCents = 0, voidedOn }: Balanced): number =>
  voidedOn === undefined ? totalCents - creditedCents - (paid?.amountCents ?? 0) : 0

const draftNoteOf = ({ revises }: FrozenDraft, words: DocumentWords): string =>
  revises === undefined ? words.draftNote : fill(words.revisionNote, { number: revises })

const stampsOf = (frozen: Frozen | FrozenDraft, words: DocumentWords, paidNote: string, voidNote: string): Stamp[] => [
  ...(frozen.voidedOn === undefined ? [] : [{ stamp: 'VOID', word: words.stampVoid, note: voidNote } as const]),
  ...(frozen.number === null
    ? [{ stamp: 'DRAFT', word: words.stampDraft, note: draftNoteOf(frozen, words) } as const]
    : []),
  ...(frozen.test ? [{ stamp: 'TEST', word: words.stampTest, note: words.testNote } as const] : []),
  ...(frozen.paid !== null && frozen.voidedOn === undefined && balanceOf(frozen) <= 0
    ? [{ stamp: 'PAID', word: words.stampPaid, note: paidNote } as const]
    : []),
]

const voidNoteOf = ({ voidedOn }: Pick<Frozen, 'voidedOn'>, lang: DocumentLang): string =>
  voidedOn === undefined ? '' : fill(WORDS[lang].voidNote, { date: dateWords(lang, voidedOn) })

const paymentOf = (frozen: Frozen | FrozenDraft, lang: DocumentLang): Document['payment'] => {
  if (frozen.paid === null) return null
  const words = WORDS[lang]
  const amount = displayCents(frozen.paid.amountCents, frozen.currency)
  return {
    text: fill(words.paidNote, { amount, date: dateWords(lang, frozen.paid.on) }),
    facts: factsOf([
      [words.method, frozen.paid.method],
      [words.reference, frozen.paid.reference],
    ]),
  }
}

/**
 * The document of a frozen invoice, or of a draft (number null). One that was voided since keeps its amounts, and says
 * that nothing is owed.
 */
export const documentOf = (frozen: Frozen | FrozenDraft): Document => {
  const { seller, client, currency, lang, credits } = frozen
  const words = WORDS[lang]
  const taxed = frozen.items.some((item) => item.taxRateBp > 0)
  const payment = paymentOf(frozen, lang)
  const taxId = (id = ''): string => (id === '' ? '' : fill(words.taxId, { id }))
  return {
    lang,
    heading: { title: credits ? words.creditNote : words.invoice, number: frozen.number ?? frozen.revises ?? '' },
    seller: {
      label: words.from,
      name: seller.legalName,
      lines: [...addressOf(seller), taxId(seller.taxId), seller.email].filter(Boolean),
    },
    client: {
      label: words.billedTo,
      name: client.name,
      lines: [...addressOf(client), taxId(client.taxId), client.email].filter(Boolean),
    },
    facts: factsOf([
      [words.issued, dateWords(lang, frozen.issuedOn)],
      [words.due, frozen.dueDate === null ? '' : dateWords(lang, frozen.dueDate)],
      [words.creditedInvoice, credits?.number ?? ''],
      [words.creditReason, credits?.reason ?? ''],
    ]),
    due: { label: credits ? words.amountCredited : words.amountDue, value: displayCents(balanceOf(frozen), currency) },
    items: {
      caption: words.items,
      columns: columnsOf(words, currency, taxed),
      rows: frozen.items.map((item) => rowOf(item, currency, taxed)),
      running: runningOf(frozen),
      carried: words.carried,
      brought: words.brought,
    },
    sums: sumsOf(frozen, words),
    stamps: stampsOf(frozen, words, payment?.text ?? '', voidNoteOf(frozen, lang)),
    payment,
    terms: frozen.terms.trim() === '' ? null : { label: words.terms, text: frozen.terms },
    footer: { text: seller.footer, page: words.page },
  }
}
