/** What the containers of a host's apps use, as its Docker and its meter say it (scripts/usage.sh). Pure. */

/** Since the container began: processor in nanoseconds, restarts. `memoryBytes` without what is only kept of files. */
export type ContainerUse = { id: string; slug: string; cpuNs: number; memoryBytes: number; restarts: number }
export type HostUse = { containers: ContainerUse[]; diskMib: Map<string, number> }

const wholeOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Docker's own figure for `docker stats`: what files were read is given back when it is wanted. */
const memoryOf = (memory: Record<string, unknown>): number => {
  const stats = objectOf(memory.stats)
  return Math.max(0, wholeOf(memory.usage) - wholeOf(stats.inactive_file ?? stats.total_inactive_file))
}

const CONTAINER = /^container ([a-z0-9-]{1,63}) ([0-9a-f]{64}) (\d{1,9}) (.*)$/
const DISK = /^disk ([a-z0-9-]{1,63}) (\d{1,12}) /

/** @param text lines `container <slug> <id> <restarts> <stats as JSON>` and `disk <slug> <MiB> …`; others are passed over */
export const hostUseIn = (text: string): HostUse => {
  const use: HostUse = { containers: [], diskMib: new Map() }
  for (const line of text.split('\n')) {
    const disk = DISK.exec(line)
    if (disk?.[1] !== undefined) use.diskMib.set(disk[1], Number(disk[2]))
    const [, slug, id, restarts, json = ''] = CONTAINER.exec(line) ?? []
    if (slug === undefined || id === undefined) continue
    const stats = objectOf(parsed(json))
    const cpu = objectOf(objectOf(stats.cpu_stats).cpu_usage)
    const memoryBytes = memoryOf(objectOf(stats.memory_stats))
    use.containers.push({ id, slug, cpuNs: wholeOf(cpu.total_usage), memoryBytes, restarts: Number(restarts) })
  }
  return use
}

/** Of one app between two looks; memory and disk as they are now. */
export type AppUse = { cpuMs: number; memoryMib: number; diskMib: number | null; restarts: number }

const BYTES_PER_MIB = 1024 * 1024
const NS_PER_MS = 1_000_000

/** By slug. A container that was not there at the look before began at nothing. */
export const useSince = (before: HostUse | undefined, now: HostUse): Map<string, AppUse> => {
  const earlier = new Map(before?.containers.map((one) => [one.id, one]))
  const uses = new Map<string, AppUse>()
  for (const { id, slug, cpuNs, memoryBytes, restarts } of now.containers) {
    const was = earlier.get(id)
    const use = uses.get(slug) ?? { cpuMs: 0, memoryMib: 0, diskMib: now.diskMib.get(slug) ?? null, restarts: 0 }
    // The first look of all tells what is, and nothing of what was used until then.
    if (before !== undefined) {
      use.cpuMs += Math.max(0, cpuNs - (was !== undefined && was.cpuNs <= cpuNs ? was.cpuNs : 0)) / NS_PER_MS
      use.restarts += Math.max(0, restarts - (was?.restarts ?? 0))
    }
    use.memoryMib += memoryBytes / BYTES_PER_MIB
    uses.set(slug, use)
  }
  return uses
}
