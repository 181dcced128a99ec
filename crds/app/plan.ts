import { belongsTo } from '../kernel/fields.ts'
import { ready, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import type { ProblemCode } from '../kernel/problem.ts'
import { unlinkedIntent } from './desire.ts'
import { faultsOf } from './faults.ts'
import { operateOn, presentOperation } from './lifecycle/operate.ts'
import { leaveSteps } from './lifecycle/remove.ts'
import { retireSteps } from './lifecycle/retire.ts'
import { routeStep } from './lifecycle/route.ts'
import { isOpen } from './lifecycle/transitions.ts'
import type { AppFacts, AppResource } from './schema.ts'
import type { AppPlan, AppStep } from './steps.ts'
import { urlOf } from './url.ts'
import type { AppWorld, DiskUse, LogRequest, Operation, Release } from './world.ts'

const RETRY_MS = 60_000
/** How often the live release is looked at when nothing else happens. */
export const LOOK_EVERY_MS = 30_000
/** While something still drains or somebody follows a log. */
const SOON_MS = 1_000

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planApp = (object: AppResource, world: AppWorld, now: Date): AppPlan => {
  const status = factsOf(object, world)
  const end = (verdict: Verdict): AppPlan => ({ steps: [], status, verdict })
  if (object.metadata.deletionTimestamp !== undefined) return { ...leaveSteps(object, world), status }
  const refusal = refusalOf(object, world)
  if (refusal) return end(refusal)
  const holds = world.slugHolder === object.metadata.name
  if (!holds) return { ...end(waiting('TakingName', 'takes its name on the host')), steps: [{ do: 'takeSlug' }] }
  const requested = unlinkedIntent(object, world)
  if (requested) return { ...end(waiting('Asking', 'takes up what its spec asks for')), steps: [requested] }
  return work(object, world, now, end)
}

/** The operation first; beside it what is over goes, and what is read is fetched. */
const work = (object: AppResource, world: AppWorld, now: Date, end: (verdict: Verdict) => AppPlan): AppPlan => {
  const logs: AppStep[] = world.logs
    .filter((request) => isDue(request, now))
    .map((request) => ({ do: 'fetchLogs', request }))
  const operation = presentOperation(object.spec, world)
  const going = operation ? operateOn(object, world, operation, now) : { steps: [], verdict: null }
  const retiring = retireSteps(world, now)
  const routing = operation?.switchAt ? [] : routeStep(object, world)
  // What is over has time while the operation has something to do.
  const leaving = going.steps.length === 0 ? retiring.steps : []
  const steps = [...going.steps, ...routing, ...leaving, ...logs]
  if (going.verdict) return { ...end(going.verdict), steps }
  return { ...end(verdictOf(object, world)), steps, wakeAt: wakeOf(world, retiring.isWaiting, now) }
}

/** A log that is followed is fetched again and again, and not at every look. */
const isDue = ({ fetchedAt }: LogRequest, now: Date): boolean =>
  fetchedAt === null || now.getTime() - Date.parse(fetchedAt) >= SOON_MS

const wakeOf = (world: AppWorld, isWaiting: boolean, now: Date): string => {
  const soon = isWaiting || world.logs.some(({ follow }) => follow)
  return new Date(now.getTime() + (soon ? SOON_MS : LOOK_EVERY_MS)).toISOString()
}

const stop = (code: ProblemCode, detail: string): Verdict => stalled(code, `${code}: ${detail}`)

/** Why nothing at all is done for the app now. */
const refusalOf = ({ spec, metadata }: AppResource, world: AppWorld): Verdict | null => {
  const fault = faultsOf(spec)[0]
  if (fault) return stop(fault.code, `${fault.pointer} ${fault.detail}`)
  if (!world.account) {
    return waiting('AccountMissing', `account ${spec.account} does not exist; create it, or delete this app`, RETRY_MS)
  }
  if (!world.account.capabilities.includes('app.deploy')) {
    return stop('CAPABILITY_REQUIRED', `account ${spec.account} lacks app.deploy; ask an admin to grant it`)
  }
  const { host } = world
  if (!host || !mayUse(host, spec.account)) return stop('HOST_MISSING', `/hostId there is no host ${spec.hostId}`)
  if (!host.approved) return stop('HOST_NOT_APPROVED', `host ${host.name} is not approved; an admin approves it first`)
  if (host.baseDomain === null) return stop('HOST_UNFIT', `host ${host.name} has no base domain; an admin gives it one`)
  if (world.slugHolder !== null && world.slugHolder !== metadata.name) {
    return stop('SLUG_TAKEN', `/slug ${spec.slug} is another app on ${host.name}`)
  }
  if (spec.access === 'private' && (spec.passwordVersion ?? 0) > (world.passwordVersion ?? 0)) {
    return stop('PASSWORD_REQUIRED', '/passwordVersion no such password was set; set one over REST')
  }
  return null
}

/** Everybody's hosts are the platform's; a registered one is its owner's alone. */
export const mayUse = (host: { account: string | null }, account: string): boolean =>
  host.account === null || belongsTo(host, account)

export const liveOf = (world: Pick<AppWorld, 'releases'>): Release | undefined =>
  world.releases.find(({ state }) => state === 'live')

/** The last operation that came to an end; cancelled ones are as if never asked. */
const lastEnded = (world: AppWorld): Operation | undefined =>
  world.operations.filter((operation) => !isOpen(operation) && operation.state !== 'cancelled').at(-1)

const sayExceeded = ({ usedMib, budgetMib }: DiskUse): string =>
  `it had ${usedMib} of ${budgetMib} MiB on disk and was stopped; deploy a release that keeps less, or ask for a larger budget and deploy`

const verdictOf = (object: AppResource, world: AppWorld): Verdict => {
  const last = lastEnded(world)
  const live = liveOf(world)
  if (live && world.look?.disk?.isStopped) return stop('DISK_EXCEEDED', sayExceeded(world.look.disk))
  if (last?.state === 'failed') {
    const serving = live ? `release ${live.number} goes on serving` : 'nothing is live'
    return stop('RELEASE_FAILED', `${last.message ?? 'the release failed'}; ${serving}`)
  }
  if (world.unreachable !== null) return waiting('HostUnreachable', world.unreachable, RETRY_MS)
  if (!live) return ready('Empty', 'waits for its first deploy')
  return ready('Live', `release ${live.number} at ${urlOf(object.spec, world.host) ?? live.address}`)
}

const phaseOf = (object: AppResource, world: AppWorld): string => {
  if (presentOperation(object.spec, world)) return 'deploying'
  if (liveOf(world)) return 'live'
  return lastEnded(world)?.state === 'failed' ? 'failed' : 'empty'
}

const factsOf = (object: AppResource, world: AppWorld): AppFacts => {
  const live = liveOf(world)
  const url = live && urlOf(object.spec, world.host)
  const last = world.operations.at(-1)
  return {
    phase: phaseOf(object, world),
    host: object.spec.hostId,
    ...(url && { url }),
    ...(live && { release: live.number }),
    ...(last && { operation: last.id }),
  }
}
