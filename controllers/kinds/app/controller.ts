/**
 * The App: what is looked at, what each step does, and what is mirrored (controllers/app/). What to do is decided in
 * crds/app/plan.ts; nothing is decided here.
 */
import { APP, APP_FINALIZER } from '../../../crds/app/kind.ts'
import { planApp } from '../../../crds/app/plan.ts'
import type { AppFacts, AppResource } from '../../../crds/app/schema.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import { viewApp } from '../../../crds/app/view.ts'
import type { AppWorld } from '../../../crds/app/world.ts'
import type { Controller } from '../../runtime/contract.ts'
import { makeAppEnv, makeSourceOf, makeTakeSlug } from '../../store/app/app.ts'
import { makeAppLedger } from '../../store/app/operations.ts'
import { makeAppVault } from '../../store/app/releases.ts'
import { rowOf } from '../../store/mirror.ts'
import type { Context } from '../context.ts'
import { controlOf } from '../kind-controller.ts'
import { makeActs } from './act.ts'
import { makeLogs } from './logs.ts'
import { makeObservations } from './observation.ts'
import { makeObserve } from './observe.ts'
import { makeReleases } from './release.ts'

export const appController = (context: Context): Controller<AppResource, AppFacts, AppWorld, AppStep> => {
  const { pg, epoch, hosts, keys, now, mirror } = context
  const ledger = makeAppLedger({ pg, epoch })
  const { env } = makeAppEnv({ pg, sealer: keys.sealer('app-env') })
  const store = { env, source: makeSourceOf(pg), takeSlug: makeTakeSlug(pg) }
  const vault = makeAppVault({ pg, blobs: context.blobs, source: store.source, sealer: keys.sealer('app-release') })
  const releases = makeReleases({ store, vault, blobs: context.blobs, composeJudge: context.composeJudge })
  const logs = makeLogs({ ledger, releases, hosts, now })
  const observations = makeObservations({ hosts, now })
  return {
    kind: APP,
    finalizer: APP_FINALIZER,
    observe: makeObserve({ ...context, ledger, observations }),
    plan: planApp,
    act: makeActs({ ledger, store, releases, logs, hosts, observations, now }),
    report: async (object, world, plan) => {
      const { spec } = object
      await mirror.put(rowOf(object, { kind: APP, account: spec.account, view: viewApp(object, world, plan) }))
    },
    forget: async (key) => {
      const name = key.slice(key.indexOf('/') + 1)
      observations.forget(name)
      await mirror.remove('App', name)
    },
  }
}

/** Passes at once: most of one is waiting for a host. */
const CONCURRENCY = 16
/** Files of an app go over the network in one step. */
const ACT_LIMIT_MS = 120_000

export const appControl = controlOf({
  kind: APP,
  concurrency: CONCURRENCY,
  actLimitMs: ACT_LIMIT_MS,
  follows: [{ kind: 'Host', under: ({ spec }) => spec.hostId, of: ({ metadata }) => metadata.name }],
  make: appController,
})
