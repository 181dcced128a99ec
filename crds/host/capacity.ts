/** What all apps of a host may have together: what the machine has, times what its operator says (rules/host.md#capacity). */
import type { HostSpec, HostStatus } from './schema.ts'

export type Amounts = { cpuMillis: number; memoryMib: number; diskGib: number }

/** Most apps use little of what they may; memory and disk run out where processors only get slow. */
export const OVERCOMMIT = { cpuPercent: 1_600, memoryPercent: 200, diskPercent: 200 } as const

const shareOf = (amount: number, percent: number): number => Math.floor((amount * percent) / 100)

/** Null before the host was inspected. */
export const capacityOf = (
  { overcommit }: Pick<HostSpec, 'overcommit'>,
  status: Pick<HostStatus, 'capacity'> | undefined,
): Amounts | null => {
  const { cpuMillis, memoryMib, diskGib } = status?.capacity ?? {}
  if (cpuMillis === undefined || memoryMib === undefined || diskGib === undefined) return null
  const { cpuPercent, memoryPercent, diskPercent } = { ...OVERCOMMIT, ...overcommit }
  return {
    cpuMillis: shareOf(cpuMillis, cpuPercent),
    memoryMib: shareOf(memoryMib, memoryPercent),
    diskGib: shareOf(diskGib, diskPercent),
  }
}
