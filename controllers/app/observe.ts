/** What is known of an app before its pass is planned: rows, the job under way, and, now and then, what really runs. */
import { type AppResource, LOOK_EVERY_MS, liveOf } from '../../crds/app/plan.ts'
import { isOver, mayLeave } from '../../crds/app/retire.ts'
import { dialFileOf } from '../../crds/app/route.ts'
import { markedLines } from '../../crds/app/start.ts'
import { downJobOf, jobIdOf } from '../../crds/app/steps.ts'
import type { AppWorld, HostGround, JobState, Look, Release } from '../../crds/app/world.ts'
import type { Directory } from '../directory.ts'
import type { HostFacts, Hosts } from '../io/hosts.ts'
import { Stalled, Waiting } from '../runtime/errors.ts'
import type { Keys } from '../runtime/keys.ts'
import { JOB_WAIT_MS } from './jobs.ts'
import type { AppLedger, AppRows } from './ledger.ts'
import { LOOK } from './scripts.ts'

export type ObserveDeps = {
  ledger: AppLedger
  hosts: Hosts
  accounts: Directory
  keys: Keys
  publicUrl: string
  now: () => Date
}

const LOOK_DEADLINE_MS = 8_000

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

export const baseProjectOf = (slug: string): string => `${slug}-base`

const dialFileIn = (uid: string, facts: HostFacts | null): string => (facts && dialFileOf(uid, facts)) ?? ''

/** @param mark what a release's services bear behind their names */
const lookOf = (output: string, mark: string, at: string): Look => {
  const look: Look = { at, address: null, dial: null, running: [], stopped: [], http: null }
  const note = ([name = '', state = '', code = '', policy = '']: string[]) => {
    const service = name.endsWith(mark) ? name.slice(0, -mark.length) : name
    // A migration that ended well is not missed.
    const isDone = state === 'exited' && code === '0' && policy === 'no'
    if (state === 'running') look.running.push(service)
    else if (!isDone) look.stopped.push({ service, code: Number(code) })
  }
  for (const [word, ...rest] of markedLines(output)) {
    const [first = '', second = ''] = rest
    if (word === 'dial') look.dial = first
    if (word === 'service') note(rest)
    if (word !== 'address') continue
    look.address = first
    look.http = Number(second) > 0 ? Number(second) : null
  }
  return look
}

type OnHost = Pick<AppWorld, 'job' | 'retiring' | 'requests' | 'look'>

/** @returns a function that observes one app; it remembers when it looked at each last */
export const makeObserve = (deps: ObserveDeps) => {
  const { ledger, hosts, keys, now } = deps
  const looks = new Map<string, Look & { release: number }>()

  /** While another release is being made the host has enough to do: what was seen last has to do then. */
  const lookAt = async ({ metadata, spec }: AppResource, live: Release, isIdle: boolean): Promise<Look | null> => {
    const last = looks.get(metadata.name)
    const kept = last?.release === live.number ? last : null
    if (!isIdle || (kept && now().getTime() - Date.parse(kept.at) < LOOK_EVERY_MS)) return kept
    const { project = null, route, listener = '', stateful = [] } = live.record ?? {}
    const base = stateful.length > 0 ? baseProjectOf(spec.slug) : ''
    const { code, stdout } = await hosts.link(spec.hostId).run({
      script: LOOK,
      lines: [
        base,
        project ?? '',
        listener,
        String(route?.port ?? ''),
        dialFileIn(metadata.uid, hosts.facts(spec.hostId)),
      ],
      deadlineMs: LOOK_DEADLINE_MS,
      lane: 'status',
    })
    if (code !== 0) return null
    const look = lookOf(stdout.toString('utf8'), `-r${live.number}`, now().toISOString())
    looks.set(metadata.name, { ...look, release: live.number })
    return look
  }

  const jobOf = async (object: AppResource, { operations, releases }: AppRows): Promise<JobState | null> => {
    const link = hosts.link(object.spec.hostId)
    if (object.metadata.deletionTimestamp !== undefined) {
      return releases.length === 0 ? null : link.jobState(downJobOf(object.metadata.uid, 'all'))
    }
    const running = operations.find(({ state }) => state === 'running')
    const step = running?.steps.find(({ state }) => state === 'running')?.name
    if (!running || (step !== 'images' && step !== 'start')) return null
    return link.jobState(jobIdOf(running, step), { waitMs: running.cancelAt === null ? JOB_WAIT_MS : 0 })
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
      live ? lookAt(object, live, isIdle) : null,
    ])
    const requests = upstreams && Object.fromEntries(upstreams.map(({ address, requests }) => [address, requests]))
    return { job, retiring: Object.fromEntries(retiring), requests, look }
  }

  const observe = async (object: AppResource): Promise<AppWorld> => {
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
  const forget = (name: string): void => void looks.delete(name)
  return { observe, forget }
}
