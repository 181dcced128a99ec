/**
 * The App: what is looked at, what each step does, and what is mirrored (controllers/app/). What to do is decided in
 * crds/app/plan.ts; nothing is decided here.
 */
import { APP, APP_FINALIZER } from '../../../crds/app/kind.ts'
import { livesOn, placedOn } from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import { planApp } from '../../../crds/app/plan.ts'
import type { AppFacts, AppResource } from '../../../crds/app/schema.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import { viewApp } from '../../../crds/app/view.ts'
import type { AppWorld } from '../../../crds/app/world.ts'
import type { Controller } from '../../runtime/contract.ts'
import { makeAppEnv, makeSourceOf, makeTakeSlug } from '../../store/app/app.ts'
import { makeBackupLedger, sweepAppBackups } from '../../store/app/backups.ts'
import { makeAppEpisodes } from '../../store/app/episodes.ts'
import { makeKeptLogs } from '../../store/app/logs.ts'
import { makeAppLedger } from '../../store/app/operations.ts'
import { makeAppNames, makeReleaseAppNames } from '../../store/app/publishing/names.ts'
import { makePreviewLedger } from '../../store/app/publishing/previews.ts'
import { makeRegistries } from '../../store/app/registries.ts'
import { makeAppVault } from '../../store/app/releases.ts'
import { makeAppPlaces, makeAppRooms } from '../../store/app/rooms.ts'
import { makeRunLedger } from '../../store/app/runs.ts'
import { makeUploadedAt } from '../../store/app/sources.ts'
import { makeAppStorage, purgeAppStorage } from '../../store/app/storage.ts'
import { rowOf } from '../../store/mirror.ts'
import type { Context } from '../context.ts'
import { controlOf } from '../kind-controller.ts'
import { makeActs } from './act.ts'
import { makeBuilds } from './acts/builds.ts'
import { makePlaced } from './acts/keeping/placed.ts'
import { noteTold } from './acts/live.ts'
import { makeBudgetRefusals } from './acts/refusals.ts'
import { doingWords } from './acts/words.ts'
import { healthCountsOf } from './health/metrics.ts'
import { makeObservations } from './health/observation.ts'
import { makeReachLooks } from './health/reach.ts'
import { makeLogs } from './logs/logs.ts'
import { makeProgress } from './logs/progress.ts'
import { makeObserve } from './observe.ts'
import { makeReleases } from './release.ts'

export const appController = (context: Context): Controller<AppResource, AppFacts, AppWorld, AppStep> => {
  const { pg, epoch, hosts, keys, now, mirror } = context
  const ledger = makeAppLedger({ pg, epoch })
  const runs = makeRunLedger({ pg, epoch, sealer: keys.sealer('app-env') })
  const backups = makeBackupLedger({ pg, epoch, blobs: context.blobs })
  const { env } = makeAppEnv({ pg, sealer: keys.sealer('app-env') })
  const store = { env, source: makeSourceOf(pg), takeSlug: makeTakeSlug(pg), takeRoom: makeAppRooms({ pg }).takeRoom }
  const vault = makeAppVault({ pg, blobs: context.blobs, source: store.source, sealer: keys.sealer('app-release') })
  const registries = makeRegistries({ pg, sealer: keys.sealer('app-registry') })
  const releases = makeReleases({ store, vault, registries, blobs: context.blobs, composeJudge: context.composeJudge })
  const kept = makeKeptLogs({ pg, epoch })
  const progress = makeProgress({ logs: kept, now })
  const logs = makeLogs({ ledger, releases, kept, hosts, now })
  const refusals = makeBudgetRefusals({ now })
  const observations = makeObservations({ hosts, now })
  const reachLooks = makeReachLooks({ hosts, now })
  const names = makeAppNames({ pg })
  const naming = { names, releaseNames: makeReleaseAppNames({ pg, epoch }) }
  const episodes = makeAppEpisodes({ pg, epoch })
  const previews = makePreviewLedger({ pg, epoch })
  const counts = healthCountsOf(context.metrics)
  const places = makeAppPlaces({ pg, epoch })
  const namingDeps = { ...context, names, reachLooks, testDomains: context.allowLoopback }
  const placed = makePlaced()
  const seen = {
    ledger,
    runs,
    backups,
    observations,
    progress,
    builds: makeBuilds(),
    refusals,
    episodes,
    previews,
    places,
  }
  const observe = makeObserve({ ...namingDeps, ...seen, uploadedAt: makeUploadedAt(pg) })
  const done = { store, releases, logs, counts, naming, namingDeps, storage: makeAppStorage({ pg }) }
  const acts = makeActs({ ...context, ...seen, ...done })
  return {
    kind: APP,
    finalizer: APP_FINALIZER,
    words: doingWords,
    observe: placed.observing(observe),
    plan: (object, world, at) => planApp(placedOn(object, world.home), world, at),
    act: placed.acting(acts),
    report: async (object, world, plan) => {
      const { spec } = object
      const view = viewApp(placedOn(object, world.home), world, plan)
      await mirror.put(rowOf(object, { kind: APP, account: spec.account, view }))
      await noteTold({ ledger, now, log: context.log }, object.metadata.name, world)
    },
    forget: async (key) => {
      const name = key.slice(key.indexOf('/') + 1)
      observations.forget(name)
      reachLooks.forget(name)
      progress.forget(name)
      refusals.forget(name)
      placed.forget(name)
      await mirror.remove('App', name)
    },
  }
}

/** Passes at once: most of one is waiting for a host. */
const CONCURRENCY = 16
/** Of one account, whose hosts may be slow to answer. */
const ACCOUNT_MOST = 12
/** One look at a host is for all of its apps, and waits for those that are slow to answer. */
const OBSERVE_LIMIT_MS = 25_000
/** Files of an app go over the network in one step. */
const ACT_LIMIT_MS = 120_000

export const appControl = controlOf({
  kind: APP,
  concurrency: CONCURRENCY,
  accountMost: ACCOUNT_MOST,
  observeLimitMs: OBSERVE_LIMIT_MS,
  actLimitMs: ACT_LIMIT_MS,
  async sweep(context) {
    await makeKeptLogs(context).sweep(context.now())
    await purgeAppStorage(context)
    await sweepAppBackups(context)
  },
  follows: [{ kind: 'Host', under: livesOn, of: ({ metadata }) => metadata.name }],
  make: appController,
})
