/**
 * The courier: takes due mail out of the outbox, composes it (from the frozen send, or as a link to sign in by), hands it
 * to the mail server, and records how that ended. A crash between the server's acceptance and the record is the one window
 * in which nobody knows; the row is then counted as unknown and sent once more under the same Message-ID (spec/1; DESIGN
 * section 1).
 */
import { signinMail } from '../crds/account/mail.ts'
import type { Frozen } from '../crds/invoice/frozen.ts'
import { invoiceMail, type MailText } from '../crds/invoice/mail.ts'
import { type OwnerNotice, ownerMail } from '../crds/invoice/ownermail.ts'
import { reminderMail } from '../crds/invoice/remindermail.ts'
import type { Tone } from '../crds/invoice/reminders.ts'
import { statusMail } from '../crds/invoice/statusmail.ts'
import { type WebhookNotice, webhookMail } from '../crds/webhook/mail.ts'
import { type Mail, MailError, type Mailer } from './io/mail.ts'
import { makeBatch } from './runtime/batch.ts'
import type { Keys } from './runtime/keys.ts'
import type { Log } from './runtime/log.ts'
import type { AboutSend, Outbox, OutboxRow, Settlement } from './runtime/outbox.ts'

const CHANNEL = 'mail'
/** Longer than any exchange with a mail server may take (io/mail.ts), so a lease is never lost while we are talking. */
const LEASE_MS = 120_000
/** How long the courier sleeps when nothing wakes it. */
const POLL_MS = 1_000
/**
 * Attempts and the wait after each; then the mail has failed. The first wait is short: most of what is temporary (a
 * restart, a moment without connections) is over in seconds.
 */
const RETRY_AFTER_MS = [2_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 43_200_000]

/** Whom the courier tells. */
export type CourierHooks = {
  /** The resource's delivery changed: its view is to be made anew. */
  onDelivered(resource: string): void
  onAttempt?(outcome: Settlement['state']): void
}

export type CourierDeps = CourierHooks & {
  outbox: Outbox
  mailer: Mailer
  keys: Keys
  publicUrl: string
  now: () => Date
  log: Log
  /**
   * Mails under way at once. Each lane is one more mail that a crash can leave undecided, so there are as few as keep up
   * with the passes (hack/decisions/003).
   */
  lanes: number
  /** How long a mail is ours, by the platform's clock; longer than any exchange when left out. */
  leaseMs?: number
}

export type Courier = {
  /** Something may be due. */
  wake(): void
  /** Takes nothing more and waits for what is under way. */
  stop(): Promise<void>
}

/** How long views of delivered mails may wait for one another. */
const TELL_MS = 100
/** How long a lane waits for another that is busy, to share its commit; a mail takes several times as long. */
const SHARE_MS = 4

type Attempt = { row: MailRow; settlement: Settlement }
type MailRow = OutboxRow & AboutSend
/** `snapshot`: about that one, in place of the document of the n-th send. */
type DocumentPayload = { mail: 'invoice' | 'receipt' | 'voided' | 'credited'; n: number; snapshot?: string }
/** `n`: the send whose document it reminds of. */
type ReminderPayload = { mail: 'reminder'; n: number; tone: Tone; dueDate: string | null; balanceCents: number }
/** `until` (ISO): the link opens nothing afterwards, so it is not worth sending. */
type SigninPayload = { mail: 'signin'; id: string; email: string; until: string }
type MailPayload = DocumentPayload | ReminderPayload | SigninPayload | OwnerNotice | WebhookNotice

const MINUTE_MS = 60_000
/** No holiday notice answers it (RFC 3834 section 5). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' }

/** All mails to a client about one invoice hang together, below its first (RFC 5322 section 3.6.4; controllers/invoice/papers.ts). */
const threadOf = ({ resource, messageId }: MailRow): Record<string, string> => {
  const first = `<${resource}.1${messageId.slice(messageId.lastIndexOf('@'))}`
  return messageId === first ? {} : { 'In-Reply-To': first, References: first }
}
const payloadOf = (row: MailRow): MailPayload => row.payload as MailPayload

const composeSignin = (deps: CourierDeps, row: MailRow, { id, email, until }: SigninPayload): Mail => {
  const date = new Date(row.createdAt)
  const minutes = Math.round((Date.parse(until) - date.getTime()) / MINUTE_MS)
  const url = `${deps.publicUrl}/signin/link/${deps.keys.signinToken(id)}`
  return {
    messageId: row.messageId,
    to: { name: '', address: email },
    ...signinMail({ url, minutes }),
    headers: AUTOMATIC,
    date,
  }
}

const composeDocument = (deps: CourierDeps, row: MailRow, payload: DocumentPayload | ReminderPayload): Mail => {
  const { gate } = row
  const frozen = row.frozen as Frozen
  const url = `${deps.publicUrl}/i/${deps.keys.linkToken(row.resource)}`
  if (payload.mail === 'reminder') return toClient(row, frozen, reminderMail({ ...payload, frozen, url, gate }))
  const password = gate === 'password' ? deps.keys.password(row.resource, payload.n) : null
  const facts = { frozen, url, password, locked: gate === 'account' }
  const { mail: purpose } = payload
  const isStatus = purpose === 'voided' || purpose === 'credited'
  return toClient(row, frozen, isStatus ? statusMail({ ...facts, purpose }) : invoiceMail({ ...facts, purpose }))
}

const toClient = (row: MailRow, frozen: Frozen, { replyTo, ...said }: MailText): Mail => ({
  messageId: row.messageId,
  to: { name: frozen.client.name, address: frozen.client.email },
  ...said,
  ...(replyTo !== undefined && { replyTo }),
  headers: { ...AUTOMATIC, ...threadOf(row) },
  date: new Date(row.createdAt),
})

const composeNotice = (row: MailRow, to: string, said: MailText): Mail => ({
  messageId: row.messageId,
  to: { name: '', address: to },
  ...said,
  headers: AUTOMATIC,
  date: new Date(row.createdAt),
})

const compose = (deps: CourierDeps, row: MailRow): Mail => {
  const payload = payloadOf(row)
  switch (payload.mail) {
    case 'signin':
      return composeSignin(deps, row, payload)
    case 'claimed':
    case 'undelivered':
      return composeNotice(row, payload.to, ownerMail(payload))
    case 'webhook-dead':
    case 'webhook-disabled':
      return composeNotice(row, payload.to, webhookMail(payload))
    case 'invoice':
    case 'receipt':
    case 'voided':
    case 'credited':
    case 'reminder':
      return composeDocument(deps, row, payload)
    default:
      return payload satisfies never
  }
}

/** A link that opens nothing any more would only confuse. */
const isOver = (row: MailRow, now: Date): boolean => {
  const payload = payloadOf(row)
  return payload.mail === 'signin' && Date.parse(payload.until) <= now.getTime()
}

/** The recipient's server has refused this mail for good (RFC 5321 section 4.2.1). */
const isBounce = ({ temporary, response }: MailError): boolean => !temporary && /^5\d\d/.test(response)

/** What a failure means for the row. Only a refusal, or too many tries, is final. */
const settlementOf = (row: MailRow, error: unknown, now: Date): Settlement => {
  const base = { id: row.id, attempt: row.attempt }
  const told = error instanceof MailError ? error : null
  const message = told?.message ?? 'the mail could not be composed'
  const waitMs = RETRY_AFTER_MS[row.attempt - 1]
  if (told && isBounce(told)) return { ...base, state: 'bounced', error: message }
  if ((told && !told.temporary) || waitMs === undefined) return { ...base, state: 'failed', error: message }
  const dueAt = new Date(now.getTime() + waitMs).toISOString()
  return told?.sentData
    ? { ...base, state: 'unknown', error: message, dueAt }
    : { ...base, state: 'queued', error: message, dueAt }
}

const deliver = async (deps: CourierDeps, row: MailRow): Promise<Settlement> => {
  const base = { id: row.id, attempt: row.attempt }
  if (isOver(row, deps.now())) return { ...base, state: 'failed', error: 'the link was over before it could be sent' }
  try {
    await deps.mailer.send(compose(deps, row))
    return { ...base, state: 'sent' }
  } catch (error) {
    deps.log.warn({ err: error, resource: row.resource, attempt: row.attempt }, 'mail attempt failed')
    return settlementOf(row, error, deps.now())
  }
}

/** Starts at once; one loop per lane, each with at most one mail in hand. */
export const startCourier = (deps: CourierDeps): Courier => {
  let stopping = false
  const sleepers = new Set<() => void>()
  const wake = () => {
    for (const rouse of sleepers) rouse()
  }
  const sleep = () =>
    new Promise<void>((resolve) => {
      const rouse = () => {
        clearTimeout(timer)
        sleepers.delete(rouse)
        resolve()
      }
      const timer = setTimeout(rouse, POLL_MS)
      sleepers.add(rouse)
    })

  /** Views are made anew for many mails at once: nobody waits for this, and one read then serves them all. */
  const delivered = new Set<string>()
  let telling: NodeJS.Timeout | undefined
  const tell = () => {
    telling = undefined
    for (const resource of delivered) deps.onDelivered(resource)
    delivered.clear()
  }

  let inHand = 0
  /** Records how mails went and takes one for each lane that asks, all in one commit. */
  const commit = makeBatch<Attempt | null, MailRow | null>({
    gatherMs: () => (inHand > 0 ? SHARE_MS : 0),
    async run(lasts) {
      const settlements = lasts.flatMap((last) => (last ? [last.settlement] : []))
      const wish = { channel: CHANNEL, limit: stopping ? 0 : lasts.length, leaseMs: deps.leaseMs ?? LEASE_MS }
      const rows = await deps.outbox.turn(settlements, wish)
      return lasts.map((_last, place) => rows[place] ?? null)
    },
  })

  /** One turn of a lane: how the mail before went, and the next. */
  const turn = async (last: Attempt | null): Promise<MailRow | null> => {
    const row = await commit(last)
    if (last) {
      deps.onAttempt?.(last.settlement.state)
      if (payloadOf(last.row).mail !== 'signin') delivered.add(last.row.resource)
      telling ??= setTimeout(tell, TELL_MS)
    }
    return row
  }

  /** The mail before, if it is not recorded yet, then the next one. @returns what is to be recorded by the next step */
  const step = async (last: Attempt | null): Promise<Attempt | null> => {
    let row: MailRow | null
    try {
      row = await turn(last)
    } catch (error) {
      deps.log.warn({ err: error }, 'courier cannot reach the outbox')
      // To be recorded by the next step; or, when we are to stop, left for the next leader to repeat.
      if (!stopping) await sleep()
      return stopping ? null : last
    }
    if (row) {
      inHand++
      const settlement = await deliver(deps, row)
      inHand--
      return { row, settlement }
    }
    if (!stopping) await sleep()
    return null
  }

  const lane = async () => {
    let last: Attempt | null = null
    while (!stopping || last) last = await step(last)
  }
  const lanes = Promise.all(Array.from({ length: deps.lanes }, lane))

  return {
    wake,
    stop: async () => {
      stopping = true
      wake()
      await lanes
      clearTimeout(telling)
      tell()
    },
  }
}
