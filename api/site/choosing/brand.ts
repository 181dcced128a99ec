/** The colours and fonts of an account, which stand over those of any template. */
import { toCamel, toRest } from '../../../crds/kernel/rest.ts'
import {
  type BrandTokens,
  brandFaults,
  brandOf,
  brandTokens as brandSchema,
} from '../../../crds/site/content/brand/brand.ts'
import { lockWarnings } from '../../../crds/site/content/brand/lock.ts'
import type { Template } from '../../../crds/site/content/content.ts'
import { TEMPLATES } from '../../../crds/site/content/meta.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { SiteNeeds } from '../needs.ts'

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
