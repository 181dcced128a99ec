import { closeSync, existsSync, globSync, mkdirSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, run } from '../../../hack/lib/command.ts'

/** A disk of its own for a server's data, which a test fills up (Linux, root). */
export type SmallDisk = {
  /** On it. */
  folder: string
  /** To the last page. */
  fill(): void
  empty(): void
  end(): void
}

/** PostgreSQL with the tables and some segments of its log takes a third of it. */
const SIZE_MIB = 512
/** Before the id of the process that mounts it. */
const PREFIX = 'bottega-disk-'
const PIECES = [1 << 20, 1 << 12]

/** Writes until there is no room. */
const writeUntilFull = (file: string): void => {
  const descriptor = openSync(file, 'a')
  try {
    for (const bytes of PIECES) {
      const piece = Buffer.alloc(bytes)
      try {
        while (writeSync(descriptor, piece) === bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(descriptor)
  }
}

/** What a run left that was cut off. */
const endStale = (): void => {
  for (const mount of globSync(join(tmpdir(), `${PREFIX}*`))) {
    if (existsSync(`/proc/${mount.slice(mount.lastIndexOf('-') + 1)}`)) continue
    attempt('umount', ['--lazy', mount])
    rmdirSync(mount)
  }
}

/** Beside the folder of the run, which could not be removed with a disk in it. @throws where this user may not mount */
export const startSmallDisk = (): SmallDisk => {
  endStale()
  const mount = join(tmpdir(), `${PREFIX}${process.pid}`)
  mkdirSync(mount)
  run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=755`, 'tmpfs', mount])
  const folder = join(mount, 'own')
  mkdirSync(folder, { mode: 0o755 })
  const filling = join(mount, 'filling')
  return {
    folder,
    fill: () => writeUntilFull(filling),
    empty: () => rmSync(filling, { force: true }),
    end: () => {
      run('umount', [mount])
      rmdirSync(mount)
    },
  }
}
