/** Justified: rows of pictures of one height, uncropped. */
import { type Html, html } from '../../../text/html.ts'
import { rowsOf } from '../choose/rows.ts'
import type { Item } from '../matter/matter.ts'
import { type Frame, outward, ratiosOf } from '../page/frame.ts'
import { growClass } from '../page/ledger.ts'
import { framed, type SiteForm, sizesOf } from './form.ts'

const CSS = `
.just{display:grid;gap:var(--gut)}
.just ul{display:grid;gap:var(--gut)}
.just li{min-width:0}
.just a{display:block;text-decoration:none}
.cap{padding-top:.6rem;font-size:var(--t-1);color:var(--mut)}
a .cap{text-decoration:underline;text-underline-offset:.2em}
.just .one .im{max-height:86svh}
@media (max-width:39.99rem){.just.many{display:block;columns:2;column-gap:var(--gut)}.just.many ul{display:contents}.just.many li{break-inside:avoid;padding-bottom:var(--gut)}}
@media (min-width:40rem){.just ul{display:flex}}
`

const MANY = 5

const cell = (frame: Frame, item: Item, length: number, tone: string): Html => {
  const [ratio = 1] = ratiosOf(frame, [item.shot])
  const picture = frame.shot(item.shot, { sizes: sizesOf(Math.round(100 / length)), as: tone })
  const shown = picture === null ? html`` : framed(frame, item, picture)
  const caption = item.title !== '' && html`<figcaption class="cap">${item.title}</figcaption>`
  return html`<li class="${growClass(frame.ledger, ratio)}"><figure>${item.link === undefined ? shown : outward(item.link, shown)}${caption}</figure></li>`
}

export const justified: SiteForm = {
  css: CSS,
  view: (frame, { items, most, tone }) => {
    const shown = items.filter(({ shot }) => shot !== null)
    let from = 0
    const rows = rowsOf(shown.length, most).map((length) => {
      const row = shown.slice(from, from + length)
      from += length
      return html`<ul${length === 1 && html` class="one"`}>${row.map((item) => cell(frame, item, length, tone))}</ul>`
    })
    return html`<div class="just${shown.length >= MANY && ' many'}">${rows}</div>`
  },
}
