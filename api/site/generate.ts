/**
 * POST /api/website/generate: check, take a place under the account's number of sites, store the pictures, write the desire,
 * wait until it is rendered. A repeat of an external_ref is a read, whatever its content: sites are mutable by update
 * (rules/site.md#the-site).
 */
import { isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { limitOf, siteCapDetail } from '../../crds/account/quotas.ts'
import { restPointer, toSpec } from '../../crds/kernel/rest.ts'
import { siteFaults } from '../../crds/site/faults.ts'
import { SITE } from '../../crds/site/kind.ts'
import type { SiteSpec } from '../../crds/site/schema.ts'
import type { SiteView } from '../../crds/site/view.ts'
import { makeOwn, underOwnName } from '../command/make.ts'
import { namesFor } from '../command/name.ts'
import { accepted, refuseStalled, wantsAsync } from '../command/verdict.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { type SentAssets, takeAssets } from './assets.ts'
import { locationOf } from './read.ts'

/** How long a refused creation is waited for to be gone. */
const GONE_MS = 5_000

const answerOf = (row: MirrorRow<SiteView>, replayed: boolean): Answer => {
  const site = row.view
  return {
    status: replayed ? 200 : 201,
    headers: { location: locationOf(site.id) },
    body: { site, warnings: site.warnings, replayed },
  }
}

const isRendered = (row: MirrorRow<SiteView> | undefined): row is MirrorRow<SiteView> => {
  const view = row?.view
  return view !== undefined && (view.digest !== null || view.stalled !== null)
}

const knownBy = async (deps: Deps, account: string, externalRef: string): Promise<MirrorRow<SiteView> | undefined> =>
  (await deps.mirror.list({ kind: SITE, account }, { externalRef }, { limit: 1, offset: 0 })).rows[0]

type Asked = Record<string, unknown> & { assets?: SentAssets }
type Asking = { spec: SiteSpec; assets: SentAssets; known: MirrorRow<SiteView> | undefined }

/** Refuses, or takes a place for the site. @returns whether it is new */
const reserveSite = async (deps: Deps, { caller }: ApiRequest, name: string): Promise<boolean> => {
  const limit = limitOf('sites', caller.profile)
  const outcome = await deps.sites.takeSite(name, caller.account, limit)
  if (outcome === 'refused') throw new Problem('SITE_QUOTA', `${siteCapDetail(caller.account, limit)}.`)
  return outcome === 'taken'
}

/** Nothing of a creation that was refused stays: its reference is free for the corrected one. */
const undo = async (deps: Deps, row: MirrorRow<SiteView>, gone: () => Promise<unknown>): Promise<void> => {
  const ref = { namespace: deps.namespace, name: row.name }
  await deps.kube.delete(SITE, ref, { uid: row.uid }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
  await gone()
}

const make = async (deps: Deps, request: ApiRequest, name: string, asked: Asking): Promise<Answer> => {
  const { spec: desired, assets } = asked
  const whose = { account: desired.account }
  const watched = deps.waiter.watch(SITE, name, whose)
  try {
    const known = asked.known ?? (await deps.mirror.get(SITE, name, whose))
    if (isRendered(known)) return answerOf(known, true)
    const taken = takeAssets(desired.content, assets)
    const spec: SiteSpec = { ...desired, content: taken.content, assets: taken.assets }
    refuseFaults(siteFaults(spec).map((one) => ({ ...one, pointer: restPointer(one.pointer) })))
    const isNew = await reserveSite(deps, request, name)
    await taken.store(deps)
    const { outcome } = await makeOwn(deps, SITE, { name, spec }).catch(async (error) => {
      if (isNew) await deps.sites.giveBackSite(name)
      throw error
    })
    const location = locationOf(name)
    if (wantsAsync(request)) return accepted(location, { site: { id: name } })
    const found = await watched.until(isRendered)
    if (!found?.row) return accepted(location, { site: { id: name } })
    if (outcome === 'made' && found.row.view.stalled !== null) {
      await undo(deps, found.row, () => watched.until((row) => row === undefined, GONE_MS))
    }
    refuseStalled(found.row)
    return answerOf(found.row, outcome === 'stood there')
  } finally {
    watched.leave()
  }
}

/** One that is known by the reference keeps its name, whatever it is. */
export const generateSite = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const { assets = {}, ...body } = request.body as Asked
  const spec = toSpec<SiteSpec>(SITE, body, { account })
  const ref = spec.externalRef
  const known = ref === undefined ? undefined : await knownBy(deps, account, ref)
  const names = known ? () => known.name : namesFor(deps.keys, 'site', request, ref)
  return underOwnName(names, (name) => make(deps, request, name, { spec, assets, known }))
}
