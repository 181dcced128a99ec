/** What no kind adds to the catalogues: every surface, accounts, webhooks, and questions to a language model. */
import { COMMON_PROBLEMS } from '../problems/common.ts'
import { WEBHOOK_PROBLEMS } from '../problems/webhooks.ts'
import type { KindCatalogue } from './entry.ts'

export const COMMON_CATALOGUE = { problems: COMMON_PROBLEMS } as const satisfies KindCatalogue

export const ACCOUNT_CATALOGUE = {
  scopes: { 'account:profile': 'See and change the seller profile and the logo.' },
} as const satisfies KindCatalogue

export const WEBHOOK_CATALOGUE = {
  problems: WEBHOOK_PROBLEMS,
  scopes: { 'webhooks:manage': 'Manage webhook endpoints, and see events and deliveries.' },
  quotas: {
    webhook_endpoints: {
      description: 'Webhook endpoints.',
      byPlan: { free: 3, pro: 3, team: 3 },
      daily: false,
    },
  },
} as const satisfies KindCatalogue

/** Each surface has a pool of its own, and a grant holds for each (rules/account.md#pools-of-questions). */
const poolOf = <Description extends string>(description: Description) =>
  ({
    description,
    byPlan: { free: 20, pro: 200, team: 1000 },
    grantedBy: 'ai_per_day',
    daily: true,
  }) as const

export const QUESTION_CATALOGUE = {
  quotas: {
    invoice_ai_per_day: poolOf('Drafts of invoices asked of the AI on this day (UTC).'),
    website_ai_per_day: poolOf('Drafts of websites asked of the AI on this day (UTC).'),
  },
} as const satisfies KindCatalogue
