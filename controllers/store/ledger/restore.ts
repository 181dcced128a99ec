/** Gives an older copy of the ledger back what is known elsewhere (crds/invoice/planning/recovery/): each call is one transaction, repeatable. */

import { recordedOf } from '../../../crds/invoice/facts/records.ts'
import type { LedgerSide, Restoration } from '../../../crds/invoice/planning/recovery/restoration.ts'
import type { CutSeries, SeriesEntry, SeriesPlan } from '../../../crds/invoice/planning/recovery/series.ts'
import { type AuditEntry, appendAuditIn } from '../audit.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'
import { makeLedgerReader } from './ledger.ts'

/** In ISO 4217 no currency: nothing was counted under a number that is lost. */
const NO_CURRENCY = 'XXX'
const RESTORED = 'given back from the status of its resource'
const LOST = 'set aside: nothing is known of it'

const rowOf = (series: string, entry: SeriesEntry, at: string): object =>
  entry.entry === 'restored'
    ? { ...entry, reference: RESTORED }
    : {
        ...entry,
        resource: `lost/${series}/${entry.seq}`,
        uid: 'lost',
        totalCents: 0,
        currency: NO_CURRENCY,
        issuedAt: at,
        claimed: { lost: true },
        reference: LOST,
      }

export type Restore = {
  sideOf(name: string): Promise<LedgerSide>
  /** Those of these accounts. */
  series(accounts: readonly string[]): Promise<CutSeries[]>
  /** Those of these resources that have an entry in the register. */
  held(resources: readonly string[]): Promise<Set<string>>
  /** Time zones by `account/issuer`, where one was set. */
  zones(accounts: readonly string[]): Promise<Map<string, string>>
  /** Has a series count what it has entries of. @throws StaleEpoch */
  recount(series: CutSeries, audit: AuditEntry): Promise<void>
  /** @throws StaleEpoch, DatabaseRefused where somebody else has gone on with it */
  goOn(plan: SeriesPlan, audit: AuditEntry): Promise<void>
  give(restoration: Restoration, kind: string, audit: AuditEntry): Promise<void>
}

const SERIES = 'select id, account, prefix, last_seq as last from series where account = any($1::text[]) order by id'
const ZONES = `
select account || '/' || id as issuer, profile ->> 'timeZone' as zone
from issuers where account = any($1::text[]) and profile ? 'timeZone'`

/** @param at ISO instant of what is written */
export const makeRestore = ({ pg, epoch, at }: { pg: Pg; epoch: () => number; at: () => string }): Restore => {
  const reader = makeLedgerReader({ pg })
  return {
    async sideOf(name) {
      const { record, sends, facts, factSeq } = await reader.observe(name)
      const { payments, credits, resends, links } = recordedOf(facts)
      return { record, sends: sends.length, factSeq, payments, credits, resends, links }
    },
    series: async (accounts) => (await pg.query<CutSeries>('series_of_accounts', SERIES, [accounts])).rows,
    async held(resources) {
      const text = 'select resource from register where resource = any($1::text[]) and step = 0'
      const { rows } = await pg.query<{ resource: string }>('held_in_register', text, [resources])
      return new Set(rows.map(({ resource }) => resource))
    },
    async zones(accounts) {
      const { rows } = await pg.query<{ issuer: string; zone: string }>('zones_of_accounts', ZONES, [accounts])
      return new Map(rows.map(({ issuer, zone }) => [issuer, zone]))
    },
    async recount({ id, account, prefix }, audit) {
      await pg.tx(async (query) => {
        await query('recount_series', 'select recount_series($1, $2, $3, $4, $5)', [
          LEASE,
          epoch(),
          id,
          account,
          prefix,
        ])
        await appendAuditIn(query, [audit])
      })
    },
    async goOn({ id, account, prefix, entries }, audit) {
      const rows = JSON.stringify(entries.map((entry) => rowOf(id, entry, at())))
      await pg.tx(async (query) => {
        const text = 'select restore_series($1, $2, $3, $4, $5, $6)'
        await query('restore_series', text, [LEASE, epoch(), id, account, prefix, rows])
        await appendAuditIn(query, [audit])
      })
    },
    async give({ name, leastSeq, facts }, kind, audit) {
      await pg.tx(async (query) => {
        const text = 'select restore_facts($1, $2, $3, $4, $5, $6, $7)'
        await query('restore_facts', text, [LEASE, epoch(), name, kind, leastSeq, JSON.stringify(facts), at()])
        await appendAuditIn(query, [audit])
      })
    },
  }
}
