/**
 * Where secrets are noted and what might hold them is kept, for the end of the run. Without a run (a file by itself) nothing is.
 */
import { appendFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Place, SecretName } from './kinds.ts'

export const CANARIES_VARIABLE = 'BOTTEGA_TEST_CANARIES'
/** Shorter ones would be found where they are not. */
export const LENGTH_MIN = 12

/** One noted secret, a line of JSON each. `bytes`: what stands for bytes is looked for in base64 and hex only. */
export type Canary = { kind: SecretName; text: string; bytes?: true }

/** Of one kind, by one process: more would find nothing else. */
const MOST = 60
const noted = new Set<string>()
const counts = new Map<SecretName, number>()

const folderOf = (...parts: string[]): string | null => {
  const folder = process.env[CANARIES_VARIABLE]
  if (folder === undefined) return null
  const whole = join(folder, ...parts)
  mkdirSync(whole, { recursive: true })
  return whole
}

/** Notes a secret, once. @param secret bytes are such that are no text @throws Error for one that is too short to be found */
export const plant = (kind: SecretName, secret: string | Buffer): void => {
  if (secret.length < LENGTH_MIN)
    throw new Error(`a secret of ${secret.length} characters cannot be looked for: ${kind}`)
  const canary: Canary =
    typeof secret === 'string' ? { kind, text: secret } : { kind, text: secret.toString('base64'), bytes: true }
  const line = JSON.stringify(canary)
  const count = counts.get(kind) ?? 0
  const folder = noted.has(line) || count >= MOST ? null : folderOf('planted')
  if (folder === null) return
  noted.add(line)
  counts.set(kind, count + 1)
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${line}\n`)
}

/** The same of what somebody chose, which may be too short. */
export const plantLong = (kind: SecretName, secret: string | Buffer): void => {
  if (secret.length >= LENGTH_MIN) plant(kind, secret)
}

let kept = 0
/** A folder for what was written in one place; null without a run. @param name tells whose it was */
export const keepingFolder = (place: Place, name: string): string | null => {
  kept += 1
  return folderOf('kept', place, `${basename(process.argv[1] ?? '', '.test.ts')}-${process.pid}-${kept}-${name}`)
}

/** Keeps a text. All of one place and name lie in one file. */
export const keepText = (place: Place, name: string, text: string): void => {
  const folder = folderOf('kept', place)
  if (folder !== null)
    appendFileSync(join(folder, `${basename(process.argv[1] ?? '', '.test.ts')}-${process.pid}-${name}`), `${text}\n`)
}
