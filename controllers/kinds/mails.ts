/** The mails of a kind: how each is made of its row of the outbox, by the name that its payload gives it. */
import type { Keys } from '../base/keys.ts'
import type { Mail, MailAddress } from '../io/mail.ts'
import type { AboutSend, OutboxRow } from '../store/ledger/outbox.ts'

/** What a mail says. */
export type MailContent = Pick<Mail, 'subject' | 'text' | 'html' | 'replyTo'>
/** With the send that it is about. */
export type MailRow = OutboxRow & AboutSend
/** What a mail is made of beside its row. */
export type MailTools = { keys: Keys; publicUrl: string }

export type MailOf = {
  compose(row: MailRow, tools: MailTools): Mail
  /** Why it is not worth sending any more; null while it is. */
  overBecause?(row: MailRow, now: Date): string | null
}

/** By `payload.mail`. */
export type Mails = Readonly<Record<string, MailOf>>

/** No holiday notice answers it (RFC 3834 section 5). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' }

/** The mail of a row, to somebody. @param headers beside those of every mail */
export const mailTo = (
  { messageId, createdAt }: MailRow,
  to: MailAddress,
  letter: MailContent,
  headers: Record<string, string> = {},
): Mail => ({
  messageId,
  to,
  ...letter,
  headers: { ...AUTOMATIC, ...headers },
  date: new Date(createdAt),
})
