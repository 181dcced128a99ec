/** GET /api/account: who the caller is, and how much of what is left (rules/account.md#quotas). */
import { type QuotaName, quotaDay, quotasOf } from '../../crds/account/quotas.ts'
import { CAPABILITIES, PLANS, ROLES } from '../../crds/account/schema.ts'
import { usdOf } from '../../crds/devinstance/sizing/prices.ts'
import { named } from '../../crds/kernel/named.ts'
import { accountRow } from '../command/own.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'

const getAccount = async (deps: Deps, { caller }: ApiRequest): Promise<Answer> => {
  // The caller's own copy may be ten seconds old; what a change answered must be in the next read.
  const row = await accountRow(deps, caller)
  const profile = row?.view ?? caller.profile
  const { account } = caller
  const { id, email, name, plan, role, capabilities, teams } = profile
  const now = deps.now()
  const day = quotaDay(now)
  const [sends, ai, { sites, publishes }, committed, endpoints, burst] = await Promise.all([
    deps.sendQuota.used(account, day),
    deps.allowance.used(account, day),
    deps.sites.used(account, day),
    deps.devInstances.committed(account),
    deps.endpoints.list(account),
    deps.limits.burst(caller.by.id),
  ])
  const used = {
    sends_per_day: sends,
    ...ai,
    sites,
    publishes_per_day: publishes,
    webhook_endpoints: endpoints.length,
    devbox_cost_cap_usd: usdOf(committed),
  }
  const quotas = { ...quotasOf(profile, used, now), burst }
  return { status: 200, body: { account: { id, email, name, plan, role, capabilities, teams, quotas } } }
}

const quota = {
  limit: whole('The most.'),
  used: { type: 'number', description: 'How much of it is used.' },
  resets_at: textOrNull('When it is 0 again; null for what is given back instead.'),
}
const DESCRIPTIONS: Record<QuotaName, string> = {
  sends_per_day: 'Sends of invoices on this day (UTC); test sends do not count.',
  webhook_endpoints: 'Webhook endpoints.',
  sites: 'Websites.',
  publishes_per_day: 'Live publishes on this day (UTC).',
  invoice_ai_per_day: 'Drafts of invoices asked of the AI on this day (UTC).',
  website_ai_per_day: 'Drafts of websites asked of the AI on this day (UTC).',
  devbox_cost_cap_usd: 'Committed monthly cost of dev instances, in US dollars.',
}
const accountAnswer = named(
  'MyAccount',
  object('The account.', {
    id: text('Names the account.'),
    email: text('Address of the owner.'),
    name: text('Name of the owner.'),
    plan: { ...text('The plan.'), enum: [...PLANS] },
    role: { ...text('The role.'), enum: [...ROLES] },
    capabilities: list('What was granted.', { ...text('One capability.'), enum: [...CAPABILITIES] }),
    teams: list('The teams it is in.', text('Id of a team.')),
    quotas: object('How much is allowed and used.', {
      ...Object.fromEntries(Object.entries(DESCRIPTIONS).map(([name, sentence]) => [name, object(sentence, quota)])),
      burst: object('Requests of this token in a second.', {
        ...quota,
        spare: whole('How many more, once in a minute.'),
      }),
    }),
  }),
)

export const accountRoutes: Route[] = [
  {
    method: 'GET',
    path: '/api/account',
    summary: 'Read my account',
    description: 'Plan, role, capabilities, teams, and what is used of every limit.',
    tag: 'Account',
    scope: { kind: 'token' },
    answers: { 200: { description: 'The account.', schema: object('The account.', { account: accountAnswer }) } },
    codes: [],
    handle: getAccount,
  },
]
