import { challenge } from '../../../api/auth/auth.ts'
import { authorise } from '../../../api/auth/authorise.ts'
import { inOrder, PRESETS, SCOPE_NAMES } from '../../../api/auth/scopes.ts'
import type { Caller } from '../../../api/http/caller.ts'
import type { Exchange } from '../../../api/http/exchange.ts'
import { Problem } from '../../../api/http/problem.ts'
import { type Demands, described, type RouteScope } from '../../../api/http/route.ts'
import { compileCheck } from '../../../api/http/validate.ts'
import { openapiOf } from '../../../api/openapi/openapi.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { CAPABILITIES } from '../../../crds/account/schema.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Everything that the world may call without a credential. A new line here is a decision. */
const PUBLIC = new Set([
  'GET /api/auth/scopes',
  'GET /api/openapi-devboxes.json',
  'GET /api/openapi-invoices.json',
  'GET /api/openapi-apps.json',
  'GET /api/openapi-websites.json',
  'GET /templates',
  'GET /api/website/templates',
  'GET /templates/:template/:layout.svg',
  'GET /preview/:token',
  // a site in other layouts, by the same link
  'GET /preview/:token/~',
  'GET /preview/:token/~/:layout/:template',
  'GET /preview/:token/~/:layout/:template/{*path}',
  'GET /preview/:token/{*path}',
  // What an app's own proxy asks, known by its token; the page of a private app.
  'GET /_bottega/verify',
  'GET /_bottega/access',
  'POST /_bottega/access',
  // of what is or was live, by the digest that it says of itself
  'GET /certificates/:site/:digest',
  'GET /certificates/:site/:digest/certificate.json',
  'GET /problems/:code',
  'GET /i/:token',
  'POST /i/:token',
  'POST /i/:token/claim',
  'POST /i/:token/viewed',
  'POST /i/:token/pay',
  'GET /i/:token/pdf',
  'GET /i/:token/credit-notes/:number',
  'GET /i/:token/logo',
  // the contact form of a site: known by its token, counted by address, site and account
  'GET /s/:token',
  'POST /s/:token',
  'GET /s/:token/sent',
  'GET /.well-known/jwks.json',
  'GET /.well-known/bottega-keys.json',
  'GET /signin',
  'POST /signin',
  'GET /signin/link/:token',
  'POST /signin/link/:token',
  'GET /signin/oidc',
  'GET /signin/oidc/callback',
  // believed by its signature
  'POST /api/collect/stripe/webhook',
  // a script without a secret, for whoever holds an export
  'GET /client/verify-register.mjs',
  // the client and how an agent uses it, without a secret
  'GET /client/bottega.mjs',
  'GET /client/SKILL.md',
])
/** Assets carry a digest of their content in the path. */
const ASSET = /^GET \/(i|s|account|review|templates)\/assets\/[\w.-]+\.css$/

const KINDS: readonly RouteScope['kind'][] = ['public', 'token', 'scope', 'full', 'session', 'report']
const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`

/** What is wrong with the declaration of a route. */
const faultsOf = (route: Route): string[] => {
  const scope = route.scope as RouteScope | undefined
  const name = nameOf(route)
  if (scope === undefined || !KINDS.includes(scope.kind)) return [`${name} declares no scope`]
  const isOpen = scope.kind === 'public'
  return [
    ...(scope.kind === 'scope' && !SCOPE_NAMES.includes(scope.scope) ? [`${name} asks for an unknown scope`] : []),
    ...(isOpen && !PUBLIC.has(name) && !ASSET.test(name) ? [`${name} is public, and not on the list`] : []),
    ...(isOpen && (route.role || route.capability) ? [`${name} is public, so nobody checks role or capability`] : []),
    // A token that was narrowed must not run the platform because its owner does.
    ...(scope.kind === 'token' && route.role ? [`${name} gives a role's rights to every token`] : []),
    ...(scope.kind === 'token' && route.method !== 'GET' ? [`${name} lets every token change something`] : []),
    ...(route.capability && !CAPABILITIES.includes(route.capability) ? [`${name} asks for an unknown capability`] : []),
  ]
}

const declared = (change: object): Route =>
  ({ method: 'POST', path: '/api/x', summary: 'X', hidden: true, scope: { kind: 'full' }, ...change }) as Route

spec('every route', (t) => {
  t('declares who may call it', () => assert.equal(allRoutes.flatMap(faultsOf), []))

  t('stands once', () => {
    const names = allRoutes.map(nameOf)
    assert.equal(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  })

  t('says what it takes in schemas that compile', () => {
    for (const { path, body, query = {} } of allRoutes)
      for (const schema of [{ type: 'object', properties: query }, ...(body ? [body] : [])])
        assert.not.throws(() => compileCheck(schema)({}), undefined, path)
    assert.throws(() => compileCheck({ type: 'no such type' })({}), /type/)
  })

  t('would be caught without a declaration, or with one that opens too much', () => {
    assert.equal(faultsOf(declared({})), [])
    for (const [change, fault] of [
      [{ scope: undefined }, /declares no scope/],
      [{ scope: { kind: 'everybody' } }, /declares no scope/],
      [{ scope: { kind: 'scope', scope: 'all' } }, /unknown scope/],
      [{ scope: { kind: 'public' } }, /not on the list/],
      [{ scope: { kind: 'token' } }, /lets every token change/],
      [{ scope: { kind: 'token' }, method: 'GET', role: 'admin' }, /gives a role's rights/],
    ] as const) {
      assert.match(faultsOf(declared(change)).join('\n'), fault)
    }
  })

  t('says in the OpenAPI what it asks for', () => {
    const { paths } = openapiOf(described(allRoutes), { title: 'T', version: '1', description: 'D' })
    const operations = paths as Record<string, Record<string, Record<string, unknown>>>
    for (const route of described(allRoutes)) {
      const operation = operations[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()]
      const { scope, role, capability } = route
      assert.is(operation?.['x-scope-kind'], scope.kind === 'public' ? undefined : scope.kind, nameOf(route))
      assert.is(operation?.['x-scope'], scope.kind === 'scope' ? scope.scope : undefined, nameOf(route))
      assert.is(operation?.['x-role'], role, nameOf(route))
      assert.is(operation?.['x-capability'], capability, nameOf(route))
      assert.is(((operation?.security ?? []) as unknown[]).length > 0, scope.kind !== 'public', nameOf(route))
    }
  })
})

const callerWith = (change: Partial<Omit<Caller, 'profile'>> & { role?: string; capabilities?: string[] } = {}) => {
  const { role = 'member', capabilities = [], ...rest } = change
  return { account: 'demo', by: { kind: 'token', id: 'x' }, scopes: null, ...rest, profile: { role, capabilities } }
}
type Someone = ReturnType<typeof callerWith> | undefined

/** `passed`, or the code with what the challenge says. */
const answer = async (scope: unknown, caller: Someone, demands: Demands = {}): Promise<string> => {
  const exchange = { route: { scope, ...demands }, caller } as unknown as Exchange
  try {
    await authorise(exchange, async () => ({ status: 200 }))
    return 'passed'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return [error.code, ...Object.values(error.headers)].join(' ')
  }
}

const full = callerWith()
const session = callerWith({ by: { kind: 'session', id: 's' } })
const scoped = callerWith({ scopes: ['invoices:read'] })
const NOBODY = 'UNAUTHENTICATED Bearer realm="bottega"'
const OUTSIDE = 'FORBIDDEN Bearer realm="bottega", error="insufficient_scope"'

spec('who may', (t) => {
  const rows: [name: string, scope: unknown, nobody: string, full: string, session: string, scoped: string][] = [
    ['public', { kind: 'public' }, 'passed', 'passed', 'passed', 'passed'],
    ['any token', { kind: 'token' }, NOBODY, 'passed', 'passed', 'passed'],
    ['a scope that is held', { kind: 'scope', scope: 'invoices:read' }, NOBODY, 'passed', 'passed', 'passed'],
    [
      'a scope that is not held',
      { kind: 'scope', scope: 'apps:read' },
      NOBODY,
      'passed',
      'passed',
      `${OUTSIDE}, scope="apps:read"`,
    ],
    ['full access', { kind: 'full' }, NOBODY, 'passed', 'passed', OUTSIDE],
    ['a session', { kind: 'session' }, NOBODY, OUTSIDE, 'passed', OUTSIDE],
    ['a report token', { kind: 'report' }, NOBODY, OUTSIDE, OUTSIDE, OUTSIDE],
    ['what nobody declared', { kind: 'everybody' }, NOBODY, OUTSIDE, OUTSIDE, OUTSIDE],
  ]
  for (const [name, scope, ...expected] of rows) {
    t(`call a route that asks for ${name}`, async () => {
      const callers: Someone[] = [undefined, full, session, scoped]
      assert.equal(await Promise.all(callers.map((caller) => answer(scope, caller))), expected)
    })
  }

  t('do what a role or a capability allows, whatever the scopes', async () => {
    const scope = { kind: 'scope', scope: 'invoices:read' }
    const [reviewer, admin] = [callerWith({ role: 'reviewer' }), callerWith({ role: 'admin' })]
    assert.is(await answer(scope, full, { role: 'reviewer' }), 'ROLE_REQUIRED')
    assert.is(await answer(scope, reviewer, { role: 'reviewer' }), 'passed')
    assert.is(await answer(scope, admin, { role: 'reviewer' }), 'passed')
    assert.is(await answer(scope, reviewer, { role: 'admin' }), 'ROLE_REQUIRED')
    assert.is(await answer(scope, admin, { capability: 'app.deploy' }), 'CAPABILITY_REQUIRED')
    assert.is(await answer(scope, callerWith({ capabilities: ['app.deploy'] }), { capability: 'app.deploy' }), 'passed')
    assert.is(
      await answer(scope, callerWith({ capabilities: ['app.deploy'] }), { capability: 'devbox.manage' }),
      'CAPABILITY_REQUIRED',
    )
  })

  t('read in a challenge what is missing', () => {
    assert.equal(challenge(), { 'www-authenticate': 'Bearer realm="bottega"' })
    assert.equal(challenge({ error: 'invalid_token' }), {
      'www-authenticate': 'Bearer realm="bottega", error="invalid_token"',
    })
  })
})

spec('the catalogue of scopes', (t) => {
  t('is that of the contract, and every preset is part of it', () => {
    assert.is(
      SCOPE_NAMES.join(' '),
      'create.invoice invoices:read invoices:write payments:write account:profile webhooks:manage websites:read ' +
        'websites:write apps:read apps:manage devboxes:read devboxes:manage',
    )
    for (const { scopes } of Object.values(PRESETS)) assert.equal(inOrder(scopes), scopes)
    assert.is(Object.keys(PRESETS).join(' '), 'invoicing websites apps devboxes read-only')
    assert.ok(PRESETS['read-only'].scopes.every((scope) => scope.endsWith(':read')))
  })
})
