/** The catalogue for people: each trade with the pair that was made for it, then every template in every layout. */
import type { Layout, Template } from '../../../crds/site/content/content.ts'
import { LAYOUTS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import {
  isRecommended,
  LAYOUT_WORDS,
  type PresetChoice,
  presetChoices,
  TEMPLATE_WORDS,
} from '../../../crds/site/content/presets/choices.ts'
import { SHEET } from '../../../crds/site/render/templates/thumbnail/scenes.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { page } from '../../page/page.ts'
import { CHOOSING_SHEET } from './choosing-style.ts'

type PathOf = (layout: Layout, template: Template) => string

const drawing = (pathOf: PathOf, layout: Layout, template: Template): Html =>
  html`<img src="${pathOf(layout, template)}" width="${SHEET.width}" height="${SHEET.height}" loading="lazy" alt="${layout} in ${template}">`

const trade = (pathOf: PathOf, { id, preset, template, layout }: PresetChoice): Html =>
  html`<li>${drawing(pathOf, layout, template)}<h3><code>${id}</code></h3><p>${preset.description}</p><p class="sign">${layout}, ${template}: ${preset.order.join(', ')}</p></li>`

const brand = (pathOf: PathOf, template: Template): Html =>
  html`<section id="${template}"><h2>${template}</h2><p>${TEMPLATE_WORDS[template]}</p><ul class="sheets">${LAYOUTS.map(
    (layout) =>
      html`<li${isRecommended(layout, template) && html` class="best"`}>${drawing(pathOf, layout, template)}<span>${layout}${isRecommended(layout, template) && html` <span class="sign">recommended</span>`}</span></li>`,
  )}</ul></section>`

export const cataloguePage = (pathOf: PathOf): string =>
  page({
    title: 'Templates and layouts – Bottega',
    sheet: CHOOSING_SHEET,
    layout: 'wide',
    isIndexed: true,
    main: html`<header><h1>Templates and layouts</h1><p>A layout says where things stand, a template how they are joined, framed and voiced: any of the ${LAYOUTS.length} goes with any of the ${TEMPLATES.length}. A preset brings a trade's sections and words, and the pair that was made for it.</p></header>
<section><h2>Presets</h2><ul class="cards">${presetChoices().map((choice) => trade(pathOf, choice))}</ul></section>
<section><h2>Layouts</h2><dl class="words">${LAYOUTS.map((layout) => html`<dt>${layout}</dt><dd>${LAYOUT_WORDS[layout]}</dd>`)}</dl></section>
<nav aria-label="Templates"><ul class="kinds">${TEMPLATES.map((template) => html`<li><a href="#${template}">${template}</a></li>`)}</ul></nav>
${TEMPLATES.map((template) => brand(pathOf, template))}`,
  })
