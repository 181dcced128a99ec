/** Profiles of issuers in PostgreSQL: written by the API, read with the ledger by every pass over an invoice. */
import type { Profile } from '../../crds/invoice/profile.ts'
import { makeBatch } from './batch.ts'
import { type Observed, type ObservedRow, toObserved } from './ledger.ts'
import type { Pg } from './pg.ts'

const OBSERVE_MAX = 128

export type Issuers = {
  /** What is stored of one issuer; empty when nothing is. Many callers share one read. */
  profile(account: string, id: string): Promise<Profile>
  /** Changes the fields that are given; null empties one. Gives the profile as it stands then. */
  change(account: string, id: string, change: Record<string, unknown>): Promise<Profile>
}

const GET = `
select i.account, i.id, i.profile
from unnest($1::text[], $2::text[]) as k(account, id) join issuers i on i.account = k.account and i.id = k.id`
const CHANGE = `
insert into issuers as i (account, id, profile) values ($1, $2, jsonb_strip_nulls($3::jsonb))
on conflict (account, id) do update set profile = jsonb_strip_nulls(i.profile || $3::jsonb), updated_at = now()
returning profile`

export const makeIssuers = ({ pg }: { pg: Pg }): Issuers => {
  const read = makeBatch<[account: string, id: string], Profile>({
    inFlight: 2,
    async run(keys) {
      const distinct = [...new Map(keys.map((key) => [key.join('/'), key])).values()]
      const { rows } = await pg.query<{ account: string; id: string; profile: Profile }>('issuer_profiles', GET, [
        distinct.map(([account]) => account),
        distinct.map(([, id]) => id),
      ])
      const found = new Map(rows.map((row) => [`${row.account}/${row.id}`, row.profile]))
      return keys.map((key) => found.get(key.join('/')) ?? {})
    },
  })
  return {
    profile: (account, id) => read([account, id]),
    async change(account, id, change) {
      const { rows } = await pg.query<{ profile: Profile }>('change_issuer', CHANGE, [
        account,
        id,
        JSON.stringify(change),
      ])
      return rows[0]?.profile ?? {}
    },
  }
}

const OBSERVE = `
select resource, record, sends, facts, deliveries, profile, has_place as "hasPlace" from observe_invoices($1, $2, $3)`

/** The invoice `resource`, of `account`, under the issuer of that id. */
export type InvoiceKey = { resource: string; account: string; issuer: string }

/** Reads all that a pass over an invoice needs of PostgreSQL; many passes share one read. */
export const makeInvoiceReader = ({ pg }: { pg: Pg }) =>
  makeBatch<InvoiceKey, Observed & { profile: Profile; hasPlace: boolean }>({
    max: OBSERVE_MAX,
    inFlight: 2,
    async run(keys) {
      const distinct = [...new Map(keys.map((key) => [key.resource, key])).values()]
      const { rows } = await pg.query<ObservedRow & { profile: Profile | null; hasPlace: boolean }>(
        'observe_invoices',
        OBSERVE,
        [
          distinct.map(({ resource }) => resource),
          distinct.map(({ account }) => account),
          distinct.map(({ issuer }) => issuer),
        ],
      )
      const found = new Map(
        rows.map((row) => [row.resource, { ...toObserved(row), profile: row.profile ?? {}, hasPlace: row.hasPlace }]),
      )
      return keys.map(({ resource }) => {
        const known = found.get(resource)
        if (known === undefined) throw new Error('observe_invoices left an invoice out')
        return known
      })
    },
  })
export type InvoiceReader = ReturnType<typeof makeInvoiceReader>
