/** What a client can do on its page beside paying by card: transfer the money, and say that it has. */

import { epcText } from '../../../crds/invoice/document/epc.ts'
import { dateWords, fill, WORDS } from '../../../crds/invoice/document/words/words.ts'
import { textOfCents } from '../../../crds/invoice/money/claim.ts'
import type { DocumentLang, Frozen } from '../../../crds/invoice/order/frozen.ts'
import { displayIban } from '../../../crds/invoice/order/iban.ts'
import { REFERENCE_MAX } from '../../../crds/invoice/schema.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { qrCode } from '../../../crds/text/qr.ts'
import { displayCents, leastCents } from '../../../crds/values/money.ts'
import { button, form, inputField, notice } from '../../page/form.ts'
import { factRows } from './parts.ts'
import { PAGE_WORDS, type PageWords } from './words.ts'

/** Where the money goes, and a code that a banking app reads it from; null where the seller gave no account. */
export const transferBlock = ({ seller, lang, currency, number }: Frozen, amountCents: number): Html | null => {
  const words = PAGE_WORDS[lang]
  const { iban = '', legalName } = seller
  if (iban.trim() === '') return null
  const code = epcText({ name: legalName, iban, currency, amountCents, remittance: number })
  const facts = [
    { label: words.beneficiary, value: legalName },
    { label: 'IBAN', value: displayIban(iban) },
    { label: WORDS[lang].amount, value: displayCents(amountCents, currency) },
    { label: WORDS[lang].reference, value: number },
  ]
  return html`<section class="transfer"><h2>${words.transfer}</h2>
<dl>${factRows(facts)}</dl>
${code !== null && html`<figure>${qrCode(code, { label: words.epcLabel, ecc: 'medium' })}<figcaption>${words.epcCaption}</figcaption></figure>`}
</section>`
}

/** What is wrong with what was entered, as a word of the page. */
export type ClaimFault = keyof Pick<
  PageWords,
  'badDate' | 'badAmount' | 'badReference' | 'notPayable' | 'tooManyClaims'
>

/** `date` and `amount` are shown as they were entered. `path`: where it is posted to. */
export type Form = {
  path: string
  date: string
  reference: string
  amount: string
  fault?: ClaimFault
}
export type ShownClaim = { paidOn: string; reference: string; amountCents: number }

type Block = { lang: DocumentLang; currency: string; claims: readonly ShownClaim[]; form: Form | null }

const claimed = (lang: DocumentLang, currency: string, { paidOn, reference, amountCents }: ShownClaim): Html => {
  const words = PAGE_WORDS[lang]
  const amount = displayCents(amountCents, currency)
  return html`<li>${fill(words.claimed, { amount, date: dateWords(lang, paidOn) })}${
    reference !== '' && html` <bdi>${fill(words.claimedReference, { reference })}</bdi>`
  }</li>`
}

/** What was claimed already, and the form for one more. */
export const claimBlock = ({ lang, currency, claims, form: entered }: Block): Html | null => {
  const words = PAGE_WORDS[lang]
  if (entered === null) return null
  const told =
    claims.length > 0 &&
    html`<div class="claimed" role="status"><ul>${claims.map((claim) => claimed(lang, currency, claim))}</ul><p>${words.claimedNote}</p></div>`
  return html`<section class="claim">${told}
<details${entered.fault !== undefined && html` open`}><summary>${words.claimTitle}</summary>
<p id="claim-lead">${words.claimLead}</p>
${fields(entered, currency, words)}
</details>
</section>`
}

const FIELD_OF: Partial<Record<ClaimFault, 'date' | 'amount' | 'reference'>> = {
  badDate: 'date',
  badAmount: 'amount',
  badReference: 'reference',
}

/** What was wrong, at the field that it is about, or before all of them. */
const fields = ({ path, date, reference, amount, fault }: Form, currency: string, words: PageWords): Html => {
  const said = fault && fill(words[fault], { least: textOfCents(leastCents(currency), currency) })
  const at = fault && FIELD_OF[fault]
  const own = (name: 'date' | 'amount' | 'reference') =>
    ({ id: `claim-${name}`, name, autocomplete: 'off', fault: at === name && said ? said : null }) as const
  const amountLabel = fill(words.claimAmount, { currency })
  return html`${said !== undefined && at === undefined && notice('fault', said)}
${form({ action: path, about: 'claim-lead' }, [
  inputField({ ...own('date'), label: words.claimDate, type: 'date', value: date }),
  inputField({ ...own('amount'), label: amountLabel, inputMode: 'decimal', maxLength: 20, value: amount }),
  inputField({
    ...own('reference'),
    label: words.claimReference,
    maxLength: REFERENCE_MAX,
    value: reference,
    isOptional: true,
  }),
  button({ words: words.claimSend, tone: 'quiet' }),
])}`
}
