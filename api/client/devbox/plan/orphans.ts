/** What stands in the cloud under our tag, what each thing costs a month, and which of it belongs to nobody any more. */
import {
  addressMicroUsd,
  HOURS_PER_MONTH,
  PRICING_VERSION,
  priceTable,
  usdOf,
} from '../../../../crds/devinstance/sizing/prices.ts'
import type { CloudInventory, CloudTags } from '../cloud/driver.ts'
import type { BoxItem } from '../run/registry.ts'

/** `orphan`: its dev instance is gone, or has another. `foreign` things are not shown: they are not ours to count. */
export type InventoryLine = {
  id: string
  kind: 'machine' | 'volume' | 'address'
  box: string | null
  label: string | null
  state: string
  /** Null: of a type without a price. */
  monthlyUsd: number | null
  verdict: 'in use' | 'orphan'
  /** What would remove it. */
  command: string | null
}

export type InventoryReport = { lines: InventoryLine[]; monthlyUsd: number; orphanMonthlyUsd: number }

type Priced = Omit<InventoryLine, 'monthlyUsd' | 'verdict' | 'command' | 'box' | 'label'> &
  CloudTags & { microUsd: number | null; isNamed(box: BoxItem): boolean }

const table = priceTable(PRICING_VERSION)

/** One that stands still costs its disk and its address alone. */
const computeMicroUsd = (instanceType: string, isUp: boolean): number | null => {
  const perHour = table.computePerHour[instanceType]
  if (perHour === undefined) return isUp ? null : 0
  return isUp ? perHour * HOURS_PER_MONTH : 0
}

const pricedOf = ({ machines, volumes, addresses }: CloudInventory): Priced[] => [
  ...machines
    .filter(({ state }) => state !== 'terminated' && state !== 'shutting-down')
    .map((one) => ({
      ...one,
      id: one.machineId,
      kind: 'machine' as const,
      microUsd: computeMicroUsd(one.instanceType, one.state === 'pending' || one.state === 'running'),
      // one that was launched and not yet told of
      isNamed: ({ instanceId, state }: BoxItem) => instanceId === one.machineId || state === 'reserved',
    })),
  ...volumes.map((one) => ({
    ...one,
    id: one.volumeId,
    kind: 'volume' as const,
    state: one.attachedTo === null ? 'available' : 'in use',
    microUsd: table.storagePerGbMonth * one.sizeGb,
    isNamed: () => one.attachedTo !== null,
  })),
  ...addresses.map((one) => ({
    ...one,
    id: one.allocationId,
    kind: 'address' as const,
    state: one.associated === null ? 'idle' : 'associated',
    microUsd: addressMicroUsd(PRICING_VERSION),
    isNamed: ({ eipAllocId, state }: BoxItem) =>
      eipAllocId === one.allocationId || (one.associated !== null && state !== 'terminated'),
  })),
]

const commandFor = ({ kind, id, box }: Priced, row: BoxItem | undefined): string | null => {
  if (box === null) return null
  if (row === undefined) return `bottega-devbox terminate ${box} --orphan`
  if (row.state === 'terminated') return `bottega-devbox terminate ${box}`
  return kind === 'address' ? `bottega-devbox release-eip ${box} ${id}` : `bottega-devbox repair ${box}`
}

const sum = (things: readonly Priced[]): number =>
  usdOf(things.reduce((total, { microUsd }) => total + (microUsd ?? 0), 0))

/** @param rows all that the registry has; of fewer, more would seem to be nobody's */
export const inventoryReport = (
  inventory: CloudInventory,
  rows: readonly BoxItem[],
  installation: string,
): InventoryReport => {
  const ours = pricedOf(inventory).filter((one) => one.installation === installation)
  const rowOf = ({ box }: Priced) => rows.find(({ id }) => id === box)
  const isOrphan = (one: Priced): boolean => {
    const row = rowOf(one)
    return row === undefined || row.state === 'terminated' || !one.isNamed(row)
  }
  const lines = ours.map((one): InventoryLine => {
    const { id, kind, box, label, state, microUsd } = one
    const orphan = isOrphan(one)
    return {
      id,
      kind,
      box,
      label,
      state,
      monthlyUsd: microUsd === null ? null : usdOf(microUsd),
      verdict: orphan ? 'orphan' : 'in use',
      command: orphan ? commandFor(one, rowOf(one)) : null,
    }
  })
  return { lines, monthlyUsd: sum(ours), orphanMonthlyUsd: sum(ours.filter(isOrphan)) }
}
