/** Spec and world at the moment of freezing → the document as it will stand for ever. */
import assert from 'node:assert/strict'
import { booksOf, dueCents } from './books.ts'
import { clientOf } from './client.ts'
import { enclosed } from './enclose.ts'
import { zoneOf } from './facts.ts'
import { faultsOf } from './faults.ts'
import type { Frozen, FrozenDraft, FrozenPaid, Seller } from './frozen.ts'
import { gateOf } from './gate.ts'
import { issuedOn } from './number.ts'
import type { InvoiceSpec } from './schema.ts'
import { totalsOf } from './totals.ts'
import type { InvoiceRecord, InvoiceWorld, Issuer } from './world.ts'

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

export const freezeOf = ({ spec, world, record, n, receipt }: Freezing) => {
  const { issuer } = world
  assert(issuer, 'only an invoice with an issuer is sent')
  const day = issuedOn(new Date(record.issuedAt), issuer.timeZone)
  const paid = receipt ? { ...receipt, on: day } : paidOf(world, day, issuer.timeZone)
  const frozen: Frozen = { ...bodyOf(spec, sellerOf(issuer), day), number: record.number, paid, ...creditedOf(world) }
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
 * The invoice as it stands now, under the seller and the date of its last send: what is stamped, and what a credit note
 * credits. The spec is the order that counts. Null while there is nothing to make it of.
 */
export const standingOf = (spec: InvoiceSpec, world: InvoiceWorld): Frozen | null => {
  const last = world.sends.at(-1)?.frozen ?? null
  if (!world.record || faultsOf(spec).length > 0) return last
  const seller = last?.seller ?? (world.issuer && sellerOf(world.issuer))
  if (!seller) return null
  const zone = zoneOf(world)
  const day = last?.issuedOn ?? issuedOn(new Date(world.record.issuedAt), zone)
  const paid = paidOf(world, day, zone)
  return { ...bodyOf(spec, seller, day), number: world.record.number, paid, ...creditedOf(world) }
}
