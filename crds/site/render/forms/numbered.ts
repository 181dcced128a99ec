/** An index: numbered items between bars, words only, the picture a plate of the measure. */
import { html } from '../../../text/html.ts'
import { priceOf } from '../page/parts.ts'
import { detailsOf, headingOf, type SiteForm, sizesOf, tagOf, textOf } from './form.ts'

const CSS = `
.index{counter-reset:at}
.index>li{counter-increment:at;display:grid;grid-template-columns:3.25rem minmax(0,1fr);gap:.4rem 0;padding-block:1.4rem;border-top:2px solid var(--fg)}
.index>li::before{content:counter(at,decimal-leading-zero)/"";font:var(--hw) var(--t1)/1.25 var(--head);font-variant-numeric:tabular-nums lining-nums}
.index>li>.bd{grid-column:2;display:grid;gap:.6rem;min-width:0}
.index>li>.im{grid-column:1/-1;margin-bottom:.75rem}
.index .ln{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.15rem 1.5rem}
.index .ln h3,.index .ln h4{font-size:var(--t1)}
.index.c1>li{grid-template-columns:1fr}.index.c1>li>.bd{grid-column:1}.index.c1>li::before{display:none}
`

export const numbered: SiteForm = {
  css: CSS,
  view: (frame, { items, level, tone }) =>
    html`<ol class="index c${Math.min(9, items.length)}">${items.map(
      (item) =>
        html`<li>${frame.shot(item.shot, { sizes: sizesOf(45), as: tone })}<div class="bd"><div class="ln">${headingOf(item, level)}${tagOf(
          item,
        )}${priceOf(frame, item)}</div>${item.role !== undefined && html`<p class="role">${item.role}</p>`}${textOf(item)}${detailsOf(frame, item)}</div></li>`,
    )}</ol>`,
}
