/**
 * The mail that carries an invoice or a receipt to the client: subject, a text part and an HTML part that say the same
 * and hold the same link. Source: rules/invoice.md#mails, #delivery-gate.
 */
import { type MailParts, mailOf } from '../../text/mail.ts'
import { oneLine } from '../../text/notice.ts'
import { displayCents } from '../../values/money.ts'
import { balanceOf } from '../document/document.ts'
import { type DocumentWords, dateWords, fill, WORDS } from '../document/words/words.ts'
import type { Frozen } from '../order/frozen.ts'

export type Mailbox = { name: string; address: string }

export type MailFacts = {
  frozen: Frozen
  /** The client's page. */
  url: string
  /** What the page asks for, or null when it asks for none. */
  password: string | null
  /** The page is open to the account of the recipient only. */
  locked: boolean
  purpose: 'invoice' | 'receipt'
}

/** `replyTo` is left out when the seller gave no usable address. */
export type MailText = MailParts & { replyTo?: Mailbox }

const SUBJECT_MAX = 180
const ADDRESS = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/u

const shortened = (text: string): string => {
  const letters = [...text]
  return letters.length <= SUBJECT_MAX ? text : `${letters.slice(0, SUBJECT_MAX - 1).join('')}…`
}

type Said = { words: DocumentWords; values: Record<string, string>; balance: string | null }

/** The values that the sentences are filled with. For a receipt `date` is the day of payment, else the due date or ''. */
const saidOf = ({ frozen, purpose }: MailFacts): Said => {
  const { paid, lang, currency } = frozen
  const receipt = purpose === 'receipt' && paid !== null
  const date = receipt ? paid.on : frozen.dueDate
  return {
    words: WORDS[lang],
    values: {
      number: frozen.number,
      seller: oneLine(frozen.seller.legalName),
      name: oneLine(frozen.client.name),
      amount: displayCents(receipt ? paid.amountCents : balanceOf(frozen), currency),
      date: date === null ? '' : dateWords(lang, date),
    },
    balance: receipt && balanceOf(frozen) > 0 ? displayCents(balanceOf(frozen), currency) : null,
  }
}

const subjectOf = ({ frozen, purpose }: MailFacts, { words, values }: Said): string => {
  if (purpose === 'receipt') return fill(words.subjectReceipt, values)
  return fill(frozen.dueDate === null ? words.subjectInvoice : words.subjectInvoiceDue, values)
}

const leadOf = ({ frozen, purpose }: MailFacts, { words, values, balance }: Said): string[] => {
  if (purpose === 'invoice') return [fill(frozen.dueDate === null ? words.leadInvoice : words.leadInvoiceDue, values)]
  return [fill(words.leadReceipt, values), ...(balance === null ? [] : [fill(words.leadBalance, { amount: balance })])]
}

/** Makes the mail. Pure: the same facts give the same mail, so that a repeat after a crash sends no other text. */
export const invoiceMail = (facts: MailFacts): MailText => {
  const { password, locked } = facts
  const said = saidOf(facts)
  const { words } = said
  const gate = password !== null ? words.passwordInMail : locked ? words.accountInMail : null
  return letterOf({ ...facts, subject: subjectOf(facts, said), lead: leadOf(facts, said), gate })
}

type LetterFacts = Pick<MailFacts, 'frozen' | 'url' | 'password'> & {
  subject: string
  lead: string[]
  /** How the page is opened; null when it asks for nothing. */
  gate: string | null
}

/** A mail about a document: a greeting, what is to be said, the link and how it is opened, and where an answer goes. */
export const letterOf = ({ frozen, url, password, lead, gate, ...given }: LetterFacts): MailText => {
  const words = WORDS[frozen.lang]
  const seller = oneLine(frozen.seller.legalName)
  const name = oneLine(frozen.client.name)
  const subject = shortened(oneLine(given.subject))
  const hello = name === '' ? words.hello : fill(words.helloName, { name })
  const replies = ADDRESS.test(frozen.seller.email)
  const parts = mailOf({
    lang: frozen.lang,
    subject,
    greeting: hello,
    lead,
    link: { url, words: words.viewInvoice, label: words.viewInvoice },
    gate: gate === null ? null : { words: gate, secret: password },
    footer: replies ? [fill(words.replyNote, { seller })] : [],
  })
  return replies ? { ...parts, replyTo: { name: seller, address: frozen.seller.email } } : parts
}
