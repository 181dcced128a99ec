/** Chapters: half picture, half words, sides alternating; without a picture the first words stand in its place. */
import { html } from '../../../text/html.ts'
import { priceOf } from '../page/parts.ts'
import { detailsOf, headingOf, type SiteForm, sizesOf, textOf } from './form.ts'

const CSS = `
.chap{display:grid}
.chap>.im{aspect-ratio:4/3}
.chap>.wd{display:grid;align-content:center;gap:1rem;padding:2.5rem var(--mg)}
.chap h3,.chap h4{font-size:var(--t3);line-height:1.12}
.chap .text{max-width:30rem;font-size:var(--t1);line-height:1.5}
.chap>.big{display:grid;place-content:center start;padding:2rem var(--mg) 0;background:var(--tnt);font:var(--hw) var(--t6)/1 var(--head);color:var(--al)}
@media (min-width:48rem){
.chap{grid-template-columns:1fr 1fr;min-height:80svh}
.chap>.im{position:sticky;top:0;aspect-ratio:auto;height:min(80svh,60rem)}
.chap:nth-child(even)>.im,.chap:nth-child(even)>.big{order:2}
.chap>.wd{padding:4rem clamp(2.5rem,5vw,4.5rem)}
.chap>.big{padding:4rem clamp(2.5rem,5vw,4.5rem)}
}
`

export const chapters: SiteForm = {
  css: CSS,
  view: (frame, { items, level, tone }) =>
    html`<div class="chaps">${items.map((item, at) => {
      const picture = frame.shot(item.shot, { sizes: sizesOf(50), as: tone })
      return html`<div class="chap">${picture ?? html`<div class="big" aria-hidden="true">${at + 1}</div>`}<div class="wd">${headingOf(
        item,
        level,
      )}${item.role !== undefined && html`<p class="role">${item.role}</p>`}${priceOf(frame, item)}${textOf(item)}${detailsOf(frame, item)}</div></div>`
    })}</div>`,
}
