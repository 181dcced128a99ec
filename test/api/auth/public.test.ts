/** Routes without a scope of their own, called by everybody: what a credential opens there it opens by its scopes. */
import { SCOPE_NAMES, type Scope } from '../../../api/auth/scopes.ts'
import { newToken } from '../../../api/auth/tokens.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, type Minter, makeMinter } from '../../support/stage/callers.ts'
import { call, order, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

/** What a token must hold where it may open what lies behind a public route. */
const OPENS: Record<string, Scope> = {
  'GET /i/:token': 'invoices:read',
  'POST /i/:token/viewed': 'invoices:read',
  'GET /i/:token/pdf': 'invoices:read',
  'GET /i/:token/credit-notes/:number': 'invoices:read',
  'GET /i/:token/logo': 'invoices:read',
  'POST /i/:token/claim': 'payments:write',
  'POST /i/:token/pay': 'payments:write',
}
const CLIENT = 'other@demo.test'

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const publicRoutes = allRoutes.filter(({ scope }) => scope.kind === 'public')
/** Asks as a program does, which is refused by a status and not by a form. */
const JSON_ASKED = { accept: 'application/json' }

spec('the public routes', (t) => {
  let platform: Platform
  let minter: Minter
  let link: string
  /** Who is not the client: nobody of them sees anything. */
  const strangers: Record<string, string | null> = {}
  const clients: Record<string, string> = {}

  const ask = (route: Route, credential: string | null): Promise<Reply> => {
    const path = route.path
      .replace(/\{.*\}$/, '')
      .replace(/:(\w+)/g, (_, name) => (name === 'token' && route.path.startsWith('/i/') ? link : 'unknown'))
    const body = route.path.endsWith('/claim') ? { date: new Date().toISOString().slice(0, 10) } : undefined
    return call(platform.baseUrl, credential, route.method, path, body, JSON_ASKED)
  }
  const isRefused = ({ status }: Reply) => status === 401 || status === 403

  t.before(async () => {
    platform = await startPlatform()
    minter = makeMinter(platform)
    const sent = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order({ client_email: CLIENT }))
    assert.equal([sent.status, sent.json.invoice.gate], [201, 'account'], sent.text)
    link = new URL(sent.json.url).pathname.split('/').at(-1) ?? ''
    Object.assign(strangers, {
      nobody: null,
      garbage: newToken().token,
      'the seller': platform.owner,
      'another account': await addAccount(platform, 'third', {}),
      'a report token': newToken().token.replace('btg_', 'dbr_'),
    })
    Object.assign(clients, { 'full access': await platform.token('other'), session: await minter.session('other') })
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
  })

  t('say by their declaration what a credential must hold to open what lies behind them', () => {
    const declared = publicRoutes.flatMap((route) =>
      route.scope.kind === 'public' && route.scope.opens !== undefined ? [[nameOf(route), route.scope.opens]] : [],
    )
    assert.equal(Object.fromEntries(declared), OPENS)
  })

  /** What is wrong with the answer to a token of the client that holds one scope. */
  const wrongForScope = async (route: Route, scope: Scope): Promise<string[]> => {
    const wanted = OPENS[nameOf(route)]
    const { secret } = await minter.token('other', { scopes: [scope] })
    const reply = await ask(route, secret)
    const challenge = reply.headers.get('www-authenticate') ?? ''
    const isClosed = reply.status === 403 && challenge.includes(`scope="${wanted}"`)
    const isRight = scope === wanted ? !isRefused(reply) : isClosed
    return isRight ? [] : [`${nameOf(route)} × ${scope}: ${reply.status} ${reply.text.slice(0, 60)}`]
  }
  /** The beacon says nothing to whoever is not past the gate. */
  const isShut = (route: Route, { status }: Reply) =>
    status === 401 || (status === 204 && nameOf(route).endsWith('/viewed'))

  const wrongFor = async (route: Route): Promise<string[]> => {
    const wrong: string[] = []
    for (const scope of SCOPE_NAMES) wrong.push(...(await wrongForScope(route, scope)))
    for (const [who, credential] of Object.entries(clients)) {
      const reply = await ask(route, credential)
      if (isRefused(reply)) wrong.push(`${nameOf(route)} × ${who}: ${reply.status}`)
    }
    for (const [who, credential] of Object.entries(strangers)) {
      const reply = await ask(route, credential)
      if (!isShut(route, reply)) wrong.push(`${nameOf(route)} × ${who}: ${reply.status}`)
    }
    return wrong
  }

  t('open to a token of the client by the scope they name, and by no other', async () => {
    const wrong: string[] = []
    const routes = publicRoutes.filter((one) => OPENS[nameOf(one)] !== undefined)
    for (const route of routes) wrong.push(...(await wrongFor(route)))
    const callers = SCOPE_NAMES.length + Object.keys(clients).length + Object.keys(strangers).length
    console.log(`\ncounted: ${routes.length * callers} cells, ${routes.length} routes × ${callers} callers`)
    assert.equal(wrong, [])
  })

  t('answer everybody alike where no credential opens anything', async () => {
    for (const route of publicRoutes.filter((one) => OPENS[nameOf(one)] === undefined)) {
      const statuses = new Set<number>()
      for (const credential of [...Object.values(strangers), ...Object.values(clients)]) {
        statuses.add((await ask(route, credential)).status)
      }
      statuses.delete(429)
      assert.ok(statuses.size <= 1, `${nameOf(route)} answers ${[...statuses].join(' or ')}`)
    }
  })
})
