/**
 * One-off work around the two processes, as the chart's hooks run it: `setup.ts definitions | migrate | remove-definitions`, and by
 * hand `setup.ts reconcile` (controllers/workers/reconcile/), `setup.ts keys` (setupkeys.ts) and `setup.ts history`
 * (controllers/workers/truths/history.ts).
 */

import { LEASE_NAME } from '../crds/kernel/platform.ts'
import { CLUSTER, EnvError, KEYS, MIGRATION, RECONCILE, readEnv } from './base/env.ts'
import { makeLog } from './base/log.ts'
import { applyDefinitions, removeDefinitions } from './kube/definitions.ts'
import { type Kube, makeKube } from './kube/kube.ts'
import { makeCaches } from './operator.ts'
import { openTenants } from './ops/tenants.ts'
import { readKeptRoots } from './runtime/keptroots.ts'
import { KEYS_USAGE, runKeys } from './setupkeys.ts'
import { openKeys } from './store/installation/open.ts'
import { KeyUnknown } from './store/installation/ringkeys.ts'
import { HEAD_KEY, makeHeadWords } from './store/ledger/history.ts'
import { migrate } from './store/pg/migrate.ts'
import { makePg } from './store/pg/pg.ts'
import { ReconcileRefused } from './workers/reconcile/apply.ts'
import { RECONCILE_USAGE, readReconcileOptions, reconcile } from './workers/reconcile/reconcile.ts'
import { HISTORY_USAGE, historyFaults, readHistoryOptions } from './workers/truths/history.ts'

const withKube = async (work: (kube: Kube) => Promise<string[]>): Promise<string[]> => {
  const { kubeconfig } = readEnv(CLUSTER, process.env)
  const kube = makeKube({ ...(kubeconfig !== undefined && { kubeconfig }), fieldManager: 'bottega-setup' })
  try {
    return await work(kube)
  } finally {
    await kube.close()
  }
}

const migrateDatabase = (): Promise<string[]> => {
  const { databaseUrl, apiDatabaseUrl } = readEnv(MIGRATION, process.env)
  return migrate(databaseUrl, { apiUrl: apiDatabaseUrl })
}

/** Says on stdout what is to be done, or was. */
const reconcileTruths = async (args: string[]): Promise<void> => {
  const options = readReconcileOptions(args)
  const { kubeconfig, databaseUrl, namespace, home, tenants: bound, secretKeys } = readEnv(RECONCILE, process.env)
  const log = makeLog({ level: 'silent', base: { process: 'setup' } })
  const outside = makeKube({ ...(kubeconfig !== undefined && { kubeconfig }), fieldManager: 'bottega-setup' })
  const pg = makePg({ url: databaseUrl, applicationName: 'bottega-setup', max: 4 })
  const tenants = { home: namespace, bound }
  const { kube, strays } = await openTenants({ pg, kube: outside, tenants, serves: options.apply })
  const caches = makeCaches({ kube, namespace, log })
  try {
    const kept = () => readKeptRoots(kube, { namespace: home ?? namespace, name: LEASE_NAME })
    const { keys } = await openKeys({ pg, secretKeys, makes: options.apply, kept })
    const clients = { kube, strays, pg, caches, keys, namespace, home, log, now: () => new Date() }
    console.log(await reconcile(clients, options))
  } finally {
    await caches.stop()
    await Promise.all([kube.close(), pg.close()])
  }
}

/** Says on stdout whether audit and register are what they were when the given heads were told; ends with 1 when not. */
const compareHistory = async (args: string[]): Promise<void> => {
  const saved = readHistoryOptions(args)
  const { databaseUrl, secretKeys } = readEnv(KEYS, process.env)
  const pg = makePg({ url: databaseUrl, applicationName: 'bottega-setup', max: 1 })
  try {
    const { keys } = await openKeys({ pg, secretKeys, makes: false })
    const words = makeHeadWords(keys.lastingKey(HEAD_KEY))
    const { faults, newest } = await historyFaults({ pg, words }, saved)
    const held = saved.length > 0 ? 'history is whole, and holds what was saved' : 'history is whole in itself'
    const head = newest === null ? [] : [`newest head: ${newest}`]
    console.log([...(faults.length > 0 ? faults : [held]), ...head].join('\n'))
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await pg.close()
  }
}

const WORKS: Record<string, () => Promise<string[]>> = {
  definitions: () => withKube(applyDefinitions),
  migrate: migrateDatabase,
  'remove-definitions': () => withKube(removeDefinitions),
}

const main = async () => {
  const [name = '', ...args] = process.argv.slice(2)
  if (name === 'reconcile') return reconcileTruths(args)
  if (name === 'keys') return console.log(await runKeys(args, process.env))
  if (name === 'history') return compareHistory(args)
  const work = WORKS[name]
  if (!work) {
    const others = [RECONCILE_USAGE, KEYS_USAGE, HISTORY_USAGE].join(', ')
    throw new EnvError([{ name: 'argument', expected: `one of ${Object.keys(WORKS).join(', ')}, ${others}` }])
  }
  const log = makeLog({ level: 'info', base: { process: 'setup' } })
  log.info({ work: name, done: await work() }, 'set up')
}

const isSaid = (error: unknown): error is Error =>
  error instanceof EnvError || error instanceof ReconcileRefused || error instanceof KeyUnknown

main().catch((error) => {
  console.error(isSaid(error) ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
