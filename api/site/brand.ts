/** The colours and fonts of an account, and the catalogue of what there is to choose from. */
import assert from 'node:assert/strict'
import { toCamel, toRest } from '../../crds/kernel/rest.ts'
import {
  type BrandTokens,
  brandFaults,
  brandOf,
  brandTokens as brandSchema,
  FONT_PAIRS,
} from '../../crds/site/content/brand.ts'
import type { Template } from '../../crds/site/content/content.ts'
import { layoutOf, templateFor } from '../../crds/site/content/expand.ts'
import { labels as labelsSchema } from '../../crds/site/content/labels.ts'
import { lockWarnings } from '../../crds/site/content/lock.ts'
import { LANGS, LAYOUTS, SECTIONS, TEMPLATES } from '../../crds/site/content/meta.ts'
import { PRESET_VERSION, PRESETS, presetOf } from '../../crds/site/content/presets/presets.ts'
import { SITE } from '../../crds/site/kind.ts'
import { refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { SiteNeeds } from './needs.ts'

/** What a template is, in a sentence (rules/site.md#templates). */
const TEMPLATE_WORDS: Record<Template, string> = {
  studio: 'Neutral grotesk on white, one accent.',
  harbor: 'Navy and sand, serif heads, double rules.',
  ledger: 'Sober business, tabular figures, everything on a line.',
  garden: 'Greens, soft corners, tinted fields.',
  craft: 'Warm paper, slab heads, a stitched line.',
  clinic: 'Cool, generous, very legible.',
  market: 'A bright shelf: tabs and price badges.',
  voltage: 'Dark and technical, a fine grid, mono figures.',
  lumen: 'Ivory and gold, a light serif, large images.',
  runway: 'Black and white, extreme scale, pictures that touch.',
}
const LAYOUT_WORDS: Record<(typeof LAYOUTS)[number], string> = {
  classic: 'The trusted shop front: headline left, image right, alternating bands.',
  editorial: 'A magazine: oversized headline, standfirst, an asymmetric grid.',
  showcase: 'The product is the hero: a strip, shelves, compared side by side.',
  monolith: 'One column, one voice: type, black bars, numbered sections.',
  atelier: 'A maker’s table: centred, gallery first, much air.',
  sidenav: 'A catalogue: a spine with pages and sections, rows and tables.',
  narrative: 'A story told by scrolling: full-height chapters.',
}

const lockedTemplate = ({ caller }: ApiRequest): Template =>
  TEMPLATES.find((template) => template === caller.profile.template_lock) ?? 'studio'

/** Tokens replace those of before. What is live stays as it is; every other rendering of the account's sites is made anew. */
export const putBrandTokens = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const given = Object.entries(request.body as object).flatMap(([name, value]) =>
    value === null ? [] : [[toCamel(name), value]],
  )
  const tokens: BrandTokens = Object.fromEntries(given)
  refuseFaults(brandFaults(tokens))
  await deps.sites.setBrand(account, given.length === 0 ? null : tokens)
  for (const site of await deps.sites.sitesOf(account)) await deps.wake(SITE, site)
  const { tokens: used, clamped } = brandOf(lockedTemplate(request), tokens)
  const lock = request.caller.profile.template_lock
  const warnings = lock === null ? [] : lockWarnings({ lock, template: null, brand: tokens })
  return { status: 200, body: { tokens: toRest(brandSchema, used), clamped, warnings } }
}

export const listTemplates = async (): Promise<Answer> => ({
  status: 200,
  headers: { 'cache-control': 'public, max-age=300' },
  body: {
    templates: TEMPLATES.map((id) => {
      const { tokens, palette } = brandOf(id, null)
      return { id, description: TEMPLATE_WORDS[id], tokens: toRest(brandSchema, tokens), palette }
    }),
    layouts: LAYOUTS.map((id) => ({ id, description: LAYOUT_WORDS[id] })),
    presets: PRESETS.map((id) => {
      const preset = presetOf(id, PRESET_VERSION)
      assert(preset !== null, 'every preset has the newest version')
      const { description, order, words } = preset
      const labels = Object.fromEntries(LANGS.map((lang) => [lang, toRest(labelsSchema, words[lang].labels)]))
      return { id, description, template: templateFor(preset), layout: layoutOf(preset), sections: order, labels }
    }),
    font_pairs: FONT_PAIRS,
    langs: LANGS,
    sections: SECTIONS,
  },
})
