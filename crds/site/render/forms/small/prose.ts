/** Prose: running text in paragraphs, in one measure or two columns. */
import { html } from '../../../../text/html.ts'
import { headingOf, type SiteForm } from '../form.ts'

const CSS = `
.prose{display:grid;gap:calc(var(--gap)*.35)}
.prose>div{display:grid;gap:.9rem;max-width:42rem;min-width:0}
.prose p{white-space:pre-line}
.prose.one>div:not(:has(h3))>p:first-child{font-size:var(--t1);line-height:1.45}
`

/** An empty line stands between two paragraphs. */
const paragraphsOf = (text: string): string[] => text.split(/\n\s*\n/).filter((one) => one.trim() !== '')

export const prose: SiteForm = {
  css: CSS,
  view: (_frame, { items, level }) =>
    html`<div class="prose${items.length === 1 && ' one'}">${items.map(
      (item) =>
        html`<div>${headingOf(item, level)}${paragraphsOf(item.text ?? '').map((text) => html`<p>${text}</p>`)}</div>`,
    )}</div>`,
}
