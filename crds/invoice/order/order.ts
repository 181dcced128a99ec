/** Which order counts: what it was when it became a record, else what was last sent, else the spec. */
import type { ProblemCode } from '../../kernel/problem.ts'
import { newestSend } from '../facts/ledger.ts'
import { faultsOf } from '../faults.ts'
import { DEFAULT_ISSUER, type InvoiceSpec } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'
import { askedOf } from './edit.ts'
import { type Payload, payloadDiff, payloadOf, payloadOfFrozen } from './payload.ts'

/** The id of the issuer an invoice asks for: the account's default one when it names none. */
export const issuerIdOf = (spec: InvoiceSpec, world: Pick<InvoiceWorld, 'issuer'>): string =>
  spec.issuerId ?? world.issuer?.id ?? DEFAULT_ISSUER

/** Voided by its desire or, when it came back without it, by its record. A draft has nothing to void. */
export const isVoided = (spec: InvoiceSpec, { record, snapshots }: InvoiceWorld): boolean =>
  record !== null && (spec.void || snapshots.some(({ kind }) => kind === 'void'))

/** The order of a record; null while it can be edited. */
const fixedOrderOf = (world: InvoiceWorld): Payload | null => {
  if (world.order) return world.order
  const last = newestSend(world.sends)
  // a receipt is fixed by the document that it was frozen on
  return world.record && last && world.payments.length > 0
    ? payloadOfFrozen(last.frozen, world.record.claimed.issuerId)
    : null
}

/** Money came in, or it was voided: what was sent last counts for good, whatever becomes of the spec. */
export const isFixed = (world: InvoiceWorld): boolean => fixedOrderOf(world) !== null

/** What is fixed with the number, in the names of the spec; `test` is so from creation on. */
const NUMBERED_FIELDS = ['currency', 'issuerId', 'test'] as const

/** The fields of those in which the spec has left what was numbered. */
const movedOf = (spec: InvoiceSpec, world: InvoiceWorld): (typeof NUMBERED_FIELDS)[number][] => {
  const { record } = world
  if (!record) return []
  const asked = { currency: spec.currency, issuerId: issuerIdOf(spec, world), test: spec.test }
  return NUMBERED_FIELDS.filter((field) => asked[field] !== record.claimed[field])
}

/** What was sent is owed until something else is sent. Null when the spec has faults and nothing was sent. */
export const orderOf = (spec: InvoiceSpec, world: InvoiceWorld): Payload | null => {
  const { record } = world
  const fixed = fixedOrderOf(world)
  if (fixed) return fixed
  const last = newestSend(world.sends)
  if (last && record) return payloadOfFrozen(last.frozen, record.claimed.issuerId)
  if (record && movedOf(spec, world).length > 0) return record.claimed
  return faultsOf(spec).length === 0 ? payloadOf(spec, issuerIdOf(spec, world)) : null
}

const askedNow = (spec: InvoiceSpec, world: InvoiceWorld): Payload | null =>
  askedOf(spec, issuerIdOf(spec, world), newestSend(world.sends)?.frozen)

const diffOf = (asked: Payload | null, order: Payload): string[] => (asked === null ? ['/'] : payloadDiff(asked, order))

/** The edit that what counts was fixed beside, to be kept with it: it is no change of a record. Null when there is none. */
export const unsentOf = (spec: InvoiceSpec, world: InvoiceWorld): InvoiceWorld['unsent'] => {
  const order = orderOf(spec, world)
  const edit = askedNow(spec, world)
  return order === null || world.sends.length === 0 || diffOf(edit, order).length === 0 ? null : { edit }
}

/** Pointers in which the spec has left the fixed order; empty while it is the same, or is not fixed. */
const leftOf = (spec: InvoiceSpec, world: InvoiceWorld): string[] => {
  const fixed = fixedOrderOf(world)
  if (!fixed) return []
  const asked = askedNow(spec, world)
  const { unsent } = world
  const isKnown = unsent !== null && (unsent.edit === null ? asked === null : diffOf(asked, unsent.edit).length === 0)
  return isKnown ? [] : diffOf(asked, fixed)
}

const LOCKS = {
  voided: { code: 'LOCKED_VOID', next: 'put the spec back and make another invoice' },
  paid: { code: 'LOCKED_PAID', next: 'put the spec back and make a credit note' },
  'partly paid': { code: 'LOCKED_PARTIAL', next: 'put the spec back and make a credit note' },
  'partly credited': { code: 'LOCKED_PARTIAL', next: 'put the spec back and make another credit note' },
} as const satisfies Record<string, { code: ProblemCode; next: string }>

export type Locked = { code: ProblemCode; detail: string }

/** A voided, paid, partly paid or credited invoice is a record: its spec may not leave the order that was fixed. */
export const lockOf = (
  spec: InvoiceSpec,
  world: InvoiceWorld,
  state: { paidCents: number; dueCents: number },
): Locked | null => {
  const pointers = leftOf(spec, world)
  if (pointers.length === 0 || !world.record) return null
  const changed = pointers.filter((pointer) => pointer !== '/').join(', ')
  const name = isVoided(spec, world)
    ? 'voided'
    : state.dueCents === 0
      ? 'paid'
      : state.paidCents > 0
        ? 'partly paid'
        : 'partly credited'
  const { code, next } = LOCKS[name]
  return {
    code,
    detail: `${world.record.number} is ${name} and was edited${changed === '' ? '' : ` at ${changed}`}; ${next}`,
  }
}

/**
 * What was numbered in one currency, under one issuer, stays so (rules/invoice.md#fixed-with-the-number). Null while the
 * spec says the same.
 */
export const movedLock = (spec: InvoiceSpec, world: InvoiceWorld): Locked | null => {
  const [field] = movedOf(spec, world)
  const { record } = world
  if (field === undefined || !record) return null
  const { number, claimed } = record
  return {
    code: field === 'test' ? 'TEST_IMMUTABLE' : 'LOCKED_NUMBERED',
    detail: `/${field} is fixed at ${claimed[field]} with ${number}; put it back, or void ${number} and make another invoice`,
  }
}
