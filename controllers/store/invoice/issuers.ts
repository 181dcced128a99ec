/**
 * Issuers in PostgreSQL: written by the API, read with the ledger by every pass over an invoice. Which prefix is free, what is
 * in use and where a register begins is decided there, under its locks (sql/functions/change_issuer.sql).
 */

import { ISSUERS_MAX, type IssuerRow, type LogoUpload } from '../../../crds/invoice/order/issuer.ts'
import type { IssuerProfile } from '../../../crds/invoice/order/profile.ts'
import { DEFAULT_ISSUER } from '../../../crds/invoice/schema.ts'
import { makeBatch } from '../../base/batch.ts'
import { DatabaseRefused, type Pg } from '../pg/pg.ts'

/** Names an issuer: ids are unique within an account. */
export type IssuerRef = { account: string; id: string }

/** The registers of an issuer in the present year of its zone (crds/invoice/order/number.ts). */
export type IssuerYear = {
  /** Ids of its series, that of its invoices first. */
  series: string[]
  /** What follows the prefix in a number, such as `-026-`. */
  infix: string
}

/** Why a write was refused; null when it was done. */
export type IssuerRefusal = 'NOT_FOUND' | 'PREFIX_TAKEN' | 'PREFIX_IN_USE' | 'NEXT_NUMBER_FIXED' | 'ISSUER_LIMIT' | null

export type NewIssuer = { profile: IssuerProfile; nextNumber: number | undefined; year: IssuerYear }

export type IssuerChange = {
  /** A merge patch of the profile. */
  profile: Record<string, unknown>
  archived: boolean | undefined
  nextNumber: number | undefined
  year: IssuerYear
  /** ISO instant. */
  at: string
}

export type Issuers = {
  /** One issuer; the default one as it is before it was ever written, too. Many callers share one read. */
  get(ref: IssuerRef): Promise<IssuerRow | null>
  /** All of an account, the default one first, then as they were made. */
  list(account: string): Promise<IssuerRow[]>
  /** The last number of each of these series; those without one are left out. */
  lastOf(series: readonly string[]): Promise<Map<string, number>>
  create(ref: IssuerRef, issuer: NewIssuer): Promise<IssuerRefusal>
  change(ref: IssuerRef, change: IssuerChange): Promise<IssuerRefusal>
  /** Hands stored bytes to the controllers. @returns the sequence that names this request */
  askLogo(ref: IssuerRef, source: string, at: string): Promise<number>
  /** What became of a request; null when a later one has taken its place. */
  logoAsked(seq: number): Promise<LogoUpload | null>
  dropLogo(ref: IssuerRef, at: string): Promise<void>
}

const COLUMNS = `i.account, i.id, i.profile, i.logo, iso_ms(i.created_at) as "createdAt",
  iso_ms(i.updated_at) as "updatedAt", iso_ms(i.archived_at) as "archivedAt",
  (
    select json_build_object('state', l.state, 'reason', l.reason) from issuer_logos l
    where l.account = i.account and l.issuer = i.id order by l.seq desc limit 1
  ) as upload`
const GET = `
select ${COLUMNS}
from unnest($1::text[], $2::text[]) as k(account, id) join issuers i on i.account = k.account and i.id = k.id`
const LIST = `select ${COLUMNS} from issuers i where i.account = $1 order by i.id <> $2, i.created_at, i.id`
const LAST = 'select id, last_seq as last from series where id = any ($1)'
const CREATE = 'select create_issuer($1, $2, $3, $4, $5, $6, $7, $8) as refused'
const RECKON = 'select reckon_anew($1, $2, $3)'
const CHANGE = 'select change_issuer($1, $2, $3, $4, $5, $6, $7, $8, $9) as refused'

type Stored = IssuerRow & { account: string }

/** As an account has it before anything was written. */
const untouched = (id: string): IssuerRow => ({
  id,
  profile: {},
  logo: null,
  upload: null,
  createdAt: null,
  updatedAt: null,
  archivedAt: null,
})

const rowOf = ({ account: _, ...row }: Stored): IssuerRow => row

/** Only the schema sees that another issuer has a prefix. */
const refusalOf = async (write: Promise<{ rows: { refused: IssuerRefusal }[] }>): Promise<IssuerRefusal> => {
  try {
    return (await write).rows[0]?.refused ?? null
  } catch (error) {
    if (!(error instanceof DatabaseRefused)) throw error
    if (error.constraint !== 'issuer_prefix_once' && error.constraint !== 'series_prefix_once') throw error
    return 'PREFIX_TAKEN'
  }
}

export const makeIssuers = ({ pg }: { pg: Pg }): Issuers => {
  const get = makeBatch<IssuerRef, IssuerRow | null>({
    inFlight: 2,
    async run(refs) {
      const keyOf = ({ account, id }: IssuerRef) => `${account}/${id}`
      const distinct = [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()]
      const values = [distinct.map(({ account }) => account), distinct.map(({ id }) => id)]
      const { rows } = await pg.query<Stored>('get_issuers', GET, values)
      const found = new Map(rows.map((row) => [keyOf(row), rowOf(row)]))
      return refs.map((ref) => found.get(keyOf(ref)) ?? (ref.id === DEFAULT_ISSUER ? untouched(ref.id) : null))
    },
  })
  return {
    get,
    async list(account) {
      const { rows } = await pg.query<Stored>('list_issuers', LIST, [account, DEFAULT_ISSUER])
      const found = rows.map(rowOf)
      return found[0]?.id === DEFAULT_ISSUER ? found : [untouched(DEFAULT_ISSUER), ...found]
    },
    async lastOf(series) {
      const { rows } = await pg.query<{ id: string; last: number }>('last_numbers', LAST, [series])
      return new Map(rows.map(({ id, last }) => [id, last]))
    },
    create({ account, id }, { profile, nextNumber, year }) {
      const values = [
        account,
        DEFAULT_ISSUER,
        id,
        JSON.stringify(profile),
        ISSUERS_MAX,
        year.series[0],
        year.infix,
        nextNumber ?? null,
      ]
      return refusalOf(pg.query('create_issuer', CREATE, values))
    },
    async change({ account, id }, { profile, archived, nextNumber, year, at }) {
      const what = [JSON.stringify(profile), archived ?? null, at, year.series, year.infix, nextNumber ?? null]
      const refused = await refusalOf(pg.query('change_issuer', CHANGE, [account, DEFAULT_ISSUER, id, ...what]))
      if (refused === null && 'timeZone' in profile) await pg.query('reckon_anew', RECKON, [account, id, at])
      return refused
    },
    async askLogo({ account, id }, source, at) {
      const text = 'select ask_issuer_logo($1, $2, $3, $4, $5) as seq'
      const { rows } = await pg.query<{ seq: number }>('ask_issuer_logo', text, [
        account,
        DEFAULT_ISSUER,
        id,
        source,
        at,
      ])
      if (!rows[0]) throw new Error('ask_issuer_logo gave no sequence')
      return rows[0].seq
    },
    async logoAsked(seq) {
      const text = 'select state, reason from issuer_logos where seq = $1'
      return (await pg.query<LogoUpload>('issuer_logo_asked', text, [seq])).rows[0] ?? null
    },
    async dropLogo({ account, id }, at) {
      await pg.query('drop_issuer_logo', 'select drop_issuer_logo($1, $2, $3)', [account, id, at])
    },
  }
}
