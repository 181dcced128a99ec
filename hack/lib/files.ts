import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandRefusal } from './refusal.ts'

/** Writes a file whole or not at all: readers see the old bytes or the new ones, also after a crash in between. */
export function writeWhole(path: string, content: string, mode = 0o600): void {
  const partial = `${path}.${process.pid}.partial`
  writeFileSync(partial, content, { mode })
  renameSync(partial, path)
}

/** Where things that are fetched or built once are kept, for all checkouts of the user. */
export const cacheOf = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bottega', name)

/** The parsed JSON of a file, or null when it is absent or not JSON. */
export function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/**
 * A short name for a folder that follows it when the checkout is moved, and differs for a copy of it: made from where the
 * folder lies on disk, not from its path.
 */
export function identityOf(folder: string): string {
  const { dev, ino, birthtimeMs } = statSync(folder)
  return createHash('sha256').update(`${dev} ${ino} ${birthtimeMs}`).digest('hex').slice(0, 12)
}

/** Makes a folder that belongs to us at a path others could guess; refuses one that is somebody else's. */
export function makeOwnFolder(path: string, mode: number): void {
  mkdirSync(path, { recursive: true, mode })
  const { uid } = statSync(path)
  if (uid !== process.getuid?.())
    throw new CommandRefusal(`${path} belongs to another user: remove it and run this again.`)
}

/** Throws a Refusal when the disk of `folder` has less than `mib` MiB left. */
export function demandDisk(folder: string, mib: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const leftMib = Math.floor((bavail * bsize) / 1024 ** 2)
  if (leftMib < mib)
    throw new CommandRefusal(
      `The disk of ${folder} has ${leftMib} MiB left and ${mib} are needed: make room and run it again.`,
    )
}
