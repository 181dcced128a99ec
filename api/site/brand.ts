/** The colours and fonts of an account, and the catalogue of what there is to choose from. */

import { toCamel, toRest } from '../../crds/kernel/rest.ts'
import {
  type BrandTokens,
  brandFaults,
  brandOf,
  brandTokens as brandSchema,
  FONT_PAIRS,
} from '../../crds/site/content/brand.ts'
import { LANGS, LAYOUTS, SECTIONS, TEMPLATES, type Template } from '../../crds/site/content/content.ts'
import { SITE } from '../../crds/site/kind.ts'
import { refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { SiteNeeds } from './needs.ts'

/** What a template is, in a sentence (rules/site.md#templates). */
const TEMPLATE_WORDS: Record<Template, string> = {
  studio: 'Neutral grotesk on white, one accent.',
  lumen: 'Ivory and gold, a light serif, large images.',
}
const LAYOUT_WORDS: Record<(typeof LAYOUTS)[number], string> = {
  classic: 'The trusted shop front: headline left, image right, alternating bands.',
  editorial: 'A magazine: oversized headline, standfirst, an asymmetric grid.',
}

const templateFor = ({ caller }: ApiRequest): Template =>
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
  const { tokens: used, clamped } = brandOf(templateFor(request), tokens)
  return { status: 200, body: { tokens: toRest(brandSchema, used), clamped } }
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
    font_pairs: FONT_PAIRS,
    langs: LANGS,
    sections: SECTIONS,
  },
})
