/** The mail that reminds the client of an invoice: what is left to pay and since when, the link, and never a password. */

import { oneLine } from '../../text/notice.ts'
import { displayCents } from '../../values/money.ts'
import { REMINDER_WORDS, type ReminderWords } from '../document/words/reminderwords.ts'
import { dateWords, fill, WORDS } from '../document/words/words.ts'
import type { Frozen } from '../order/frozen.ts'
import type { Tone } from '../planning/reminders.ts'
import { letterOf, type MailText } from './invoice.ts'

export type ReminderFacts = {
  /** The document of the last send. */
  frozen: Frozen
  url: string
  gate: 'account' | 'password' | null
  tone: Tone
  /** As it stands when the client is reminded; the document may say another. */
  dueDate: string | null
  balanceCents: number
}

const TONES = {
  before: ['remindBefore', 'leadRemindBefore'],
  due: ['remindDue', 'leadRemindDue'],
  after: ['remindAfter', 'leadRemindAfter'],
  open: ['remindOpen', 'leadRemindOpen'],
} as const satisfies Record<Tone, readonly [keyof ReminderWords, keyof ReminderWords]>

const gateOf = ({ gate, frozen: { lang } }: ReminderFacts): string | null => {
  if (gate === 'password') return REMINDER_WORDS[lang].remindPassword
  return gate === 'account' ? WORDS[lang].accountInMail : null
}

/** Makes the mail. Pure: the same facts give the same mail. */
export const reminderMail = (facts: ReminderFacts): MailText => {
  const { frozen, url, tone, dueDate, balanceCents } = facts
  const { lang } = frozen
  const words = REMINDER_WORDS[lang]
  const [subject, lead] = TONES[dueDate === null ? 'open' : tone]
  const values = {
    number: frozen.number,
    seller: oneLine(frozen.seller.legalName),
    amount: displayCents(balanceCents, frozen.currency),
    date: dueDate === null ? '' : dateWords(lang, dueDate),
  }
  return letterOf({
    frozen,
    url,
    password: null,
    subject: fill(words[subject], values),
    lead: [fill(words[lead], values), words.remindCrossed],
    gate: gateOf(facts),
  })
}
