/** What the facts of an invoice say of card collection: checkout sessions, refunds, and what was reported of them. */
import { FIRST_LINK } from '../../values/links.ts'
import type { FactLike } from './fact.ts'

/** The keys of facts, one place for all who write and read them; those of what is asked are the outbox's purposes too. */
export const checkoutKey = (id: string): string => `checkout:${id}`
export const sessionKey = (session: number): string => `session:${session}`
export const openedKey = (session: number): string => `opened:${session}`
export const endingKey = (session: number): string => `ending:${session}`
export const closedKey = (id: string): string => `closed:${id}`
export const refundKey = (part: string): string => `refund:${part}`
export const reportKey = (refund: string, state: RefundState): string => `refund_report:${refund}:${state}`
export const failedKey = (purpose: string): string => `card_failed:${purpose}`

/** A checkout session as the processor made it. `units` are the processor's (crds/values/money.ts). */
export type Opened = { id: string; url: string; units: number; livemode: boolean; expiresAt: string }

/** One session that was asked for, counted from 1. */
export type Session = {
  session: number
  amountCents: number
  currency: string
  /** Version of the link to which its payer comes back. */
  link: number
  /** Null until the processor has made it. */
  opened: Opened | null
  /** Why the processor would not make it, and the place of that among the facts. */
  failed: { seq: number; reason: string } | null
  /** The processor was asked to end it. */
  isEnding: boolean
  /** It takes no money any more: ended, run out, or paid. */
  isClosed: boolean
}

/** How far a refund is, from the first to what may follow last: a bank may refuse one that had succeeded. */
export const REFUND_STATES = ['asked', 'pending', 'succeeded', 'failed'] as const
export type RefundState = (typeof REFUND_STATES)[number]

/** What goes back on one card payment because of one credit note; `part` names it. */
export type RefundPart = {
  part: string
  credit: string
  /** The processor's name of the payment. */
  intent: string
  amountCents: number
  state: RefundState
  /** Why it failed. */
  reason: string | null
}
export type RefundReport = Pick<RefundPart, 'part' | 'state' | 'reason'>

export type Collected = {
  sessions: Session[]
  refunds: RefundPart[]
  /** Somebody wants to pay: facts that are not decided yet. */
  checkouts: { seq: number }[]
  /** What was reported of refunds and is not decided yet. */
  reports: (RefundReport & { seq: number })[]
  /** That sessions have ended, as the processor reported by itself: facts that are not decided yet. */
  closings: { seq: number }[]
  /** Card payments that were reported and could not be booked. */
  strays: { intent: string; detail: string }[]
}

export const NOTHING_COLLECTED: Collected = {
  sessions: [],
  refunds: [],
  checkouts: [],
  reports: [],
  closings: [],
  strays: [],
}

/** Whose invoice has none of these was never at the processor. */
const CARD_KINDS = new Set(['checkout', 'session', 'opened', 'closed', 'refund', 'refund_report'])

const openedOf = ({ body }: Omit<FactLike, 'at'>): Opened => ({
  id: String(body.id),
  url: String(body.url),
  units: Number(body.units),
  livemode: body.livemode === true,
  expiresAt: String(body.expiresAt),
})

const reportOf = ({ body }: Omit<FactLike, 'at'>): RefundReport => ({
  part: String(body.part),
  state: REFUND_STATES.find((state) => state === body.state) ?? 'pending',
  reason: typeof body.reason === 'string' ? body.reason : null,
})

/** A refund after a report: reports come in any order, and the furthest state counts. */
export const reported = (refund: RefundPart, { state, reason }: RefundReport): RefundPart =>
  REFUND_STATES.indexOf(state) > REFUND_STATES.indexOf(refund.state) ? { ...refund, state, reason } : refund

/** Reads the facts of one invoice, in the order of their recording. */
export const collectedOf = (facts: readonly Omit<FactLike, 'at'>[]): Collected => {
  if (!facts.some(({ kind }) => CARD_KINDS.has(kind))) return { ...NOTHING_COLLECTED, strays: straysOf(facts) }
  const of = (kind: string) => facts.filter((fact) => fact.kind === kind)
  const pending = (kind: string) => of(kind).filter(({ state }) => state === 'pending')
  const [opened, failures, endings] = [of('opened'), of('card_failed'), of('ending')]
  const closed = new Set([...of('closed').map(({ body }) => body.id), ...of('payment').map(({ body }) => body.session)])
  const failureOf = (purpose: string) => failures.find(({ key }) => key === failedKey(purpose))
  const reports = of('refund_report')
  return {
    sessions: of('session').map(({ body }): Session => {
      const session = Number(body.session)
      const made = opened.find(({ key }) => key === openedKey(session))
      const failure = failureOf(sessionKey(session))
      return {
        session,
        amountCents: Number(body.amountCents),
        currency: String(body.currency),
        link: Number(body.link ?? FIRST_LINK),
        opened: made ? openedOf(made) : null,
        failed: failure ? { seq: failure.seq, reason: String(failure.body.reason) } : null,
        isEnding: endings.some(({ key }) => key === endingKey(session)),
        // what the processor does not know any more takes no money either
        isClosed: (made && closed.has(made.body.id)) || failureOf(endingKey(session)) !== undefined,
      }
    }),
    refunds: of('refund').map(({ body }): RefundPart => {
      const part = String(body.part)
      const failure = failureOf(refundKey(part))
      const asked: RefundPart = {
        part,
        credit: String(body.credit),
        intent: String(body.intent),
        amountCents: Number(body.amountCents),
        state: failure ? 'failed' : 'asked',
        reason: failure ? String(failure.body.reason) : null,
      }
      const decided = reports.filter((report) => report.state === 'accepted' && report.body.part === part)
      return decided.map(reportOf).reduce(reported, asked)
    }),
    checkouts: pending('checkout').map(({ seq }) => ({ seq })),
    reports: pending('refund_report').map((report) => ({ ...reportOf(report), seq: report.seq })),
    closings: pending('closed').map(({ seq }) => ({ seq })),
    strays: straysOf(facts),
  }
}

const straysOf = (facts: readonly Omit<FactLike, 'at'>[]): Collected['strays'] =>
  facts
    .filter(({ kind, state, body }) => kind === 'payment' && state === 'refused' && body.declaredBy === 'gateway')
    .map(({ body, outcome }) => ({ intent: String(body.reference), detail: String(outcome?.detail ?? '') }))

/** A session that ends sooner is not handed to a payer any more. */
const EXPIRY_MARGIN_MS = 10 * 60_000

/** It takes money as far as anybody knows. */
export const isRunning = ({ opened, isClosed, isEnding }: Session): boolean => opened !== null && !isClosed && !isEnding

/** What is due, and which link leads to it; the first when left out. */
type Due = { balanceCents?: number; currency?: string; linkVersions?: { link?: number } }

/** Whether a session asks for exactly what is due, and was not begun by a link that was ended. */
export const isFor = (
  { amountCents, currency, link }: Pick<Session, 'amountCents' | 'currency' | 'link'>,
  { balanceCents, linkVersions, ...due }: Due,
): boolean => amountCents === balanceCents && currency === due.currency && link === (linkVersions?.link ?? FIRST_LINK)

/** The session in which what is due can be paid; undefined when there is none. */
export const usableSession = ({ sessions }: Collected, due: Due, now: Date): Session | undefined => {
  const until = new Date(now.getTime() + EXPIRY_MARGIN_MS).toISOString()
  return sessions.findLast(
    (session) => isRunning(session) && isFor(session, due) && (session.opened?.expiresAt ?? '') > until,
  )
}

/** What goes back, or is asked to: all but what has failed. */
export const refundingCents = (refunds: readonly RefundPart[], intent?: string): number =>
  refunds
    .filter((one) => one.state !== 'failed' && (intent === undefined || one.intent === intent))
    .reduce((sum, { amountCents }) => sum + amountCents, 0)

/** What of a credit note is to go back and nobody was asked for yet. */
export const unaskedCents = (
  { id, refund, amountCents }: { id: string; refund: boolean; amountCents: number },
  refunds: readonly RefundPart[],
): number =>
  refund
    ? refunds.filter(({ credit }) => credit === id).reduce((left, part) => left - part.amountCents, amountCents)
    : 0

/** What the processor has sent back. */
export const refundedCents = (refunds: readonly RefundPart[]): number =>
  refunds.filter(({ state }) => state === 'succeeded').reduce((sum, { amountCents }) => sum + amountCents, 0)

/** A payment as the processor's signed message tells it, in the processor's units. */
export type CardPayment = { session: string; intent: string; units: number; currency: string; livemode: boolean }
