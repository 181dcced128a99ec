import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import {
  approve,
  makeSite,
  type Page,
  proveDomain,
  publish,
  type SitePlatform,
  siteContent,
  startSitePlatform,
} from '../../support/stage/publishing.ts'

/** Names that lead to a site, on a real host, under real TLS: with and without www, and from before. */

const LONG = { timeoutMs: 180_000 }
const APEX = 'leading-shop.test'
const WWW = `www.${APEX}`
const OLD = 'old.leading-shop.test'

spec('names that lead to a site', (t) => {
  let platform: SitePlatform
  let other: string
  let id: string
  const get = async (): Promise<Json> => (await platform.as('GET', `/api/website/${id}`)).json.site
  const setDomain = (body: object, site = id, token?: string) =>
    platform.as('PUT', `/api/website/${site}/domain`, body, token)
  const visit = (hostname: string, path = '/'): Promise<Page | null> => platform.visit(hostname, path).catch(() => null)
  const leads = async (hostname: string, path = '/'): Promise<string> => {
    const page = await visit(hostname, path)
    return page === null ? 'nothing' : `${page.status} ${page.headers.location ?? ''}`.trim()
  }
  const at = (hostname: string, path = '/') => `308 https://${hostname}:${platform.host.httpsPort}${path}`

  t.before(async () => {
    platform = await startSitePlatform()
    other = await platform.token('other')
    const { meta, ...rest } = siteContent()
    const redirects = [{ from: '/old-shop', to: '/about/' }]
    ;({ id } = await makeSite(platform, { content: { ...rest, meta: { ...meta, redirects } } }))
    await setDomain({ domain: APEX })
    await approve(platform, id)
  })
  t.after(() => platform.end())

  t(
    'the domain with www leads to the one without, once the one text is there, and not before',
    async () => {
      const site = await eventually('both names', async () => {
        const now = await get()
        return now.domains.length === 2 && now
      })
      assert.equal(
        site.domains.map(({ name, state, served }: Json) => [name, state, served]),
        [
          [APEX, 'asked', false],
          [WWW, 'asked', false],
        ],
      )
      assert.is(await leads(WWW), 'nothing')
      await proveDomain(platform, id)
      await publish(platform, id)
      await eventually('www to lead there', async () => (await leads(WWW, '/a?b=c')) === at(APEX, '/a?b=c'), 90_000)
      assert.is((await visit(APEX))?.status, 200)
      // What the owner lists, and what is approved with it.
      assert.equal([await leads(APEX, '/old-shop'), await leads(APEX, '/old-shop/')], ['308 /about/', '308 /about/'])
      assert.is((await visit(APEX, '/redirects.json'))?.status, 200)
      // The view and the status follow the route.
      const redirects = await eventually('the view to say so', async () => {
        const now = await get()
        return now.redirects.length > 0 && now.redirects
      })
      assert.equal(
        redirects.map(({ hostname, kind, to }: Json) => [hostname, kind, to]),
        [[WWW, 'www', APEX]],
      )
      const told = await eventually('the status to say so', async () => {
        const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
        return status.redirects?.length > 0 && status.redirects
      })
      assert.equal(told, [WWW])
    },
    LONG,
  )

  t(
    'another account has no part of it by asking, whatever text it sets below www',
    async () => {
      const content = { meta: { company_name: 'Other', lang: 'en' }, hero: { title: 'Other' } }
      const theirs = (await platform.as('POST', '/api/website/generate', { content }, other)).json.site
      const put = await setDomain({ domain: WWW }, theirs.id, other)
      const { records } = put.json.site.domains.find(({ name }: Json) => name === WWW)
      await platform.dns('set-txt', { host: `${records[0].name}.`, value: records[0].value })
      await setDomain({ domain: WWW }, theirs.id, other)
      await eventually(
        'the refusal',
        async () => {
          const { site } = (await platform.as('GET', `/api/website/${theirs.id}`, undefined, other)).json
          return site.domains.find(({ name }: Json) => name === WWW)?.code === 'DOMAIN_TAKEN'
        },
        60_000,
      )
      assert.is(await leads(WWW), at(APEX))
    },
    LONG,
  )

  t(
    'a site that moves leads there from where it was, until its owner ends that',
    async () => {
      await setDomain({ domain: OLD })
      await proveDomain(platform, id)
      await publish(platform, id)
      await eventually('the apex to lead on', async () => (await leads(APEX, '/x')) === at(OLD, '/x'), 90_000)
      const [redirect] = (await get()).redirects.filter(({ hostname }: Json) => hostname === APEX)
      assert.equal([redirect.kind, redirect.to], ['moved', OLD])
      assert.ok(Date.parse(redirect.until) > Date.now() + 80 * 86_400_000)
      const ended = await platform.as('DELETE', `/api/website/${id}/redirects/${APEX}`)
      assert.is(ended.status, 200, ended.text)
      await eventually('the end of it', async () => (await leads(APEX)) === 'nothing', 60_000)
      assert.is((await visit(OLD))?.status, 200)
      assert.equal((await get()).redirects, [])
      // What only led there gives way to another site of the account at once.
      const next = await makeSite(platform)
      assert.is((await setDomain({ domain: APEX }, next.id)).status, 200)
    },
    LONG,
  )
})
