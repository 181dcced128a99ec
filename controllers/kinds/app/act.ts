/**
 * What each step of an App does. Each effect is keyed (a row under a condition, a job under an id, a route under its own)
 * and gives back what its answer says of the world, so that the next step follows without another look.
 */

import type { AppResource } from '../../../crds/app/schema.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import type { AppWorld } from '../../../crds/app/world.ts'
import { Stalled } from '../../base/errors.ts'
import type { Controller } from '../../runtime/contract.ts'
import { applyBudget, takeRoom } from './acts/budget.ts'
import { type ActContext, type ActDeps, type Apply, end, instantOf, pass, type StepOf } from './acts/context.ts'
import { mend, noteRecovered, noteUnhealthy, returnTo } from './acts/health.ts'
import { type BackupDeps, makeBackupActs } from './acts/keeping/backups.ts'
import { leaseFor, makeCarryActs } from './acts/keeping/carrying.ts'
import { type MovingDeps, makeMoveActs } from './acts/keeping/moving.ts'
import { claimSwitch, endOpen, goLive, removeRoute, setRoute } from './acts/live.ts'
import { claimNames, type NamesDeps, releaseNames } from './acts/names.ts'
import { makePreviewActs, type PreviewDeps } from './acts/previews.ts'
import { keepLog } from './acts/progress.ts'
import { check, type LeaseOf, startReleaseJob, takeImages, upload } from './acts/release.ts'
import { clear, forget, retire, takeDown } from './acts/retire.ts'
import { makeRunActs, type RunDeps } from './acts/runs.ts'
import { beginScale, cutStreams, dropReplicas, grown, scaled } from './acts/scale.ts'
import { applyDecision } from './apply.ts'
import { makeImages } from './images.ts'

type Acts = Controller<AppResource, object, AppWorld, AppStep>['act']

const takeSlug = async ({ store }: ActContext, { metadata, spec }: AppResource): Promise<Apply> => {
  const request = { app: metadata.name, account: spec.account, host: spec.hostId, slug: spec.slug }
  const outcome = await store.takeSlug(request)
  if (outcome === 'refused') throw new Stalled('SLUG_TAKEN', `SLUG_TAKEN: /slug ${spec.slug} is another app`)
  return (world) => ({ ...world, slugHolder: metadata.name })
}

const ask = async (
  context: ActContext,
  { metadata, spec }: AppResource,
  { id, intent }: StepOf<'ask'>,
): Promise<Apply> => {
  const at = instantOf(context)
  const decision = await context.ledger.ask({ id, app: metadata.name, account: spec.account, intent, at })
  if (decision.state === 'refused') throw new Error(`operation ${id}: ${decision.refusal.detail}`)
  return applyDecision(decision)
}

const begin = async (context: ActContext, given: StepOf<'begin'>): Promise<Apply> => {
  const { operation, source, envVersion, restoredFrom, commands = null, carries = false } = given
  const event = { on: 'begun' as const, source, envVersion, restoredFrom, commands, carries }
  return applyDecision(await context.ledger.change({ operation, event, at: instantOf(context) }))
}

const cancelJob = async (
  { hosts, builds }: ActContext,
  { spec }: AppResource,
  { job, operation }: StepOf<'cancelJob'>,
): Promise<Apply> => {
  builds.noteOver(operation.id)
  await hosts.link(spec.hostId).cancelJob(job)
  return (world) => world
}

type Deps = ActDeps & RunDeps & BackupDeps & MovingDeps & PreviewDeps & { naming: NamesDeps }

export const makeActs = (deps: Deps): Acts => {
  const context: ActContext & RunDeps & BackupDeps & MovingDeps & PreviewDeps = {
    ...deps,
    images: makeImages(deps),
    here: new Map(),
  }
  const leaseOf: LeaseOf = (object, operation) => leaseFor(context, object, operation)
  return {
    takeRoom: (step, object) => takeRoom(context, object, step),
    applyBudget: (step, object) => applyBudget(context, object, step),
    takeSlug: (_step, object) => takeSlug(context, object),
    claimNames: (step, object) => claimNames(deps.naming, object, step),
    releaseNames: (step, object) => releaseNames(deps.naming, object, step),
    ask: (step, object) => ask(context, object, step),
    begin: (step) => begin(context, step),
    check: (step, object) => check(context, object, step),
    upload: (step, object) => upload(context, object, step),
    startJob: (step, object) => startReleaseJob(context, object, step, leaseOf),
    keepLog: (step, object) => keepLog(context, object, step),
    takeImages: (step, object) => takeImages(context, object, step),
    passPreRelease: ({ operation, message }) => pass(context, { operation, step: 'pre_release', message }),
    takeAddress: ({ operation, address, note }) => {
      const message = [`it runs, and answers at ${address}`, ...(note ? [note] : [])].join('; ')
      return pass(context, { operation, step: 'start', known: { address }, message })
    },
    claimSwitch: (step) => claimSwitch(context, step),
    setRoute: (step, object) => setRoute(context, object, step),
    endOpen: (step, object) => endOpen(context, object, step),
    goLive: (step, object) => goLive(context, object, step),
    beginScale: (step) => beginScale(context, step),
    grown: (step) => grown(context, step),
    scaled: (step, object) => scaled(context, object, step),
    dropReplicas: (step, object) => dropReplicas(context, object, step),
    cutStreams: (step, object) => cutStreams(context, object, step),
    cancelJob: (step, object) => cancelJob(context, object, step),
    end: (step, object) => end(context, object, step),
    takeDown: (step, object) => takeDown(context, object, step),
    retire: (step, object) => retire(context, object, step),
    noteUnhealthy: (step, object) => noteUnhealthy(context, object, step),
    mend: (step, object) => mend(context, object, step),
    noteRecovered: (step, object) => noteRecovered(context, object, step),
    returnTo: (step, object) => returnTo(context, object, step),
    fetchLogs: ({ requests }, object) => deps.logs.fetch(object, requests),
    removeRoute: (_step, object) => removeRoute(context, object),
    clear: (_step, object) => clear(context, object),
    ...makeRunActs(context),
    ...makeBackupActs(context),
    ...makeMoveActs(context),
    ...makeCarryActs(context),
    ...makePreviewActs(context),
    forget: (_step, object) => forget(context, object),
  }
}
