/** What is looked after whatever is asked: nothing of others is touched, nothing is there twice, and all bears its name. */
import { addressInUse, hasSettled, isAlive, machineOf, unknownAddresses } from './seen.ts'
import { type BoxPlan, firstOf, stuck } from './world.ts'

/** What does not bear our tag was made by another installation, or by hand: it is not ours to act on. */
export const notForeign: BoxPlan = ({ foreign, row }) =>
  foreign.length === 0
    ? null
    : stuck(
        'NOT_OURS',
        `${foreign.join(' and ')}, which ${row.id} names, does not bear the tags of this installation and this instance`,
        'Find out who made it. If it is yours, tag it by hand, then repeat.',
      )

/** A second machine of one reservation was never told of, and nobody has worked on it. */
const oneMachine: BoxPlan = (world) => {
  const kept = machineOf(world)
  if (!kept || world.row.instanceId === null) return null
  const further = world.machines.find((one) => isAlive(one) && one !== kept)
  return further ? { do: 'terminate', machineId: further.machineId } : null
}

/** Of two that were allocated the row knows one; the other never served anything. */
const noFurtherAddress: BoxPlan = (world) => {
  if (!addressInUse(world)) return null
  const [further] = unknownAddresses(world)
  if (!further) return null
  return further.associated
    ? { do: 'disassociate', associationId: further.associated.associationId }
    : { do: 'release', allocationId: further.allocationId }
}

/** An address beside the one in use that the cloud no longer has. */
const goneAddress: BoxPlan = (world) => {
  const { row, addresses } = world
  if (!['ready', 'running', 'stopped'].includes(row.state)) return null
  const gone = row.addresses.find(
    ({ eipAllocId, heldFrom, inUse }) =>
      !inUse && hasSettled(world, heldFrom) && addresses.every(({ allocationId }) => allocationId !== eipAllocId),
  )
  return gone
    ? { do: 'say', word: 'eip-released', body: { version: row.version, allocationId: gone.eipAllocId } }
    : null
}

/** Machine, volumes and addresses are called as the row is. */
const named: BoxPlan = ({ row, machines, volumes, addresses, namesMachinesOnly }) => {
  const label = row.targetLabel
  const misnamed = machines.filter((one) => isAlive(one) && one.label !== label).map(({ machineId }) => machineId)
  if (namesMachinesOnly) return misnamed.length > 0 ? { do: 'label', ids: misnamed, label } : null
  const ids = [
    ...misnamed,
    ...volumes.filter((one) => one.label !== label).map(({ volumeId }) => volumeId),
    ...addresses.filter((one) => one.label !== label).map(({ allocationId }) => allocationId),
  ]
  return ids.length > 0 ? { do: 'label', ids, label } : null
}

export const upkeep: BoxPlan = firstOf(oneMachine, noFurtherAddress, goneAddress, named)
