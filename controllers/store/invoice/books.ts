/**
 * Reading an account's books as a whole: what a month came to, all invoices as rows, the register as entries. Whatever may
 * be long is read in pages by key, so that no reader holds more than a page, and no statement lasts.
 */

import type { RollupRow, Span } from '../../../crds/invoice/money/reconciliation.ts'
import { EXPORT_COLUMNS, type ExportRow } from '../../../crds/invoice/rest/csv.ts'
import { ENTRY_COLUMNS, type RegisterEntry } from '../ledger/register.ts'
import { filtered, type MirrorFilter } from '../mirror.ts'
import type { Pg } from '../pg/pg.ts'

/** Rows that are in memory at once. */
export const BOOKS_PAGE = 1000

/**
 * One register as it stands. `prefix` is followed by the sequence, such as `INV-026-`; hashes in hex. `lastStep` entries stand
 * behind its last number, and `later` are those entries that stand for no number.
 */
export type BookSeries = {
  id: string
  prefix: string
  first: number
  last: number
  lastStep: number
  later: number
  headHash: string
}

export type BookStore = {
  /** By currency, then issuer. @param spans the month of each issuer; `other` that of an issuer without one of its own */
  rollup(account: string, spans: ReadonlyMap<string, Span>, other: Span): Promise<RollupRow[]>
  /** All invoices that fit, newest first, archived ones too, in pages. What is created meanwhile is left out. */
  exported(account: string, filter: MirrorFilter): AsyncGenerator<ExportRow[]>
  /** The registers of an account, by id. */
  series(account: string): Promise<BookSeries[]>
  /** The entries of one register as it stood, in the order of the chain, in pages. */
  entries(series: BookSeries): AsyncGenerator<RegisterEntry[]>
}

const ROLLUP = 'select * from rollup($1, $2, $3, $4)'

const COLUMNS = Object.entries(EXPORT_COLUMNS)
const RECORD = COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ')
/** The view is parsed once per row, whatever it holds beside the columns. */
const exportStatement = (where: string): string => `
select p.key_at as "keyAt", p.place, ${COLUMNS.map(([name]) => `v.${name}`).join(', ')}
from (
  select iso_ms(m.created_at) as key_at, m.place, m.view
  from mirror m where ${where} and (m.created_at, m.place) < ($3::timestamptz, $4::bigint)
  order by m.created_at desc, m.place desc limit $5
) p, json_to_record(p.view) as v(${RECORD})
order by p.key_at desc, p.place desc`
/** Before any page. */
const START = { keyAt: 'infinity', place: 0 }

const SERIES = `
select id, prefix, first_seq as first, last_seq as last, last_step as "lastStep", later, encode(head_hash, 'hex') as "headHash"
from series where account = $1 order by id`
const ENTRIES = `
select ${ENTRY_COLUMNS} from register r
where r.series_id = $1 and (r.seq, r.step) > ($2::bigint, $3::integer) and (r.seq, r.step) <= ($4::bigint, $5::integer)
order by r.seq, r.step limit $6`

export const makeBooks = ({ pg }: { pg: Pg }): BookStore => ({
  async rollup(account, spans, other) {
    const all = [...spans.values(), other]
    const { rows } = await pg.query<RollupRow>('rollup', ROLLUP, [
      account,
      [...spans.keys()],
      all.map(({ from }) => from),
      all.map(({ until }) => until),
    ])
    return rows
  },

  async *exported(account, filter) {
    const { name, where, values } = filtered(filter, 6)
    type Row = ExportRow & typeof START
    let from = START
    for (;;) {
      const { rows } = await pg.query<Row>(`export_${name}`, exportStatement(where), [
        'Invoice',
        account,
        from.keyAt,
        from.place,
        BOOKS_PAGE,
        ...values,
      ])
      if (rows.length > 0) yield rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < BOOKS_PAGE) return
      from = { keyAt: last.keyAt, place: last.place }
    }
  },

  async series(account) {
    return (await pg.query<BookSeries>('book_series', SERIES, [account])).rows
  },

  async *entries({ id, last, lastStep }) {
    let after = { seq: 0, step: 0 }
    for (;;) {
      const values = [id, after.seq, after.step, last, lastStep, BOOKS_PAGE]
      const { rows } = await pg.query<RegisterEntry>('book_entries', ENTRIES, values)
      if (rows.length > 0) yield rows
      const newest = rows.at(-1)
      if (newest === undefined || rows.length < BOOKS_PAGE) return
      after = newest
    }
  },
})

/**
 * Which finished invoices may leave (sql/functions/quiet_invoices.sql).
 * @param before ISO instant; nothing has happened to them since
 */
export const quietInvoices = async (
  pg: Pg,
  known: readonly { name: string; uid: string }[],
  { before, limit }: { before: string; limit: number },
): Promise<string[]> => {
  const text = 'select name from quiet_invoices($1, $2, $3, $4)'
  const { rows } = await pg.query<{ name: string }>('quiet_invoices', text, [
    known.map(({ name }) => name),
    known.map(({ uid }) => uid),
    before,
    limit,
  ])
  return rows.map(({ name }) => name)
}
