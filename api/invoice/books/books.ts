/** An account's books: months, the export, the register, and how an invoice came to its balance. Reads only. */
import type { RegisterEntry } from '../../../controllers/store/ledger/register.ts'
import { monthSpan, type RollupRow, rollupCsv } from '../../../crds/invoice/money/reconciliation.ts'
import { DEFAULT_ZONE } from '../../../crds/invoice/order/issuer.ts'
import { entriesOf, entryLine, seriesLine, viewEntry, viewSeries } from '../../../crds/invoice/order/numbering.ts'
import { exportHead, exportLine } from '../../../crds/invoice/rest/csv.ts'
import { explain } from '../../../crds/invoice/rest/explain.ts'
import { DEFAULT_ISSUER } from '../../../crds/invoice/schema.ts'
import { CSV_TYPE } from '../../../crds/text/csv.ts'
import { dayIn } from '../../../crds/values/calendar.ts'
import { refuseStalled } from '../../command/verdict.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { BooksNeeds } from '../needs.ts'
import { filterOf, ownRow } from '../read.ts'

const ENTRIES_DEFAULT = 50

export type Month = { month: string; rollup: RollupRow[] }

/** @param asked YYYY-MM; the present month of the default issuer when left out */
export const monthOf = async (deps: BooksNeeds, account: string, asked: string | undefined): Promise<Month> => {
  const issuers = await deps.issuers.list(account)
  const zoneOf = (id: string): string => issuers.find((one) => one.id === id)?.profile.timeZone ?? DEFAULT_ZONE
  const month = asked ?? dayIn(deps.now(), zoneOf(DEFAULT_ISSUER)).slice(0, 7)
  const spans = new Map(issuers.map(({ id }) => [id, monthSpan(month, zoneOf(id))]))
  return { month, rollup: await deps.books.rollup(account, spans, monthSpan(month, DEFAULT_ZONE)) }
}

const csvHeaders = (fileName: string): Record<string, string> => ({
  'content-type': CSV_TYPE,
  'content-disposition': `attachment; filename="${fileName}.csv"`,
  'cache-control': 'private, no-store',
})

const wantsCsv = ({ query, headers }: ApiRequest): boolean =>
  query.format === undefined ? /\btext\/csv\b/i.test(headers.accept ?? '') : query.format === 'csv'

export const getReconciliation = async (deps: BooksNeeds, request: ApiRequest): Promise<Answer> => {
  const { month, rollup } = await monthOf(deps, request.caller.account, request.query.month)
  if (!wantsCsv(request)) return { status: 200, body: { month, rollup } }
  const bytes = Buffer.from(rollupCsv(month, rollup), 'utf8')
  return { status: 200, bytes, headers: csvHeaders(`reconciliation-${month}`) }
}

/** The first piece is there before the answer begins, so that a refusal can still be told as one. */
const begun = async (pieces: AsyncGenerator<string>): Promise<AsyncGenerator<string>> => {
  const first = await pieces.next()
  return (async function* () {
    if (!first.done) yield first.value
    yield* pieces
  })()
}

async function* exportPieces(deps: BooksNeeds, { caller, query }: ApiRequest): AsyncGenerator<string> {
  let head = exportHead()
  for await (const rows of deps.books.exported(caller.account, filterOf(query))) {
    yield head + rows.map(exportLine).join('')
    head = ''
  }
  if (head !== '') yield head
}

export const exportInvoices = async (deps: BooksNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  stream: await begun(exportPieces(deps, request)),
  headers: csvHeaders('invoices'),
})

export const explainInvoice = async (deps: BooksNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  const view = row.view
  // amounts that cannot be computed have no steps: what is wrong with them is told instead
  if (view.total_cents === null) refuseStalled(row)
  const { sends } = await deps.ledger.observe(row.name)
  return { status: 200, body: { explanation: explain(view, sends.at(-1)?.frozen) } }
}

/** Recomputes every chain: what is shown as verified is so now. */
const listSeries = async (deps: BooksNeeds, account: string): Promise<Answer> => {
  const series = await deps.books.series(account)
  const verified = await Promise.all(series.map(({ id }) => deps.ledger.verify(id)))
  return { status: 200, body: { series: series.map((one, index) => viewSeries(one, verified[index]?.ok ?? false)) } }
}

export const getNumbering = async (deps: BooksNeeds, { caller, query }: ApiRequest): Promise<Answer> => {
  if (query.series === undefined) return listSeries(deps, caller.account)
  const one = (await deps.books.series(caller.account)).find(({ id }) => id === query.series)
  if (!one) throw new Problem('NOT_FOUND', `There is no register ${query.series}.`)
  const page = { limit: Number(query.limit ?? ENTRIES_DEFAULT), offset: Number(query.offset ?? 0) }
  const entries = await deps.ledger.entries(one.id, page)
  return { status: 200, body: { entries: entries.map(viewEntry), total: entriesOf(one), ...page } }
}

async function* registerPieces(deps: BooksNeeds, account: string): AsyncGenerator<string> {
  for (const one of await deps.books.series(account)) {
    yield seriesLine(one)
    for await (const entries of deps.books.entries(one)) {
      yield entries.map((entry: RegisterEntry) => entryLine(one.id, entry)).join('')
    }
  }
}

export const exportRegister = async (deps: BooksNeeds, { caller }: ApiRequest): Promise<Answer> => ({
  status: 200,
  stream: await begun(registerPieces(deps, caller.account)),
  headers: {
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': 'attachment; filename="register.jsonl"',
    'cache-control': 'private, no-store',
  },
})
