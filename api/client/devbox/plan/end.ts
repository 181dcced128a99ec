/** The end of an address, and the end of all: what is given back costs nothing any more, and what cannot be had again is asked first. */
import { hasSettled, isAlive } from './seen.ts'
import { type BoxGoal, type BoxPlan, type BoxRow, type BoxStep, type BoxThings, firstOf, stuck, wait } from './world.ts'

/** Explicit, and never of an instance that runs by it. @param asked null: each that the row holds */
export const released =
  (asked: string | null): BoxPlan =>
  (world) => {
    const { row, addresses } = world
    // the one in use comes last: the others go, whether it may go or not
    const inOrder = row.addresses.toSorted((a, b) => Number(a.inUse) - Number(b.inUse))
    const held = inOrder.find(({ eipAllocId }) => asked === null || eipAllocId === asked)
    const allocationId = held?.eipAllocId ?? asked
    if (allocationId === null) return { do: 'done' }
    if (held?.inUse && row.state !== 'stopped') {
      const detail = `${allocationId} is the address of ${row.id}, which is ${row.state}`
      return stuck('ADDRESS_IN_USE', detail, `bottega-devbox stop ${row.id}, then repeat.`)
    }
    const address = addresses.find((one) => one.allocationId === allocationId)
    if (address?.associated) return { do: 'disassociate', associationId: address.associated.associationId }
    if (address) return { do: 'release', allocationId }
    if (!held) return { do: 'done' }
    return { do: 'say', word: 'eip-released', body: { version: row.version, allocationId } }
  }

/** What the latest report says of work that is on the machine and nowhere else. */
export const workAtRisk = ({ lastReport }: Pick<BoxRow, 'lastReport'>): number => {
  const git = (lastReport as { git?: { dirty?: number; untracked?: number; unpushed?: number } } | null)?.git
  return (git?.dirty ?? 0) + (git?.untracked ?? 0) + (git?.unpushed ?? 0)
}

type TerminateGoal = Extract<BoxGoal, { kind: 'terminated' }>

/** By the latest report: leave may have been given before there was work. */
const workIsSafe =
  ({ acknowledgeWorkAtRisk }: TerminateGoal): BoxPlan =>
  ({ row, machines }) => {
    const count = workAtRisk(row)
    if (acknowledgeWorkAtRisk || count === 0 || !machines.some(isAlive)) return null
    const detail = `${row.id} tells of ${count} changed, untracked or unpushed things that are on it alone`
    return stuck('WORK_AT_RISK', detail, 'Push them; or repeat with --acknowledge-work-at-risk, and they are lost.')
  }

/** Asked before the machine is gone, for it may be refused: afterwards it is too late. */
const endAsked =
  ({ acknowledgeWorkAtRisk }: TerminateGoal): BoxPlan =>
  ({ row, machines }) => {
    if (['reserved', 'terminated'].includes(row.state) || !machines.some(isAlive)) return null
    if (row.asked.terminating?.acknowledgedWorkAtRisk === acknowledgeWorkAtRisk) return null
    const acknowledged = acknowledgeWorkAtRisk && { acknowledgeWorkAtRisk }
    return { do: 'say', word: 'terminating', body: { version: row.version, ...acknowledged } }
  }

/** Before the machine goes, so that nobody launches it again. */
const reservationEnds: BoxPlan = ({ row }) => (row.state === 'reserved' ? { do: 'discard' } : null)

/** Without a machine that is seen to be gone, the row may only be too new. */
const machineIsOver: BoxPlan = (world) => {
  const { row, machines, dead } = world
  if (row.instanceId === null || dead > 0 || machines.length > 0 || row.state === 'terminated') return null
  return hasSettled(world, row.stateSince) ? null : wait(`the cloud does not show ${row.instanceId} yet`)
}

/** Nothing that bears the tags of the instance is left, whether it has a row or not. */
export const nothingLeft = ({ machines, volumes, addresses }: BoxThings): BoxStep | null => {
  const alive = machines.find(isAlive)
  if (alive) return { do: 'terminate', machineId: alive.machineId }
  const [dying] = machines
  if (dying) return wait(`${dying.machineId} is shutting down`)
  const [volume] = volumes
  if (volume) {
    return volume.attachedTo === null
      ? { do: 'removeVolume', volumeId: volume.volumeId }
      : wait(`${volume.volumeId} is attached still`)
  }
  const [address] = addresses
  if (!address) return null
  return address.associated
    ? { do: 'disassociate', associationId: address.associated.associationId }
    : { do: 'release', allocationId: address.allocationId }
}

const said =
  ({ acknowledgeWorkAtRisk }: TerminateGoal): BoxPlan =>
  ({ row }) => {
    if (row.state === 'terminated') return { do: 'done' }
    const all = { instanceGone: true, eipGone: true, volumesGone: true }
    const acknowledged = acknowledgeWorkAtRisk && { acknowledgeWorkAtRisk }
    return { do: 'say', word: 'terminated', body: { version: row.version, ...all, ...acknowledged } }
  }

export const terminated = (goal: TerminateGoal): BoxPlan =>
  firstOf(workIsSafe(goal), endAsked(goal), reservationEnds, machineIsOver, nothingLeft, said(goal))
