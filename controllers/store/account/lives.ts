/**
 * Accounts over their lives: which key the rows of an account name it by, whatever its resource is called and whenever that
 * is made again (sql/schema/008_accounts.sql). Every effect carries the epoch.
 */
import type { AccountLife } from '../../../crds/account/life.ts'
import { makeBatch } from '../../base/batch.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

const OBSERVE_MAX = 128

/** An Account's resource. */
export type Living = { uid: string; name: string }

export type Lives = {
  /** What is on record of a resource; null before it was seen. Many passes share one read. */
  of(uid: string): Promise<AccountLife | null>
  /** Binds a resource to its key, or brings its record up to date. @param of.continues the uid of a former account; null: none */
  begin(of: Living & { email: string; continues: string | null; at: string }): Promise<void>
  /** The deletion of a resource was seen: what opens in its account's name ends. Safe to repeat. */
  end(uid: string, at: string): Promise<void>
  /** The resource that stood last for the account of a key; undefined for one that was never seen. */
  holderOf(key: string): Living | undefined
  /** Whether some account had this name, alive or not. */
  isKnown(name: string): boolean
}

const ALL = 'select uid, name, key from account_lives order by n'
const OF = `
select l.uid, l.name, l.key, l.email, l.asked, l.ended_at is not null as "isEnded",
  (select f.uid from account_lives f where f.key = l.key and f.n < l.n order by f.n desc limit 1) as before,
  (select f.uid from account_lives f where f.name = l.name and f.key <> l.key and f.n < l.n order by f.n desc limit 1) as former
from unnest($1::text[]) as k(uid) cross join lateral (select * from account_lives a where a.uid = k.uid limit 1) l`

type Row = AccountLife & Living

/** Knows at once what was on record when it was made; what it binds or sees itself it knows from then on. */
export const makeLives = async ({ pg, epoch }: { pg: Pg; epoch: () => number }): Promise<Lives> => {
  const holders = new Map<string, Living>()
  const names = new Set<string>()
  const keys = new Map<string, string>()
  const learn = ({ uid, name, key }: Living & { key: string }) => {
    holders.set(key, { uid, name })
    keys.set(uid, key)
    names.add(name)
  }
  for (const row of (await pg.query<Row>('observe_all_lives', ALL, [])).rows) learn(row)

  return {
    of: makeBatch<string, AccountLife | null>({
      max: OBSERVE_MAX,
      inFlight: 2,
      async run(uids) {
        const { rows } = await pg.query<Row>('observe_lives', OF, [[...new Set(uids)]])
        for (const row of rows) if (!row.isEnded) learn(row)
        const found = new Map(rows.map((row) => [row.uid, row]))
        return uids.map((uid) => found.get(uid) ?? null)
      },
    }),
    async begin({ uid, name, email, continues, at }) {
      const values = [LEASE, epoch(), uid, name, email, continues, at]
      const text = 'select key from begin_account_life($1, $2, $3, $4, $5, $6, $7)'
      const [begun] = (await pg.query<{ key: string }>('begin_account_life', text, values)).rows
      if (!begun) throw new Error('an account has a key')
      learn({ uid, name, key: begun.key })
    },
    async end(uid, at) {
      await pg.query('end_account_life', 'select end_account_life($1, $2, $3, $4)', [LEASE, epoch(), uid, at])
    },
    holderOf: (key) => {
      const holder = holders.get(key)
      return holder && keys.get(holder.uid) === key ? holder : undefined
    },
    isKnown: (name) => names.has(name),
  }
}
