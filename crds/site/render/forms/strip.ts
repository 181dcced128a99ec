/** A strip: items side by side that scroll and snap, the next one peeking in; nothing moves by itself. */
import { type Html, html } from '../../../text/html.ts'
import { ratioOf } from '../choose/pictures.ts'
import type { Item } from '../matter/matter.ts'
import { outward, ratiosOf } from '../page/frame.ts'
import { quoteOf } from '../page/parts.ts'
import { type SiteForm, sizesOf, wordsOf } from './form.ts'

const CSS = `
.strip{display:flex;gap:var(--gut);overflow-x:auto;scroll-snap-type:x proximity;padding-bottom:1rem;scrollbar-width:thin;scrollbar-color:var(--edg) transparent}
.strip>li{flex:0 0 80%;scroll-snap-align:start;min-width:0;display:flex;flex-direction:column}
.strip .cw{display:grid;gap:.5rem;padding-top:.9rem;align-content:start}
.strip .quote{padding:1.5rem;background:var(--tnt);height:100%;align-content:space-between}
.strip .cap{padding-top:.6rem;font-size:var(--t-1);color:var(--mut)}
.strip.c1>li{flex-basis:100%}
@media (min-width:40rem){.strip>li{flex-basis:44%}}
@media (min-width:64rem){.strip>li{flex-basis:29%}.strip.c2>li{flex-basis:calc(50% - var(--gut)/2)}}
`

const captionOf = ({ title, link }: Item): Html | null =>
  title === '' ? null : html`<p class="cap">${link === undefined ? title : outward(link, title)}</p>`

export const strip: SiteForm = {
  css: CSS,
  view: (frame, { items, level, tone, label, quotes }) => {
    const base = ratioOf(
      ratiosOf(
        frame,
        items.map(({ shot }) => shot),
      ),
      frame.ratio,
    )
    return html`<ul class="strip c${Math.min(9, items.length)}" tabindex="0" aria-label="${label}">${items.map(
      (item) =>
        quotes
          ? html`<li>${quoteOf(item)}</li>`
          : html`<li>${frame.shot(item.shot, { sizes: sizesOf(30), ratio: base, as: tone })}${
              tone === 'mood' && item.text === undefined ? captionOf(item) : wordsOf(frame, item, level)
            }</li>`,
    )}</ul>`
  },
}
