/**
 * The roots as they are stored: sealed under the key ring, about their ids. The first names things and is kept for ever; a later
 * one takes over what is made anew once every process knows it, and what the earlier ones made holds until they are retired
 * (hack/decisions/047).
 */
import { randomBytes } from 'node:crypto'
import { KeyMissing, type KeyRing } from '../../base/keyring.ts'
import { installationOf } from '../../base/keys.ts'
import { BadSeal, makeSealer } from '../../base/seal.ts'
import type { Pg } from '../pg/pg.ts'
import { enterKeys, KeyUnknown } from './ringkeys.ts'

export const FIRST_ROOT = 'first'
const ROOT_BYTES = 32
const ID_BYTES = 6
/** Every process has read a new root by then. */
export const PUBLISH_MS = 5 * 60_000
const PURPOSE = 'root'

/** Instants are ISO. `sealed` is null for what followed from the key of a database of before (sql/schema/025_keys.sql). */
export type RootRow = {
  id: string
  sealed: Buffer | null
  madeAt: string
  derivesFrom: string
  retiredAt: string | null
}
/** `secret`: 32 bytes. */
export type Root = { id: string; secret: Buffer; fromMs: number; isRetired: boolean }

const READ = `
select id, sealed, iso_ms(made_at) as "madeAt", iso_ms(derives_from) as "derivesFrom", iso_ms(retired_at) as "retiredAt"
from roots order by id <> '${FIRST_ROOT}', made_at, id`
/** Who comes second keeps what is there. */
const KEEP = `
insert into roots as r (id, sealed, made_at, derives_from, retired_at)
values ($1, $2, coalesce($3::timestamptz, now()), coalesce($4::timestamptz, now()), $5)
on conflict (id) do update set sealed = excluded.sealed where r.sealed is null`
const ADD = `
insert into roots (id, sealed, derives_from) values ($1, $2, now() + $3::bigint * interval '1 ms')
returning iso_ms(derives_from) as "derivesFrom"`
/** What nothing takes the place of stays. */
const RETIRE = `
update roots r set retired_at = now()
where r.id = $1 and r.retired_at is null
  and exists (select from roots o where o.id <> r.id and o.retired_at is null and o.derives_from <= now())
returning r.id`
const KEY_CHECK = 'select key_check as "keyCheck" from installation'

/** The first one stands first. */
export const readRoots = async (pg: Pg): Promise<RootRow[]> => (await pg.query<RootRow>('roots', READ, [])).rows

/** @throws KeyUnknown when the ring does not hold what it is sealed under; BadSeal */
export const openRoot = (ring: KeyRing, { id, sealed, derivesFrom, retiredAt }: RootRow): Root => {
  if (sealed === null) throw new Error(`the root ${id} is not sealed yet`)
  try {
    const secret = makeSealer(ring, PURPOSE).open(sealed, id)
    return { id, secret, fromMs: Date.parse(derivesFrom), isRetired: retiredAt !== null }
  } catch (error) {
    if (error instanceof KeyMissing) throw new KeyUnknown(`the root ${id} is sealed under the key ${error.id}`)
    if (error instanceof BadSeal) throw new KeyUnknown(`the root ${id} is sealed under another key`)
    throw error
  }
}

/** The key from which all of a database of before follows: the one that it knows, or the oldest that was given. */
const keyOfBefore = async (pg: Pg, keys: readonly Buffer[]): Promise<Buffer> => {
  const { rows } = await pg.query<{ keyCheck: string | null }>('key_check', KEY_CHECK, [])
  const check = rows[0]?.keyCheck ?? null
  const found = check === null ? keys.at(-1) : keys.find((key) => installationOf(key) === check)
  if (!found) throw new KeyUnknown('what is stored follows from another key')
  return found
}

/** The first root where there is none that could be opened: what the cluster has kept of it, what was there before roots, or a new one. */
export const makeFirstRoot = async (
  pg: Pg,
  { ring, rows, kept }: { ring: KeyRing; rows: readonly RootRow[]; kept: readonly RootRow[] },
): Promise<void> => {
  const isOfBefore = rows.length > 0
  if (!isOfBefore && kept.length > 0) {
    for (const row of kept) openRoot(ring, row)
    await enterKeys(pg, ring.ids)
    for (const row of kept)
      await pg.query('keep_root', KEEP, [row.id, row.sealed, row.madeAt, row.derivesFrom, row.retiredAt])
    return
  }
  const secret = isOfBefore ? await keyOfBefore(pg, ring.plainKeys) : randomBytes(ROOT_BYTES)
  const sealed = makeSealer(ring, PURPOSE).seal(secret, FIRST_ROOT)
  // what was sealed before keys had ids may be under any of them
  await enterKeys(pg, isOfBefore ? ring.ids : ring.ids.slice(0, 1))
  await pg.query('keep_root', KEEP, [FIRST_ROOT, sealed, null, null, null])
}

/** Makes another root, which takes over once it is known everywhere. */
export const addRoot = async (
  pg: Pg,
  ring: KeyRing,
  publishMs = PUBLISH_MS,
): Promise<{ id: string; derivesFrom: string }> => {
  const id = `root-${randomBytes(ID_BYTES).toString('hex')}`
  const sealed = makeSealer(ring, PURPOSE).seal(randomBytes(ROOT_BYTES), id)
  const { rows } = await pg.query<{ derivesFrom: string }>('add_root', ADD, [id, sealed, publishMs])
  return { id, derivesFrom: rows[0]?.derivesFrom ?? '' }
}

/** From then on nothing that was made by it is believed. @returns false where it is not there, or nothing has taken over yet */
export const retireRoot = async (pg: Pg, id: string): Promise<boolean> =>
  (await pg.query('retire_root', RETIRE, [id])).rows.length > 0
