/**
 * The mail sender takes due mail out of the outbox, has its kind compose it (controllers/kinds/<kind>/mails.ts), hands it
 * to the mail server, and records how that ended. A crash between the server's acceptance and the record is the one window
 * in which nobody knows; the row is then counted as unknown and sent once more under the same Message-ID
 * (rules/platform.md#effects).
 */
import type { Keys } from '../base/keys.ts'
import type { Log } from '../base/log.ts'
import { MailError, type Mailer } from '../io/mail.ts'
import { mailOf } from '../kinds/list.ts'
import type { MailRow } from '../kinds/mails.ts'
import type { Outbox, Settlement } from '../store/ledger/outbox.ts'
import { type OutboxWorker, startOutboxWorker } from './outbox-worker.ts'

const CHANNEL = 'mail'
/** Longer than any exchange with a mail server may take (io/mail.ts), so a lease is never lost while we are talking. */
const LEASE_MS = 120_000
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

/** How long views of delivered mails may wait for one another; longer while so many are delivered in a second. */
const REPORT_MS = 100
const REPORT_CROWD_MS = 400
const REPORT_CROWD_PER_SECOND = 20
/** How long a lane waits for another that is busy, to share its commit; a mail takes several times as long. */
const SHARE_MS = 8

/** The recipient's server has refused this mail for good (RFC 5321 section 4.2.1). */
const isBounce = ({ temporary, response }: MailError): boolean => !temporary && /^5\d\d/.test(response)

/** What a failure means for the row. Only a refusal, or too many tries, is final. */
const settlementOf = (row: MailRow, refusal: MailError, now: Date): Settlement => {
  const base = { id: row.id, attempt: row.attempt }
  const { message } = refusal
  const waitMs = RETRY_AFTER_MS[row.attempt - 1]
  if (isBounce(refusal)) return { ...base, state: 'bounced', error: message }
  if (!refusal.temporary || waitMs === undefined) return { ...base, state: 'failed', error: message }
  const dueAt = new Date(now.getTime() + waitMs).toISOString()
  return { ...base, state: refusal.sentData ? 'unknown' : 'queued', error: message, dueAt }
}

/** @throws where the mail cannot be composed */
const deliver = async (deps: MailSenderDeps, row: MailRow): Promise<Settlement> => {
  const base = { id: row.id, attempt: row.attempt }
  if (deps.isHeld?.(row.resource)) {
    const dueAt = new Date(deps.now().getTime() + HELD_MS).toISOString()
    return { ...base, state: 'queued', error: 'LEDGER_BEHIND: it may have gone out before', dueAt }
  }
  try {
    const mail = mailOf(row)
    const overBecause = mail.overBecause?.(row, deps.now())
    if (overBecause) return { ...base, state: 'failed', error: overBecause }
    await deps.mailer.send(mail.compose(row, deps))
    return { ...base, state: 'sent' }
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    deps.log.warn({ err: error, resource: row.resource, attempt: row.attempt }, 'mail attempt failed')
    return settlementOf(row, error, deps.now())
  }
}

/** Views are made anew for many mails at once: nobody waits for this, and one read then serves them all. */
const makeReports = (report: MailSenderHooks['onDelivered']) => {
  const delivered = new Map<string, Pick<MailRow, 'kind' | 'resource'>>()
  let timer: NodeJS.Timeout | undefined
  let waitMs = REPORT_MS
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const perSecond = (delivered.size * 1000) / waitMs
    waitMs = perSecond >= REPORT_CROWD_PER_SECOND ? REPORT_CROWD_MS : REPORT_MS
    for (const { kind, resource } of delivered.values()) report(kind, resource)
    delivered.clear()
  }
  return {
    add: ({ kind, resource }: MailRow) => {
      delivered.set(`${kind}/${resource}`, { kind, resource })
      timer ??= setTimeout(flush, waitMs)
    },
    flush,
  }
}

/** Starts at once. */
export const startMailSender = (deps: MailSenderDeps): OutboxWorker => {
  const reports = makeReports(deps.onDelivered)
  const worker = startOutboxWorker({
    outbox: deps.outbox,
    channel: CHANNEL,
    leaseMs: deps.leaseMs ?? LEASE_MS,
    lanes: deps.lanes,
    shareMs: SHARE_MS,
    attempt: (row) => deliver(deps, row),
    onRecorded: (row, { state }) => {
      deps.onAttempt?.(state)
      reports.add(row)
    },
    now: deps.now,
    log: deps.log,
  })
  return {
    wake: worker.wake,
    stop: async () => {
      await worker.stop()
      reports.flush()
    },
  }
}
