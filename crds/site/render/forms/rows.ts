/** Rows: one item a line, its name, its words and its price in columns; with pictures, sides alternate. */
import { html } from '../../../text/html.ts'
import { ratioOf } from '../choose/pictures.ts'
import { ratiosOf } from '../page/frame.ts'
import { priceOf, quoteOf } from '../page/parts.ts'
import { detailsOf, headingOf, type SiteForm, sizesOf, tagOf, textOf } from './form.ts'

const CSS = `
.rows{display:grid;gap:0}
.row{display:grid;gap:.5rem var(--gut);padding-block:1.25rem;border-top:1px solid var(--lin);min-width:0}
.row:last-child{border-bottom:1px solid var(--lin)}
.row .nm,.row .bd{display:grid;gap:.5rem;align-content:start;min-width:0}
.row .nm h3,.row .nm h4{font-size:var(--t1)}
.row.quoted{border:0;padding-block:.75rem}
@media (min-width:48rem){
.rows.plain>.row{grid-template-columns:minmax(0,4fr) minmax(0,6fr) minmax(min-content,2fr)}
.rows.plain.c1>.row{grid-template-columns:minmax(0,5fr) minmax(0,7fr)}
.rows.plain>.row .price{text-align:end;min-width:8rem}
.rows.plain.two{grid-template-columns:1fr 1fr;column-gap:calc(var(--gut)*1.5)}
.rows.plain.two>.row{grid-template-columns:minmax(0,1fr) auto}
.rows.plain.two>.row .bd{grid-column:1/-1}
.rows.pics{gap:calc(var(--gap)*.42)}
.rows.pics>.row{grid-template-columns:minmax(0,1fr) minmax(0,1fr);border:0;padding:0;align-items:center;gap:var(--gut) calc(var(--gut)*2)}
.rows.pics>.row:nth-child(even)>.im{order:2}
}
@media (max-width:47.99rem){.rows.pics{gap:2.5rem}.rows.pics>.row{border:0;padding:0}}
.rows.pics .row .wd{display:grid;gap:.75rem}
.rows.pics .row h3,.rows.pics .row h4{font-size:var(--t2)}
`

const TWO_COLUMNS_FROM = 9

export const rows: SiteForm = {
  css: CSS,
  view: (frame, { items, level, tone, quotes }) => {
    if (quotes)
      return html`<ul class="rows">${items.map((item) => html`<li class="row quoted">${quoteOf(item)}</li>`)}</ul>`
    const pictured = items.some(({ shot }) => shot !== null)
    const base = ratioOf(
      ratiosOf(
        frame,
        items.map(({ shot }) => shot),
      ),
      tone === 'goods' ? frame.ratio : 1.5,
    )
    const list = items.map((item) => {
      const name = html`<div class="nm">${tagOf(item)}${headingOf(item, level)}${item.role !== undefined && html`<p class="role">${item.role}</p>`}</div>`
      const body = html`<div class="bd">${textOf(item)}${detailsOf(frame, item)}</div>`
      const picture = frame.shot(item.shot, { sizes: sizesOf(50), ratio: base, as: tone })
      if (!pictured) return html`<li class="row">${name}${body}${priceOf(frame, item)}</li>`
      return html`<li class="row${picture === null && ' bare'}">${picture}<div class="wd">${name}${priceOf(frame, item)}${body}</div></li>`
    })
    const two = items.length >= TWO_COLUMNS_FROM && items.every(({ text }) => (text?.length ?? 0) < 140)
    return html`<ul class="rows ${pictured ? 'pics' : 'plain'} c${Math.min(9, items.length)}${two && !pictured && ' two'}">${list}</ul>`
  },
}
