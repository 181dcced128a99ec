import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endUserProcesses } from '../lib/processes.ts'
import { CommandRefusal, codeOf } from '../lib/refusal.ts'

/** A user of the system that an app host is logged in to as: made for one checkout or one test, gone with it. */
export type HostUser = { name: string; uid: number; gid: number; home: string }

const prefix = 'btg-'
const tries = 50
const retryMs = 100

/** The tools lock the user database and give up at once when somebody else has it. */
function system(command: string, args: readonly string[]): { status: number; stderr: string } {
  for (let left = tries; ; left -= 1) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
    if (error)
      throw new CommandRefusal(`${command} is needed to make the host's user, and ${codeOf(error) || 'failed'}.`)
    if (status === 0 || left === 0 || !/lock/i.test(stderr)) return { status: status ?? 1, stderr }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
  }
}

const idsOf = (name: string): { uid: number; gid: number } | null => {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
}

/** `group`: one more that the user is in. */
export type HostUserOptions = { id: string; home: string; owner: string; group?: string }

/**
 * Makes the user, or finds it: no password, a home under the given folder, and `owner` in its comment, so that a
 * start after a crash sees whose it is.
 */
export function makeHostUser({ id, home, owner, group }: HostUserOptions): HostUser {
  if (process.getuid?.() !== 0) throw new CommandRefusal('An app host needs a user of its own: run this as root.')
  const name = `${prefix}${id}`
  if (idsOf(name) === null) {
    const also = group === undefined ? [] : ['-G', group]
    const made = system('useradd', [...also, '-M', '-U', '-d', home, '-s', '/bin/bash', '-c', owner, '-p', '*', name])
    if (made.status !== 0 && idsOf(name) === null)
      throw new CommandRefusal(`useradd ${name} failed (see above).`, { detail: made.stderr })
  }
  const ids = idsOf(name)
  if (ids === null) throw new CommandRefusal(`The user ${name} could not be made.`)
  mkdirSync(home, { recursive: true, mode: 0o755 })
  // The user of before may have had another number.
  if (statSync(home).uid !== ids.uid) system('chown', ['-R', `${ids.uid}:${ids.gid}`, home])
  return { name, ...ids, home }
}

/** Who may log in as the user: one public key. */
export function authoriseKey({ home, uid, gid }: HostUser, publicKey: string): void {
  const folder = join(home, '.ssh')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'authorized_keys')
  writeFileSync(file, `${publicKey.trim()}\n`, { mode: 0o600 })
  for (const path of [folder, file]) chownSync(path, uid, gid)
}

/** Ends all that runs as the user, and forgets the user. The home stays. */
export async function removeHostUser({ name, uid }: Pick<HostUser, 'name' | 'uid'>): Promise<void> {
  await endUserProcesses(uid)
  system('userdel', [name])
  system('groupdel', [name])
}

/** The users that `owner` (or `owner/…`) made. */
export function hostUsersOf(owner: string): Pick<HostUser, 'name' | 'uid'>[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [name = '', , uid = '', , comment = ''] = line.split(':')
      const isOurs = name.startsWith(prefix) && (comment === owner || comment.startsWith(`${owner}/`))
      return isOurs ? [{ name, uid: Number(uid) }] : []
    })
}
