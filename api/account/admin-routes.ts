/** The routes of administrators as data. Each asks for the role admin; a token that was narrowed to scopes will not do. */
import { spec } from '../../crds/account/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import { type JsonSchema, restSchema } from '../../crds/kernel/rest.ts'
import { pageQuery, paging } from '../openapi/paging.ts'
import { chosenName, list, object, pendingOf, text, whole, withExamples } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import type { AdminNeeds } from './admin.ts'
import { accounts, createAccount, grantCapability, patchAccount, withdrawCapability } from './admin.ts'

const fields = restSchema(spec)
const changes = restSchema(spec, { partial: true })
const properties = changes.properties as Record<string, JsonSchema>
const changed: JsonSchema = {
  ...changes,
  properties: { ...properties, limits: named('AccountLimits', properties.limits ?? {}) },
}
const shown = named(
  'Account',
  object('An account.', {
    id: text('Names the account.'),
    // as in a change, null is what is not there
    ...(changed.properties as Record<string, JsonSchema>),
    created_at: text('When it was made.'),
    version: whole('Counts its changes.'),
    fact_seq: whole('Counts what was recorded of it, such as its logos.'),
  }),
)
const wrapped = named('OneAccount', { description: 'The account.', schema: object('The account.', { account: shown }) })
const pending = pendingOf('PendingAccount', 'Written, and not seen yet. Poll the address in Location.', {
  account: object('The account.', { id: text('Names the account.') }),
})
const asked: JsonSchema = {
  ...fields,
  properties: {
    id: chosenName('Names the account for good; drawn when left out.'),
    ...(fields.properties as Record<string, JsonSchema>),
  },
}

const admin = { tag: 'Administration', scope: { kind: 'full' }, role: 'admin' } as const
const all = '/api/admin/accounts'
const one = `${all}/:id`
const capability = `${one}/capabilities/:capability`

export const adminRoutes: Route<AdminNeeds>[] = [
  {
    ...admin,
    method: 'GET',
    path: all,
    summary: 'List accounts',
    description: 'Newest first.',
    query: pageQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', {
          accounts: list('Newest first.', shown),
          ...paging,
        }),
      },
    },
    codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: accounts.list,
  },
  {
    ...admin,
    method: 'POST',
    path: all,
    summary: 'Create an account',
    description: 'The owner signs in with the address; no password is made.',
    body: withExamples(asked, { email: 'ada@studio.test', name: 'Ada', plan: 'pro' }),
    answers: { 201: wrapped, 202: pending },
    codes: ['INVALID_FIELD', 'UNKNOWN_FIELD', 'EMAIL_TAKEN', 'NAME_TAKEN'],
    handle: createAccount,
  },
  {
    ...admin,
    method: 'GET',
    path: one,
    summary: 'Read an account',
    answers: { 200: wrapped },
    codes: ['NOT_FOUND'],
    handle: accounts.get,
  },
  {
    ...admin,
    method: 'PATCH',
    path: one,
    summary: 'Change an account',
    description: 'null takes a field away; limits are merged field by field, null gives them back to the plan.',
    body: withExamples(changed, { plan: 'team', capabilities: ['app.deploy'] }),
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND', 'INVALID_FIELD', 'UNKNOWN_FIELD', 'EMAIL_TAKEN'],
    handle: patchAccount,
  },
  {
    ...admin,
    method: 'PUT',
    path: capability,
    summary: 'Grant a capability',
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND'],
    handle: grantCapability,
  },
  {
    ...admin,
    method: 'DELETE',
    path: capability,
    summary: 'Withdraw a capability',
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND'],
    handle: withdrawCapability,
  },
]
