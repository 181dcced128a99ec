/** Which order counts: the spec while it can be edited, else what it was when it became a record. */
import type { ProblemCode } from '../problem.ts'
import { faultsOf } from './faults.ts'
import { type Payload, payloadDiff, payloadOf, payloadOfFrozen } from './payload.ts'
import { DEFAULT_ISSUER, type InvoiceSpec } from './schema.ts'
import type { InvoiceWorld } from './world.ts'

/** The id of the issuer an invoice asks for: the account's default one when it names none. */
export const issuerIdOf = (spec: InvoiceSpec, world: Pick<InvoiceWorld, 'issuer'>): string =>
  spec.issuerId ?? world.issuer?.id ?? DEFAULT_ISSUER

/** Voided by its desire or, when it came back without it, by its record. A draft has nothing to void. */
export const isVoided = (spec: InvoiceSpec, { record, snapshots }: InvoiceWorld): boolean =>
  record !== null && (spec.void || snapshots.some(({ kind }) => kind === 'void'))

/** The order of a record; null while it can be edited. */
const fixedOrderOf = (world: InvoiceWorld): Payload | null => {
  if (world.order) return world.order
  const last = world.sends.at(-1)
  // a receipt is fixed by the document that it was frozen on
  return world.record && last && world.payments.length > 0
    ? payloadOfFrozen(last.frozen, world.record.claimed.issuerId)
    : null
}

/** The order that counts now; null when the spec has faults and nothing was sent. */
export const orderOf = (spec: InvoiceSpec, world: InvoiceWorld): Payload | null => {
  const fixed = fixedOrderOf(world)
  if (fixed) return fixed
  if (faultsOf(spec).length === 0) return payloadOf(spec, issuerIdOf(spec, world))
  const last = world.sends.at(-1)
  return last && world.record ? payloadOfFrozen(last.frozen, world.record.claimed.issuerId) : null
}

/** Pointers in which the spec has left the fixed order; empty while it is the same, or is not fixed. */
const leftOf = (spec: InvoiceSpec, world: InvoiceWorld): string[] => {
  const fixed = fixedOrderOf(world)
  if (!fixed) return []
  // what has a fault cannot be what was frozen
  return faultsOf(spec).length > 0 ? ['/'] : payloadDiff(payloadOf(spec, issuerIdOf(spec, world)), fixed)
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
