/** What is known of an app before its pass is planned: rows, the job under way, and what really runs (look.ts). */

import { isOver, mayLeave } from '../../../crds/app/lifecycle/retire.ts'
import { liveOf } from '../../../crds/app/plan.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { downJobOf, jobIdOf } from '../../../crds/app/steps.ts'
import type { AppWorld, JobState, Release, TargetHost } from '../../../crds/app/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { Stalled, Waiting } from '../../base/errors.ts'
import type { Keys } from '../../base/keys.ts'
import type { Hosts, LinkedHostFacts } from '../../io/hosts/link.ts'
import type { AppLedger, AppRows } from '../../store/app/operations.ts'
import type { Directory } from '../account-index.ts'
import { JOB_WAIT_MS } from './jobs.ts'
import type { Observations } from './observation.ts'

export type ObserveDeps = {
  ledger: AppLedger
  hosts: Hosts
  observations: Observations
  accounts: Directory
  keys: Keys
  publicUrl: string
  now: () => Date
}

export const targetHostOf = (facts: LinkedHostFacts | null): TargetHost | null =>
  facts && {
    name: facts.name,
    account: facts.account,
    class: facts.class,
    approved: facts.approved,
    ready: facts.ready,
    arch: facts.arch,
    baseDomain: facts.baseDomain,
    siteRoot: facts.siteRoot,
    httpsPort: facts.httpsPort,
    budget: facts.budget,
    remapsUsers: facts.remapsUsers,
  }

type OnHost = Pick<AppWorld, 'job' | 'retiring' | 'requests' | 'look'>

/** @returns a function that observes one app */
export const makeObserve = (deps: ObserveDeps) => {
  const { ledger, hosts, keys, observations, now } = deps

  const jobOf = async (object: AppResource, { operations, releases }: AppRows): Promise<JobState | null> => {
    const link = hosts.link(object.spec.hostId)
    if (object.metadata.deletionTimestamp !== undefined) {
      return releases.length === 0 ? null : link.jobState(downJobOf(originOf(object.metadata), 'all'))
    }
    const running = operations.find(({ state }) => state === 'running')
    const step = running?.steps.find(({ state }) => state === 'running')?.name
    if (!running || (step !== 'images' && step !== 'start')) return null
    const state = await link.jobState(jobIdOf(running, step), { waitMs: running.cancelAt === null ? JOB_WAIT_MS : 0 })
    if (step === 'start') observations.noteStart(object.metadata.name, running.release, state)
    return state
  }

  const onHost = async (object: AppResource, rows: AppRows): Promise<OnHost> => {
    const { metadata, spec } = object
    const link = hosts.link(spec.hostId)
    const leaving = rows.releases.filter((release) => isOver(release) && mayLeave(release, now()))
    const begun = leaving.filter(({ record }) => record !== null)
    const drains = leaving.some(({ state, address }) => state === 'superseded' && address !== null)
    const isIdle = !rows.operations.some(({ state }) => state === 'running')
    const live = liveOf(rows)
    const stateOf = async ({ number }: Release) =>
      [number, await link.jobState(downJobOf(originOf(metadata), number))] as const
    const [job, retiring, upstreams, look] = await Promise.all([
      jobOf(object, rows),
      Promise.all(begun.map(stateOf)),
      drains ? hosts.routes(spec.hostId).upstreams() : null,
      live ? observations.at(object, live, isIdle) : null,
    ])
    const requests = upstreams && Object.fromEntries(upstreams.map(({ address, requests }) => [address, requests]))
    return { job, retiring: Object.fromEntries(retiring), requests, look }
  }

  return async (object: AppResource): Promise<AppWorld> => {
    const { metadata, spec } = object
    const at = now().toISOString()
    const rows = await ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: at })
    const host = targetHostOf(hosts.facts(spec.hostId))
    const account = deps.accounts.get(spec.account)
    const unseen: OnHost = { job: null, retiring: {}, requests: null, look: null }
    let unreachable: string | null = null
    const seen = !host?.approved
      ? unseen
      : await onHost(object, rows).catch((error) => {
          // What the database says counts all the same.
          if (!(error instanceof Waiting || error instanceof Stalled)) throw error
          unreachable = error.message
          return unseen
        })
    return {
      ...rows,
      ...seen,
      unreachable,
      account: account && { name: spec.account, capabilities: account.capabilities },
      host,
      publicUrl: deps.publicUrl,
      gateToken: keys.gateToken(metadata.name),
    }
  }
}
