import { randomBytes } from 'node:crypto'

/** What the card processor's stand-in remembers: sessions, payments, refunds, in the shapes of the real API. */
export type CardFields = Record<string, unknown>
type Metadata = Record<string, string>

export type StandInSession = CardFields & {
  id: string
  url: string
  status: 'open' | 'complete' | 'expired'
  amount_total: number
  currency: string
  metadata: Metadata
  payment_intent: string | null
  success_url: string
}
export type StandInRefund = CardFields & {
  id: string
  payment_intent: string
  amount: number
  metadata: Metadata
  status: string
}
const DAY_SECONDS = 86_400

export const idOf = (prefix: string) => `${prefix}_test_${randomBytes(12).toString('hex')}`

/** A refusal as the real API answers it. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const metadataOf = (form: URLSearchParams, at = 'metadata'): Metadata =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) =>
      name.startsWith(`${at}[`) && name.endsWith(']') ? [[name.slice(at.length + 1, -1), value]] : [],
    ),
  )

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** The page that a visitor pays on. */
export const pageOf = ({ id, status, amount_total, currency, metadata }: StandInSession): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Checkout</title></head><body><main>
<h1>Checkout ${escapeHtml(metadata.number ?? id)}</h1>
<p>${amount_total} smallest units of ${escapeHtml(currency.toUpperCase())}, ${status}</p>
${status === 'open' ? '<form method="post"><button type="submit">Pay</button></form>' : '<p role="alert">This checkout is over.</p>'}
</main></body></html>`

/** What the stand-in remembers, and how it reaches the rest of itself. */
type Kept = {
  apiBase(): string
  refundStatus(): 'succeeded' | 'pending'
  announce(type: string, object: CardFields): void
  sessions: Map<string, StandInSession>
  refunds: Map<string, StandInRefund>
}

const found = ({ sessions }: Kept, id: string): StandInSession => {
  const session = sessions.get(id)
  if (!session) throw new Refused(404, 'resource_missing', `No such checkout.session: '${id}'`)
  return session
}

const createSession = ({ sessions, apiBase }: Kept, form: URLSearchParams): CardFields => {
  const units = Number(form.get('line_items[0][price_data][unit_amount]'))
  if (!Number.isSafeInteger(units) || units < 1) throw new Refused(400, 'parameter_invalid_integer', 'bad unit_amount')
  const id = idOf('cs')
  const session: StandInSession = {
    id,
    object: 'checkout.session',
    mode: 'payment',
    livemode: false,
    url: `${apiBase()}/pay/${id}`,
    status: 'open',
    payment_status: 'unpaid',
    amount_total: units,
    currency: form.get('line_items[0][price_data][currency]') ?? '',
    client_reference_id: form.get('client_reference_id'),
    customer_email: form.get('customer_email'),
    metadata: metadataOf(form),
    payment_intent: null,
    expires_at: Math.floor(Date.now() / 1000) + DAY_SECONDS,
    success_url: form.get('success_url') ?? '',
  }
  sessions.set(id, session)
  return session
}

const expire = (kept: Kept, id: string): CardFields => {
  const session = found(kept, id)
  if (session.status !== 'open') {
    const why = `Only Checkout Sessions with a status in ["open"] can be expired, this is ${session.status}.`
    throw new Refused(400, '', why)
  }
  session.status = 'expired'
  kept.announce('checkout.session.expired', session)
  return session
}

const createRefund = ({ sessions, refunds, refundStatus, announce }: Kept, form: URLSearchParams): CardFields => {
  const intent = form.get('payment_intent') ?? ''
  const session = [...sessions.values()].find((one) => one.payment_intent === intent)
  if (!session) throw new Refused(404, 'resource_missing', `No such payment_intent: '${intent}'`)
  const back = [...refunds.values()].filter((one) => one.payment_intent === intent && one.status !== 'failed')
  const left = session.amount_total - back.reduce((sum, { amount }) => sum + amount, 0)
  const amount = Number(form.get('amount') ?? left)
  if (amount > left)
    throw new Refused(400, 'charge_already_refunded', `Refund amount (${amount}) is greater than ${left}`)
  const refund: StandInRefund = {
    id: idOf('re'),
    object: 'refund',
    amount,
    currency: session.currency,
    payment_intent: intent,
    status: refundStatus(),
    failure_reason: null,
    metadata: metadataOf(form),
  }
  refunds.set(refund.id, refund)
  announce('refund.created', refund)
  return refund
}

const listRefunds = ({ refunds }: Kept, form: URLSearchParams): CardFields => {
  const intent = form.get('payment_intent')
  const data = [...refunds.values()].filter((one) => one.payment_intent === intent).reverse()
  return { object: 'list', url: '/v1/refunds', has_more: false, data }
}

const perform = (kept: Kept, method: string, path: string, form: URLSearchParams): CardFields => {
  const [, id = '', verb] = /^\/v1\/checkout\/sessions\/([^/]+)(\/expire)?$/.exec(path) ?? []
  if (method === 'POST' && path === '/v1/checkout/sessions') return createSession(kept, form)
  if (method === 'POST' && verb) return expire(kept, id)
  if (method === 'GET' && id !== '') return found(kept, id)
  if (method === 'POST' && path === '/v1/refunds') return createRefund(kept, form)
  if (method === 'GET' && path === '/v1/refunds') return listRefunds(kept, form)
  throw new Refused(404, '', `Unrecognized request URL (${method}: ${path}).`)
}

/** What a visitor's submit does; false when the session takes no money any more. */
const complete = (session: StandInSession): boolean => {
  if (session.status !== 'open') return false
  Object.assign(session, { status: 'complete', payment_status: 'paid', payment_intent: idOf('pi') })
  return true
}

export type CardState = ReturnType<typeof makeCardState>

export const makeCardState = (given: Omit<Kept, 'sessions' | 'refunds'>) => {
  const kept: Kept = { ...given, sessions: new Map(), refunds: new Map() }
  return {
    sessions: kept.sessions,
    refunds: kept.refunds,
    found: (id: string) => found(kept, id),
    perform: (method: string, path: string, form: URLSearchParams) => perform(kept, method, path, form),
    complete,
  }
}
