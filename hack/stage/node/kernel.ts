import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt, run } from '../../lib/command.ts'
import { addressBridge, nodeAddress, podBridge } from './place.ts'

/** The kernel's settings and links of the node. */

/** Set by the node itself: packets go from pod to pod and out. */
const forwarding = ['net/ipv4/ip_forward', 'net/bridge/bridge-nf-call-iptables']
/** Set by kubelet and kube-proxy. */
const setByOthers = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
  'net/ipv4/conf/all/route_localnet',
]

const fileOf = (name: string) => join('/proc/sys', name)
const readSetting = (name: string) => readFileSync(fileOf(name), 'utf8').trim()

/** Name → value of every setting that a node changes, as far as this kernel has it. */
export type Settings = Record<string, string>

export function readSettings(): Settings {
  attempt('modprobe', ['br_netfilter']) // built in, or absent: then bridged packets do not pass iptables at all
  const present = [...forwarding, ...setByOthers].filter((name) => existsSync(fileOf(name)))
  return Object.fromEntries(present.map((name) => [name, readSetting(name)]))
}

export function allowForwarding(): void {
  for (const name of forwarding) if (existsSync(fileOf(name))) writeSetting(name, '1')
}

/** Puts back what was read. Forwarding stays on while another bridge (Docker's, say) is there to need it. */
export function restoreSettings(before: Settings): void {
  const needed = run('ip', ['-o', 'link', 'show', 'type', 'bridge']).trim() !== ''
  for (const [name, value] of Object.entries(before)) {
    if (!(needed && forwarding.includes(name))) writeSetting(name, value)
  }
}

function writeSetting(name: string, value: string): void {
  if (readSetting(name) !== value) writeFileSync(fileOf(name), value)
}

/** A bridge without ports that carries the node's address. */
export function makeAddress(): void {
  if (!attempt('ip', ['link', 'show', addressBridge]).ok) run('ip', ['link', 'add', addressBridge, 'type', 'bridge'])
  run('ip', ['addr', 'replace', `${nodeAddress}/32`, 'dev', addressBridge])
  run('ip', ['link', 'set', addressBridge, 'up'])
}

export function removeLinks(): void {
  for (const link of [podBridge, addressBridge]) attempt('ip', ['link', 'delete', link])
}

/** Unmounts everything below a folder, the deepest first. */
export function unmountBelow(folder: string): void {
  for (const path of mountsBelow(folder)) if (!attempt('umount', [path]).ok) run('umount', ['--lazy', path])
}

function mountsBelow(folder: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
  return points
    .filter((path) => path.startsWith(`${folder}/`))
    .sort()
    .reverse()
}
