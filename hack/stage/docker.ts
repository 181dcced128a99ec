import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePackages } from '../lib/apt.ts'
import { createService, endPids, type Service, waitFor } from '../lib/processes.ts'
import { CommandRefusal } from '../lib/refusal.ts'

/**
 * A Docker of our own beside whatever else runs: its own socket, data, bridge, addresses and cgroup, users that are nobody on
 * the machine unless it is to be otherwise, and no rule in its packet filter but those of the guard of apps and, for builds that fetch things, one masquerade.
 */
/** `network`: the /16 that all its addresses are of, as 10.70. */
export type Docker = { socket: string; network: string; service: Service; remove(): Promise<void> }

export type DockerOptions = {
  /** Short: sockets lie in it. Everything that Docker keeps is in here. */
  folder: string
  owner: string
  logFile: string
  /** Whose members may use it. */
  gid: number
  /** Containers may reach the world. */
  masquerade: boolean
  /** Root within is root outside, which systemd in a container needs. */
  sameUsers?: boolean
  /** What runs goes on while it is restarted, as on a host that was set up (hack/decisions/081). */
  liveRestore?: boolean
}

const readyMs = 60_000
const graceMs = 20_000

const run = (command: string, args: readonly string[]) => spawnSync(command, args, { encoding: 'utf8' })

const idOf = (folder: string): string => createHash('sha256').update(folder).digest('hex').slice(0, 8)
const bridgeOf = (folder: string): string => `btg${idOf(folder)}`
const cgroupOf = (folder: string): string => `bottega-${idOf(folder)}`

/** A /16 of 10.0.0.0/8 that no interface of the machine has; the same one while it stays free. */
function freeNetwork(folder: string): string {
  const taken = run('ip', ['-o', '-4', 'addr']).stdout
  const first = 64 + (Number.parseInt(idOf(folder).slice(0, 4), 16) % 128)
  for (let step = 0; step < 128; step += 1) {
    const network = `10.${64 + ((first - 64 + step) % 128)}`
    if (!taken.includes(` ${network}.`)) return network
  }
  throw new CommandRefusal(
    'All networks from 10.64 to 10.191 are in use on this machine: no place for a Docker of its own.',
  )
}

const masqueradeRule = (network: string, folder: string): string[] => [
  ...['POSTROUTING', '-s', `${network}.0.0/16`, '!', '-d', `${network}.0.0/16`],
  ...['-m', 'comment', '--comment', bridgeOf(folder), '-j', 'MASQUERADE'],
]

function openNetwork(folder: string, masquerade: boolean): string {
  const bridge = bridgeOf(folder)
  const known = /inet (10\.\d+)\./.exec(run('ip', ['-o', '-4', 'addr', 'show', 'dev', bridge]).stdout)?.[1]
  const network = known ?? freeNetwork(folder)
  if (known === undefined) {
    run('ip', ['link', 'add', 'name', bridge, 'type', 'bridge'])
    const added = run('ip', ['addr', 'add', `${network}.0.1/24`, 'dev', bridge])
    if (added.status !== 0)
      throw new CommandRefusal(`The bridge ${bridge} could not be made (see above).`, { detail: added.stderr })
  }
  run('ip', ['link', 'set', bridge, 'up'])
  if (masquerade) {
    const rule = masqueradeRule(network, folder)
    if (run('iptables', ['-t', 'nat', '-C', ...rule]).status !== 0) run('iptables', ['-t', 'nat', '-A', ...rule])
  }
  return network
}

/** Starts it. The group of `gid` may use its socket. */
export async function startDocker(options: DockerOptions): Promise<Docker> {
  const { folder, owner, logFile, gid, masquerade, sameUsers = false, liveRestore = false } = options
  ensurePackages(
    [
      { name: 'docker.io', files: ['/usr/sbin/dockerd'] },
      { name: 'docker.io', files: ['/usr/bin/containerd'] },
      { name: 'iproute2', files: ['/usr/sbin/ip', '/usr/bin/ip', '/bin/ip'] },
    ],
    { what: 'A host with Docker' },
  )
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  await endDockerLeftovers(folder)
  const socket = join(folder, 'docker.sock')
  let network = ''
  const launch = () => {
    network = openNetwork(folder, masquerade)
    return {
      name: 'dockerd',
      owner,
      logFile,
      command: '/usr/sbin/dockerd',
      args: [
        ...['--host', `unix://${socket}`, '--group', String(gid), '--log-level', 'warn'],
        ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'run'), '--pidfile', join(folder, 'pid')],
        ...['--bridge', bridgeOf(folder), '--default-address-pool', `base=${network}.128.0/17,size=24`],
        ...['--iptables=false', '--ip6tables=false', '--ip-masq=false', `--ip-forward=${masquerade}`],
        ...['--cgroup-parent', `/${cgroupOf(folder)}`],
        ...(sameUsers ? [] : ['--userns-remap', 'default']),
        ...(liveRestore ? ['--live-restore'] : []),
      ],
    }
  }
  const answers = async () => run('docker', ['--host', `unix://${socket}`, 'version']).status === 0
  const service = createService({
    name: 'dockerd',
    logFile,
    graceMs,
    launch,
    ready: (signal) =>
      waitFor(`dockerd (its log is ${logFile})`, answers, { timeoutMs: readyMs, signal, everyMs: 200 }),
  })
  await service.start()
  const remove = async () => {
    await service.stop()
    await endDockerLeftovers(folder)
  }
  return { socket, network, service, remove }
}

/** What an end leaves, also one by SIGKILL: processes in its cgroup, mounts, bridges, the rule, empty cgroups. */
export async function endDockerLeftovers(folder: string): Promise<void> {
  await endPids(pidsOf(folder))
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).reverse()) run('umount', ['-l', mount])
  const bridge = bridgeOf(folder)
  const network = /inet (10\.\d+)\./.exec(run('ip', ['-o', '-4', 'addr', 'show', 'dev', bridge]).stdout)?.[1]
  if (network !== undefined) {
    run('iptables', ['-t', 'nat', '-D', ...masqueradeRule(network, folder)])
    const links = run('ip', ['-o', '-4', 'addr'])
      .stdout.split('\n')
      .filter((line) => line.includes(` ${network}.`))
    for (const line of links) run('ip', ['link', 'del', line.split(/\s+/)[1] ?? ''])
  }
  run('ip', ['link', 'del', bridge])
  if (!isGuarded()) removeGuardRules()
  for (const name of ['pid', 'docker.sock', 'run']) rmSync(join(folder, name), { recursive: true, force: true })
  for (const cgroup of globSync(`/sys/fs/cgroup/{,*/}${cgroupOf(folder)}`))
    run('find', [cgroup, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'])
}

/** Whether another Docker of this network has a guard of apps: its rules are the same, and its apps rely on them at every moment. */
function isGuarded(): boolean {
  const network = readlinkSync('/proc/self/ns/net')
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
        return command.includes(':BOTTEGA-FROM') && readlinkSync(`/proc/${name}/ns/net`) === network
      } catch {
        return false // gone meanwhile
      }
    })
}

/** Those of the guard of apps. */
function removeGuardRules(): void {
  for (const [program, table] of [
    ['iptables', 'mangle'],
    ['iptables', 'nat'],
    ['ip6tables', 'mangle'],
  ] as const) {
    const within = (...args: string[]) => run(program, ['-w', '5', '-t', table, ...args])
    const lines = (within('-S').stdout ?? '').split('\n').filter((line) => line.includes('BOTTEGA-'))
    const jumps = lines.filter((line) => line.startsWith('-A ') && / -j BOTTEGA-/.test(line))
    for (const line of jumps) within('-D', ...line.split(' ').slice(1))
    const chains = lines.flatMap((line) => /^-N (BOTTEGA-[A-Z]+)/.exec(line)?.[1] ?? [])
    for (const chain of chains) within('-F', chain)
    for (const chain of chains) within('-X', chain)
  }
}

/** What runs in its containers, and those who watch over them. */
function pidsOf(folder: string): number[] {
  const cgroup = `/${cgroupOf(folder)}/`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const isInside = readFileSync(`/proc/${name}/cgroup`, 'utf8').includes(cgroup)
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
        return isInside || command.includes(`${folder}/run/`) ? [Number(name)] : []
      } catch {
        return [] // gone meanwhile
      }
    })
}
