/** What a process that leads, or would, knows of itself: its meters, whether the truths agree, and where epochs are taken. */
import type { TruthCode } from '../crds/kernel/desire/absence.ts'
import { LEASE_NAME } from '../crds/kernel/platform.ts'
import type { CONTROLLERS, Env } from './base/env.ts'
import type { Log } from './base/log.ts'
import type { Stop } from './base/stop.ts'
import type { Caches } from './kinds/held.ts'
import type { Operator, OperatorDeps } from './operator.ts'
import type { Metrics } from './ops/metrics.ts'
import { raiseAbove, type Taking } from './runtime/epoch.ts'
import { makeInstallation } from './store/installation/installation.ts'
import type { SealedCounts } from './store/installation/reseal.ts'
import { makeDeletionReader } from './store/ledger/desires.ts'
import { makeKnown } from './store/ledger/known.ts'
import { makeMirror } from './store/mirror.ts'
import { makeTruths, type Truths } from './workers/truths/truths.ts'

/** The newest alone is shown: who collects it has the earlier ones. */
const headMeter = (metrics: Metrics) => {
  const gauge = metrics.gauge({
    name: 'bottega_history_head',
    help: 'Number of the newest head of audit and register, and the word to compare with the database (hack/history).',
    labelNames: ['head'],
  })
  return (head: string, n: number): void => {
    gauge.reset()
    gauge.set({ head }, n)
  }
}

export const metersOf = (metrics: Metrics) => ({
  head: headMeter(metrics),
  rewritten: metrics.gauge({
    name: 'bottega_history_rewritten',
    help: '1 once a head that this process told does not stand in the database any more.',
  }),
  mails: metrics.counter({
    name: 'bottega_mail_attempts_total',
    help: 'Attempts to send a mail, by how they ended.',
    labelNames: ['outcome'],
  }),
  calls: metrics.counter({
    name: 'bottega_card_attempts_total',
    help: 'Calls of the card processor, by how they ended.',
    labelNames: ['outcome'],
  }),
  visits: metrics.counter({
    name: 'bottega_site_visits_total',
    help: 'Visits of sites that were counted, by host.',
    labelNames: ['host'],
  }),
  backups: metrics.counter({
    name: 'bottega_app_backups_total',
    help: 'Backups and restores of apps that ended.',
    labelNames: ['kind', 'state'],
  }),
  runs: metrics.counter({
    name: 'bottega_app_runs_total',
    help: 'Commands that apps had run, by why and by how they ended.',
    labelNames: ['cause', 'state'],
  }),
  epoch: metrics.gauge({
    name: 'bottega_epoch',
    help: 'The epoch under which this process leads; 0 while it does not.',
  }),
  unknown: metrics.gauge({
    name: 'bottega_cluster_unknown',
    help: '1 while the cluster is not the one of the database, or lacks much of what is known: nobody leads.',
  }),
  skew: metrics.gauge({
    name: 'bottega_clock_skew_seconds',
    help: "By how much the clock of this process is ahead of the database's; negative when it is behind.",
  }),
  refused: metrics.gauge({
    name: 'bottega_due_work_refused',
    help: '1 while nothing that falls due is done, because the clock may not be believed.',
  }),
  behind: metrics.gauge({
    name: 'bottega_ledger_behind',
    help: 'Resources that know of more than the database: an older copy of it was put back.',
  }),
  sealed: metrics.gauge({
    name: 'bottega_sealed_values',
    help: 'Sealed values by the key that they are under, as counted last; form-1 is of before values told their key.',
    labelNames: ['key'],
  }),
  wrong: metrics.gauge({
    name: 'bottega_truths_disagree',
    help: '1 for what keeps anybody from leading: which of database, cluster and key does not fit.',
    labelNames: ['code'],
  }),
})

/** What is known once somebody leads, or tried to. `operator` is there once it works, `starting` while it is begun. */
export type LeaderState = {
  operator?: Operator
  starting?: Promise<void>
  epoch?: number
  truths?: Truths
  /** As counted last. */
  sealed?: { counts: SealedCounts; newest: string }
  behind: number
}

export type Process = {
  env: Env<typeof CONTROLLERS>
  log: Log
  stop: Stop
  metrics: Metrics
  meters: ReturnType<typeof metersOf>
  standing: LeaderState
}

/** How far a change of keys has come; true when all is under the newest. */
export const sealedNote = ({ counts, newest }: NonNullable<LeaderState['sealed']>): true | { note: string } => {
  const others = [...counts].filter(([key]) => key !== newest)
  if (others.length === 0) return true
  const said = others.map(([key, count]) => `${count} under ${key}`).join(', ')
  return { note: `sealed values are not all under the newest key ${newest}: ${said}` }
}

const CODES: readonly TruthCode[] = ['CLUSTER_UNKNOWN', 'CLUSTER_BEHIND', 'LEDGER_BEHIND', 'KEY_UNKNOWN']

/** Whether database, cluster and key belong together, asked again and again; nobody leads while they do not. */
export const watchTruths = (
  { env, stop, metrics, meters, standing }: Process,
  deps: OperatorDeps,
  caches: Caches,
): Truths =>
  makeTruths({
    ...deps,
    caches,
    installation: makeInstallation({ pg: deps.pg }),
    // only asked: nothing is written before there is an epoch
    mirror: makeMirror({ pg: deps.pg, epoch: () => 0 }),
    known: makeKnown({ pg: deps.pg, epoch: () => 0 }),
    deletions: makeDeletionReader(deps),
    accept: env.acceptCluster,
    onJudged: (found, behind) => {
      meters.unknown.set(found === 'CLUSTER_UNKNOWN' ? 1 : 0)
      for (const code of CODES) meters.wrong.set({ code }, code === found ? 1 : 0)
      // A copy of our own epoch was put back under us: the fence lets it pass. Whoever starts next waits until that is mended.
      if (standing.operator && found === 'LEDGER_BEHIND') stop.abandon('the database is older than the cluster')
      // Who holds the lease and does not begin leads nobody.
      if (standing.operator) return
      meters.behind.set(found === 'LEDGER_BEHIND' ? Math.max(1, behind) : 0)
      metrics.leader(LEASE_NAME, found === null)
    },
  })

/** Where this process takes its epoch. */
export const takingOf = ({ env }: Process, { kube, pg }: Pick<OperatorDeps, 'kube' | 'pg'>): Taking => ({
  kube,
  pg,
  installation: makeInstallation({ pg }),
  ref: { namespace: env.home ?? env.namespace, name: LEASE_NAME },
})

/**
 * A host knows a leader that neither the database nor the Lease do: both were lost, or put back. The epoch goes above that one,
 * and this process ends: the next one leads above it. Where somebody else leads indeed, ours is refused, which ends us too.
 */
export const makeAhead = (process: Process, clients: Pick<OperatorDeps, 'kube' | 'pg'>): ((mark: number) => void) => {
  const { log, stop, standing } = process
  let isRaising = false
  return (mark) => {
    const { epoch } = standing
    if (isRaising || epoch === undefined || mark <= epoch) return
    isRaising = true
    // before it is raised: from then on whatever effect of ours comes next ends this process
    log.error({ epoch, mark }, 'a host knows a leader that the database and the Lease have lost')
    raiseAbove(takingOf(process, clients), epoch, mark)
      .then((raised) => {
        log.warn({ mark, raised }, 'the epoch was raised above that of a host')
        stop.abandon('the epoch was raised above that of a host')
      })
      .catch((error) => {
        isRaising = false
        log.warn({ err: error, mark }, 'the epoch was not raised above that of a host')
      })
  }
}
