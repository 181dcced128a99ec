/** The client's side of an invoice, on real parts: the page and what is done on it, and how the mails to it fare. */
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../hack/platform/postgres.ts'
import { startSink } from '../../support/doubles/smtp.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'

let platform: Platform
let sink: Awaited<ReturnType<typeof startSink>>
const deferred = new Set<string>()
/** Mails to these are taken whole, and answered when the test says so. */
let answerHeld = () => {}
const held = new Promise<void>((resolve) => {
  answerHeld = resolve
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const post = (path: string, body?: unknown, token: string | null = platform.owner) =>
  call(platform.baseUrl, token, 'POST', `/api/invoices${path}`, body)
const read = async (id: string): Promise<Json> =>
  (await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices/${id}`)).json.invoice
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const told = async (id: string) =>
  (
    await sql("select payload ->> 'type' as type from outbox where resource = $1 and channel = 'event' order by id", [
      id,
    ])
  ).map(({ type }) => String(type).slice('invoice.'.length))
const used = async () => Number((await sql('select coalesce(sum(used), 0) as n from send_days'))[0]?.n)
const mailsTo = (address: string) => sink.taken.filter(({ to }) => to.includes(address)).map(({ email }) => email)
const refused = (reply: Reply, status: number, code: string) =>
  assert.equal([reply.status, reply.json?.code], [status, code], reply.text)

type Client = { id: string; path: string; password: string; cookie: string }
const enter = (path: string, password: string, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, null, 'POST', path, `password=${password}`, { ...FORM, ...headers })
const make = async (change: Record<string, unknown> = {}): Promise<Client & { json: Json }> => {
  const made = await post('', order(change))
  assert.is(made.status, 201, made.text)
  const { json } = made
  return {
    id: json.invoice.id,
    path: json.url.slice(platform.baseUrl.length),
    password: json.password,
    cookie: '',
    json,
  }
}
/** An invoice whose page is open. */
const opened = async (change: Record<string, unknown> = {}): Promise<Client> => {
  const client = await make(change)
  const entered = await enter(client.path, client.password)
  assert.is(entered.status, 303)
  return { ...client, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
}
const claim = ({ path, cookie }: Client, body: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, null, 'POST', `${path}/claim`, body, { cookie, accept: 'application/json', ...headers })
const today = () => new Date().toISOString().slice(0, 10)

spec("the client's side of an invoice", (t) => {
  t.before(async () => {
    sink = await startSink({
      onRcptTo: ({ address }, _session, done) => {
        const isLater = address.startsWith('later') && !deferred.has(address)
        deferred.add(address)
        if (address.startsWith('bounce')) return done(Object.assign(new Error('no such user'), { responseCode: 550 }))
        return done(isLater ? Object.assign(new Error('come back later'), { responseCode: 451 }) : null)
      },
      hold: (to) => (to.includes('hold@acme.test') ? held : undefined),
    })
    platform = await startPlatform({ env: { BOTTEGA_SMTP_URL: sink.url } })
  })
  t.after(async () => {
    answerHeld()
    await platform.end()
    await sink.stop()
  })

  t('a claim by the form is told, mailed to the owner and shown; nothing is paid by it', async () => {
    const client = await opened({ client_email: 'claims@acme.test' })
    const form = `date=${today()}&reference=SEPA+7&amount=1%2C440.00`
    const posted = await claim(client, form, { ...FORM, accept: 'text/html', origin: 'null' })
    assert.equal([posted.status, posted.headers.get('location')], [303, `${client.path}?lang=en`], posted.text)
    const { status, paid_cents, balance_cents, claims } = await read(client.id)
    assert.equal([status, paid_cents, balance_cents, claims.length], ['sent', 0, 144_000, 1])
    assert.equal([claims[0].paid_on, claims[0].reference, claims[0].amount_cents], [today(), 'SEPA 7', 144_000])
    assert.equal(await told(client.id), ['sent', 'viewed', 'payment_claimed'])
    const page = await call(platform.baseUrl, null, 'GET', `${client.path}?lang=es`, undefined, {
      cookie: client.cookie,
    })
    assert.match(page.text, /Usted comunicó 1,440\.00 EUR/)
    const notices = await eventually('the mail to the owner', async () => {
      const mails = mailsTo('owner@demo.test').filter((mail) => mail.text?.includes(client.path))
      return mails.length > 0 && mails
    })
    assert.match(notices[0]?.subject ?? '', /its client says that 1,440\.00 EUR was paid/)
  })

  t('the same claim again is the same claim, as JSON too; it is told and mailed once', async () => {
    const client = await opened()
    const body = { date: today(), reference: 'SEPA-8', amount_cents: 40_000 }
    const first = await claim(client, body)
    assert.equal([first.status, first.json.claim.amount_cents], [201, 40_000], first.text)
    const again = await Promise.all([claim(client, body), claim(client, body)])
    for (const one of again) assert.equal([one.status, one.json.claim], [200, first.json.claim])
    assert.equal((await told(client.id)).filter((type) => type === 'payment_claimed').length, 1)
    assert.is((await read(client.id)).claims.length, 1)
  })

  t('a claim is refused with its code: shut, from elsewhere, nothing due, voided, wrong', async () => {
    const client = await opened()
    refused(await claim({ ...client, cookie: '' }, { date: today() }), 401, 'UNAUTHENTICATED')
    refused(await claim(client, { date: today() }, { origin: 'https://evil.test' }), 403, 'CROSS_SITE')
    refused(await claim(client, { date: '2031-01-01' }), 400, 'INVALID_FIELD')
    refused(await claim(client, { date: '2026-02-30' }), 400, 'INVALID_FIELD')
    refused(await claim(client, { date: today(), amount: 1 }), 400, 'UNKNOWN_FIELD')
    refused(await claim(client, { date: today(), amount_cents: 144_001 }), 400, 'BAD_PAID_AMOUNT')
    const wrong = await claim(client, 'date=2031-01-01&reference=&amount=1', { ...FORM, accept: 'text/html' })
    assert.is(wrong.status, 400)
    assert.match(wrong.text, /<details open>.*role="alert"/s)
    await post(`/${client.id}/payments`)
    refused(await claim(client, { date: today() }), 409, 'NOTHING_DUE')
    await post(`/${client.id}/void`)
    refused(await claim(client, { date: today() }), 409, 'NOT_PAYABLE')
    assert.not.ok((await told(client.id)).includes('payment_claimed'))
  })

  t('many claims from one address are slowed down', async () => {
    const client = await opened()
    const answers: number[] = []
    for (let n = 0; n < 12; n++) answers.push((await claim(client, { date: today(), amount_cents: n + 1 })).status)
    assert.equal(new Set(answers.slice(0, 10)), new Set([201]))
    assert.is(answers.at(-1), 429)
  })

  t(
    'a look counts once for each send, by the password or by the page; not by a GET, and not by the seller',
    async () => {
      const client = await make()
      await call(platform.baseUrl, null, 'GET', client.path)
      const own = { authorization: `Bearer ${platform.owner}` }
      assert.is((await enter(client.path, client.password, own)).status, 303)
      assert.is((await enter(client.path, 'wrong')).status, 403)
      await sleep(500)
      assert.equal([(await read(client.id)).viewed_at, await told(client.id)], [null, ['sent']])
      for (let n = 0; n < 3; n++) assert.is((await enter(client.path, client.password)).status, 303)
      await eventually('the look in the view', async () => (await read(client.id)).viewed_at)
      assert.equal(await told(client.id), ['sent', 'viewed'])

      const locked = await make({ client_email: 'other@demo.test' })
      const theirs = { authorization: `Bearer ${await platform.token('other')}` }
      const page = await call(platform.baseUrl, null, 'GET', locked.path, undefined, theirs)
      assert.match(page.text, /<script data-path="[^"]+\/viewed">/)
      const beacon = (headers: Record<string, string> = {}) =>
        call(platform.baseUrl, null, 'POST', `${locked.path}/viewed`, undefined, headers)
      assert.equal([(await beacon()).status, (await beacon(own)).status], [204, 204])
      await sleep(500)
      assert.is((await read(locked.id)).viewed_at, null)
      assert.equal([(await beacon(theirs)).status, (await beacon(theirs)).status], [204, 204])
      await eventually('the look in the view', async () => (await read(locked.id)).viewed_at)
      assert.equal(await told(locked.id), ['sent', 'viewed'])
    },
  )

  t('the page is kept by nobody, follows the reader in language, and says so where a link leads nowhere', async () => {
    const client = await opened()
    const get = (path: string, headers: Record<string, string> = {}) =>
      call(platform.baseUrl, null, 'GET', path, undefined, headers)
    const page = await get(`${client.path}?lang=zh-Hant`, { cookie: client.cookie })
    assert.match(page.text, /<html lang="zh-Hant">/)
    assert.not.match(page.text, /<script/)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes("default-src 'none'") && !policy.includes('unsafe'), policy)
    const kept = ['cache-control', 'referrer-policy', 'x-robots-tag', 'x-frame-options'].map((name) =>
      page.headers.get(name),
    )
    assert.equal(kept, ['private, no-store', 'no-referrer', 'noindex, nofollow', 'DENY'])
    const lost = await get(`${client.path}x`)
    assert.equal([lost.status, /This link leads nowhere/.test(lost.text)], [404, true])
    refused(await get(`${client.path}x`, { accept: 'application/json' }), 404, 'NOT_FOUND')
  })

  t('a credit note is on the page with its PDF, behind the same gate', async () => {
    const client = await opened()
    const { json } = await post(`/${client.id}/credit-note`, { amount_cents: 24_000 })
    const get = (path: string, cookie = client.cookie) =>
      call(platform.baseUrl, null, 'GET', path, undefined, { cookie })
    const number = await eventually('its number', async () => (await read(client.id)).credit_notes[0].number)
    const note = `${client.path}/credit-notes/${number}`
    assert.ok((await get(client.path)).text.includes(`href="${note}"`), json.credit_note.id)
    assert.ok((await get(note)).text.startsWith('%PDF'))
    assert.is((await get(note, '')).status, 401)
    assert.is((await get(`${client.path}/credit-notes/CNINV-000-0000`)).status, 404)
  })

  t(
    'a mail that its server refuses bounces at once: told, mailed to the owner, its place given back, sent again',
    async () => {
      const before = await used()
      const { id, json } = await make({ client_email: 'bounce-1@acme.test' })
      const bounced = await eventually('the bounce', async () => {
        const { delivery } = await read(id)
        return delivery.state === 'bounced' && delivery
      })
      assert.match(bounced.last_error, /550/)
      assert.equal([bounced.attempts, bounced.next_attempt_at, bounced.to], [1, null, 'bounce-1@acme.test'])
      await eventually('the event', async () => (await told(id)).includes('delivery_failed'))
      assert.equal(
        [await told(id), (await read(id)).status, await used()],
        [['sent', 'delivery_failed'], 'sent', before],
      )
      await eventually('the mail to the owner', async () =>
        mailsTo('owner@demo.test').some((mail) => mail.subject === `${json.number} did not reach its client`),
      )
      const right = await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${id}`, {
        client_email: 'right@acme.test',
      })
      assert.is(right.status, 200, right.text)
      assert.is((await post(`/${id}/send`)).status, 200)
      await eventually('the mail', async () => (await read(id)).delivery.state === 'accepted')
      assert.equal([mailsTo('right@acme.test').length, await used()], [1, before + 1])
    },
  )

  t('a mail that is put off is deferred with the time of the next try, and accepted then', async () => {
    const { id } = await make({ client_email: 'later-1@acme.test' })
    const { next_attempt_at, last_error } = await eventually('the deferral', async () => {
      const { delivery } = await read(id)
      return delivery.state === 'deferred' && delivery
    })
    assert.ok(Date.parse(next_attempt_at) > 0 && /451/.test(last_error))
    const { attempts } = await eventually('the mail', async () => {
      const { delivery } = await read(id)
      return delivery.state === 'accepted' && delivery
    })
    assert.equal([attempts, (await told(id)).length], [2, 1])
  })

  t(
    'killed between the mail and its answer: at most one repeat, under the same Message-ID, and it is on record',
    async () => {
      const { id } = await make({ client_email: 'hold@acme.test' })
      await eventually('the mail, whole', async () => mailsTo('hold@acme.test').length === 1)
      await platform.controllers.kill()
      answerHeld()
      await platform.controllers.start()
      const delivery = await eventually('the repeat', async () => {
        const found = (await read(id)).delivery
        return found.state === 'accepted' && found
      })
      assert.equal([delivery.attempts, delivery.unknown_attempts], [2, 1])
      const mails = mailsTo('hold@acme.test')
      assert.equal([mails.length, new Set(mails.map(({ messageId }) => messageId)).size], [2, 1])
      assert.equal(await told(id), ['sent'])
    },
    { timeoutMs: 120_000 },
  )
})
