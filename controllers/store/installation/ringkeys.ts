/** Which keys of the ring are needed: each stands in `ring_keys` from before its first use until nothing is sealed under it. */
import type { KeyRing } from '../../base/keyring.ts'
import type { Pg } from '../pg/pg.ts'

/** What is stored cannot be opened by the keys that were given: nothing is begun. */
export class KeyUnknown extends Error {
  override name = 'KeyUnknown'
  constructor(what: string) {
    const next = 'Put it behind the newest key, separated by a comma or in a line of its own'
    super(`KEY_UNKNOWN: ${what}, which is not in BOTTEGA_SECRET_KEY. ${next}.`)
  }
}

const NEEDED = 'select id from ring_keys where cleared_at is null order by id'
const ALL = `
select id, iso_ms(entered_at) as "enteredAt", iso_ms(cleared_at) as "clearedAt" from ring_keys order by entered_at, id`
const SETTLE = `
update ring_keys k set cleared_at = case when c.is_clear then now() end
from unnest($1::text[], $2::boolean[]) as c(id, is_clear)
where k.id = c.id and (k.cleared_at is not null) <> c.is_clear`
/** What is still sealed under it is given up: it is not there for a count any more. */
const FORGET = 'delete from ring_keys where id = $1 returning id'

export type RingKeyRow = { id: string; enteredAt: string; clearedAt: string | null }

/** @throws KeyUnknown when something is sealed under a key that the ring does not hold */
export const assertHeld = async (pg: Pg, ring: Pick<KeyRing, 'ids'>): Promise<void> => {
  const { rows } = await pg.query<{ id: string }>('ring_keys_needed', NEEDED, [])
  const missing = rows.filter(({ id }) => !ring.ids.includes(id)).map(({ id }) => id)
  if (missing.length > 0) throw new KeyUnknown(`what is stored is sealed under the key ${missing.join(', ')}`)
}

/** Something is about to be sealed under these. */
export const enterKeys = async (pg: Pg, ids: readonly string[]): Promise<void> => {
  await pg.query('enter_ring_keys', 'select enter_ring_keys($1)', [ids])
}

export const readRingKeys = async (pg: Pg): Promise<RingKeyRow[]> =>
  (await pg.query<RingKeyRow>('ring_keys', ALL, [])).rows

/** The key is lost: nobody is refused for want of it from now on. @returns whether it was known */
export const forgetKey = async (pg: Pg, id: string): Promise<boolean> =>
  (await pg.query('forget_ring_key', FORGET, [id])).rows.length > 0

/** What a count has found of keys. `isClear`: nothing is sealed under it. */
export const settleKeys = async (pg: Pg, found: readonly { id: string; isClear: boolean }[]): Promise<void> => {
  const values = [found.map(({ id }) => id), found.map(({ isClear }) => isClear)]
  await pg.query('settle_ring_keys', SETTLE, values)
}
