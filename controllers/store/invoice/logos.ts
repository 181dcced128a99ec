/**
 * Logos that the API stored and the controllers have yet to look into (sql/schema/009_issuers.sql). Every effect carries the
 * epoch.
 */
import type { Logo } from '../../../crds/invoice/order/issuer.ts'
import { makeBatch } from '../../base/batch.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

const OBSERVE_MAX = 128

/** One upload. `source` is the sha256 of the bytes as they were sent, in hex. */
export type AskedLogo = { seq: number; source: string }

/** `open`: to be looked into, in the order of their coming. `factSeq`: the newest that has its verdict; 0 without one. */
export type AccountLogos = { open: AskedLogo[]; factSeq: number }

export type Logos = {
  /** Many passes share one read. */
  of(account: string): Promise<AccountLogos>
  /** Decoding begins. @returns how often it has, this time counted; null when it has its verdict already */
  begin(seq: number): Promise<number | null>
  /** The verdict, once: what was made of it, or a sentence that says why it is refused. */
  settle(seq: number, verdict: { logo: Logo } | { reason: string }): Promise<void>
}

const OF = `
select k.account,
  (
    select json_agg(json_build_object('seq', l.seq, 'source', l.source) order by l.seq)
    from issuer_logos l where l.account = k.account and l.state = 'pending'
  ) as open,
  (select max(l.seq) from issuer_logos l where l.account = k.account and l.state <> 'pending') as "factSeq"
from unnest($1::text[]) as k(account)`

export const makeLogos = ({ pg, epoch }: { pg: Pg; epoch: () => number }): Logos => ({
  of: makeBatch<string, AccountLogos>({
    max: OBSERVE_MAX,
    inFlight: 2,
    async run(accounts) {
      type Row = { account: string; open: AskedLogo[] | null; factSeq: number | null }
      const { rows } = await pg.query<Row>('observe_logos', OF, [[...new Set(accounts)]])
      const found = new Map(rows.map((row) => [row.account, { open: row.open ?? [], factSeq: row.factSeq ?? 0 }]))
      return accounts.map((account) => found.get(account) ?? { open: [], factSeq: 0 })
    },
  }),
  async begin(seq) {
    const text = 'select begin_issuer_logo($1, $2, $3) as tries'
    const { rows } = await pg.query<{ tries: number | null }>('begin_issuer_logo', text, [LEASE, epoch(), seq])
    return rows[0]?.tries ?? null
  },
  async settle(seq, verdict) {
    const [logo, reason] = 'logo' in verdict ? [JSON.stringify(verdict.logo), null] : [null, verdict.reason]
    const text = 'select settle_issuer_logo($1, $2, $3, $4, $5)'
    await pg.query('settle_issuer_logo', text, [LEASE, epoch(), seq, logo, reason])
  },
})
