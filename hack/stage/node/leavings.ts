import { existsSync, globSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { attempt } from '../../lib/command.ts'
import { endProcesses, startOf } from '../../lib/processes.ts'
import { removeSockets } from '../../platform/controlplane.ts'
import { removeGroups } from './cgroups.ts'
import { removeRules } from './firewall.ts'
import { readSettings, removeLinks, restoreSettings, type Settings, unmountBelow } from './kernel.ts'
import { network, nodeDir, places, pluginResults } from './place.ts'

/** What a node leaves on a machine outside its folder, and how it is taken away, whatever ended its processes. */

const shimGraceMs = 2_000
const spaces = '/run/netns'
const runtimeState = '/run/containerd'
const kubeletState = '/var/lib/kubelet'
const containerLogs = '/var/log/containers'

/** What is read before a node starts. */
export type Before = {
  settings: Settings
  /** The shared folders that are not there. */
  absent: string[]
}

export const readBefore = (): Before => ({
  settings: readSettings(),
  absent: sharedFolders.filter((folder) => !existsSync(folder)),
})

/** Noted before the node's folder goes: afterwards nobody knows these names. */
type Traces = { tasks: string[]; sockets: string[]; networkSpaces: string[] }

export function readTraces(): Traces {
  const tasks = existsSync(places.tasks) ? readdirSync(places.tasks) : []
  const addresses = tasks.map((id) => textOf(join(places.tasks, id, 'address')))
  const results = globSync(join(pluginResults, `${network}-*`)).map(textOf)
  return {
    tasks,
    sockets: addresses.flatMap((text) => text.match(/\/run\/containerd\/s\/[0-9a-f]+/g) ?? []),
    networkSpaces: [...new Set(results.flatMap((text) => text.match(/\bcni-[0-9a-f-]{36}\b/g) ?? []))],
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // it went meanwhile
  }
}

/** Whether the network plugins still have a pod of ours. */
export const holdsNetworks = (): boolean => globSync(join(pluginResults, `${network}-*`)).length > 0

/**
 * Takes away everything outside the node's folder, and the folder. All processes of the node have ended but those that
 * outlive containerd by design.
 */
export async function removeLeavings({ settings, absent }: Before): Promise<void> {
  const traces = readTraces()
  await endShims()
  await removeGroups()
  for (const name of traces.networkSpaces) {
    if (existsSync(join(spaces, name))) attempt('ip', ['netns', 'delete', name])
  }
  removeLinks()
  unmountBelow(nodeDir)
  removeRules()
  removeFiles(traces)
  for (const folder of absent) removeEmpty(folder)
  restoreSettings(settings)
  removeSockets(places.plane)
  rmSync(nodeDir, { recursive: true, force: true })
}

/** Ours carry our socket in their arguments. */
async function endShims(): Promise<void> {
  const shims = readdirSync('/proc').flatMap((name) => {
    const args = /^\d+$/.test(name) ? textOf(join('/proc', name, 'cmdline')).split('\0') : []
    const isOurs = basename(args[0] ?? '').startsWith('containerd-shim') && args.includes(places.containerdSocket)
    const start = isOurs ? startOf(Number(name)) : null
    return start === null ? [] : [{ pid: Number(name), start }]
  })
  await endProcesses(shims, shimGraceMs, 'SIGKILL')
}

function removeFiles({ tasks, sockets }: Traces): void {
  for (const id of tasks) {
    rmSync(join(runtimeState, 'runc', 'k8s.io', id), { recursive: true, force: true })
    rmSync(join(pluginResults, `cni-loopback-${id}-lo`), { force: true })
  }
  for (const file of [...sockets, ...globSync(join(pluginResults, `${network}-*`))]) rmSync(file, { force: true })
  for (const name of ['kubelet.sock', 'kubelet_internal_checkpoint']) {
    rmSync(join(kubeletState, 'device-plugins', name), { force: true })
  }
  for (const link of globSync(join(containerLogs, '*'))) {
    if (lstatSync(link).isSymbolicLink() && readlinkSync(link).startsWith(`${nodeDir}/`)) rmSync(link)
  }
}

/** Made by the first who needs them; somebody else's things may lie in them. The deepest come first. */
const sharedFolders = [
  join(kubeletState, 'device-plugins'),
  kubeletState,
  containerLogs,
  pluginResults,
  '/var/lib/cni',
  join(runtimeState, 's'),
  join(runtimeState, 'runc', 'k8s.io'),
  join(runtimeState, 'runc'),
  runtimeState,
  spaces,
]

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // absent, in use, or a mount point
  }
}
