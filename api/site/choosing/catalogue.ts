/** What there is to choose from: as JSON for programs, as a page for people, and each layout in each template as a drawing. */
import { toRest } from '../../../crds/kernel/rest.ts'
import { brandOf, brandTokens as brandSchema, FONT_PAIRS } from '../../../crds/site/content/brand/brand.ts'
import type { Layout, Template } from '../../../crds/site/content/content.ts'
import { labels as labelsSchema } from '../../../crds/site/content/labels.ts'
import { LANGS, LAYOUTS, SECTIONS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import {
  LAYOUT_FOR,
  LAYOUT_WORDS,
  presetChoices,
  TEMPLATE_FOR,
  TEMPLATE_WORDS,
} from '../../../crds/site/content/presets/choices.ts'
import { thumbnailOf } from '../../../crds/site/render/templates/thumbnail/thumbnail.ts'
import { policyOf, SELF } from '../../../crds/text/policy.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { makePageAnswer } from '../../page/answer.ts'
import { showSheet } from '../../page/sheet.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { cataloguePage } from './catalogue-page.ts'
import { CHOOSING_SHEET } from './choosing-style.ts'

/** As long as a drawing and the list are kept by whoever asked. */
const CATALOGUE_SECONDS = 300
const DRAWING_SECONDS = 3600

export const thumbnailPath = (layout: Layout, template: Template): string => `/templates/${template}/${layout}.svg`

const catalogueOf = ({ publicUrl }: Pick<SiteNeeds, 'publicUrl'>) => {
  const thumbnail = (layout: Layout, template: Template) => `${publicUrl}${thumbnailPath(layout, template)}`
  return {
    templates: TEMPLATES.map((id) => {
      const { tokens, palette } = brandOf(id, null)
      return {
        id,
        description: TEMPLATE_WORDS[id],
        layout: LAYOUT_FOR[id],
        thumbnail: thumbnail(LAYOUT_FOR[id], id),
        thumbnails: Object.fromEntries(LAYOUTS.map((layout) => [layout, thumbnail(layout, id)])),
        tokens: toRest(brandSchema, tokens),
        palette,
      }
    }),
    layouts: LAYOUTS.map((id) => ({
      id,
      description: LAYOUT_WORDS[id],
      template: TEMPLATE_FOR[id],
      thumbnail: thumbnail(id, TEMPLATE_FOR[id]),
    })),
    presets: presetChoices().map(({ id, preset: { description, order, words }, template, layout }) => ({
      id,
      description,
      template,
      layout,
      thumbnail: thumbnail(layout, template),
      sections: order,
      labels: Object.fromEntries(LANGS.map((lang) => [lang, toRest(labelsSchema, words[lang].labels)])),
    })),
    font_pairs: FONT_PAIRS,
    langs: LANGS,
    sections: SECTIONS,
  }
}

const pageAnswer = makePageAnswer({
  policy: policyOf({ styles: [SELF], images: [SELF] }),
  referrer: 'same-origin',
})

const wantsPage = ({ headers }: ApiRequest): boolean => /\btext\/html\b/i.test(headers.accept ?? '')

const kept = { 'cache-control': `public, max-age=${CATALOGUE_SECONDS}`, vary: 'accept' }

export const listTemplates = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> =>
  wantsPage(request)
    ? pageAnswer(200, cataloguePage(thumbnailPath), kept)
    : { status: 200, headers: kept, body: catalogueOf(deps) }

const showThumbnail = async (_deps: object, { params }: ApiRequest): Promise<Answer> => {
  const template = TEMPLATES.find((one) => one === params.template)
  const layout = LAYOUTS.find((one) => one === params.layout)
  if (template === undefined || layout === undefined)
    throw new Problem('NOT_FOUND', 'There is no such layout or template.')
  return {
    status: 200,
    bytes: Buffer.from(thumbnailOf(layout, template), 'utf8'),
    headers: {
      'content-type': 'image/svg+xml',
      'cache-control': `public, max-age=${DRAWING_SECONDS}`,
      'content-security-policy': policyOf({}),
      'cross-origin-resource-policy': 'cross-origin',
    },
  }
}

const open = { hidden: true, method: 'GET', scope: { kind: 'public', limit: 'file' } } as const

export const catalogueRoutes: Route<SiteNeeds>[] = [
  {
    ...open,
    path: CHOOSING_SHEET.path,
    summary: 'Style of the pages to choose from',
    handle: showSheet(CHOOSING_SHEET),
  },
  {
    ...open,
    path: '/templates/:template/:layout.svg',
    summary: 'A layout in a template, drawn',
    handle: showThumbnail,
  },
]
