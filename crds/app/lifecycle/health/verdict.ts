/**
 * What is said of an app: by what a look saw of it, and not by how the last operation ended (rules/app.md#health). A
 * release that failed is a condition of its own while the one before it serves.
 */
import { type OwnCondition, ready, stalled, unready, type Verdict } from '../../../kernel/plan.ts'
import type { AppResource } from '../../schema.ts'
import type { AppObservation, AppWorld, DiskUse, Operation, Release } from '../../world.ts'
import { urlOf } from '../publishing/url.ts'
import { findingsOf, isAnswering } from './findings.ts'
import { isGivenUp, TRIES_MAX } from './mend.ts'
import type { Episode, Finding } from './seen.ts'

/** What was seen longer ago is not known any more. */
export const STALE_MS = 45_000
/** Characters of a log in a condition. */
const LOG_SAID = 400

const sayExceeded = ({ usedMib, budgetMib }: DiskUse): string =>
  `DISK_EXCEEDED: it had ${usedMib} of ${budgetMib} MiB on disk and was stopped; deploy a release that keeps less, or ask for a larger budget and deploy`

const linesOf = ({ log }: Episode): string => {
  const said = (log ?? '').trimEnd()
  return said === '' ? '' : `; it said last: ${said.slice(-LOG_SAID)}`
}

const triesOf = (episode: Episode | null): string =>
  episode && episode.attempts > 0 ? `; tried to put it right ${episode.attempts} of ${TRIES_MAX} times` : ''

/** `SERVICE_STOPPED` → `ServiceStopped`. */
const reasonOf = (code: string): string =>
  code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

const sayFinding = ({ detail }: Pick<Finding, 'detail'>, episode: Episode | null): string =>
  `${detail}${triesOf(episode)}${episode ? linesOf(episode) : ''}`

const ofLook = (object: AppResource, world: AppWorld, seen: { live: Release; look: AppObservation }): Verdict => {
  const { live, look } = seen
  const { episode } = world
  const worst = findingsOf(live, look).find(({ isDown }) => isDown)
  if (worst) {
    const message = `release ${live.number}: ${sayFinding(worst, episode)}`
    if (episode && isGivenUp(episode)) return stalled('APP_UNHEALTHY', `APP_UNHEALTHY: ${message}`)
    return unready({ ready: 'False', reason: reasonOf(worst.code), message, warns: true })
  }
  if (!isAnswering(look)) {
    const what = look.http === null ? 'does not answer' : `answers ${look.http}`
    return unready({ ready: 'False', reason: 'NotServing', message: `release ${live.number} ${what}`, warns: true })
  }
  return ready(
    'Live',
    `release ${live.number} at ${urlOf(object.spec, world.host) ?? live.address}${sayReplicas(look)}${sayChanges(live)}`,
  )
}

/** One alone is either there, or the app is not. */
const sayReplicas = ({ replicas = [] }: AppObservation): string =>
  replicas.length < 2
    ? ''
    : `; ${replicas.filter(({ isReady }) => isReady).length} of ${replicas.length} replicas answer`

/** How much of the compose file runs otherwise than it was written. */
const sayChanges = ({ record }: Release): string => {
  const count = record?.changes?.length ?? 0
  if (count === 0) return ''
  return `; ${count} change${count === 1 ? '' : 's'} to its compose file, told in changes of the release`
}

/** @param last the operation that ended last; cancelled ones are as if never asked */
export const verdictOf = (object: AppResource, world: AppWorld, now: Date, last: Operation | undefined): Verdict => {
  const live = world.releases.find(({ state }) => state === 'live')
  const { look, unreachable } = world
  const unknown = (reason: string, message: string) => unready({ ready: 'Unknown', reason, message, warns: true })
  if (!live) {
    if (last?.state === 'failed') {
      return stalled('RELEASE_FAILED', `RELEASE_FAILED: ${last.message ?? 'the release failed'}; nothing is live`)
    }
    // Nobody who waits for it to be ready wants to hear that nothing is there.
    return unready({ ready: 'False', reason: 'Empty', message: 'waits for its first deploy', warns: false })
  }
  if (unreachable !== null) return unknown('HostUnreachable', unreachable)
  if (look?.disk?.isStopped) return stalled('DISK_EXCEEDED', sayExceeded(look.disk))
  if (!look || now.getTime() - Date.parse(look.at) > STALE_MS) {
    return unknown('NotSeen', `release ${live.number} was not seen lately: its host does not tell what runs`)
  }
  return ofLook(object, world, { live, look })
}

const isTrue = (type: string, reason: string, message: string): OwnCondition => ({
  type,
  status: 'True',
  reason,
  message,
})

/** What is to be known beside the verdict. Each is there for as long as it holds. */
export const conditionsOf = (world: AppWorld, last: Operation | undefined): OwnCondition[] => {
  const live = world.releases.find(({ state }) => state === 'live')
  const { episode } = world
  const said: OwnCondition[] = []
  if (last?.state === 'failed') {
    const serving = live ? `release ${live.number} goes on serving` : 'nothing is live'
    const message = `${last.code ?? 'RELEASE_FAILED'}: ${last.message ?? 'the release failed'}; ${serving}; mend it and deploy again`
    said.push(isTrue('ReleaseFailed', reasonOf(last.code ?? 'RELEASE_FAILED'), message))
  }
  if (live && episode) said.push(isTrue('Unhealthy', reasonOf(episode.code), sayFinding(episode, episode)))
  return said
}

export type HealthView = {
  state: 'healthy' | 'unhealthy' | 'unknown'
  code: string | null
  detail: string | null
  service: string | null
  exit_code: number | null
  log_tail: string | null
  since: string | null
  attempts: number
}

/** The same as REST shows it. */
export const healthOf = (world: AppWorld): HealthView => {
  const { episode, look, releases, unreachable } = world
  const isSeen = unreachable === null && look !== null && releases.some(({ state }) => state === 'live')
  const none = { code: null, detail: null, service: null, exit_code: null, log_tail: null, since: null, attempts: 0 }
  if (!episode) return { state: isSeen && isAnswering(look) ? 'healthy' : 'unknown', ...none }
  const { code, detail, service, exitCode, log, beganAt, attempts } = episode
  return { state: 'unhealthy', code, detail, service, exit_code: exitCode, log_tail: log, since: beganAt, attempts }
}
