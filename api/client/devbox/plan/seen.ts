/** What of the inventory concerns one dev instance, and what may be said of it. */
import { fallbackTypes, instanceTypeOf, priceOf, type SizeClass } from '../../../../crds/devinstance/sizing/sizes.ts'
import type { CloudAddress, CloudInventory, CloudMachine, CloudTags } from '../cloud/driver.ts'
import type { BoxRow, BoxThings, BoxWorld, Learned } from './world.ts'

/** What bears the tags of a dev instance, with what was allocated and is not shown yet. */
export const thingsOf = (
  { machines, volumes, addresses }: CloudInventory,
  installation: string,
  id: string,
  allocated: readonly CloudAddress[] = [],
): BoxThings => {
  const isOurs = (one: CloudTags): boolean => one.installation === installation && one.box === id
  const own = machines.filter(isOurs)
  const shown = addresses.filter(isOurs)
  const unseen = allocated.filter((one) => shown.every(({ allocationId }) => allocationId !== one.allocationId))
  return {
    machines: own.filter(({ state }) => state !== 'terminated').sort(earlierFirst),
    volumes: volumes.filter(isOurs),
    addresses: [...shown, ...unseen],
    dead: own.filter(({ state }) => state === 'terminated').length,
  }
}

export type Seeing = {
  row: BoxRow
  inventory: CloudInventory
  installation: string
  learned: Learned
} & Pick<BoxWorld, 'settleMs' | 'namesMachinesOnly' | 'nowMs'>

export const worldOf = ({ row, inventory, installation, learned, ...how }: Seeing): BoxWorld => {
  const isForeign = (one: CloudTags): boolean => one.installation !== installation || one.box !== row.id
  const held = row.addresses.map(({ eipAllocId }) => eipAllocId)
  const foreign = [
    ...inventory.machines
      .filter((one) => one.machineId === row.instanceId && isForeign(one))
      .map((one) => one.machineId),
    ...inventory.addresses
      .filter((one) => held.includes(one.allocationId) && isForeign(one))
      .map((one) => one.allocationId),
  ]
  return { ...thingsOf(inventory, installation, row.id, learned.allocated), row, foreign, learned, ...how }
}

/** Everybody who looks takes the same of two. */
const earlierFirst = (a: CloudMachine, b: CloudMachine): number =>
  a.launchedAt === b.launchedAt ? (a.machineId < b.machineId ? -1 : 1) : a.launchedAt < b.launchedAt ? -1 : 1

export const isAlive = ({ state }: CloudMachine): boolean => state !== 'shutting-down' && state !== 'terminated'

/** The machine that the row names, or the one that it will name. Undefined: none that lives. */
export const machineOf = ({ row, machines }: BoxWorld): CloudMachine | undefined =>
  machines.find((one) => isAlive(one) && (row.instanceId === null || one.machineId === row.instanceId))

/** Whether so long has passed that what is not shown is not there. */
export const hasSettled = ({ settleMs, nowMs }: Pick<BoxWorld, 'settleMs' | 'nowMs'>, since: string): boolean =>
  nowMs - Date.parse(since) > settleMs

/** The address in use, as the cloud shows it. Undefined: the row has none, or it is gone. */
export const addressInUse = ({ row, addresses }: BoxWorld): CloudAddress | undefined =>
  addresses.find(({ allocationId }) => allocationId === row.eipAllocId)

/** Addresses that were allocated for it and that its row does not know: from before a crash. */
export const unknownAddresses = ({ row, addresses }: BoxWorld): CloudAddress[] =>
  addresses.filter(({ allocationId }) => row.addresses.every(({ eipAllocId }) => eipAllocId !== allocationId))

/**
 * The types that a dev instance of a class may be: its own, and those of equal shape that cost no more, for that is the price
 * that was promised (rules/devinstance.md#assertions). Its own first, then the cheapest.
 */
export const typesFor = ({ arch, diskGb, price }: BoxRow, sizeClass: SizeClass): string[] => {
  const costOf = (instanceType: string) =>
    priceOf({ sizeClass, arch, diskGb, instanceType }, price.pricingVersion).runningMicroUsd
  const own = instanceTypeOf({ sizeClass, arch })
  const others = fallbackTypes({ sizeClass, arch }).filter((type) => costOf(type) <= costOf(own))
  return [own, ...others.sort((a, b) => costOf(a) - costOf(b))]
}
