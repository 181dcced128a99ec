/** Choosing a layout by looking: the catalogue with its drawings, one's own content in all layouts, and Chinese that comes along. */

import { makeVariantRenderer, VARIANT_LIMITS } from '../../../controllers/base/judging/variants.ts'
import { TooDear } from '../../../controllers/base/threads/pool.ts'
import { LAYOUTS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import type { MadeOf } from '../../../crds/site/publishing/variant.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { sampleContent } from '../../support/builders/sites/sample.ts'
import { openings } from '../../support/judges/policy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

spec('choosing a layout', (t) => {
  let platform: Platform
  let other: string
  const as = (token: string | null, method: string, path: string, body?: unknown): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body)
  const owner = (method: string, path: string, body?: unknown) => as(platform.owner, method, path, body)
  const made = async (body: object, token = platform.owner): Promise<Json> => {
    const reply = await as(token, 'POST', '/api/website/generate', body)
    assert.is(reply.status, 201, reply.text)
    return reply.json.site
  }
  const get = (address: string, accept = '*/*') => fetch(address, { headers: { accept }, redirect: 'manual' })

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
    other = await platform.token('other')
  })
  t.after(() => platform.end())

  t('has a drawing of each layout in each template, named in the list, and a page for people', async () => {
    const { json } = await as(null, 'GET', '/templates')
    const named = json.templates.flatMap(({ thumbnails }: Json) => Object.values(thumbnails)) as string[]
    assert.is(new Set(named).size, LAYOUTS.length * TEMPLATES.length)
    const [first = ''] = named
    const drawing = await get(first)
    assert.equal([drawing.status, drawing.headers.get('content-type')], [200, 'image/svg+xml'])
    assert.match(await drawing.text(), /^<svg /)
    assert.equal(openings(drawing.headers.get('content-security-policy')), [])
    const [preset] = json.presets
    assert.equal([preset.id, preset.template, preset.layout], ['agent', 'ledger', 'classic'])
    assert.ok(named.includes(preset.thumbnail), preset.thumbnail)
    assert.is((await get(`${platform.baseUrl}/templates/studio/nave.svg`)).status, 404)

    const page = await get(`${platform.baseUrl}/templates`, 'text/html')
    const text = await page.text()
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.equal(openings(page.headers.get('content-security-policy')), [])
    for (const path of named) assert.ok(text.includes(new URL(path).pathname), path)
  })

  t('shows one’s own content in every layout, and the call that chooses one is taken', async () => {
    const site = await made({ content: siteContent() })
    const path = `/api/website/${site.id}/variants`
    const { json } = await owner('GET', path)
    assert.equal([json.locked, json.variants.length], [null, LAYOUTS.length * TEMPLATES.length])
    assert.is((await as(other, 'GET', path)).status, 404, 'of others it is not there')

    const page = await get(json.url)
    const text = await page.text()
    assert.is(page.status, 200, text)
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-src 'self'/)
    for (const layout of LAYOUTS) {
      assert.match(text, new RegExp(`<iframe src="[^"]*/~/${layout}/studio/"[^>]* loading="lazy" sandbox=""`))
    }
    const wanted = json.variants.find(({ layout, template }: Json) => layout === 'atelier' && template === 'lumen')
    const shown = await get(wanted.url)
    const variant = await shown.text()
    assert.match(variant, /class="l-atelier t-lumen[\s\S]*Stoneware for every day/)
    assert.match(shown.headers.get('content-security-policy') ?? '', /frame-ancestors 'self'.*sandbox/)
    assert.equal(
      [shown.headers.get('x-robots-tag'), shown.headers.get('cache-control')].join(),
      'noindex, nofollow, noarchive,private, no-store',
    )
    const [, sheet = ''] = /href="(assets\/[^"]+\.css)"/.exec(variant) ?? []
    const css = await (await get(`${wanted.url}${sheet}`)).text()
    const [, font = ''] = /url\("([0-9a-f]+\.woff2)"\)/.exec(css) ?? []
    const served = await get(`${wanted.url}assets/${font}`)
    assert.equal([served.status, served.headers.get('access-control-allow-origin')], [200, '*'])
    assert.is((await get(wanted.url.replace(/\/$/, ''))).status, 308)
    assert.is((await get(`${wanted.url}no/such`)).status, 404)
    assert.is((await get(wanted.url.replace('atelier', 'nave'))).status, 404)

    const { method, path: to, body } = wanted.choose
    const chosen = await owner(method, to, body)
    assert.is(chosen.status, 200, chosen.text)
    const { layout, template } = chosen.json.site.content.meta
    assert.equal([layout, template], ['atelier', 'lumen'])
  })

  t('shows the frozen link nothing but what was frozen, and nobody what a dead link led to', async () => {
    const site = await made({ content: siteContent() })
    const { url } = (await owner('GET', `/api/website/${site.id}/variants`)).json
    await owner('POST', `/api/website/${site.id}/preview/rotate`)
    assert.equal([(await get(url)).status, (await get(`${url}/classic/studio/`)).status], [404, 404])
  })

  t('an account that is locked to a template sees its layouts alone', async () => {
    const locked = await addAccount(platform, 'locked', { templateLock: 'harbor' } as object)
    const site = await made({ content: siteContent() }, locked)
    const { json } = await as(locked, 'GET', `/api/website/${site.id}/variants`)
    assert.equal([json.locked, json.variants.length], ['harbor', LAYOUTS.length])
    assert.equal(json.variants[0].choose.body, { content: { meta: { layout: json.variants[0].layout } } })
    const page = await (await get(`${json.url}?template=lumen`)).text()
    assert.equal([/\/classic\/harbor\//.test(page), /lumen/.test(page)], [true, false])
    assert.is((await get(`${json.url}/classic/harbor/`)).status, 200)
    assert.is((await get(`${json.url}/classic/lumen/`)).status, 404)
  })

  t(
    'a Chinese site brings its characters along, the same again for the same, none for an edit in known ones',
    async () => {
      const meta = { company_name: '山間陶房', lang: 'zh-Hant', layout: 'classic', template: 'lumen' }
      const faq = (answer: string) => [{ question: '一二三四五', answer }]
      const site = await made({ content: siteContent({ meta, faq: faq('六七八九十') }) })
      const fontsOf = async (one: Json): Promise<string[]> => {
        const text = await (await get(one.preview_url)).text()
        const [, sheet = ''] = /href="(assets\/[^"]+\.css)"/.exec(text) ?? []
        const css = await (await get(`${one.preview_url}${sheet}`)).text()
        return [...css.matchAll(/"Han [^"]+";[^}]*url\("([0-9a-f]+\.woff2)"\)/g)].map(([, file = '']) => file)
      }
      const before = await fontsOf(site)
      assert.is(new Set(before).size, 3, before.join())
      const font = Buffer.from(await (await get(`${site.preview_url}assets/${before[0]}`)).arrayBuffer())
      assert.is(font.subarray(0, 4).toString(), 'wOF2')
      const edited = await owner('POST', `/api/website/${site.id}/update`, { content: { faq: faq('十九八七六六') } })
      assert.equal(await fontsOf(edited.json.site), before)
      const more = await owner('POST', `/api/website/${site.id}/update`, { content: { faq: faq('十九八七六鬱') } })
      assert.is(
        (await fontsOf(more.json.site)).filter((file) => before.includes(file)).length,
        3,
        'head, its marks, bold',
      )
      const row = await eventually('the rows', async () => {
        const rows = await query(platform.database.url, 'select name from site_fonts where name like $1', ['noto-%'])
        return rows.length >= 4 ? rows : undefined
      })
      assert.ok(row.every(({ name }: Json) => /^noto-(serif|sans)-tc-\d00-[0-9a-f]{32}$/.test(name)))
    },
  )

  t('renders within bounds: what needs more is refused, who asks again gets what was made', async () => {
    const content = sampleContent('en', 'classic', 'studio')
    const from: MadeOf = { images: {}, logo: null, fonts: {}, brand: null }
    const choice = { layout: 'classic', template: 'studio' } as const
    const busy = () => new Error('busy')
    const mean = makeVariantRenderer(busy, { ...VARIANT_LIMITS, cpuMaxMs: 0, lookMs: 1 })
    const read = async () => ({ content, made: from })
    const refused = await mean.render('a', choice, read, { account: 'a' }).catch((error: unknown) => error)
    assert.instance(refused, TooDear)
    await mean.close()
    let reads = 0
    const counted = async () => {
      reads += 1
      return { content, made: from }
    }
    const renderer = makeVariantRenderer(busy)
    const files = await Promise.all(['a', 'a', 'b'].map((of) => renderer.render(of, choice, counted, { account: 'a' })))
    assert.equal([files[0] === files[1], reads, files[2]?.has('index.html')], [true, 2, true])
    await renderer.close()
  })
})
