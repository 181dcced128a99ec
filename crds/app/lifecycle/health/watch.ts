/**
 * The time after a switch in which a release is watched: the one before it stays where it is, and visitors go back to it
 * when the new one turns out to be bad (rules/app.md#watch).
 */
import type { AppSpec } from '../../schema.ts'
import type { AppObservation, AppWorld, Release } from '../../world.ts'
import { findingsOf, isAnswering } from './findings.ts'
import type { Finding, ReleaseWatch } from './seen.ts'

export const WATCH_SECONDS = 60
export const DRAIN_SECONDS = 60
/** How often a release is looked at while it is watched, or while something of it is not as it should be. */
export const WATCH_EVERY_MS = 2_000

const SECOND_MS = 1_000

export const watchMsOf = ({ watchSeconds }: Pick<AppSpec, 'watchSeconds'>): number =>
  (watchSeconds ?? WATCH_SECONDS) * SECOND_MS

/** @param at ISO, of the switch @returns undefined where nothing is watched: there is nothing to go back to */
export const watchFrom = (before: Release | null, at: string, watchMs: number): ReleaseWatch | undefined =>
  before && watchMs > 0 ? { until: new Date(Date.parse(at) + watchMs).toISOString(), before: before.number } : undefined

type Rows = Pick<AppWorld, 'operations' | 'releases'>

const watchedIn = ({ releases }: Rows, now: Date): Release | undefined =>
  releases.find(
    ({ state, record }) => state === 'live' && record?.watch && now.getTime() < Date.parse(record.watch.until),
  )

/** Whether the live release is watched still, with one to go back to or without. */
export const isWatched = (rows: Rows, now: Date): boolean => watchedIn(rows, now) !== undefined

/**
 * The release that stays until the live one has proved good. Not while another is being made: three of them would be more
 * than an app may use, and the host has to take.
 */
export const heldRelease = (rows: Rows, now: Date): Release | null => {
  const before = watchedIn(rows, now)?.record?.watch?.before
  if (before === undefined || rows.operations.some(({ state }) => state === 'running')) return null
  return (
    rows.releases.find(
      ({ number, state, retiredAt }) => number === before && state === 'superseded' && retiredAt === null,
    ) ?? null
  )
}

/** Nobody waits longer for one that answers nothing, or faults, where another would answer. */
export const BAD_MS = 5_000

const isBad = ({ badSince, at }: AppObservation): boolean =>
  badSince !== null && Date.parse(at) - Date.parse(badSince) >= BAD_MS

const badAnswer = ({ http }: AppObservation): Finding => ({
  ...{ code: 'NOT_ANSWERING', service: null, container: null, exitCode: null, isDown: true, mend: null },
  detail: http === null ? 'the routed port answers nothing' : `the routed port answers ${http}`,
})

/** What the platform or whoever is at the host brought about says nothing of the release. */
const OF_THE_HOST: ReadonlySet<string> = new Set(['ROUTE_LOST', 'LIMITS_CHANGED', 'NETWORK_LOST', 'SERVICE_MISSING'])

const isWhole = (look: AppObservation): boolean => look.stopped.length === 0 && isAnswering(look)

/** Why visitors are to go back, and to whom; null while all is well, or where nobody is there who would serve them better. */
export const returnOf = (world: AppWorld, now: Date): { from: Release; to: Release; findings: Finding[] } | null => {
  const from = watchedIn(world, now)
  const to = heldRelease(world, now)
  const { look, before } = world
  if (!from || !to || !look || !before || !isWhole(before) || look.disk?.isStopped) return null
  const found = findingsOf(from, look).filter(({ code }) => !OF_THE_HOST.has(code))
  const findings = found.length === 0 && isBad(look) ? [badAnswer(look)] : found
  // It may have been started anew since, and listen elsewhere.
  const isMoved = before.address !== null && before.address !== to.address
  return findings.length === 0 ? null : { from, to: isMoved ? { ...to, address: before.address } : to, findings }
}
