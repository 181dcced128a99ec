/** The page of a month's books, for whoever is signed in, and the checker of the register as a file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  MONTH_PATTERN,
  ROLLUP_WORDS,
  type RollupColumn,
  type RollupRow,
} from '../../../crds/invoice/money/reconciliation.ts'
import { DEFAULT_ISSUER } from '../../../crds/invoice/schema.ts'
import { displayCents } from '../../../crds/values/money.ts'
import { decidesOnSites } from '../../http/caller.ts'
import { pageAnswer } from '../../http/pages.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { BOOKS_PATH } from '../../page/account.ts'
import type { Route } from '../../wiring/route.ts'
import type { BooksNeeds } from '../needs.ts'
import { monthOf } from './books.ts'
import { type BooksSheet, booksPage, type Figure } from './books-html.ts'

const SHOWN: readonly { column: RollupColumn; name: string; tone: Figure['tone'] }[] = [
  { column: 'issued_cents', name: 'Issued', tone: 'plain' },
  { column: 'amended_cents', name: 'Amended, within issued', tone: 'plain' },
  { column: 'paid_manual_cents', name: 'Paid, as attested', tone: 'good' },
  { column: 'paid_gateway_cents', name: 'Paid by card', tone: 'good' },
  { column: 'credited_cents', name: 'Credited', tone: 'plain' },
  { column: 'refunded_cents', name: 'Refunded', tone: 'plain' },
  { column: 'voided_cents', name: 'Voided', tone: 'plain' },
  { column: 'received_on_voided_cents', name: 'Received on voided', tone: 'bad' },
  { column: 'outstanding_cents', name: 'Outstanding now', tone: 'plain' },
  { column: 'overdue_cents', name: 'Overdue now', tone: 'bad' },
]

const sheetOf = (row: RollupRow, names: ReadonlyMap<string, string>): BooksSheet => ({
  currency: row.currency,
  issuer: names.get(row.issuer_id) ?? row.issuer_id,
  figures: SHOWN.map(({ column, name, tone }) => {
    const cents = Number(row[column])
    return { name, cents, amount: displayCents(cents, row.currency), about: ROLLUP_WORDS[column], tone }
  }),
})

const monthAway = (month: string, months: number): string =>
  Temporal.PlainYearMonth.from(month).add({ months }).toString()

const showBooks = async (deps: BooksNeeds, { caller, query }: ApiRequest): Promise<Answer> => {
  const { month, rollup } = await monthOf(deps, caller.account, query.month)
  const issuers = await deps.issuers.list(caller.account)
  const names = new Map(
    issuers.map(({ id, profile }) => [id, profile.legalName ?? (id === DEFAULT_ISSUER ? caller.profile.name : id)]),
  )
  const page = booksPage({
    email: caller.profile.email,
    isReviewer: decidesOnSites(caller),
    month,
    before: monthAway(month, -1),
    after: monthAway(month, 1),
    sheets: rollup.map((row) => sheetOf(row, names)),
  })
  return pageAnswer(200, page)
}

const VERIFIER = join(import.meta.dirname, '..', '..', 'client', 'verify-register.mjs')
let verifier: Buffer | undefined

const showVerifier = async (): Promise<Answer> => {
  verifier ??= readFileSync(VERIFIER)
  const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=300' }
  return { status: 200, bytes: verifier, headers }
}

export const booksPageRoutes: Route<BooksNeeds>[] = [
  {
    hidden: true,
    scope: { kind: 'session' },
    method: 'GET',
    path: BOOKS_PATH,
    summary: 'Books of a month',
    query: { month: { type: 'string', description: 'YYYY-MM.', pattern: MONTH_PATTERN } },
    handle: showBooks,
  },
  {
    hidden: true,
    scope: { kind: 'public', limit: 'file' },
    method: 'GET',
    path: '/client/verify-register.mjs',
    summary: 'The checker of exported registers',
    handle: showVerifier,
  },
]
