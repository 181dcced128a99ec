/** Spec and world at the moment of freezing → the document as it will stand for ever. */
import assert from 'node:assert/strict'
import { type InvoiceRecord, newestSend } from '../facts/ledger.ts'
import { faultsOf } from '../faults.ts'
import { booksOf, dueCents } from '../money/books.ts'
import { clientOf } from '../order/client.ts'
import type { Frozen, FrozenDraft, FrozenPaid, Seller } from '../order/frozen.ts'
import { gateOf } from '../order/gate.ts'
import { issuedOn } from '../order/number.ts'
import { isFixed } from '../order/order.ts'
import { totalsOf } from '../order/totals.ts'
import type { InvoiceSpec } from '../schema.ts'
import { zoneOf } from '../status.ts'
import type { InvoiceWorld, Issuer } from '../world.ts'
import { enclosed } from './enclose.ts'

type Receipt = { amountCents: number; method: string; reference: string }

type Freezing = {
  spec: InvoiceSpec
  world: InvoiceWorld
  record: InvoiceRecord
  n: number
  /** A receipt that is recorded in the same pass; null when all payments are on record. */
  receipt: Receipt | null
}

export const sellerOf = (issuer: Issuer): Seller => ({
  legalName: issuer.legalName,
  taxId: issuer.taxId,
  address: issuer.address,
  city: issuer.city,
  postcode: issuer.postcode,
  country: issuer.country,
  email: issuer.email,
  iban: issuer.iban,
  footer: issuer.footer,
  logo: issuer.logo,
})

const bodyOf = (spec: InvoiceSpec, seller: Seller, day: string): Omit<Frozen, 'number' | 'paid'> => {
  const { lines, ...totals } = totalsOf(spec)
  return {
    kind: 'invoice',
    test: spec.test,
    issuedOn: day,
    dueDate: spec.dueDate ?? null,
    lang: spec.lang,
    currency: spec.currency,
    seller,
    client: clientOf(spec),
    items: spec.items.map(({ description, qty, unitCents }, index) => {
      const line = lines[index]
      assert(line, 'every item has its line')
      return { description, qty, unitCents, taxRateBp: line.taxRateBp, amountCents: line.amountCents }
    }),
    ...totals,
    terms: spec.terms ?? '',
    zeroRate: spec.zeroRate ?? null,
  }
}

/** The document of a draft, as it would be issued today; the spec has no faults. */
export const draftOf = (spec: InvoiceSpec, issuer: Issuer, now: Date): FrozenDraft => ({
  ...bodyOf(spec, sellerOf(issuer), issuedOn(now, issuer.timeZone)),
  number: null,
  paid: null,
})

/** What the next send would freeze of an edit, as a draft of it: never frozen, and marked as not sent. */
export const revisedOf = (spec: InvoiceSpec, issuer: Issuer, sent: Frozen): FrozenDraft => ({
  ...bodyOf(spec, sellerOf(issuer), sent.issuedOn),
  number: null,
  revises: sent.number,
  paid: null,
})

/** Several payments stand as one: their sum, and how and when the last of them came. */
const paidOf = (world: InvoiceWorld, day: string, zone: string): FrozenPaid | null => {
  const last = world.payments.at(-1)
  if (!last) return null
  const { paidCents } = booksOf(0, world)
  // a receipt is dated by its invoice, so it reads the same whichever pass freezes it
  const on = last.id === RECEIPT ? day : issuedOn(new Date(last.receivedAt), zone)
  return { amountCents: paidCents, method: last.method, reference: last.reference, on }
}

const creditedOf = (world: InvoiceWorld): { creditedCents?: number } => {
  const { creditedCents } = booksOf(0, world)
  return creditedCents > 0 ? { creditedCents } : {}
}

/** The id of the payment that receipt mode records. */
export const RECEIPT = 'receipt'

/** A document without what happened to it since. */
export const plainOf = (frozen: Frozen): Omit<Frozen, 'paid'> => {
  const { paid: _paid, creditedCents: _credited, voidedOn: _voided, einvoice: _einvoice, ...plain } = frozen
  return plain
}

/** A send puts an edit into effect, until money has come in: then it sends once more what was sent. */
const sentBody = ({ spec, world, record }: Freezing, issuer: Issuer, day: string): Omit<Frozen, 'paid'> => {
  const last = newestSend(world.sends)
  const seller = sellerOf(issuer)
  if (last && isFixed(world)) return { ...plainOf(last.frozen), seller, issuedOn: day }
  return { ...bodyOf(spec, seller, day), number: record.number }
}

export const freezeOf = (freezing: Freezing) => {
  const { spec, world, record, n, receipt } = freezing
  const { issuer } = world
  assert(issuer, 'only an invoice with an issuer is sent')
  const day = issuedOn(new Date(record.issuedAt), issuer.timeZone)
  const paid = receipt ? { ...receipt, on: day } : paidOf(world, day, issuer.timeZone)
  const frozen: Frozen = { ...sentBody(freezing, issuer, day), paid, ...creditedOf(world) }
  const books = { ...booksOf(frozen.totalCents, world), paidCents: paid?.amountCents ?? 0 }
  const isReceipt = paid !== null && dueCents(books) === 0
  const silent = spec.test || spec.clientEmail === undefined
  return {
    do: 'freeze' as const,
    n,
    frozen: enclosed(frozen),
    gate: gateOf(world),
    mail: silent ? null : isReceipt ? ('receipt' as const) : ('invoice' as const),
    isReceipt,
    books,
  }
}

/**
 * The invoice as it stands now: the document of its last send with the money of today. It is what is stamped, and what a
 * credit note credits. One that was never sent is made of its spec. Null while there is nothing to make it of.
 */
export const standingOf = (spec: InvoiceSpec, world: InvoiceWorld): Frozen | null => {
  const { record, issuer } = world
  const zone = zoneOf(world)
  const last = newestSend(world.sends)?.frozen
  if (last) return { ...plainOf(last), paid: paidOf(world, last.issuedOn, zone), ...creditedOf(world) }
  if (!record || !issuer || faultsOf(spec).length > 0) return null
  const day = issuedOn(new Date(record.issuedAt), zone)
  const { currency } = record.claimed
  const paid = paidOf(world, day, zone)
  return { ...bodyOf({ ...spec, currency }, sellerOf(issuer), day), number: record.number, paid, ...creditedOf(world) }
}
