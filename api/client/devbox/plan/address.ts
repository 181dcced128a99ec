/** That a dev instance can be reached: it has an address, and the address leads to its machine. */

import type { CloudAddress } from '../cloud/driver.ts'
import { addressInUse, hasSettled, machineOf, unknownAddresses } from './seen.ts'
import { type BoxPlan, type BoxWorld, wait } from './world.ts'

/** The address that is, or will be, in use. Undefined: one has to be allocated. */
export const addressFor = (world: BoxWorld): CloudAddress | undefined =>
  addressInUse(world) ?? unknownAddresses(world)[0]

/**
 * An address that is kept is used again. A new one is allocated where the row has none, or where the cloud no longer has it: it
 * was released by hand, and would lead to somebody else.
 */
export const addressed: BoxPlan = (world) => {
  const { row } = world
  const machine = machineOf(world)
  if (!machine) return null
  const address = addressFor(world)
  if (!address) {
    const known = row.addresses.find(({ inUse }) => inUse)
    if (known && !hasSettled(world, known.heldFrom)) return wait(`the cloud does not show ${known.eipAllocId} yet`)
    return { do: 'allocate' }
  }
  const { associated, allocationId } = address
  if (associated?.machineId === machine.machineId) return null
  return associated
    ? { do: 'disassociate', associationId: associated.associationId }
    : { do: 'associate', allocationId, machineId: machine.machineId }
}

/** The pair that a confirmation carries: none where the row has it already. */
export const newPair = (world: BoxWorld): { publicIp?: string; eipAllocId?: string } => {
  const address = addressFor(world)
  if (!address || address.allocationId === world.row.eipAllocId) return {}
  return { publicIp: address.publicIp, eipAllocId: address.allocationId }
}
