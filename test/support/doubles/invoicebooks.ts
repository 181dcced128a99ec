/**
 * The ledger of one invoice in memory: facts that are written once and decided once, sends, snapshots and a register, each
 * under its key as in PostgreSQL. It does what the plan's steps say and is observed like the real one.
 */

import type { MailDelivery } from '../../../crds/invoice/facts/deliveries.ts'
import type { InvoiceRecord, SendRecord } from '../../../crds/invoice/facts/ledger.ts'
import { creditKey, paymentKey, recordedOf, sendKey, snapshotKey } from '../../../crds/invoice/facts/records.ts'
import { recurringOf } from '../../../crds/invoice/facts/recurring.ts'
import { chasingOf } from '../../../crds/invoice/facts/reminded.ts'
import { viewKey } from '../../../crds/invoice/facts/visits.ts'
import type { OwnerNotice } from '../../../crds/invoice/mail/owner.ts'
import { type Claiming, claimId, claimKey } from '../../../crds/invoice/money/claim.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import { formatNumber } from '../../../crds/invoice/order/number.ts'
import type { EntryWord, LaterEntry } from '../../../crds/invoice/order/numbering.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import type { AskStep, InvoicePlan, InvoiceStep } from '../../../crds/invoice/steps.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import type { Scheduled } from '../../../crds/kernel/schedule.ts'
import { LINK_FACT, linkKey } from '../../../crds/values/links.ts'
import { delivery, NOW, world } from '../builders/invoice.ts'

type Fact = Parameters<typeof recordedOf>[0][number] & { refusedCode?: string }
/** A document as it was frozen, by what froze it. */
export type Paper = { id: string; kind: string; frozen: Frozen; mail: string | null }
/** An event as it was emitted. */
export type EmittedEvent = { type: string; balance: number; status: string }

// biome-ignore lint/suspicious/noConfusingVoidType: most effects answer nothing
type Learned = ((around: InvoiceWorld) => InvoiceWorld) | undefined | void

class Died extends Error {}
const ROUNDS_MAX = 50

/** An account that collects by card, on an installation that can. */
const COLLECTING = {
  processor: { livemode: false },
  account: { name: 'demo', plan: 'team', email: 'owner@demo.test', rails: ['stripe'] },
}

export type Books = ReturnType<typeof makeBooks>

type BooksState = {
  start: { cap?: number; cards?: boolean }
  facts: Fact[]
  papers: Paper[]
  /** By the key of what it follows from. */
  events: Map<string, EmittedEvent>
  numbers: Map<string, { number: string; issuedAt: string }>
  sends: SendRecord[]
  asked: Pick<AskStep, 'messageId' | 'ask'>[]
  deliveries: MailDelivery[]
  notices: OwnerNotice[]
  record: InvoiceRecord | null
  /** What the register is told of the number, the first of it that it was issued. */
  entries: (Omit<LaterEntry, 'entry'> & { entry: EntryWord })[]
  quotaLeft: number
  scheduled: Scheduled[]
}
type StepOf<K extends InvoiceStep['do']> = Extract<InvoiceStep, { do: K }>

const append = ({ facts }: BooksState, key: string, kind: string, body: object, state: Fact['state']): boolean => {
  if (facts.some((fact) => fact.key === key)) return false
  const at = new Date(NOW.getTime() + facts.length).toISOString()
  facts.push({ seq: facts.length + 1, key, kind, body: body as Record<string, unknown>, state, at })
  return true
}

const emit = (
  { events }: BooksState,
  key: string,
  event: { type: string; data: { invoice: { balance_cents: number; status: string } } } | null,
) => {
  const { balance_cents: balance, status } = event?.data.invoice ?? { balance_cents: 0, status: '' }
  if (event && !events.has(key)) events.set(key, { type: event.type, balance, status })
}

const settle = ({ facts }: BooksState, seq: number, change: Partial<Fact>): boolean => {
  const fact = facts.find((one) => one.seq === seq)
  if (fact?.state !== 'pending') return false
  Object.assign(fact, change)
  return true
}

const decide = (books: BooksState, { verdicts }: StepOf<'decide'>) => {
  for (const verdict of verdicts) {
    const { seq } = verdict
    const key = books.facts.find((fact) => fact.seq === seq)?.key ?? ''
    if (!verdict.accept)
      settle(books, seq, { state: 'refused', refusedCode: verdict.code, outcome: { detail: verdict.detail } })
    else if (settle(books, seq, { state: 'accepted', outcome: verdict.outcome })) emit(books, key, verdict.event)
  }
}

const takeResend = (books: BooksState, { seq, isFree }: StepOf<'takeResend'>) => {
  if (!isFree && books.quotaLeft === 0) settle(books, seq, { state: 'refused', refusedCode: 'SEND_CAP' })
  else if (settle(books, seq, { state: 'accepted' })) books.quotaLeft -= 1
}

const claimCredit = ({ numbers }: BooksState, { series, issuedAt, id }: StepOf<'claimCredit'>): Learned => {
  const held = numbers.get(id)
  const claimed = held ?? { number: formatNumber(series.prefix, series.year, numbers.size + 1), issuedAt }
  numbers.set(id, claimed)
  return (around) => ({
    ...around,
    credits: around.credits.map((credit) => (credit.id === id ? { ...credit, claimed } : credit)),
  })
}

const freeze = (books: BooksState, { n, frozen, gate, mail, event, entry }: StepOf<'freeze'>) => {
  if (books.sends.some((send) => send.n === n)) return
  books.sends.push({ n, at: NOW.toISOString(), gate, sha256: `send-${n}`, bytes: 1, frozen })
  books.papers.push({ id: `send:${n}`, kind: 'send', frozen, mail })
  emit(books, `send:${n}`, event)
  if (entry) books.entries.push({ ...entry, reference: `send-${n}` })
}

const stamp = (books: BooksState, step: StepOf<'stamp'>) => {
  const { id, kind, frozen, afterSends, order, unsent, mail, event, entry } = step
  const body = { kind, number: frozen.number, afterSends, order, unsent, sha256: id, bytes: 1 }
  if (!append(books, snapshotKey(id), 'snapshot', body, 'accepted')) return
  books.papers.push({ id, kind, frozen, mail })
  emit(books, snapshotKey(id), event)
  if (entry) books.entries.push(entry)
}

const notify = (books: BooksState, { fact, mail, giveBack }: StepOf<'notifyOwner'>) => {
  const isNew = fact === null || append(books, fact.key, fact.kind, fact.body, 'accepted')
  if (fact) emit(books, fact.key, fact.event)
  if (mail && !books.deliveries.some(({ purpose }) => purpose === mail.purpose)) {
    books.deliveries.push(delivery({ purpose: mail.purpose, state: 'queued', attempts: 0 }))
    books.notices.push(mail.notice)
  }
  if (isNew && giveBack !== null) books.quotaLeft += 1
}

const remind = (books: BooksState, step: StepOf<'remind'>) => {
  if (!step.accept) settle(books, step.seq, { state: 'refused', refusedCode: step.code })
  else settle(books, step.seq, { state: 'accepted', outcome: step.outcome })
}

/** One effect per step, as the controller's. */
const actsOf = (books: BooksState): { [K in InvoiceStep['do']]: (step: StepOf<K>) => Learned } => ({
  decide: (step) => decide(books, step),
  reserveSend: () => (around) => ({ ...around, hasQuota: true }),
  takeResend: (step) => takeResend(books, step),
  claimNumber: ({ series, issuedAt, payload: claimed }) => {
    if (books.record) return
    books.record = { number: 'INV-026-0001', seriesId: series.id, seq: 1, issuedAt, uids: ['uid-1'], claimed }
    const { totalCents, currency } = claimed
    books.entries.push({ entry: 'issued', totalCents, currency, reference: '' })
  },
  claimCredit: (step) => claimCredit(books, step),
  adopt: () => undefined,
  recordReceipt: (step) =>
    void append(books, paymentKey('receipt'), 'payment', { ...step, declaredBy: 'owner' }, 'accepted'),
  recordLink: ({ purpose, version, event }) => {
    const key = linkKey(purpose, version)
    if (append(books, key, LINK_FACT, { purpose, version }, 'accepted')) emit(books, key, event)
  },
  freeze: (step) => freeze(books, step),
  stamp: (step) => stamp(books, step),
  notifyOwner: (step) => notify(books, step),
  drawDraft: () => undefined,
  remind: (step) => remind(books, step),
  anchor: ({ n, day, from }) => void append(books, `recurring:${n}`, 'recurring', { n, day, from }, 'accepted'),
  repeat: ({ period, on, name: id }) =>
    void append(books, `period:${period}`, 'period', { period, on, id, held: false }, 'accepted'),
  schedule: ({ rows }) => {
    books.scheduled = rows
    return (around) => ({ ...around, scheduled: rows })
  },
  purge: () => undefined,
  askProcessor: ({ fact, messageId, ask }) => {
    if (append(books, fact.key, fact.kind, fact.body, 'accepted')) books.asked.push({ messageId, ask })
  },
})

const observe = ({ start, facts, record, sends, deliveries, scheduled }: BooksState): InvoiceWorld =>
  world({
    // a copy, because a world is frozen with all that it holds
    ...structuredClone({
      record,
      sends,
      deliveries,
      ...recordedOf(facts),
      chasing: chasingOf(facts),
      recurring: recurringOf(facts),
      scheduled,
      factSeq: facts.length,
    }),
    ...(start.cards && COLLECTING),
  })

/** The steps of one look, and those that follow from what they answered. The plan, when it had none. */
const work = (
  books: BooksState,
  object: InvoiceResource,
  act: (step: InvoiceStep) => Learned,
): InvoicePlan | undefined => {
  let around = observe(books)
  const first = planInvoice(object, around, NOW)
  if (first.steps.length === 0) return first
  let { steps } = first
  while (steps.length > 0) {
    const learned = steps.map(act).flatMap((apply) => (apply ? [apply] : []))
    if (learned.length < steps.length) return undefined
    around = learned.reduce((known, apply) => apply(known), around)
    steps = planInvoice(object, around, NOW).steps
  }
  return undefined
}

/** A pass as runtime/pass.ts makes it, which dies after `effects` of them. */
const pass = (books: BooksState, object: InvoiceResource, effects: number): InvoicePlan | null => {
  const acts = actsOf(books)
  let left = effects
  const act = (step: InvoiceStep): Learned => {
    if (left-- <= 0) throw new Died()
    return acts[step.do](step as never)
  }
  try {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const plan = work(books, object, act)
      if (plan) return plan
    }
  } catch (error) {
    if (error instanceof Died) return null
    throw error
  }
  throw new Error('the plan never comes to rest')
}

export const makeBooks = (start: BooksState['start'] = {}) => {
  const books: BooksState = {
    start,
    facts: [],
    papers: [],
    events: new Map(),
    numbers: new Map(),
    sends: [],
    asked: [],
    deliveries: [],
    notices: [],
    record: null,
    entries: [],
    quotaLeft: start.cap ?? 1_000,
    scheduled: [],
  }
  const report = (key: string, kind: string, body: object, state: Fact['state']) =>
    append(books, key, kind, body, state)
  const pend = (key: string, kind: string, body: object) => report(key, kind, body, 'pending')

  return {
    facts: books.facts,
    asked: books.asked,
    /** Facts of card collection, as the API and the payment worker write them. */
    report,
    papers: books.papers,
    /** Mails as they fare: what the mail sender would have made of them is put in here. */
    deliveries: books.deliveries,
    notices: books.notices,
    quotaLeft: () => books.quotaLeft,
    numbers: books.numbers,
    entries: books.entries,
    events: () => [...books.events.values()],
    observe: () => observe(books),
    pay: (id: string, amountCents: number | null) =>
      pend(paymentKey(id), 'payment', { amountCents, method: 'x', reference: '', declaredBy: 'owner' }),
    credit: (id: string, request: { amountCents?: number; items?: object[]; refund?: boolean }) =>
      pend(creditKey(id), 'credit', { amountCents: null, items: null, reason: '', refund: false, ...request }),
    claim: (claiming: Claiming) => pend(claimKey(claimId(claiming)), 'claim', { ...claiming }),
    view: (n: number) => pend(viewKey(n), 'view', {}),
    send: (id: string) => pend(sendKey(id), 'send', {}),
    /** A pass as runtime/pass.ts makes it, which dies after `effects` of them. */
    pass: (object: InvoiceResource, effects = Number.POSITIVE_INFINITY) => pass(books, object, effects),
  }
}
