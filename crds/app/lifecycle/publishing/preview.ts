/**
 * A preview: an app of its own beside another one, of one of its branches, with an end (rules/app.md#previews). Whatever holds
 * for apps holds for it; here is only what it has besides: its name, its end, and that it goes with the app that it is of.
 */
import { type AppResource, type AppSpec, SLUG_MAX } from '../../schema.ts'
import type { AppStep } from '../../steps.ts'
import type { AppWorld } from '../../world.ts'

/** Of one app at a time. */
export const PREVIEWS_MAX = 10

const MINUTE_MS = 60_000
export const PREVIEW_MIN_MS = 5 * MINUTE_MS
export const PREVIEW_DEFAULT_MS = 7 * 24 * 60 * MINUTE_MS
export const PREVIEW_MAX_MS = 30 * 24 * 60 * MINUTE_MS
/** A timer is not set for longer: what lies beyond is looked at again. */
const LOOK_MAX_MS = 60 * MINUTE_MS
/** How often an app that is deleted asks its previews to go. */
const LEAVE_EVERY_MS = 2_000

export const TTL_PATTERN = '^[1-9][0-9]{0,4}[mhd]$'
const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS }

/** @param ttl as `90m`, `12h`, `3d` */
export const ttlMs = (ttl: string): number => Number(ttl.slice(0, -1)) * (UNITS[ttl.slice(-1)] ?? 0)

const BRANCH_MIN = 8
const MARK = 5
const trimmed = (text: string): string =>
  text
    .split('-')
    .filter((part) => part !== '')
    .join('-')

/** What is left of a branch in a label of DNS: a letter first, and nothing in third and fourth place that means another alphabet. */
const branchSlug = (ref: string, max: number): string => {
  const plain = trimmed(ref.toLowerCase().replace(/[^a-z0-9]+/g, '-')) || 'ref'
  const led = /^[a-z]/.test(plain) && plain.length > 2 ? plain : `b-${plain}`
  return trimmed(led.slice(0, max))
}

/**
 * `<branch>--<app>`, of at most 40 characters. Other branches may be left with the same: then `mark` tells them apart.
 * @param mark a few characters out of the whole name of the branch; '' for none
 */
export const previewSlug = (app: string, ref: string, mark: string): string => {
  const parent = trimmed(app.slice(0, SLUG_MAX - BRANCH_MIN - MARK - 2))
  const end = `${mark === '' ? '' : `-${mark}`}--${parent}`
  return `${branchSlug(ref, SLUG_MAX - end.length)}${end}`
}

const isPast = (at: string, now: Date): boolean => Date.parse(at) <= now.getTime()

/** When its app is to be looked at for its end; null where it has none. */
export const endOfPreview = ({ previewOf }: AppSpec): string | null => previewOf?.expiresAt ?? null

/** For passes that write nothing down. */
export const lookForEnd = ({ spec }: AppResource, now: Date): { wakeAt?: string } => {
  const at = endOfPreview(spec)
  if (at === null) return {}
  return { wakeAt: new Date(Math.min(Date.parse(at), now.getTime() + LOOK_MAX_MS)).toISOString() }
}

/** Its end has come, or was on record before: it goes. Not by a clock that nobody believes. */
export const isEnding = ({ spec }: AppResource, { previews, runs }: AppWorld, now: Date): boolean => {
  if (spec.previewOf === undefined) return false
  if (previews.own?.endedAt != null) return true
  return runs.isClockTrusted !== false && isPast(spec.previewOf.expiresAt, now)
}

/** It is on record as what it is, with its end, before anything of it is made. */
export const previewSteps = ({ spec }: AppResource, { previews: { own } }: AppWorld): AppStep[] => {
  if (spec.previewOf === undefined) return []
  const isKnown = own !== null && own.endedAt === null && own.expiresAt === spec.previewOf.expiresAt
  return isKnown ? [] : [{ do: 'takePreview' }]
}

/** Each is asked to go once in a pass: that it goes is seen later. */
export const deleteSteps = (apps: readonly string[], asked: readonly string[] = []): AppStep[] =>
  apps.filter((app) => !asked.includes(app)).map((app) => ({ do: 'deletePreview', app }))

/** What an app that is deleted has still to do about previews, before the last of it is forgotten. */
export const leavePreviews = (
  { spec }: AppResource,
  { previews: { own, open, asked } }: AppWorld,
  now: Date,
): { steps: AppStep[]; retryMs: number } | null => {
  if (open.length > 0) {
    return {
      steps: deleteSteps(
        open.map(({ app }) => app),
        asked,
      ),
      retryMs: LEAVE_EVERY_MS,
    }
  }
  if (own === null || own.endedAt !== null) return null
  const reason = isPast(spec.previewOf?.expiresAt ?? own.expiresAt, now) ? 'expired' : 'deleted'
  return { steps: [{ do: 'endPreview', reason }], retryMs: LEAVE_EVERY_MS }
}
