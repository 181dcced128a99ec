/** What a month came to: for each currency of each issuer a chart and its figures, and the way to the table as CSV. */
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { accountPage } from '../../page/frame.ts'

export type Figure = {
  /** In a few words, as `Came in by card`. */
  name: string
  cents: number
  /** The amount as people read it. */
  amount: string
  /** The whole sentence of what it is. */
  about: string
  /** Whether it is good news, bad news, or neither. */
  tone: 'plain' | 'good' | 'bad'
}
/** One currency of one issuer. */
export type Sheet = { currency: string; issuer: string; figures: readonly Figure[] }

export type BooksFacts = {
  email: string
  /** YYYY-MM. */
  month: string
  before: string
  after: string
  sheets: readonly Sheet[]
}

export const BOOKS_PATH = '/account/reconciliation'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** `2026-11` → `November 2026`. */
const monthName = (month: string): string => `${MONTHS[Number(month.slice(5, 7)) - 1] ?? ''} ${month.slice(0, 4)}`

const BAR = { width: 400, height: 18, step: 26 }

/** Bars beside one another to one scale, longest full; the words beside them are in the table below. */
const chart = ({ currency, issuer, figures }: Sheet, id: string): Html => {
  const most = Math.max(1, ...figures.map(({ cents }) => Math.abs(cents)))
  const height = figures.length * BAR.step
  const bars = figures.map(({ name, cents, tone }, place) => {
    const width = Math.round((Math.abs(cents) / most) * BAR.width)
    const top = place * BAR.step
    return html`<text x="0" y="${top + 14}">${name}</text><rect class="${tone}" x="180" y="${top}" width="${width}" height="${BAR.height}" rx="2"/>`
  })
  const told = figures.map(({ name, amount }) => `${name} ${amount}`).join(', ')
  return html`<svg class="bars" role="img" aria-labelledby="${id}-title ${id}-about" viewBox="0 0 ${180 + BAR.width} ${height}">
<title id="${id}-title">${issuer}, ${currency}</title><desc id="${id}-about">${told}</desc>${bars}</svg>`
}

const sheet = (facts: Sheet, place: number): Html => {
  const id = `sheet-${place}`
  const rows = facts.figures.map(
    ({ name, amount, about }) =>
      html`<tr><th scope="row">${name}<span class="hint">${about}</span></th><td>${amount}</td></tr>`,
  )
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${facts.issuer} in ${facts.currency}</h2>
${chart(facts, id)}
<table class="books"><caption class="for">${facts.issuer} in ${facts.currency}</caption>
<thead><tr><th scope="col">What</th><th scope="col">${facts.currency}</th></tr></thead>
<tbody>${rows}</tbody></table>
</section>`
}

const monthLink = (month: string, words: string, rel: string): Html =>
  html`<a rel="${rel}" href="${safeUrl(`${BOOKS_PATH}?month=${month}`)}">${words}<span class="for">: ${monthName(month)}</span></a>`

export const booksPage = ({ email, month, before, after, sheets }: BooksFacts): string =>
  accountPage(
    `Books of ${monthName(month)}`,
    html`<main class="wide">
<header><div><h1>Books of ${monthName(month)}</h1><p>Signed in as ${email}</p></div>
<nav aria-label="Months" class="acts">${monthLink(before, 'Month before', 'prev')} ${monthLink(after, 'Month after', 'next')}</nav></header>
<form method="get" action="${BOOKS_PATH}"><div class="field"><label for="month">Month</label>
<input id="month" name="month" type="month" value="${month}" required></div><button class="plain" type="submit">Show</button></form>
${sheets.length === 0 ? html`<p>Nothing was issued, paid or credited in this month, and nothing is outstanding.</p>` : sheets.map(sheet)}
<p class="hint">A month begins and ends at midnight in the time zone of each issuer. Test invoices are left out. What is outstanding is so now, whatever the month.</p>
<p><a class="button plain" href="${safeUrl(`/api/invoices/reconciliation?month=${month}&format=csv`)}">This table as CSV</a></p>
</main>`,
  )
