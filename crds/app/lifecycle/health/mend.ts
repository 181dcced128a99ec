/**
 * What is done about a live release that is not as it should be: it is noted once, tried to be put right with growing pauses,
 * and told when it is well again (rules/app.md#health).
 */
import type { AppStep } from '../../steps.ts'
import type { AppObservation, AppWorld, Release, StepName } from '../../world.ts'
import { isRestoring } from '../keeping/backups/backup.ts'
import { findingsOf, isAnswering, isSettling } from './findings.ts'
import type { Episode, Finding, HealthCode } from './seen.ts'
import { returnOf } from './watch.ts'

/** Before each try. After the last one a person has to look: whatever ends again and again is not started for ever. */
const PAUSES_MS = [0, 10_000, 30_000, 60_000, 120_000, 300_000, 900_000, 1_800_000]
export const TRIES_MAX = PAUSES_MS.length
/** What was seen longer ago is nothing to act on. */
const FRESH_MS = 30_000
/** So long has something to be well that was started by us more than once. */
const STEADY_MS = 15_000

/** Steps of an operation in which the base, or the route, is its own. */
const OCCUPIED: readonly StepName[] = ['volumes', 'start', 'switch']

/** Whether an operation or a restore is at work on what runs: nobody else touches it then, and what is seen is half of it. */
export const isOccupied = ({ operations, backups }: Pick<AppWorld, 'operations' | 'backups'>): boolean =>
  isRestoring({ backups }) ||
  operations.some(
    ({ state, steps }) =>
      state === 'running' && steps.some((step) => step.state === 'running' && OCCUPIED.includes(step.name)),
  )

export const isGivenUp = ({ attempts }: Episode): boolean => attempts >= TRIES_MAX

const isDue = ({ attempts, attemptedAt }: Episode, now: Date): boolean => {
  const pauseMs = PAUSES_MS[attempts]
  if (pauseMs === undefined) return false
  return attemptedAt === null || now.getTime() - Date.parse(attemptedAt) >= pauseMs
}

/** What is started again and again is let go on by itself; a part that only waits for another is not touched. */
const mendsOf = (findings: readonly Finding[]) => findings.flatMap(({ mend }) => (mend === null ? [] : [mend]))

const isSteady = (look: AppObservation, { attempts, attemptedAt }: Episode): boolean =>
  attempts < 2 || attemptedAt === null || Date.parse(look.at) - Date.parse(attemptedAt) >= STEADY_MS

/** Its host stops it, or has: whoever starts it meanwhile would give it more room than it may have. */
const isOverDisk = ({ disk }: AppObservation): boolean =>
  disk !== null && (disk.isStopped || disk.usedMib > disk.budgetMib)

type Seen = { live: Release; look: AppObservation; findings: Finding[] }

/** What is known well enough to act on; null for what is not. */
const seenIn = (world: AppWorld, now: Date): Seen | null => {
  const live = world.releases.find(({ state }) => state === 'live')
  const { look } = world
  if (!live || !look || isOverDisk(look) || now.getTime() - Date.parse(look.at) > FRESH_MS) return null
  return { live, look, findings: findingsOf(live, look) }
}

/** @param isUnsaid that it is down comes first, however fast it is put right */
const mendStep = ({ live, findings }: Seen, episode: Episode, now: Date, isUnsaid: boolean): AppStep[] => {
  if (isUnsaid && episode.attempts === 0 && findings.some(({ isDown }) => isDown)) return []
  const mends = mendsOf(findings)
  return mends.length > 0 && isDue(episode, now) ? [{ do: 'mend', release: live, episode, mends }] : []
}

/** What visitors need not notice. Whatever takes an app down while one of these lasts is told as what it is. */
const MILD: readonly HealthCode[] = ['LIMITS_CHANGED', 'SERVICE_RESTARTED']

const isWorse = ({ code, isDown }: Finding, episode: Episode): boolean =>
  isDown && code !== episode.code && MILD.includes(episode.code)

/** @param isUnsaid its status does not say yet that it is down */
export const healthSteps = (world: AppWorld, now: Date, isUnsaid = false): AppStep[] => {
  const seen = isOccupied(world) ? null : seenIn(world, now)
  if (!seen) return []
  const back = returnOf(world, now)
  if (back) return [{ do: 'returnTo', ...back }]
  const { live, look, findings } = seen
  const { episode } = world
  const [worst] = findings
  const noted = (finding: Finding, instead: Episode | null): AppStep[] => [
    { do: 'noteUnhealthy', release: live, finding, findings: findings.length, instead },
  ]
  if (!episode) return worst ? noted(worst, null) : []
  // It was tried since: the look has nothing to do with that.
  if (episode.attemptedAt !== null && look.at <= episode.attemptedAt) return []
  if (!worst) {
    const isWell = isAnswering(look) && !isSettling(look) && isSteady(look, episode)
    return isWell ? [{ do: 'noteRecovered', episode }] : []
  }
  return isWorse(worst, episode) ? noted(worst, episode) : mendStep(seen, episode, now, isUnsaid)
}
