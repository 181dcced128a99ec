/** Seals: badges that all have a picture, each over its words, as prizes hang in a window. */
import { html } from '../../../../text/html.ts'
import { rowsOf } from '../../choose/rows.ts'
import type { Item } from '../../matter/matter.ts'
import { type Frame, outward } from '../../page/frame.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.seals{display:flex;flex-wrap:wrap;gap:2rem var(--gut)}
.seals ul{display:contents}
.seals li{flex:0 0 calc((100% - var(--gut))/2);display:grid;align-content:start;justify-items:start;gap:.75rem;font-size:max(.9375rem,var(--t-1));line-height:1.35;min-width:0}
.seals .im{height:4.5rem;width:auto;max-width:100%;background:none;border-radius:0}
.seals .im img{width:auto;max-width:100%;object-fit:contain;object-position:0 50%;background:none}
.seals span{text-wrap:balance}
@media (min-width:40rem){.seals:not(.even) li{flex-basis:calc((100% - 2*var(--gut))/3)}}
@media (min-width:64rem){.seals{display:grid}.seals ul{display:flex;gap:var(--gut)}.seals li,.seals:not(.even) li{flex:0 1 12rem}}
.l-monolith .seals ul{display:contents}.l-monolith .seals{display:flex}.l-monolith .seals li{flex:0 0 calc((100% - var(--gut))/2)!important}
.l-atelier .seals,.l-atelier .seals ul{justify-content:center}.l-atelier .seals li{justify-items:center;text-align:center}.l-atelier .seals .im img{object-position:50%}
.f-seals.s{padding-block:calc(var(--gap)*.4)}
`

/** Side by side on a wide window. */
const MOST = 6
/** By threes the last one would stand alone: by twos then. */
const isEven = (count: number): boolean => count % 3 === 1

const seal = (frame: Frame, { title, link, shot }: Item) => {
  const picture = frame.shot(shot === null ? null : { ...shot, alt: '' }, { sizes: '192px' })
  const words = html`<span>${title}</span>`
  return html`<li>${picture}${link === undefined ? words : outward(link, words)}</li>`
}

export const seals: SiteForm = {
  css: CSS,
  view: (frame, { items }) => {
    let from = 0
    const rows = rowsOf(items.length, MOST).map((length) => {
      const row = items.slice(from, from + length)
      from += length
      return html`<ul>${row.map((one) => seal(frame, one))}</ul>`
    })
    return html`<div class="seals${isEven(items.length) && ' even'}">${rows}</div>`
  },
}
