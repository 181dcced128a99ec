/**
 * POST /api/website/generate: check, take a place under the account's number of sites, store the pictures, write the desire,
 * wait until it is rendered. A repeat of an external_ref is a read, whatever its content: sites are mutable by update
 * (rules/site.md#the-site).
 */
import { limitOf, siteCapDetail } from '../../crds/account/quotas.ts'
import { restPointer, toSpec } from '../../crds/kernel/rest.ts'
import { siteFaults } from '../../crds/site/faults.ts'
import { SITE } from '../../crds/site/kind.ts'
import type { SiteSpec } from '../../crds/site/schema.ts'
import { waitFor } from '../command/look.ts'
import { makeOwn, underOwnName } from '../command/make.ts'
import { namesFor } from '../command/name.ts'
import type { Whose } from '../command/own.ts'
import { removeOwn } from '../command/resource.ts'
import { settle } from '../command/settle.ts'
import { layingReady } from '../command/written.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { type SentAssets, takeAssets, withPicturePlace } from './assets.ts'
import { createCommand, createdAnswer, deleteCommand, isRendered } from './commands.ts'
import type { SiteNeeds } from './needs.ts'
import { locationOf, type ShownSiteRow } from './read.ts'

/** How long a refused creation is waited for to be gone. */
const GONE_MS = 5_000

const knownBy = async (deps: SiteNeeds, account: string, externalRef: string): Promise<ShownSiteRow | undefined> =>
  (await deps.mirror.list({ kind: SITE, account }, { externalRef }, { limit: 1, offset: 0 })).rows[0]

type Asked = Record<string, unknown> & { assets?: SentAssets }
type NewSite = { spec: SiteSpec; assets: SentAssets; known: ShownSiteRow | undefined }

/** Refuses, or takes a place for the site. @returns whether it is new */
const reserveSite = async (deps: SiteNeeds, { caller }: ApiRequest, name: string): Promise<boolean> => {
  const limit = limitOf('sites', caller.profile)
  const outcome = await deps.sites.takeSite(name, caller.account, limit)
  if (outcome === 'refused') throw new Problem('SITE_QUOTA', `${siteCapDetail(caller.account, limit)}.`)
  return outcome === 'taken'
}

/** Nothing of a creation that was refused stays: its reference is free for the corrected one. */
const undo = async (deps: SiteNeeds, name: string, whose: Whose): Promise<void> => {
  const row = await deps.mirror.get(SITE, name, whose)
  if (!row?.view.stalled) return
  const { uid } = row
  await waitFor(deps, {
    ...deleteCommand,
    name,
    whose,
    waitMs: GONE_MS,
    async act() {
      await removeOwn(deps, SITE, { name, uid })
      return { uid }
    },
    conclude: async () => true,
  })
}

const make = async (deps: SiteNeeds, request: ApiRequest, name: string, asked: NewSite): Promise<Answer> => {
  const { spec: desired, assets } = asked
  const whose = { account: desired.account }
  const known = asked.known ?? (await deps.mirror.get(SITE, name, whose))
  if (isRendered(known)) return createdAnswer(known, true)
  let isNew = false
  let written: Pick<SiteSpec, 'content' | 'assets'> = desired
  const act = async () => {
    const taken = takeAssets(desired.content, assets)
    const spec: SiteSpec = { ...desired, content: taken.content, assets: taken.assets }
    written = spec
    refuseFaults(siteFaults(spec).map((one) => ({ ...one, pointer: restPointer(one.pointer) })))
    const { object, outcome } = await layingReady({
      lay: () => reserveSite(deps, request, name),
      async use() {
        await taken.store(deps)
        return makeOwn(deps, SITE, { name, spec })
      },
      giveBack: async (reserved) => reserved && deps.sites.giveBackSite(name),
    })
    isNew = outcome === 'made'
    return { uid: object.metadata.uid, stoodThere: !isNew }
  }
  const call = { name, whose, resource: locationOf(name), pending: { site: { id: name } }, act }
  return settle(deps, request, createCommand, call).catch(async (error: unknown) => {
    if (isNew && error instanceof Problem) await undo(deps, name, whose)
    throw withPicturePlace(error, written, (key) => Object.hasOwn(assets, key))
  })
}

/** One that is known by the reference keeps its name, whatever it is. */
export const generateSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const { assets = {}, ...body } = request.body as Asked
  const spec = toSpec<SiteSpec>(SITE, body, { account })
  const ref = spec.externalRef
  const known = ref === undefined ? undefined : await knownBy(deps, account, ref)
  const names = known ? () => known.name : namesFor(deps.keys, 'site', request, ref)
  return underOwnName(names, (name) => make(deps, request, name, { spec, assets, known }))
}
