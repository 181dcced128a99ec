import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readSecretKeys } from '../../controllers/base/env.ts'
import { keyIdOf } from '../../controllers/base/keyring.ts'
import { type KeysStatus, readKeysStatus } from '../../controllers/setupkeys.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import { writeWhole } from '../lib/files.ts'
import { CommandRefusal } from '../lib/refusal.ts'

/**
 * Changing the server key without an outage: a new key is known everywhere before anything is sealed by it, and an old one goes
 * when nothing is sealed under it any more. Each step may be done again, and one that was interrupted is gone on with.
 */

export type Rotating = {
  databaseUrl: string
  /** The keys that whoever starts reads, the newest first. */
  keyFile: string
  /** Both processes, one after the other; resolves once they are ready. */
  restart(): Promise<void>
  say(line: string): void
}

const waitMs = 15 * 60_000
const pollMs = 1_000

export const keysIn = (keyFile: string): Buffer[] => readSecretKeys(readFileSync(keyFile, 'utf8'))

const writeKeys = (keyFile: string, keys: readonly Buffer[]): void =>
  writeWhole(keyFile, `${keys.map((key) => key.toString('base64')).join('\n')}\n`)

export const statusOf = async (databaseUrl: string): Promise<KeysStatus> => {
  const pg = makePg({ url: databaseUrl, max: 3 })
  try {
    return await readKeysStatus(pg)
  } finally {
    await pg.close()
  }
}

/** A key that was laid behind the others and has sealed nothing yet: a change that was interrupted. */
const beganWith = async ({ databaseUrl, keyFile }: Rotating): Promise<Buffer | undefined> => {
  const [, ...behind] = keysIn(keyFile)
  const { keys } = await statusOf(databaseUrl)
  return behind.find((key) => !keys.some(({ id }) => id === keyIdOf(key)))
}

/** What is left under other keys than the newest. */
const leftUnder = async ({ databaseUrl }: Rotating, newest: string): Promise<KeysStatus['keys']> =>
  (await statusOf(databaseUrl)).keys.filter(({ id, values, isNeeded }) => id !== newest && (values > 0 || isNeeded))

const untilSealedAnew = async (rotating: Rotating, newest: string): Promise<void> => {
  const { say } = rotating
  let said = ''
  for (const endMs = performance.now() + waitMs; ; await sleep(pollMs)) {
    const left = await leftUnder(rotating, newest)
    if (left.length === 0) return
    const line = left.map(({ id, values }) => `${values} values under ${id}`).join(', ')
    if (line !== said) say(`· ${line}`)
    said = line
    if (performance.now() > endMs)
      throw new CommandRefusal(`Not all was sealed anew within ${waitMs / 60_000} minutes; hack/rotate-key goes on.`)
  }
}

/** From one key to another; the old one stays behind it until removeOld. @returns the id of the newest */
export async function rotateKey(rotating: Rotating): Promise<string> {
  const { keyFile, restart, say } = rotating
  let fresh = await beganWith(rotating)
  if (fresh === undefined) {
    fresh = randomBytes(32)
    writeKeys(keyFile, [...keysIn(keyFile), fresh])
    say(`· key ${keyIdOf(fresh)} is made, and known before it seals`)
  }
  const newest = fresh
  await restart()
  writeKeys(keyFile, [newest, ...keysIn(keyFile).filter((key) => !key.equals(newest))])
  say(`· key ${keyIdOf(newest)} seals from now on`)
  await restart()
  await untilSealedAnew(rotating, keyIdOf(newest))
  say(`✓ all is sealed under ${keyIdOf(newest)}`)
  return keyIdOf(newest)
}

/** Takes every key but the newest out of the file. @throws CommandRefusal while something is sealed under one of them */
export async function removeOld(rotating: Rotating): Promise<void> {
  const { keyFile, restart, say } = rotating
  const [newest, ...old] = keysIn(keyFile)
  if (newest === undefined || old.length === 0) return say('There is one key, and it is the newest.')
  const left = await leftUnder(rotating, keyIdOf(newest))
  const [first] = left
  if (first)
    throw new CommandRefusal(
      `${first.values} values are under ${first.id}; run hack/rotate-key until all is sealed anew.`,
    )
  writeKeys(keyFile, [newest])
  await restart()
  say(`✓ ${old.map(keyIdOf).join(', ')} removed; backups of before need them still`)
}
