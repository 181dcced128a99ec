import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ensurePackages } from '../lib/apt.ts'
import { freePort, isListening } from '../lib/ports.ts'
import { createService, endPids, type Service, waitFor } from '../lib/processes.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { type Acme, startAcme } from './acme.ts'
import { authoriseKey, type HostUser } from './hostuser.ts'

/**
 * A real app host on loopback: sshd with a key of its own, the user's Docker, Caddy on its admin socket, and an ACME test
 * CA that knows where to validate. `hack/up --with hosts` registers one; tests take one for each file.
 */
export type HostStage = {
  user: string
  sshPort: number
  httpPort: number
  httpsPort: number
  /** `ssh-ed25519 AAAA…`, what a Host pins. */
  hostKey: string
  privateKey: string
  admin: string
  siteRoot: string
  acme: Acme
  sshd: Service
  caddy: Service
  sshdLog: string
  /** In the order of starting; without Docker, which others may share. */
  services: Service[]
  /** Ends every connection of the moment, as a broken line would; what was started over them goes on. */
  cutSsh(): Promise<void>
  /** The host shows another key from now on; connections that stand are left alone. */
  swapKey(): Promise<void>
  stop(): Promise<void>
}

export type HostPorts = { ssh?: number; http?: number; https?: number; acme?: number }

export type HostStageOptions = {
  /** Entered by the host's user; short, for a socket lies in it. */
  folder: string
  owner: string
  logDir: string
  user: HostUser
  dockerSocket: string | null
  tool(name: string): string
  ports?: HostPorts
}

const readyMs = 120_000

/** Programs that the host's user runs; the folder where they were built is not for others to enter. */
function place(from: string, to: string): void {
  if (existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 })
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

/** A key pair, unless it is there. */
export function makeKey(path: string): void {
  if (existsSync(path)) return
  const { status, stderr } = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', path], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new CommandRefusal(`ssh-keygen could not make ${path} (see above).`, { detail: stderr })
}

export const publicOf = (path: string): string => readFileSync(`${path}.pub`, 'utf8').trim()

type Parts = {
  service(
    name: string,
    launch: () => { command: string; args: string[]; uid?: number; gid?: number; env?: Record<string, string> },
    isReady: () => Promise<boolean>,
  ): Service
}

const partsFor = ({ owner, logDir }: HostStageOptions): Parts => ({
  service: (name, launch, isReady) => {
    const logFile = join(logDir, `${name}.log`)
    return createService({
      name,
      logFile,
      launch: () => ({ name, owner, logFile, ...launch() }),
      ready: (signal) => waitFor(`${name} (its log is ${logFile})`, isReady, { timeoutMs: readyMs, signal }),
    })
  },
})

function sshdConfig(options: HostStageOptions, port: number, keyFile: string): string {
  const { folder, user, dockerSocket } = options
  const path = `${join(folder, 'bin')}:/usr/local/bin:/usr/bin:/bin`
  const docker = dockerSocket === null ? '' : ` DOCKER_HOST=unix://${dockerSocket}`
  return `${[
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${keyFile}`,
    'PidFile none',
    'PermitRootLogin no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'AuthenticationMethods publickey',
    `AllowUsers ${user.name}`,
    'UsePAM no',
    'MaxSessions 10',
    'MaxStartups 50:30:100',
    'LogLevel VERBOSE',
    `SetEnv PATH=${path}${docker}`,
    'Subsystem sftp internal-sftp',
  ].join('\n')}\n`
}

function sshdService(options: HostStageOptions, port: number, config: string): Service {
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  return partsFor(options).service(
    'sshd',
    () => ({ command: '/usr/sbin/sshd', args: ['-D', '-e', '-f', config] }),
    () => isListening(port),
  )
}

function caddyService(options: HostStageOptions, admin: string): Service {
  const { folder, user } = options
  const home = dirname(admin)
  const config = {
    admin: { listen: `unix/${admin}|0600`, config: { persist: false } },
    storage: { module: 'file_system', root: join(home, 'store') },
  }
  writeFileSync(join(home, 'caddy.json'), JSON.stringify(config), { mode: 0o644 })
  return partsFor(options).service(
    'caddy',
    () => {
      rmSync(admin, { force: true })
      const args = ['run', '--config', join(home, 'caddy.json')]
      return { command: join(folder, 'bin', 'caddy'), args, uid: user.uid, gid: user.gid, env: { HOME: home } }
    },
    async () => existsSync(admin),
  )
}

/** As a host has it that was set up (hack/hostsetup/files.sh). Where the kernel refuses, some visitors are turned away by a new configuration. */
function handOnVisitors(): void {
  try {
    writeFileSync('/proc/sys/net/ipv4/tcp_migrate_req', '1')
  } catch {} // older than Linux 5.14, or a container of somebody
}

const PACKAGES = [
  { name: 'openssh-server', files: ['/usr/sbin/sshd'] },
  { name: 'openssh-client', files: ['/usr/bin/ssh-keygen'] },
]

/** Puts tools, folders and keys where the services look for them. */
function furnish({ folder, user, tool }: HostStageOptions) {
  place(tool('caddy'), join(folder, 'bin', 'caddy'))
  place(tool('docker-compose'), join(user.home, '.docker', 'cli-plugins', 'docker-compose'))
  const caddyHome = join(folder, 'caddy')
  const siteRoot = join(user.home, 'sites')
  for (const path of [caddyHome, siteRoot, join(user.home, '.docker')]) {
    mkdirSync(path, { recursive: true, mode: 0o755 })
    spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, path])
  }
  const keyFile = join(folder, 'hostkey')
  const clientKey = join(folder, 'clientkey')
  for (const path of [keyFile, clientKey]) makeKey(path)
  authoriseKey(user, publicOf(clientKey))
  return { caddyHome, siteRoot, keyFile, clientKey }
}

/** Starts everything but Docker. Ports and keys that the folder knows from before are kept. */
export async function startHostStage(options: HostStageOptions): Promise<HostStage> {
  const { folder, user, ports = {} } = options
  ensurePackages(PACKAGES, { what: 'A host with SSH' })
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  handOnVisitors()
  const [sshPort, httpPort, httpsPort] = [
    await freePort(ports.ssh),
    await freePort(ports.http),
    await freePort(ports.https),
  ]
  const { caddyHome, siteRoot, keyFile, clientKey } = furnish(options)
  const config = join(folder, 'sshd_config')
  writeFileSync(config, sshdConfig(options, sshPort, keyFile))

  const sshd = sshdService(options, sshPort, config)
  const admin = join(caddyHome, 'admin.sock')
  const caddy = caddyService(options, admin)
  const started: Service[] = []
  const stop = async () => {
    for (const one of started.toReversed()) await one.stop()
  }
  const cutSsh = () => endPids(connectionsOf(user.name))
  try {
    const acme = await startAcme({
      ...options,
      folder: join(folder, 'acme'),
      httpPort,
      httpsPort,
      ...(ports.acme && { port: ports.acme }),
    })
    started.push(...acme.services)
    for (const one of [caddy, sshd]) {
      await one.start()
      started.push(one)
    }
    return {
      user: user.name,
      sshPort,
      httpPort,
      httpsPort,
      hostKey: publicOf(keyFile).split(' ').slice(0, 2).join(' '),
      privateKey: readFileSync(clientKey, 'utf8'),
      admin,
      siteRoot,
      acme,
      sshd,
      caddy,
      sshdLog: sshd.logFile,
      services: started,
      cutSsh,
      async swapKey() {
        const other = join(folder, 'otherkey')
        makeKey(other)
        writeFileSync(config, sshdConfig(options, sshPort, other))
        // A stop of the listener leaves its connections alone.
        await sshd.stop()
        await sshd.start()
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The server's processes for connections of the user, also those that an earlier listener made. */
const connectionsOf = (user: string): number[] => sshdsWhere((title) => title.startsWith(`sshd: ${user}`))

/** Ends the servers of a folder that were left behind. They write their titles over their environment, where others have the mark. */
export const endSshdsOf = (folder: string): Promise<void> =>
  endPids(sshdsWhere((title) => title.includes(` ${folder}/`)))

function sshdsWhere(isWanted: (title: string) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const title = readFileSync(`/proc/${name}/cmdline`, 'latin1')
        return title.startsWith('sshd: ') && isWanted(title) ? [Number(name)] : []
      } catch {
        return [] // gone meanwhile
      }
    })
}
