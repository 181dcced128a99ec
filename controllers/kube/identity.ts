/**
 * The name of one process in a lease: unique, so that two on one host never take each other's lease for their own, and telling
 * enough that a successor knows when its holder is dead and need not wait for the lease to run out.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

/** What is known of a process; empty where the system does not tell. */
type Place = {
  /** Of the pod that it runs in. */
  podUid: string
  /** Of the kernel it runs on, and its PID namespace: within both a pid and its start name one process. */
  boot: string
  pids: string
  pid: string
  /** Clock ticks from the kernel's boot to its start. */
  start: string
}

export type Identity = {
  /** What stands in the lease as its holder. */
  name: string
  /** Whether the holder is known to be dead. */
  isDead(holder: string): boolean
}

/** Between the parts, so that nobody's name of a host holds it. */
const SEPARATOR = '_'

const readOr = (read: () => string): string => {
  try {
    return read().trim()
  } catch {
    return ''
  }
}

/** Empty when there is no such process, or only what is left of one (proc_pid_stat(5), fields 3 and 22). */
const startOf = (pid: string): string => {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // its name before may hold spaces and brackets
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? '' : (fields[19] ?? '')
}

const isThere = (pid: string): boolean => {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    // somebody else's process is one all the same
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const placeOf = (podUid: string): Place => ({
  podUid,
  boot: readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')),
  pids: /\d+/.exec(readOr(() => readlinkSync('/proc/self/ns/pid')))?.[0] ?? '',
  pid: String(process.pid),
  start: startOf('self'),
})

/** Null for what was not written here. */
const parse = (holder: string): Place | null => {
  const parts = holder.split(SEPARATOR)
  const [podUid, boot, pids, pid, start, unique] = parts.slice(-6)
  if (parts.length < 7 || unique === undefined || !/^\d+$/.test(pid ?? '')) return null
  return { podUid: podUid ?? '', boot: boot ?? '', pids: pids ?? '', pid: pid ?? '', start: start ?? '' }
}

/** It can be looked at from here. */
const isNear = (own: Place, other: Place): boolean =>
  own.boot !== '' && (['podUid', 'boot', 'pids'] as const).every((part) => own[part] === other[part])

/**
 * @param host the pod's name, or the host's: for whoever reads the lease
 * @param podUid empty outside of a cluster
 */
export const makeIdentity = ({ host, podUid }: { host: string; podUid: string }): Identity => {
  const own = placeOf(podUid)
  const { boot, pids, pid, start } = own
  return {
    name: [host, podUid, boot, pids, pid, start, randomUUID()].join(SEPARATOR),
    isDead: (holder) => {
      const other = parse(holder)
      if (!other) return false
      if (isNear(own, other)) return !isThere(other.pid) || (other.start !== '' && startOf(other.pid) !== other.start)
      // A pod runs one container of ours, and it is started anew only when the one before has ended.
      return podUid !== '' && podUid === other.podUid
    },
  }
}
