/**
 * The books of one invoice: what it came to, what was paid and credited, and what may still be. Facts are ruled on one by
 * one in the order of their recording, each seeing the books as the ones before it left them, so that no number of
 * parallel requests overdraws them. Source: rules/invoice.md#payments.
 */

import type { ProblemCode } from '../../kernel/problem.ts'
import {
  centsOfProcessor,
  displayCents,
  isWholeAmount,
  leastCents,
  notWhole,
  processorUnits,
} from '../../values/money.ts'
import { creditSizeFaults } from '../document/drawcost.ts'
import type { CardPayment, Session } from '../facts/collected.ts'
import type { Credit, Payment } from '../facts/ledger.ts'
import type { FactRequest } from '../facts/requests.ts'
import { priceFaults } from '../faults.ts'
import { totalsFit, totalsOf } from '../order/totals.ts'
import type { InvoiceItem } from '../schema.ts'

/** All in hundredths of the currency unit. */
export type Books = { totalCents: number; paidCents: number; creditedCents: number }

/** What is left to pay. Never below zero: money beyond the total is owed back instead. */
export const dueCents = ({ totalCents, paidCents, creditedCents }: Books): number =>
  Math.max(0, totalCents - paidCents - creditedCents)

/** What may still be credited. */
export const creditableCents = ({ totalCents, creditedCents }: Books): number => Math.max(0, totalCents - creditedCents)

/** What the client has paid beyond what is left of the total after its credit notes. */
export const owedBackCents = ({ totalCents, paidCents, creditedCents }: Books): number =>
  Math.max(0, paidCents + creditedCents - totalCents)

type Money = { payments: readonly Payment[]; credits: readonly Credit[] }

const sumOf = (amounts: readonly { amountCents: number }[]): number =>
  amounts.reduce((total, { amountCents }) => total + amountCents, 0)

export const booksOf = (totalCents: number, { payments, credits }: Money): Books => ({
  totalCents,
  paidCents: sumOf(payments),
  creditedCents: sumOf(credits),
})

/** What brought the balance to zero; null while something is due. */
export type BooksSettlement = { by: 'payment' | 'credit'; id: string; at: string }

export const settlementOf = (totalCents: number, { payments, credits }: Money): BooksSettlement | null => {
  const moves = [
    ...payments.map(({ seq, id, amountCents, receivedAt: at }) => ({
      by: 'payment' as const,
      seq,
      id,
      amountCents,
      at,
    })),
    ...credits.map(({ seq, id, amountCents, at }) => ({ by: 'credit' as const, seq, id, amountCents, at })),
  ].sort((a, b) => a.seq - b.seq)
  let leftCents = totalCents
  for (const { by, id, amountCents, at } of moves) {
    leftCents -= amountCents
    if (leftCents <= 0) return { by, id, at }
  }
  return null
}

/** How an invoice stands towards money: drafts and voided ones take none. */
export type Standing = 'draft' | 'open' | 'voided'

export type FactRefusal = { code: ProblemCode; detail: string }
/** The amount that a request comes to, or why it is refused. */
export type Ruled = { amountCents: number } | FactRefusal

type Asked = {
  books: Books
  standing: Standing
  currency: string
  number: string
  taxRateBp: number
  sessions: readonly Session[]
  /** What of the card payments can still go back. */
  refundableCents: number
}

const refuse = (code: ProblemCode, detail: string): FactRefusal => ({ code, detail })

/** A payment: within the balance, all of it when no amount is named; by card whatever was charged. */
export const rulePayment = (
  request: Extract<FactRequest, { kind: 'payment' }>,
  { books, standing, currency, number, sessions }: Asked,
): Ruled => {
  const money = (cents: number) => displayCents(cents, currency)
  if (request.card && standing !== 'draft') return ruleCardPayment(request.card, sessions, currency)
  if (standing === 'draft') return refuse('NOT_PAYABLE', 'a draft has no number and asks for no money')
  if (standing === 'voided') return refuse('NOT_PAYABLE', `${number} is voided and asks for no money`)
  const leftCents = dueCents(books)
  if (leftCents === 0)
    return refuse('NOTHING_DUE', `nothing of the ${money(books.totalCents)} of ${number} is left to pay`)
  const amountCents = request.amountCents ?? leftCents
  // an invoice of before may have a rest that its currency does not have, and all of it can be paid
  if (amountCents !== leftCents && !isWholeAmount(amountCents, currency))
    return refuse('BAD_PAID_AMOUNT', notWhole(amountCents, currency))
  if (amountCents >= 1 && amountCents <= leftCents) return { amountCents }
  return refuse(
    'BAD_PAID_AMOUNT',
    `${money(amountCents)} is outside ${money(leastCents(currency))} to the balance of ${money(leftCents)}`,
  )
}

/** A credit note: of the rest, of an amount, or of items under the invoice's tax; never more than what is left. */
export const ruleCredit = (request: Extract<FactRequest, { kind: 'credit' }>, asked: Asked): Ruled => {
  const { books, standing, currency, number, refundableCents } = asked
  const money = (cents: number) => displayCents(cents, currency)
  if (standing === 'draft') return refuse('NOT_NUMBERED', 'a draft has no number; edit it in place of crediting it')
  if (standing === 'voided') return refuse('LOCKED_VOID', `${number} is voided, so nothing of it is left to credit`)
  if (request.refund && refundableCents < 1)
    return refuse('NO_GATEWAY_PAYMENT', `no payment of ${number} came through the card processor that could go back`)
  const leftCents = creditableCents(books)
  const ruled =
    request.items === null
      ? { amountCents: request.amountCents ?? (request.refund ? Math.min(leftCents, refundableCents) : leftCents) }
      : ruleItems(request.items, asked)
  if ('code' in ruled) return ruled
  const { amountCents } = ruled
  if (amountCents > leftCents || leftCents === 0) {
    const credited = `${money(books.creditedCents)} of ${money(books.totalCents)} is credited`
    return refuse(
      'CREDIT_EXCEEDS_REST',
      `${money(amountCents)} is more than the ${money(leftCents)} left of ${number}: ${credited}`,
    )
  }
  if (amountCents < 1)
    return refuse('ZERO_TOTAL', `/items the credit comes to ${money(amountCents)}, it needs to be above zero`)
  if (request.refund) return ruleRefund(amountCents, asked)
  if (amountCents === leftCents || isWholeAmount(amountCents, currency)) return { amountCents }
  return refuse('BAD_AMOUNT', `/amountCents ${notWhole(amountCents, currency)}`)
}

/** What the lines of a credit note come to under the invoice's tax. */
const ruleItems = (items: InvoiceItem[], { taxRateBp, currency }: Asked): Ruled => {
  const [unfit] = [...priceFaults(items, currency), ...creditSizeFaults(items)]
  if (unfit) return refuse(unfit.code, `${unfit.pointer} ${unfit.detail}`)
  const input = { items, taxRateBp, discountCents: 0, currency }
  if (!totalsFit(input)) return refuse('INVALID_FIELD', '/items the amounts are too large to be computed exactly')
  return { amountCents: totalsOf(input).totalCents }
}

/** Never more than the card payments have brought, in an amount that a card can be credited. */
const ruleRefund = (amountCents: number, { refundableCents, currency, number }: Asked): Ruled => {
  const money = (cents: number) => displayCents(cents, currency)
  if (amountCents > refundableCents) {
    const most = `${money(refundableCents)} of what ${number} was paid by card can go back`
    return refuse(
      'NO_GATEWAY_PAYMENT',
      `${money(amountCents)} is more than the ${most}; credit the rest without refund`,
    )
  }
  if (processorUnits(amountCents, currency) !== null) return { amountCents }
  return refuse(
    'CURRENCY_UNSUPPORTED_FOR_COLLECT',
    `${money(amountCents)} is no whole unit, which a card is credited in`,
  )
}

/** What is decided about one fact. An accepted one's `outcome` is kept with it. */
export type Ruling = { seq: number; kind: FactRequest['kind'] } & (
  | { accept: true; amountCents: number; books: Books; isWhole: boolean; settles: boolean }
  | ({ accept: false } & FactRefusal)
)

const ruleSend = ({ seq, kind }: FactRequest, { standing, number }: Asked): Ruling[] => {
  const refused = { seq, kind, accept: false } as const
  if (standing === 'draft') return [{ ...refused, ...refuse('NOT_NUMBERED', 'a draft is sent by send: true') }]
  if (standing === 'voided') return [{ ...refused, ...refuse('LOCKED_VOID', `${number} is voided`) }]
  return []
}

/** Whether a request adds to what can go back by card (1), takes from it (-1), or neither. */
const cardSignOf = (request: Exclude<FactRequest, { kind: 'send' }>): number => {
  if (request.kind === 'payment') return request.card ? 1 : 0
  return request.refund ? -1 : 0
}

/**
 * Rules on payments and credit notes in their order; `books` of an accepted one are those after it, and it `settles` when
 * it is the one that leaves nothing due.
 */
export const ruleAll = (requests: readonly FactRequest[], first: Asked): Ruling[] => {
  let { books, refundableCents } = first
  return requests.flatMap((request): Ruling[] => {
    // whether there is a place for it under the cap of sends is asked when it is its turn
    if (request.kind === 'send') return ruleSend(request, first)
    const asked = { ...first, books, refundableCents }
    const ruled = request.kind === 'payment' ? rulePayment(request, asked) : ruleCredit(request, asked)
    const { seq, kind } = request
    if ('code' in ruled) return [{ seq, kind, accept: false, ...ruled }]
    const { amountCents } = ruled
    const isWhole = request.kind === 'credit' && request.items === null && amountCents === books.totalCents
    const grown = request.kind === 'payment' ? 'paidCents' : 'creditedCents'
    const wasDue = dueCents(books) > 0
    books = { ...books, [grown]: books[grown] + amountCents }
    refundableCents += cardSignOf(request) * amountCents
    return [{ seq, kind, accept: true, amountCents, books, isWhole, settles: wasDue && dueCents(books) === 0 }]
  })
}

/**
 * The amount that is booked for a reported settlement, or why it is not: it is compared with the session that was asked
 * for. It is booked whatever the balance is by now: the money has moved.
 */
export const ruleCardPayment = (
  { session: id, intent, units, currency, livemode }: CardPayment,
  sessions: readonly Session[],
  orderCurrency: string,
): { amountCents: number } | { code: ProblemCode; detail: string } => {
  const refuse = (detail: string) => ({ code: 'SETTLEMENT_MISMATCH' as const, detail: `${intent} ${detail}` })
  const session = sessions.find(({ opened }) => opened?.id === id)
  if (!session?.opened) return refuse(`was paid in the session ${id}, which was never opened for this invoice`)
  if (session.opened.livemode !== livemode) return refuse(`is a ${livemode ? 'live' : 'test'} payment, the session not`)
  if (session.currency !== currency) return refuse(`is in ${currency}, the session in ${session.currency}`)
  if (session.opened.units !== units)
    return refuse(`is ${units} units of ${currency}, the session asked for ${session.opened.units}`)
  if (orderCurrency !== currency) return refuse(`is in ${currency}, the invoice by now in ${orderCurrency}`)
  const amountCents = centsOfProcessor(units, currency)
  return amountCents === null ? refuse(`of ${units} cannot be said in hundredths of ${currency}`) : { amountCents }
}
