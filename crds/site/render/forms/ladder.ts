/** A ladder of quotes: one leads, large; the rest stand smaller beside and beneath it. */
import { html } from '../../../text/html.ts'
import { quoteOf } from '../page/parts.ts'
import type { SiteForm } from './form.ts'

const CSS = `
.ladder{display:grid;gap:2.5rem calc(var(--gut)*1.5)}
.ladder .lead blockquote{font:var(--qw,var(--hw)) var(--t3)/1.24 var(--head);font-style:var(--qs,normal);letter-spacing:var(--tr)}
.ladder .lead.long blockquote{font-size:var(--t2);line-height:1.36}
.ladder .lead p{max-width:30em}
.ladder.single{max-width:46rem}
.ladder.single li:not(.lead) blockquote{font:var(--qw,var(--hw)) var(--t1)/1.4 var(--head);font-style:var(--qs,normal)}
@media (min-width:48rem){.ladder:not(.single).c2{grid-template-columns:8fr 4fr;align-items:end}
.ladder:not(.single).c3,.ladder:not(.single).c9{grid-template-columns:1fr 1fr}
.ladder:not(.single).c3>.lead,.ladder:not(.single).c9>.lead{grid-column:1/-1}}
`

/** Over this many characters a leading quote is set smaller. */
const LONG = 240

export const ladder: SiteForm = {
  css: CSS,
  view: (_frame, { items, most }) => {
    const count = items.length > 3 ? 9 : items.length
    return html`<ul class="ladder c${count}${most === 1 && ' single'}">${items.map((item, at) =>
      at === 0
        ? html`<li class="lead${(item.text?.length ?? 0) > LONG && ' long'}">${quoteOf(item)}</li>`
        : html`<li>${quoteOf(item)}</li>`,
    )}</ul>`
  },
}
