/** The leading of one process: it waits for the lease, takes the next epoch, and has the operator work under it. */
import type { Caches } from './kinds/held.ts'
import type { Identity } from './kube/identity.ts'
import { runLease } from './kube/lease.ts'
import { type OperatorDeps, startOperator } from './operator.ts'
import type { Standings } from './ops/standings.ts'
import type { LeaderState } from './process.ts'
import { type Taking, takeNextEpoch } from './runtime/epoch.ts'
import type { Truths } from './workers/truths/truths.ts'

export type LeaderDeps = {
  deps: OperatorDeps
  caches: Caches
  truths: Pick<Truths, 'agree'>
  standings: Pick<Standings, 'fit'>
  taking: Taking
  identity: Identity
  /** Told of the operator and its epoch. */
  standing: Pick<LeaderState, 'operator' | 'starting' | 'epoch'>
  /** The process is to end. */
  stopping: AbortSignal
  onEpoch(epoch: number): void
}

export type Leader = {
  /** Ends what works, or is about to, within the bound. */
  stopOperator(deadlineMs: number): Promise<void>
  /** Gives the lease back, so that nobody has to wait for it. */
  release(): Promise<void>
}

/** @param signal the lease is lost */
const start = async (
  { deps, caches, truths, standings, taking, identity, standing, stopping, onEpoch }: LeaderDeps,
  signal: AbortSignal,
) => {
  const ending = AbortSignal.any([signal, stopping])
  const beganMs = performance.now()
  const sinceMs = () => Math.round(performance.now() - beganMs)
  await standings.fit(ending)
  await truths.agree(ending)
  const agreedMs = sinceMs()
  const epoch = await takeNextEpoch(taking, identity.name)
  standing.epoch = epoch
  const takenMs = sinceMs()
  standing.operator = await startOperator(deps, caches, epoch, stopping)
  onEpoch(epoch)
  deps.log.info({ epoch, agreedMs, takenMs, begunMs: sinceMs() }, 'started to lead')
}

/** Leads, once it has the lease, until somebody takes the epoch. */
export const runLeader = (leader: LeaderDeps): Leader => {
  const { deps, identity, standing } = leader
  const { kube, log, metrics } = deps
  const lease = runLease({
    kube,
    ...leader.taking.ref,
    identity: identity.name,
    isDead: identity.isDead,
    onLead: async (signal) => {
      if (standing.operator) return
      // the lease may have been lost and won again while it was begun
      standing.starting ??= start(leader, signal).finally(() => {
        delete standing.starting
      })
      await standing.starting
    },
    // The lease says who should take the next epoch, and no more. Whoever takes it fences us: our next effect is refused
    // and this process ends (main.ts). Until then there is nobody to make room for: the API server is away, not we.
    onLost: () => log.warn('the lease was lost; going on until somebody takes the epoch'),
    log,
    ...(metrics && { metrics }),
  })
  return {
    stopOperator: async (deadlineMs) => {
      await standing.starting?.catch(() => undefined) // it sees the signal
      await standing.operator?.stop(deadlineMs)
    },
    release: () => lease.stop(),
  }
}
