import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually } from '../../support/stage/invoicing.ts'
import { approve, makeSite, publish, type SitePlatform, startSitePlatform } from '../../support/stage/publishing.ts'

/** Visits of a real site on a real host: from what visitors do to what the owner reads. */

const LONG = { timeoutMs: 120_000 }
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const SAFARI = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15'
const ROBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
/** That it is half a minute at most is in what VISITS_AGE_MAX_MS is made of (test/controllers/kinds/visits.test.ts); a busy machine may be late. */
const BEHIND_MS = 45_000

spec('visits of a site on a real host', (t) => {
  let platform: SitePlatform
  let id: string
  let hostname: string
  const metrics = async (token?: string | null, query = '') =>
    platform.as('GET', `/api/website/${id}/metrics${query}`, undefined, token)
  const visit = (path: string, headers: Record<string, string>) => platform.visit(hostname, path, headers)
  const written = (): string => {
    const folder = join(platform.host.siteRoot, 'visits', 'log')
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('')
  }

  t.before(async () => {
    platform = await startSitePlatform()
    id = (await makeSite(platform)).id
    await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: 'seen' })
    await approve(platform, id)
    await publish(platform, id)
    hostname = `seen.${platform.host.baseDomain}`
    await eventually(
      'the host to write down visits',
      async () => {
        await visit('/robots.txt', {})
        return written().includes(`"site":"${id}"`)
      },
      60_000,
    )
  })
  t.after(() => platform.end())

  t(
    'are counted: people apart from robots, each page, and the host that they came from',
    async () => {
      const from = (referer: string) => ({ 'user-agent': FIREFOX, referer })
      await visit(
        '/?token=secret-of-mine',
        from('https://user:pass@news.example.org:8443/story?about=secret-of-theirs'),
      )
      await visit('/', { 'user-agent': FIREFOX })
      await visit('/', { 'user-agent': SAFARI })
      await visit('/', { 'user-agent': FIREFOX, 'sec-gpc': '1' })
      await visit('/', { 'user-agent': FIREFOX, 'sec-purpose': 'prefetch' })
      await visit('/', { 'user-agent': ROBOT })
      await visit('/no/such/page', { 'user-agent': FIREFOX })
      await visit('/robots.txt', { 'user-agent': FIREFOX })
      // the empty name of a host that nobody serves here, and one that is served under another
      await platform.visit(hostname, '/', { 'user-agent': SAFARI, host: 'forged.example.org' }).catch(() => null)
      const found = await eventually(
        'the visits to be counted',
        async () => {
          const { json } = await metrics()
          return json.visits >= 4 && json.robots >= 1 && json
        },
        BEHIND_MS,
      )
      assert.equal([found.visits, found.visitors, found.robots], [4, 2, 1])
      assert.equal(found.pages, [{ path: '/', visits: 4 }])
      assert.equal(found.referrers, [{ host: 'news.example.org', visits: 1 }])
      assert.is(found.days.length, 30)
      assert.equal(found.days.at(-1), { date: found.to, visits: 4, visitors: 2, robots: 1 })
    },
    LONG,
  )

  t('leave on the host no address, no secret of a link, and nothing of what nobody serves', () => {
    const text = written()
    for (const word of ['127.0.0.1', 'secret', 'pass@', '8443', 'forged', 'Cookie', 'remote_ip'])
      assert.is(text.includes(word), false, word)
    const visitors = new Set([...text.matchAll(/"visitor":"([^"]*)"/g)].map(([, one]) => one))
    for (const one of visitors) assert.match(String(one), /^[0-9a-f]{8}$/)
    assert.is(visitors.has(undefined), false)
  })

  t(
    'are lines of bounded length, whatever is sent',
    async () => {
      const before = written().length
      await visit(`/${'p'.repeat(6_000)}`, {
        'user-agent': 'u'.repeat(6_000),
        referer: `https://${'r'.repeat(6_000)}/`,
      })
      await visit('/', { 'user-agent': SAFARI, referer: `javascript:${'x'.repeat(6_000)}` })
      const added = await eventually('the lines to be written', async () => {
        const text = written().slice(before)
        return text.split('\n').length > 2 && text
      })
      for (const line of added.split('\n')) assert.ok(line.length < 2_000, `${line.length}`)
      assert.is(added.includes('javascript'), false)
    },
    LONG,
  )

  t(
    'go on being counted when the proxy comes back without anything that it was told',
    async () => {
      const { json } = await metrics()
      await platform.host.restartCaddy()
      await eventually(
        'the site to be back',
        async () => (await visit('/', { 'user-agent': FIREFOX }).catch(() => null))?.status === 200,
        90_000,
      )
      await eventually('it to be counted', async () => (await metrics()).json.visits > json.visits, BEHIND_MS)
    },
    { timeoutMs: 180_000 },
  )

  t('are shown to the owner alone, for days that are days, and as a page to a browser', async () => {
    const other = await platform.token('other')
    assert.is((await metrics(other)).status, 404)
    assert.is((await metrics(null)).status, 401)
    assert.is((await metrics(undefined, '?from=2026-02-30')).json.code, 'INVALID_FIELD')
    assert.is((await metrics(undefined, '?from=2020-01-01')).json.code, 'INVALID_FIELD')
    assert.is((await metrics(undefined, '?day=1')).json.code, 'UNKNOWN_PARAMETER')
    assert.equal((await metrics(undefined, '?from=2026-01-01&to=2026-01-02')).json.days.length, 2)
    const page = await fetch(`${platform.baseUrl}/api/website/${id}/metrics`, {
      headers: { accept: 'text/html', authorization: `Bearer ${platform.owner}` },
    })
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    const text = await page.text()
    assert.match(text, /<svg class="bars"/)
    assert.match(text, /news\.example\.org/)
    const health = await call(platform.baseUrl, platform.owner, 'GET', `/api/website/${id}`)
    assert.is(health.json.site.status, 'live')
  })
})
