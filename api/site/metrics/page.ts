/** The visits of a site as a page for whoever is signed in: a column for each day, and what was looked at and from where as tables. */

import type { SiteMetrics, VisitDay } from '../../../crds/site/publishing/visits/metrics.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { accountHeader, accountPage } from '../../page/account.ts'
import { button, form, inputField } from '../../page/form.ts'

export type MetricsFacts = { email: string; name: string; url: string | null; path: string; metrics: SiteMetrics }

/** In units of the drawing, which is as wide as the page. */
const CHART = { width: 640, height: 160, gap: 0.2 }

const round = (value: number): number => Math.round(value * 100) / 100

/** Columns side by side to one scale: of each day its visits, and in front of them its visitors. */
const chart = (days: readonly VisitDay[], told: string): Html => {
  const most = Math.max(1, ...days.map(({ visits }) => visits))
  const step = CHART.width / days.length
  const column = (value: number, place: number, tone: string): Html => {
    const height = round((value / most) * CHART.height)
    return html`<rect class="${tone}" x="${round(place * step)}" y="${round(CHART.height - height)}" width="${round(step * (1 - CHART.gap))}" height="${height}"/>`
  }
  const columns = days.map(
    ({ date, visits, visitors }, place) =>
      html`<g><title>${date}: ${visits} visits, ${visitors} visitors</title>${column(visits, place, 'plain')}${column(visitors, place, 'good')}</g>`,
  )
  return html`<svg class="bars" role="img" aria-labelledby="visits-title visits-about" viewBox="0 0 ${CHART.width} ${CHART.height}">
<title id="visits-title">Visits by day</title><desc id="visits-about">${told}</desc>${columns}</svg>`
}

type Row = { name: string; visits: number }

const table = (title: string, rows: readonly Row[], other: number, otherWords: string): Html => {
  const all = other > 0 ? [...rows, { name: otherWords, visits: other }] : rows
  const line = ({ name, visits }: Row) => html`<tr><th scope="row">${name}</th><td>${visits}</td></tr>`
  return html`<section><h2>${title}</h2>
${
  all.length === 0
    ? html`<p>None in these days.</p>`
    : html`<table class="books"><caption class="visually-hidden">${title}</caption>
<thead><tr><th scope="col">${title}</th><th scope="col">Visits</th></tr></thead>
<tbody>${all.map(line)}</tbody></table>`
}</section>`
}

export const metricsPage = ({ email, name, url, path, metrics }: MetricsFacts): string => {
  const { from, to, visits, visitors, robots, days, pages, referrers, other } = metrics
  const told = `${visits} visits by ${visitors} visitors from ${from} to ${to}, and ${robots} by robots`
  const title = `Visits of ${name}`
  const day = (id: string, label: string, value: string) =>
    inputField({ id, label, type: 'date', value, autocomplete: 'off' })
  return accountPage({
    title,
    layout: 'wide',
    at: '',
    main: html`${accountHeader(title, email, html`${url}`)}
${form({ method: 'get', action: path }, [day('from', 'From', from), day('to', 'To', to), button({ words: 'Show', tone: 'plain' })])}
<p>${told}.</p>
${chart(days, told)}
${table(
  'Pages',
  pages.map((one) => ({ name: one.path, visits: one.visits })),
  other.pages,
  'All other pages',
)}
${table(
  'Referrers',
  referrers.map((one) => ({ name: one.host, visits: one.visits })),
  other.referrers,
  'All other referrers',
)}
<p class="hint">Days are in UTC. No address is kept: a visitor is counted once on a day, and is nobody known on the next. A referrer counts once for each visitor. Robots are counted apart.</p>`,
  })
}
