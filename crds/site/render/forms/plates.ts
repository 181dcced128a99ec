/** Plates: large pictures with a line beneath, of unequal widths. */
import { type Html, html } from '../../../text/html.ts'
import { CROP_MOST, cropOf, ratioOf } from '../choose/pictures.ts'
import type { Item } from '../matter/matter.ts'
import { type Frame, outward, ratiosOf } from '../page/frame.ts'
import { type FormGroup, framed, type SiteForm, sizesOf, wordsOf } from './form.ts'

const CSS = `
.plates{display:grid;gap:calc(var(--gut)*2) var(--gut)}
.plate{min-width:0}
.plate .cw{display:grid;gap:.5rem;padding-top:.75rem;max-width:38rem}
.plate .ln{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.15rem 1.5rem}
.plate>a{display:block;text-decoration:none}
.cap{padding-top:.6rem;font-size:var(--t-1);color:var(--mut)}
@media (min-width:40rem){.plates{grid-template-columns:repeat(12,minmax(0,1fr));align-items:end}
${[4, 5, 6, 7, 8, 10, 12].map((span) => `.p${span}{grid-column:span ${span}}`).join('')}}
`

/** Columns of twelve. One alone; two; three; then the cycle, whose end is closed. */
export const spansOf = (count: number): number[] => {
  const few: Record<number, number[]> = { 0: [], 1: [10], 2: [7, 5], 3: [12, 6, 6] }
  const known = few[count]
  if (known !== undefined) return known
  const cycle = [7, 5, 5, 7, 12]
  const spans = Array.from({ length: count }, (_, index) => cycle[index % cycle.length] ?? 12)
  // a row that has lost its second half lies across
  if (count % cycle.length === 1 || count % cycle.length === 3) spans[count - 1] = 12
  return spans
}

/** A table's entry of this many asks for the cycle of unequal plates. */
const CYCLE = 12

/** Halves, or one under the other; a last one alone lies across. */
const evenSpans = (count: number, most: number): number[] =>
  Array.from({ length: count }, (_, at) =>
    most === 1 || count === 1 || (count % 2 === 1 && at === count - 1) ? 12 : 6,
  )

/** Both of a row are as high where no picture loses too much by it. */
const ratioFor = (own: number, base: number, span: number): number => {
  const wide = span === 12 ? base * 1.6 : span === 7 ? base * 1.4 : base
  return cropOf(own, wide) <= CROP_MOST ? wide : base
}

const plate = (frame: Frame, item: Item, { level, tone }: FormGroup, span: number, base: number): Html => {
  const [own = base] = ratiosOf(frame, [item.shot])
  const bare = item.price === undefined && item.text === undefined && item.action === null && tone === 'mood'
  const ratio = bare && span >= 10 ? own : ratioFor(own, base, span)
  const picture = frame.shot(item.shot, { sizes: sizesOf(Math.round((span * 100) / 12)), ratio, as: tone })
  if (!bare || picture === null) return html`<li class="plate p${span}">${picture}${wordsOf(frame, item, level)}</li>`
  const shown = framed(frame, item, picture)
  return html`<li class="plate p${span}"><figure>${item.link === undefined ? shown : outward(item.link, shown)}${
    item.title !== '' && html`<figcaption class="cap">${item.title}</figcaption>`
  }</figure></li>`
}

export const plates: SiteForm = {
  css: CSS,
  view: (frame, group) => {
    const { items, most } = group
    const base = ratioOf(
      ratiosOf(
        frame,
        items.map(({ shot }) => shot),
      ),
      frame.ratio,
    )
    const spans = most === CYCLE ? spansOf(items.length) : evenSpans(items.length, most)
    return html`<ul class="plates c${Math.min(items.length, 9)}">${items.map((item, index) =>
      plate(frame, item, group, spans[index] ?? 6, base),
    )}</ul>`
  },
}
