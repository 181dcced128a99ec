/** The policy of every page, asked of the running service; which routes are pages follows from the list of routes. */
import type { Route } from '../../api/wiring/route.ts'
import { allRoutes } from '../../api/wiring/routes.ts'
import { FORM } from '../support/builders/account.ts'
import { openings } from '../support/judges/policy.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { call, order, type Platform, startPlatform } from '../support/stage/invoicing.ts'
import { ownerSession } from '../support/stage/visitors.ts'

/** Routes outside of /api that answer no page of ours, whoever asks; and the two that need an app or a site, and their tests. */
const NO_PAGES: Record<string, string> = {
  'GET /.well-known/jwks.json': 'is JSON',
  'GET /client/verify-register.mjs': 'is a file',
  'GET /client/bottega.mjs': 'is a file',
  'GET /client/SKILL.md': 'is a file',
  'POST /i/:token/viewed': 'has no body',
  'GET /_bottega/verify': 'is asked by a proxy',
  'GET /_bottega/access': 'test/api/app/app.test.ts',
  'POST /_bottega/access': 'test/api/app/app.test.ts',
  'GET /preview/:token': 'leads to the next',
  'GET /preview/:token/~': 'test/api/site/choosing.test.ts',
  'GET /preview/:token/~/:layout/:template': 'leads to the next',
  'GET /preview/:token/~/:layout/:template/{*path}': 'test/api/site/choosing.test.ts',
  'GET /preview/:token/{*path}': 'test/api/site/site.test.ts',
}
const nameOf = ({ method, path }: Route): string => `${method} ${path}`
const PAGES = allRoutes.filter((route) => !/^\/api\/|\.css$/.test(route.path) && NO_PAGES[nameOf(route)] === undefined)

spec('the policy of a page', (t) => {
  let platform: Platform
  let cookie = ''
  let link = ''
  t.before(async () => {
    platform = await startPlatform()
    cookie = `bottega_session=${await ownerSession(platform)}`
    const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order())
    link = new URL(made.json.url).pathname
  })
  t.after(async () => {
    if (platform) await platform.end()
  })

  /** As a browser asks that is signed in; whatever is named does not exist, but for the invoice. */
  const ask = async ({ method, path }: Route): Promise<Response> => {
    const place = path
      .replace('/i/:token', link)
      .replace(':code', 'NOT_FOUND')
      .replace(':template/:layout', 'studio/classic')
      .replace(/:\w+/g, 'none')
    const headers = { cookie, accept: 'text/html', ...(method !== 'GET' && FORM) }
    const init = { method, headers, redirect: 'manual' } as const
    return fetch(`${platform.baseUrl}${place}`, method === 'GET' ? init : { ...init, body: '' })
  }

  for (const route of PAGES) {
    t(`is strict, whatever is answered: ${nameOf(route)}`, async () => {
      const answer = await ask(route)
      await answer.arrayBuffer()
      const type = answer.headers.get('content-type') ?? ''
      assert.ok(/^(text\/html|application\/(pdf|jwk-set\+json)|image\/)/.test(type), `${answer.status} ${type}`)
      assert.equal(openings(answer.headers.get('content-security-policy')), [])
    })
  }

  t('was asked of pages of every family', () => {
    for (const path of ['/i/:token', '/signin', '/account/tokens', '/review/:token', '/problems/:code']) {
      assert.ok(
        PAGES.some((route) => route.path === path),
        path,
      )
    }
  })

  const OPEN: [string | null, number][] = [
    [null, 1],
    ["default-src 'none'", 4],
    ["default-src 'none'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'", 1],
    ["default-src 'none'; script-src https:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'", 1],
    ["default-src 'none'; script-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors *", 2],
  ]
  for (const [policy, count] of OPEN) {
    t(`would be seen: ${policy}`, () => assert.is(openings(policy).length, count, openings(policy).join()))
  }
})
