/** The mails that tell a client that an invoice was voided, or that some of it was credited (rules/invoice.md#mails). */

import { oneLine } from '../../text/notice.ts'
import { displayCents } from '../../values/money.ts'
import { balanceOf } from '../document/document.ts'
import { MAIL_WORDS } from '../document/words/mailwords.ts'
import { fill, WORDS } from '../document/words/words.ts'
import { letterOf, type MailFacts, type MailText } from './invoice.ts'

export type StatusFacts = Omit<MailFacts, 'purpose'> & { purpose: 'voided' | 'credited' }

const saidOf = ({ frozen, purpose }: StatusFacts): { subject: string; lead: string[] } => {
  const words = MAIL_WORDS[frozen.lang]
  const money = (cents: number): string => displayCents(cents, frozen.currency)
  const values = {
    number: frozen.number,
    seller: oneLine(frozen.seller.legalName),
    amount: money(purpose === 'voided' ? frozen.totalCents : balanceOf(frozen)),
  }
  switch (purpose) {
    case 'voided': {
      const { paid } = frozen
      const received = paid && fill(words.leadVoidedPaid, { ...values, paid: money(paid.amountCents) })
      return {
        subject: fill(words.subjectVoided, values),
        lead: [fill(words.leadVoided, values), ...(received ? [received] : [])],
      }
    }
    case 'credited': {
      const invoice = frozen.credits?.number ?? ''
      return { subject: fill(words.subjectCredited, values), lead: [fill(words.leadCredited, { ...values, invoice })] }
    }
    default:
      return purpose satisfies never
  }
}

/** @param facts.frozen the document that was stamped: the voided invoice, or the credit note */
export const statusMail = (facts: StatusFacts): MailText => {
  const { frozen, password, locked } = facts
  const words = WORDS[frozen.lang]
  const gate = password !== null ? words.passwordInMail : locked ? words.accountInMail : null
  return letterOf({ ...facts, ...saidOf(facts), gate })
}
