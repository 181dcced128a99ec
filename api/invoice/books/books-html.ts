/** What a month came to: for each currency of each issuer a chart and its figures, and the way to the table as CSV. */
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { accountHeader, accountPage, BOOKS_PATH } from '../../page/account.ts'
import { button, buttonLink, form, inputField, visuallyHidden } from '../../page/form.ts'

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
export type BooksSheet = { currency: string; issuer: string; figures: readonly Figure[] }

export type BooksFacts = {
  email: string
  /** Is shown the way to the reviews. */
  isReviewer?: boolean
  /** YYYY-MM. */
  month: string
  before: string
  after: string
  sheets: readonly BooksSheet[]
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** `2026-11` → `November 2026`. */
const monthName = (month: string): string => `${MONTHS[Number(month.slice(5, 7)) - 1] ?? ''} ${month.slice(0, 4)}`

/** In px, for each bar: its words stand above it. */
const BAR = { words: 14, top: 20, height: 14, step: 46 }

/** Bars below one another to one scale, the longest as wide as the page; they are not scaled, so their words stay readable. */
const chart = ({ currency, issuer, figures }: BooksSheet, id: string): Html => {
  const most = Math.max(1, ...figures.map(({ cents }) => Math.abs(cents)))
  const bars = figures.map(({ name, cents, tone }, place) => {
    const percent = Math.round((Math.abs(cents) / most) * 100)
    const top = place * BAR.step
    return html`<text x="0" y="${top + BAR.words}">${name}</text><rect class="${tone}" x="0" y="${top + BAR.top}" width="${percent}%" height="${BAR.height}" rx="2"/>`
  })
  const told = figures.map(({ name, amount }) => `${name} ${amount}`).join(', ')
  return html`<svg class="bars" role="img" aria-labelledby="${id}-title ${id}-about" height="${figures.length * BAR.step}">
<title id="${id}-title">${issuer}, ${currency}</title><desc id="${id}-about">${told}</desc>${bars}</svg>`
}

const sheet = (facts: BooksSheet, place: number): Html => {
  const id = `sheet-${place}`
  const rows = facts.figures.map(
    ({ name, amount, about }) =>
      html`<tr><th scope="row">${name}<span class="hint">${about}</span></th><td>${amount}</td></tr>`,
  )
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${facts.issuer} in ${facts.currency}</h2>
${chart(facts, id)}
<table class="books"><caption class="visually-hidden">${facts.issuer} in ${facts.currency}</caption>
<thead><tr><th scope="col">What</th><th scope="col">${facts.currency}</th></tr></thead>
<tbody>${rows}</tbody></table>
</section>`
}

const monthLink = (month: string, words: string, rel: string): Html =>
  html`<a rel="${rel}" href="${safeUrl(`${BOOKS_PATH}?month=${month}`)}">${words}${visuallyHidden(`: ${monthName(month)}`)}</a>`

const monthLinks = ({ before, after }: BooksFacts): Html =>
  html`<nav aria-label="Months" class="row">${monthLink(before, 'Month before', 'prev')} ${monthLink(after, 'Month after', 'next')}</nav>`

export const booksPage = (facts: BooksFacts): string => {
  const { email, month, sheets } = facts
  const title = `Books of ${monthName(month)}`
  return accountPage({
    title,
    layout: 'wide',
    at: BOOKS_PATH,
    isReviewer: facts.isReviewer ?? false,
    main: html`${accountHeader(title, email, monthLinks(facts))}
${form({ method: 'get', action: BOOKS_PATH }, [
  inputField({ id: 'month', label: 'Month', type: 'month', value: month, autocomplete: 'off' }),
  button({ words: 'Show', tone: 'plain' }),
])}
${sheets.length === 0 ? html`<p>Nothing was issued, paid or credited in this month, and nothing is outstanding.</p>` : sheets.map(sheet)}
<p class="hint">A month begins and ends at midnight in the time zone of each issuer. Test invoices are left out. What is outstanding is so now, whatever the month.</p>
<p>${buttonLink(`/api/invoices/reconciliation?month=${month}&format=csv`, 'This table as CSV', 'plain')}</p>`,
  })
}
