/** The public halves of the keys that sign sessions (RFC 7517), for those who check one without asking us. */
import type { Deps } from '../../wiring/deps.ts'
import type { Route } from '../../wiring/route.ts'

export const jwksRoutes: Route<Pick<Deps, 'sessions'>>[] = [
  {
    hidden: true,
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'Public keys of sessions',
    scope: { kind: 'public', limit: 'file' },
    handle: async ({ sessions }) => ({
      status: 200,
      bytes: Buffer.from(JSON.stringify({ keys: await sessions.keys.published() }), 'utf8'),
      // Shorter than a new key is published before it signs.
      headers: { 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=60' },
    }),
  },
]
