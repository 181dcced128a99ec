import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json } from '../../support/stage/invoicing.ts'
import { approve, publish, type SitePlatform, siteContent, startSitePlatform } from '../../support/stage/publishing.ts'

/** A partner's base domain on a real host, under real TLS, with a real DNS. */

const LONG = { timeoutMs: 180_000 }
const BASE = 'partner-shops.test'

spec('a base domain of a partner', (t) => {
  let platform: SitePlatform
  let other: string
  let mine: string
  const base = (method: string, path = '', body?: unknown, token?: string) =>
    platform.as(method, `/api/website/base-domain${path}`, body, token)
  const get = async (id: string, token?: string): Promise<Json> =>
    (await platform.as('GET', `/api/website/${id}`, undefined, token)).json.site
  const make = async (title: string, token: string): Promise<string> => {
    const content = siteContent({ hero: { title, lede: 'Below a name of a partner.' } })
    const made = await platform.as('POST', '/api/website/generate', { content }, token)
    assert.is(made.status, 201, made.text)
    return made.json.site.id
  }
  const advance = async (by: string) => {
    const moved = await call(platform.baseUrl, platform.admin, 'POST', '/api/dev/clock', { advance: by })
    assert.is(moved.status, 200, moved.text)
  }
  const seen = async (hostname: string): Promise<string> => {
    const page = await platform.visit(hostname).catch(() => null)
    if (page === null) return 'nothing'
    return page.status === 200 && /Shop of the partner/.test(page.text) ? 'mine' : String(page.status)
  }

  t.before(async () => {
    platform = await startSitePlatform({ BOTTEGA_DEV_CLOCK: 'on' })
    other = await platform.token('other')
    mine = await make('Shop of the partner', platform.owner)
    await platform.as('PUT', `/api/website/${mine}/domain`, { subdomain: 'shop' })
    await approve(platform, mine)
    await publish(platform, mine)
  })
  t.after(() => platform.end())

  t(
    'is verified once the text and the wildcard are there, and says what it saw',
    async () => {
      for (const token of [other, platform.owner]) {
        const claimed = await base('POST', '', { domain: BASE }, token)
        assert.equal(
          [claimed.status, claimed.json.records.map(({ type, name }: Json) => [type, name])],
          [
            200,
            [
              ['TXT', `_bottega-challenge.${BASE}`],
              ['A', `*.${BASE}`],
            ],
          ],
          claimed.text,
        )
      }
      const { records } = (await base('GET')).json.base_domain
      assert.is(records[1].value, platform.host.spec.address)
      const before = await base('POST', '/verify', {})
      assert.equal([before.json.verified, before.json.checks.map(({ ok }: Json) => ok)], [false, [false, true]])
      // Every name of this DNS leads to the host; for a while none does.
      await platform.dns('set-txt', { host: `${records[0].name}.`, value: records[0].value })
      await platform.dns('set-default-ipv4', { ip: '192.0.2.7' })
      const elsewhere = await base('POST', '/verify', {})
      assert.equal([elsewhere.json.verified, elsewhere.json.checks[1].seen], [false, ['192.0.2.7']])
      assert.is((await get(mine)).domain, `shop.${platform.host.spec.baseDomain}`)
      await platform.dns('set-default-ipv4', { ip: platform.host.spec.address })
      const verified = await base('POST', '/verify', {})
      assert.equal([verified.status, verified.json.verified], [200, true], verified.text)
      assert.match(verified.json.base_domain.next, /with their next publish/)
      const taken = await base('POST', '', { domain: `eu.${BASE}` }, other)
      assert.equal([taken.status, taken.json.code], [409, 'DOMAIN_TAKEN'])
    },
    LONG,
  )

  t(
    'has its sites below it with their next publish, with a certificate of their own, and nobody else',
    async () => {
      const site = await eventually('the new name', async () => {
        const now = await get(mine)
        return now.domain === `shop.${BASE}` && now.domains.some((one: Json) => one.name === `shop.${BASE}`) && now
      })
      const named = site.domains.find((one: Json) => one.name === `shop.${BASE}`)
      assert.equal([named.state, named.proof, named.served], ['verified', 'base', true])
      assert.equal([site.url.includes(`shop.${platform.host.spec.baseDomain}`), site.status], [true, 'live'])
      assert.equal(
        [await seen(`shop.${platform.host.spec.baseDomain}`), await seen(`shop.${BASE}`)],
        ['mine', 'nothing'],
      )
      await publish(platform, mine)
      await eventually('the site below the partner', async () => (await seen(`shop.${BASE}`)) === 'mine', 90_000)
      assert.is(
        JSON.parse(await platform.kubectl(['get', 'wsite', mine, '-o', 'json'])).status.hostname,
        `shop.${BASE}`,
      )
      // Another account asks for a name below it, and is not served, whatever it sets.
      const theirs = await make('Somebody else', other)
      const put = await platform.as('PUT', `/api/website/${theirs}/domain`, { domain: `their.${BASE}` }, other)
      const own = put.json.site.domains.find((one: Json) => one.name === `their.${BASE}`)
      await platform.dns('set-txt', { host: `${own.records[0].name}.`, value: own.records[0].value })
      await platform.as('PUT', `/api/website/${theirs}/domain`, { domain: `their.${BASE}` }, other)
      const refused = await eventually(
        'the reason',
        async () => {
          const now = (await get(theirs, other)).domains.find((one: Json) => one.name === `their.${BASE}`)
          return now.code === 'DOMAIN_TAKEN' && now
        },
        60_000,
      )
      assert.equal([refused.state, refused.served], ['asked', false])
      assert.is(await seen(`their.${BASE}`), 'nothing')
      assert.is((await base('DELETE')).json.code, 'SITE_LIVE')
    },
    LONG,
  )

  t(
    'serves for three days after its record is gone, then nothing below it, and all again once it is back',
    async () => {
      const { records } = (await base('GET')).json.base_domain
      await platform.dns('clear-txt', { host: `${records[0].name}.` })
      await advance('P1DT1H')
      await eventually('it to be missing', async () => (await base('GET')).json.base_domain.state === 'missing', 60_000)
      assert.is(await seen(`shop.${BASE}`), 'mine')
      await advance('P3D')
      await eventually('it to lapse', async () => (await base('GET')).json.base_domain.state === 'lapsed', 60_000)
      await eventually('the end', async () => (await seen(`shop.${BASE}`)) === 'nothing', 60_000)
      const lapsed = await eventually('the word of it', async () => {
        const now = await get(mine)
        return now.stalled?.code === 'DOMAIN_LAPSED' && now
      })
      assert.match(lapsed.stalled.detail, new RegExp(`TXT _bottega-challenge\\.${BASE}`))
      await platform.dns('set-txt', { host: `${records[0].name}.`, value: records[0].value })
      const back = await base('POST', '/verify', {})
      assert.is(back.json.verified, true, back.text)
      await eventually('the site again', async () => (await seen(`shop.${BASE}`)) === 'mine', 90_000)
    },
    LONG,
  )
})
