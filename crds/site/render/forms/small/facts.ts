/** Facts: a name and what is so, line by line, as hours of few kinds are. */
import { type Html, html } from '../../../../text/html.ts'
import { type Fact, otherHours, weekOf } from '../../matter/place.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.facts{display:grid;max-width:40rem}
.facts>div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.1rem 2rem;padding-block:.65rem;border-top:1px solid var(--lin)}
.facts>div:last-child{border-bottom:1px solid var(--lin)}
.facts dt{font-weight:600}
.facts dd{font-variant-numeric:tabular-nums lining-nums;text-align:end}
.facts .more{display:block;min-height:0;font-weight:400;color:var(--mut);flex:1 1 100%;text-align:start}
.facts+.note{margin-top:1rem;color:var(--mut)}
`

/** Names and what is so. */
export const factList = (list: readonly Fact[]): Html =>
  html`<dl class="facts">${list.map(
    ({ title, lines, note }) =>
      html`<div><dt>${title}</dt>${lines.map((one) => html`<dd>${one}</dd>`)}${note !== undefined && html`<dd class="more">${note}</dd>`}</div>`,
  )}</dl>`

export const facts: SiteForm = {
  css: CSS,
  view: (frame) => {
    const { hours = {} } = frame.content
    const note = hours.note !== undefined && html`<p class="note">${hours.note}</p>`
    return html`${factList([...weekOf(hours, frame.signs), ...otherHours(hours, frame.signs)])}${note}`
  },
}
