/** What is not as the live release says, out of one look at its host; and what puts it right (rules/app.md#health). */
import { serviceOfReplica } from '../../compose/replicas.ts'
import type { AppObservation, Release } from '../../world.ts'
import type { ContainerSeen, Finding, HealthCode, ReleasePart } from './seen.ts'

/** An answer from here on is a fault of the app's own. */
const FAULT_FROM = 500
/** So long may the routed port answer nothing, or a fault, before it is said: a slow moment is no news. */
export const SILENT_MS = 12_000
/** Restarts by its engine within the time that looks remember, from which on a service is said to crash again and again. */
export const CRASHES_MAX = 3
/** How long a restart is news. */
export const CALM_MS = 60_000

/** Whether visitors got something from the release. */
export const isAnswering = ({ http }: Pick<AppObservation, 'http'>): boolean => http !== null && http < FAULT_FROM

const describe = ({ service, state, code, isOutOfMemory }: ContainerSeen): string =>
  state === 'paused'
    ? `${service} is paused`
    : `${service} is ${state}, exit code ${code}${isOutOfMemory ? ', it ran out of memory' : ''}`

type Given = Omit<Finding, 'container' | 'exitCode' | 'service'> & {
  of: ReleasePart | ContainerSeen
  exitCode?: number
}

const finding = ({ of, exitCode, ...rest }: Given): Finding => ({
  ...rest,
  service: of.service,
  container: { project: of.project, name: of.name },
  exitCode: exitCode ?? null,
})

const mendOf = ({ project, name }: ReleasePart | ContainerSeen, what: 'start' | 'make' | 'restart') =>
  ({ do: what, project, name }) as const

/** It ended, and was to: a migration, or whatever is not kept up and ended well. */
const isDone = ({ state, code, policy }: ContainerSeen): boolean =>
  state === 'exited' && code === 0 && (policy === 'no' || policy === 'on-failure')

const stopped = (seen: ContainerSeen): Finding =>
  finding({
    code: 'SERVICE_STOPPED',
    of: seen,
    ...(seen.state !== 'paused' && { exitCode: seen.code }),
    detail: describe(seen),
    isDown: true,
    mend: mendOf(seen, seen.state === 'dead' ? 'make' : 'start'),
  })

/** Of what runs, or is about to again. */
const running = (seen: ContainerSeen, at: string): Finding[] => {
  const { service, restartedAt, health, state, code } = seen
  const times = restartedAt.length
  if (times >= CRASHES_MAX) {
    const detail = `${service} was restarted ${times} times within minutes`
    return [finding({ code: 'CRASH_LOOP', of: seen, exitCode: code, detail, isDown: true, mend: null })]
  }
  if (health === 'unhealthy') {
    const detail = `${service} is unhealthy, as its health check says`
    return [finding({ code: 'SERVICE_UNHEALTHY', of: seen, detail, isDown: true, mend: mendOf(seen, 'restart') })]
  }
  const last = restartedAt.at(-1)
  const isNews = last !== undefined && Date.parse(at) - Date.parse(last) < CALM_MS
  if (!isNews && state !== 'restarting') return []
  const detail = `${service} ended by itself and was restarted`
  return [
    finding({
      code: 'SERVICE_RESTARTED',
      of: seen,
      exitCode: code,
      detail,
      isDown: state === 'restarting',
      mend: null,
    }),
  ]
}

const ofContainer = (seen: ContainerSeen, at: string): Finding[] => {
  if (isDone(seen)) return []
  switch (seen.state) {
    case 'running':
    case 'restarting':
      return running(seen, at)
    case 'paused':
    case 'exited':
    case 'dead':
      return [stopped(seen)]
    default:
      // created, or on its way out: the next look knows more
      return []
  }
}

const isWithin = (seen: ContainerSeen, { limits }: ReleasePart): boolean =>
  seen.limits !== null &&
  seen.limits.cpuMillis === limits.cpuMillis &&
  seen.limits.memoryBytes === limits.memoryBytes &&
  seen.limits.pids === limits.pids

/** What is there is held against what is to be there. */
const ofPart = (part: ReleasePart, seen: ContainerSeen | undefined, isRouted: boolean): Finding[] => {
  if (!seen) {
    // Whether what ends by itself has ended cannot be told any more: it is not done twice.
    if (part.isOneShot || !(part.isKeptUp || isRouted)) return []
    const detail = `${part.service} is not there at all`
    return [finding({ code: 'SERVICE_MISSING', of: part, detail, isDown: true, mend: mendOf(part, 'make') })]
  }
  if (part.isOneShot || isDone(seen)) return []
  const lost = part.networks.filter((network) => !seen.networks.includes(network))
  if (lost.length > 0) {
    const detail = `${part.service} is not on its network ${lost.join(', ')}`
    return [finding({ code: 'NETWORK_LOST', of: part, detail, isDown: true, mend: mendOf(part, 'make') })]
  }
  if (isWithin(seen, part)) return []
  const detail = `the limits of ${part.service} are not those of its release`
  const { project, name, limits } = part
  const mend = { do: 'limit', project, name, limits } as const
  return [finding({ code: 'LIMITS_CHANGED', of: part, detail, isDown: false, mend })]
}

const ofApp = (code: HealthCode, detail: string): Finding => ({
  ...{ code, detail, isDown: true, mend: null },
  ...{ service: null, container: null, exitCode: null },
})

const ofAnswer = (look: AppObservation): Finding[] => {
  const { badSince, http, at } = look
  if (badSince === null || Date.parse(at) - Date.parse(badSince) < SILENT_MS) return []
  const detail = http === null ? 'the routed port answers nothing' : `the routed port answers ${http}`
  return [ofApp('NOT_ANSWERING', detail)]
}

/** The order in which it is told: what explains the rest comes first. */
const ORDER: readonly HealthCode[] = [
  'NETWORK_LOST',
  'SERVICE_MISSING',
  'SERVICE_STOPPED',
  'CRASH_LOOP',
  'SERVICE_UNHEALTHY',
  'ROUTE_LOST',
  'NOT_ANSWERING',
  'LIMITS_CHANGED',
  'SERVICE_RESTARTED',
]

/** Visitors are served by the replicas that are well. */
const amongOthers = (one: Finding, { replicas = [] }: AppObservation): Finding => {
  const isOne = replicas.some(({ name }) => name === one.container?.name)
  const isServed = replicas.some(({ name, isReady }) => isReady && name !== one.container?.name)
  return isOne && isServed ? { ...one, isDown: false } : one
}

/** At most one for each container, the worst first; none where all is as the release says. */
export const findingsOf = ({ record }: Pick<Release, 'record'>, look: AppObservation): Finding[] => {
  // what it was given since it was made counts (rules/app.md#budget)
  const limitsOf = (part: ReleasePart) => record?.limits?.[serviceOfReplica(part.service)] ?? part.limits
  const parts = (record?.parts ?? []).map((part) => ({ ...part, limits: limitsOf(part) }))
  const seenOf = ({ project, name }: ReleasePart) =>
    look.containers.find((one) => one.project === project && one.name === name)
  const listeners = [record?.listener, ...(look.replicas ?? []).map(({ name }) => name)]
  const oneShots = new Set(parts.filter(({ isOneShot }) => isOneShot).map(({ project, name }) => `${project} ${name}`))
  const all = [
    ...parts.flatMap((part) => ofPart(part, seenOf(part), listeners.includes(part.name))),
    ...look.containers
      .filter(({ project, name }) => !oneShots.has(`${project} ${name}`))
      .flatMap((seen) => ofContainer(seen, look.at)),
    ...(look.hasRoute === false ? [ofApp('ROUTE_LOST', 'the proxy of its host did not have its route')] : []),
    ...ofAnswer(look),
  ].sort((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code))
  const told = new Set<string>()
  return all
    .map((one) => amongOthers(one, look))
    .filter(({ container }) => {
      if (container === null) return true
      const name = `${container.project} ${container.name}`
      return !told.has(name) && told.add(name)
    })
}

/** Something is on its way up: neither well nor ill. */
export const isSettling = ({ containers }: AppObservation): boolean =>
  containers.some(({ state, health }) => state === 'created' || (state === 'running' && health === 'starting'))
