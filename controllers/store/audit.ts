/**
 * The audit: who did what, append-only and hash-chained per account (sql/functions/audit_entry.sql says how a hash is
 * recomputed). Entries name fields and secrets; they never hold values.
 */

import { makeBatch } from '../base/batch.ts'
import type { Page } from './pg/page.ts'
import { isItemFault, type Pg, type Query } from './pg/pg.ts'

/**
 * As far as it is known. `kubernetes` is a field manager, which any client names itself: the API server tells no
 * controller who the user was; its own audit log does.
 */
export type Who =
  | { kind: 'token' | 'session' | 'report'; id: string }
  | { kind: 'kubernetes'; manager: string; operation: string }
  | { kind: 'anonymous' }
  /** Who runs the platform, by hand. */
  | { kind: 'operator'; command: string }

/** `verb` is an HTTP method with its route's template, or words such as `Invoice spec generation 3`. */
export type What = { verb: string; resource: string | null; fields: string[] }

/** `status` is the HTTP status of the outcome, null where there is none. `at` is ISO. */
export type AuditEntry = {
  /** Whose chain: the account that acted, or that was acted on. */
  account: string
  /** Names the event within the account: appended again it is left out. */
  once: string
  at: string
  who: Who
  what: What
  ip: string | null
  requestId: string | null
  status: number | null
}

export type AuditRow = Omit<AuditEntry, 'once'> & { seq: number; hash: string }

/** `firstBad` is the first seq at which something is missing, moved or altered. */
export type AuditVerdict = { count: number; headHash: string; firstBad: number | null }

const FIELDS_MAX = 100
const TEXT_MAX = 300
// One line: newlines divide what is hashed. A lone surrogate has no UTF-8 and would be hashed otherwise than stored.
const line = (text: string): string =>
  text
    .slice(0, TEXT_MAX)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')

const textOf = ({ who, what, ip, requestId, status }: AuditEntry): string => {
  const fields = what.fields.slice(0, FIELDS_MAX).map((name) => line(name).slice(0, 128))
  const resource = what.resource === null ? null : line(what.resource)
  return JSON.stringify({ who, what: { verb: line(what.verb), resource, fields }, ip, requestId, status })
}

const APPEND = 'select account, seq from append_audit($1, $2, $3, $4)'

/** With what it tells of, in one transaction. Safe to repeat. */
export const appendAuditIn = async (query: Query, entries: AuditEntry[]): Promise<void> => {
  const each = <V>(pick: (entry: AuditEntry) => V) => entries.map(pick)
  await query('append_audit', APPEND, [
    each(({ account }) => account),
    each(({ at }) => at),
    each(({ once }) => line(once)),
    each(textOf),
  ])
}

const appendAll = async (pg: Pg, entries: AuditEntry[]): Promise<'written'[]> => {
  await appendAuditIn(pg.query, entries)
  return entries.map(() => 'written')
}

/**
 * @param deps.gatherMs how long an entry may wait for others (batch.ts)
 * @returns a function that settles once the entry is on disk; many share one statement. Safe to call again.
 */
export const makeAppendAudit = (deps: {
  pg: Pg
  gatherMs?: () => number
}): ((entry: AuditEntry) => Promise<'written'>) =>
  makeBatch({
    run: (entries: AuditEntry[]) => appendAll(deps.pg, entries),
    isItemFault,
    ...(deps.gatherMs && { gatherMs: deps.gatherMs }),
  })

const KNOWN = `
select exists (select from audit a where a.account = k.account and a.once = k.once) as known
from unnest($1::text[], $2::text[]) with ordinality as k(account, once, place) order by k.place`

/** @returns a function that says whether an account's chain has an event already */
export const makeAuditKnows = ({ pg }: { pg: Pg }): ((event: { account: string; once: string }) => Promise<boolean>) =>
  makeBatch({
    run: async (events: { account: string; once: string }[]) => {
      const values = [events.map(({ account }) => account), events.map(({ once }) => once)]
      const { rows } = await pg.query<{ known: boolean }>('observe_audit', KNOWN, values)
      return rows.map(({ known }) => known)
    },
  })

export type AuditFilter = {
  /** Null: all accounts. */
  account: string | null
  /** ISO instant or day; only what happened then or later. */
  since: string | null
}

export type AuditReader = {
  /** One page, newest first, and how many there are in all. */
  list(filter: AuditFilter, page: Page): Promise<{ rows: AuditRow[]; total: number }>
  verify(account: string): Promise<AuditVerdict>
  /** Who has a chain, by name. */
  accounts(): Promise<string[]>
}

type Stored = { account: string; seq: number; at: string; entry: string; hash: string }

const rowOf = ({ account, seq, at, entry, hash }: Stored): AuditRow => ({
  account,
  seq,
  at,
  ...JSON.parse(entry),
  hash,
})

const listStatement = (conditions: string[]): string => {
  const from = `from audit a${conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''}`
  // Within an account the chain has the order: instants may tie.
  const order = conditions.some((one) => one.startsWith('a.account'))
    ? 'a.seq desc'
    : 'a.at desc, a.account, a.seq desc'
  return `
select (select count(*) ${from}) as total, (
  select coalesce(json_agg(page), '[]') from (
    select a.account, a.seq, iso_ms(a.at) as at, a.entry, encode(a.hash, 'hex') as hash
    ${from} order by ${order} limit $1 offset $2
  ) page
) as rows`
}

const VERIFY = 'select count, head_hash as "headHash", first_bad as "firstBad" from verify_audit($1)'

export const makeAuditReader = ({ pg }: { pg: Pg }): AuditReader => ({
  async list({ account, since }, { limit, offset }) {
    const values: unknown[] = [limit, offset]
    const conditions: string[] = []
    if (account !== null) conditions.push(`a.account = $${values.push(account)}`)
    if (since !== null) conditions.push(`a.at >= $${values.push(since)}::timestamptz`)
    const name = `audit_list${account === null ? '' : '_account'}${since === null ? '' : '_since'}`
    const { rows } = await pg.query<{ rows: Stored[]; total: number }>(name, listStatement(conditions), values)
    return { rows: (rows[0]?.rows ?? []).map(rowOf), total: rows[0]?.total ?? 0 }
  },
  async verify(account) {
    const { rows } = await pg.query<AuditVerdict>('verify_audit', VERIFY, [account])
    return rows[0] ?? { count: 0, headHash: '', firstBad: null }
  },
  async accounts() {
    const text = 'select account from audit_heads order by account'
    return (await pg.query<{ account: string }>('audit_accounts', text, [])).rows.map(({ account }) => account)
  },
})
