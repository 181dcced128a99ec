import { execFileSync } from 'node:child_process'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import {
  approve,
  makeSite,
  type Page,
  publish,
  type SitePlatform,
  startSitePlatform,
} from '../../support/stage/publishing.ts'

/**
 * The route of a live site, changed in its proxy by somebody else: also where every page stays what it was, it is put back within a
 * minute, and told of. Nobody calls anything here.
 */

const WITHIN_MS = 60_000
const LONG = { timeoutMs: 150_000 }
const HSTS = 'strict-transport-security'
const PLANTED = 'x-planted'
/** What no site owns is told by whoever puts it back: the host, or the site whose visitors get another answer. */
const NOBODYS = { Site: /the route/, Host: /its routes/ }
const PLANT = { handler: 'headers', response: { set: { 'X-Planted': ['yes'] } } }

spec('the route of a live site, changed in its proxy', (t) => {
  let platform: SitePlatform
  let id: string
  let hostname: string
  let good: string

  const admin = (method: string, path: string, body?: unknown): string => {
    const data = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)]
    const to = ['--unix-socket', platform.host.admin, `http://localhost:2019${path}`]
    return execFileSync('curl', ['-sS', '--fail', '-X', method, ...data, ...to], { encoding: 'utf8' })
  }
  const visit = (): Promise<Page | null> => platform.visit(hostname).catch(() => null)
  /** Of the page, and how it came. */
  const shown = (page: Page | null): string =>
    page === null ? 'nothing' : JSON.stringify([page.status, page.headers[HSTS], page.headers[PLANTED], page.text])
  const isWhole = async () => shown(await visit()) === good
  /** How often it was told of drift, and the words of each Event. */
  const toldOf = async (kind: 'Site' | 'Host'): Promise<{ count: number; notes: string[] }> => {
    const page = await (await fetch(platform.metricsUrls.controllers)).text()
    const counted = new RegExp(`^bottega_host_drift_total\\{kind="${kind}",host="local"\\} (\\d+)$`, 'm').exec(page)
    const { items } = JSON.parse(await platform.kubectl(['get', 'events.events.k8s.io', '-o', 'json']))
    const drifts = items.filter((one: Json) => one.reason === 'Drift' && one.regarding.kind.endsWith(kind))
    return { count: Number(counted?.[1] ?? 0), notes: drifts.map((one: Json) => one.note) }
  }
  /** @param told by each kind that may be the first to see it */
  const putBack = async (what: string, change: () => void, told: { Site?: RegExp; Host?: RegExp }) => {
    const kinds = Object.entries(told) as ['Site' | 'Host', RegExp][]
    const before = { Site: await toldOf('Site'), Host: await toldOf('Host') }
    change()
    assert.is(await isWhole(), false, `${what} is seen by visitors`)
    const startedAt = performance.now()
    await eventually(`the route as it was after ${what}`, isWhole, WITHIN_MS)
    console.log(`  ${what}: right again after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    await eventually(`${what} to be told`, async () => {
      for (const [kind, note] of kinds) {
        const { count, notes } = await toldOf(kind)
        if (count > before[kind].count && notes.some((one) => note.test(one))) return true
      }
      return false
    })
    await eventually('the site to be Ready', async () => {
      const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
      return status.conditions.some((one: Json) => one.type === 'Ready' && one.status === 'True')
    })
  }

  t.before(async () => {
    platform = await startSitePlatform()
    ;({ id } = await makeSite(platform))
    await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: 'route' })
    await approve(platform, id)
    await publish(platform, id)
    hostname = `route.${platform.host.baseDomain}`
    // browsers are told to insist on TLS once it was served
    await eventually('its last header', async () => (await visit())?.headers[HSTS] !== undefined, WITHIN_MS)
    good = shown(await visit())
    assert.match(good, /Stoneware/)
  })
  t.after(() => platform.end())

  t(
    'has its headers back that were taken away, though all its pages are right',
    async () => {
      const take = () => {
        const { handle } = JSON.parse(admin('GET', `/id/site-${id}`))
        const rest = handle.filter((one: Json) => !JSON.stringify(one.response ?? {}).includes('Strict-Transport'))
        assert.is(rest.length, handle.length - 1)
        admin('PATCH', `/id/site-${id}/handle`, rest)
      }
      await putBack('a header less', take, { Site: /the route/ })
    },
    LONG,
  )

  t(
    'loses what was put before its handlers, though all its pages are right',
    async () => {
      await putBack('a handler more', () => void admin('PUT', `/id/site-${id}/handle/0`, PLANT), { Site: /the route/ })
    },
    LONG,
  )

  t(
    'loses a route before it: one that only adds to its answers is told of the host',
    async () => {
      const route = { match: [{ host: [hostname] }], handle: [PLANT] }
      await putBack('a route before it', () => void admin('PUT', '/id/bottega/routes/0', route), { Host: /its routes/ })
    },
    LONG,
  )

  t(
    'loses a route before it: one that answers in its place',
    async () => {
      const handle = [{ handler: 'static_response', body: 'another' }]
      const route = { match: [{ host: [hostname] }], handle, terminal: true }
      await putBack('another answer', () => void admin('PUT', '/id/bottega/routes/0', route), NOBODYS)
    },
    LONG,
  )

  t(
    'is served again where what answers for nobody was put before it',
    async () => {
      const first = () => {
        const routes = JSON.parse(admin('GET', '/id/bottega/routes'))
        admin('PATCH', '/id/bottega/routes', [routes.at(-1), ...routes.slice(0, -1)])
      }
      await putBack('the routes in another order', first, NOBODYS)
    },
    LONG,
  )

  t(
    'is there again when it is gone',
    async () => {
      await putBack('a lost route', () => void admin('DELETE', `/id/site-${id}`), { Site: /the route/ })
    },
    LONG,
  )
})
