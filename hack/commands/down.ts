import { existsSync, globSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endProcesses } from '../lib/processes.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'
import { caches, findSupervisor, ownerName, paths, stateDir } from '../lib/state.ts'
import { removeKindCluster } from '../platform/cluster.ts'
import { removeData } from '../platform/pgfiles.ts'
import { endOwned } from '../platform/supervisor.ts'
import { removeUpHost } from '../platform/uphost.ts'
import { removeUpBoxes } from '../stage/boxes/upboxes.ts'

/** The supervisor stops its processes one after the other, and two of them may take 25 s to drain. */
const supervisorGraceMs = 90_000

/** Stops what `hack/up` started, also what a crash of it left; `--purge` drops the data too. */
async function main(): Promise<number> {
  const purge = readArguments()
  if (!existsSync(stateDir)) {
    console.log('Nothing runs and nothing is kept.')
    return 0
  }
  const step = createProgress().step('stopping')
  const owner = ownerName()
  const supervisor = findSupervisor()
  if (supervisor !== null) await endProcesses([supervisor], supervisorGraceMs, 'SIGTERM')
  await endOwned(owner)
  await removeUpHost(owner, { purge })
  await removeUpBoxes({ purge })
  for (const file of [paths.env, paths.supervisor]) rmSync(file, { force: true })
  removeKindCluster()
  if (purge) dropData()
  step.done(purge ? 'its data is dropped' : 'its data is kept; --purge drops it')
  return 0
}

function readArguments(): boolean {
  try {
    return parseArgs({ options: { purge: { type: 'boolean', default: false } } }).values.purge
  } catch (error) {
    throw new CommandRefusal(`${messageOf(error)}\nUsage: hack/down [--purge]`, { exitCode: 2 })
  }
}

function dropData(): void {
  removeData(paths.postgres)
  for (const name of readdirSync(stateDir)) {
    const path = join(stateDir, name)
    if (!caches.includes(path)) rmSync(path, { recursive: true, force: true })
  }
  for (const copy of globSync('/var/tmp/bottega-postgres-*')) {
    if (!isInUse(copy)) rmSync(copy, { recursive: true, force: true })
  }
}

/** Another checkout's PostgreSQL may be running from the same copy. */
function isInUse(folder: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/exe`).startsWith(`${folder}/`)
    } catch {
      return false
    }
  })
}

await runCommand(main)
