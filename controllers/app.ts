/**
 * The App: what is looked at, what each step does, and what is mirrored (controllers/app/). What to do is decided in
 * crds/app/plan.ts; nothing is decided here.
 */
import { APP, APP_FINALIZER } from '../crds/app/kind.ts'
import { type AppFacts, type AppResource, planApp } from '../crds/app/plan.ts'
import type { AppStep } from '../crds/app/steps.ts'
import { viewApp } from '../crds/app/view.ts'
import type { AppWorld } from '../crds/app/world.ts'
import { makeActs } from './app/act.ts'
import { makeAppLedger } from './app/ledger.ts'
import { makeLogs } from './app/logs.ts'
import { makeLooks } from './app/look.ts'
import { makeObserve } from './app/observe.ts'
import { makeReleases } from './app/release.ts'
import { controlOf } from './control.ts'
import type { House } from './house.ts'
import { makeAppEnv, makeAsk, makeSourceOf, makeTakeSlug } from './runtime/appstore.ts'
import { makeAppVault } from './runtime/appvault.ts'
import type { Controller } from './runtime/controller.ts'
import { rowOf } from './runtime/mirror.ts'

export const appController = (house: House): Controller<AppResource, AppFacts, AppWorld, AppStep> => {
  const { pg, epoch, hosts, keys, now, mirror } = house
  const ledger = makeAppLedger({ pg, epoch })
  const { env } = makeAppEnv({ pg, sealer: keys.sealer('app-env') })
  const store = { env, source: makeSourceOf(pg), takeSlug: makeTakeSlug(pg), ask: makeAsk(pg, epoch) }
  const vault = makeAppVault({ pg, blobs: house.blobs, source: store.source, sealer: keys.sealer('app-release') })
  const releases = makeReleases({ store, vault, blobs: house.blobs })
  const logs = makeLogs({ ledger, releases, hosts, now })
  const looks = makeLooks({ hosts, now })
  return {
    kind: APP,
    finalizer: APP_FINALIZER,
    observe: makeObserve({ ...house, ledger, looks }),
    plan: planApp,
    act: makeActs({ ledger, store, releases, logs, hosts, looks, now }),
    report: async (object, world, plan) => {
      const { spec } = object
      await mirror.put(rowOf(object, { kind: APP, account: spec.account, view: viewApp(object, world, plan) }))
    },
    forget: async (key) => {
      const name = key.slice(key.indexOf('/') + 1)
      looks.forget(name)
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
  follows: [{ kind: 'Host', concerns: (changed, own) => own.spec.hostId === changed.metadata.name }],
  make: appController,
})
