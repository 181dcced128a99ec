/** How a move stands that carries what an app keeps: on the host that it leaves, and on the other one (rules/app.md#volumes-that-move). */
import {
  type Carry,
  carryingMove,
  carryJobOf,
  fateIn,
  packOf,
  packsIn,
} from '../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import { targetOf } from '../../../../crds/app/lifecycle/keeping/moving/place.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { JobState, Operation } from '../../../../crds/app/world.ts'
import { Stalled, Waiting } from '../../../base/errors.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { AppRows } from '../../../store/app/operations.ts'
import { laidOf } from '../backupjobs.ts'
import { JOB_WAIT_MS } from '../jobs.ts'

const ABSENT: JobState = { state: 'absent' }
const NOTHING = {
  fate: 'none',
  watch: ABSENT,
  hold: ABSENT,
  place: ABSENT,
  laid: [],
  isFull: false,
  undone: null,
  isKept: false,
} as const

const isVolumesStep = ({ steps }: Operation): boolean =>
  steps.some(({ name, state }) => name === 'volumes' && state === 'running')

/** @param object as one of the host that it leaves */
export const makeCarried = ({ hosts }: { hosts: Hosts }) => {
  const heldBy = async (object: AppResource, move: Operation): Promise<Pick<Carry, 'fate' | 'watch' | 'hold'>> => {
    const link = hosts.link(object.spec.hostId)
    const waitMs = isVolumesStep(move) && move.cancelAt === null ? JOB_WAIT_MS : 0
    const watch = await link.jobState(carryJobOf(move, 'watch'))
    const hold = await link.jobState(carryJobOf(move, 'hold'), watch.state === 'running' ? { waitMs } : {})
    return { watch, hold, fate: watch.state === 'exited' ? fateIn(watch.log) : 'none' }
  }

  const placedBy = async (
    object: AppResource,
    move: Operation,
    hold: JobState,
  ): Promise<Pick<Carry, 'place' | 'laid'>> => {
    const packs = hold.state === 'exited' && hold.code === 0 ? packsIn(hold.log) : null
    if (!packs || !isVolumesStep(move)) return { place: ABSENT, laid: [] }
    const link = hosts.link(targetOf(move) ?? '')
    const place = await link.jobState(carryJobOf(move, 'place'), { waitMs: move.cancelAt === null ? JOB_WAIT_MS : 0 })
    if (place.state !== 'absent') return { place, laid: [] }
    const laid: number[] = []
    for (const { n } of packs) laid.push(await laidOf(link, object, packOf(move, n)))
    return { place, laid }
  }

  /** @throws as the other host does where it cannot be reached */
  return async (object: AppResource, rows: Pick<AppRows, 'operations'>): Promise<Carry | null> => {
    const move = carryingMove(rows)
    if (!move) return null
    const held = await heldBy(object, move).catch((error) => {
      if (!(error instanceof Waiting || error instanceof Stalled)) throw error
      return error.message
    })
    if (typeof held === 'string') return { ...NOTHING, unreachable: held }
    const placed = await placedBy(object, move, held.hold).catch((error) => {
      // Of the other host that is said elsewhere.
      if (!(error instanceof Waiting || error instanceof Stalled)) throw error
      return { place: ABSENT, laid: [] }
    })
    return { ...NOTHING, unreachable: null, ...held, ...placed }
  }
}
