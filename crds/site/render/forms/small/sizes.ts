/** A table of sizes: the first item is its head. The first column stays while the rest scrolls in its frame. */
import { html } from '../../../../text/html.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.scroll{overflow-x:auto;scrollbar-width:thin;position:relative}
.sizes{border-collapse:collapse;min-width:min(100%,34rem);font-variant-numeric:tabular-nums lining-nums}
.sizes th,.sizes td{padding:.65rem 1.5rem .65rem 0;text-align:start;border-top:1px solid var(--lin);overflow-wrap:normal;word-break:keep-all}
.sizes thead th{border-top:2px solid var(--fg)}
.sizes th:first-child{position:sticky;left:0;background:var(--bg)}
.sizes+p,.scroll+p{margin-top:1rem;color:var(--mut)}
`

export const sizes: SiteForm = {
  css: CSS,
  view: (_frame, { items, label }) => {
    const [head, ...rows] = items
    return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="sizes"><thead><tr>${(
      head?.points ?? []
    ).map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead><tbody>${rows.map(
      ({ title, points }) =>
        html`<tr><th scope="row">${title}</th>${points.map((cell) => html`<td>${cell}</td>`)}</tr>`,
    )}</tbody></table></div>${head?.text !== undefined && html`<p>${head.text}</p>`}`
  },
}
