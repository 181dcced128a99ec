/**
 * Whom a login may lead to. The registry keeps the fingerprints that a machine attested when it was finalized; keys are had from whoever
 * answers, and held against them, so that nobody is believed for having answered first. What was found so is kept in a file for
 * that one host: an address that was given back leads to somebody else some day, so no other known_hosts is read or written.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CliSurroundings } from '../context.ts'
import { type ApiRefusal, RefusedByApi, UsageFault } from '../net/outcome.ts'
import { type BelievedBox, isPublicKey } from './believed.ts'
import { fingerprintOf, scanKeys } from './programs.ts'

const refused = (refusal: Omit<ApiRefusal, 'status'>): RefusedByApi => new RefusedByApi({ status: 0, ...refusal })

/** Beside what else is kept of a person's programs (XDG Base Directory). */
const stateFolder = ({ env }: Pick<CliSurroundings, 'env'>): string => {
  const given = env.XDG_STATE_HOME
  return join(given?.startsWith('/') ? given : join(homedir(), '.local', 'state'), 'bottega', 'devboxes')
}

/** Where the host keys of one dev instance are kept. @throws UsageFault where OpenSSH could not be told of that place */
export const knownHostsPath = (surroundings: Pick<CliSurroundings, 'env'>, { id }: Pick<BelievedBox, 'id'>): string => {
  const path = join(stateFolder(surroundings), `${id}.known_hosts`)
  // a quote would end the word in ssh_config, and ${ is a variable there
  if (/["\p{Cc}]|\$\{/u.test(path)) throw new UsageFault(`${JSON.stringify(path)} is no path that ssh_config can hold.`)
  return path
}

/** Lines of known_hosts, for the id: the address may be another one tomorrow. */
export const knownHostsLines = ({ id }: Pick<BelievedBox, 'id'>, keys: readonly string[]): string[] =>
  keys.map((key) => `${id} ${key}`)

const keptKeys = (path: string): string[] => {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.map((line) => line.split(' ').slice(1).join(' ')).filter(isPublicKey)
}

/** Whole or as it was before, for its owner alone. @throws RefusedByApi NOT_WRITTEN */
const keep = (path: string, lines: readonly string[]): void => {
  const text = `${lines.join('\n')}\n`
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  const partial = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(partial, text, { mode: 0o600 })
    chmodSync(partial, 0o600)
    renameSync(partial, path)
  } catch (error) {
    throw refused({
      code: 'NOT_WRITTEN',
      detail: `The host keys cannot be kept in ${path}: ${(error as Error).message}.`,
      next: 'Make the folder writable, or name another one: XDG_STATE_HOME=FOLDER.',
    })
  }
}

const noAddress = ({ id, state }: BelievedBox): RefusedByApi =>
  refused({
    code: 'NO_ADDRESS',
    detail: `${id} is ${state} and has no address.`,
    next: `bottega devbox start ${id}, and repeat once bottega devbox show ${id} tells of an address.`,
  })

/** The address that a login goes to. @throws RefusedByApi NO_ADDRESS */
export const addressOf = (box: BelievedBox): string => {
  if (box.publicIp === null) throw noAddress(box)
  return box.publicIp
}

const scanned = async (box: BelievedBox, port: number): Promise<string[]> => {
  const publicIp = addressOf(box)
  const answering = (await withOpenSsh(scanKeys(publicIp, port))).filter(isPublicKey)
  const known = answering.filter((key) => box.fingerprints.includes(fingerprintOf(key)))
  if (known.length > 0) return known
  if (answering.length > 0) {
    throw refused({
      code: 'HOST_KEY_MISMATCH',
      detail: `What answers at ${publicIp} has none of the host keys that ${box.id} attested (${box.fingerprints.join(', ')}).`,
      next: 'Do not log in by other means. Its address may be another one by now: look again, or tell the operator.',
    })
  }
  throw refused({
    code: 'UNREACHABLE',
    detail: `Nothing answers at ${publicIp}, port ${port}; ${box.id} is ${box.state}.`,
    next: `If it is stopped: bottega devbox start ${box.id}. If it runs: is port ${port} open to you?`,
  })
}

/** @throws RefusedByApi NO_OPENSSH where the program is missing */
export const withOpenSsh = async <T>(run: Promise<T>): Promise<T> => {
  try {
    return await run
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const next = "Install OpenSSH's client: ssh and ssh-keyscan have to be on the PATH."
    throw refused({ code: 'NO_OPENSSH', detail: 'There is no ssh on this machine.', next })
  }
}

/** Host keys that the registry attests, each as `type base64`, kept where `path` says. */
export type AttestedKeys = { path: string; keys: readonly string[] }

/**
 * @returns the keys that may answer; where they are in no file yet, the dev instance is asked for them
 * @throws RefusedByApi NO_HOST_KEYS, NO_ADDRESS, HOST_KEY_MISMATCH, UNREACHABLE, NO_OPENSSH, NOT_WRITTEN; UsageFault
 */
export const attestedKeys = async (
  surroundings: Pick<CliSurroundings, 'env'>,
  box: BelievedBox,
  port: number,
): Promise<AttestedKeys> => {
  if (box.fingerprints.length + box.keys.length === 0) {
    throw refused({
      code: 'NO_HOST_KEYS',
      detail: `The registry knows no host key of ${box.id}, which is ${box.state}; who answers first is not believed.`,
      next: `It knows them once the machine is ready: bottega devbox show ${box.id}`,
    })
  }
  const path = knownHostsPath(surroundings, box)
  const kept = keptKeys(path).filter((key) => box.fingerprints.includes(fingerprintOf(key)))
  const keys = box.keys.length > 0 ? box.keys : kept.length > 0 ? kept : await scanned(box, port)
  keep(path, knownHostsLines(box, keys))
  return { path, keys }
}
