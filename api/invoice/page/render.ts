/**
 * The client's page behind `/i/<token>`: the gate and the invoice. Full HTML and one stylesheet, so that the strictest
 * content policy holds; nothing of it needs a script. Source: rules/invoice.md#client-page.
 */

import { type Document, documentOf } from '../../../crds/invoice/document/document.ts'
import { dateWords, fill, WORDS } from '../../../crds/invoice/document/words/words.ts'
import { type DocumentLang, type Frozen, type FrozenDraft, LANGS } from '../../../crds/invoice/order/frozen.ts'
import type { InvoicePhase } from '../../../crds/invoice/status.ts'
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { displayCents } from '../../../crds/values/money.ts'
import { button, buttonLink, form, passwordField } from '../../page/form.ts'
import { page } from '../../page/page.ts'
import { claimBlock, type Form, type ShownClaim, transferBlock } from './forms.ts'
import { factRows, itemTable, linkCode, partyBlock, sumRows } from './parts.ts'
import { revisionChanges, revisionNote, type ShownRevision } from './revision.ts'
import { PAGE_SHEET } from './style.ts'
import { BEACON } from './viewed-script.ts'
import { LANG_NAMES, PAGE_WORDS } from './words.ts'

/** `path`: that of the page itself; null where there is none to come back to in another language. */
type Shell = { lang: DocumentLang; title: string; layout: 'narrow' | 'invoice'; path: string | null; beacon?: boolean }

const clientPage = ({ lang, title, layout, path, beacon = false }: Shell, main: Html): string =>
  page({
    lang,
    title,
    sheet: PAGE_SHEET,
    layout,
    main,
    footer: path === null ? null : languages(lang, path),
    script: path !== null && beacon ? { text: BEACON, path: `${path}/viewed` } : null,
  })

const languages = (
  lang: DocumentLang,
  path: string,
): Html => html`<nav class="languages" aria-label="${PAGE_WORDS[lang].language}">
${LANGS.map(
  (
    one,
  ) => html`<a href="${safeUrl(`${path}?lang=${one}`)}" lang="${one}" hreflang="${one}"${one === lang && html` aria-current="true"`}>${LANG_NAMES[one]}</a>
`,
)}</nav>`

export type GateFacts = {
  lang: DocumentLang
  /** Open to its recipient's account only, so there is no password to enter. */
  locked: boolean
  path: string
  /** The last password was not right. */
  wrong?: boolean
  /** No try is free right now. */
  tooMany?: boolean
}

/**
 * What a visitor sees before the invoice. The form posts `password` to the page's own address. Says nothing about the
 * invoice: anybody with the link sees it.
 */
export const gatePage = ({ lang, locked, path, wrong = false, tooMany = false }: GateFacts): string => {
  const words = WORDS[lang]
  const fault = tooMany ? words.tooManyTries : wrong ? words.wrongPassword : null
  return clientPage(
    { lang, title: words.gateTitle, layout: 'narrow', path },
    html`${LOCK}
<h1>${words.gateTitle}</h1>
${locked ? signIn(lang, path) : passwordForm(lang, path, fault)}`,
  )
}

const LOCK = html`<svg class="lock" viewBox="0 0 24 24" width="40" height="40" aria-hidden="true" focusable="false"><path fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" d="M7 11V8a5 5 0 0 1 10 0v3M6 11h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1zm6 4v2"/></svg>`

const signIn = (lang: DocumentLang, path: string): Html => html`<p>${WORDS[lang].gateAccount}</p>
${buttonLink(`/signin?next=${encodeURIComponent(path)}`, PAGE_WORDS[lang].signIn)}`

const passwordForm = (lang: DocumentLang, path: string, fault: string | null): Html => {
  const words = WORDS[lang]
  return html`<p id="lead">${words.gateLead}</p>
${form({ action: `${path}?lang=${lang}` }, [passwordField({ label: words.password, fault }), button({ words: words.open })])}`
}

/** For a link that was never made, and for one whose invoice is gone. */
export const lostPage = (lang: DocumentLang): string =>
  clientPage(
    { lang, title: PAGE_WORDS[lang].lostTitle, layout: 'narrow', path: null },
    html`<h1>${PAGE_WORDS[lang].lostTitle}</h1><p>${PAGE_WORDS[lang].lostText}</p>`,
  )

/**
 * Payment by card as it stands for this invoice, or null where it is not offered.
 * - `ready`: a post to `path` begins it
 * - `waiting`: the client came back from the processor, whose signed word is still to come
 * - `away`: it is offered, and cannot be begun right now
 */
export type Collect = { state: 'ready'; path: string } | { state: 'waiting' } | { state: 'away' }

/** Pay now, as a plain form: works without a script. @param amount what is due, in its final form */
export const payBlock = (collect: Collect, { lang, amount }: { lang: DocumentLang; amount: string }): Html => {
  const words = PAGE_WORDS[lang]
  switch (collect.state) {
    case 'ready':
      return form({ action: collect.path, className: 'pay' }, [
        button({ words: fill(words.payNow, { amount }) }),
        html`<p class="small">${words.payNote}</p>`,
      ])
    case 'waiting':
      return html`<p class="pay note" role="status">${words.payWait}</p>`
    case 'away':
      return html`<p class="pay note">${words.payAway}</p>`
    default:
      return collect satisfies never
  }
}

/** Days are YYYY-MM-DD in the issuer's zone. `path`: of a credit note's PDF on this host. */
export type PageFacts = {
  /** The document as it was last sent. */
  frozen: Frozen
  /** The language that the reader chose; the document's own when left out. */
  lang?: DocumentLang
  /** Money and state as they are now; the frozen record keeps how they were. */
  status: InvoicePhase
  paidCents: number
  /** None when absent. */
  creditedCents?: number
  balanceCents: number
  paidOn?: string | null
  voidedOn?: string | null
  payments?: readonly { on: string; method: string; amountCents: number }[]
  creditNotes?: readonly { number: string; on: string; amountCents: number; path: string }[]
  claims?: readonly ShownClaim[]
  /** The form for another claim; left out where nothing can be claimed. */
  claimForm?: Form
  collect?: Collect | null
  /** What the seller has edited since it was sent, and has not sent. */
  revision?: ShownRevision | null
  /** It is shown to its owner before it is sent: `draft` in place of `frozen`, with what differs from what was `sent`. */
  preview?: { draft: FrozenDraft; sent: Frozen; revision: ShownRevision }
  /** Path of this page on this host, and its whole address. */
  path: string
  url: string
  hasLogo?: boolean
  /** Tells by a small script that somebody looks at it: where no password was entered that would tell. */
  beacon?: boolean
}

/** The invoice as its recipient sees it. */
export const invoicePage = (facts: PageFacts): string => {
  const { path, status, beacon = false } = facts
  const lang = facts.lang ?? facts.frozen.lang
  const frozen = { ...facts.frozen, lang }
  const words = WORDS[lang]
  const document = documentOf(facts.preview?.draft ?? frozen)
  const title = fill(words.invoiceTitle, { number: frozen.number, seller: frozen.seller.legalName })
  return clientPage(
    { lang, title, layout: 'invoice', path, beacon },
    html`${document.stamps.filter(({ stamp }) => stamp === 'TEST' || stamp === 'DRAFT').map(({ stamp, word, note }) => html`<p class="note ${stamp.toLowerCase()}"><strong>${word}</strong> ${note}</p>`)}
${facts.preview ? revisionChanges(facts.preview.revision, facts.preview.sent, lang) : null}
<header>
<div>${facts.hasLogo === true && html`<img class="logo" src="${safeUrl(`${path}/logo`)}" alt="">`}
<p class="from"><bdi>${frozen.seller.legalName}</bdi></p>
<h1>${document.heading.title} <bdi class="number">${document.heading.number}</bdi></h1></div>
${statusBadge(lang, status)}
</header>
<div class="columns">
${panel(facts, frozen)}
<div class="paper">
<dl class="facts">${factRows(document.facts)}</dl>
<section class="parties">${partyBlock(document.seller)}${partyBlock(document.client)}</section>
${itemTable(document.items)}
<dl class="sums">${sumRows(sumsOf(facts, frozen))}</dl>
${history(facts, lang)}
${prose(document)}
${facts.preview ? null : linkCode(facts.url, PAGE_WORDS[lang])}
</div>
</div>`,
  )
}

const STATUS = {
  sent: 'statusSent',
  partial: 'statusPartial',
  paid: 'statusPaid',
  overdue: 'statusOverdue',
  voided: 'statusVoided',
} as const

const statusBadge = (lang: DocumentLang, status: InvoicePhase): Html | null =>
  status === 'draft' ? null : html`<p class="status ${status}">${WORDS[lang][STATUS[status]]}</p>`

/** One sentence on how it stands, beside the amount. */
const standing = ({ status, paidOn, voidedOn, frozen: { dueDate } }: PageFacts, lang: DocumentLang): string | null => {
  const words = PAGE_WORDS[lang]
  const on = (pattern: string, day: string): string => fill(pattern, { date: dateWords(lang, day) })
  if (status === 'voided') return voidedOn ? on(WORDS[lang].voidNote, voidedOn) : WORDS[lang].statusVoided
  if (status === 'paid') return paidOn ? on(words.paidOn, paidOn) : words.settled
  if (dueDate === null) return null
  return on(status === 'overdue' ? words.wasDueOn : words.dueOn, dueDate)
}

/** What the reader came for: how much, until when, and the ways to pay. */
const panel = (facts: PageFacts, frozen: Frozen): Html => {
  const { lang } = frozen
  const { status, balanceCents, path, collect, claims = [], claimForm } = facts
  const words = PAGE_WORDS[lang]
  const amount = displayCents(balanceCents, frozen.currency)
  const state = standing(facts, lang)
  const isDue = balanceCents > 0 && status !== 'voided'
  const download = status === 'paid' ? words.downloadReceipt : WORDS[lang].downloadPdf
  return html`<aside class="panel ${status}" aria-label="${WORDS[lang].amountDue}">
<dl class="due"><div><dt>${WORDS[lang].amountDue}</dt><dd><bdi>${amount}</bdi></dd></div></dl>
${state !== null && html`<p class="state">${state}</p>`}
${facts.revision ? revisionNote(facts.revision, facts.frozen, lang) : null}
${isDue && collect ? payBlock(collect, { lang, amount }) : null}
${buttonLink(`${path}/pdf`, download, isDue && collect ? 'quiet' : undefined)}
${isDue && !frozen.test && !facts.preview ? transferBlock(frozen, balanceCents) : null}
${claimBlock({ lang, currency: frozen.currency, claims, form: isDue ? (claimForm ?? null) : null })}
</aside>`
}

/** The sums of the document, with the money of today in place of what had come when it was frozen. */
const sumsOf = ({ paidCents, creditedCents = 0, balanceCents }: PageFacts, frozen: Frozen) => {
  const words = WORDS[frozen.lang]
  const money = (cents: number): string => displayCents(cents, frozen.currency)
  const { creditedCents: _credited, ...unpaid } = frozen
  const { sums } = documentOf({ ...unpaid, paid: null })
  const more = [
    ...(creditedCents > 0 ? [{ label: words.credited, value: money(-creditedCents), strong: false }] : []),
    ...(paidCents > 0 ? [{ label: words.paid, value: money(-paidCents), strong: false }] : []),
  ]
  return more.length === 0
    ? sums
    : [...sums, ...more, { label: words.balance, value: money(balanceCents), strong: true }]
}

/** What came in and what was credited since, each on its own line. */
const history = ({ payments = [], creditNotes = [], frozen: { currency } }: PageFacts, lang: DocumentLang): Html => {
  const words = PAGE_WORDS[lang]
  return html`${
    payments.length > 0 &&
    html`<section class="history"><h2>${words.payments}</h2><ul>
${payments.map(({ on, method, amountCents }) => html`<li><span>${dateWords(lang, on)}</span> <span class="what"><bdi>${method}</bdi></span> <span class="figure">${displayCents(amountCents, currency)}</span></li>`)}
</ul></section>`
  }
${
  creditNotes.length > 0 &&
  html`<section class="history"><h2>${words.creditNotes}</h2><ul>
${creditNotes.map(({ number, on, amountCents, path }) => html`<li><span>${dateWords(lang, on)}</span> <span class="what"><a href="${safeUrl(path)}"><bdi>${number}</bdi> (PDF)</a></span> <span class="figure">${displayCents(-amountCents, currency)}</span></li>`)}
</ul></section>`
}`
}

const prose = ({ terms, footer }: Document): Html => html`${
  terms !== null && html`<section><h2>${terms.label}</h2><p class="lines"><bdi>${terms.text}</bdi></p></section>`
}
${footer.text.trim() !== '' && html`<footer class="lines"><bdi>${footer.text}</bdi></footer>`}`
