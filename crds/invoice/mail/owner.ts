/** Mails to the owner of an account about an invoice. In English, as all that the platform itself writes to its users. */
import { noticeMail, oneLine } from '../../text/notice.ts'
import type { MailText } from './invoice.ts'

/** What is queued, so that a repeat says the same. `amount` is in its final form, `paidOn` YYYY-MM-DD, `to` an address. */
export type OwnerNotice = { to: string; number: string; client: string; url: string } & (
  | { mail: 'claimed'; amount: string; paidOn: string; reference: string }
  | { mail: 'undelivered'; why: string }
)

const saidOf = (notice: OwnerNotice): { subject: string; lead: string[] } => {
  const { mail, number } = notice
  const client = oneLine(notice.client) || 'The client'
  switch (mail) {
    case 'claimed': {
      const reference = oneLine(notice.reference)
      return {
        subject: `${number}: its client says that ${notice.amount} was paid`,
        lead: [
          `${client} says that ${notice.amount} was paid for invoice ${number} on ${notice.paidOn}.`,
          ...(reference === '' ? [] : [`The reference is: ${reference}`]),
          'Nothing has changed on the invoice. Once the money is there, record the payment; until then it stays open.',
        ],
      }
    }
    case 'undelivered':
      return {
        subject: `${number} did not reach its client`,
        lead: [
          `The mail about invoice ${number} to ${client} failed for good, and is not tried again.`,
          `The reason: ${oneLine(notice.why)}`,
          'Correct the address and send the invoice again, or pass its link on yourself. The send does not count against your daily limit.',
        ],
      }
    default:
      return mail satisfies never
  }
}

/** Pure: the same notice gives the same mail. */
export const ownerMail = (notice: OwnerNotice): MailText =>
  noticeMail({ ...saidOf(notice), label: 'The page of the invoice', words: 'Open the invoice', url: notice.url })
