/**
 * Every route that may answer 202, called while nobody decides: at once, after the bounded wait, again under the same key, and
 * of a resource that is deleted meanwhile. The rows follow from the routes: one that has none here fails.
 */
import { isKeyed } from '../../../api/http/stages/idempotency.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

/** Routes that wait in a way of their own still, or whose call needs a host: to be emptied. */
const WITHOUT_A_ROW: readonly string[] = [
  'POST /i/:token/claim',
  'DELETE /api/admin/accounts/:id/capabilities/:capability',
  'DELETE /api/apps/hosts/:id',
  'DELETE /api/devboxes/:id',
  'DELETE /api/devboxes/:id/teams/:teamId',
  'DELETE /api/invoices/:id',
  'PATCH /api/admin/accounts/:id',
  'PATCH /api/apps/hosts/:id',
  'PATCH /api/devboxes/:id',
  'PATCH /api/invoices/:id',
  'POST /api/admin/accounts',
  'POST /api/apps/:id/deploy',
  'POST /api/apps/:id/rollback',
  'POST /api/apps/hosts',
  'POST /api/apps/hosts/:id/approve',
  'POST /api/apps/hosts/:id/inspect',
  'POST /api/apps/operations/:operationId/cancel',
  'POST /api/devboxes',
  'POST /api/devboxes/:id/cap-override',
  'POST /api/devboxes/:id/eip-released',
  'POST /api/devboxes/:id/finalize',
  'POST /api/devboxes/:id/provisioning',
  'POST /api/devboxes/:id/renamed',
  'POST /api/devboxes/:id/resized',
  'POST /api/devboxes/:id/resizing',
  'POST /api/devboxes/:id/started',
  'POST /api/devboxes/:id/stopped',
  'POST /api/devboxes/:id/teams',
  'POST /api/devboxes/:id/terminated',
  'POST /api/devboxes/:id/token',
  'POST /api/invoices',
  'POST /api/invoices/:id/credit-note',
  'POST /api/invoices/:id/payments',
  'POST /api/invoices/:id/recurrence',
  'POST /api/invoices/:id/remind',
  'POST /api/invoices/:id/send',
  'POST /api/invoices/:id/void',
  'POST /api/invoices/issuers/:id/logo',
  'POST /api/invoices/settings/rails',
  'POST /api/webhooks/:id/deliveries/:delivery/redeliver',
  'POST /api/webhooks/:id/redeliver',
  'POST /api/webhooks/:id/test',
  'POST /api/website/:id/publish',
  'POST /api/website/:id/republish',
  'POST /api/website/:id/unpublish',
  'PUT /api/admin/accounts/:id/capabilities/:capability',
  'PUT /api/devboxes/:id/env',
  'PUT /api/devboxes/:id/measurements',
  'PUT /api/devboxes/:id/repo',
]

/** What one call is about, made while the controllers run. `id` is null where the call makes the resource. */
type Prepared = { path: string; body?: object; id: string | null; by?: 'reviewer' }
type Row = {
  kind: 'wsite' | 'bapp'
  prepare(n: number): Promise<Prepared>
  /** The status of the answer that stands there in the end. */
  status: number
  /** How it ends when the resource is deleted before anybody looks. */
  gone: 'unknown' | 'succeeded'
}

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

spec('every route that may answer before it is decided', (t) => {
  let platform: Platform
  let reviewer: string
  const api = (method: string, path: string, body?: unknown, headers = {}, token = platform.owner): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body, headers)
  const sure = async (reply: Promise<Reply>): Promise<Json> => {
    const { status, json, text } = await reply
    if (status >= 202) throw new Error(text)
    return json
  }
  const newSite = async (): Promise<string> =>
    (await sure(api('POST', '/api/website/generate', { content: siteContent() }))).site.id
  const newApp = async (slug: string): Promise<string> => (await sure(api('POST', '/api/apps', { slug }))).app.id
  const onSite = (rest: string, body: object, more: Partial<Row> = {}): Row => ({
    kind: 'wsite',
    prepare: async () => {
      const id = await newSite()
      return { id, path: `/api/website/${id}${rest}`, body }
    },
    status: 200,
    gone: 'unknown',
    ...more,
  })
  const onApp = (slug: string, rest: string, body?: object, more: Partial<Row> = {}): Row => ({
    kind: 'bapp',
    prepare: async (n) => {
      const id = await newApp(`${slug}-${n}`)
      return { id, path: `/api/apps/${id}${rest}`, ...(body && { body }) }
    },
    status: 200,
    gone: 'unknown',
    ...more,
  })

  const rows: Record<string, Row> = {
    'POST /api/website/generate': {
      kind: 'wsite',
      prepare: async () => ({ id: null, path: '/api/website/generate', body: { content: siteContent() } }),
      status: 201,
      gone: 'unknown',
    },
    'DELETE /api/website/:id': { ...onSite('', {}), status: 204, gone: 'succeeded' },
    'POST /api/website/:id/update': onSite('/update', { content: { meta: { company_name: 'Changed' } } }),
    'POST /api/website/:id/submit-review': onSite('/submit-review', {}),
    'POST /api/website/:id/decision': onSite(
      '/decision',
      {},
      {
        prepare: async () => {
          const id = await newSite()
          await sure(api('POST', `/api/website/${id}/submit-review`, {}))
          return { id, path: `/api/website/${id}/decision`, body: { decision: 'approve', note: '' }, by: 'reviewer' }
        },
      },
    ),
    'PUT /api/website/:id/domain': onSite(
      '/domain',
      {},
      {
        prepare: async (n) => {
          const id = await newSite()
          return { id, path: `/api/website/${id}/domain`, body: { subdomain: `table-${n}` } }
        },
      },
    ),
    'POST /api/apps': {
      kind: 'bapp',
      prepare: async (n) => ({ id: null, path: '/api/apps', body: { slug: `made-${n}` } }),
      status: 201,
      gone: 'unknown',
    },
    'PATCH /api/apps/:id': onApp('patched', '', { application_policy: 'none' }),
    'DELETE /api/apps/:id': onApp('deleted', '?volumes=delete', undefined, { status: 204, gone: 'succeeded' }),
    'PATCH /api/apps/:id/env': onApp('changed', '/env', { env: { A: 'b' } }),
    'PUT /api/apps/:id/env': onApp('stored', '/env', { env: { A: 'b' } }),
  }

  const routes = allRoutes.filter((route) => !route.hidden && route.method !== 'GET' && 202 in route.answers)

  const operationOf = async ({ json }: Reply, by = platform.owner): Promise<Json> =>
    (await sure(api('GET', `/api/operations/${json.operation_id}`, undefined, {}, by))).operation
  const endOf = (reply: Reply, by: string): Promise<Json> =>
    eventually('the verdict', async () => {
      const operation = await operationOf(reply, by)
      return operation.state !== 'pending' && operation
    })

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
    reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', '{"spec":{"capabilities":["app.deploy"]}}'])
    const hostKey = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
    const spec = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey, baseDomain: 'away.test', approved: true }
    const metadata = { name: 'away' }
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Host',
      metadata,
      spec: { ...spec, class: 'shared' },
    })
    await eventually(
      'a host and the capability',
      async () => (await api('POST', '/api/apps', { slug: 'first' })).status === 201,
    )
  })
  t.after(() => platform.end())

  t('has a row, or stands in the list of those that have none', () => {
    assert.equal(routes.map(nameOf).sort(), [...Object.keys(rows), ...WITHOUT_A_ROW].sort())
  })

  t(
    'leads to its verdict: at once, after the wait, to a repeat, and to nobody when the resource went',
    async () => {
      const covered = routes.filter((route) => nameOf(route) in rows)
      const cells = await Promise.all(
        covered.flatMap((route, n) =>
          (['async', 'time-out', 'gone'] as const).map(async (way, m) => {
            const row = rows[nameOf(route)] as Row
            return { route, row, way, what: `${nameOf(route)}, ${way}`, prepared: await row.prepare(3 * n + m) }
          }),
        ),
      )
      type Cell = (typeof cells)[number]
      const by = ({ prepared }: Cell) => (prepared.by === 'reviewer' ? reviewer : platform.owner)
      const ask = (cell: Cell) => {
        const { route, way, prepared, what } = cell
        const headers = {
          'idempotency-key': what.replaceAll(' ', '_'),
          ...(way !== 'time-out' && { prefer: 'respond-async' }),
        }
        return api(route.method, prepared.path, prepared.body, headers, by(cell))
      }

      await platform.controllers.stop()
      const asked = await Promise.all(
        cells.map(async (cell) => {
          const reply = await ask(cell)
          assert.equal([reply.status, reply.headers.get('retry-after')], [202, '2'], `${cell.what}: ${reply.text}`)
          const operation = await operationOf(reply, by(cell))
          assert.equal([operation.state, operation.method], ['pending', cell.route.method], cell.what)
          const name = operation.resource.split('/').pop()
          if (cell.way === 'gone')
            await platform.kubectl(['delete', cell.row.kind, name, '--wait=false', '--ignore-not-found'])
          return { cell, reply }
        }),
      )
      await platform.controllers.start()

      await Promise.all(
        asked.map(async ({ cell, reply }) => {
          const { what, way, row, route } = cell
          const { state, status, result, problem } = await endOf(reply, by(cell))
          const wanted = way === 'gone' ? row.gone : 'succeeded'
          assert.is(state, wanted, `${what}: ${JSON.stringify(problem)}`)
          if (way === 'gone') return
          assert.is(status, row.status, what)
          if (!isKeyed(route)) return
          const again = await ask(cell)
          assert.equal([again.status, again.headers.get('idempotency-replayed')], [row.status, 'true'], what)
          assert.equal(again.json, result, what)
        }),
      )
    },
    { timeoutMs: 300_000 },
  )
})
