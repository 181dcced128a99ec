import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensurePackages } from '../lib/apt.ts'
import { withLock } from '../lib/lock.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { buildkitVersion } from '../lib/tooltable.ts'

/**
 * The image that builds run in, for a Docker that reaches no registry: the programs of moby/buildkit, built here from its Go
 * module, the machine's runc with its libraries, and a busybox for a shell. Its Host names it as `builder`.
 */
export const LOCAL_BUILDER = `bottega.local/buildkit:${buildkitVersion}`

const BUSYBOX = '/bin/busybox'
const RUNC = '/usr/sbin/runc'
/** What the script of a cell calls (controllers/kinds/app/scripts/cell.sh). */
const APPLETS = ['cat', 'cut', 'date', 'du', 'find', 'grep', 'kill', 'mkdir', 'rm', 'sh', 'sleep', 'tail']
const PACKAGES = [
  { name: 'busybox-static', files: [BUSYBOX] },
  { name: 'runc', files: [RUNC] },
]

const run = (command: string, args: readonly string[], input?: Buffer) =>
  spawnSync(command, args, { maxBuffer: 1024 ** 3, ...(input && { input }) })

/** The files that a program is linked to, the loader among them. */
const librariesOf = (program: string): string[] =>
  run('ldd', [program])
    .stdout.toString()
    .split(/\s+/)
    .filter((word) => word.startsWith('/'))

/** Gives the image to the Docker behind a socket, unless it has it. @throws CommandRefusal with what Docker said */
export const importBuilder = (socket: string, tool: (name: string) => string): Promise<void> =>
  withLock(`${LOCAL_BUILDER} of ${socket}`, async () => {
    const docker = (args: readonly string[], input?: Buffer) =>
      run('docker', ['--host', `unix://${socket}`, ...args], input)
    if (docker(['image', 'inspect', LOCAL_BUILDER]).status === 0) return
    ensurePackages(PACKAGES, { what: 'The builder of an app host' })
    const { status, stderr } = docker(['import', '-', LOCAL_BUILDER], packed(tool))
    if (status !== 0)
      throw new CommandRefusal(`${LOCAL_BUILDER} was not imported (see above).`, { detail: stderr.toString() })
  })

/** A tar of its files. */
function packed(tool: (name: string) => string): Buffer {
  const folder = mkdtempSync('/tmp/bottega-builder-')
  const place = (from: string, to: string) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    copyFileSync(from, join(folder, to))
  }
  try {
    for (const name of ['buildkitd', 'buildctl']) place(tool(name), `usr/bin/${name}`)
    place(RUNC, 'usr/bin/buildkit-runc')
    for (const path of librariesOf(RUNC)) place(path, path)
    place(BUSYBOX, 'bin/busybox')
    for (const applet of APPLETS) symlinkSync('busybox', join(folder, 'bin', applet))
    for (const name of ['etc', 'proc', 'run', 'sys', 'tmp', 'var/lib/buildkit', 'source', 'cell'])
      mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n')
    return run('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', '-', '.']).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
