/** Cards: equal boxes in rows without a hole; one alone is a sheet, picture beside words. */
import { html } from '../../../text/html.ts'
import { ratioOf, rowRatio } from '../choose/pictures.ts'
import { firstAcross, placedIn } from '../choose/rows.ts'
import { ratiosOf } from '../page/frame.ts'
import { type SiteForm, sizesOf, wordsOf } from './form.ts'

const CSS = `
.cards{display:grid;gap:var(--gut);row-gap:max(var(--gut),1.5rem)}
.card{display:flex;flex-direction:column;min-width:0}
.card .cw{flex:1;display:flex;flex-direction:column;gap:.5rem;padding-top:1rem}
.card .ln{display:flex;flex-direction:column;gap:.35rem}
.card .ln h3,.card .ln h4{flex:1}
.card .act{margin-top:auto;padding-top:.5rem}
@media (min-width:40rem){.cards:not(.c1){grid-template-columns:repeat(12,minmax(0,1fr))}.cards:not(.c1)>*{grid-column:span 6}.cards:not(.c1)>.ac{grid-column:span 12}
.card.ac{flex-direction:row;gap:var(--gut)}.card.ac>.im{flex:0 0 calc(50% - var(--gut)/2)}
.c1 .card:has(.im){display:grid;grid-template-columns:7fr 5fr;gap:calc(var(--gut)*1.5);align-items:center}}
@media (min-width:64rem){.cards:not(.c1)>.n2{grid-column:span 6}.cards:not(.c1)>.n3{grid-column:span 4}.cards:not(.c1)>.n4{grid-column:span 3}
.card.ac{flex-direction:column;gap:0}.card.ac>.im{flex:none}}
.c1 .card:not(:has(.im)){max-width:44rem}
`

export const cards: SiteForm = {
  css: CSS,
  view: (frame, { items, level, most, tone }) => {
    const shots = items.map(({ shot }) => shot)
    const base = ratioOf(ratiosOf(frame, shots), frame.ratio)
    const across = firstAcross(items.length)
    const small = items.length > 3 && items.every(({ text }) => text === undefined)
    const places = placedIn(items, most)
    const list = places.map(({ item, length, row }, index) => {
      const inRow = ratiosOf(
        frame,
        places.filter((one) => one.row === row).map((one) => one.item.shot),
      )
      const ratio = items.length === 1 ? base : rowRatio(inRow, base, most, length)
      const picture = frame.shot(item.shot, { sizes: sizesOf(Math.round(100 / length)), ratio, as: tone })
      return html`<li class="card n${length}${across && index === 0 && ' ac'}">${picture}${wordsOf(frame, item, level)}</li>`
    })
    return html`<ul class="cards c${items.length}${small && ' small'}">${list}</ul>`
  },
}
