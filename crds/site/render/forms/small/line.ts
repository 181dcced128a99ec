/** A line of facts between rules. */
import { html } from '../../../../text/html.ts'
import { outward } from '../../page/frame.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.line{display:flex;flex-wrap:wrap;gap:.5rem clamp(1.5rem,4vw,3.5rem);align-items:center;padding-block:1rem;border-block:1px solid var(--lin)}
.line li{display:flex;align-items:center;gap:.7rem}
.line .im{height:2.25rem;width:auto;background:none;border-radius:0}
.line .im img{object-fit:contain;width:auto;max-width:7rem}
.l-atelier .line{justify-content:center}
.f-line.s{padding-block:calc(var(--gap)*.25)}
`

export const line: SiteForm = {
  css: CSS,
  view: (frame, { items }) =>
    html`<ul class="line">${items.map(
      ({ title, link, shot }) =>
        html`<li>${frame.shot(shot === null ? null : { ...shot, alt: '' }, { sizes: '112px' })}${link === undefined ? html`<span>${title}</span>` : outward(link, title)}</li>`,
    )}</ul>`,
}
