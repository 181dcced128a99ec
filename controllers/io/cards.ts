/**
 * The card processor, by its own library: checkout sessions, their end, refunds. No retry in here: each call is one attempt
 * of a row of the outbox, under the row's own idempotency key, and what failed is said so that the payment worker knows whether
 * another attempt may do better. Source: rules/invoice.md#card-collection; docs.stripe.com/api.
 */
import Stripe from 'stripe'
import type { Opened, RefundReport } from '../../crds/invoice/facts/collected.ts'
import type { DocumentLang } from '../../crds/invoice/order/frozen.ts'
import { FROM_CHECKOUT } from '../../crds/invoice/order/gate.ts'
import type { ProcessorRequest } from '../../crds/invoice/steps.ts'

/** One call; below the lease of the payment worker. */
const TIMEOUT_MS = 20_000
/** The processor's own most. */
const REFUNDS_PAGE = 100

/** `apiBase` without a slash at its end. */
export type CardSettings = { secretKey: string; apiBase: string }
type Of<K extends ProcessorRequest['ask']> = Extract<ProcessorRequest, { ask: K }>

/** `temporary`: another attempt may do better. `isUnknown`: nobody knows whether the processor did it. */
export class ProcessorError extends Error {
  readonly temporary: boolean
  readonly isUnknown: boolean
  constructor(message: string, { temporary, isUnknown }: { temporary: boolean; isUnknown: boolean }) {
    super(message)
    this.name = 'ProcessorError'
    this.temporary = temporary
    this.isUnknown = isUnknown
  }
}

export type Refunded = { id: string } & Omit<RefundReport, 'part'>

/** How a session takes no more money. */
type Ended = 'expired' | 'complete' | 'missing'

/** Every call throws ProcessorError. `key` is the processor's idempotency key, `invoice` the resource's name. */
export type CardProcessor = {
  /** Whether its key moves real money. */
  livemode: boolean
  /** @returns the session; `expiresAt` is by the processor's clock */
  open(ask: Of<'open'>, of: { invoice: string; key: string }): Promise<Opened>
  /** Ends a session, or finds it ended. @returns how it ended */
  end(ask: Of<'end'>): Promise<Ended>
  refund(ask: Of<'refund'>, of: { invoice: string; key: string }): Promise<Refunded>
  /** The refund of that part as it stands there; null when there is none. Only looks. */
  refunded(ask: Of<'refund'>, of: { invoice: string }): Promise<Refunded | null>
}

const LOCALES: Record<DocumentLang, Stripe.Checkout.SessionCreateParams.Locale> = {
  en: 'en',
  es: 'es',
  'zh-Hant': 'zh-TW',
  'zh-Hans': 'zh',
}

/** What heals without us: limits, locks, a key that is being exchanged, a balance that fills up again. */
const TEMPORARY_STATUS = new Set([401, 403, 409, 429])
const TEMPORARY_CODES = new Set(['lock_timeout', 'balance_insufficient'])
const REASON_MAX = 200

const errorOf = (error: unknown): unknown => {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  const { statusCode, code = '', type } = error
  const isUnknown = statusCode === undefined || statusCode >= 500
  const temporary = isUnknown || TEMPORARY_STATUS.has(statusCode) || TEMPORARY_CODES.has(code)
  // what a refusal of our key says is nobody's business but the log's
  const words = type === 'StripeInvalidRequestError' ? error.message.slice(0, REASON_MAX) : ''
  return new ProcessorError([code || type, words].filter(Boolean).join(': '), { temporary, isUnknown })
}

const call = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw errorOf(error)
  }
}

const sessionParams = (
  { units, currency, number, lang, email, returnUrl, account }: Of<'open'>,
  invoice: string,
): Stripe.Checkout.SessionCreateParams => {
  const metadata = { invoice_id: invoice, account, number }
  return {
    mode: 'payment',
    // the amount is charged in the invoice's own currency; ways to pay are chosen in the processor's dashboard
    adaptive_pricing: { enabled: false },
    client_reference_id: invoice,
    metadata,
    payment_intent_data: { metadata, description: number },
    line_items: [
      {
        quantity: 1,
        price_data: { currency: currency.toLowerCase(), unit_amount: units, product_data: { name: number } },
      },
    ],
    locale: LOCALES[lang],
    ...(email !== null && { customer_email: email }),
    success_url: `${returnUrl}?${FROM_CHECKOUT}=true`,
    cancel_url: returnUrl,
  }
}

const REFUND_STATES: Record<string, RefundReport['state']> = {
  pending: 'pending',
  requires_action: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
}

const refundedOf = ({ id, status, failure_reason: reason }: Stripe.Refund): Refunded => ({
  id,
  state: REFUND_STATES[status ?? ''] ?? 'pending',
  reason: reason ?? null,
})

type Sessions = Pick<Stripe['checkout']['sessions'], 'expire' | 'retrieve'>

/** Only an open session can be ended: after a refusal, a look tells how it stands. */
const endSession = async (sessions: Sessions, id: string): Promise<Ended> => {
  try {
    await sessions.expire(id)
    return 'expired'
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
    if (error.statusCode === 404) return 'missing'
    const { status } = await sessions.retrieve(id)
    if (status === 'complete') return 'complete'
    if (status === 'expired') return 'expired'
    throw error
  }
}

export const makeCardProcessor = ({ secretKey, apiBase }: CardSettings): CardProcessor => {
  const { hostname, port, protocol } = new URL(apiBase)
  const stripe = new Stripe(secretKey, {
    host: hostname,
    port: port || (protocol === 'https:' ? 443 : 80),
    protocol: protocol === 'https:' ? 'https' : 'http',
    maxNetworkRetries: 0,
    timeout: TIMEOUT_MS,
    telemetry: false,
  })
  const { sessions } = stripe.checkout
  return {
    livemode: /^[sr]k_live_/.test(secretKey),
    open: (ask, { invoice, key }) =>
      call(async () => {
        const made = await sessions.create(sessionParams(ask, invoice), { idempotencyKey: key })
        if (!made.url) throw new ProcessorError('the session has no address', { temporary: false, isUnknown: false })
        const expiresAt = new Date(made.expires_at * 1000).toISOString()
        return { id: made.id, url: made.url, units: ask.units, livemode: made.livemode === true, expiresAt }
      }),
    end: ({ id }) => call(() => endSession(sessions, id)),
    refund: ({ part, intent, units, account }, { invoice, key }) =>
      call(async () => {
        const made = await stripe.refunds.create(
          { payment_intent: intent, amount: units, metadata: { invoice_id: invoice, account, part } },
          { idempotencyKey: key },
        )
        return refundedOf(made)
      }),
    refunded: ({ part, intent }, { invoice }) =>
      call(async () => {
        for await (const made of stripe.refunds.list({ payment_intent: intent, limit: REFUNDS_PAGE })) {
          const { metadata } = made
          if (metadata?.part === part && metadata.invoice_id === invoice) return refundedOf(made)
        }
        return null
      }),
  }
}
