/** The mails about an invoice: to its client, from the frozen send that they are about, and to its owner. */
import { invoiceMail } from '../../../crds/invoice/mail/invoice.ts'
import { type OwnerNotice, ownerMail } from '../../../crds/invoice/mail/owner.ts'
import { reminderMail } from '../../../crds/invoice/mail/reminder.ts'
import { statusMail } from '../../../crds/invoice/mail/status.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import type { Tone } from '../../../crds/invoice/planning/reminders.ts'
import { FIRST_LINK } from '../../../crds/values/links.ts'
import { type MailContent, type MailOf, type MailRow, type Mails, type MailTools, mailTo } from '../mails.ts'

/** `snapshot`: about that one, in place of the document of the n-th send. */
type DocumentPayload = { n: number; snapshot?: string }
/** `n`: the send whose document it reminds of. */
type ReminderPayload = { n: number; tone: Tone; dueDate: string | null; balanceCents: number }

/** All mails to a client about one invoice hang together, below its first (RFC 5322 section 3.6.4; controllers/kinds/invoice/documents.ts). */
const threadOf = ({ resource, messageId }: MailRow): Record<string, string> => {
  const first = `<${resource}.1${messageId.slice(messageId.lastIndexOf('@'))}`
  return messageId === first ? {} : { 'In-Reply-To': first, References: first }
}

/** @throws where the row is about no send: nothing that stands on a document could be said */
const frozenOf = ({ frozen }: MailRow): Frozen => {
  if (frozen === null) throw new Error('a mail about a document has no send')
  return frozen
}

const toClient = (row: MailRow, letter: MailContent) => {
  const { client } = frozenOf(row)
  return mailTo(row, { name: client.name, address: client.email }, letter, threadOf(row))
}

const pageOf = ({ resource, links }: MailRow, { keys, publicUrl }: MailTools): string =>
  `${publicUrl}/i/${keys.linkToken(resource, links.link ?? FIRST_LINK)}`

const factsOf = (row: MailRow, tools: MailTools) => {
  const { gate, resource, links } = row
  const { n } = row.payload as DocumentPayload
  const password = gate === 'password' ? tools.keys.password(resource, n, links.password ?? FIRST_LINK) : null
  return { frozen: frozenOf(row), url: pageOf(row, tools), password, locked: gate === 'account' }
}

const document = (purpose: 'invoice' | 'receipt'): MailOf => ({
  compose: (row, tools) => toClient(row, invoiceMail({ ...factsOf(row, tools), purpose })),
})

const status = (purpose: 'voided' | 'credited'): MailOf => ({
  compose: (row, tools) => toClient(row, statusMail({ ...factsOf(row, tools), purpose })),
})

const reminder: MailOf = {
  compose: (row, tools) => {
    const { tone, dueDate, balanceCents } = row.payload as ReminderPayload
    const { gate } = row
    const frozen = frozenOf(row)
    return toClient(row, reminderMail({ tone, dueDate, balanceCents, frozen, url: pageOf(row, tools), gate }))
  },
}

const toOwner: MailOf = {
  compose: (row, tools) => {
    // the link that it was queued with may have been ended since
    const notice = { ...(row.payload as OwnerNotice), url: pageOf(row, tools) }
    return mailTo(row, { name: '', address: notice.to }, ownerMail(notice))
  },
}

export const INVOICE_MAILS: Mails = {
  invoice: document('invoice'),
  receipt: document('receipt'),
  voided: status('voided'),
  credited: status('credited'),
  reminder,
  claimed: toOwner,
  undelivered: toOwner,
}
