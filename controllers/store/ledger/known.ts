/**
 * What tells an older copy of the database: for resources, what the ledger has of them, and the numbers that they are known to
 * have beyond the register (sql/schema/002_register.sql).
 */
import type { UnnumberedDocument } from '../../../crds/invoice/planning/recovery/unnumbered.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** Resources per statement. */
const LOOK_MAX = 5_000

/** `number` is null and `uids` are none when the register does not know it; `factSeq` is 0 when there is no fact. */
export type OnRecordRow = { name: string; number: string | null; uids: string[]; isSent: boolean; factSeq: number }
export type KnownNumber = { account: string; prefix: string; seq: number }

const ON_RECORD = `
select k.name, r.number,
  exists (select from sends s where s.resource = k.name)
    or exists (select from facts f where f.resource = k.name and f.kind = 'restored') as "isSent",
  coalesce((select f.seq from facts f where f.resource = k.name order by f.seq desc limit 1), 0) as "factSeq",
  array_remove(array(
    select f.body ->> 'uid' from facts f where f.resource = k.name and f.kind = 'adopted'
  ) || r.uid, null) as uids
from unnest($1::text[]) as k(name)
left join lateral (select * from register r where r.resource = k.name and r.step = 0 limit 1) r on true`
/** Those that the register has not reached (again): a series is found by its prefix, of which an account has each once. */
const AHEAD = `
select k.account, k.prefix, k.seq
from unnest($1::text[], $2::text[], $3::bigint[]) as k(account, prefix, seq)
where not exists (
  select from series s where s.account = k.account and s.prefix = k.prefix and s.last_seq >= k.seq
)`

/** Gaps that are told at once: more of them say no more. */
const GAPS_MAX = 1_000
const GAPS = 'select gap, series, account, prefix, seq, number, has, resource, document from ledger_gaps($1)'

/**
 * Where the ledger does not fit itself (sql/functions/ledger_gaps.sql). `has`: how far the series has come. `account` and `series`
 * are null of a document whose account or series nobody knows.
 */
export type LedgerGap = { seq: number; prefix: string; number: string; has: number | null } & (
  | { gap: 'counted' | 'headed'; series: string; account: string }
  | {
      gap: 'unnumbered'
      series: string | null
      account: string | null
      resource: string
      document: UnnumberedDocument
    }
)

export type KnownNumbers = {
  /** In no order, each name once. */
  onRecord(names: readonly string[]): Promise<OnRecordRow[]>
  /** Of these numbers those that the register has not come to. */
  ahead(numbers: readonly KnownNumber[]): Promise<KnownNumber[]>
  /** All that were ever kept. */
  numbers(): Promise<KnownNumber[]>
  /** What of the database alone does not fit; none when all does. */
  gaps(): Promise<LedgerGap[]>
  /** Kept for ever: the highest counts. @throws StaleEpoch */
  keep(number: KnownNumber): Promise<void>
}

export const makeKnown = ({ pg, epoch }: { pg: Pg; epoch: () => number }): KnownNumbers => ({
  async onRecord(names) {
    const found: OnRecordRow[] = []
    for (let at = 0; at < names.length; at += LOOK_MAX) {
      const { rows } = await pg.query<OnRecordRow>('observe_on_record', ON_RECORD, [names.slice(at, at + LOOK_MAX)])
      found.push(...rows)
    }
    return found
  },
  async ahead(numbers) {
    if (numbers.length === 0) return []
    const values = [numbers.map((one) => one.account), numbers.map((one) => one.prefix), numbers.map((one) => one.seq)]
    return (await pg.query<KnownNumber>('observe_ahead', AHEAD, values)).rows
  },
  async numbers() {
    const text = 'select account, prefix, seq from known_numbers'
    return (await pg.query<KnownNumber>('observe_known', text, [])).rows
  },
  gaps: async () => (await pg.query<LedgerGap>('ledger_gaps', GAPS, [GAPS_MAX])).rows,
  async keep({ account, prefix, seq }) {
    const text = 'select keep_known_number($1, $2, $3, $4, $5)'
    await pg.query('keep_known_number', text, [LEASE, epoch(), account, prefix, seq])
  },
})
