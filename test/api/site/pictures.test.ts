import { query } from '../../../hack/platform/postgres.ts'
import { paint } from '../../support/builders/sites/content.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

/** Pictures over REST: shown at once, in all widths later, final then; and pages that are too heavy. */

const PHOTOS = 7
const WHOLE_MS = 240_000

spec('pictures of a website', (t) => {
  let platform: Platform
  let reviewer: string
  let photos: Record<string, string>
  const as = (token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, token, method, path, body, headers)
  const owner = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    as(platform.owner, method, path, body, headers)
  const act = (id: string, action: string, body: object = {}, headers?: Record<string, string>) =>
    owner('POST', `/api/website/${id}/${action}`, body, headers)
  const read = async (id: string): Promise<Json> => (await owner('GET', `/api/website/${id}`)).json.site
  const sql = (text: string) => query(platform.database.url, text)
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
    reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    const painted = await Promise.all(Array.from({ length: PHOTOS }, (_, n) => paint(n, 1600, 1200)))
    photos = Object.fromEntries(painted.map((photo, n) => [`p${n}`, photo.toString('base64')]))
  })
  t.after(() => platform.end())

  const album = () => ({
    content: siteContent({
      gallery: Object.keys(photos).map((key) => ({ image: `asset:${key}`, alt: `Bowl ${key}` })),
    }),
    assets: photos,
  })

  t(
    'seven of them are shown at once, counted while they are made, submitted meanwhile, and final in the end',
    async () => {
      const made = await owner('POST', '/api/website/generate', album())
      assert.is(made.status, 201, made.text)
      const { site } = made.json
      const { id } = site
      assert.equal([site.status, site.digest, site.pictures.total], ['draft', null, PHOTOS])
      assert.ok(site.pictures.ready < PHOTOS)
      assert.match(site.preview_digest, /^[0-9a-f]{64}$/)

      const asked = await act(id, 'submit-review', {}, { prefer: 'respond-async' })
      assert.is(asked.status, 202, asked.text)
      await eventually('the site to say so', async () => {
        const { review, pictures } = await read(id)
        return review === null && pictures.submit_waits
      })
      const early = await as(reviewer, 'POST', `/api/website/${id}/decision`, { decision: 'approve' })
      assert.equal([early.status, early.json.code], [409, 'NOT_SUBMITTED'])
      const published = await act(id, 'publish')
      assert.equal([published.status, published.json.code], [409, 'NOT_APPROVED'])
      assert.match(published.json.detail, /of 7 pictures have all their widths/)
      const told = await eventually('kubectl to say so', async () => {
        const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
        const of = (type: string) => status.conditions?.find((one: Json) => one.type === type)
        return of('Ready')?.status === 'False' && of('Reconciling')?.reason === 'Pictures' && status
      })
      assert.match(told.pictures, /^[0-6]\/7$/)

      const page = await (await fetch(site.preview_url)).text()
      const sources = [...page.matchAll(/<img[^>]* src="(assets\/[0-9a-f]+\.jpg)"/g)].map(([, source]) => source)
      assert.is(new Set(sources).size, PHOTOS)
      const first = await fetch(`${site.preview_url}${sources[0]}`)
      assert.equal([first.status, first.headers.get('content-type')], [200, 'image/jpeg'])

      const layouts = async () => (await fetch(`${site.preview_url}~`)).text()
      assert.match(await layouts(), /<p class="note">[0-6] of 7 pictures have all their widths\./)

      const counts: number[] = []
      const done = await eventually(
        'all widths',
        async () => {
          const now = await read(id)
          if (counts.at(-1) !== now.pictures.ready) counts.push(now.pictures.ready)
          return now.digest !== null && now.review !== null && now
        },
        WHOLE_MS,
      )
      assert.equal(counts, counts.toSorted(), 'it only rises')
      assert.is(counts.at(-1), PHOTOS)
      assert.equal([done.status, done.review.digest, done.preview_digest], ['in_review', done.digest, done.digest])
      assert.ok(done.digest !== site.preview_digest)
      assert.not.match(await layouts(), /all their widths/)
      const operation = await owner('GET', asked.headers.get('location') ?? '')
      assert.equal([operation.status, operation.json.operation?.state], [200, 'succeeded'], operation.text)
      const [{ by } = {}] = await sql(
        `select body ->> 'by' as by from facts where resource = '${id}' and kind = 'submit'`,
      )
      assert.is(by, 'demo')
      assert.match(await (await fetch(site.preview_url)).text(), /\.avif 1440w/)
      const approved = await as(reviewer, 'POST', `/api/website/${id}/decision`, { decision: 'approve' })
      assert.equal([approved.status, approved.json.site.status], [200, 'approved'], approved.text)
      assert.match(await platform.kubectl(['get', 'wsite', id, '-o', 'wide']), /PICTURES[\s\S]*7\/7/)
    },
    { timeoutMs: 300_000 },
  )

  t('are not made again for an edit of words, nor for another site, which kubectl submits at once', async () => {
    const {
      sites: [{ id }],
    } = (await owner('GET', '/api/website')).json
    const count = 'select count(*)::int as pictures, max(xmin::text::bigint) as newest from site_pictures'
    const before = await sql(count)
    const edited = await act(id, 'update', { content: { hero: { title: 'Other words' } } })
    assert.equal([edited.status, edited.json.site.pictures.ready], [200, PHOTOS], edited.text)
    assert.match(edited.json.site.digest, /^[0-9a-f]{64}$/)
    const { spec: written } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
    const { account, content, assets } = written
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Site',
      metadata: { name: 'site-by-hand', namespace: platform.namespace.name },
      spec: { account, content, assets, submit: true, publish: true },
    })
    await eventually('the review', async () => (await read('site-by-hand'))?.status === 'in_review')
    assert.equal(await sql(count), before)
    const { conditions } = JSON.parse(await platform.kubectl(['get', 'wsite', 'site-by-hand', '-o', 'json'])).status
    const of = (type: string) => conditions.find((one: Json) => one.type === type)
    assert.equal([of('Reconciling')?.reason, of('Stalled')?.status ?? 'False'], ['InReview', 'False'])
  })

  t('one that cannot be decoded refuses all of them at once, at its place, and nothing stays', async () => {
    const total = async () => (await owner('GET', '/api/website')).json.total
    const before = await total()
    const broken = Buffer.from(photos.p0 ?? '', 'base64').subarray(0, 9_000)
    const assets = { ...photos, p5: broken.toString('base64') }
    const refused = await owner('POST', '/api/website/generate', { ...album(), assets })
    assert.equal(
      [refused.status, refused.json.code, refused.json.errors[0].pointer],
      [400, 'INVALID_FIELD', '/assets/p5'],
    )
    assert.is(await total(), before)
  })

  t(
    'a page four times over its budget is refused at publish, told before, and stalled by kubectl',
    async () => {
      const specs = Array.from({ length: 24 }, (_, n) => `Fact ${n}: yes`)
      const values = Array.from({ length: 24 }, (_, n) => `Shade ${n}`)
      const options = Array.from({ length: 8 }, (_, n) => ({ name: `Choice ${n}`, values }))
      const products = Array.from({ length: 24 }, (_, n) => ({ name: `Thing ${n}`, specs, options }))
      const made = await owner('POST', '/api/website/generate', { content: siteContent({ products }) })
      assert.is(made.status, 201, made.text)
      const { id, warnings } = made.json.site
      assert.ok(
        warnings.some(({ code }: Json) => code === 'FAR_OVER_BUDGET'),
        JSON.stringify(warnings),
      )
      const { plan } = (await act(id, 'publish', { dry_run: true })).json
      assert.is(plan.ok, false)
      assert.match(plan.problems[0].detail, /^index\.html: the elements of the page: \d+ elements, the budget is 1500/)
      const refused = await act(id, 'publish')
      assert.equal([refused.status, refused.json.code], [409, 'FAR_OVER_BUDGET'])
      await platform.kubectl(['patch', 'wsite', id, '--type=merge', '-p', '{"spec":{"publish":true}}'])
      const stalled = await eventually('the refusal', async () => {
        const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
        return status?.conditions?.find((one: Json) => one.type === 'Stalled' && one.status === 'True')
      })
      assert.is(stalled.reason, 'FarOverBudget')
      assert.match(stalled.message, /^FAR_OVER_BUDGET: index\.html/)
      const lighter = await act(id, 'update', { content: { products: null } })
      assert.equal([lighter.status, (await act(id, 'publish')).json.code], [200, 'NOT_APPROVED'], lighter.text)
    },
    { timeoutMs: 60_000 },
  )
})
