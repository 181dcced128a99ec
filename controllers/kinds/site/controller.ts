/**
 * The Site's hands: what is looked at, what each step does, and what is mirrored. What to do is decided in crds/site/plan.ts;
 * nothing is decided here.
 */

import { limitOf, nextTurn, publishCapDetail, quotaDay, siteCapDetail } from '../../../crds/account/quotas.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import { claimRefusal } from '../../../crds/names/claim.ts'
import { twinOf } from '../../../crds/names/twin.ts'
import { signatureOf } from '../../../crds/site/content/faults/likeness.ts'
import { generatedKey, homeKey, removedKey, switchKey } from '../../../crds/site/facts.ts'
import { SITE, SITE_FINALIZER } from '../../../crds/site/kind.ts'
import { nameOf } from '../../../crds/site/names/domain.ts'
import { planSite, type SiteStatusFacts, type SiteStep } from '../../../crds/site/plan.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import { viewSite } from '../../../crds/site/view.ts'
import type { SiteWorld } from '../../../crds/site/world.ts'
import { LINK_FACT, type LinkBody, linkKey } from '../../../crds/values/links.ts'
import { Stalled } from '../../base/errors.ts'
import type { Controller } from '../../runtime/contract.ts'
import type { FactVerdict } from '../../store/ledger/facts.ts'
import { rowOf } from '../../store/mirror.ts'
import { sweepMessages } from '../../store/site/messages.ts'
import { makePictureRows } from '../../store/site/pictures.ts'
import { makeSiteReservations, makeSiteRows } from '../../store/site/sites.ts'
import { makeVisitStore } from '../../store/site/visits.ts'
import { keyOfAccount } from '../held.ts'
import { controlOf } from '../kind-controller.ts'
import { makeNameSweep, sweepNames } from '../names/sweep.ts'
import type { SiteDeps } from './deps.ts'
import { makeSiteLooks } from './look.ts'
import { SITE_MAILS } from './mails.ts'
import { tellName } from './names.ts'
import { observeSite } from './observe.ts'
import {
  noteDrift,
  removeFiles,
  removeRoute,
  routeOf,
  setRoute,
  switchFiles,
  takeDown,
  upload,
  verify,
} from './publish.ts'
import { askerOf, makeFontCache, renderPages } from './render.ts'
import { decisionMail, tellReviewers } from './reviewers.ts'

const reserveSite = async (deps: SiteDeps, { metadata, spec }: SiteResource) => {
  const profile = deps.accounts.get(spec.account)
  const limit = profile ? limitOf('sites', profile) : 0
  if ((await deps.reservations.takeSite(metadata.name, spec.account, limit)) !== 'refused') return
  throw new Stalled('SITE_QUOTA', `SITE_QUOTA: ${siteCapDetail(spec.account, limit)}`)
}

const claimName = async (deps: SiteDeps, name: string, { metadata, spec }: SiteResource) => {
  const of = { site: metadata.name, account: spec.account, twin: twinOf(name) }
  const isLabel = spec.subdomain !== undefined
  const refusal = claimRefusal(name, isLabel, await deps.reservations.claimName(name, of, true))
  if (refusal !== null) throw new Stalled(refusal.code, `${refusal.code}: ${refusal.detail}`)
}

const reservePublish = async (deps: SiteDeps, digest: string, { metadata, spec }: SiteResource) => {
  const { account } = spec
  const profile = deps.accounts.get(account)
  const limit = profile ? limitOf('publishes_per_day', profile) : 0
  const now = deps.now()
  const request = { site: metadata.name, digest, account, day: quotaDay(now), limit }
  if ((await deps.reservations.takePublish(request)) !== 'refused') return
  throw new Stalled('PUBLISH_QUOTA', `PUBLISH_QUOTA: ${publishCapDetail(account, limit, now)}`, nextTurn(now))
}

/** The next of each host may go. */
const wakeHeads = async ({ rows, wake }: SiteDeps) => {
  for (const site of await rows.heads()) wake('Site', site)
}

/** Who is refused stands in nobody's way. */
const orderCertificates = async (
  deps: SiteDeps,
  { host, hostnames }: Extract<SiteStep, { do: 'orderCertificates' }>,
  { metadata }: SiteResource,
) => {
  try {
    await deps.hosts.routes(host).order({ owner: routeOf(metadata.name).owner, hostnames })
  } catch (error) {
    if (error instanceof Stalled) {
      await deps.rows.leaveQueue(metadata.name)
      await wakeHeads(deps)
    }
    throw error
  }
}

type Own = { kind: string; key: string; body: object; event?: NewEvent }

const record = async (deps: SiteDeps, { metadata }: SiteResource, { kind, key, body, event }: Own) => {
  const fact = { resource: metadata.name, resourceKind: SITE.kind, key, kind, body: body as Record<string, unknown> }
  const at = deps.now().toISOString()
  await deps.ledger.appendFact({ ...fact, state: 'accepted', at, ...(event && { event }) })
  if (event) deps.onQueued()
}

const decide = async (deps: SiteDeps, step: Extract<SiteStep, { do: 'decide' }>, object: SiteResource) => {
  const { metadata } = object
  const { verdict } = step
  const base = { resource: metadata.name, seq: verdict.seq, at: deps.now().toISOString() }
  const decided: FactVerdict = verdict.accept
    ? { ...base, state: 'accepted', ...(verdict.event && { event: verdict.event }) }
    : { ...base, state: 'refused', refusedCode: verdict.code }
  const said = verdict.accept ? verdict.said : undefined
  if (said) await deps.schedule.decide(decided, decisionMail(deps, object, verdict.seq, said))
  else await deps.ledger.decideFact(decided)
  if (verdict.accept && verdict.event) deps.onQueued()
}

/** Of the name, not of this life of it: what was ended leads to no later site either. */
const recordLink = (
  deps: SiteDeps,
  { purpose, version, isAsked, event }: Extract<SiteStep, { do: 'recordLink' }>,
  object: SiteResource,
) => {
  const body: LinkBody = { purpose, version, by: null, reason: isAsked ? null : 'restored' }
  return record(deps, object, { kind: LINK_FACT, key: linkKey(purpose, version), body, ...(event && { event }) })
}

export const siteController = (deps: SiteDeps): Controller<SiteResource, SiteStatusFacts, SiteWorld, SiteStep> => {
  const fontCache = makeFontCache(deps)
  return {
    kind: SITE,
    finalizer: SITE_FINALIZER,
    observe: (object, signal) => observeSite(deps, object, signal),
    plan: planSite,
    act: {
      reserveSite: (_step, object) => reserveSite(deps, object),
      claimName: ({ name }, object) => claimName(deps, name, object),
      settleHome: ({ host }, object) =>
        record(deps, object, { kind: 'home', key: homeKey(originOf(object.metadata)), body: { host } }),
      askPictures: async ({ sources }, object) => deps.pictures.ask(askerOf(object), sources),
      render: (step, object) => renderPages(deps, fontCache, step, object),
      keepWords: ({ input }, { metadata, spec }) =>
        deps.rows.putWords(metadata.name, spec.account, { input, signature: signatureOf(spec.content) }),
      recordGenerated: ({ event }, object) =>
        record(deps, object, { kind: 'generated', key: generatedKey(originOf(object.metadata)), body: {}, event }),
      submit: ({ key, digest, by, event }, object) =>
        record(deps, object, { kind: 'submit', key, body: { digest, by }, event }),
      decide: (step, object) => decide(deps, step, object),
      tellReviewers: ({ notice }, object) => tellReviewers(deps, notice, object),
      recordLink: (step, object) => recordLink(deps, step, object),
      reservePublish: ({ digest }, object) => reservePublish(deps, digest, object),
      orderCertificates: (step, object) => orderCertificates(deps, step, object),
      enterQueue: ({ host, digest }, { metadata }) =>
        deps.rows.moveQueue(metadata.name, { host, digest, stage: 'waiting' }),
      upload: (step, { metadata }, signal) => upload(deps, step, metadata.name, signal),
      switchFiles: (step, { metadata }, signal) => switchFiles(deps, step, metadata.name, signal),
      setRoute: (step, { metadata }) => setRoute(deps, step, metadata.name),
      markSwitched: async ({ host, digest }, { metadata }) => {
        await deps.rows.moveQueue(metadata.name, { host, digest, stage: 'switched' })
        await wakeHeads(deps)
      },
      verify: (step, object) => verify(deps, step, object),
      noteDrift: async (step, object) => noteDrift(deps, step, object),
      restoreProxy: async ({ host }) => {
        await deps.hosts.routes(host).reconcile()
      },
      recordSwitch: ({ k, to, event }, object) =>
        record(deps, object, { kind: 'switch', key: switchKey(originOf(object.metadata), k), body: { k, to }, event }),
      tellName: (step, object) => tellName(deps, step, object),
      removeRoute: (step, { metadata }) => removeRoute(deps, step, metadata.name),
      takeDown: (step, { metadata }) => takeDown(deps, step, metadata.name),
      leaveQueue: async (_step, { metadata }) => {
        await deps.rows.leaveQueue(metadata.name)
        await wakeHeads(deps)
      },
      removeFiles: async (step, object, signal) => {
        await removeFiles(deps, step, object.metadata.name, signal)
        await record(deps, object, { kind: 'removed', key: removedKey(originOf(object.metadata)), body: {} })
      },
      releaseNames: ({ keep, spare }, { metadata }) => deps.rows.releaseNames(metadata.name, keep, spare),
    },
    report: async (object, world, plan) => {
      const { spec } = object
      const view = viewSite(object, world, plan, deps.now())
      await deps.mirror.put(rowOf(object, { kind: SITE, account: spec.account, view, updatedAt: view.updated_at }))
    },
    forget: async (key) => {
      const name = key.slice(key.indexOf('/') + 1)
      deps.looks.forget(name)
      deps.pictures.forget(name)
      await deps.rows.forget(name)
      await deps.mirror.remove(SITE.kind, name)
      await wakeHeads(deps)
    },
  }
}

/** Publishing waits for the host: a few at once are as many as help. Pictures are made aside (io/pictures/queue.ts). */
const CONCURRENCY = 8
/** Of one account, whose hosts may be slow to answer. */
const ACCOUNT_MOST = 6
/** A large upload. */
const ACT_LIMIT_MS = 150_000
/** A command on a host that is busy, and its pages one after the other, twice. */
const OBSERVE_LIMIT_MS = 70_000

const isReady = ({ status }: SiteResource): boolean =>
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false

/** By what is wanted rather than by what was said last: a host may become ready while a pass that saw it otherwise still runs. */
const awaitsHost = (site: SiteResource): boolean => {
  const { spec, status } = site
  const isNamed = nameOf(spec, null) !== null
  return !isReady(site) || (isNamed && (status?.hostname === undefined || (spec.publish && status.phase !== 'live')))
}

/** Which host it will be is not known before it has one. */
const ANY_HOST = 'any'

export const siteControl = controlOf({
  kind: SITE,
  concurrency: CONCURRENCY,
  accountMost: ACCOUNT_MOST,
  actLimitMs: ACT_LIMIT_MS,
  mails: SITE_MAILS,
  // also what falls due by a jump of the clock
  async sweep(context) {
    const names = makeNameSweep(context)
    await names.looks.sweep()
    await sweepNames(names)
    await makeVisitStore(context).sweep(quotaDay(context.now()))
    await sweepMessages(context, context.now())
  },
  follows: [
    // The template that an account is locked to is part of every page.
    { kind: 'Account', under: ({ spec }) => spec.account, of: keyOfAccount },
    { kind: 'Host', under: (own) => (awaitsHost(own) ? ANY_HOST : null), of: () => ANY_HOST },
  ],
  // a live site is looked at on its host; a slow look at one that is well is no news
  observeLimitMs: OBSERVE_LIMIT_MS,
  make: (context) => {
    const deps = {
      ...context,
      rows: makeSiteRows(context),
      pictureRows: makePictureRows(context),
      reservations: makeSiteReservations(context),
      testDomains: context.allowLoopback,
    }
    return siteController({ ...deps, looks: makeSiteLooks(deps) })
  },
})
