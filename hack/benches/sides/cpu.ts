import { readdirSync, readFileSync } from 'node:fs'

/** CPU time of processes out of /proc, in seconds, children that have ended and live ones included. */

const ticksPerSecond = 100

type Times = { parent: number; ticks: number }

const timesOf = (pid: number): Times | null => {
  try {
    // The name in parentheses may hold anything; fields are counted from after it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [, parent = 0] = fields
    return { parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) }
  } catch {
    return null
  }
}

/** Seconds by name; each process counts with its children (PostgreSQL has one process per connection). */
export function cpuSecondsOf(pids: Readonly<Record<string, number | null>>): Record<string, number> {
  const ticks = new Map(Object.keys(pids).map((name) => [name, 0]))
  const nameOf = new Map(Object.entries(pids).map(([name, pid]) => [pid, name]))
  for (const entry of readdirSync('/proc')) {
    const times = /^\d+$/.test(entry) ? timesOf(Number(entry)) : null
    const name = times && (nameOf.get(Number(entry)) ?? nameOf.get(times.parent))
    if (times && name) ticks.set(name, (ticks.get(name) ?? 0) + times.ticks)
  }
  return Object.fromEntries([...ticks].map(([name, count]) => [name, count / ticksPerSecond]))
}
