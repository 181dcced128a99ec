/**
 * How much of what an account may do: one table by plan, and what support granted in place of it.
 * Pure: what was used is counted in the ledger (rules/account.md#quotas).
 */
import type { PLANS } from './schema.ts'
import type { AccountView } from './view.ts'

type PlanName = (typeof PLANS)[number]
type Allowed = Pick<AccountView, 'plan'> & Partial<Pick<AccountView, 'limits' | 'ai_per_day' | 'cost_cap_usd'>>

type Rule = {
  byPlan: Record<PlanName, number>
  /** What the account's own resource says; undefined or null leaves it to the plan. */
  granted(account: Allowed): number | null | undefined
  /** Turns over at 00:00 UTC. */
  daily: boolean
}

const everyPlan = (limit: number) => ({ free: limit, pro: limit, team: limit })

/**
 * Questions to a language model: each surface has a pool of its own, and a grant holds for each
 * (rules/account.md#pools-of-questions).
 */
const AI_PER_DAY = {
  byPlan: { free: 20, pro: 200, team: 1000 },
  granted: (account: Allowed) => account.ai_per_day,
  daily: true,
} as const

export const QUOTAS = {
  sends_per_day: {
    byPlan: { free: 20, pro: 200, team: 1000 },
    granted: (account) => account.limits?.sends_per_day,
    daily: true,
  },
  webhook_endpoints: {
    byPlan: everyPlan(3),
    granted: (account) => account.limits?.webhook_endpoints,
    daily: false,
  },
  sites: { byPlan: { free: 3, pro: 20, team: 100 }, granted: (account) => account.limits?.sites, daily: false },
  publishes_per_day: {
    byPlan: { free: 5, pro: 50, team: 500 },
    granted: (account) => account.limits?.publishes_per_day,
    daily: true,
  },
  invoice_ai_per_day: AI_PER_DAY,
  website_ai_per_day: AI_PER_DAY,
  devbox_cost_cap_usd: { byPlan: everyPlan(100), granted: (account) => account.cost_cap_usd, daily: false },
} as const satisfies Record<string, Rule>

export type QuotaName = keyof typeof QUOTAS
const NAMES = Object.keys(QUOTAS) as QuotaName[]

/** `resets_at` is ISO; null for what does not turn over but is given back. */
export type Quota = { limit: number; used: number; resets_at: string | null }

/** How much is allowed of one thing. @param account a view; one that was mirrored by an older version will do */
export const limitOf = (name: QuotaName, account: Allowed): number =>
  QUOTAS[name].granted(account) ?? QUOTAS[name].byPlan[account.plan]

/** The day in which daily quotas count, YYYY-MM-DD in UTC (rules/account.md#the-day-of-a-quota). */
export const quotaDay = (now: Date): string => now.toISOString().slice(0, 10)

/** When daily quotas turn over next, ISO. */
export const nextTurn = (now: Date): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)).toISOString()

/** What SEND_CAP says, over REST and in a status. */
export const sendCapDetail = (account: string, limit: number, now: Date): string =>
  `${account} may send ${limit} invoices a day and has; the next day begins at ${nextTurn(now)}`

/** What INVOICE_AI_QUOTA says. */
export const invoiceAiDetail = (account: string, limit: number, now: Date): string =>
  `${account} may ask ${limit} times a day for a draft of an invoice and has; the next day begins at ${nextTurn(now)}`

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
