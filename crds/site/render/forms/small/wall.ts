/** A wall of clients: logos of equal area, or names running in the head face. */
import { html } from '../../../../text/html.ts'
import { outward, ratiosOf } from '../../page/frame.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.wall{display:flex;flex-wrap:wrap;align-items:center;gap:1.5rem clamp(2rem,4vw,4rem)}
.wall .im{background:none;border-radius:0;height:2.25rem;width:auto}
.wall .im img{object-fit:contain;width:auto;max-width:11rem;filter:grayscale(1)}
.wall .wide .im{height:1.6rem}.wall .high .im{height:3.2rem}
.names{font:var(--hw) var(--t2)/1.45 var(--head);letter-spacing:var(--tr)}
.names li{display:inline}
.names li:not(:last-child)::after{content:" · "/"";color:var(--al)}
.names a{text-decoration-thickness:1px}
`
/** Width to height from which a logo is set lower, and under which higher, so that all weigh the same. */
const WIDE = 3
const HIGH = 1.3

export const wall: SiteForm = {
  css: CSS,
  view: (frame, { items }) => {
    if (!items.every(({ shot }) => shot !== null)) {
      return html`<ul class="names">${items.map(({ title, link }) => html`<li>${link === undefined ? title : outward(link, title)}</li>`)}</ul>`
    }
    return html`<ul class="wall">${items.map(({ shot, link }) => {
      const [ratio = 1] = ratiosOf(frame, [shot])
      const logo = frame.shot(shot, { sizes: '176px' }) ?? html``
      const weight = ratio >= WIDE ? 'wide' : ratio < HIGH ? 'high' : 'even'
      return html`<li class="${weight}">${link === undefined ? logo : outward(link, logo)}</li>`
    })}</ul>`
  },
}
