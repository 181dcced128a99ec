import { proxyOf, routeConfig, withOurs } from '../../../crds/host/proxy.ts'
import { loggingConfig, VISITS_LOG, withVisits } from '../../../crds/host/visits.ts'
import { type DayCounts, foldLines, NAMES_MAX } from '../../../crds/site/publishing/visits/fold.ts'
import { LINE_MAX, pageOf, pageViewIn } from '../../../crds/site/publishing/visits/line.ts'
import { metricsOf, spanOf } from '../../../crds/site/publishing/visits/metrics.ts'
import { lookerOf } from '../../../crds/site/publishing/visits/robots.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const NOW = new Date('2026-11-23T10:00:00Z')
const NOW_SECONDS = NOW.getTime() / 1000
const CLOCKS = { hostSeconds: NOW_SECONDS, now: NOW }
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const said = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  level: 'info',
  ts: NOW_SECONDS - 1.5,
  logger: 'http.log.access.bottega-visits',
  msg: 'handled request',
  status: 200,
  site: 'site-a',
  path: '/',
  referrer: '',
  agent: CHROME,
  visitor: '0a1b2c3d',
  ...change,
})
const line = (change?: Record<string, unknown>): string => JSON.stringify(said(change))
const visitor = (n: number): string => n.toString(16).padStart(8, '0')
const one = (lines: string[], clocks = CLOCKS): DayCounts => {
  const [day, ...more] = foldLines(lines, clocks)
  if (day === undefined || more.length > 0) throw new Error(`${more.length + 1} days`)
  return day
}

spec('a line of a visit', (t) => {
  const PAGES: [written: string, page: string | null][] = [
    ['/', '/'],
    ['/services/', '/services/'],
    ['/index.html', '/'],
    ['/es/index.html', '/es/'],
    ['/page.html', '/page.html'],
    ['/assets/a1.css', null],
    ['/robots.txt', null],
    ['/favicon.svg', null],
    ['/v2.5/', '/v2.5/'],
    ['/menú/', '/menú/'],
    ['relative', null],
    ['', null],
    ['/a\u0000\u202Eb\n/', '/ab/'],
    [`/${'x'.repeat(5_000)}`, `/${'x'.repeat(199)}`],
  ]
  for (const [written, page] of PAGES)
    t(`of ${JSON.stringify(written.slice(0, 20))} is of ${page === null ? 'no page' : page.slice(0, 20)}`, () => {
      assert.is(pageOf(written), page)
    })

  t('says what was looked at, by whom and from where', () => {
    assert.equal(pageViewIn(line({ referrer: 'News.Example.ORG' })), {
      site: 'site-a',
      path: '/',
      visitor: '0a1b2c3d',
      referrer: 'news.example.org',
      agent: CHROME,
      ts: NOW_SECONDS - 1.5,
    })
  })

  const NONE: [string, string][] = [
    ['is no JSON', '{"status":200'],
    ['is cut at its beginning', line().slice(40)],
    ['is a list', '[]'],
    ['is null', 'null'],
    ['says no time', line({ ts: 'now' })],
    ['says a time that is none', '{"ts":1e999,"status":200,"site":"site-a","path":"/"}'],
    ['was not found', line({ status: 404 })],
    ['was gone', line({ status: 410 })],
    ['was redirected', line({ status: 308 })],
    ['names no site', line({ site: undefined })],
    ['names a site that none may be called', line({ site: '../x' })],
    ['is longer than any of the proxy’s', line({ agent: 'x'.repeat(LINE_MAX) })],
    ['is a megabyte', 'x'.repeat(1_000_000)],
  ]
  for (const [sentence, text] of NONE)
    t(`is none when it ${sentence}`, () => {
      assert.is(pageViewIn(text), null)
    })

  t('keeps of a referrer or a visitor nothing but what they may look like', () => {
    for (const referrer of ['https://a.test/x?secret', 'a b.test', 'localhost', `${'a'.repeat(300)}.test`, 7, null])
      assert.is(pageViewIn(line({ referrer }))?.referrer, null, String(referrer))
    for (const name of ['203.0.113.9', '0A1B2C3D', '', null, 9])
      assert.is(pageViewIn(line({ visitor: name }))?.visitor, null)
  })

  const LOOKERS: [agent: string, who: string][] = [
    [CHROME, 'person'],
    ['Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36', 'person'],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'robot'],
    ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)', 'robot'],
    ['curl/8.14.1', 'robot'],
    ['python-requests/2.32', 'robot'],
    ['', 'robot'],
    ['bottega-verify', 'ourselves'],
  ]
  for (const [agent, who] of LOOKERS)
    t(`with ${agent.slice(0, 60) || 'no agent'} is by a ${who}`, () => {
      assert.is(lookerOf(agent), who)
    })
})

spec('visits that are folded', (t) => {
  t('count each look, each visitor once, and robots apart', () => {
    const lines = [
      line({ visitor: visitor(1), referrer: 'a.test' }),
      line({ visitor: visitor(1), path: '/shop/', referrer: 'spam.test' }),
      line({ visitor: visitor(2) }),
      line({ visitor: null }),
      line({ agent: 'curl/8' }),
      line({ agent: 'bottega-verify' }),
      'not a line',
    ]
    assert.equal(one(lines), {
      site: 'site-a',
      day: '2026-11-23',
      visits: 4,
      robots: 1,
      visitors: [
        { visitor: visitor(1), referrer: 'a.test' },
        { visitor: visitor(2), referrer: null },
      ],
      pages: [
        { name: '/', visits: 3 },
        { name: '/shop/', visits: 1 },
      ],
    })
  })

  t('keep an upper bound of names, whatever is asked for', () => {
    const { pages, visits } = one(Array.from({ length: 10_000 }, (_, n) => line({ path: `/p${n}/` })))
    assert.is(visits, 10_000)
    assert.is(pages.length, NAMES_MAX + 1)
    assert.is(
      pages.reduce((sum, page) => sum + page.visits, 0),
      10_000,
    )
    assert.equal(pages.find(({ name }) => name === '')?.visits, 10_000 - NAMES_MAX)
  })

  t('come in one order, whatever the order of the lines', () => {
    const lines = ['b', 'a', 'c'].flatMap((name) =>
      [0, 86_400].map((ago) => line({ site: name, ts: NOW_SECONDS - ago })),
    )
    const keys = (days: DayCounts[]) => days.map(({ site, day }) => `${site} ${day}`)
    const forth = keys(foldLines(lines, CLOCKS))
    assert.equal(forth, keys(foldLines(lines.toReversed(), CLOCKS)))
    assert.equal(forth, forth.toSorted())
  })

  t('follow our clock, however wrong that of the host is, and also when it goes back', () => {
    for (const skew of [-400 * 86_400, -90, 0, 90, 400 * 86_400]) {
      const clocks = { hostSeconds: NOW_SECONDS + skew, now: NOW }
      assert.is(one([line({ ts: NOW_SECONDS + skew - 1 })], clocks).day, '2026-11-23')
      assert.is(one([line({ ts: NOW_SECONDS + skew + 7_200 })], clocks).day, '2026-11-23', 'what is to come')
      assert.is(one([line({ ts: NOW_SECONDS + skew - 11 * 3_600 })], clocks).day, '2026-11-22')
    }
  })

  t('are no more when they are older than those are kept who were told apart', () => {
    assert.is(foldLines([line({ ts: NOW_SECONDS - 6.9 * 86_400 })], CLOCKS).length, 1)
    assert.is(foldLines([line({ ts: NOW_SECONDS - 7.1 * 86_400 })], CLOCKS).length, 0)
  })
})

spec('the days of metrics', (t) => {
  const SPANS: [from: string | undefined, to: string | undefined, span: [string, string] | null][] = [
    [undefined, undefined, ['2026-10-25', '2026-11-23']],
    ['2026-11-01', undefined, ['2026-11-01', '2026-11-23']],
    [undefined, '2026-02-28', ['2026-01-30', '2026-02-28']],
    ['2026-11-23', '2026-11-23', ['2026-11-23', '2026-11-23']],
    ['2026-11-24', '2026-11-23', null],
    ['2026-12-24', undefined, ['2026-12-24', '2026-12-24']],
    ['2024-01-01', '2026-11-23', null],
    ['2026-02-30', undefined, null],
    ['tomorrow', undefined, null],
  ]
  for (const [from, to, span] of SPANS)
    t(`from ${from ?? 'nothing'} to ${to ?? 'nothing'} are ${span?.join(' to ') ?? 'refused'}`, () => {
      const asked = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      assert.equal(spanOf(asked, '2026-11-23'), span && { from: span[0], to: span[1] })
    })

  t('all stand there, also those on which nobody came, and the sums are theirs', () => {
    const span = { from: '2026-11-21', to: '2026-11-23' }
    const found = [{ date: '2026-11-22', visits: 5, visitors: 3, robots: 1 }]
    const metrics = metricsOf(span, found, [
      { sort: 'page', name: '/', visits: 4 },
      { sort: 'page', name: '', visits: 1 },
      { sort: 'referrer', name: 'a.test', visits: 2 },
    ])
    assert.equal(
      metrics.days.map(({ date, visits }) => [date, visits]),
      [
        ['2026-11-21', 0],
        ['2026-11-22', 5],
        ['2026-11-23', 0],
      ],
    )
    assert.equal([metrics.visits, metrics.visitors, metrics.robots], [5, 3, 1])
    assert.equal(metrics.pages, [{ path: '/', visits: 4 }])
    assert.equal(metrics.referrers, [{ host: 'a.test', visits: 2 }])
    assert.equal(metrics.other, { pages: 1, referrers: 0 })
  })
})

spec('what a proxy writes of visits', (t) => {
  const settings = proxyOf({})
  const routes = [
    { id: 'app-a', owner: 'App/a', hostnames: ['a.test'], handle: [{ handler: 'reverse_proxy' }] },
    { id: 'site-s', owner: 'Site/s', hostnames: ['s.test'], handle: [{ handler: 'file_server' }] },
  ]
  const config = (seen: unknown, folder: string | null) =>
    JSON.parse(JSON.stringify(withOurs(seen, settings, routes, folder)))

  t('is the same when it is made from itself, and nothing of it is left when it is not wanted', () => {
    const made = config({}, '/srv/visits')
    assert.equal(config(made, '/srv/visits'), made)
    const silent = config(made, null)
    assert.is(JSON.stringify(silent).includes('/srv/visits'), false)
    assert.equal(config(silent, null), silent)
    assert.is(config({}, null).logging, undefined)
  })

  t('is of sites alone: an app, and what nobody serves, leave no line', () => {
    for (const handle of [withVisits('/v', 'App/a', []), withVisits('/v', '', [])])
      assert.equal(handle, [{ handler: 'vars', log_skip: true }])
    assert.equal(withVisits(null, 'Site/s', [1]), [1])
    const [app, site, nobody] = config({}, '/v').apps.http.servers.bottega.routes
    assert.equal(app.handle[0], { handler: 'vars', log_skip: true })
    assert.equal(nobody.handle[0], { handler: 'vars', log_skip: true })
    assert.is(site.handle[0].handler, 'subroute')
    assert.equal(
      site,
      JSON.parse(JSON.stringify(routeConfig(routes[1] as (typeof routes)[0], { visits: '/v', httpsPort: 443 }))),
    )
  })

  t('leaves the logs of others as they are, and is not in them', () => {
    const seen = {
      sink: { writer: {} },
      logs: { theirs: { level: 'DEBUG' }, default: { level: 'WARN', exclude: ['x'] } },
    }
    const { logging } = JSON.parse(JSON.stringify(loggingConfig(seen, '/v')))
    assert.equal(logging.sink, seen.sink)
    assert.equal(logging.logs.theirs, seen.logs.theirs)
    assert.equal(logging.logs.default, { level: 'WARN', exclude: ['x', `http.log.access.${VISITS_LOG}`] })
    const included = { logs: { default: { include: ['admin'] } } }
    assert.equal(JSON.parse(JSON.stringify(loggingConfig(included, '/v'))).logging.logs.default, { include: ['admin'] })
  })
})
