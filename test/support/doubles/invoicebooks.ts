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
import { planInvoice } from '../../../crds/invoice/plan.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import type { AskStep, InvoicePlan, InvoiceStep } from '../../../crds/invoice/steps.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import type { Scheduled } from '../../../crds/kernel/schedule.ts'
import { delivery, NOW, world } from '../builders/invoice.ts'

type Fact = Parameters<typeof recordedOf>[0][number] & { refusedCode?: string }
/** A document as it was frozen, by what froze it. */
export type Paper = { id: string; kind: string; frozen: Frozen; mail: string | null }
export type Told = { type: string; balance: number; status: string }

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

export const makeBooks = (start: { cap?: number; cards?: boolean } = {}) => {
  const facts: Fact[] = []
  const papers: Paper[] = []
  const told = new Map<string, Told>()
  const numbers = new Map<string, { number: string; issuedAt: string }>()
  const sends: SendRecord[] = []
  const asked: Pick<AskStep, 'messageId' | 'ask'>[] = []
  const deliveries: MailDelivery[] = []
  const notices: OwnerNotice[] = []
  let record: InvoiceRecord | null = null
  let quotaLeft = start.cap ?? 1_000
  let scheduled: Scheduled[] = []

  const append = (key: string, kind: string, body: object, state: Fact['state'], more: Partial<Fact> = {}): boolean => {
    if (facts.some((fact) => fact.key === key)) return false
    const at = new Date(NOW.getTime() + facts.length).toISOString()
    facts.push({ seq: facts.length + 1, key, kind, body: body as Record<string, unknown>, state, at, ...more })
    return true
  }
  const tell = (
    key: string,
    event: { type: string; data: { invoice: { balance_cents: number; status: string } } } | null,
  ) => {
    const { balance_cents: balance, status } = event?.data.invoice ?? { balance_cents: 0, status: '' }
    if (event && !told.has(key)) told.set(key, { type: event.type, balance, status })
  }
  const decide = (seq: number, change: Partial<Fact>): boolean => {
    const fact = facts.find((one) => one.seq === seq)
    if (fact?.state !== 'pending') return false
    Object.assign(fact, change)
    return true
  }

  /** One effect per step, as the controller's. */
  const acts: { [K in InvoiceStep['do']]: (step: Extract<InvoiceStep, { do: K }>) => Learned } = {
    decide: ({ verdicts }) => {
      for (const verdict of verdicts) {
        const { seq } = verdict
        const key = facts.find((fact) => fact.seq === seq)?.key ?? ''
        if (!verdict.accept)
          decide(seq, { state: 'refused', refusedCode: verdict.code, outcome: { detail: verdict.detail } })
        else if (decide(seq, { state: 'accepted', outcome: verdict.outcome })) tell(key, verdict.event)
      }
    },
    reserveSend: () => (around) => ({ ...around, hasQuota: true }),
    takeResend: ({ seq, isFree }) => {
      if (!isFree && quotaLeft === 0) decide(seq, { state: 'refused', refusedCode: 'SEND_CAP' })
      else if (decide(seq, { state: 'accepted' })) quotaLeft -= 1
    },
    claimNumber: ({ series, issuedAt, payload: claimed }) => {
      record ??= { number: 'INV-026-0001', seriesId: series.id, seq: 1, issuedAt, uids: ['uid-1'], claimed }
    },
    claimCredit: ({ series, issuedAt, id }) => {
      const held = numbers.get(id)
      const claimed = held ?? { number: formatNumber(series.prefix, series.year, numbers.size + 1), issuedAt }
      numbers.set(id, claimed)
      return (around) => ({
        ...around,
        credits: around.credits.map((credit) => (credit.id === id ? { ...credit, claimed } : credit)),
      })
    },
    adopt: () => undefined,
    recordReceipt: (step) =>
      void append(paymentKey('receipt'), 'payment', { ...step, declaredBy: 'owner' }, 'accepted'),
    freeze: ({ n, frozen, gate, mail, event }) => {
      if (sends.some((send) => send.n === n)) return
      sends.push({ n, at: NOW.toISOString(), gate, sha256: `send-${n}`, bytes: 1, frozen })
      papers.push({ id: `send:${n}`, kind: 'send', frozen, mail })
      tell(`send:${n}`, event)
    },
    stamp: ({ id, kind, frozen, afterSends, order, unsent, mail, event }) => {
      const body = { kind, number: frozen.number, afterSends, order, unsent, sha256: id, bytes: 1 }
      if (!append(snapshotKey(id), 'snapshot', body, 'accepted')) return
      papers.push({ id, kind, frozen, mail })
      tell(snapshotKey(id), event)
    },
    tell: ({ fact, mail, giveBack }) => {
      const isNew = fact === null || append(fact.key, fact.kind, fact.body, 'accepted')
      if (fact) tell(fact.key, fact.event)
      if (mail && !deliveries.some(({ purpose }) => purpose === mail.purpose)) {
        deliveries.push(delivery({ purpose: mail.purpose, state: 'queued', attempts: 0 }))
        notices.push(mail.notice)
      }
      if (isNew && giveBack !== null) quotaLeft += 1
    },
    drawDraft: () => undefined,
    remind: (step) => {
      if (!step.accept) decide(step.seq, { state: 'refused', refusedCode: step.code })
      else decide(step.seq, { state: 'accepted', outcome: step.outcome })
    },
    anchor: ({ n, day, from }) => void append(`recurring:${n}`, 'recurring', { n, day, from }, 'accepted'),
    repeat: ({ period, on, name: id }) =>
      void append(`period:${period}`, 'period', { period, on, id, held: false }, 'accepted'),
    schedule: ({ rows }) => {
      scheduled = rows
      return (around) => ({ ...around, scheduled: rows })
    },
    purge: () => undefined,
    askProcessor: ({ fact, messageId, ask }) => {
      if (append(fact.key, fact.kind, fact.body, 'accepted')) asked.push({ messageId, ask })
    },
  }
  const act = (step: InvoiceStep): Learned => acts[step.do](step as never)

  // a copy, because a world is frozen with all that it holds
  const observe = (): InvoiceWorld =>
    world({
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

  return {
    facts,
    asked,
    /** Facts of card collection, as the API and the payment worker write them. */
    report: (key: string, kind: string, body: object, state: Fact['state']) => append(key, kind, body, state),
    papers,
    /** Mails as they fare: what the mail sender would have made of them is put in here. */
    deliveries,
    notices,
    quotaLeft: () => quotaLeft,
    numbers,
    told: () => [...told.values()],
    observe,
    pay: (id: string, amountCents: number | null) =>
      append(paymentKey(id), 'payment', { amountCents, method: 'x', reference: '', declaredBy: 'owner' }, 'pending'),
    credit: (id: string, request: { amountCents?: number; items?: object[]; refund?: boolean }) =>
      append(
        creditKey(id),
        'credit',
        { amountCents: null, items: null, reason: '', refund: false, ...request },
        'pending',
      ),
    claim: (claiming: Claiming) => append(claimKey(claimId(claiming)), 'claim', { ...claiming }, 'pending'),
    view: (n: number) => append(viewKey(n), 'view', {}, 'pending'),
    send: (id: string) => append(sendKey(id), 'send', {}, 'pending'),
    /** A pass as runtime/pass.ts makes it, which dies after `effects` of them. */
    pass: (object: InvoiceResource, effects = Number.POSITIVE_INFINITY): InvoicePlan | null => {
      let left = effects
      const live = (step: InvoiceStep): Learned => {
        if (left-- <= 0) throw new Died()
        return act(step)
      }
      try {
        for (let round = 0; round < ROUNDS_MAX; round++) {
          const plan = work(object, live)
          if (plan) return plan
        }
      } catch (error) {
        if (error instanceof Died) return null
        throw error
      }
      throw new Error('the plan never comes to rest')
    },
  }

  /** The steps of one look, and those that follow from what they answered. The plan, when it had none. */
  function work(object: InvoiceResource, live: (step: InvoiceStep) => Learned): InvoicePlan | undefined {
    let around = observe()
    const first = planInvoice(object, around, NOW)
    if (first.steps.length === 0) return first
    let { steps } = first
    while (steps.length > 0) {
      const learned = steps.map(live).flatMap((learn) => (learn ? [learn] : []))
      if (learned.length < steps.length) return undefined
      around = learned.reduce((known, learn) => learn(known), around)
      steps = planInvoice(object, around, NOW).steps
    }
    return undefined
  }
}
