/** A list: name and price on one ruled line, as a menu has it; two columns from six. */
import { html } from '../../../text/html.ts'
import { priceOf } from '../page/parts.ts'
import { detailsOf, headingOf, type SiteForm, tagOf, textOf } from './form.ts'

const CSS = `
.list{column-gap:calc(var(--gut)*1.5)}
.list>li{break-inside:avoid;padding-block:.8rem;border-top:1px solid var(--lin)}
.list>li .ln{display:flex;align-items:baseline;justify-content:space-between;gap:.15rem 1.25rem}
.list>li .ln h3,.list>li .ln h4{font-size:var(--t1);line-height:1.3}
.list .tag{flex:0 1 auto;min-width:0;margin-inline-end:auto}
.list>li .ln>.price{flex:none;text-align:end}
.list>li .ln:has(.long){flex-wrap:wrap}
.list>li .ln>.long{flex:1 1 100%;text-align:start}
.list>li>.text{padding-top:.2rem;color:var(--mut);max-width:38rem}
.list>li>:not(.ln):not(.text){padding-top:.35rem}
.list.c1>li{border:0}
.list.c1>li .ln h3,.list.c1>li .ln h4{font-size:var(--t2)}
@media (min-width:48rem){.list.two{columns:2}}
`

const TWO_COLUMNS_FROM = 6

export const list: SiteForm = {
  css: CSS,
  view: (frame, { items, level }) =>
    html`<ul class="list c${Math.min(9, items.length)}${items.length >= TWO_COLUMNS_FROM && ' two'}">${items.map(
      (item) =>
        html`<li><div class="ln">${headingOf(item, level)}${tagOf(item)}${priceOf(frame, item)}</div>${
          item.role !== undefined && html`<p class="role">${item.role}</p>`
        }${textOf(item)}${detailsOf(frame, item)}</li>`,
    )}</ul>`,
}
