/** The document of a credit note: the invoice's own lines, those that were named, or one line per tax rate. */
import assert from 'node:assert/strict'
import { divideToStep, leastCents, splitByLargestRemainder } from '../../values/money.ts'
import { fill, WORDS } from '../document/words/words.ts'
import type { Credit } from '../facts/ledger.ts'
import type { Frozen, FrozenItem, TaxGroup } from '../order/frozen.ts'
import { totalsOf } from '../order/totals.ts'

const BP = 10_000n

type Body = Pick<Frozen, 'items' | 'subtotalCents' | 'discountCents' | 'taxGroups' | 'taxCents' | 'totalCents'>

const ofItems = (credit: Credit, taxRateBp: number, currency: string): Body => {
  const { lines, ...totals } = totalsOf({ items: credit.items ?? [], taxRateBp, discountCents: 0, currency })
  const items = (credit.items ?? []).map(({ description, qty, unitCents }, index): FrozenItem => {
    const line = lines[index]
    assert(line, 'every item has its line')
    return { description, qty, unitCents, taxRateBp: line.taxRateBp, amountCents: line.amountCents }
  })
  return { items, ...totals }
}

/**
 * An amount carries tax as the invoice did: it is spread over the invoice's rates by what each came to with its tax, and
 * each share is divided into base and tax, so that the parts add up to the amount exactly.
 */
const ofAmount = ({ amountCents }: Credit, { taxGroups, currency }: Frozen, description: string): Body => {
  // an invoice of before may have a rest that its currency does not have, and all of it can be credited
  const step = BigInt(amountCents % leastCents(currency) === 0 ? leastCents(currency) : 1)
  const weights = taxGroups.map(({ baseCents, taxCents }) => BigInt(baseCents) + BigInt(taxCents))
  const shares = splitByLargestRemainder(BigInt(amountCents) / step, weights).map((share) => share * step)
  const groups = taxGroups.flatMap(({ rateBp }, index): TaxGroup[] => {
    const share = shares[index] ?? 0n
    if (share === 0n) return []
    const baseCents = Number(divideToStep(share * BP, BP + BigInt(rateBp), step))
    return [{ rateBp, baseCents, taxCents: Number(share) - baseCents }]
  })
  const subtotalCents = groups.reduce((total, { baseCents }) => total + baseCents, 0)
  const item = ({ rateBp: taxRateBp, baseCents }: TaxGroup): FrozenItem => {
    return { description, qty: '1', unitCents: baseCents, taxRateBp, amountCents: baseCents }
  }
  return {
    items: groups.map(item),
    subtotalCents,
    discountCents: 0,
    taxGroups: groups,
    taxCents: amountCents - subtotalCents,
    totalCents: amountCents,
  }
}

/** The lines of the invoice itself: all of it is credited, and nothing was before. */
const ofWhole = ({ items, subtotalCents, discountCents, taxGroups, taxCents, totalCents }: Frozen): Body => ({
  items,
  subtotalCents,
  discountCents,
  taxGroups,
  taxCents,
  totalCents,
})

const bodyOf = (credit: Credit, invoice: Frozen, taxRateBp: number): Body => {
  if (credit.isWhole && credit.amountCents === invoice.totalCents) return ofWhole(invoice)
  if (credit.items !== null) return ofItems(credit, taxRateBp, invoice.currency)
  return ofAmount(credit, invoice, fill(WORDS[invoice.lang].creditLine, { number: invoice.number }))
}

/**
 * The credit note of `credit`, as it will stand for ever. @param invoice as it stands @param taxRateBp of the invoice, for
 * items that name none
 */
export const creditNoteOf = (
  credit: Credit,
  { invoice, taxRateBp, number, issuedOn }: { invoice: Frozen; taxRateBp: number; number: string; issuedOn: string },
): Frozen => {
  const { number: credited, issuedOn: of, voidedOn: _voided, creditedCents: _credited, ...rest } = invoice
  return {
    ...rest,
    ...bodyOf(credit, invoice, taxRateBp),
    number,
    kind: 'credit_note',
    issuedOn,
    dueDate: null,
    paid: null,
    terms: '',
    credits: { number: credited, issuedOn: of, reason: credit.reason },
  }
}
