import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { endPids, waitFor } from '../../../hack/lib/processes.ts'
import { changesIn } from './changes.ts'
import { startMirror } from './mirror.ts'
import { joined } from './relay.ts'
import { debianRoot } from './root.ts'

/**
 * A Debian that was booted: systemd is its first process, in name spaces of its own, without any network but a proxy for packages
 * and the way to its sshd. What it changes lies in a folder that goes with it.
 */
export type Debian = {
  /** Runs a program as root there. */
  run(args: readonly string[], input?: string): Promise<Ran>
  write(path: string, content: string): Promise<void>
  /** A port of ours that leads to its sshd. */
  sshPort: number
  /** Mode, owner and content of each file that differs from the fresh one, by path; without what runs writes by itself. */
  changes(): Map<string, string>
  end(): Promise<void>
}
export type Ran = { code: number; stdout: string; stderr: string }

const BOOT_MS = 120_000
const RUN_MS = 600_000
const TIMERS = ['apt-daily', 'apt-daily-upgrade', 'dpkg-db-backup', 'e2scrub_all', 'fstrim', 'systemd-tmpfiles-clean']
/** Of the proxy, as the machine sees it. */
export const PROXY_PORT = 3142
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup']
const SPACES = ['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child']
/** Nothing of it outlives the test, however that ends. */
const WITH_US = ['--pdeathsig', 'KILL']

/** Runs a program beside us: we serve the packages that a machine asks for meanwhile, and join the network of its sshd. */
export const ranBy = async (command: string, args: readonly string[], input: string): Promise<Ran> => {
  const child = spawn(command, args, { timeout: RUN_MS, killSignal: 'SIGKILL' })
  child.stdin.on('error', () => {}) // it ended without reading
  child.stdin.end(input)
  const ended = once(child, 'close')
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code: code ?? 1, stdout, stderr }
}

/** What is there before it boots, beside what debootstrap made. */
const furnish = (upper: string): void => {
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(upper, path)), { recursive: true })
    writeFileSync(join(upper, path), content)
  }
  put('/etc/apt/apt.conf.d/00proxy', `Acquire::http::Proxy "http://127.0.0.1:${PROXY_PORT}";\n`)
  put('/etc/dpkg/dpkg.cfg.d/unsafe', 'force-unsafe-io\n')
  put('/etc/hostname', 'green\n')
  put('/etc/resolv.conf', '')
  // What begins by the clock changes files while others are looked at.
  const units = join(upper, 'etc', 'systemd', 'system')
  mkdirSync(units, { recursive: true })
  for (const timer of TIMERS) symlinkSync('/dev/null', join(units, `${timer}.timer`))
}

const removeCgroup = (path: string): void =>
  void spawnSync('find', [path, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'])

/** A control group of its own, so that its systemd takes none of the machine's for its own. One that is in use stays. */
const makeCgroup = (): string => {
  const home = CGROUPS.find((path) => existsSync(join(path, 'cgroup.controllers'))) ?? '/sys/fs/cgroup'
  for (const left of globSync(join(home, 'btg-debian-*'))) removeCgroup(left)
  const path = join(home, `btg-debian-${process.pid}`)
  mkdirSync(path, { recursive: true })
  return path
}

const launch = (folder: string, { base, cgroup }: { base: string; cgroup: string }): ChildProcess => {
  const log = openSync(join(folder, 'boot.log'), 'a')
  const boot = ['sh', join(import.meta.dirname, 'boot.sh'), base, join(folder, 'machine')]
  const enter = ['sh', '-c', `echo $$ > '${cgroup}/cgroup.procs' && exec "$@"`, 'sh']
  const args = [...WITH_US, ...enter, 'setpriv', ...WITH_US, 'unshare', ...SPACES, ...boot]
  const outer = spawn('setpriv', args, { stdio: ['ignore', log, log] })
  closeSync(log)
  return outer
}

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0] || 0)

const inside =
  (init: number): Debian['run'] =>
  (words, input = '') => {
    const enter = ['-t', String(init), '-m', '-p', '-n', '-i', '-u', '-C', '-r', '-w', '--']
    return ranBy('nsenter', [...enter, 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...words], input)
  }

const booted = async (folder: string, outer: number): Promise<number> => {
  let init = 0
  const isUp = async () => {
    init = childOf(outer)
    return init > 1 && /^(running|degraded)/.test((await inside(init)(['systemctl', 'is-system-running'])).stdout)
  }
  const what = `a Debian to boot (its log is ${join(folder, 'boot.log')})`
  await waitFor(what, isUp, { timeoutMs: BOOT_MS, everyMs: 500 })
  return init
}

/** Joins its loopback with us over sockets of files, which name spaces of a network do not part. */
const joinNetworks = async (folder: string, init: number, own: string) => {
  const [mirrorSocket, sshSocket] = [join(folder, 'mirror.sock'), join(folder, 'ssh.sock')]
  const mirror = await startMirror({ own, socket: mirrorSocket })
  const relay = [
    process.execPath,
    join(import.meta.dirname, 'relay.ts'),
    `${PROXY_PORT}=${mirrorSocket}`,
    `${sshSocket}=22`,
  ]
  const child = spawn('setpriv', [...WITH_US, 'nsenter', `--net=/proc/${init}/ns/net`, ...relay], { stdio: 'ignore' })
  const door: Server = createServer((socket) => joined(socket, connect(sshSocket)))
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const address = door.address()
  const close = async () => {
    child.kill('SIGKILL')
    door.close()
    await mirror.close()
  }
  try {
    await waitFor('the network of a Debian', async () => existsSync(sshSocket), { timeoutMs: 30_000 })
  } catch (error) {
    await close()
    throw error
  }
  return { sshPort: typeof address === 'object' && address !== null ? address.port : 0, close }
}

/** @param folder for what it changes, and logs  @param options.own a folder that its proxy serves */
export const startDebian = async (folder: string, { own }: { own: string }): Promise<Debian> => {
  const base = await debianRoot()
  const upper = join(folder, 'machine', 'upper')
  furnish(upper)
  const cgroup = makeCgroup()
  const outer = launch(folder, { base, cgroup }).pid ?? 0
  let init = 0
  const off = async () => {
    await endPids([init, outer].filter((pid) => pid > 1))
    removeCgroup(cgroup)
    rmSync(join(folder, 'machine'), { recursive: true, force: true })
  }
  try {
    init = await booted(folder, outer)
    const { sshPort, close } = await joinNetworks(folder, init, own)
    const run = inside(init)
    return {
      run,
      sshPort,
      write: async (path, content) => {
        const { code, stderr } = await run(
          ['sh', '-c', 'mkdir -p "$(dirname "$1")" && cat > "$1"', 'sh', path],
          content,
        )
        if (code !== 0) throw new Error(stderr)
      },
      changes: () => changesIn(upper),
      end: async () => {
        await close()
        await off()
      },
    }
  } catch (error) {
    await off()
    throw error
  }
}
