/** The keys by hand: how far a change has come, another root, one that is retired (`setup.ts keys`; hack/docs/keys.md). */
import { parseArgs } from 'node:util'
import { EnvError, KEYS, readEnv } from './base/env.ts'
import { makeKeyRing } from './base/keyring.ts'
import { countSealed, PLAIN } from './store/installation/reseal.ts'
import { assertHeld, forgetKey, readRingKeys } from './store/installation/ringkeys.ts'
import { addRoot, type RootRow, readRoots, retireRoot } from './store/installation/roots.ts'
import { makePg, type Pg } from './store/pg/pg.ts'

export const KEYS_USAGE = 'keys [--root | --retire-root ID | --forget-key ID]'

/** `values` are sealed under it; `isNeeded`: whoever starts has to hold it. */
export type KeyStatus = { id: string; values: number; isNeeded: boolean }
export type KeysStatus = { keys: KeyStatus[]; roots: Pick<RootRow, 'id' | 'derivesFrom' | 'retiredAt'>[] }

/** Counted now. Those of form 1 stand under PLAIN. */
export const readKeysStatus = async (pg: Pg): Promise<KeysStatus> => {
  const [counts, known, roots] = await Promise.all([countSealed(pg), readRingKeys(pg), readRoots(pg)])
  const needed = new Set(known.filter(({ clearedAt }) => clearedAt === null).map(({ id }) => id))
  const ids = [...new Set([...known.map(({ id }) => id), ...counts.keys()])]
  const keys = ids.map((id) => ({ id, values: counts.get(id) ?? 0, isNeeded: needed.has(id) }))
  return { keys, roots: roots.map(({ id, derivesFrom, retiredAt }) => ({ id, derivesFrom, retiredAt })) }
}

/** @param held ids of the ring, the newest first; undefined: nobody knows */
export const textOfStatus = ({ keys, roots }: KeysStatus, held: readonly string[]): string => {
  const place = (id: string) => {
    if (id === PLAIN) return 'of before values told their key'
    if (id === held[0]) return 'the newest'
    return held.includes(id) ? 'in the ring' : 'not in the ring'
  }
  const may = ({ id, isNeeded }: KeyStatus) => (held.includes(id) && !isNeeded ? ', may be removed' : '')
  const lines = keys.map((one) => `key ${one.id}: ${one.values} values, ${place(one.id)}${may(one)}`)
  const ofRoot = ({ id, derivesFrom, retiredAt }: KeysStatus['roots'][number]) =>
    `root ${id}: makes from ${derivesFrom}${retiredAt === null ? '' : `, retired ${retiredAt}`}`
  return [...lines, ...roots.map(ofRoot)].join('\n')
}

type Asked = { root: boolean; 'retire-root'?: string | undefined; 'forget-key'?: string | undefined }

const readOptions = (args: string[]): Asked => {
  try {
    const text = { type: 'string' } as const
    const options = { root: { type: 'boolean', default: false }, 'retire-root': text, 'forget-key': text } as const
    return parseArgs({ args, options }).values
  } catch {
    throw new EnvError([{ name: 'argument', expected: KEYS_USAGE }])
  }
}

/** @returns what is to be said @throws EnvError, KeyUnknown */
export const runKeys = async (args: string[], source: Record<string, string | undefined>): Promise<string> => {
  const asked = readOptions(args)
  const { databaseUrl, secretKeys } = readEnv(KEYS, source)
  const ring = makeKeyRing(secretKeys)
  const pg = makePg({ url: databaseUrl, applicationName: 'bottega-setup', max: 2 })
  try {
    if (asked['forget-key'] !== undefined && !(await forgetKey(pg, asked['forget-key'])))
      return `There is no key ${asked['forget-key']}.`
    if (asked['retire-root'] !== undefined && !(await retireRoot(pg, asked['retire-root'])))
      return `The root ${asked['retire-root']} stays: it is not there, is retired, or no other has taken over yet.`
    if (asked.root) {
      await assertHeld(pg, ring)
      const { id, derivesFrom } = await addRoot(pg, ring)
      return `The root ${id} takes over at ${derivesFrom}. What the others made holds until they are retired.`
    }
    return textOfStatus(await readKeysStatus(pg), ring.ids)
  } finally {
    await pg.close()
  }
}
