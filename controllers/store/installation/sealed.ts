/**
 * Every column that holds a sealed value: what has to be sealed anew when the key ring changes (reseal.ts). A test compares it
 * with the catalogue of the database: a column of bytes that is neither here nor named there as something else fails it.
 */
import { aboutAppEnv } from '../app/app.ts'
import { aboutRegistry } from '../app/registries.ts'
import { aboutRelease } from '../app/releases.ts'
import { aboutRunEnv } from '../app/runs.ts'
import { aboutCredential } from '../host/hosts.ts'
import { aboutAnswer } from '../request/idempotency.ts'
import { aboutGoal, aboutOutcome } from '../request/operations.ts'

/** A row's key, as its columns say. */
export type SealedKey = Readonly<Record<string, string | number>>

export type SealedColumn = {
  table: string
  column: string
  /** Of the sealer (base/seal.ts). */
  purpose: string
  /** The primary key: its columns and their types, in order. */
  key: Readonly<Record<string, 'text' | 'integer'>>
  /** What the value belongs to, as it was said when it was sealed. */
  about(key: SealedKey): string
}

const column = <const K extends Record<string, 'text' | 'integer'>>(
  place: `${string}.${string}`,
  purpose: string,
  key: K,
  about: (key: { [N in keyof K]: K[N] extends 'text' ? string : number }) => string,
): SealedColumn => {
  const [table = '', name = ''] = place.split('.')
  return { table, column: name, purpose, key, about: about as SealedColumn['about'] }
}

const KEPT_ANSWER = { account: 'text', route: 'text', key: 'text' } as const

/** What everything is derived from comes first. */
export const SEALED: readonly SealedColumn[] = [
  column('roots.sealed', 'root', { id: 'text' }, ({ id }) => id),
  column('host_credentials.sealed', 'host-credential', { host: 'text', version: 'integer' }, ({ host, version }) =>
    aboutCredential(host, version),
  ),
  column('session_keys.sealed', 'session-keys', { kid: 'text' }, ({ kid }) => kid),
  column('webhook_endpoints.secret', 'webhook-secret', { id: 'text' }, ({ id }) => id),
  column('webhook_endpoints.previous_secret', 'webhook-secret', { id: 'text' }, ({ id }) => id),
  column('app_env.sealed', 'app-env', { app: 'text', version: 'integer' }, ({ app, version }) =>
    aboutAppEnv(app, version),
  ),
  column('app_releases.sealed', 'app-release', { app: 'text', number: 'integer' }, ({ app, number }) =>
    aboutRelease(app, number),
  ),
  column('app_runs.sealed', 'app-env', { id: 'text' }, ({ id }) => aboutRunEnv(id)),
  column('app_registries.sealed', 'app-registry', { account: 'text', host: 'text' }, ({ account, host }) =>
    aboutRegistry(account, host),
  ),
  column('devbox_envs.wrapped_key', 'devbox-env', { resource: 'text', key: 'text' }, ({ resource }) => resource),
  column('site_messages.sealed', 'site-message', { id: 'text' }, ({ id }) => id),
  column('idempotency.sealed', 'idempotency', KEPT_ANSWER, aboutAnswer),
  column('operations.goal', 'operation', { id: 'text' }, ({ id }) => aboutGoal(id)),
  column('operations.outcome', 'operation', { id: 'text' }, ({ id }) => aboutOutcome(id)),
]
