import { createPublicKey, verify } from 'node:crypto'
import type { Email } from 'postal-mime'
import { stageAt } from '../../../crds/site/reviewing/notices.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, makeMinter } from '../../support/stage/callers.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

/** The desk of reviewers: the queue, who is told, how a submission differs, and the certificate. */

const LONG = { timeoutMs: 120_000 }

spec('the desk of reviewers', (t) => {
  let platform: Platform
  let reviewer: string
  let second: string
  let admin: string
  const as = (token: string | null, method: string, path: string, body?: unknown): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body)
  const owner = (method: string, path: string, body?: unknown) => as(platform.owner, method, path, body)
  const act = (id: string, action: string, body: object = {}, token = platform.owner) =>
    as(token, 'POST', `/api/website/${id}/${action}`, body)
  const submitted = async (change: Record<string, unknown> = {}, token = platform.owner): Promise<Json> => {
    const made = await as(token, 'POST', '/api/website/generate', { content: siteContent(change) })
    assert.is(made.status, 201, made.text)
    const reply = await act(made.json.site.id, 'submit-review', {}, token)
    assert.is(reply.status, 200, reply.text)
    return reply.json.site
  }
  const decide = (id: string, decision: string, note = '', token = reviewer) =>
    act(id, 'decision', { decision, note }, token)
  const queue = async (path = '', token = reviewer): Promise<Json> =>
    (await as(token, 'GET', `/api/website/reviews${path}`)).json
  const mailsOf = async (id: string): Promise<Email[]> =>
    (await mailsIn(platform.mailDir)).filter(({ text }) => text?.includes(id))
  const mailTo = (mails: readonly Email[], name: string, subject: RegExp) =>
    mails.filter(({ to, subject: said }) => to?.[0]?.address === `${name}@demo.test` && subject.test(said ?? ''))
  const browse =
    (held: string) =>
    (path: string, init: RequestInit = {}) =>
      fetch(`${platform.baseUrl}${path}`, { redirect: 'manual', ...init, headers: { cookie: held, ...init.headers } })

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000', BOTTEGA_DEV_CLOCK: 'on' } })
    reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    second = await addAccount(platform, 'second', { role: 'reviewer' })
    admin = await addAccount(platform, 'root', { role: 'admin' })
  })
  t.after(() => platform.end())

  t('the queue is for reviewers alone, over all accounts, longest waiting first, in pages', async () => {
    const empty = await queue()
    assert.equal([empty.total, empty.reviews], [0, []])
    const first = await submitted()
    const other = await submitted({ hero: { title: 'Other' } }, await platform.token('other'))
    const own = await submitted({}, reviewer)
    const { reviews, total } = await queue()
    assert.equal([total, reviews.map(({ site }: Json) => site)], [3, [first.id, other.id, own.id]])
    assert.equal(
      reviews.map(({ account, own: isOwn, round, changed, opened }: Json) => [account, isOwn, round, changed, opened]),
      [
        ['demo', false, 1, null, []],
        ['other', false, 1, null, []],
        ['reviewer', true, 1, null, []],
      ],
    )
    assert.equal(
      [reviews[0].company, reviews[0].url, reviews[0].digest],
      ['Voss Ceramics', first.review.url, first.digest],
    )
    const paged = await queue('?limit=1&offset=1')
    assert.equal([paged.total, paged.limit, paged.reviews.map(({ site }: Json) => site)], [3, 1, [other.id]])
    assert.equal(
      (await queue('?account=other')).reviews.map(({ site }: Json) => site),
      [other.id],
    )
    assert.is((await queue('', admin)).total, 3)
    for (const [token, status] of [
      [platform.owner, 403],
      [null, 401],
    ] as const) {
      const refused = await as(token, 'GET', '/api/website/reviews')
      assert.is(refused.status, status)
      assert.not.ok(refused.text.includes(first.id))
    }
    assert.is((await as(reviewer, 'GET', '/api/website/reviews?state=lost')).json.code, 'INVALID_FIELD')

    assert.is((await decide(first.id, 'request_changes', 'The hero says nothing.')).status, 200)
    assert.equal(
      (await queue()).reviews.map(({ site }: Json) => site),
      [other.id, own.id],
    )
    const [decided] = (await queue('?state=decided')).reviews
    assert.equal(
      [decided.site, decided.decision, decided.decided_by, decided.note],
      [first.id, 'request_changes', 'reviewer', 'The hero says nothing.'],
    )
    assert.is((await decide(other.id, 'approve')).status, 200)
    assert.is((await decide(own.id, 'approve', '', second)).status, 200)
  })

  t(
    'reviewers are told by mail but nobody of their own, the owner of the decision with the note, each once',
    async () => {
      const site = await submitted({ hero: { title: 'Told' } })
      const told = await eventually('the mails', async () => {
        const mails = await mailsOf(site.id)
        return mails.length >= 2 && mails
      })
      assert.equal(
        [
          mailTo(told, 'reviewer', /^Waits for review: Voss/).length,
          mailTo(told, 'second', /^Waits for review/).length,
          told.length,
        ],
        [1, 1, 2],
      )
      assert.match(told[0]?.text ?? '', new RegExp(`/review/sites/${site.id}`))
      assert.is((await decide(site.id, 'request_changes', 'Say when\nyou open.')).status, 200)
      const [mail] = await eventually('the decision', async () => {
        const mails = mailTo(await mailsOf(site.id), 'owner', /^Changes requested: Voss Ceramics$/)
        return mails.length > 0 && mails
      })
      assert.match(mail?.text ?? '', /Say when\n\nyou open\./)
      assert.match(mail?.text ?? '', new RegExp(`/account/reviews/${site.id}`))

      const own = await submitted({ hero: { title: 'Mine' } }, reviewer)
      const others = await eventually('the mail', async () => {
        const mails = await mailsOf(own.id)
        return mails.length > 0 && mails
      })
      assert.equal([mailTo(others, 'second', /Waits/).length, mailTo(others, 'reviewer', /Waits/).length], [1, 0])
      assert.is((await decide(own.id, 'approve', '', second)).status, 200)
    },
    LONG,
  )

  t('shows the page of the queue and of one review to reviewers, and of their own to owners', async () => {
    const site = await submitted({ hero: { title: 'Shown' } })
    const minter = makeMinter(platform)
    const [mine, theirs] = [
      browse(`bottega_session=${await minter.session('reviewer')}`),
      browse(`bottega_session=${await minter.session('demo')}`),
    ]
    await minter.end()
    const page = await mine('/review')
    assert.is(page.status, 200)
    assert.match(await page.text(), /Voss Ceramics[\s\S]*first approval/)
    assert.is((await theirs('/review')).status, 403)
    assert.equal(
      [
        (await mine(`/review/sites/${site.id}`)).headers.get('location'),
        (await theirs(`/review/sites/${site.id}`)).status,
      ],
      [new URL(site.review.url).pathname, 403],
    )
    assert.match(await (await mine('/account/tokens')).text(), /href="\/review"/)
    assert.not.match(await (await theirs('/account/tokens')).text(), /href="\/review"/)
    const one = await mine(new URL(site.review.url).pathname)
    assert.match(one.headers.get('content-security-policy') ?? '', /script-src 'none'.*frame-src 'self'/)
    const text = await one.text()
    const source = /<iframe src="(\/preview\/[^"]+)"/.exec(text)?.[1] ?? ''
    const framed = await fetch(`${platform.baseUrl}${source}`)
    assert.equal([framed.status, framed.headers.get('x-frame-options')], [200, null])
    assert.match(framed.headers.get('content-security-policy') ?? '', /frame-ancestors 'self'; sandbox$/)
    const narrowed = await mine(`${new URL(site.review.url).pathname}?width=360&against=round`)
    assert.is((await narrowed.text()).match(/<iframe /g)?.length, 1)
    const own = await theirs(`/account/reviews/${site.id}`)
    assert.match(await own.text(), /Round 1[\s\S]*not decided/)
    assert.is((await mine(`/account/reviews/${site.id}`)).status, 404)
    assert.is((await decide(site.id, 'approve')).status, 200)
  })

  t('tells over REST how a submission differs from the approval, and from the round before', async () => {
    const product = (price: string) => [{ name: 'Jug', price, link: 'https://shop.voss.test/jug' }]
    const { id } = await submitted({ products: product('€68') })
    assert.is((await decide(id, 'approve', 'fine')).status, 200)
    const update = async (content: object) => {
      assert.is((await act(id, 'update', { content })).status, 200)
      assert.is((await act(id, 'submit-review')).status, 200)
    }
    await update({ products: product('€72') })
    assert.is((await decide(id, 'request_changes', 'Why dearer?')).status, 200)
    await update({ products: [{ name: 'Jug', price: '€72', link: 'https://elsewhere.test/jug' }] })
    const review = async (path = '', token = reviewer) =>
      (await as(token, 'GET', `/api/website/${id}/review${path}`)).json.review
    const approved = await review()
    assert.equal(approved.changes.prices.items, [{ what: 'Jug', before: '€68', after: '€72' }])
    const [link] = approved.changes.links.items
    assert.equal([link.is, link.host, link.new_host, link.pages], ['new', 'elsewhere.test', true, ['/']])
    assert.equal(approved.pages, [{ path: '/', state: 'changed' }])
    const told = approved.words.lines.filter(({ is }: Json) => is === 'gone' || is === 'new')
    assert.equal(
      told.map(({ is, text }: Json) => [is, text]),
      [
        ['gone', '€68'],
        ['new', '€72'],
      ],
    )
    assert.equal(
      approved.rounds.map(({ round, decision, note }: Json) => [round, decision, note]),
      [
        [3, null, null],
        [2, 'request_changes', 'Why dearer?'],
        [1, 'approve', 'fine'],
      ],
    )
    const round = await review('?against=round')
    assert.equal([round.changes.prices.items, round.changes.links.items.length], [[], 2])
    const [line] = (await queue()).reviews
    assert.equal([line.site, line.round, line.changed], [id, 3, ['products']])
    assert.equal((await review('', platform.owner)).digest, approved.digest)
    assert.is((await as(await platform.token('other'), 'GET', `/api/website/${id}/review`)).status, 404)
    assert.is((await as(reviewer, 'GET', `/api/website/${id}/review?page=/no/`)).status, 404)
    assert.is((await decide(id, 'approve')).status, 200)
  })

  t('certifies what was approved, signed so that anybody can check it, and nothing else', async () => {
    const site = await submitted({ hero: { title: 'Certified' } })
    const path = `/api/website/${site.id}/certificate`
    assert.equal((await owner('GET', path)).json.code, 'NOT_APPROVED')
    assert.is((await decide(site.id, 'approve', 'between us')).status, 200)
    const { certificate, jws, url, keys_url: keysUrl } = (await owner('GET', path)).json
    assert.equal(
      [certificate.site, certificate.digest, certificate.submitted.digest, url],
      [site.id, site.digest, site.digest, null],
    )
    assert.match(certificate.approved.by, /^reviewer-[0-9a-f]{16}$/)
    assert.not.ok(JSON.stringify(certificate).includes('between us'))
    const { keys } = (await (await fetch(keysUrl)).json()) as Json
    const [head = '', payload = '', signature = ''] = jws.split('.')
    const key = keys.find(({ kid }: Json) => kid === JSON.parse(Buffer.from(head, 'base64url').toString()).kid)
    const isGood = (text: string) =>
      verify(null, Buffer.from(text), createPublicKey({ key, format: 'jwk' }), Buffer.from(signature, 'base64url'))
    assert.equal([isGood(`${head}.${payload}`), isGood(`${head}.${payload}A`)], [true, false])
    assert.equal(JSON.parse(Buffer.from(payload, 'base64url').toString()), certificate)
    const index = certificate.files.find((file: Json) => file.path === 'index.html')
    const bytes = Buffer.from(await (await fetch(site.preview_url)).arrayBuffer())
    assert.is(index.bytes, bytes.length)
    assert.equal((await as(reviewer, 'GET', path)).json.jws, jws, 'the same for the same')
    assert.is((await as(await platform.token('other'), 'GET', path)).status, 404)
    assert.equal((await owner('GET', `${path}?digest=${'0'.repeat(64)}`)).json.code, 'NOT_APPROVED')
    const page = await fetch(`${platform.baseUrl}/certificates/${site.id}/${site.digest}`)
    assert.is(page.status, 404, 'what was never live is nobody’s')
  })

  t('names the tokens that a locked account does not use', async () => {
    await platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', '{"spec":{"templateLock":"garden"}}'])
    const other = await platform.token('other')
    const { id } = (await as(other, 'GET', '/api/website')).json.sites[0]
    const shown = async () => (await as(other, 'GET', `/api/website/${id}`)).json.site
    const locked = await eventually('the lock', async () => {
      const site = await shown()
      return site.template === 'garden' && site.digest !== null && site
    })
    const reply = await eventually('the warning', async () => {
      const put = await as(other, 'PUT', '/api/website/brand-tokens', { accent: '#00aa55' })
      return put.json.warnings.length > 0 && put
    })
    const [warning] = reply.json.warnings
    assert.equal([reply.status, warning.code, warning.pointer], [200, 'TEMPLATE_LOCKED', '/brand_tokens'])
    const site = await eventually('the warning of the site', async () => {
      const found = await shown()
      return found.warnings.some(({ pointer }: Json) => pointer === '/brand_tokens') && found
    })
    assert.equal([site.template, site.digest], ['garden', locked.digest], 'its bytes are those without tokens')
    await platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', '{"spec":{"templateLock":null}}'])
  })

  t(
    'reminds of what waits, after one working day and after three, and never twice',
    async () => {
      const site = await submitted({ hero: { title: 'Waits' } })
      const since = site.review.submitted_at
      const advance = async (by: string): Promise<Date> => {
        const moved = await as(admin, 'POST', '/api/dev/clock', { advance: by })
        assert.is(moved.status, 200, moved.text)
        return new Date(moved.json.now)
      }
      const stagesTold = async (): Promise<number[]> => {
        const text =
          "select (body ->> 'stage')::integer as stage from facts where resource = $1 and kind = 'notice' order by seq"
        return (await query(platform.database.url, text, [site.id])).map(({ stage }) => Number(stage))
      }
      await eventually('the first', async () => (await stagesTold()).length === 1)
      const expected = stageAt(since, await advance('P3D'))
      assert.ok(expected > 0)
      await eventually('a reminder', async () => (await stagesTold()).includes(expected), 30_000)
      await advance('P4D')
      await eventually('the last', async () => (await stagesTold()).includes(2), 30_000)
      const mails = await eventually('its mail', async () => {
        const found = mailTo(await mailsOf(site.id), 'second', /Still waits for review/)
        return found.some(({ text }) => /for 3 working days/.test(text ?? '')) && found
      })
      await advance('P10D')
      assert.is((await decide(site.id, 'approve')).status, 200)
      assert.equal(await stagesTold(), [...new Set([0, expected, 2])])
      assert.is(mailTo(await mailsOf(site.id), 'second', /Still waits for review/).length, mails.length)
    },
    LONG,
  )
})
