/** Proofs: badges that are sentences, or too many for a line: one under the other, in columns where there is room. */
import { html } from '../../../../text/html.ts'
import { outward } from '../../page/frame.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.proofs{column-gap:calc(var(--gut)*1.5);max-width:40rem}
.proofs li{display:flex;gap:.9rem;align-items:center;break-inside:avoid;min-height:3rem;padding-block:.65rem;border-top:1px solid var(--lin);line-height:1.4}
.proofs li>:not(.im){min-width:0}
.proofs .im{flex:none;height:2rem;width:3rem;background:none;border-radius:0}
.proofs .im img{object-fit:contain}
@media (min-width:48rem){.proofs.two{columns:2;max-width:64rem}}
.l-monolith .proofs{columns:1}
.l-atelier .proofs{margin-inline:auto}
.f-proofs.s{padding-block:calc(var(--gap)*.4)}
`

/** From so many on they stand in two columns. */
const TWO_COLUMNS_FROM = 4

export const proofs: SiteForm = {
  css: CSS,
  view: (frame, { items }) =>
    html`<ul class="proofs${items.length >= TWO_COLUMNS_FROM && ' two'}">${items.map(
      ({ title, link, shot }) =>
        html`<li>${frame.shot(shot === null ? null : { ...shot, alt: '' }, { sizes: '48px' })}${link === undefined ? html`<span>${title}</span>` : outward(link, title)}</li>`,
    )}</ul>`,
}
