/**
 * POST /api/website/generate: check, take a place under the account's number of sites, store the pictures, write the desire,
 * wait until it is rendered. A repeat of an external_ref is a read, whatever its content: sites are mutable by update
 * (spec/2 "Site generate payload").
 */
import { isAlreadyExists, isNotFound } from '../../controllers/runtime/errors.ts'
import type { MirrorRow } from '../../controllers/runtime/mirror.ts'
import { limitOf, siteCapDetail } from '../../crds/account/quotas.ts'
import { GROUP, VERSION } from '../../crds/object.ts'
import { restPointer, toSpec } from '../../crds/rest.ts'
import { siteFaults } from '../../crds/site/faults.ts'
import { SITE } from '../../crds/site/kind.ts'
import type { SiteSpec } from '../../crds/site/schema.ts'
import type { SiteView } from '../../crds/site/view.ts'
import type { Deps } from '../deps.ts'
import { nameFor } from '../name.ts'
import { Problem, refuseFaults } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'
import { accepted, refuseStalled, wantsAsync } from '../verdict.ts'
import { type SentAssets, takeAssets } from './assets.ts'
import { locationOf } from './read.ts'

/** How long a refused creation is waited for to be gone. */
const GONE_MS = 5_000

const answerOf = (row: MirrorRow, replayed: boolean): Answer => {
  const site = row.view as SiteView
  return {
    status: replayed ? 200 : 201,
    headers: { location: locationOf(site.id) },
    body: { site, warnings: site.warnings, replayed },
  }
}

const isRendered = (row: MirrorRow | undefined): row is MirrorRow => {
  const view = row?.view as SiteView | undefined
  return view !== undefined && (view.digest !== null || view.stalled !== null)
}

const knownBy = async (deps: Deps, account: string, externalRef: string): Promise<MirrorRow | undefined> =>
  (await deps.mirror.list({ kind: SITE.kind, account }, { externalRef }, { limit: 1, offset: 0 })).rows[0]

type Asked = Record<string, unknown> & { assets?: SentAssets }

/** Refuses, or takes a place for the site. @returns whether it is new */
const takePlace = async (deps: Deps, { caller }: ApiRequest, name: string): Promise<boolean> => {
  const limit = limitOf('sites', caller.profile)
  const outcome = await deps.sites.takeSite(name, caller.account, limit)
  if (outcome === 'refused') throw new Problem('SITE_QUOTA', `${siteCapDetail(caller.account, limit)}.`)
  return outcome === 'taken'
}

const create = async (deps: Deps, name: string, spec: SiteSpec): Promise<'made' | 'stood there'> => {
  const metadata = { name, namespace: deps.namespace }
  try {
    await deps.kube.create(SITE, { apiVersion: `${GROUP}/${VERSION}`, kind: SITE.kind, metadata, spec })
    return 'made'
  } catch (error) {
    if (isAlreadyExists(error)) return 'stood there'
    throw error
  }
}

/** Nothing of a creation that was refused stays: its reference is free for the corrected one. */
const undo = async (deps: Deps, row: MirrorRow, gone: () => Promise<unknown>): Promise<void> => {
  const ref = { namespace: deps.namespace, name: row.name }
  await deps.kube.delete(SITE, ref, { uid: row.uid }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
  await gone()
}

export const generateSite = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const { assets = {}, ...body } = request.body as Asked
  const asked = toSpec<SiteSpec>(SITE, body, { account })
  const ref = asked.externalRef
  const name = nameFor('site', request, ref)
  const watched = deps.waiter.watch(SITE.kind, name)
  try {
    const known = ref === undefined ? await deps.mirror.get(SITE.kind, name) : await knownBy(deps, account, ref)
    if (isRendered(known)) return answerOf(known, true)
    const taken = takeAssets(asked.content, assets)
    const spec: SiteSpec = { ...asked, content: taken.content, assets: taken.assets }
    refuseFaults(siteFaults(spec).map((one) => ({ ...one, pointer: restPointer(one.pointer) })))
    const isNew = await takePlace(deps, request, name)
    await taken.store(deps)
    const outcome = await create(deps, name, spec).catch(async (error) => {
      if (isNew) await deps.sites.giveBackSite(name)
      throw error
    })
    const location = locationOf(name)
    if (wantsAsync(request)) return accepted(location, { site: { id: name } })
    const found = await watched.until(isRendered)
    if (!found?.row) return accepted(location, { site: { id: name } })
    if (outcome === 'made' && (found.row.view as SiteView).stalled !== null) {
      await undo(deps, found.row, () => watched.until((row) => row === undefined, GONE_MS))
    }
    refuseStalled(found.row)
    return answerOf(found.row, outcome === 'stood there')
  } finally {
    watched.leave()
  }
}
