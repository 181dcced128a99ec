/** A banner: one call to action. A band in some layouts, a huge linked line in others. */
import { type Html, html } from '../../../../text/html.ts'
import { CROP_MOST, cropOf, nearestRatio } from '../../choose/pictures.ts'
import { type Frame, outward, ratiosOf, type Shot } from '../../page/frame.ts'
import { type SiteForm, sizesOf } from '../form.ts'

const CSS = `
.banner{display:grid;gap:1.25rem var(--gut);justify-items:start}
.banner .big{font:var(--hw) var(--t3)/1.12 var(--head);letter-spacing:var(--tr);max-width:20em;text-wrap:balance}
.banner .text{max-width:40em}
.g-fill .button{background:var(--on-fill);color:var(--fill);border-color:var(--on-fill)}
.banner .im{width:100%}
@media (min-width:64rem){.l-classic .banner,.l-showcase .banner{grid-template-columns:minmax(0,1fr) auto;align-items:center}.l-classic .banner .im,.l-showcase .banner .im{grid-column:1/-1}}
.l-editorial .banner .big,.l-monolith .banner .big{font-size:var(--t4)}
.l-atelier .banner{justify-items:center;text-align:center}.l-atelier .banner .text{margin-inline:auto}
.l-sidenav .banner{padding:1.5rem;background:var(--tint);border-radius:var(--rad)}
.l-narrative .s-cta_banner{min-height:80svh;display:grid;align-content:center}
.l-narrative .banner .big{font-size:var(--t4)}
@media (min-width:48rem){.banner.side{grid-template-columns:5fr 7fr!important;grid-template-rows:1fr auto auto 1fr;column-gap:calc(var(--gut)*2)}.banner.side>.im{grid-area:1/1/5/2!important}.banner.side>.wd{grid-area:2/2}.banner.side>a{grid-area:3/2;justify-self:start}.banner.side .wd{text-align:start;justify-self:start}.banner.side .text{margin:0}}
`

/** A picture across the words; one that would lose too much by it stands beside them. */
const ACROSS = 2.4
const SQUARE = 1

/** Layouts in which the words themselves are the link. */
const LINKED = ['editorial', 'monolith']

const pictureIn = (frame: Frame, shot: Shot | null): { beside: boolean; picture: Html | null } => {
  const [own] = ratiosOf(frame, [shot])
  if (shot === null || own === undefined) return { beside: false, picture: null }
  const beside = cropOf(own, ACROSS) > CROP_MOST
  const place = { sizes: sizesOf(beside ? 42 : 100), ratio: beside ? nearestRatio(own, SQUARE) : ACROSS, as: 'mood' }
  return { beside, picture: frame.shot({ ...shot, alt: '' }, place) }
}

export const banner: SiteForm = {
  css: CSS,
  view: (frame, { items }) =>
    html`${items.map(({ title, text, shot, link = '#', points }) => {
      const [label = ''] = points
      const words = title === '' ? label : title
      const linked = LINKED.includes(frame.layout.name)
      const { beside, picture } = pictureIn(frame, shot)
      return html`<div class="banner${beside && ' side'}">${picture}<div class="wd"><p class="big">${linked ? outward(link, words) : words}</p>${
        text !== undefined && html`<p class="text">${text}</p>`
      }</div>${(!linked || words !== label) && outward(link, label, linked ? 'more' : 'button')}</div>`
    })}`,
}
