/**
 * The client's page behind `/i/<token>`: the gate and the invoice. Full HTML, no script, one stylesheet, so that the
 * strictest content policy holds. Source: spec/1 rule 1 (delivery gate); CONTRACT section 10, Client page.
 */
import { type Html, html, safeUrl, textOf } from '../html.ts'
import { displayCents } from '../money.ts'
import { type Column, type Document, documentOf, type Fact, type Party } from './document.ts'
import type { Phase } from './facts.ts'
import type { Frozen, Lang } from './frozen.ts'
import { payBlock } from './payblock.ts'
import { PAGE_CSS_NAME } from './style.ts'
import { fill, WORDS } from './words.ts'

export { PAGE_CSS, PAGE_CSS_NAME } from './style.ts'

/** Where the stylesheet is served, from the root of the host. */
export const PAGE_CSS_PATH = `/i/assets/${PAGE_CSS_NAME}`

export const clientPage = (lang: Lang, title: string, body: Html): string =>
  textOf(html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${PAGE_CSS_PATH}">
</head>
<body>
${body}
</body>
</html>
`)

/**
 * What a visitor sees before the invoice. `locked`: the invoice is open to its recipient's account only, so there is
 * no password to enter. `wrong`: the last password was not right. `tooMany`: no try is free right now.
 * The form posts `password` to the page's own address. Says nothing about the invoice: anybody with the link sees it.
 */
export const gatePage = (facts: { lang: Lang; locked: boolean; wrong?: boolean; tooMany?: boolean }): string => {
  const words = WORDS[facts.lang]
  const fault = facts.tooMany ? words.tooManyTries : facts.wrong ? words.wrongPassword : null
  return clientPage(
    facts.lang,
    words.gateTitle,
    html`<main class="gate">
<h1>${words.gateTitle}</h1>
${facts.locked ? html`<p>${words.gateAccount}</p>` : passwordForm(facts.lang, fault)}
</main>`,
  )
}

const passwordForm = (lang: Lang, fault: string | null): Html => {
  const words = WORDS[lang]
  return html`<p id="lead">${words.gateLead}</p>
${fault !== null && html`<p class="fault" id="fault" role="alert">${fault}</p>`}
<form method="post">
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" required autocomplete="current-password" autocapitalize="none" spellcheck="false" maxlength="200" aria-describedby="${fault === null ? 'lead' : 'lead fault'}"${fault !== null && html` aria-invalid="true"`}>
<button type="submit">${words.open}</button>
</form>`
}

export type PageFacts = {
  frozen: Frozen
  /** Money and state as they are now; the frozen record keeps how they were. */
  status: Phase
  paidCents: number
  /** None when absent. */
  creditedCents?: number
  balanceCents: number
  /** Path of the PDF on this host. */
  pdfPath: string
  /** Where Pay now posts to; absent when it is not offered. */
  payPath?: string
}

/** The invoice as its recipient sees it. */
export const invoicePage = ({
  frozen,
  status,
  paidCents,
  creditedCents = 0,
  balanceCents,
  pdfPath,
  payPath,
}: PageFacts): string => {
  const words = WORDS[frozen.lang]
  const document = documentOf(frozen)
  const money = (cents: number): string => displayCents(cents, frozen.currency)
  // the payments of today in place of those that had come when the document was frozen
  const { creditedCents: _credited, ...unpaid } = frozen
  const sums = documentOf({ ...unpaid, paid: null }).sums
  if (creditedCents > 0) sums.push({ label: words.credited, value: money(-creditedCents), strong: false })
  if (paidCents > 0) sums.push({ label: words.paid, value: money(-paidCents), strong: false })
  if (paidCents > 0 || creditedCents > 0) {
    sums.push({ label: words.balance, value: money(balanceCents), strong: true })
  }
  const title = fill(words.invoiceTitle, { number: frozen.number, seller: frozen.seller.legalName })
  return clientPage(
    frozen.lang,
    title,
    html`<main class="invoice">
${document.stamps.filter(({ stamp }) => stamp === 'TEST').map(({ word, note }) => html`<p class="test"><strong>${word}</strong> ${note}</p>`)}
<header>
<div><p class="from"><bdi>${frozen.seller.legalName}</bdi></p>
<h1>${document.heading.title} <bdi class="number">${document.heading.number}</bdi></h1></div>
${statusBadge(frozen.lang, status)}
</header>
<section class="due">
<dl>${factRows([{ label: words.amountDue, value: money(balanceCents) }, ...document.facts])}</dl>
${payPath !== undefined && payBlock(frozen.lang, payPath, money(balanceCents))}
<a class="button" href="${safeUrl(pdfPath)}">${words.downloadPdf}</a>
</section>
<section class="parties">${party(document.seller)}${party(document.client)}</section>
${itemTable(document.items)}
<dl class="sums">${sums.map(({ label, value, strong }) => html`<div${strong && html` class="strong"`}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
${prose(document)}
</main>`,
  )
}

const STATUS = {
  sent: 'statusSent',
  partial: 'statusPartial',
  paid: 'statusPaid',
  overdue: 'statusOverdue',
  voided: 'statusVoided',
} as const

const statusBadge = (lang: Lang, status: Phase): Html | null =>
  status === 'draft' ? null : html`<p class="status ${status}">${WORDS[lang][STATUS[status]]}</p>`

const factRows = (facts: Fact[]): Html[] =>
  facts.map(({ label, value }) => html`<div><dt>${label}</dt><dd><bdi>${value}</bdi></dd></div>`)

const party = ({ label, name, lines }: Party): Html => html`<div>
<h2>${label}</h2>
${name !== '' && html`<p class="name"><bdi>${name}</bdi></p>`}
${lines.map((line) => html`<p><bdi>${line}</bdi></p>`)}
</div>`

/** On a narrow screen the cells stand below each other; the roles keep it a table for a screen reader even then. */
const itemTable = ({ caption, columns, rows }: Document['items']): Html => html`<table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(({ label, numeric }) => html`<th role="columnheader" scope="col"${numeric && html` class="figure"`}>${label}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) => html`<tr role="row">${columns.map((column, index) => cell(column, row[index] ?? ''))}</tr>
`,
)}</tbody>
</table>`

const cell = ({ id, label }: Column, text: string): Html =>
  id === 'description'
    ? html`<th role="rowheader" scope="row" class="lines"><bdi>${text}</bdi></th>`
    : html`<td role="cell" class="figure" data-label="${label}">${text}</td>`

const prose = ({ payment, terms, footer }: Document): Html => html`${
  payment !== null &&
  html`<section class="payment"><p>${payment.text}</p>${payment.facts.length > 0 && html`<dl>${factRows(payment.facts)}</dl>`}</section>`
}
${terms !== null && html`<section><h2>${terms.label}</h2><p class="lines"><bdi>${terms.text}</bdi></p></section>`}
${footer.text.trim() !== '' && html`<footer class="lines"><bdi>${footer.text}</bdi></footer>`}`
