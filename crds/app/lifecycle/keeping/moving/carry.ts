/**
 * What an app keeps goes with it to another host: what of that is seen, how long it may take, and what its jobs are called
 * (rules/app.md#volumes-that-move). On the host that it leaves a link is made once that says whether the old ones may run again: who
 * makes it first has decided, be it the host itself when the time is over, or a move that has claimed its switch.
 */
import { handOverSeconds } from '../../../compose/printing/plan.ts'
import type { Project } from '../../../compose/project.ts'
import { markedLines } from '../../../start.ts'
import type { AppStep } from '../../../steps.ts'
import type { AppWorld, JobState, Operation, Release, VolumeSeen } from '../../../world.ts'
import type { CarryOf, HoldFate, PackedVolume } from './held.ts'

export type Carry = CarryOf<JobState>

/** Of all volumes together, as they are on disk: what takes longer is brought to another host by its owner. */
export const CARRY_MAX_BYTES = 8 * 1024 * 1024 * 1024
/** Packed, over the network to the platform and on to the other host, and unpacked: each at what a slow disk or line takes. */
const BYTES_PER_SECOND = 20_000_000
const WAYS = 4
/** Two jobs more than a hand-over on one host has. */
const JOBS_SECONDS = 10
/** What is waited beyond what it was estimated to take before the old ones are started again. */
const GRACE_SECONDS = 300
const GRACE_TIMES = 4

export type CarryPlan = { downtimeSeconds: number; maxSeconds: number }

/** About so long nothing of it runs, and after how long the host that it leaves starts it again by itself. */
export const planCarry = ({ services }: Pick<Project, 'services'>, bytes: number): CarryPlan => {
  const slowest = Math.max(0, ...services.map(handOverSeconds))
  const downtimeSeconds = slowest + JOBS_SECONDS + WAYS * Math.ceil(bytes / BYTES_PER_SECOND)
  return { downtimeSeconds, maxSeconds: GRACE_SECONDS + GRACE_TIMES * downtimeSeconds }
}

const GIB = 1024 * 1024 * 1024

/** The same for whoever measures it himself: seconds for any, and more for each GiB. Never less than what was planned for so much. */
export const carrySeconds = (project: Pick<Project, 'services'>): { anySeconds: number; gibSeconds: number } => {
  const anySeconds = planCarry(project, 0).maxSeconds
  return { anySeconds, gibSeconds: planCarry(project, GIB).maxSeconds - anySeconds }
}

const NAMED = 'volumes' as const

export const carries = ({ steps }: Pick<Operation, 'steps'>): boolean => steps.some(({ name }) => name === NAMED)

/** Names of what is kept for it, be it of a release of before: volumes go with the app, so the host that it was made on says nothing. */
export const keptVolumes = (releases: readonly Pick<Release, 'record'>[]): string[] =>
  [...new Set(releases.flatMap(({ record }) => record?.volumes ?? []))].sort()

const HELD_STEPS: readonly string[] = [NAMED, 'start', 'switch']

/** The move that carries volumes and has come to that: nobody else touches what runs then. */
export const carryingMove = ({ operations }: Pick<AppWorld, 'operations'>): Operation | undefined =>
  operations.find(
    (operation) =>
      operation.state === 'running' &&
      carries(operation) &&
      operation.steps.some(({ name, state }) => state === 'running' && HELD_STEPS.includes(name)),
  )

/** What it carries is stopped by now, or about to be, or nobody knows: nobody else starts, asks or leads anybody to what ran. */
export const isStill = (world: Pick<AppWorld, 'operations' | 'moving'>, steps: readonly AppStep[]): boolean => {
  if (!carryingMove(world)) return false
  const carry = world.moving?.carry ?? null
  const isBegun = carry === null || carry.unreachable !== null || carry.hold.state !== 'absent'
  return isBegun || carry.watch.state !== 'absent' || steps.some((step) => step.do === 'holdVolumes')
}

const BEGINNINGS: readonly AppStep['do'][] = ['askRun', 'beginRun', 'markSchedules', 'wakeAt', 'beginBackup']

/** What goes already is followed to its end, or stopped, for a move waits for that; and nothing else is begun. */
export const isFollowing = (step: AppStep): boolean => !BEGINNINGS.includes(step.do)

export type CarryJob = 'hold' | 'watch' | 'back' | 'place'
export const CARRY_JOBS: readonly CarryJob[] = ['watch', 'back', 'hold', 'place']

/** At most 63 characters of a-z, 0-9 and -. */
export const carryJobOf = ({ id }: Pick<Operation, 'id'>, job: CarryJob): string => `${id}-${job}`

/** Under which name the pack of a volume lies on either host. */
export const packOf = ({ id }: Pick<Operation, 'id'>, n: number): string => `${id}-${n}`

export const fateIn = (log: string): HoldFate => {
  const found = markedLines(log).find(([word]) => word === 'outcome')?.[1]
  return found === 'back' || found === 'left' ? found : 'none'
}

const VOLUME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/

/** What was packed; null where the job did not say so as it should. */
export const packsIn = (log: string): PackedVolume[] | null => {
  const lines = markedLines(log)
  const count = Number(lines.find(([word]) => word === 'held')?.[1] ?? Number.NaN)
  const packs = lines.flatMap(([word, name = '', bytes = '', sha256 = '']) =>
    word === 'packed' ? [{ name, bytes, sha256 }] : [],
  )
  const isWhole = packs.every(
    ({ name, bytes, sha256 }) => VOLUME.test(name) && /^\d{1,12}$/.test(bytes) && /^[0-9a-f]{64}$/.test(sha256),
  )
  if (!isWhole || packs.length !== count) return null
  return packs.map(({ name, bytes, sha256 }, place) => ({ n: place + 1, name, bytes: Number(bytes), sha256 }))
}

const MIB = 1_048_576
export const sayMib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`

export const bytesOf = (volumes: readonly VolumeSeen[]): number => volumes.reduce((sum, { bytes }) => sum + bytes, 0)
