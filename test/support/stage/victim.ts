/** What an account has of every kind, and how each route that names one of them is called. */
import { newToken } from '../../../api/auth/tokens.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { PROFILE } from '../builders/devinstance.ts'
import { png } from '../builders/logos.ts'
import type { Minter } from './callers.ts'
import { cloud, finalizeBody, reservation } from './devinstances.ts'
import { call, eventually, type Json, order, type Platform, type Reply } from './invoicing.ts'

const box = { arch: 'arm64', agents: ['claude-code'], instanceId: cloud().instanceId, sizeClass: 'XS', diskGb: 30 }
/** Bodies that their owner could send. */
const BODIES: Record<string, unknown> = {
  'PATCH /api/invoices/:id': { client_name: 'Mallory' },
  'POST /api/invoices/:id/payments': { amount_cents: 100, method: 'bank' },
  'POST /api/invoices/:id/recurrence': { every: 'month', day: 1, mode: 'draft' },
  'POST /api/invoices/issuers/:id/logo': png,
  'POST /api/webhooks/:id/redeliver': { after: 0 },
  'POST /api/devboxes/:id/provisioning': { instanceId: cloud().instanceId },
  'POST /api/devboxes/:id/finalize': finalizeBody(box),
  'POST /api/devboxes/:id/starting': { version: 1 },
  'POST /api/devboxes/:id/started': { version: 1 },
  'POST /api/devboxes/:id/halting': { version: 1 },
  'POST /api/devboxes/:id/stopped': { version: 1 },
  'POST /api/devboxes/:id/resizing': { version: 1, sizeClass: 'S' },
  'POST /api/devboxes/:id/resized': { version: 1, sizeClass: 'S', verifiedDf: '50G', state: 'ready' },
  'POST /api/devboxes/:id/renamed': { version: 1, name: 'mine-now' },
  'POST /api/devboxes/:id/eip-released': { version: 1, allocationId: cloud().eipAllocId },
  'POST /api/devboxes/:id/terminating': { version: 1 },
  'POST /api/devboxes/:id/terminated': { version: 1, instanceGone: true, eipGone: true, volumesGone: true },
  'PUT /api/devboxes/:id/repo': { repo: { url: 'https://git.acme.test/b.git' }, profile: PROFILE },
  'PUT /api/devboxes/:id/measurements': { peakRssGb: 2.5, diskUsedGb: 12, repoHead: 'abcdef0' },
  'PUT /api/devboxes/:id/env': { env: { KEY: 'value' } },
  'POST /api/devboxes/:id/teams': { teamId: 'studio' },
  'PATCH /api/devboxes/:id': { policy: { idleMinutes: 30, autoscale: 'ask' } },
  'PUT /api/website/:id/domain': { subdomain: 'mine-now' },
  'POST /api/website/:id/update': { content: { meta: { company_name: 'Mallory' } } },
  'POST /api/website/:id/republish': { release: 1 },
  'PATCH /api/apps/:id': { access: 'public' },
  'POST /api/apps/:id/deploy': { compose: 'services: { web: { image: nginx } }' },
  'POST /api/apps/:id/sources': { compose: 'services: { web: { image: nginx } }' },
  'PUT /api/apps/registries/:host': { username: 'mallory', password: 'opens-no-registry' },
  'POST /api/apps/:id/rollback': { release: 1, env: 'current' },
  'POST /api/apps/:id/scale': { replicas: 2 },
  'POST /api/apps/:id/move': { host_id: 'local' },
  'POST /api/apps/:id/previews': { ref: 'main', git: { url: 'https://git.acme.test/b.git' } },
  'POST /api/apps/:id/run': { service: 'web', command: ['id'] },
  'PATCH /api/apps/:id/env': { env: { KEY: 'value' } },
  'PUT /api/apps/:id/env': { env: { KEY: 'value' } },
  'PUT /api/apps/:id/domain-config': { step: 'plan', hostnames: ['mine-now.test'] },
  'PATCH /api/apps/:id/publication-policy': { access: 'public' },
  'PATCH /api/apps/hosts/:id': { name: 'Mallory' },
}

/** By what paths call them. */
export type Things = Record<string, string>

/** One of each kind, of the account `demo`, which holds the capabilities. */
export const makeThings = async (platform: Platform, minter: Minter): Promise<Things> => {
  const owner = platform.owner
  const sure = async (path: string, body?: unknown, method = 'POST'): Promise<Json> => {
    const reply = await call(platform.baseUrl, owner, method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.json
  }
  const soon = (path: string, body?: unknown, method = 'POST') =>
    call(platform.baseUrl, owner, method, path, body, { prefer: 'respond-async' })
  const { invoice } = await sure('/api/invoices', order({ external_ref: 'secret-order' }))
  const shots = await sure(`/api/invoices/${invoice.id}/snapshots`, undefined, 'GET')
  const { issuer } = await sure('/api/invoices/issuers', {})
  const { endpoint } = await sure('/api/webhooks', { url: `https://${newToken().id}.invalid/` })
  const ping = await soon(`/api/webhooks/${endpoint.id}/test`)
  const { ssh_key: key } = await sure('/api/account/ssh-keys', {
    name: 'secret laptop',
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGEga2V5IG9mIGEgdmljdGltLCBub25lIGF0IGFsbCEh',
  })
  const { site } = await sure('/api/website/generate', { content: { meta: { company_name: 'Secret site' } } })
  await query(
    platform.database.url,
    `insert into site_messages (id, site, account, key, sealed, held, day, at)
     values ('msg-secret', $1, 'demo', '', '', true, current_date, now())`,
    [site.id],
  )
  const { devbox } = await eventually('the capability', async () => {
    const reply = await soon('/api/devboxes', reservation({ name: 'secret-box' }))
    return reply.status < 300 && reply.json
  })
  await makeApp(platform)
  for (const path of ['/api/apps/app-secret', '/api/apps/hosts/secret-host'])
    await eventually(path, async () => (await soon(path, undefined, 'GET')).status === 200)
  // who decides stands still meanwhile: a verdict that were there first would be the answer, and there would be no operation
  const sent = await stoodStill(platform, () => soon('/api/invoices', order({ external_ref: 'secret-second' })))
  return {
    invoice: invoice.id,
    sha256: shots.snapshots[0].sha256,
    issuer: issuer.id,
    hook: endpoint.id,
    delivery: ping.json.delivery.id,
    site: site.id,
    message: 'msg-secret',
    devbox: devbox.id,
    key: key.id,
    host: 'secret-host',
    app: 'app-secret',
    operationId: 'op-secret',
    linkId: 'lnk-secret',
    backup: 'bak-secret',
    preview: 'app-secret-branch',
    name: 'data',
    operation: sent.headers.get('location')?.split('/').at(-1) ?? '',
    token: (await minter.token('demo')).id,
    session: (await minter.sessions.issue('demo', 'mail')).sessionId,
  }
}

const stoodStill = async (platform: Platform, ask: () => Promise<Reply>): Promise<Reply> => {
  const pid = platform.controllers.pid()
  if (pid === null) throw new Error('no controllers run')
  process.kill(pid, 'SIGSTOP')
  try {
    const reply = await ask()
    if (reply.status !== 202) throw new Error(`answered ${reply.status} in place of 202: ${reply.text}`)
    return reply
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** On a host that nobody reaches, with an operation that has ended. */
const makeApp = async ({ kubectl, database }: Platform): Promise<void> => {
  const apply = (kind: string, name: string, spec: object) =>
    kubectl(['apply', '-f', '-'], { apiVersion: 'bottega.dev/v1alpha1', kind, metadata: { name }, spec })
  const hostKey = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
  const at = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey }
  await apply('Host', 'secret-host', { ...at, baseDomain: 'away.test', class: 'owned', account: 'demo' })
  await apply('App', 'app-secret', { account: 'demo', slug: 'secret', hostId: 'secret-host' })
  await query(
    database.url,
    `insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at, ended_at)
     values ('op-secret', 'app-secret', 'demo', 1, 'env', '{}', false, 'failed', now(), now())`,
  )
  await query(
    database.url,
    `with run as (
       insert into app_runs (id, app, account, cause, service, command, timeout_seconds, repeatable, env_keys, operation,
         attempt, state, output_next, created_at, ended_at, dropped_at)
       values ('op-secret-pre-1', 'app-secret', 'demo', 'pre_release', 'web', '["migrate"]', 60, false, '{}', 'op-secret',
         1, 'failed', 14, now(), now(), now())
     )
     insert into app_run_output (run, start, content) values ('op-secret-pre-1', 0, 'secret output\n')`,
  )
  await query(
    database.url,
    `insert into app_backups (id, app, account, volume, consistency, state, packed, created_at, started_at, ended_at, dropped_at)
     values ('bak-secret', 'app-secret', 'demo', 'data', 'moment', 'succeeded', '{"bytes": 0, "sha256": "${'0'.repeat(64)}", "how": "still"}',
       now(), now(), now(), now())`,
  )
  await query(
    database.url,
    `insert into app_previews (app, parent, account, ref, created_at, expires_at, ended_at, reason)
     values ('app-secret-branch', 'app-secret', 'demo', 'secret-branch', now(), now(), now(), 'deleted')`,
  )
  await query(
    database.url,
    `insert into app_access_links (id, app, account, scope, created_at) values ('lnk-secret', 'app-secret', 'demo', '/', now())`,
  )
}

/** Which of the things a path means by :id. */
const PLACES: readonly [start: string, thing: string][] = [
  ['/api/invoices/issuers/', 'issuer'],
  ['/api/invoices/', 'invoice'],
  ['/account/invoices/', 'invoice'],
  ['/api/webhooks/', 'hook'],
  ['/account/webhooks/', 'hook'],
  ['/api/website/', 'site'],
  ['/account/reviews/', 'site'],
  ['/review/sites/', 'site'],
  ['/api/devboxes/', 'devbox'],
  ['/api/account/ssh-keys/', 'key'],
  ['/api/apps/hosts/', 'host'],
  ['/api/apps/', 'app'],
  ['/api/operations/', 'operation'],
  ['/api/auth/tokens/', 'token'],
  ['/api/auth/sessions/', 'session'],
  ['/account/sessions/', 'session'],
  ['/account/tokens/', 'token'],
]

/** @throws Error where it is not known what a place of the path means */
export const pathTo = ({ path }: Pick<Route, 'path'>, things: Things): string => {
  const thing = PLACES.find(([start]) => path.startsWith(start))?.[1] ?? ''
  const values: Record<string, string | undefined> = {
    ...{ teamId: 'studio', hostname: 'former.example', digest: 'ab'.repeat(32), id: things[thing] },
    ...things,
  }
  return path.replace(/\{.*\}$/, '').replace(/:(\w+)/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`nothing is known for :${name} of ${path}`)
    return value
  })
}

/** What its owner could send. */
export const bodyTo = (route: Route): unknown =>
  BODIES[`${route.method} ${route.path}`] ??
  (route.body?.examples as unknown[] | undefined)?.[0] ??
  (route.body ? {} : undefined)
