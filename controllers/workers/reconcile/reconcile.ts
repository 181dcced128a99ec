/** `setup.ts reconcile`: plans, applies, says. */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import type { Keys } from '../../base/keys.ts'
import type { Log } from '../../base/log.ts'
import type { Caches } from '../../kinds/held.ts'
import type { Kube } from '../../kube/kube.ts'
import { makeInstallation } from '../../store/installation/installation.ts'
import { makeDeletionReader } from '../../store/ledger/desires.ts'
import { makeKnown } from '../../store/ledger/known.ts'
import { makeRestore } from '../../store/ledger/restore.ts'
import { makeMirror } from '../../store/mirror.ts'
import type { Pg } from '../../store/pg/pg.ts'
import type { AbsenceDeps } from '../truths/absence.ts'
import { type ApplyDeps, applyReconcile, ReconcileRefused } from './apply.ts'
import { planReconcile } from './plan.ts'
import { doneWords, summaryOf, wordsOf } from './words.ts'

/** Lists of a cluster that answers are in by then. */
const LISTS_MS = 60_000

export const RECONCILE_USAGE = 'reconcile [--plan | --apply] [--json] [--reserve SERIES=LAST]… [--restore KIND/NAME]…'

export type ReconcileOptions = {
  apply: boolean
  json: boolean
  reserve: ReadonlyMap<string, number>
  /** `Kind/name` of what was taken for deleted, and is wanted back. */
  restore?: ReadonlySet<string>
}

const reserveOf = (given: string): [string, number] => {
  const [, id = '', last = ''] = /^(.+)=(\d{1,15})$/.exec(given) ?? []
  if (id === '')
    throw new ReconcileRefused(`--reserve takes SERIES=LAST, as --reserve demo/iss-default/invoice/2026=447`)
  return [id, Number(last)]
}

const restoreOf = (given: string): string => {
  if (/^[A-Za-z]{1,63}\/[^/]{1,253}$/.test(given)) return given
  throw new ReconcileRefused(`--restore takes KIND/NAME, as --restore Invoice/inv-october`)
}

/** @throws ReconcileRefused, TypeError on an argument that is not known */
export const readReconcileOptions = (args: string[]): ReconcileOptions => {
  const { values } = parseArgs({
    args,
    options: {
      plan: { type: 'boolean', default: false },
      apply: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      reserve: { type: 'string', multiple: true, default: [] },
      restore: { type: 'string', multiple: true, default: [] },
    },
  })
  if (values.plan && values.apply) throw new ReconcileRefused('--plan and --apply exclude each other')
  return {
    apply: values.apply,
    json: values.json,
    reserve: new Map(values.reserve.map(reserveOf)),
    restore: new Set(values.restore.map(restoreOf)),
  }
}

export type ReconcileClients = {
  kube: Kube
  strays?: AbsenceDeps['strays']
  pg: Pg
  caches: Caches
  keys: Keys
  namespace: string
  /** Of the Lease, when that is another one. */
  home?: string | undefined
  log: Log
  now: () => Date
}

const listed = async (caches: Caches): Promise<void> => {
  const late = new AbortController()
  const isLate = sleep(LISTS_MS, true, { signal: late.signal }).catch(() => false)
  const isIn = await Promise.race([caches.synced.then(() => true), isLate.then(() => false)])
  late.abort()
  if (!isIn) throw new ReconcileRefused('the cluster does not list its resources')
  const unserved = caches.unserved()
  if (unserved.length > 0)
    throw new ReconcileRefused(
      `nothing was done: the cluster has no definition of ${unserved.join(', ')}; apply the definitions first`,
    )
}

export const reconcileDepsOf = (
  { kube, strays, pg, caches, keys, namespace, home, log, now }: ReconcileClients,
  { reserve = new Map(), restore: wanted = new Set() }: Partial<ReconcileOptions> = {},
): ApplyDeps => {
  const installation = makeInstallation({ pg })
  // only asked: what is written goes under an epoch of its own
  const epoch = () => 0
  return {
    ...{ kube, strays, caches, keys, namespace, home, log, now, installation, reserve, wanted },
    mirror: makeMirror({ pg, epoch }),
    known: makeKnown({ pg, epoch }),
    deletions: makeDeletionReader({ pg }),
    restore: makeRestore({ pg, epoch, at: () => now().toISOString() }),
    taking: { kube, pg, installation, ref: { namespace: home ?? namespace, name: LEASE_NAME } },
  }
}

/**
 * @returns what is to be printed: the plan, or what was done
 * @throws ReconcileRefused, KubeError, DatabaseUnavailable
 */
export const reconcile = async (clients: ReconcileClients, options: ReconcileOptions): Promise<string> => {
  await listed(clients.caches)
  const deps = reconcileDepsOf(clients, options)
  const plan = await planReconcile(deps)
  const summary = summaryOf(plan)
  if (!options.apply) return options.json ? JSON.stringify(summary, null, 2) : wordsOf(summary)
  const refused = await applyReconcile(deps, plan)
  if (options.json) return JSON.stringify({ ...summary, done: refused !== null, refused: refused ?? [] }, null, 2)
  return refused ? doneWords(summary, refused) : wordsOf(summary)
}
