/**
 * A client says on its page that it has paid. It is kept and shown to the seller, and changes nothing that is owed: money
 * counts once the seller or the card processor says that it came. Source: rules/invoice.md#claims.
 */
import { createHash } from 'node:crypto'
import type { Fault } from '../../kernel/problem.ts'
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'
import { currencyDigits, displayCents, isWholeAmount, leastCents, notWhole } from '../../values/money.ts'
import { AMOUNT_CENTS_MAX, REFERENCE_MAX } from '../schema.ts'
import { type Books, dueCents, type FactRefusal, type Standing } from './books.ts'

/** Claims of one invoice that are kept. */
export const CLAIMS_MAX = 20
/** How many days back a payment may be dated. */
const PAST_DAYS_MAX = 730
const DAY_MS = 86_400_000

export const claimBody = {
  type: 'object',
  description: 'A payment that its client says was made.',
  properties: {
    date: {
      type: 'string',
      description: 'The day of the payment; today when left out.',
      format: 'date',
      maxLength: 10,
    },
    reference: {
      type: 'string',
      description: 'What the seller can find the payment by.',
      maxLength: REFERENCE_MAX,
      'x-text': 'line',
    },
    amountCents: {
      type: 'integer',
      description: 'How much, in hundredths of the currency unit; all that is due when left out.',
      minimum: 1,
      maximum: AMOUNT_CENTS_MAX,
      'x-code': 'BAD_PAID_AMOUNT',
    },
  },
} as const satisfies ObjectSchema
export type ClaimBody = Infer<typeof claimBody>

/** What is reported, and waits to be decided on. `amountCents` null: all that is due. */
export type Claiming = { paidOn: string; reference: string; amountCents: number | null }
export type PendingClaim = Claiming & { seq: number; id: string }

/** A claim that stands. `at` is when it was made, ISO. */
export type PaymentClaim = {
  id: string
  seq: number
  paidOn: string
  reference: string
  amountCents: number
  at: string
}

export const claimKey = (id: string): string => `claim:${id}`

const ID_HEX = 20

/** The same words are the same claim, however often the form is sent. */
export const claimId = ({ paidOn, reference, amountCents }: Claiming): string =>
  `clm-${createHash('sha256')
    .update(JSON.stringify([paidOn, reference, amountCents]))
    .digest('hex')
    .slice(0, ID_HEX)}`

/** What the schema cannot say. @param now of the platform's clock; where the client is it may be tomorrow already */
export const claimFaults = ({ paidOn }: Pick<Claiming, 'paidOn'>, now: Date): Fault[] => {
  const days = (Date.parse(`${paidOn}T00:00:00Z`) - now.getTime()) / DAY_MS
  if (days > 1) return [{ code: 'INVALID_FIELD', pointer: '/date', detail: `${paidOn} is still to come` }]
  if (days < -PAST_DAYS_MAX)
    return [{ code: 'INVALID_FIELD', pointer: '/date', detail: `${paidOn} is more than ${PAST_DAYS_MAX} days ago` }]
  return []
}

/** With or without thousands apart, in either way of the world; two decimals at most. */
const PLAIN = /^\d{1,13}(?:[.,]\d{1,2})?$/
const GROUPED = /^\d{1,3}(?:(?:,\d{3}){1,4}(?:\.\d{1,2})?|(?:\.\d{3}){1,4}(?:,\d{1,2})?)$/

/** An amount as a person writes it, in hundredths of the currency unit; null when it is none. */
export const centsOfText = (text: string): number | null => {
  const amount = text.replace(/\s+/g, '')
  if (!PLAIN.test(amount) && !GROUPED.test(amount)) return null
  const [, whole = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}))?$/.exec(amount) ?? []
  return Number(whole.replace(/\D/g, '') + fraction.padEnd(2, '0'))
}

/** The other way round, without thousands apart: what a field of a form is filled with. `50000, 'JPY'` → `500`. */
export const textOfCents = (cents: number, currency: string): string => {
  const units = String(Math.trunc(cents / 100))
  return currencyDigits(currency) === 0 && cents % 100 === 0
    ? units
    : `${units}.${String(cents % 100).padStart(2, '0')}`
}

type Asked = { books: Books; standing: Standing; currency: string; number: string; claims: readonly PaymentClaim[] }

/** The amount that a claim comes to, or why it is refused. */
export const ruleClaim = (
  { amountCents }: Pick<Claiming, 'amountCents'>,
  { books, standing, currency, number, claims }: Asked,
): { amountCents: number } | FactRefusal => {
  const money = (cents: number) => displayCents(cents, currency)
  if (standing !== 'open')
    return {
      code: 'NOT_PAYABLE',
      detail: standing === 'voided' ? `${number} is voided` : 'a draft asks for no payment',
    }
  const leftCents = dueCents(books)
  if (leftCents === 0) return { code: 'NOTHING_DUE', detail: `nothing is left to pay of ${number}` }
  if (claims.length >= CLAIMS_MAX)
    return { code: 'CLAIM_LIMIT', detail: `${CLAIMS_MAX} payments of ${number} were claimed; ask the seller` }
  const claimed = amountCents ?? leftCents
  if (claimed !== leftCents && !isWholeAmount(claimed, currency))
    return { code: 'BAD_PAID_AMOUNT', detail: `/amountCents ${notWhole(claimed, currency)}` }
  if (claimed <= leftCents) return { amountCents: claimed }
  return {
    code: 'BAD_PAID_AMOUNT',
    detail: `/amountCents ${money(claimed)} is outside ${money(leastCents(currency))} to the balance of ${money(leftCents)}`,
  }
}
