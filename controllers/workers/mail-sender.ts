/**
 * The mail sender takes due mail out of the outbox, composes it (from the frozen send, or as a sign-in link), hands it
 * to the mail server, and records how that ended. A crash between the server's acceptance and the record is the one window
 * in which nobody knows; the row is then counted as unknown and sent once more under the same Message-ID
 * (rules/platform.md#effects).
 */
import { signinMail } from '../../crds/account/mail.ts'
import { invoiceMail, type MailText } from '../../crds/invoice/mail/invoice.ts'
import { type OwnerNotice, ownerMail } from '../../crds/invoice/mail/owner.ts'
import { reminderMail } from '../../crds/invoice/mail/reminder.ts'
import { statusMail } from '../../crds/invoice/mail/status.ts'
import type { Frozen } from '../../crds/invoice/order/frozen.ts'
import type { Tone } from '../../crds/invoice/planning/reminders.ts'
import { type WebhookNotice, webhookMail } from '../../crds/webhook/mail.ts'
import { makeBatch } from '../base/batch.ts'
import type { Keys } from '../base/keys.ts'
import type { Log } from '../base/log.ts'
import { type Mail, MailError, type Mailer } from '../io/mail.ts'
import type { AboutSend, Outbox, OutboxRow, Settlement } from '../store/ledger/outbox.ts'

const CHANNEL = 'mail'
/** Longer than any exchange with a mail server may take (io/mail.ts), so a lease is never lost while we are talking. */
const LEASE_MS = 120_000
/** How long the mail sender sleeps when nothing wakes it. */
const POLL_MS = 1_000
/**
 * Attempts and the wait after each; then the mail has failed. The first wait is short: most of what is temporary (a
 * restart, a moment without connections) is over in seconds.
 */
const RETRY_AFTER_MS = [2_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 43_200_000]

/** How long a mail waits that is held back. */
const HELD_MS = 900_000

/** What the mail sender reports to, and asks. */
export type MailSenderHooks = {
  /** The resource's delivery changed: its view is to be made anew. */
  onDelivered(kind: string, resource: string): void
  onAttempt?(outcome: Settlement['state']): void
  /** The ledger is behind this resource: whether its mail went out before is not known, so it waits. */
  isHeld?(resource: string): boolean
}

export type MailSenderDeps = MailSenderHooks & {
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

export type MailSender = {
  /** Something may be due. */
  wake(): void
  /** Takes nothing more and waits for what is under way. */
  stop(): Promise<void>
}

/** How long views of delivered mails may wait for one another. */
const REPORT_MS = 100
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

/** All mails to a client about one invoice hang together, below its first (RFC 5322 section 3.6.4; controllers/kinds/invoice/documents.ts). */
const threadOf = ({ resource, messageId }: MailRow): Record<string, string> => {
  const first = `<${resource}.1${messageId.slice(messageId.lastIndexOf('@'))}`
  return messageId === first ? {} : { 'In-Reply-To': first, References: first }
}
const payloadOf = (row: MailRow): MailPayload => row.payload as MailPayload

const composeSignin = (deps: MailSenderDeps, row: MailRow, { id, email, until }: SigninPayload): Mail => {
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

const composeDocument = (deps: MailSenderDeps, row: MailRow, payload: DocumentPayload | ReminderPayload): Mail => {
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

const compose = (deps: MailSenderDeps, row: MailRow): Mail => {
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
  const refusal = error instanceof MailError ? error : null
  const message = refusal?.message ?? 'the mail could not be composed'
  const waitMs = RETRY_AFTER_MS[row.attempt - 1]
  if (refusal && isBounce(refusal)) return { ...base, state: 'bounced', error: message }
  if ((refusal && !refusal.temporary) || waitMs === undefined) return { ...base, state: 'failed', error: message }
  const dueAt = new Date(now.getTime() + waitMs).toISOString()
  return refusal?.sentData
    ? { ...base, state: 'unknown', error: message, dueAt }
    : { ...base, state: 'queued', error: message, dueAt }
}

const deliver = async (deps: MailSenderDeps, row: MailRow): Promise<Settlement> => {
  const base = { id: row.id, attempt: row.attempt }
  if (deps.isHeld?.(row.resource)) {
    const dueAt = new Date(deps.now().getTime() + HELD_MS).toISOString()
    return { ...base, state: 'queued', error: 'LEDGER_BEHIND: it may have gone out before', dueAt }
  }
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
export const startMailSender = (deps: MailSenderDeps): MailSender => {
  let stopping = false
  const sleepers = new Set<() => void>()
  const wake = () => {
    for (const wakeUp of sleepers) wakeUp()
  }
  const sleep = () =>
    new Promise<void>((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer)
        sleepers.delete(wakeUp)
        resolve()
      }
      const timer = setTimeout(wakeUp, POLL_MS)
      sleepers.add(wakeUp)
    })

  /** Views are made anew for many mails at once: nobody waits for this, and one read then serves them all. */
  const delivered = new Map<string, MailRow>()
  let reporting: NodeJS.Timeout | undefined
  const report = () => {
    reporting = undefined
    for (const { kind, resource } of delivered.values()) deps.onDelivered(kind, resource)
    delivered.clear()
  }

  let inHand = 0
  /** Records how mails went and takes one for each lane that asks, all in one commit. */
  const commit = makeBatch<Attempt | null, MailRow | null>({
    gatherMs: () => (inHand > 0 ? SHARE_MS : 0),
    async run(lasts) {
      const settlements = lasts.flatMap((last) => (last ? [last.settlement] : []))
      const request = { channel: CHANNEL, limit: stopping ? 0 : lasts.length, leaseMs: deps.leaseMs ?? LEASE_MS }
      const rows = await deps.outbox.turn(settlements, request)
      return lasts.map((_last, index) => rows[index] ?? null)
    },
  })

  /** One turn of a lane: how the mail before went, and the next. */
  const turn = async (last: Attempt | null): Promise<MailRow | null> => {
    const row = await commit(last)
    if (last) {
      deps.onAttempt?.(last.settlement.state)
      delivered.set(`${last.row.kind}/${last.row.resource}`, last.row)
      reporting ??= setTimeout(report, REPORT_MS)
    }
    return row
  }

  /** The mail before, if it is not recorded yet, then the next one. @returns what is to be recorded by the next step */
  const step = async (last: Attempt | null): Promise<Attempt | null> => {
    let row: MailRow | null
    try {
      row = await turn(last)
    } catch (error) {
      deps.log.warn({ err: error }, 'the mail sender cannot reach the outbox')
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
      clearTimeout(reporting)
      report()
    },
  }
}
