import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { bootstrapOf } from '../../../crds/devinstance/bootstrap/bootstrap.ts'
import { ensurePackages } from '../../lib/apt.ts'
import { cacheOf } from '../../lib/files.ts'
import { withLock } from '../../lib/lock.ts'
import type { Progress } from '../../lib/progress.ts'
import { CommandRefusal } from '../../lib/refusal.ts'

/**
 * The image of dev instances that are containers: a Debian of packages, as a provider's image has it (systemd, sshd, cloud-init),
 * with what the bootstrap installs laid ready. Made once, kept with the tools.
 */

const SUITE = 'trixie'
const SYSTEM = ['systemd-sysv', 'libpam-systemd', 'dbus', 'openssh-server', 'sudo', 'cloud-init', 'iproute2', 'procps']
/** Knows the machine's own name, which nobody writes into /etc/hosts. */
const OWN_NAME = 'libnss-myhostname'

/** Docker makes the network, and hands over the user data. */
const CLOUD_INIT = 'datasource_list: [NoCloud]\nnetwork: {config: disabled}\n'
/** What this machine trusts, its boxes trust: a network may have a proxy that signs by itself. */
const TRUSTED = '/usr/local/share/ca-certificates'

/** What the bootstrap asks for, of its own text. */
const bootstrapPackages = (): string[] => {
  const made = bootstrapOf({ name: 'image', arch: 'x86_64', agents: [] })
  if (!made.ok) throw new Error(made.detail)
  const words = (made.contentType === 'application/gzip' ? gunzipSync(made.bytes) : made.bytes).toString('utf8')
  return JSON.parse(/^packages: (.*)$/m.exec(words)?.[1] ?? '[]')
}

const packagesOf = (): string[] => [...SYSTEM, OWN_NAME, ...bootstrapPackages()]

const filesOf = (): Record<string, string> => ({
  '/etc/cloud/cloud.cfg.d/90-bottega.cfg': CLOUD_INIT,
  ...Object.fromEntries(globSync(`${TRUSTED}/*.crt`).map((path) => [path, readFileSync(path, 'utf8')])),
})

const run = async (command: string, args: readonly string[]): Promise<void> => {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [detail, code] = await Promise.all([text(child.stderr), ended])
  if (code !== 0) throw new CommandRefusal(`${command} did not make the image of boxes (see above).`, { detail })
}

const lay = (folder: string, files: Record<string, string>): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** The tar of its files; the first time some minutes. */
const ensureArchive = async (progress: Progress): Promise<string> => {
  const [packages, files] = [packagesOf(), filesOf()]
  const digest = createHash('sha256')
    .update(JSON.stringify([SUITE, packages, files]))
    .digest('hex')
    .slice(0, 16)
  const archive = join(cacheOf('boxes'), `${SUITE}-${digest}.tar`)
  await withLock(archive, async () => {
    if (existsSync(archive)) return
    const step = progress.step('the image of boxes: a Debian of packages')
    ensurePackages([{ name: 'mmdebstrap', files: ['/usr/bin/mmdebstrap'] }], { what: 'The image of boxes', progress })
    mkdirSync(dirname(archive), { recursive: true })
    const scratch = mkdtempSync('/tmp/bottega-box-')
    try {
      lay(scratch, files)
      const hooks = [`cp -r ${scratch}/. "$1"`, 'chroot "$1" update-ca-certificates'].map(
        (one) => `--customize-hook=${one}`,
      )
      const include = `--include=${packages.join()}`
      await run('mmdebstrap', [
        '--mode=root',
        '--format=tar',
        '--variant=minbase',
        include,
        ...hooks,
        SUITE,
        `${archive}.partial`,
      ])
      renameSync(`${archive}.partial`, archive)
    } catch (error) {
      step.fail()
      throw error
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
    step.done()
  })
  return archive
}

/** Gives the image to the Docker behind a socket, unless it has it. @returns its name @throws CommandRefusal */
export async function importBoxImage(socket: string, progress: Progress): Promise<string> {
  const archive = await ensureArchive(progress)
  const name = `bottega.local/box:${basename(archive, '.tar')}`
  const docker = (...args: string[]) =>
    spawnSync('docker', ['--host', `unix://${socket}`, ...args], { encoding: 'utf8' })
  if (docker('image', 'inspect', name).status === 0) return name
  const { status, stderr } = docker('import', archive, name)
  if (status !== 0) throw new CommandRefusal(`${name} was not imported (see above).`, { detail: stderr })
  return name
}
