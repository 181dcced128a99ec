/** What makes two orders the same order (REF_PAYLOAD_MISMATCH: rules/invoice.md#the-same-order). */
import { toCamel, toSnake } from '../../kernel/rest.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { Frozen } from './frozen.ts'
import { totalsOf } from './totals.ts'

/** `clientEmail` is null when none was given; `issuerId` names the issuer used. */
export type Payload = {
  totalCents: number
  currency: string
  clientEmail: string | null
  issuerId: string
  test: boolean
  send: boolean
}

/** The payload of a spec without faults. */
export const payloadOf = (spec: InvoiceSpec, issuerId: string): Payload => ({
  totalCents: totalsOf(spec).totalCents,
  currency: spec.currency,
  clientEmail: spec.clientEmail ?? null,
  issuerId,
  test: spec.test,
  send: spec.send,
})

/** The payload that a frozen document was made of. */
export const payloadOfFrozen = (frozen: Frozen, issuerId: string): Payload => ({
  totalCents: frozen.totalCents,
  currency: frozen.currency,
  clientEmail: frozen.client.email === '' ? null : frozen.client.email,
  issuerId,
  test: frozen.test,
  send: true,
})

const FIELDS = ['totalCents', 'currency', 'clientEmail', 'issuerId', 'test', 'send'] as const

/** Pointers (`/totalCents`, …) of the fields that differ; empty when it is the same order. */
export const payloadDiff = (a: Payload, b: Payload): string[] =>
  FIELDS.filter((field) => a[field] !== b[field]).map((field) => `/${field}`)

/** A payload in REST names. */
export type PayloadView = {
  total_cents: number
  currency: string
  client_email: string | null
  issuer_id: string
  test: boolean
  send: boolean
}

export const viewPayload = (payload: Payload): PayloadView => renamed(payload, toSnake) as PayloadView
export const payloadOfView = (view: PayloadView): Payload => renamed(view, toCamel) as Payload

const renamed = (payload: Payload | PayloadView, name: (key: string) => string): unknown =>
  Object.fromEntries(Object.entries(payload).map(([key, value]) => [name(key), value]))
