/** What the world of an app is after each step of its plan (builders/app/app.ts makes the world before). */
import type { EventNamed, KnownRelease } from '../../../../crds/app/lifecycle/events.ts'
import type { BackupStep } from '../../../../crds/app/lifecycle/keeping/backups/steps.ts'
import { targetOf } from '../../../../crds/app/lifecycle/keeping/moving/place.ts'
import type { RunStep } from '../../../../crds/app/runs/steps.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import type { AppObservation, AppPlace, AppWorld, JobState, Operation } from '../../../../crds/app/world.ts'
import { AT, aLook, anOperation, anOwnName, aPreview, NAME } from './app.ts'
import { backupStepped } from './backups.ts'
import { carryStepped, isCarry } from './carried.ts'
import { anEpisode } from './episode.ts'
import { happened, withRelease } from './happened.ts'
import { runStepped } from './runs.ts'
import { isScale, scaleStepped } from './scaled.ts'

/** How the host answers: what each job ends with. */
export type Fate = { images: JobState; start: JobState }

const passed = (
  world: AppWorld,
  operation: Operation,
  step: EventNamed<'passed'>['step'],
  known: KnownRelease = {},
) => ({
  ...happened(world, operation, { on: 'passed', step, known, message: null }),
  job: { state: 'absent' } as const,
})

const WATCH_MS = 60_000

/** A start that ended well has looked. */
const lookAfter = ({ route, host }: AppWorld): AppObservation => {
  const address = route?.address ?? null
  return aLook({ address, dial: host?.siteRoot ? address : null })
}

type HealthStep = Extract<AppStep, { do: 'noteUnhealthy' | 'mend' | 'noteRecovered' | 'returnTo' }>

const mended = (world: AppWorld, step: HealthStep): AppWorld => {
  switch (step.do) {
    case 'noteUnhealthy':
      return { ...world, episode: anEpisode({ code: step.finding.code, detail: step.finding.detail }) }
    case 'mend':
      return {
        ...world,
        episode: { ...step.episode, attempts: step.episode.attempts + 1, attemptedAt: AT },
        look: null,
      }
    case 'noteRecovered':
      return { ...world, episode: null }
    case 'returnTo': {
      const ending = { code: 'RELEASE_FAILED', message: 'bad', log: null }
      const { from, to } = step
      return {
        ...happened(world, { id: from.operation }, { on: 'returned', before: to, ...ending }),
        look: null,
        before: null,
      }
    }
    default:
      return step satisfies never
  }
}

const askedOf = (world: AppWorld, { id, intent }: Extract<AppStep, { do: 'ask' }>): AppWorld => {
  const n = Math.max(0, ...world.operations.map((one) => one.n)) + 1
  return { ...world, operations: [...world.operations, anOperation({ id, n, intent, byController: true })] }
}

const budgeted = (world: AppWorld, step: Extract<AppStep, { do: 'takeRoom' | 'applyBudget' }>): AppWorld =>
  step.do === 'takeRoom'
    ? { ...world, room: { ...world.room, held: step.budget } }
    : withRelease(world, step.release.number, { record: { ...step.release.record, budget: step.budget } })

const renamed = (world: AppWorld, step: Extract<AppStep, { do: 'claimNames' | 'releaseNames' }>): AppWorld => {
  const { names } = world.naming
  const kept = step.do === 'releaseNames' ? names.filter(({ name }) => step.keep.includes(name)) : names
  const claimed = step.do === 'claimNames' ? step.names : []
  const more = claimed.map((name) => anOwnName(name, { state: 'asked', proof: null }))
  return { ...world, naming: { ...world.naming, names: [...kept, ...more] } }
}

/** As settle_app_move.sql has it. */
const arrived = (world: AppWorld, { operation }: Extract<AppStep, { do: 'goLive' }>): AppWorld => {
  const home = targetOf(operation) ?? ''
  const left: AppPlace = { host: world.home, place: 'left', until: AT }
  const switched = happened(world, operation, { on: 'switched', watchMs: 0 })
  const places: AppPlace[] = [{ host: home, place: 'home', until: null }, left]
  return {
    ...switched,
    home,
    host: world.moving?.target ?? null,
    places,
    moving: null,
    leaving: {},
    look: lookAfter(world),
  }
}

/** Nothing came of it: what was begun there is to go. */
const stayed = (world: AppWorld, operation: Operation): AppWorld => {
  const host = targetOf(operation) ?? ''
  const isBegun = world.places.some((one) => one.host === host && one.place === 'coming')
  if (!isBegun) return { ...world, moving: null }
  const places = world.places.map(
    (one): AppPlace => (one.place === 'coming' ? { host, place: 'left', until: AT } : one),
  )
  return { ...world, places, moving: null, job: null, leaving: { [host]: { state: 'absent' } } }
}

const wentLive = (world: AppWorld, step: Extract<AppStep, { do: 'goLive' }>): AppWorld => {
  if (step.operation.kind === 'move') return arrived(world, step)
  return { ...happened(world, step.operation, { on: 'switched', watchMs: WATCH_MS }), look: lookAfter(world) }
}

const endedBy = (world: AppWorld, { operation, state, code, message, log }: Extract<AppStep, { do: 'end' }>) => {
  const ended = happened(world, operation, { on: state, code, message, log })
  return operation.kind === 'move' ? stayed(ended, operation) : ended
}

const routed = (world: AppWorld, step: Extract<AppStep, { do: 'setRoute' }>): AppWorld => ({
  ...withRelease(world, step.release, { address: step.address }),
  route: { digest: step.digest, address: step.address },
  look: world.look && { ...world.look, dial: step.dialFile && step.address },
})

type MoveStep = Extract<AppStep, { do: 'takePlace' | 'placeRoute' | 'forward' | 'leavePlace' }>

const moved = (world: AppWorld, step: MoveStep): AppWorld => {
  const { moving } = world
  switch (step.do) {
    case 'takePlace':
      return { ...world, places: [...world.places, { host: step.host, place: 'coming', until: null }] }
    case 'placeRoute':
      return { ...world, moving: moving && { ...moving, placed: step.address, isCertified: true, authority: 'QQ==' } }
    case 'forward':
      return { ...world, moving: moving && { ...moving, isForwarded: true } }
    case 'leavePlace': {
      const gone = world.releases.map((one) => (one.record?.host === step.host ? { ...one, retiredAt: AT } : one))
      const places = world.places.filter(({ host }) => host !== step.host)
      return { ...world, places, leaving: {}, releases: gone }
    }
    default:
      return step satisfies never
  }
}

type Besides =
  | Extract<AppStep, { do: 'takePreview' | 'endPreview' | 'deletePreview' | 'endOpen' }>
  | BackupStep
  | RunStep

/** What is done beside releases. */
const besides = (world: AppWorld, step: Besides): AppWorld => {
  const { previews } = world
  switch (step.do) {
    case 'takePreview':
      return { ...world, previews: { ...previews, own: aPreview() } }
    case 'endPreview':
      return { ...world, previews: { ...previews, own: aPreview({ endedAt: AT, reason: step.reason }) } }
    case 'endOpen':
      return { ...world, route: world.route && { ...world.route, letIn: step.note } }
    case 'deletePreview':
      return { ...world, previews: { ...previews, asked: [...(previews.asked ?? []), step.app] } }
    default:
      return 'backup' in step ? backupStepped(world, step) : runStepped(world, step)
  }
}

/** What the world is after a step. A job is over as soon as it has begun. */
export const stepped = (world: AppWorld, step: AppStep, fate: Fate): AppWorld => {
  if (isScale(step)) return scaleStepped(world, step)
  if (isCarry(step)) return carryStepped(world, step)
  switch (step.do) {
    case 'takeSlug':
      return { ...world, slugHolder: NAME }
    case 'takeRoom':
    case 'applyBudget':
      return budgeted(world, step)
    case 'ask':
      return askedOf(world, step)
    case 'begin': {
      const { source, envVersion, restoredFrom, commands = null, carries = false } = step
      return happened(world, step.operation, { on: 'begun', source, envVersion, restoredFrom, commands, carries })
    }
    case 'check':
    case 'upload':
      return passed(world, step.operation, step.do)
    case 'startJob':
      return { ...world, job: fate[step.step] }
    case 'takeImages': {
      const record = { images: [{ service: 'web', name: 'shop/web', id: `sha256:${'2'.repeat(64)}` }] }
      return passed(world, step.operation, 'images', { record, state: 'starting' })
    }
    case 'takeAddress':
      return passed(world, step.operation, 'start', { address: step.address })
    case 'claimSwitch':
      return happened(world, step.operation, { on: 'claimed' })
    case 'setRoute':
      return routed(world, step)
    case 'goLive':
      return wentLive(world, step)
    case 'takePlace':
    case 'placeRoute':
    case 'forward':
    case 'leavePlace':
      return moved(world, step)
    case 'end':
      return endedBy(world, step)
    case 'takeDown':
      return { ...world, retiring: { ...world.retiring, [step.release.number]: ENDED_WELL } }
    case 'retire':
      // The operation that made it may be too long ago to be among those of the world.
      return withRelease(world, step.release.number, { retiredAt: AT })
    case 'claimNames':
    case 'releaseNames':
      return renamed(world, step)
    case 'noteUnhealthy':
    case 'mend':
    case 'noteRecovered':
    case 'returnTo':
      return mended(world, step)
    case 'removeRoute':
      return { ...world, route: null }
    case 'clear':
      return { ...world, job: ENDED_WELL }
    case 'forget':
      return { ...world, slugHolder: null, operations: [], releases: [] }
    case 'cancelJob':
    case 'keepLog':
      return world
    case 'fetchLogs':
      return { ...world, logs: [] }
    case 'passPreRelease':
      return passed(world, step.operation, 'pre_release')
    default:
      return besides(world, step)
  }
}

export const ENDED_WELL: JobState = { state: 'exited', code: 0, log: '', cancelled: false }
export const GOOD: Fate = {
  images: { ...ENDED_WELL, log: `bottega: image sha256:${'2'.repeat(64)} amd64\n` },
  start: { ...ENDED_WELL, log: 'up\nbottega: address 127.0.0.1:40001\n' },
}
