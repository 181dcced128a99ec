/** A table: what is offered side by side, so that it compares; it scrolls in its own frame. */
import { html } from '../../../text/html.ts'
import { priceOf } from '../page/parts.ts'
import { pointsOf, type SiteForm, tagOf, textOf } from './form.ts'
import { list } from './list.ts'

const CSS = `
.scroll{overflow-x:auto;scrollbar-width:thin}
.compare{width:100%;border-collapse:collapse;min-width:min(100%,calc(var(--n)*11rem))}
.compare th,.compare td{padding:.9rem 1.25rem .9rem 0;text-align:start;vertical-align:top;border-top:1px solid var(--lin);min-width:10rem;overflow-wrap:break-word}
.compare th{font:var(--hw) var(--t1)/1.25 var(--head);border-top:2px solid var(--fg)}
.compare .price{font-size:var(--t2)}
.compare tr:last-child td{padding-bottom:0}
${[1, 2, 3, 4, 5, 6].map((count) => `.compare.c${count}{--n:${count}}`).join('')}
${list.css}`

export const table: SiteForm = {
  css: CSS,
  view: (frame, group) => {
    const { items, label } = group
    if (items.length < 2) return list.view(frame, group)
    const rows = [
      items.some(({ price }) => price !== undefined) && items.map((item) => priceOf(frame, item)),
      items.some(({ points, text }) => points.length > 0 || text !== undefined) &&
        items.map((item) => html`${textOf(item)}${pointsOf(item)}`),
      items.some(({ action }) => action !== null) && items.map(({ action }) => action),
    ].filter((row) => row !== false)
    return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="compare c${Math.min(
      6,
      items.length,
    )}"><thead><tr>${items.map((item) => html`<th scope="col">${tagOf(item)}${item.title}</th>`)}</tr></thead><tbody>${rows.map(
      (cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
    )}</tbody></table></div>`
  },
}
