/**
 * POST /api/website/generate: check, take a place under the account's number of sites, store the pictures, write the desire,
 * wait until it is rendered. A repeat of an external_ref is a read, whatever its content: sites are mutable by update
 * (rules/site.md#the-site).
 */
import { limitOf, quotaDay, siteCapDetail } from '../../crds/account/quotas.ts'
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
import { assetsOf, readPictures, type SentAssets, withPicturePlace } from './assets.ts'
import { createCommand, createdAnswer, deleteCommand, isRendered } from './commands.ts'
import { type AskedSite, type Briefed, draftFromBrief, refuseSource } from './drafting/brief.ts'
import type { SiteNeeds } from './needs.ts'
import { locationOf, type ShownSiteRow } from './read.ts'

/** How long a refused creation is waited for to be gone. */
const GONE_MS = 5_000

const knownBy = async (deps: SiteNeeds, account: string, externalRef: string): Promise<ShownSiteRow | undefined> =>
  (await deps.mirror.list({ kind: SITE, account }, { externalRef }, { limit: 1, offset: 0 })).rows[0]

type Asked = Record<string, unknown> & AskedSite & { assets?: SentAssets }
/** `briefed`: what a brief gave; null where content was sent. */
type NewSite = { spec: SiteSpec; assets: SentAssets; known: ShownSiteRow | undefined; briefed: Briefed | null }

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

/** Only who made the site is told of its draft: another call may have been first, with another one. */
const withDraft = (answer: Answer, { draft, warnings }: Briefed): Answer => {
  if (answer.status !== 201) return answer
  const body = answer.body as { warnings: object[] }
  return { ...answer, body: { ...body, draft, warnings: [...warnings, ...body.warnings] } }
}

const make = async (deps: SiteNeeds, request: ApiRequest, name: string, asked: NewSite): Promise<Answer> => {
  const { spec: desired, assets, briefed } = asked
  const whose = { account: desired.account }
  const known = asked.known ?? (await deps.mirror.get(SITE, name, whose))
  if (isRendered(known)) return createdAnswer(known, true)
  let isNew = false
  let written: Pick<SiteSpec, 'content' | 'assets'> = desired
  const act = async () => {
    const { named, sums, store } = await readPictures(desired.content, assets)
    const content = named(desired.content)
    const spec: SiteSpec = { ...desired, content, assets: assetsOf(content, sums) }
    written = spec
    refuseFaults(siteFaults(spec).map((one) => ({ ...one, pointer: restPointer(one.pointer) })))
    const { object, outcome } = await layingReady({
      lay: () => reserveSite(deps, request, name),
      async use() {
        await store(deps)
        // before the resource, so that no drafted site is without
        if (briefed) await deps.provenances.put(name, desired.account, briefed.kept)
        return makeOwn(deps, SITE, { name, spec })
      },
      giveBack: async (reserved) => {
        if (!reserved) return
        await deps.sites.giveBackSite(name)
        await deps.provenances.remove(name)
      },
    })
    isNew = outcome === 'made'
    return { uid: object.metadata.uid, stoodThere: !isNew }
  }
  const pending = { site: { id: name }, ...(briefed && { draft: briefed.draft, warnings: briefed.warnings }) }
  const call = { name, whose, resource: locationOf(name), pending, act }
  const answer = await settle(deps, request, createCommand, call).catch(async (error: unknown) => {
    if (isNew && error instanceof Problem) await undo(deps, name, whose)
    throw withPicturePlace(error, written, (key) => Object.hasOwn(assets, key))
  })
  return briefed ? withDraft(answer, briefed) : answer
}

/** No question is asked for a site that may not be made. A place is taken later, once there is a draft. */
const refuseFull = async ({ sites, now }: SiteNeeds, { caller }: ApiRequest): Promise<void> => {
  const limit = limitOf('sites', caller.profile)
  const used = await sites.used(caller.account, quotaDay(now()))
  if (used.sites >= limit) throw new Problem('SITE_QUOTA', `${siteCapDetail(caller.account, limit)}.`)
}

/** What is sent as content, or what the brief gives. A site that is known by its reference asks no model. */
const contentAsked = async (
  deps: SiteNeeds,
  request: ApiRequest,
  { content, brief, lang, preset }: AskedSite,
  known: ShownSiteRow | undefined,
): Promise<{ content: unknown; briefed: Briefed | null }> => {
  if (brief === undefined) {
    const meta = (content as { meta?: object } | undefined)?.meta
    return { content: lang === undefined ? content : { ...content, meta: { lang, ...meta } }, briefed: null }
  }
  if (known) return { content: known.view.content, briefed: null }
  await refuseFull(deps, request)
  const briefed = await draftFromBrief(deps, request.caller, {
    brief,
    ...(lang && { lang }),
    ...(preset && { preset }),
  })
  return { content: briefed.draft, briefed }
}

/** One that is known by the reference keeps its name, whatever it is. */
export const generateSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const { assets = {}, brief: _brief, lang: _lang, ...body } = request.body as Asked
  const asked = request.body as AskedSite
  refuseSource(asked)
  const ref = body.external_ref
  const known = typeof ref === 'string' ? await knownBy(deps, account, ref) : undefined
  const { content, briefed } = await contentAsked(deps, request, asked, known)
  const spec = toSpec<SiteSpec>(SITE, { ...body, content }, { account })
  const names = known ? () => known.name : namesFor(deps.keys, 'site', request, spec.externalRef)
  return underOwnName(names, (name) => make(deps, request, name, { spec, assets, known, briefed }))
}
