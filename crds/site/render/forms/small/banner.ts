/** A banner: one call to action. A band in some layouts, a huge linked line in others. */
import { html } from '../../../../text/html.ts'
import { outward } from '../../page/frame.ts'
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
`

/** Layouts in which the words themselves are the link. */
const LINKED = ['editorial', 'monolith']

export const banner: SiteForm = {
  css: CSS,
  view: (frame, { items }) =>
    html`${items.map(({ title, text, shot, link = '#', points }) => {
      const [label = ''] = points
      const words = title === '' ? label : title
      const linked = LINKED.includes(frame.layout.name)
      const picture = frame.shot(shot === null ? null : { ...shot, alt: '' }, {
        sizes: sizesOf(100),
        ratio: 2.4,
        as: 'mood',
      })
      return html`<div class="banner">${picture}<div><p class="big">${linked ? outward(link, words) : words}</p>${
        text !== undefined && html`<p class="text">${text}</p>`
      }</div>${(!linked || words !== label) && outward(link, label, linked ? 'more' : 'button')}</div>`
    })}`,
}
