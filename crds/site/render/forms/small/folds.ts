/** Folds: questions that are seen, answers that open. Three or fewer are open from the start. */
import { html } from '../../../../text/html.ts'
import { headingOf, type SiteForm, textOf } from '../form.ts'

const CSS = `
.folds{display:grid;column-gap:calc(var(--gut)*1.5);align-items:start}
.folds>li{border-top:1px solid var(--lin);min-width:0}
.folds>li:last-child{border-bottom:1px solid var(--lin)}
.folds summary{display:flex;justify-content:space-between;gap:1rem;align-items:center;min-height:3.25rem;padding-block:.6rem;list-style:none}
.folds summary::-webkit-details-marker{display:none}
.folds summary::after{content:"+"/"";font:400 var(--t1)/1 var(--body);flex:none}
.folds [open]>summary::after{content:"–"/""}
.folds .text{padding-bottom:1.1rem}
.folds.open>li{padding-block:1.1rem}
.folds.open .text{padding:.4rem 0 0}
.folds summary :is(h3,h4){font-size:var(--t0);font-weight:600;font-family:var(--body);letter-spacing:0}
@media (min-width:64rem){.folds.two{grid-template-columns:1fr 1fr}.folds.two>li:nth-last-child(2):nth-child(odd){border-bottom:1px solid var(--lin)}}
`

const OPEN_MOST = 3
const TWO_COLUMNS_FROM = 8

export const folds: SiteForm = {
  css: CSS,
  view: (_frame, { items, level, most }) => {
    const open = items.length <= OPEN_MOST || most === 1
    const two = !open && items.length >= TWO_COLUMNS_FROM
    return html`<ul class="folds${open && ' open'}${two && ' two'}">${items.map((item) =>
      open
        ? html`<li>${headingOf(item, level)}${textOf(item)}</li>`
        : html`<li><details><summary>${headingOf(item, level)}</summary>${textOf(item)}</details></li>`,
    )}</ul>`
  },
}
