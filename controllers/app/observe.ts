/** What is known of an app before its pass is planned: rows, the job under way, and what really runs (look.ts). */
import { type AppResource, liveOf } from '../../crds/app/plan.ts'
import { isOver, mayLeave } from '../../crds/app/retire.ts'
import { downJobOf, jobIdOf } from '../../crds/app/steps.ts'
import type { AppWorld, HostGround, JobState, Release } from '../../crds/app/world.ts'
import type { Directory } from '../directory.ts'
import type { HostFacts, Hosts } from '../io/hosts.ts'
import { Stalled, Waiting } from '../runtime/errors.ts'
import type { Keys } from '../runtime/keys.ts'
import { JOB_WAIT_MS } from './jobs.ts'
import type { AppLedger, AppRows } from './ledger.ts'
import type { Looks } from './look.ts'

export type ObserveDeps = {
  ledger: AppLedger
  hosts: Hosts
  looks: Looks
  accounts: Directory
  keys: Keys
  publicUrl: string
  now: () => Date
}

export const groundOf = (facts: HostFacts | null): HostGround | null =>
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
  }

type OnHost = Pick<AppWorld, 'job' | 'retiring' | 'requests' | 'look'>

/** @returns a function that observes one app */
export const makeObserve = (deps: ObserveDeps) => {
  const { ledger, hosts, keys, looks, now } = deps

  const jobOf = async (object: AppResource, { operations, releases }: AppRows): Promise<JobState | null> => {
    const link = hosts.link(object.spec.hostId)
    if (object.metadata.deletionTimestamp !== undefined) {
      return releases.length === 0 ? null : link.jobState(downJobOf(object.metadata.uid, 'all'))
    }
    const running = operations.find(({ state }) => state === 'running')
    const step = running?.steps.find(({ state }) => state === 'running')?.name
    if (!running || (step !== 'images' && step !== 'start')) return null
    const state = await link.jobState(jobIdOf(running, step), { waitMs: running.cancelAt === null ? JOB_WAIT_MS : 0 })
    if (step === 'start') looks.noteStart(object.metadata.name, running.release, state)
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
      [number, await link.jobState(downJobOf(metadata.uid, number))] as const
    const [job, retiring, upstreams, look] = await Promise.all([
      jobOf(object, rows),
      Promise.all(begun.map(stateOf)),
      drains ? hosts.routes(spec.hostId).upstreams() : null,
      live ? looks.at(object, live, isIdle) : null,
    ])
    const requests = upstreams && Object.fromEntries(upstreams.map(({ address, requests }) => [address, requests]))
    return { job, retiring: Object.fromEntries(retiring), requests, look }
  }

  return async (object: AppResource): Promise<AppWorld> => {
    const { metadata, spec } = object
    const at = now().toISOString()
    const rows = await ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: at })
    const host = groundOf(hosts.facts(spec.hostId))
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
      account: account && { name: account.id, capabilities: account.capabilities },
      host,
      publicUrl: deps.publicUrl,
      gateToken: keys.gateToken(metadata.name),
    }
  }
}
