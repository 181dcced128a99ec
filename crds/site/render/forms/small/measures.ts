/** Measures: the sizes of one thing or two, each a list of what it measures; a table of one line would be all head. */
import { html } from '../../../../text/html.ts'
import { headingOf, type SiteForm } from '../form.ts'
import { facts } from './facts.ts'

const CSS = `
.meas{display:grid;gap:2rem calc(var(--gut)*1.5);max-width:64rem}
.meas>li{min-width:0}
.meas :is(h3,h4){margin-bottom:.75rem}
.meas .k{font-weight:400}
.meas+p{margin-top:1rem;color:var(--mut)}
@media (min-width:48rem){.meas.two{grid-template-columns:1fr 1fr}}
.l-atelier .meas+p{text-align:center;margin-inline:auto}
.l-monolith .meas{grid-template-columns:none}
${facts.css}`

export const measures: SiteForm = {
  css: CSS,
  view: (_frame, { items, level }) => {
    const [head, ...rows] = items
    const [first = '', ...names] = head?.points ?? []
    return html`<ul class="meas${rows.length > 1 && ' two'}">${rows.map(
      (row) =>
        html`<li><p class="k">${first}</p>${headingOf(row, level)}<dl class="facts">${row.points.map(
          (value, at) => html`<div><dt>${names[at] ?? ''}</dt><dd>${value}</dd></div>`,
        )}</dl></li>`,
    )}</ul>${head?.text !== undefined && html`<p>${head.text}</p>`}`
  },
}
