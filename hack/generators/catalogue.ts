import type { Layout, SiteLang, Template } from '../../crds/site/content/content.ts'
import { LANGS, LAYOUTS, TEMPLATES } from '../../crds/site/content/meta.ts'
import { PRESETS, type PresetId } from '../../crds/site/content/presets/presets.ts'
import { type Html, html, rawText, textOf } from '../../crds/text/html.ts'

/** The page of pictures that `hack/catalogue` writes. What is shown is chosen by radio buttons and style alone. */

export type CatalogueEntry = {
  layout: Layout
  template: Template
  lang: SiteLang
  /** Null for a business of its own. */
  preset: PresetId | null
  pictures: { file: string; width: number; height: number }[]
}

const FILTERS = { layout: LAYOUTS, template: TEMPLATES, lang: LANGS, preset: ['none', ...PRESETS] } as const
type Filter = keyof typeof FILTERS
const KINDS = Object.keys(FILTERS) as Filter[]

const idOf = (kind: Filter, value: string): string => `${kind}-${value}`

const RULES = `
body{margin:1rem;font:15px/1.4 system-ui,sans-serif;background:#eceef0;color:#16191f}
fieldset{border:0;padding:0;margin:0 0 .25rem;display:flex;flex-wrap:wrap;gap:.25rem .9rem;align-items:center}
legend{float:left;width:6rem;font-weight:600}
label{display:inline-flex;align-items:center;min-height:2rem;gap:.3rem}
.all{display:flex;flex-wrap:wrap;gap:1.5rem 1rem;margin-top:1.5rem}
figure{margin:0;display:grid;grid-template-columns:auto auto auto;gap:.4rem;align-items:start}
figcaption{grid-column:1/-1}
img{display:block;box-shadow:0 1px 4px #0003;background:#fff}
`

const hidingRules = (): string =>
  KINDS.flatMap((kind) =>
    FILTERS[kind].map((value) => {
      const id = idOf(kind, value)
      return `body:has(#${id}:checked) figure:not(.${id}){display:none}`
    }),
  ).join('\n')

const choice = (kind: Filter): Html =>
  html`<fieldset><legend>${kind}</legend><label><input type="radio" name="${kind}" checked>all</label>${FILTERS[
    kind
  ].map(
    (value) => html`<label><input type="radio" name="${kind}" id="${idOf(kind, value)}">${value}</label>`,
  )}</fieldset>`

const shown = ({ layout, template, lang, preset, pictures }: CatalogueEntry): Html => {
  const said = [layout, template, lang, ...(preset === null ? [] : [preset])].join(' · ')
  const classes = [
    idOf('layout', layout),
    idOf('template', template),
    idOf('lang', lang),
    idOf('preset', preset ?? 'none'),
  ].join(' ')
  return html`<figure class="${classes}"><figcaption>${said}</figcaption>${pictures.map(
    ({ file, width, height }) =>
      html`<img src="${file}" width="${width}" height="${height}" loading="lazy" alt="${said}">`,
  )}</figure>`
}

export const cataloguePage = (entries: readonly CatalogueEntry[]): string =>
  textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Layouts, templates, languages and presets</title>
<style>${rawText(`${RULES}${hidingRules()}`)}</style>
</head>
<body>
<h1>${entries.length} pairs</h1>
<form>${KINDS.map(choice)}</form>
<div class="all">${entries.map(shown)}</div>
</body>
</html>
`)
