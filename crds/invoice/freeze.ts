/** Spec and world at the moment of sending → the document as it will stand for ever. */
import assert from 'node:assert/strict'
import { clientOf } from './client.ts'
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

const sellerOf = (issuer: Issuer): Seller => ({
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

const bodyOf = (spec: InvoiceSpec, issuer: Issuer, day: string): Omit<Frozen, 'number' | 'paid'> => {
  const { lines, ...totals } = totalsOf(spec)
  return {
    kind: 'invoice',
    test: spec.test,
    issuedOn: day,
    dueDate: spec.dueDate ?? null,
    lang: spec.lang,
    currency: spec.currency,
    seller: sellerOf(issuer),
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
  ...bodyOf(spec, issuer, issuedOn(now, issuer.timeZone)),
  number: null,
  paid: null,
})

/** Several payments stand as one: their sum, and how and when the last of them came. */
const paidOf = ({ world, receipt }: Freezing, day: string, zone: string): FrozenPaid | null => {
  // a receipt is dated by its invoice, so it reads the same whichever pass freezes it
  if (receipt) return { ...receipt, on: day }
  const last = world.payments.at(-1)
  if (!last) return null
  const amountCents = world.payments.reduce((total, payment) => total + payment.amountCents, 0)
  const on = last.id === RECEIPT ? day : issuedOn(new Date(last.receivedAt), zone)
  return { amountCents, method: last.method, reference: last.reference, on }
}

/** The id of the payment that receipt mode records. */
export const RECEIPT = 'receipt'

export const freezeOf = (freezing: Freezing) => {
  const { spec, world, record, n } = freezing
  const { issuer } = world
  assert(issuer, 'only an invoice with an issuer is sent')
  const day = issuedOn(new Date(record.issuedAt), issuer.timeZone)
  const paid = paidOf(freezing, day, issuer.timeZone)
  const frozen: Frozen = { ...bodyOf(spec, issuer, day), number: record.number, paid }
  const isReceipt = paid !== null && paid.amountCents >= frozen.totalCents
  const silent = spec.test || spec.clientEmail === undefined
  return {
    do: 'freeze' as const,
    n,
    frozen,
    gate: gateOf(world),
    mail: silent ? null : isReceipt ? ('receipt' as const) : ('invoice' as const),
  }
}
