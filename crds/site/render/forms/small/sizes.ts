/** A table of sizes: the first item is its head. The first column stays while the rest scrolls in its frame. */
import { type Html, html } from '../../../../text/html.ts'
import type { FormGroup, SiteForm } from '../form.ts'

const CSS = `
.scroll{overflow-x:auto;scrollbar-width:thin;position:relative}
.sizes{border-collapse:collapse;min-width:min(100%,34rem);font-variant-numeric:tabular-nums lining-nums}
.sizes th,.sizes td{padding:.65rem 1.5rem .65rem 0;text-align:start;border-top:1px solid var(--lin);overflow-wrap:normal;word-break:keep-all}
.sizes thead th{border-top:2px solid var(--fg)}
.sizes th:first-child{position:sticky;left:0;background:var(--bg)}
.sizes+p,.scroll+p{margin-top:1rem;color:var(--mut)}
`

/** On a phone each line of the table is a block of its own: its name, and under it what is in each column. */
const STACKED = `
@media screen and (max-width:39.99rem){
.stack{display:block;min-width:0}
.stack tbody,.stack tr,.stack tbody :is(th,td){display:block}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tbody{display:grid;gap:1.75rem}
.stack tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:1.25rem}
.stack tbody th{grid-column:1/-1;padding:.5rem 0;border-top:2px solid var(--fg);font:var(--hw) var(--t1)/1.25 var(--head);position:static}
.stack tbody td{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 .75rem;padding:.45rem 0;overflow-wrap:anywhere}
.stack tbody ::before{content:attr(data-k);color:var(--mut)}
.stack tbody th::before{font:400 var(--t-1)/1.4 var(--body);display:block}
}
`

/** @param stacked its roles are named: a browser forgets them with the table's own way of standing */
const tableOf = ({ items, label }: FormGroup, stacked: boolean): Html => {
  const [head, ...rows] = items
  const names = head?.points ?? []
  const as = (role: string) => stacked && html` role="${role}"`
  const key = (at: number) => stacked && html` data-k="${names[at] ?? ''}"`
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="sizes${stacked && ' stack'}"${as('table')}><thead${as('rowgroup')}><tr${as('row')}>${names.map(
    (cell) => html`<th scope="col"${as('columnheader')}>${cell}</th>`,
  )}</tr></thead><tbody${as('rowgroup')}>${rows.map(
    ({ title, points }) =>
      html`<tr${as('row')}><th scope="row"${as('rowheader')}${key(0)}>${title}</th>${points.map((cell, at) => html`<td${as('cell')}${key(at + 1)}>${cell}</td>`)}</tr>`,
  )}</tbody></table></div>${head?.text !== undefined && html`<p>${head.text}</p>`}`
}

export const sizes: SiteForm = { css: CSS, view: (_frame, group) => tableOf(group, false) }

/** The same where it is too wide for a phone. */
export const stacked: SiteForm = { css: `${CSS}${STACKED}`, view: (_frame, group) => tableOf(group, true) }
