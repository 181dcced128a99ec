/** The page on which an owner sees the own content in every layout, with the call that chooses each. */
import type { Layout, Template } from '../../../crds/site/content/content.ts'
import { TEMPLATES } from '../../../crds/site/content/meta.ts'
import { LAYOUT_WORDS, TEMPLATE_WORDS } from '../../../crds/site/content/presets/choices.ts'
import type { PictureCount } from '../../../crds/site/publishing/pictures.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { page } from '../../page/page.ts'
import { CHOOSING_SHEET } from './choosing-style.ts'

export type VariantsFacts = {
  site: string
  company: string
  /** Of this page. */
  path: string
  lock: Template | null
  template: Template
  current: { layout: Layout; template: Template }
  shown: readonly { layout: Layout; template: Template; recommended: boolean; body: object }[]
  /** Of what is asked for; a view of before counts none. */
  pictures: PictureCount
  /** What it is rendered from is on record. */
  isReady: boolean
}

const templates = ({ path, lock, template }: VariantsFacts): Html =>
  lock !== null
    ? html`<p class="sign">The account keeps to the template ${lock}.</p>`
    : html`<nav aria-label="Templates"><ul class="kinds">${TEMPLATES.map(
        (one) =>
          html`<li><a href="${path}?template=${one}"${one === template && html` aria-current="page"`}>${one}</a></li>`,
      )}</ul></nav>`

/** Nothing is said once all are there. */
const underWay = ({ pictures: { ready, total } }: VariantsFacts): Html | null =>
  ready < total
    ? html`<p class="note">${ready} of ${total} pictures have all their widths. The others are made just now, and are shown in one quick width until then.</p>`
    : null

const variant = (
  { path, site, current, company }: VariantsFacts,
  { layout, template, recommended, body }: VariantsFacts['shown'][number],
): Html => {
  const address = `${path}/${layout}/${template}/`
  const isCurrent = current.layout === layout && current.template === template
  const signs = [...(isCurrent ? ['as it is now'] : []), ...(recommended ? [`recommended with ${template}`] : [])]
  return html`<li><h2>${layout}${signs.length > 0 && html` <span class="sign">${signs.join(', ')}</span>`}</h2>
<p class="sign">${LAYOUT_WORDS[layout]}</p>
<div class="frame"><iframe src="${address}" title="${company} in ${layout}" loading="lazy" sandbox="" tabindex="-1"></iframe></div>
<p><a href="${address}">Open it whole</a></p>
<details><summary>Choose it</summary><pre><code>POST /api/website/${site}/update
${JSON.stringify(body)}</code></pre></details></li>`
}

export const variantsPage = (facts: VariantsFacts): string =>
  page({
    title: `${facts.company} in all layouts`,
    sheet: CHOOSING_SHEET,
    layout: 'wide',
    main: html`<header><h1>${facts.company} in all layouts</h1><p>${TEMPLATE_WORDS[facts.template]} The words and pictures are the site's own, as they were rendered last; nothing here is live, and nothing changes until one is chosen.</p></header>
${underWay(facts)}
${templates(facts)}
${
  facts.isReady
    ? html`<ul class="frames">${facts.shown.map((one) => variant(facts, one))}</ul>`
    : html`<p class="note">The site was rendered before there were variants: any update of it shows them.</p>`
}`,
  })
