/**
 * How far audit and register had come, as one keyed word that is told outside. The chains themselves guard against a change in the
 * midst; whoever owns the database may write all of it anew, chains and all, and only what was saved elsewhere shows it
 * (rules/platform.md#history).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** `head` in hex. `chains`: how many had gone on since the one before; 0 when it is the last again. */
export type HistoryHead = { n: number; at: string; head: string; chains: number }
/** `anew` null: an entry that it rests on is not there, or one before it. */
export type HeadAnew = { n: number; at: string; written: string; anew: string | null }
export type BadChain = { chain: string; firstBad: number }

const TAKE = 'select n, at, head, chains from take_history_head($1, $2, $3)'
const WRITTEN = "select encode(head, 'hex') as head from history_heads where n = $1"
const PATIENCE = "set local statement_timeout = '1800s'"
const ANEW = 'select n, at, written, anew from history_anew()'
const BAD = `
select 'audit/' || a.account as chain, v.first_bad as "firstBad"
from (select account from audit_heads union select account from audit) a cross join lateral verify_audit(a.account) v
where v.first_bad is not null
union all
select 'register/' || s.id, v.first_bad from series s cross join lateral verify_series(s.id) v where v.first_bad is not null
union all
select distinct 'register/' || r.series_id, 1 from register r where not exists (select from series s where s.id = r.series_id)
order by chain`

export type History = {
  /** A new head, or the last one again; null before anything was written. @throws StaleEpoch */
  take(at: Date): Promise<HistoryHead | null>
  /** A head as it stands there now, in hex; null: it is not there. */
  written(n: number): Promise<string | null>
}

export const makeHistory = ({ pg, epoch }: { pg: Pg; epoch: () => number }): History => ({
  async take(at) {
    const { rows } = await pg.query<HistoryHead>('take_history_head', TAKE, [LEASE, epoch(), at.toISOString()])
    return rows[0] ?? null
  },
  written: async (n) => (await pg.query<{ head: string }>('history_head', WRITTEN, [n])).rows[0]?.head ?? null,
})

/** Recomputes everything, in one look. @param pg of the owner */
export const readHistory = (pg: Pg): Promise<{ heads: HeadAnew[]; bad: BadChain[] }> =>
  pg.tx(async (query) => {
    await query('history_patience', PATIENCE)
    const { rows: heads } = await query<HeadAnew>('history_anew', ANEW, [])
    const { rows: bad } = await query<BadChain>('bad_chains', BAD, [])
    return { heads, bad }
  })

export type HeadWords = {
  /** `12.<head>.<mac>`, both in hex: what is told, and saved. */
  wordOf(head: Pick<HistoryHead, 'n' | 'head'>): string
  /** What a word says; `isOurs` false: it was not told under this key. Undefined: it is no such word. */
  read(word: string): { n: number; head: string; isOurs: boolean } | undefined
}

const WORD = /^([1-9]\d{0,15})\.([0-9a-f]{64})\.([0-9a-f]{64})$/

/** What the key of heads is derived for: it outlasts every change of the server key, and is in no copy of the database. */
export const HEAD_KEY = 'history-head'

/** @param key 32 bytes */
export const makeHeadWords = (key: Buffer): HeadWords => {
  const macOf = (n: number, head: string) => createHmac('sha256', key).update(`${n}.${head}`).digest()
  return {
    wordOf: ({ n, head }) => `${n}.${head}.${macOf(n, head).toString('hex')}`,
    read: (word) => {
      const [, number, head, mac] = WORD.exec(word.trim()) ?? []
      if (number === undefined || head === undefined || mac === undefined) return undefined
      const n = Number(number)
      return { n, head, isOurs: timingSafeEqual(macOf(n, head), Buffer.from(mac, 'hex')) }
    },
  }
}
