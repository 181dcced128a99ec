/** Prose: a sentence that is said, running text in one measure or two columns, or short passages side by side. */
import { html } from '../../../../text/html.ts'
import { lengthOf } from '../../choose/headline.ts'
import type { Item } from '../../matter/matter.ts'
import { headingOf, type SiteForm } from '../form.ts'

const CSS = `
.prose{display:grid;gap:calc(var(--gap)*.35) calc(var(--gut)*1.5)}
.prose>div{display:grid;gap:.9rem;max-width:42rem;min-width:0;align-content:start}
.prose p{white-space:pre-line}
.prose.one>div:not(:has(h3))>p:first-child:not(.big){font-size:var(--t1);line-height:1.45}
.prose.said>div{max-width:none}
.prose.said .big{font:var(--hw) var(--t2)/1.35 var(--head);letter-spacing:var(--tr);max-width:32em;text-wrap:balance}
@media (min-width:64rem){:is(.l-classic,.l-showcase,.l-editorial) .prose.pair{grid-template-columns:repeat(2,minmax(0,1fr))}
.l-editorial .prose.long>div{display:block;columns:2;column-gap:calc(var(--gut)*1.5);max-width:none}.l-editorial .prose.long p+p{margin-top:.9rem}.l-editorial .prose.long>div>p:first-child{font-size:inherit;line-height:inherit}}
.l-atelier .prose.said{text-align:center}.l-atelier .prose.said p{margin-inline:auto}
`

/** Letters up to which a passage without a title is a sentence that is said, and from which it is long. */
const SAID_MOST = 200
const LONG = 900
/** Letters up to which passages with titles stand side by side. */
const PAIRED_MOST = 600

/** An empty line stands between two paragraphs. */
const paragraphsOf = (text: string): string[] => text.split(/\n\s*\n/).filter((one) => one.trim() !== '')

const lettersOf = ({ text = '' }: Item): number => lengthOf(text)

const SAID = ' one said'

const formOf = (items: readonly Item[]): string => {
  const [first] = items
  if (items.length === 1 && first !== undefined) {
    if (first.title === '' && lettersOf(first) <= SAID_MOST) return SAID
    return lettersOf(first) > LONG ? ' one long' : ' one'
  }
  const isPair = items.length % 2 === 0 && items.every((one) => one.title !== '' && lettersOf(one) <= PAIRED_MOST)
  return isPair ? ' pair' : ''
}

export const prose: SiteForm = {
  css: CSS,
  view: (_frame, { items, level }) => {
    const form = formOf(items)
    const isSaid = form === SAID
    return html`<div class="prose${form}">${items.map(
      (item) =>
        html`<div>${headingOf(item, level)}${paragraphsOf(item.text ?? '').map((text, at) => html`<p${isSaid && at === 0 && html` class="big"`}>${text}</p>`)}</div>`,
    )}</div>`
  },
}
