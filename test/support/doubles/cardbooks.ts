/** A card processor in memory, in front of the books in memory: it does what was asked and reports like the real one. */

import { checkoutKey, closedKey, openedKey, reportKey } from '../../../crds/invoice/facts/collected.ts'
import { paymentKey } from '../../../crds/invoice/facts/records.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { invoiceResource, NOW } from '../builders/invoice.ts'
import { type Books, makeBooks } from './invoicebooks.ts'

const DAY_MS = 86_400_000

export type CardBooks = ReturnType<typeof makeCardBooks>

type Processor = {
  books: Books
  open: Map<string, { units: number; currency: string }>
  refunds: Map<string, { part: string; units: number; intent: string }>
  atFirst: 'succeeded' | 'pending'
}

const answerOne = ({ books, open, refunds, atFirst }: Processor, { ask, messageId }: Books['asked'][number]) => {
  if (ask.ask === 'open') {
    const id = `cs_${messageId}`
    open.set(id, { units: ask.units, currency: ask.currency })
    const expiresAt = new Date(NOW.getTime() + DAY_MS).toISOString()
    const { session, units } = ask
    const body = { session, id, url: `https://pay.test/${id}`, units, livemode: false, expiresAt }
    books.report(openedKey(session), 'opened', body, 'accepted')
  } else if (ask.ask === 'end') {
    const how = open.delete(ask.id) ? 'expired' : 'complete'
    books.report(closedKey(ask.id), 'closed', { id: ask.id, how }, 'accepted')
  } else {
    const id = `re_${messageId}`
    refunds.set(id, { part: ask.part, units: ask.units, intent: ask.intent })
    const body = { part: ask.part, refund: id, state: atFirst, reason: null }
    books.report(reportKey(id, atFirst), 'refund_report', body, 'pending')
  }
}

/** @param changes of the spec; it is sent @param atFirst what a refund comes to when it is made */
export const makeCardBooks = (changes: Partial<InvoiceSpec> = {}, atFirst: 'succeeded' | 'pending' = 'succeeded') => {
  const books = makeBooks({ cards: true })
  const open: Processor['open'] = new Map()
  const refunds: Processor['refunds'] = new Map()
  let answered = 0
  let paid = 0
  let spec = changes
  books.pass(invoiceResource(spec))

  const settle = (
    id: string,
    more: { units?: number; currency?: string; livemode?: boolean } = {},
    intent?: string,
  ) => {
    paid += 1
    const name = intent ?? `pi_${paid}`
    const { units = 0, currency = '' } = open.get(id) ?? {}
    open.delete(id)
    const card = { session: id, units, currency, livemode: false, ...more }
    const body = { ...card, amountCents: null, method: 'card', reference: name, declaredBy: 'gateway' }
    books.report(paymentKey(name), 'payment', body, 'pending')
    return name
  }

  return {
    ...books,
    settle,
    /** Sessions that take money. */
    open,
    refunds,
    edit: (more: Partial<InvoiceSpec>) => {
      spec = { ...spec, ...more }
    },
    request: (id: string) => books.report(checkoutKey(id), 'checkout', {}, 'pending'),
    pass: (effects?: number) => books.pass(invoiceResource(spec), effects),
    /** What was asked until now is never answered. */
    forget: () => {
      answered = books.asked.length
    },
    /** Does what was asked since; a repeat of an ask does nothing new. */
    answer: () => {
      for (const asked of books.asked.slice(answered)) {
        answered += 1
        answerOne({ books, open, refunds, atFirst }, asked)
      }
    },
    reportRefund: (id: string, state: 'pending' | 'succeeded' | 'failed', reason: string | null = null) => {
      const part = refunds.get(id)?.part ?? ''
      return books.report(reportKey(id, state), 'refund_report', { part, refund: id, state, reason }, 'pending')
    },
  }
}

/** Passes and answers until nobody has anything more to do. */
export const rest = (books: CardBooks) => {
  for (let round = 0; round < 20; round++) {
    const before = books.facts.length + books.asked.length
    books.pass()
    books.answer()
    if (books.facts.length + books.asked.length === before) return books.pass()
  }
  throw new Error('asking never comes to rest')
}
