/** How what lives on a host is described (rules/host.md#draining). */
import { named } from '../kernel/named.ts'
import type { JsonSchema } from '../kernel/rest.ts'

const text = (description: string): JsonSchema => ({ type: 'string', description })
const list = (description: string, items: JsonSchema): JsonSchema => ({ type: 'array', description, items })
const object = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  properties,
})

export const livingSitesAnswer = named(
  'LivingSites',
  list(
    'Sites that are published on it.',
    object('A site.', { id: text('Names it.'), hostnames: list('Where it is reached.', text('A hostname.')) }),
  ),
)

const app = object('An app.', {
  id: text('Names it.'),
  account: text('Whose it is.'),
  slug: text('Its name below the base domain.'),
  status: text('One word for how it stands.'),
  is_leaving: { type: 'boolean', description: 'It has left, and something of it is here still.' },
})

export const livesAnswer = named('HostLives', {
  ...object('What lives on it; null for whoever does not run it.', {
    apps: list('At most 1,000.', app),
    sites: livingSitesAnswer,
  }),
  type: ['object', 'null'],
})
