/**
 * The books of one invoice: what it came to, what was paid and credited, and what may still be. Facts are ruled on one by
 * one in the order of their recording, each seeing the books as the ones before it left them, so that no number of
 * parallel requests overdraws them. Source: spec/1 "States and transitions", "Errors"; CONTRACT section 10, Invoices.
 */
import { displayCents, processorUnits } from '../money.ts'
import type { ProblemCode } from '../problem.ts'
import { type CardPayment, ruleCardPayment } from './collect.ts'
import type { Session } from './collected.ts'
import type { InvoiceItem } from './schema.ts'
import { totalsFit, totalsOf } from './totals.ts'
import type { Credit, Payment } from './world.ts'

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
export type Settlement = { by: 'payment' | 'credit'; id: string; at: string }

export const settlementOf = (totalCents: number, { payments, credits }: Money): Settlement | null => {
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

/** Something that was reported and is not decided yet. `amountCents` null: all that is left. */
export type Wish = { seq: number; id: string } & (
  | { kind: 'payment'; amountCents: number | null; card?: CardPayment }
  | { kind: 'credit'; amountCents: number | null; items: InvoiceItem[] | null; refund: boolean }
  | { kind: 'send' }
)

/** How an invoice stands towards money: drafts and voided ones take none. */
export type Standing = 'draft' | 'open' | 'voided'

export type Refusal = { code: ProblemCode; detail: string }
/** The amount that a wish comes to, or why it is refused. */
export type Ruled = { amountCents: number } | Refusal

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

const refuse = (code: ProblemCode, detail: string): Refusal => ({ code, detail })

/** A payment: within the balance, all of it when no amount is named; by card whatever was charged. */
export const rulePayment = (
  wish: Extract<Wish, { kind: 'payment' }>,
  { books, standing, currency, number, sessions }: Asked,
): Ruled => {
  const money = (cents: number) => displayCents(cents, currency)
  if (wish.card && standing !== 'draft') return ruleCardPayment(wish.card, sessions, currency)
  if (standing === 'draft') return refuse('NOT_PAYABLE', 'a draft has no number and asks for no money')
  if (standing === 'voided') return refuse('NOT_PAYABLE', `${number} is voided and asks for no money`)
  const leftCents = dueCents(books)
  if (leftCents === 0)
    return refuse('NOTHING_DUE', `nothing of the ${money(books.totalCents)} of ${number} is left to pay`)
  const amountCents = wish.amountCents ?? leftCents
  if (amountCents >= 1 && amountCents <= leftCents) return { amountCents }
  return refuse('BAD_PAID_AMOUNT', `${money(amountCents)} is outside ${money(1)} to the balance of ${money(leftCents)}`)
}

/** A credit note: of the rest, of an amount, or of items under the invoice's tax; never more than what is left. */
export const ruleCredit = (wish: Extract<Wish, { kind: 'credit' }>, asked: Asked): Ruled => {
  const { books, standing, currency, number, taxRateBp, refundableCents } = asked
  const money = (cents: number) => displayCents(cents, currency)
  if (standing === 'draft') return refuse('NOT_NUMBERED', 'a draft has no number; edit it in place of crediting it')
  if (standing === 'voided') return refuse('LOCKED_VOID', `${number} is voided, so nothing of it is left to credit`)
  if (wish.refund && refundableCents < 1)
    return refuse('NO_GATEWAY_PAYMENT', `no payment of ${number} came through the card processor that could go back`)
  const leftCents = creditableCents(books)
  if (wish.items !== null && !totalsFit({ items: wish.items, taxRateBp, discountCents: 0 }))
    return refuse('INVALID_FIELD', '/items the amounts are too large to be computed exactly')
  const amountCents =
    wish.items === null
      ? (wish.amountCents ?? (wish.refund ? Math.min(leftCents, refundableCents) : leftCents))
      : totalsOf({ items: wish.items, taxRateBp, discountCents: 0 }).totalCents
  if (amountCents > leftCents || leftCents === 0) {
    const credited = `${money(books.creditedCents)} of ${money(books.totalCents)} is credited`
    return refuse(
      'CREDIT_EXCEEDS_REST',
      `${money(amountCents)} is more than the ${money(leftCents)} left of ${number}: ${credited}`,
    )
  }
  if (amountCents < 1)
    return refuse('ZERO_TOTAL', `/items the credit comes to ${money(amountCents)}, it needs to be above zero`)
  return wish.refund ? ruleRefund(amountCents, asked) : { amountCents }
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
export type Ruling = { seq: number; kind: Wish['kind'] } & (
  | { accept: true; amountCents: number; books: Books; isWhole: boolean; settles: boolean }
  | ({ accept: false } & Refusal)
)

const ruleSend = ({ seq, kind }: Wish, { standing, number }: Asked): Ruling[] => {
  const refused = { seq, kind, accept: false } as const
  if (standing === 'draft') return [{ ...refused, ...refuse('NOT_NUMBERED', 'a draft is sent by send: true') }]
  if (standing === 'voided') return [{ ...refused, ...refuse('LOCKED_VOID', `${number} is voided`) }]
  return []
}

/** Whether a wish adds to what can go back by card (1), takes from it (-1), or neither. */
const cardSignOf = (wish: Exclude<Wish, { kind: 'send' }>): number => {
  if (wish.kind === 'payment') return wish.card ? 1 : 0
  return wish.refund ? -1 : 0
}

/**
 * Rules on payments and credit notes in their order; `books` of an accepted one are those after it, and it `settles` when
 * it is the one that leaves nothing due.
 */
export const ruleAll = (wishes: readonly Wish[], first: Asked): Ruling[] => {
  let { books, refundableCents } = first
  return wishes.flatMap((wish): Ruling[] => {
    // whether there is a place for it under the cap of sends is asked when it is its turn
    if (wish.kind === 'send') return ruleSend(wish, first)
    const asked = { ...first, books, refundableCents }
    const ruled = wish.kind === 'payment' ? rulePayment(wish, asked) : ruleCredit(wish, asked)
    const { seq, kind } = wish
    if ('code' in ruled) return [{ seq, kind, accept: false, ...ruled }]
    const { amountCents } = ruled
    const isWhole = wish.kind === 'credit' && wish.items === null && amountCents === books.totalCents
    const grown = wish.kind === 'payment' ? 'paidCents' : 'creditedCents'
    const wasDue = dueCents(books) > 0
    books = { ...books, [grown]: books[grown] + amountCents }
    refundableCents += cardSignOf(wish) * amountCents
    return [{ seq, kind, accept: true, amountCents, books, isWhole, settles: wasDue && dueCents(books) === 0 }]
  })
}
