/** GET /api/account: who the caller is, and how much of what is left (rules/account.md#quotas). */
import { QUOTAS, quotaDay, quotasOf } from '../../crds/account/quotas.ts'
import { CAPABILITIES, PLANS, ROLES } from '../../crds/account/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import { accountRow, type OwnMirror } from '../command/own.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import type { QuotaStores } from '../wiring/stores.ts'
import { usedQuotas } from '../wiring/stores.ts'

type AccountNeeds = Pick<Deps, 'limits' | 'now'> & { mirror: Pick<OwnMirror, 'get'> } & QuotaStores

const getAccount = async (deps: AccountNeeds, { caller }: ApiRequest): Promise<Answer> => {
  // The caller's own copy may be ten seconds old; what a change answered must be in the next read.
  const row = await accountRow(deps, caller)
  const profile = row?.view ?? caller.profile
  const { account } = caller
  const { id, email, name, plan, role, capabilities, teams } = profile
  const now = deps.now()
  const [used, burst] = await Promise.all([usedQuotas(deps, account, quotaDay(now)), deps.limits.burst(caller.by.id)])
  const quotas = { ...quotasOf(profile, used, now), burst }
  return { status: 200, body: { account: { id, email, name, plan, role, capabilities, teams, quotas } } }
}

const quota = {
  limit: whole('The most.'),
  used: { type: 'number', description: 'How much of it is used.' },
  resets_at: textOrNull('When it is 0 again; null for what is given back instead.'),
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
      ...Object.fromEntries(
        Object.entries(QUOTAS).map(([name, { description }]) => [name, object(description, quota)]),
      ),
      burst: object('Requests of this token in a second.', {
        ...quota,
        spare: whole('How many more, once in a minute.'),
      }),
    }),
  }),
)

export const accountRoutes: Route<AccountNeeds>[] = [
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
