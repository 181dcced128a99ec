/** Facts: a name and what is so, line by line. */
import { html } from '../../../../text/html.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.facts{display:grid;max-width:40rem}
.facts>div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.1rem 2rem;padding-block:.65rem;border-top:1px solid var(--lin)}
.facts>div:last-child{border-bottom:1px solid var(--lin)}
.facts dt{font-weight:600}
.facts dd{font-variant-numeric:tabular-nums lining-nums;text-align:end}
.facts .more{display:block;min-height:0;font-weight:400;color:var(--mut);flex:1 1 100%;text-align:start}
`

export const facts: SiteForm = {
  css: CSS,
  view: (_frame, { items }) =>
    html`<dl class="facts">${items.map(
      ({ title, points, text }) =>
        html`<div><dt>${title}</dt>${points.map((one) => html`<dd>${one}</dd>`)}${text !== undefined && html`<dd class="more">${text}</dd>`}</div>`,
    )}</dl>`,
}
