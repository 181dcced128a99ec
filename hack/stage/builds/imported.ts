/** Images of programs that are on this machine, for a Docker that reaches no registry. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensurePackages, type SystemPackage } from '../../lib/apt.ts'
import { withLock } from '../../lib/lock.ts'
import { CommandRefusal } from '../../lib/refusal.ts'

/** `programs`: where each is, and where it is to be, with what it is linked to. `applets`: of a busybox, for a shell and what its scripts call. */
export type Imported = {
  name: string
  /** As a Refusal names it. */
  what: string
  packages: readonly SystemPackage[]
  programs(): readonly { from: string; to: string }[]
  applets: readonly string[]
  folders: readonly string[]
  passwd: string
}

const BUSYBOX = '/bin/busybox'

const run = (command: string, args: readonly string[], input?: Buffer) =>
  spawnSync(command, args, { maxBuffer: 1024 ** 3, ...(input && { input }) })

/** The files that a program is linked to, the loader among them; none of one that is linked to nothing. */
const librariesOf = (program: string): string[] =>
  run('ldd', [program])
    .stdout.toString()
    .split(/\s+/)
    .filter((word) => word.startsWith('/'))

/** Gives an image to the Docker behind a socket, unless it has it. @throws CommandRefusal with what Docker said */
export const importImage = (socket: string, image: Imported): Promise<void> =>
  withLock(`${image.name} of ${socket}`, async () => {
    const docker = (args: readonly string[], input?: Buffer) =>
      run('docker', ['--host', `unix://${socket}`, ...args], input)
    if (docker(['image', 'inspect', image.name]).status === 0) return
    ensurePackages([{ name: 'busybox-static', files: [BUSYBOX] }, ...image.packages], { what: image.what })
    const { status, stderr } = docker(['import', '-', image.name], packed(image))
    if (status !== 0)
      throw new CommandRefusal(`${image.name} was not imported (see above).`, { detail: stderr.toString() })
  })

/** A tar of its files. */
function packed({ programs, applets, folders, passwd }: Imported): Buffer {
  const folder = mkdtempSync('/tmp/bottega-image-')
  const place = (from: string, to: string) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    copyFileSync(from, join(folder, to))
  }
  try {
    for (const { from, to } of programs()) {
      place(from, to)
      for (const path of librariesOf(from)) place(path, path)
    }
    place(BUSYBOX, 'bin/busybox')
    for (const applet of applets) symlinkSync('busybox', join(folder, 'bin', applet))
    for (const name of folders) mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'etc/passwd'), passwd)
    return run('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', '-', '.']).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
