/** The routes of logins for registries (rules/app.md#registries). */
import { named } from '../../../../crds/kernel/named.ts'
import { closed, list, object, text, whole } from '../../../openapi/schemas.ts'
import type { Route } from '../../../wiring/route.ts'
import type { AppNeeds } from '../../needs.ts'
import { deleteRegistry, listRegistries, putRegistry } from './registries.ts'

const ALL = '/api/apps/registries'
const one = `${ALL}/:host`
const reads = { tag: 'Apps', scope: { kind: 'scope', scope: 'apps:read' } } as const
const manages = { tag: 'Apps', scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const

const registry = named(
  'AppRegistry',
  object('A registry that the account has a login for.', {
    host: text('As images name it.'),
    username: text('Who it takes images as.'),
    updated_at: text('When it was written.'),
  }),
)

export const registryRoutes: Route<AppNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: ALL,
    summary: 'List the registries that an account has logins for',
    answers: {
      200: {
        description: 'All; no password.',
        schema: object('All.', { registries: list('By their names.', registry), total: whole('How many.') }),
      },
    },
    codes: [],
    handle: listRegistries,
  },
  {
    ...manages,
    method: 'PUT',
    path: one,
    summary: 'Write a login for a registry',
    description:
      'Sealed, never shown again. A host has it while it pulls or builds an image for an app of the account, and no longer. One for the host of a repository opens that to a deploy from git.',
    body: closed(
      object('A login.', {
        username: { ...text('Who images are taken as.'), minLength: 1, maxLength: 200 },
        password: { ...text('Or a token that may read.'), minLength: 1, maxLength: 8_192 },
      }),
      ['username', 'password'],
    ),
    answers: { 200: { description: 'Written.', schema: object('The registry.', { registry }) } },
    codes: ['BAD_REGISTRY', 'REGISTRY_LIMIT'],
    handle: putRegistry,
  },
  {
    ...manages,
    method: 'DELETE',
    path: one,
    summary: 'Remove a login for a registry',
    answers: { 204: { description: 'Gone.' } },
    codes: ['BAD_REGISTRY', 'NOT_FOUND'],
    handle: deleteRegistry,
  },
]
