import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandRefusal, codeOf, messageOf } from '../../lib/refusal.ts'
import { cgroup } from './place.ts'

const mountPoint = '/sys/fs/cgroup'
const attempts = 50
const pauseMs = 100

/** The node's own group in every hierarchy (one with cgroup v2, one per controller with v1). */
const groups = (): string[] => hierarchies().map((folder) => join(folder, cgroup))

function hierarchies(): string[] {
  const isHierarchy = (folder: string) => existsSync(join(folder, 'cgroup.procs'))
  return isHierarchy(mountPoint) ? [mountPoint] : globSync(`${mountPoint}/*/`).filter(isHierarchy)
}

/** Makes the group: kubelet wants its root to exist, and clears away what it does not know below it. */
export function makeGroups(): void {
  try {
    const whole = join(mountPoint, 'cgroup.controllers')
    if (existsSync(whole)) {
      const controllers = readFileSync(whole, 'utf8').trim().split(' ')
      writeFileSync(join(mountPoint, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '))
    }
    for (const group of groups()) {
      mkdirSync(group, { recursive: true })
      for (const name of ['cpuset.cpus', 'cpuset.mems']) fillEmpty(join(group, name), join(group, '..', name))
    }
  } catch (cause) {
    throw new CommandRefusal(
      `A node needs to make control groups below ${mountPoint}, and may not: ${messageOf(cause)}.`,
      {
        cause,
      },
    )
  }
}

/** With cgroup v1 a new cpuset has neither processors nor memory, and no process can enter it. */
function fillEmpty(file: string, parent: string): void {
  if (existsSync(file) && existsSync(parent) && readFileSync(file, 'utf8').trim() === '') {
    writeFileSync(file, readFileSync(parent))
  }
}

/** Ends every process in the group, and removes it. */
export async function removeGroups(): Promise<void> {
  for (const group of groups().filter((folder) => existsSync(folder))) {
    for (let left = attempts; !remove(group); left -= 1) {
      if (left === 0) throw new CommandRefusal(`The control group ${group} does not become empty.`)
      for (const pid of processesIn(group)) kill(pid)
      await sleep(pauseMs)
    }
  }
}

function processesIn(group: string): number[] {
  return globSync([`${group}/cgroup.procs`, `${group}/**/cgroup.procs`]).flatMap((file) => {
    try {
      return readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number)
    } catch {
      return [] // it went meanwhile
    }
  })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** Depth first; false when a process or a group of its own is still in it. */
function remove(group: string): boolean {
  if (!existsSync(group)) return true
  const below = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const isEmpty = below.map(({ name }) => remove(join(group, name))).every(Boolean)
  try {
    if (isEmpty) rmdirSync(group)
    return isEmpty
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    if (codeOf(error) === 'EBUSY' || codeOf(error) === 'ENOTEMPTY') return false
    throw error
  }
}
