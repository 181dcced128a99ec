import { mayUseHost } from '../kernel/fields.ts'
import { type OwnCondition, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import type { ProblemCode } from '../kernel/problem.ts'
import { lapsedSteps, manifestBehind, unlinkedIntent, unlinkedMove } from './desire.ts'
import { faultsOf } from './faults.ts'
import { healthSteps } from './lifecycle/health/mend.ts'
import { conditionsOf, verdictOf } from './lifecycle/health/verdict.ts'
import { isWatched, WATCH_EVERY_MS } from './lifecycle/health/watch.ts'
import { isRestoring } from './lifecycle/keeping/backups/backup.ts'
import { backupSteps, hasBackups, refusedBackups } from './lifecycle/keeping/backups/plan.ts'
import { budgetRefusalOf, budgetSteps, fullness, roomSteps } from './lifecycle/keeping/budget.ts'
import { carryingMove, isFollowing, isStill } from './lifecycle/keeping/moving/carry.ts'
import { leftSteps } from './lifecycle/keeping/moving/leave.ts'
import { operateOn, presentOperation } from './lifecycle/operate.ts'
import { domainsRefusal, nameSteps } from './lifecycle/publishing/domains.ts'
import { openAgainAt, openSteps } from './lifecycle/publishing/open.ts'
import { deleteSteps, isEnding, lookForEnd, previewSteps } from './lifecycle/publishing/preview.ts'
import { openConditions } from './lifecycle/publishing/staying.ts'
import { urlOf } from './lifecycle/publishing/url.ts'
import { domainsStatus } from './lifecycle/publishing/view.ts'
import { leaveSteps } from './lifecycle/remove.ts'
import { retireSteps } from './lifecycle/retire.ts'
import { routeStep } from './lifecycle/route.ts'
import { cutSteps, leavingIn, leavingSteps } from './lifecycle/scaling/leaving.ts'
import { wantedReplicas } from './lifecycle/scaling/replicas.ts'
import { singleFault, unlinkedScale } from './lifecycle/scaling/scale.ts'
import { isOpen } from './lifecycle/transitions.ts'
import { hasRuns, refusedRuns, runSteps } from './runs/plan.ts'
import { runConditions } from './runs/view.ts'
import type { AppFacts, AppResource } from './schema.ts'
import type { AppPlan, AppStep } from './steps.ts'
import type { AppWorld, LogRequest, Operation, Release, TargetHost } from './world.ts'

const RETRY_MS = 60_000
/** How often the live release is looked at when nothing else happens. */
export const LOOK_EVERY_MS = 10_000
/** While something still drains or somebody follows a log. */
const SOON_MS = 1_000

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planApp = (object: AppResource, world: AppWorld, now: Date): AppPlan => {
  const status = factsOf(object, world)
  const conditions = besideOf(object, world)
  const end = (verdict: Verdict): AppPlan => ({ steps: [], status, verdict, conditions })
  if (object.metadata.deletionTimestamp !== undefined) return { ...leaveSteps(object, world, now), status }
  if (isEnding(object, world, now)) {
    const verdict = waiting('Ending', 'the end of the preview has come: it goes with all that it has', SOON_MS)
    return { ...end(verdict), steps: deleteSteps([object.metadata.name], world.previews.asked) }
  }
  const refusal = refusalOf(object, world)
  if (refusal) return { ...end(refusal), ...whileRefused(object, world, now, refusal), ...lookForEnd(object, now) }
  const previewed = previewSteps(object, world)
  if (previewed.length > 0) return { ...end(waiting('Previewing', 'is entered as a preview')), steps: previewed }
  const host = world.host as TargetHost
  if (world.slugHolder !== object.metadata.name)
    return { ...end(waiting('TakingName', 'takes its name on the host')), steps: [{ do: 'takeSlug' }] }
  const rooms = roomSteps(object, { ...world, host })
  if (rooms.length > 0) return { ...end(waiting('TakingRoom', 'takes its room on the host')), steps: rooms }
  const full = fullness(object, { ...world, host })
  if (full !== null && world.room.held === null) return end(stop('HOST_FULL', full))
  const requested = unlinkedIntent(object, world) ?? unlinkedScale(object, world)
  if (requested) return { ...end(waiting('Asking', 'takes up what its spec asks for')), steps: [requested] }
  const plan = work(object, world, now, end)
  const behind = plan.verdict.state === 'waiting' ? null : manifestBehind(object, world)
  return behind ? { ...plan, verdict: behind } : plan
}

/** What is said of an app whatever is done for it. */
const besideOf = ({ spec }: AppResource, world: AppWorld): OwnCondition[] => [
  ...openConditions(spec, world),
  ...runConditions(world),
]

/** Runs and backups, and what a changed budget grants. @param isHeld nobody touches what runs */
const runningBeside = (object: AppResource, world: AppWorld, now: Date, isHeld: boolean): AppStep[] => {
  const operation = presentOperation(object.spec, world)
  // What runs here would be left behind by a move that has claimed its switch.
  if (isHeld || (operation?.kind === 'move' && operation.switchAt !== null)) return []
  const isIdle = operation === undefined && world.host !== null && !isRestoring(world)
  const budgets = isIdle ? budgetSteps(object, { ...world, host: world.host as TargetHost }) : []
  const all = [...runSteps(object, world, now), ...backupSteps(world), ...budgets]
  return carryingMove(world) ? all.filter(isFollowing) : all
}

/** The operation first; beside it what is over goes, and what is read is fetched. */
const work = (object: AppResource, world: AppWorld, now: Date, end: (verdict: Verdict) => AppPlan): AppPlan => {
  const requests = world.logs.filter((request) => isDue(request, now))
  const logs: AppStep[] = requests.length === 0 ? [] : [{ do: 'fetchLogs', requests }]
  const last = lastEnded(world)
  const conditions = [...conditionsOf(world, last), ...besideOf(object, world)]
  const healing = healthSteps(world, now, isUnsaid(object))
  const [first] = healing
  if (first?.do === 'returnTo') {
    const message = `release ${first.from.number} turned out to be bad: visitors go back to release ${first.to.number}`
    return { ...end(waiting('Returning', message)), conditions, steps: [first] }
  }
  const operation = presentOperation(object.spec, world)
  const going = operation ? operateOn(object, world, operation, now) : { steps: [], verdict: null }
  const retiring = retireSteps(object.spec, world, now)
  const isHeld = isStill(world, going.steps)
  // Nobody whom the proxy still lets in is ended: he would come back.
  const routing =
    operation?.switchAt || isHeld ? [] : [...routeStep(object, world), ...openSteps(object.spec, world, now)]
  // What is over has time while the operation has something to do. Of what was stopped nothing goes: it is to be started again.
  const leaving = going.steps.length === 0 ? [...(isHeld ? [] : retiring.steps), ...leftSteps(world)] : []
  const beside = runningBeside(object, world, now, isHeld)
  const replicas = isHeld ? [] : [...leavingSteps(object.spec, world, now), ...cutSteps(object.spec, world, now)]
  const steps = [
    ...lapsedSteps(object.spec, world, now),
    ...going.steps,
    ...nameSteps(object, world),
    ...routing,
    ...healing,
    ...leaving,
    ...replicas,
    ...logs,
    ...beside,
  ]
  if (going.verdict) return { ...end(going.verdict), conditions, steps }
  const isNews = world.episode !== null && isUnsaid(object)
  const isGoing = Object.values(world.leaving).some((job) => job !== null) || leavingIn(world).length > 0
  const isSoon = isGoing || retiring.isWaiting || hasRuns(world) || hasBackups(world) || isNews
  const wakeAt = [wakeOf(world, isSoon, now), ...(isHeld ? [] : openAgainAt(world, now))].sort()[0] as string
  return { ...end(saidOf(object, world, verdictOf(object, world, now, last))), conditions, steps, wakeAt }
}

/** Whether its status says something else than that it is down. */
const isUnsaid = ({ status }: AppResource): boolean =>
  status?.conditions?.some(({ type, status: stands }) => type === 'Ready' && stands !== 'False') ?? false

/** A log that is followed is fetched again and again, and not at every look. */
const isDue = ({ fetchedAt }: LogRequest, now: Date): boolean =>
  fetchedAt === null || now.getTime() - Date.parse(fetchedAt) >= SOON_MS

/**
 * When its look is too old to be gone by. A pass in between puts off no look: two would lie between what happens and who sees it. A clock that is
 * set back puts off none either.
 */
const wakeOf = (world: AppWorld, isWaiting: boolean, now: Date): string => {
  const everyMs = lookEveryMs(world, now)
  const isSoon = isWaiting || world.logs.some(({ follow }) => follow)
  const staleMs = world.look === null ? 0 : Date.parse(world.look.at) + everyMs + 1 - now.getTime()
  return new Date(
    now.getTime() + (isSoon ? SOON_MS : staleMs > 0 ? Math.min(staleMs, everyMs + 1) : everyMs),
  ).toISOString()
}

/** How old a look may be. Whatever was just started, or is not well, is looked at more often. */
export const lookEveryMs = (rows: Pick<AppWorld, 'operations' | 'releases' | 'episode'>, now: Date): number =>
  rows.episode !== null || isWatched(rows, now) ? WATCH_EVERY_MS : LOOK_EVERY_MS

const stop = (code: ProblemCode, detail: string): Verdict => stalled(code, `${code}: ${detail}`)

/** What waits for it hears why nothing is done. */
const whileRefused = (
  object: AppResource,
  world: AppWorld,
  now: Date,
  refusal: Verdict,
): Pick<AppPlan, 'steps' | 'verdict'> => {
  if (refusal.state !== 'stalled') return { steps: [], verdict: refusal }
  const away = moveAway(object, world, now, refusal)
  if (away) return { steps: away.steps, verdict: away.verdict ?? refusal }
  return { steps: [...refusedRuns(world, refusal), ...refusedBackups(world, refusal)], verdict: refusal }
}

/** From a host on which nothing may be done any more an app may still move away: what it does there is leave it as it is. */
const moveAway = (
  object: AppResource,
  world: AppWorld,
  now: Date,
  refusal: Verdict,
): (Pick<AppPlan, 'steps'> & { verdict: Verdict | null }) | null => {
  const isOfHost = refusal.state === 'stalled' && LEFT_ALONE.has(refusal.code)
  if (!isOfHost) return null
  const operation = presentOperation(object.spec, world)
  if (operation?.kind === 'move') return operateOn(object, world, operation, now)
  const asked = operation ? null : unlinkedMove(object, world)
  return asked && { steps: [asked], verdict: waiting('Asking', 'takes up what its spec asks for') }
}

const LEFT_ALONE: ReadonlySet<string> = new Set(['HOST_NOT_APPROVED', 'HOST_UNFIT', 'HOST_MISSING'])

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
  if (!host || !mayUseHost(host, spec.account)) return stop('HOST_MISSING', `/hostId there is no host ${spec.hostId}`)
  if (!host.approved) return stop('HOST_NOT_APPROVED', `host ${host.name} is not approved; an admin approves it first`)
  if (host.baseDomain === null) return stop('HOST_UNFIT', `host ${host.name} has no base domain; an admin gives it one`)
  if (world.slugHolder !== null && world.slugHolder !== metadata.name) {
    return stop('SLUG_TAKEN', `/slug ${spec.slug} is another app on ${host.name}`)
  }
  if (world.slugHolder === null && host.isCordoned) return stop('HOST_CORDONED', `host ${host.name} takes no new apps`)
  if (spec.access === 'private' && (spec.passwordVersion ?? 0) > (world.passwordVersion ?? 0)) {
    return stop('PASSWORD_REQUIRED', '/passwordVersion no such password was set; set one over REST')
  }
  return null
}

export const liveOf = (world: Pick<AppWorld, 'releases'>): Release | undefined =>
  world.releases.find(({ state }) => state === 'live')

/** The last operation that came to an end; cancelled ones are as if never asked. */
const lastEnded = (world: AppWorld): Operation | undefined =>
  world.operations.filter((operation) => !isOpen(operation) && operation.state !== 'cancelled').at(-1)

/**
 * What is wrong with what it asks for, where what runs is well or nothing is there to run.
 * @param seen what a look says
 */
const saidOf = (object: AppResource, world: AppWorld, seen: Verdict): Verdict => {
  const isQuiet = seen.state === 'ready' || (!liveOf(world) && seen.state !== 'stalled')
  if (!isQuiet) return seen
  const full = world.host && fullness(object, { ...world, host: world.host })
  if (full) return stop('HOST_FULL', `${full}; what runs keeps what it has`)
  const single = singleFault(liveOf(world)?.record, wantedReplicas(object.spec))
  if (single !== null) return stop('REPLICAS_REFUSED', single)
  const refusal = budgetRefusalOf(object, world)
  if (refusal) return stop('BUDGET_REFUSED', refusal)
  const unserved = domainsRefusal(object, world)
  return unserved ? stop(unserved.code, unserved.detail) : seen
}

const phaseOf = (object: AppResource, world: AppWorld): string => {
  if (presentOperation(object.spec, world)) return 'deploying'
  if (liveOf(world)) return 'live'
  return lastEnded(world)?.state === 'failed' ? 'failed' : 'empty'
}

/** Of what was never counted nothing is said. */
const servingOf = ({ spec }: AppResource, { look }: AppWorld): Pick<AppFacts, 'replicas' | 'serving'> => {
  if (!look?.replicas) return {}
  const replicas = look.replicas.filter(({ isReady }) => isReady).length
  return { replicas, serving: `${replicas}/${wantedReplicas(spec)}` }
}

const factsOf = (object: AppResource, world: AppWorld): AppFacts => {
  const live = liveOf(world)
  const url = live && urlOf(object.spec, world.host)
  const last = world.operations.at(-1)
  const away = world.places.flatMap(({ host, place }) => (place === 'left' ? [host] : []))
  return {
    phase: phaseOf(object, world),
    host: world.home,
    ...(away.length > 0 && { leaving: away }),
    ...(url && { url }),
    ...(live && { release: live.number }),
    ...(live && servingOf(object, world)),
    ...domainsStatus(object.spec, world),
    ...(last && { operation: last.id }),
  }
}
