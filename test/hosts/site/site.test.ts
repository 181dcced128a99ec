import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import {
  approve,
  makeSite,
  proveDomain,
  publish,
  type SitePlatform,
  siteContent,
  startSitePlatform,
} from '../../support/stage/publishing.ts'

/** A site from its content to a visitor, on a real host under real TLS. */

const LONG = { timeoutMs: 120_000 }

spec('a site on a real host', (t) => {
  let platform: SitePlatform
  const nameOf = (label: string) => `${label}.${platform.host.baseDomain}`
  const get = async (id: string) => (await platform.as('GET', `/api/website/${id}`)).json.site
  const act = (id: string, action: string, body: object = {}) =>
    platform.as('POST', `/api/website/${id}/${action}`, body)
  const setDomain = (id: string, body: object) => platform.as('PUT', `/api/website/${id}/domain`, body)
  const retitled = (title: string) => ({ content: { hero: { title } } })
  const eventsOf = async (id: string): Promise<string[]> => {
    const text = "select payload ->> 'type' as type from outbox where channel = 'event' and resource = $1 order by id"
    return (await query(platform.database.url, text, [id])).map(({ type }) => String(type))
  }
  /** What a browser gets before a page, and with it: over HTTP/2. */
  const hinted = async (hostname: string) => {
    const { httpsPort, acme } = platform.host
    const session = connect(`https://127.0.0.1:${httpsPort}`, { servername: hostname, ca: readFileSync(acme.caCert) })
    const asked = session.request({ ':path': '/', ':authority': hostname, 'accept-encoding': 'gzip' })
    const told: { status: unknown; link: unknown; encoding: unknown }[] = []
    const tell = (headers: IncomingHttpHeaders & IncomingHttpStatusHeader) =>
      told.push({ status: headers[':status'], link: headers.link, encoding: headers['content-encoding'] })
    asked.on('headers', tell).on('response', tell).resume()
    await once(asked, 'end')
    session.close()
    return told
  }
  const liveSite = async (label: string) => {
    const { id } = await makeSite(platform)
    await setDomain(id, { subdomain: label })
    await approve(platform, id)
    return publish(platform, id)
  }

  t.before(async () => {
    platform = await startSitePlatform()
  })
  t.after(() => platform.end())

  t(
    'goes live under the base domain once it is approved, and a visitor gets what the reviewer saw',
    async () => {
      const { id } = await makeSite(platform, { external_ref: 'first', metadata: { deal: 7 } })
      // Approved before it has a name: the name is no reason to look at all of it again.
      await approve(platform, id)
      const early = await act(id, 'publish')
      assert.is(early.json.code, 'NO_DOMAIN')
      const put = await setDomain(id, { subdomain: 'first' })
      assert.is(put.json.site.domain, nameOf('first'))
      assert.is(put.json.site.review_state, 'approved')

      const live = await publish(platform, id)
      assert.equal([live.status, live.release, live.pending_status], ['live', 1, null])
      assert.is(live.url, `https://${nameOf('first')}:${platform.host.httpsPort}/`)
      const page = await platform.visit(nameOf('first'))
      assert.is(page.status, 200)
      assert.match(page.text, /Stoneware for every day/)
      assert.match(page.text, new RegExp(`<link rel="canonical" href="https://${nameOf('first')}/">`))
      assert.is(await (await fetch(live.preview_url)).text(), page.text)
      const [early103, answer] = await hinted(nameOf('first'))
      const sheet = /<link rel="stylesheet" href="(assets\/[0-9a-f]+\.css)">/.exec(page.text)?.[1]
      assert.equal(early103, { status: 103, link: `</${sheet}>; rel=preload; as=style`, encoding: undefined })
      assert.equal([answer?.status, answer?.encoding, page.headers.link], [200, 'gzip', undefined])
      assert.equal(await eventsOf(id), [
        'website.generated',
        'website.submitted',
        'website.approved',
        'website.published',
      ])
      const text = "select payload from outbox where resource = $1 and purpose like 'event:%switch:1'"
      const [published] = await query(platform.database.url, text, [id])
      const data = (published?.payload as { data?: unknown } | undefined)?.data
      assert.equal(data, {
        site: { id, external_ref: 'first', metadata: { deal: 7 }, status: 'live', url: live.url },
      })
    },
    LONG,
  )

  t(
    'is served with a strict policy, its own page for what is not found, compressed, and assets that never change',
    async () => {
      await liveSite('headers')
      const hostname = nameOf('headers')
      const page = await platform.visit(hostname)
      assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
      assert.is(page.headers['content-type'], 'text/html; charset=utf-8')
      assert.is(page.headers['x-content-type-options'], 'nosniff')
      const missing = await platform.visit(hostname, '/no/such/page')
      assert.is(missing.status, 404)
      assert.match(missing.text, /Voss Ceramics/)
      assert.match(String(missing.headers['content-security-policy']), /style-src 'self' 'sha256-/)
      const sheet = /href="(assets\/[0-9a-f]+\.css)"/.exec(page.text)?.[1]
      const css = await platform.visit(hostname, `/${sheet}`, { 'accept-encoding': 'gzip' })
      assert.equal(
        [css.status, css.headers['content-encoding'], css.headers['cache-control']],
        [200, 'gzip', 'public, max-age=31536000, immutable'],
      )
      for (const path of ['/', `/${sheet}`]) {
        const plain = await platform.visit(hostname, path)
        for (const [encoding, open] of Object.entries({ zstd: zstdDecompressSync, gzip: gunzipSync })) {
          const came = await platform.visit(hostname, path, { 'accept-encoding': encoding })
          assert.equal([came.status, came.headers['content-encoding']], [200, encoding], `${encoding} of ${path}`)
          assert.ok(came.bytes.length < plain.bytes.length, `${encoding} of ${path} is smaller`)
          assert.ok(open(came.bytes).equals(plain.bytes), `${encoding} of ${path} is what comes plain`)
        }
      }
      const font = /href="(assets\/[0-9a-f]+\.woff2)"/.exec(page.text)?.[1]
      assert.is((await platform.visit(hostname, `/${font}`)).headers['content-type'], 'font/woff2')
      assert.is((await platform.visit(hostname, '/robots.txt')).status, 200)
      assert.match((await platform.visit(hostname, '/sitemap.xml')).text, new RegExp(`https://${hostname}/`))
    },
    LONG,
  )

  t(
    'goes live in two languages, each with a page of its own for what is not found, and is seen to be right',
    async () => {
      const translations = [{ lang: 'es', hero: { title: 'Gres para cada día' } }]
      const { id } = await makeSite(platform, { content: siteContent({ translations }) })
      await setDomain(id, { subdomain: 'both' })
      await approve(platform, id)
      await publish(platform, id)
      const hostname = nameOf('both')
      assert.match((await platform.visit(hostname, '/es/')).text, /Gres para cada día/)
      const missing = await Promise.all(
        ['/nothing', '/es/nothing', '/404.html', '/es/404.html'].map((path) => platform.visit(hostname, path)),
      )
      assert.equal(
        missing.map(({ status, text }) => [status, /<html lang="([a-z]+)"/.exec(text)?.[1]]),
        [
          [404, 'en'],
          [404, 'es'],
          [404, 'en'],
          [404, 'es'],
        ],
      )
      const stored = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
      const ready = stored.status.conditions.find(({ type }: { type: string }) => type === 'Ready')
      assert.equal([ready.status, ready.reason], ['True', 'Live'])
    },
    LONG,
  )

  t(
    'stays as it was approved when one byte changes, over REST and over kubectl, until that is approved too',
    async () => {
      const { id } = await liveSite('edited')
      const before = (await platform.visit(nameOf('edited'))).text
      const updated = await act(id, 'update', retitled('Stoneware for every daz'))
      assert.equal([updated.status, updated.json.site.status, updated.json.site.pending_status], [200, 'live', 'draft'])
      const refused = await act(id, 'publish')
      assert.equal([refused.status, refused.json.code], [409, 'NOT_APPROVED'])
      assert.is((await platform.visit(nameOf('edited'))).text, before)

      // By kubectl: what is rendered now is wanted live.
      const unpin = '{"spec":{"digest":null,"content":{"hero":{"title":"Stoneware for every dax"}}}}'
      await platform.kubectl(['patch', 'wsite', id, '--type=merge', '-p', unpin])
      const stalled = await eventually('the refusal', async () => {
        const { conditions } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json'])).status
        return conditions.find(
          (one: { type: string; status: string }) => one.type === 'Stalled' && one.status === 'True',
        )
      })
      assert.match(stalled.message, /^NOT_APPROVED: /)
      assert.is(stalled.reason, 'NotApproved')
      assert.is((await platform.visit(nameOf('edited'))).text, before)

      await approve(platform, id)
      const live = await eventually('the approved edit', async () => {
        const site = await get(id)
        return site.live_digest === site.digest && site
      })
      assert.is(live.release, 2)
      assert.match((await platform.visit(nameOf('edited'))).text, /every dax/)
    },
    LONG,
  )

  t(
    'is taken down and put back without an upload or a place under the cap, and any kept release with it',
    async () => {
      const { id } = await liveSite('back')
      await act(id, 'update', retitled('Second'))
      await approve(platform, id)
      const second = await publish(platform, id)
      assert.equal(
        second.releases.map((one: { number: number; state: string }) => [one.number, one.state]),
        [
          [2, 'live'],
          [1, 'kept'],
        ],
      )
      const quota = async () =>
        (await platform.as('GET', '/api/account')).json.account.quotas.publishes_per_day.used as number
      const used = await quota()

      const down = await act(id, 'unpublish')
      assert.equal([down.status, down.json.site.status, down.json.site.url], [200, 'unpublished', null])
      assert.is((await platform.visit(nameOf('back'))).status, 410)
      const first = await act(id, 'republish', { release: 1 })
      assert.equal([first.status, first.json.site.status, first.json.site.release], [200, 'live', 1])
      assert.match((await platform.visit(nameOf('back'))).text, /Stoneware for every day/)
      assert.is((await act(id, 'publish')).json.site.release, 2)
      assert.match((await platform.visit(nameOf('back'))).text, /Second/)
      const again = await act(id, 'publish')
      assert.equal([again.status, again.json.site.release], [200, 2])
      assert.is(await quota(), used, 'nothing of this counted')
      assert.is((await act(id, 'republish', { release: 9 })).status, 404)
      assert.equal((await eventsOf(id)).slice(-4), [
        'website.published',
        'website.unpublished',
        'website.published',
        'website.published',
      ])
    },
    LONG,
  )

  t(
    'lives under a full domain of its own, and moves there with a publish',
    async () => {
      const { id } = await liveSite('moving')
      const put = await setDomain(id, { domain: 'www.moving-shop.test' })
      assert.equal([put.status, put.json.site.status, put.json.site.domain], [200, 'live', 'www.moving-shop.test'])
      const early = await act(id, 'publish')
      assert.equal([early.status, early.json.code], [409, 'DOMAIN_UNPROVEN'])
      assert.match(early.json.detail, /TXT _bottega-challenge\.www\.moving-shop\.test bottega-verification=/)
      await proveDomain(platform, id)
      assert.is((await platform.visit(nameOf('moving'))).status, 200, 'where it was, until it is published')
      const live = await publish(platform, id)
      assert.is(live.url, `https://www.moving-shop.test:${platform.host.httpsPort}/`)
      assert.match(
        (await platform.visit('www.moving-shop.test')).text,
        /canonical" href="https:\/\/www\.moving-shop\.test/,
      )
      const { id: other } = await makeSite(platform)
      const taken = await setDomain(other, { domain: 'www.moving-shop.test' })
      assert.equal([taken.status, taken.json.code], [409, 'DOMAIN_TAKEN'])
      const freed = await setDomain(other, { subdomain: 'moving' })
      assert.is(freed.status, 200, 'the name that was left is free for its account')
    },
    LONG,
  )

  t(
    'tells before a publish what it would do, and does nothing',
    async () => {
      const { id } = await liveSite('planned')
      await act(id, 'update', retitled('Planned'))
      const draft = (await act(id, 'publish', { dry_run: true })).json.plan
      assert.equal([draft.ok, draft.problems[0].code], [false, 'NOT_APPROVED'])
      await approve(platform, id)
      const { plan } = (await act(id, 'publish', { dry_run: true })).json
      assert.equal([plan.ok, plan.unchanged, plan.counts, plan.domain], [true, false, true, nameOf('planned')])
      assert.ok(plan.files.changed.includes('index.html'))
      assert.ok(plan.bytes > 0 && plan.quota.left > 0)
      assert.is((await get(id)).release, 1)
      assert.match((await platform.visit(nameOf('planned'))).text, /Stoneware for every day/)
    },
    LONG,
  )

  t(
    'is deleted only when it is not live; then its name, its place and its files are free',
    async () => {
      const { id } = await liveSite('gone')
      const refused = await platform.as('DELETE', `/api/website/${id}`)
      assert.equal([refused.status, refused.json.code], [409, 'SITE_LIVE'])
      await act(id, 'unpublish')
      assert.is((await platform.as('DELETE', `/api/website/${id}`)).status, 204)
      assert.is((await platform.as('GET', `/api/website/${id}`)).status, 404)
      const { id: next } = await makeSite(platform)
      assert.is((await setDomain(next, { subdomain: 'gone' })).status, 200)
    },
    LONG,
  )

  t(
    'waits for its certificate in words, and goes live by itself when the name leads to the host',
    async () => {
      const { id } = await makeSite(platform)
      await setDomain(id, { domain: 'late-shop.test' })
      await approve(platform, id)
      await proveDomain(platform, id)
      const { dns } = platform
      await dns('set-servfail', { host: 'late-shop.test' })
      const asked = await platform.as('POST', `/api/website/${id}/publish`, {})
      assert.is(asked.status, 202)
      assert.is((await get(id)).status, 'publishing')
      const object = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
      const ready = object.status.conditions.find((one: { type: string }) => one.type === 'Ready')
      assert.equal([ready.status, ready.reason], ['False', 'Certificate'])
      assert.match(ready.message, /late-shop\.test has no certificate/)
      // Whoever waits for a name keeps nobody else waiting.
      await liveSite('meanwhile')
      await act(id, 'unpublish')
      assert.is((await get(id)).status, 'approved')

      assert.is((await platform.as('POST', `/api/website/${id}/publish`, {})).status, 202)
      assert.is((await get(id)).status, 'publishing')
      await dns('clear-servfail', { host: 'late-shop.test' })
      // Nobody asks again: the proxy tries once more after a minute.
      await eventually('the site is live by itself', async () => (await get(id)).status === 'live', 150_000)
    },
    { timeoutMs: 300_000 },
  )
})
