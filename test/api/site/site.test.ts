import { TEMPLATES } from '../../../crds/site/content/meta.ts'
import { paint } from '../../support/builders/sites/content.ts'
import { type NamesServer, type NamesZone, startNamesServer } from '../../support/doubles/namesserver.ts'
import { openings } from '../../support/judges/policy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, makeMinter } from '../../support/stage/callers.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

/** Websites over REST, as far as no host is needed. */

spec('websites over REST', (t) => {
  let platform: Platform
  let names: NamesServer
  const zone: NamesZone = {}
  let reviewer: string
  let other: string
  const as = (token: string | null, method: string, path: string, body?: unknown): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body)
  const owner = (method: string, path: string, body?: unknown) => as(platform.owner, method, path, body)
  const generate = (body: object) => owner('POST', '/api/website/generate', body)
  const made = async (body: object = {}): Promise<Json> => {
    const reply = await generate({ content: siteContent(), ...body })
    assert.is(reply.status, 201, reply.text)
    return reply.json.site
  }
  const act = (id: string, action: string, body: object = {}, token = platform.owner) =>
    as(token, 'POST', `/api/website/${id}/${action}`, body)
  const sites = async () => (await owner('GET', '/api/website')).json.total as number

  t.before(async () => {
    names = await startNamesServer(zone)
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000', BOTTEGA_DNS_SERVERS: names.address } })
    reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    other = await platform.token('other')
  })
  t.after(async () => {
    await platform.end()
    await names.close()
  })

  const content = siteContent()
  const pages = (list: object[]) => ({ content: siteContent({ meta: { company_name: 'V', pages: list } }) })
  const BAD: { say: string; body: object; code: string; pointer?: string; says?: RegExp }[] = [
    { say: 'no content', body: {}, code: 'BAD_SOURCE', pointer: '/content' },
    {
      say: 'a misspelt section',
      body: { content: { ...content, heroe: {} } },
      code: 'UNKNOWN_FIELD',
      pointer: '/content/heroe',
    },
    { say: 'a field that REST hides', body: { content, publish: true }, code: 'UNKNOWN_FIELD', pointer: '/publish' },
    {
      say: 'a preset that there is not',
      body: { content, preset: 'restorant' },
      code: 'BAD_PRESET',
      pointer: '/preset',
      says: /must be one of agent, electronics, .*; did you mean restaurant\?/,
    },
    {
      say: 'a video of another house',
      body: { content: siteContent({ video: { url: 'https://videos.example/1' } }) },
      code: 'BAD_VIDEO_URL',
      pointer: '/content/video/url',
    },
    {
      say: 'hours that never end',
      body: { content: siteContent({ hours: { weekly: [{ days: ['mon'], opens: '09:00' }] } }) },
      code: 'INVALID_FIELD',
      pointer: '/content/hours/weekly/0/closes',
    },
    { say: 'a reference with a space', body: { content, external_ref: 'a b' }, code: 'BAD_EXTERNAL_REF' },
    { say: 'metadata that is no scalar', body: { content, metadata: { a: {} } }, code: 'BAD_METADATA' },
    {
      say: 'a language of its own',
      body: { content: siteContent({ meta: { company_name: 'V', lang: 'fr' } }) },
      code: 'BAD_LANG',
    },
    {
      say: 'an order with hero last',
      body: { content: siteContent({ meta: { company_name: 'V', section_order: ['products', 'hero'] } }) },
      code: 'BAD_SECTION_ORDER',
      pointer: '/content/meta/section_order/1',
    },
    { say: 'pages without an index', body: pages([{ slug: 'a', title: 'A', sections: ['hero'] }]), code: 'BAD_PAGES' },
    {
      say: 'an asset that is no picture',
      body: { content, assets: { logo: Buffer.from('<svg onload=alert(1)>').toString('base64') } },
      code: 'INVALID_FIELD',
      pointer: '/assets/logo',
    },
    {
      say: 'an asset that is not base64',
      body: { content, assets: { logo: '%%%' } },
      code: 'INVALID_FIELD',
      pointer: '/assets/logo',
    },
    {
      say: 'a picture that was not sent',
      body: { content: siteContent({ products: [{ name: 'B', image: 'asset:nope' }] }) },
      code: 'INVALID_FIELD',
      pointer: '/content/products/0/image',
    },
    {
      say: 'a link that runs a script',
      body: { content: siteContent({ products: [{ name: 'B', link: 'javascript:alert(1)' }] }) },
      code: 'INVALID_FIELD',
      pointer: '/content/products/0/link',
    },
  ]
  for (const { say, body, code, pointer, says } of BAD) {
    t(`refuses ${say}, and nothing is stored`, async () => {
      const before = await sites()
      const reply = await generate(body)
      assert.equal([reply.status, reply.json.code], [400, code], reply.text)
      if (pointer !== undefined) assert.is(reply.json.errors[0].pointer, pointer)
      if (says !== undefined) assert.match(reply.json.errors[0].detail, says)
      assert.is(await sites(), before)
    })
  }

  t('answers a creation with the site, and a repeat of its reference with the same one', async () => {
    const first = await generate({ content, external_ref: 'ref/1', metadata: { deal: 'x' } })
    assert.is(first.status, 201, first.text)
    const { site } = first.json
    assert.equal([first.json.replayed, site.status, site.template, site.layout], [false, 'draft', 'studio', 'classic'])
    assert.equal([site.external_ref, site.metadata, site.url, site.review], ['ref/1', { deal: 'x' }, null, null])
    assert.is(first.headers.get('location'), `/api/website/${site.id}`)
    const again = await generate({ content: siteContent({ hero: { title: 'Other' } }), external_ref: 'ref/1' })
    assert.equal([again.status, again.json.replayed, again.json.site.id], [200, true, site.id])
    assert.equal(again.json.site.content.hero, site.content.hero)
    const read = await owner('GET', `/api/website/${site.id}`)
    assert.equal(read.json.site, again.json.site)
    const listed = await owner('GET', '/api/website?external_ref=ref%2F1')
    assert.equal([listed.json.total, listed.json.sites[0].id, 'content' in listed.json.sites[0]], [1, site.id, false])
  })

  t(
    'takes pictures in, shows them at several widths, and refuses broken ones whole',
    async () => {
      const picture = (await paint(3, 700, 500)).toString('base64')
      const products = [{ name: 'Bowl', image: 'asset:bowl', price: '48 EUR' }]
      const gallery = [{ image: `data:image/jpeg;base64,${picture}`, alt: 'A bowl' }]
      const site = await made({ content: siteContent({ products, gallery }), assets: { bowl: picture, logo: picture } })
      await eventually(
        'all widths',
        async () => (await owner('GET', `/api/website/${site.id}`)).json.site.digest !== null,
      )
      const page = await (await fetch(site.preview_url)).text()
      const source = /srcset="(assets\/[0-9a-f]+\.avif) 320w/.exec(page)?.[1]
      const image = await fetch(`${site.preview_url}${source}`)
      assert.equal([image.status, image.headers.get('content-type')], [200, 'image/avif'])
      assert.match(site.content.gallery[0].image, /^asset:data-[0-9a-f]+$/)

      const before = await sites()
      const broken = Buffer.concat([Buffer.from(picture, 'base64').subarray(0, 400), Buffer.from('nonsense')])
      const refused = await generate({ content, external_ref: 'broken', assets: { logo: broken.toString('base64') } })
      assert.equal([refused.status, refused.json.code], [400, 'INVALID_FIELD'], refused.text)
      assert.is(refused.json.errors[0].pointer, '/assets/logo')
      assert.is(await sites(), before)
      const corrected = await generate({ content, external_ref: 'broken', assets: { logo: picture } })
      assert.is(corrected.status, 201, 'its reference is free')
    },
    { timeoutMs: 90_000 },
  )

  t('shows a preview that nobody finds, nobody indexes, and in which nothing runs', async () => {
    const { preview_url: url } = await made()
    const page = await fetch(url)
    assert.is(page.status, 200)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'; script-src 'none'/)
    assert.match(policy, /; sandbox$/)
    assert.equal(openings(policy), [])
    assert.match(page.headers.get('x-robots-tag') ?? '', /noindex/)
    assert.is(page.headers.get('referrer-policy'), 'no-referrer')
    assert.match(page.headers.get('cache-control') ?? '', /private/)
    const icon = /<link rel="apple-touch-icon" href="(assets\/[0-9a-f]{16}\.png)">/.exec(await page.text())?.[1]
    const drawn = await fetch(`${url}${icon}`)
    assert.equal([drawn.status, drawn.headers.get('content-type')], [200, 'image/png'])
    const missing = await fetch(`${url}no/such/page`)
    assert.equal([missing.status, /Voss/.test(await missing.text())], [404, true])
    const forged = url.replace(/.(\/)$/, (_all: string, slash: string) => `A${slash}`)
    assert.is((await fetch(forged === url ? url.replace(/..\/$/, 'BB/') : forged)).status, 404)
    assert.is((await fetch(url.slice(0, -1))).status, 200)
  })

  t('updates section by section: what is given replaces, null removes, the rest stays', async () => {
    const { id, digest } = await made({ external_ref: 'upd' })
    const change = { hero: { title: 'New' }, products: null, meta: { layout: 'editorial' } }
    const reply = await act(id, 'update', { content: change, metadata: { a: 1 } })
    assert.is(reply.status, 200, reply.text)
    const { site } = reply.json
    assert.equal(site.content.hero, { title: 'New' })
    assert.not.ok('products' in site.content)
    assert.equal([site.content.meta.company_name, site.layout], ['Voss Ceramics', 'editorial'])
    assert.equal(site.content.contact, { email: 'hello@voss.test' })
    assert.ok(site.digest !== digest)
    assert.equal((await act(id, 'update', { external_ref: 'else' })).json.code, 'REF_IMMUTABLE')
    const same = await act(id, 'update', { content: { hero: { title: 'New' } } })
    assert.equal([same.status, same.json.site.version], [200, site.version])
  })

  t('expands a preset under the content, and tells which words are the preset’s', async () => {
    const site = await made({ preset: 'agent', content: siteContent({ hero: { title: 'Ana' }, products: undefined }) })
    assert.equal([site.preset, site.content.labels.sections.services], ['agent', 'What I help with'])
    const samples = (one: Json) => one.warnings.filter(({ code }: Json) => code === 'SAMPLE_TEXT')
    assert.equal([site.content.steps.length, samples(site)[0].pointer], [3, '/content/steps'])
    assert.match(await (await fetch(site.preview_url)).text(), /Talk to me/)
    const without = (await act(site.id, 'update', { content: { steps: null } })).json.site
    assert.equal([without.content.steps, without.content.meta.left_out, samples(without)], [undefined, ['steps'], []])
    const own = (await act(site.id, 'update', { content: { steps: [{ title: 'Ring' }] } })).json.site
    assert.equal([own.content.steps, own.content.meta.left_out], [[{ title: 'Ring' }], undefined])
    const catalogue = (await as(null, 'GET', '/templates')).json
    const found = catalogue.presets.find(({ id }: Json) => id === 'restaurant')
    assert.equal([catalogue.presets.length, found.labels.es.sections.products], [8, 'Carta'])
  })

  t('means the same by a preset that came by kubectl, in the version that it was made with', async () => {
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Site',
      metadata: { name: 'site-preset', namespace: platform.namespace.name },
      spec: { account: 'demo', preset: 'practice', content: { meta: { companyName: 'Ana', lang: 'es' }, hero: {} } },
    })
    const kept = JSON.parse(await platform.kubectl(['get', 'wsite', 'site-preset', '-o', 'json'])).spec
    assert.equal([kept.presetVersion, 'labels' in kept.content, 'layout' in kept.content.meta], [1, false, false])
    const site = await eventually('its rendering', async () => {
      const found = (await owner('GET', '/api/website/site-preset')).json.site
      return found?.digest ? found : undefined
    })
    assert.equal([site.preset, site.content.labels.sections.team, site.content.faq.length], ['practice', 'Equipo', 2])
    await platform.kubectl(['delete', 'wsite', 'site-preset'])
  })

  t('shows a second language under its own folder, with its own page for what is not found', async () => {
    const translations = [{ lang: 'es', hero: { title: 'Gres de diario' } }]
    const site = await made({ content: siteContent({ translations }) })
    const spanish = await (await fetch(`${site.preview_url}es/`)).text()
    assert.match(spanish, /<html lang="es">[\s\S]*<h1[^>]*>[\s\S]*Gres de diario/)
    const missing = await fetch(`${site.preview_url}es/no/such`)
    assert.equal([missing.status, /Esta página no está/.test(await missing.text())], [404, true])
    const first = await fetch(`${site.preview_url}no/such`)
    assert.equal([first.status, /This page is not here/.test(await first.text())], [404, true])
  })

  t('goes through review: frozen, changes requested, submitted again, approved; any change asks anew', async () => {
    const { id } = await made()
    assert.equal((await act(id, 'decision', { decision: 'approve' }, reviewer)).json.code, 'NOT_SUBMITTED')
    const submitted = (await act(id, 'submit-review')).json.site
    assert.equal([submitted.status, submitted.review.digest], ['in_review', submitted.digest])
    assert.is((await act(id, 'submit-review')).json.site.fact_seq, submitted.fact_seq, 'a repeat is the same')

    const owned = await act(id, 'decision', { decision: 'approve' })
    assert.equal([owned.status, owned.json.code], [403, 'ROLE_REQUIRED'])
    const note = 'The hero says nothing.'
    const refused = await act(id, 'decision', { decision: 'request_changes', note }, reviewer)
    assert.equal([refused.status, refused.json.site.status], [200, 'changes_requested'], refused.text)
    assert.equal([refused.json.site.review.decided_by, refused.json.site.review.note], ['reviewer', note])
    const twice = await act(id, 'decision', { decision: 'request_changes', note }, reviewer)
    assert.is(twice.status, 200, 'the same word again')
    const otherwise = await act(id, 'decision', { decision: 'approve' }, reviewer)
    assert.equal([otherwise.status, otherwise.json.code], [409, 'ALREADY_DECIDED'])

    assert.is((await act(id, 'submit-review')).json.site.status, 'in_review')
    assert.is((await act(id, 'decision', { decision: 'approve' }, reviewer)).json.site.status, 'approved')
    assert.equal((await act(id, 'publish')).json.code, 'NO_DOMAIN')
    const edited = await act(id, 'update', { content: { hero: { title: 'Stoneware for every daz' } } })
    assert.is(edited.json.site.status, 'draft')
    const publish = await act(id, 'publish')
    assert.equal([publish.status, publish.json.code], [409, 'NOT_APPROVED'])
    const back = await act(id, 'update', { content: { hero: content.hero } })
    assert.is(back.json.site.status, 'approved', 'approved bytes stay approved')
  })

  t('nobody decides on a site of their own', async () => {
    const own = await as(reviewer, 'POST', '/api/website/generate', { content })
    const { id } = own.json.site
    await act(id, 'submit-review', {}, reviewer)
    const reply = await act(id, 'decision', { decision: 'approve' }, reviewer)
    assert.equal([reply.status, reply.json.code], [403, 'SELF_APPROVAL'])
  })

  t('the reviewer has a page that records who opened and decided, and a GET records nothing', async () => {
    const { id } = await made()
    const { review, fact_seq: before } = (await act(id, 'submit-review')).json.site
    const minter = makeMinter(platform)
    const cookie = `bottega_session=${await minter.session('reviewer')}`
    const ownerCookie = `bottega_session=${await minter.session('demo')}`
    await minter.end()
    const open = (path: string, init: RequestInit = {}, held = cookie) =>
      fetch(`${review.url}${path}`, { redirect: 'manual', ...init, headers: { cookie: held, ...init.headers } })
    const anonymous = await fetch(review.url, { redirect: 'manual' })
    assert.equal([anonymous.status, anonymous.headers.get('location')?.startsWith('/signin')], [303, true])
    assert.is((await open('', {}, ownerCookie)).status, 403)
    const page = await (await open('')).text()
    assert.match(page, /Nobody has opened it yet/)
    assert.match(page, /all of it is new/)
    assert.is((await owner('GET', `/api/website/${id}`)).json.site.fact_seq, before)

    const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? ''
    const form = (fields: Record<string, string>): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(review.url).origin },
      body: new URLSearchParams(fields).toString(),
    })
    assert.is((await open('/open', form({}))).status, 403, 'a form without its token')
    const opened = await open('/open', form({ form_token: field('form_token') }))
    assert.is(opened.status, 303)
    const frozen = await fetch(new URL(opened.headers.get('location') ?? '', review.url))
    assert.is(frozen.status, 200)
    assert.match(await (await open('')).text(), /Opened by reviewer on/)
    const wrong = form({ form_token: field('form_token'), digest: 'f'.repeat(64), decision: 'approve', note: '' })
    assert.is((await open('', wrong)).status, 409)
    const right = { form_token: field('form_token'), digest: field('digest'), decision: 'approve', note: 'Good.' }
    assert.is((await open('', form(right))).status, 303)
    const { site } = (await owner('GET', `/api/website/${id}`)).json
    assert.equal([site.status, site.review.note], ['approved', 'Good.'])
    assert.match(await (await open('')).text(), /Approved by reviewer/)
  })

  t('keeps names to one site, and refuses what is no name', async () => {
    const [{ id }, second] = [await made(), await made()]
    const put = (site: string, body: object) => owner('PUT', `/api/website/${site}/domain`, body)
    assert.is((await put(id, { subdomain: 'mine' })).status, 200)
    const taken = await put(second.id, { subdomain: 'mine' })
    assert.equal([taken.status, taken.json.code], [409, 'SUBDOMAIN_TAKEN'])
    for (const body of [
      {},
      { subdomain: 'www' },
      { domain: 'co.uk' },
      { domain: 'shop.test' },
      { subdomain: 'a', domain: 'b.com' },
    ]) {
      assert.is((await put(id, body)).json.code, 'BAD_DOMAIN', JSON.stringify(body))
    }
    const elsewhere = await as(other, 'PUT', `/api/website/${id}/domain`, { subdomain: 'theirs' })
    assert.is(elsewhere.status, 404)
  })

  t(
    'takes a domain from several accounts, and shows each its own record, what was seen, and when it is looked for',
    async () => {
      const domain = 'www.two-want-it.com'
      const theirs = (await as(other, 'POST', '/api/website/generate', { content: siteContent() })).json.site
      const mine = await made()
      const put = (id: string, token: string) => as(token, 'PUT', `/api/website/${id}/domain`, { domain })
      assert.equal([(await put(theirs.id, other)).status, (await put(mine.id, platform.owner)).status], [200, 200])
      const second = await put((await made()).id, platform.owner)
      assert.equal([second.status, second.json.code], [409, 'DOMAIN_TAKEN'], 'one site of an account')
      const shown = async (id: string, token: string) =>
        (await as(token, 'GET', `/api/website/${id}`)).json.site.domains[0]
      const looked = await eventually('a look', async () => {
        const one = await shown(mine.id, platform.owner)
        return one.looked_at !== null && one
      })
      assert.equal(
        [looked.name, looked.state, looked.served, looked.code, looked.reason],
        [domain, 'asked', false, 'DOMAIN_UNPROVEN', `_bottega-challenge.${domain} has no TXT record`],
      )
      assert.ok(Date.parse(looked.next_look_at) > Date.parse(looked.looked_at))
      assert.match(looked.next, /^Set TXT _bottega-challenge\.www\.two-want-it\.com bottega-verification=[0-9a-f]{32}$/)
      assert.is.not((await shown(theirs.id, other)).records[0].value, looked.records[0].value)
      const table = await platform.kubectl(['get', 'wsite', mine.id])
      assert.match(table, /DOMAIN[\s\S]*asked/)
      const blocked = (await act(mine.id, 'publish', { dry_run: true })).json.plan.problems
      assert.ok(blocked.some(({ code }: { code: string }) => code === 'DOMAIN_UNPROVEN'))
      // Its own name is given without a record.
      const label = await owner('PUT', `/api/website/${mine.id}/domain`, { subdomain: 'two-want-it' })
      const [given] = label.json.site.domains.filter(({ name }: { name: string }) => name === 'two-want-it')
      assert.equal([given.state, given.proof, given.records, given.next], ['verified', 'platform', [], null])
      assert.is((await as(other, 'DELETE', `/api/website/${theirs.id}`)).status, 204)
    },
  )

  t('claims, shows and gives back a base domain, and says record by record what was seen', async () => {
    const base = (method: string, path = '', body?: unknown, token = platform.owner) =>
      as(token, method, `/api/website/base-domain${path}`, body)
    for (const domain of ['co.uk', 'github.io', 'shop.test', 'example', 'xn--80ak6aa92e.com', '10.0.0.1']) {
      const refused = await base('POST', '', { domain })
      assert.equal(
        [refused.status, refused.json.code, refused.json.errors[0].pointer],
        [400, 'BAD_DOMAIN', '/domain'],
        domain,
      )
    }
    assert.is((await base('POST', '/verify', {})).status, 404)
    assert.equal((await base('GET')).json, { base_domain: null, others: [] })
    // As people type it.
    const claimed = await base('POST', '', { domain: 'https://Müller-Shops.de./' })
    assert.is(claimed.status, 200, claimed.text)
    const domain = 'xn--mller-shops-thb.de'
    const [txt] = claimed.json.records
    assert.equal([txt.type, txt.name], ['TXT', `_bottega-challenge.${domain}`])
    const { base_domain: shown } = claimed.json
    assert.equal(
      [shown.domain, shown.unicode, shown.state, shown.verified],
      [domain, 'müller-shops.de', 'asked', false],
    )
    // It blocks nobody, and another account has another record.
    const theirs = await base('POST', '', { domain }, other)
    assert.is(theirs.status, 200)
    assert.is.not(theirs.json.records[0].value, txt.value)
    assert.is((await base('DELETE', '', undefined, other)).status, 204)

    zone[txt.name] = () => ({ txt: [txt.value] })
    const verified = await base('POST', '/verify', {})
    assert.equal([verified.status, verified.json.verified], [200, false])
    const [text, wildcard] = verified.json.checks
    assert.equal([text.ok, text.expected, text.seen], [true, txt.value, [txt.value]])
    assert.equal([wildcard.ok, wildcard.seen], [false, []])
    assert.match(wildcard.name, new RegExp(`^probe-[0-9a-f]{16}\\.${domain}$`))
    assert.match(verified.json.base_domain.reason, /none takes sites yet/)
    // Below what is not proven nothing is given: the label is the platform's.
    const { id } = await made()
    const put = await owner('PUT', `/api/website/${id}/domain`, { subdomain: 'Below-It' })
    assert.equal([put.status, put.json.site.domain], [200, 'below-it'])
    const own = await owner('PUT', `/api/website/${id}/domain`, { domain: `shop.${domain}` })
    const named = own.json.site.domains.find((one: Json) => one.name === `shop.${domain}`)
    assert.equal([named.state, named.served, named.unicode], ['asked', false, 'shop.müller-shops.de'])
    assert.is((await base('DELETE', `?domain=${domain}`)).status, 204)
    assert.is((await base('GET')).json.base_domain, null)
    assert.is((await base('DELETE')).status, 204, 'what is not there is given back already')
    assert.is((await owner('DELETE', `/api/website/${id}`)).status, 204)
  })

  t('leads former addresses on in the preview, and needs a new approval for them', async () => {
    const { id } = await made()
    const led = (redirects: object[]) => act(id, 'update', { content: { meta: { redirects } } })
    const bad = await led([{ from: '/a', to: '/a/' }])
    assert.is(bad.status, 400)
    assert.equal([bad.json.code, bad.json.errors[0].pointer], ['BAD_REDIRECTS', '/content/meta/redirects/0/to'])
    assert.is((await led([{ from: '/a{b}', to: '/' }])).json.code, 'BAD_REDIRECTS')
    const before = (await owner('GET', `/api/website/${id}`)).json.site
    const { site } = (
      await led([
        { from: '/old-shop', to: '/' },
        { from: '/away', to: 'https://elsewhere.example/x' },
      ])
    ).json
    assert.is.not(site.digest, before.digest)
    const go = async (path: string) => {
      const answer = await fetch(new URL(path, site.preview_url), { redirect: 'manual' })
      return `${answer.status} ${answer.headers.get('location') ?? ''}`.trim()
    }
    const home = `308 ${new URL(site.preview_url).pathname}`
    assert.equal([await go('old-shop'), await go('old-shop/')], [home, home])
    assert.equal([await go('away'), await go('nowhere')], ['308 https://elsewhere.example/x', '404'])
    assert.is((await owner('DELETE', `/api/website/${id}`)).status, 204)
  })

  t('clamps brand tokens, and the sites of the account follow', async () => {
    const { id, digest } = await made()
    const reply = await owner('PUT', '/api/website/brand-tokens', { accent: '#ffff88', font_pair: 'system' })
    assert.is(reply.status, 200, reply.text)
    assert.equal(
      reply.json.clamped.map(({ token }: { token: string }) => token),
      ['accent'],
    )
    assert.ok(reply.json.clamped[0].ratio >= 4.5)
    await eventually(
      'the site to follow',
      async () => (await owner('GET', `/api/website/${id}`)).json.site.digest !== digest,
    )
    const bad = await owner('PUT', '/api/website/brand-tokens', { accent: 'url(x)' })
    assert.equal([bad.status, bad.json.code], [400, 'BAD_TOKENS'])
    await owner('PUT', '/api/website/brand-tokens', {})
    await eventually('what it was', async () => (await owner('GET', `/api/website/${id}`)).json.site.digest === digest)
  })

  t('counts sites against the plan, over REST and over kubectl', async () => {
    await platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', '{"spec":{"limits":{"sites":1}}}'])
    await eventually(
      'the limit',
      async () => (await as(other, 'GET', '/api/account')).json.account.quotas.sites.limit === 1,
    )
    const all = await Promise.all([1, 2, 3].map(() => as(other, 'POST', '/api/website/generate', { content })))
    assert.equal(all.map(({ status }) => status).sort(), [201, 429, 429])
    assert.is(all.find(({ status }) => status === 429)?.json.code, 'SITE_QUOTA')
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Site',
      metadata: { name: 'site-by-hand', namespace: platform.namespace.name },
      spec: { account: 'other', content: { meta: { companyName: 'V' } } },
    })
    const stalled = await eventually('the refusal', async () => {
      const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', 'site-by-hand', '-o', 'json']))
      return status?.conditions?.find((one: { type: string }) => one.type === 'Stalled')?.message
    })
    assert.match(stalled, /^SITE_QUOTA: /)
  })

  t('lists what there is to choose from', async () => {
    const short = await as(null, 'GET', '/templates')
    const ids = short.json.templates.map(({ id }: { id: string }) => id)
    assert.equal(ids, [...TEMPLATES])
    assert.equal((await as(null, 'GET', '/api/website/templates')).json, short.json)
    assert.is((await as(null, 'GET', '/api/openapi-websites.json')).json.info.version, '2026-09-18')
  })
})
