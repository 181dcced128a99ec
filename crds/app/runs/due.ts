/**
 * Which schedules are due. Each instant is dealt with once, whatever happens: its run bears it, and no second one can. Of
 * several that were missed only the last is run, if it is not later than its deadline, as Kubernetes does with CronJobs.
 */
import { createHash } from 'node:crypto'
import { originOf } from '../../kernel/desire/desire.ts'
import { endOfPreview } from '../lifecycle/publishing/preview.ts'
import type { AppResource } from '../schema.ts'
import type { AppWorld } from '../world.ts'
import { lastOf, nextOf, parseCron } from './cron.ts'
import { dueRunId, isRunOpen, type NewRun, type ScheduleMark } from './run.ts'
import type { AppSchedule } from './schema.ts'
import type { RunStep } from './steps.ts'

const digestOf = ({ schedule, timeZone, suspended }: AppSchedule): string =>
  createHash('sha256')
    .update(JSON.stringify([schedule, timeZone, suspended]))
    .digest('hex')
    .slice(0, 16)

/** Those of the spec, each with the mark that it has or begins with. */
const marksFor = (schedules: readonly AppSchedule[], marks: readonly ScheduleMark[], now: Date): ScheduleMark[] =>
  schedules.map((schedule) => {
    const digest = digestOf(schedule)
    const known = marks.find(({ name }) => name === schedule.name)
    if (known?.digest === digest) return known
    return { name: schedule.name, digest, since: now.toISOString(), lastAt: null }
  })

const isSame = (a: readonly ScheduleMark[], b: readonly ScheduleMark[]): boolean =>
  a.length === b.length && a.every(({ name, digest }) => b.some((one) => one.name === name && one.digest === digest))

const skipOf = (
  { name, overlap, startingDeadlineSeconds }: AppSchedule,
  world: AppWorld,
  lateMs: number,
): NewRun['skipped'] => {
  if (lateMs > startingDeadlineSeconds * 1_000) {
    const message = `it was due ${Math.round(lateMs / 1_000)} s ago, and may begin ${startingDeadlineSeconds} s late`
    return { code: 'MISSED', message }
  }
  if (world.releases.every(({ state }) => state !== 'live')) {
    return { code: 'NOT_RELEASED', message: 'nothing of the app runs' }
  }
  const isBusy = world.runs.runs.some((run) => run.schedule === name && isRunOpen(run))
  if (overlap === 'skip' && isBusy) return { code: 'OVERLAP', message: 'its last run still goes' }
  return null
}

const askFor = (
  { metadata, spec }: AppResource,
  schedule: AppSchedule,
  due: { dueAt: string; skipped: NewRun['skipped'] },
): RunStep => {
  const { service, command, timeoutSeconds, name } = schedule
  const id = dueRunId(originOf(metadata), name, due.dueAt)
  const asked = { app: metadata.name, account: spec.account, cause: 'schedule' as const, service, command }
  const rest = { timeoutSeconds, repeatable: false, envKeys: [], operation: null, attempt: 1, release: null }
  return { do: 'askRun', run: { id, ...asked, ...rest, schedule: name, ...due } }
}

const dueOf = (schedule: AppSchedule, { since, lastAt }: ScheduleMark, now: Date): string | null => {
  const parsed = parseCron(schedule.schedule)
  if (schedule.suspended || 'fault' in parsed) return null
  return lastOf(parsed.cron, schedule.timeZone, { since: new Date(lastAt ?? since), now })
}

/** When the app is to be looked at for its schedules; null for never. */
export const wakeOfSchedules = (schedules: readonly AppSchedule[], now: Date): string | null => {
  const next = schedules.flatMap((schedule) => {
    const parsed = parseCron(schedule.schedule)
    if (schedule.suspended || 'fault' in parsed) return []
    return nextOf(parsed.cron, schedule.timeZone, now) ?? []
  })
  return next.sort()[0] ?? null
}

export const dueSteps = (object: AppResource, world: AppWorld, now: Date): RunStep[] => {
  const { schedules = [] } = object.spec
  const { marks, wakesAt, isClockTrusted = true } = world.runs
  if (!isClockTrusted) return []
  const wanted = marksFor(schedules, marks, now)
  if (!isSame(wanted, marks)) return [{ do: 'markSchedules', marks: wanted }]
  const asked = schedules.flatMap((schedule, place): RunStep[] => {
    const dueAt = dueOf(schedule, wanted[place] as ScheduleMark, now)
    if (dueAt === null) return []
    const lateMs = now.getTime() - Date.parse(dueAt)
    return [askFor(object, schedule, { dueAt, skipped: skipOf(schedule, world, lateMs) })]
  })
  if (asked.length > 0) return asked
  // a preview is looked at for its end by the same row
  const dueAt =
    [wakeOfSchedules(schedules, now), endOfPreview(object.spec)].filter((at) => at !== null).sort()[0] ?? null
  return dueAt === wakesAt ? [] : [{ do: 'wakeAt', dueAt }]
}
