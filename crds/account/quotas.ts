/**
 * How much of what an account may do: by plan (crds/catalogue/), and what support granted in place of it.
 * Pure: what was used is counted in the ledger (rules/account.md#quotas).
 */
import { type Catalogued, catalogued } from '../catalogue/list.ts'
import type { AccountView } from './view.ts'

type Allowed = Pick<AccountView, 'plan'> & Partial<Pick<AccountView, 'limits' | 'ai_per_day' | 'cost_cap_usd'>>

export const QUOTAS = catalogued('quotas')
export type QuotaName = Catalogued<'quotas'>
const NAMES = Object.keys(QUOTAS) as QuotaName[]

/** What the account's own resource says; undefined or null leaves it to the plan. */
const grantOf = (name: QuotaName, account: Allowed): number | null | undefined => {
  const { grantedBy } = QUOTAS[name]
  const limits: Partial<Record<QuotaName, number | null>> = account.limits ?? {}
  return grantedBy === undefined ? limits[name] : account[grantedBy]
}

/** `resets_at` is ISO; null for what does not turn over but is given back. */
export type Quota = { limit: number; used: number; resets_at: string | null }

/** How much is allowed of one thing. @param account a view; one that was mirrored by an older version will do */
export const limitOf = (name: QuotaName, account: Allowed): number =>
  grantOf(name, account) ?? QUOTAS[name].byPlan[account.plan]

/** The day in which daily quotas count, YYYY-MM-DD in UTC (rules/account.md#the-day-of-a-quota). */
export const quotaDay = (now: Date): string => now.toISOString().slice(0, 10)

/** When daily quotas turn over next, ISO. */
export const nextTurn = (now: Date): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)).toISOString()

/** What SEND_CAP says, over REST and in a status. */
export const sendCapDetail = (account: string, limit: number, now: Date): string =>
  `${account} may send ${limit} invoices a day and has; the next day begins at ${nextTurn(now)}`

/** What INVOICE_AI_QUOTA and ASSIST_QUOTA say. @param what as `a draft of an invoice` */
export const aiCapDetail = (account: string, what: string, limit: number, now: Date): string =>
  `${account} may ask ${limit} times a day for ${what} and has; the next day begins at ${nextTurn(now)}`

/** What SITE_QUOTA says. */
export const siteCapDetail = (account: string, limit: number): string => `${account} may have ${limit} websites and has`

/** What PUBLISH_QUOTA says. */
export const publishCapDetail = (account: string, limit: number, now: Date): string =>
  `${account} may publish ${limit} times a day and has; the next day begins at ${nextTurn(now)}`

/** All quotas of an account. What is not named in `used` was not used. */
export const quotasOf = (
  account: Allowed,
  used: Partial<Record<QuotaName, number>>,
  now: Date,
): Record<QuotaName, Quota> =>
  Object.fromEntries(
    NAMES.map((name) => [
      name,
      { limit: limitOf(name, account), used: used[name] ?? 0, resets_at: QUOTAS[name].daily ? nextTurn(now) : null },
    ]),
  ) as Record<QuotaName, Quota>
