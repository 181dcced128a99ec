import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'

/** Webhooks through both processes, to receivers on loopback under the development exception. */

type Got = { path: string; headers: IncomingMessage['headers']; body: string }
type Receiver = { url: string; got: Got[]; answer(request: Got, response: ServerResponse): void; end(): Promise<void> }

const startReceiver = async (): Promise<Receiver> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const got = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
    receiver.got.push(got)
    receiver.answer(got, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got: [],
    answer: (_, response) => response.end('thank you'),
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return receiver
}

spec('webhooks', (t) => {
  let platform: Platform
  let receiver: Receiver
  let other: string
  const api = (method: string, path: string, body?: unknown, token = platform.owner): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body)
  const refused = (reply: Reply) => [reply.status, reply.json?.code, reply.json?.errors?.[0]?.pointer]
  const make = async (path: string, events?: string[]): Promise<Json> => {
    const made = await api('POST', '/api/webhooks', { url: `${receiver.url}${path}`, ...(events && { events }) })
    assert.is(made.status, 201, made.text)
    return { ...made.json.endpoint, secret: made.json.secret }
  }
  const clear = async () => {
    for (const { id } of (await api('GET', '/api/webhooks')).json.endpoints) await api('DELETE', `/api/webhooks/${id}`)
    receiver.got.length = 0
    receiver.answer = (_, response) => response.end('thank you')
  }
  const at = (path: string) => receiver.got.filter((got) => got.path === path)

  t.before(async () => {
    receiver = await startReceiver()
    platform = await startPlatform({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    other = await platform.token('other')
  })
  t.after(async () => {
    await platform?.end()
    await receiver.end()
  })

  t('are three for an account, each once, with a secret that is shown once', async () => {
    await clear()
    const one = await make('/one', ['invoice.paid', 'invoice.sent', 'invoice.paid'])
    assert.match(one.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.equal([one.events, one.status], [['invoice.paid', 'invoice.sent'], 'enabled'])
    const again = await api('POST', '/api/webhooks', {
      url: `${receiver.url}/one`,
      events: ['invoice.sent', 'invoice.paid'],
    })
    assert.equal([again.status, again.json.endpoint.id, again.json.secret], [200, one.id, undefined])
    await make('/two')
    await make('/three', ['*'])
    const fourth = await api('POST', '/api/webhooks', { url: `${receiver.url}/four` })
    assert.equal(refused(fourth), [409, 'ENDPOINT_LIMIT', undefined])
    assert.match(fourth.json.detail, /3 webhook endpoints/)
    const listed = await api('GET', '/api/webhooks')
    assert.equal([listed.json.total, listed.text.includes('whsec_')], [3, false])
    assert.equal(refused(await api('GET', `/api/webhooks/${one.id}`, undefined, other)), [404, 'NOT_FOUND', undefined])
    const twin = await api('PATCH', `/api/webhooks/${one.id}`, { url: `${receiver.url}/two`, events: ['*'] })
    assert.equal(refused(twin), [409, 'ENDPOINT_EXISTS', undefined])
    assert.is((await api('DELETE', `/api/webhooks/${one.id}`)).status, 204)
    await make('/four')
  })

  const BAD: [unknown, unknown[]][] = [
    [{ url: 'hooks' }, [400, 'BAD_URL', '/url']],
    [{ url: 'ftp://example.com/' }, [400, 'BAD_URL', '/url']],
    [{ url: 'http://example.com/' }, [400, 'BAD_URL', '/url']],
    [{ url: 'https://user:secret@example.com/' }, [400, 'BAD_URL', '/url']],
    [{ url: 'https://example.com/#there' }, [400, 'BAD_URL', '/url']],
    [{ url: 'https://10.0.0.1/hooks' }, [400, 'BAD_URL', '/url']],
    [{ url: 'https://0xa9fea9fe/latest' }, [400, 'BAD_URL', '/url']],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, [400, 'BAD_URL', '/url']],
    [{ url: 'https://example.com/', events: ['invoice.sold'] }, [400, 'BAD_EVENT', '/events/0']],
    [{ url: 'https://example.com/', events: [] }, [400, 'INVALID_FIELD', '/events']],
    [{ events: ['*'] }, [400, 'INVALID_FIELD', '/url']],
    [{ url: 'https://example.com/', secret: 'whsec_x' }, [400, 'UNKNOWN_FIELD', '/secret']],
  ]
  t('refuse addresses and events that are not right, and store nothing', async () => {
    await clear()
    const good = await make('/good')
    for (const [body, wanted] of BAD) {
      assert.equal(refused(await api('POST', '/api/webhooks', body)), wanted, JSON.stringify(body))
      if ((body as { url?: string }).url && wanted[1] !== 'UNKNOWN_FIELD') {
        assert.equal(refused(await api('PATCH', `/api/webhooks/${good.id}`, body)), wanted, JSON.stringify(body))
      }
    }
    assert.is((await api('GET', '/api/webhooks')).json.total, 1)
  })

  t('deliver what was told, signed in both schemes, in its order, with nothing of the document', async () => {
    await clear()
    const endpoint = await make('/hooks')
    const before = (await api('GET', '/api/events?limit=200')).json.newest
    const sent = await api('POST', '/api/invoices', order({ external_ref: 'hook-1', metadata: { job: 7 } }))
    const { id } = sent.json.invoice
    await api('POST', `/api/invoices/${id}/payments`)
    await eventually('both to come', async () => at('/hooks').length >= 2)
    const bodies = at('/hooks').map(({ body }) => JSON.parse(body))
    assert.equal(
      bodies.map(({ type, sequence, object_sequence }) => [type, sequence, object_sequence]),
      [
        ['invoice.sent', before + 1, 1],
        ['invoice.paid', before + 2, 2],
      ],
    )
    assert.equal(Object.keys(bodies[0]), ['id', 'type', 'created_at', 'sequence', 'object_sequence', 'test', 'data'])
    const { invoice } = bodies[0].data
    assert.equal(
      [invoice.id, invoice.external_ref, invoice.metadata, bodies[0].test],
      [id, 'hook-1', { job: 7 }, false],
    )
    for (const got of at('/hooks')) {
      assert.is(got.headers['content-type'], 'application/json')
      assert.ok(new Webhook(endpoint.secret).verify(got.body, got.headers as Record<string, string>))
      assert.not.match(got.body, /Consulting|ACME|billing@|Hours/)
    }
    const caught = await api('GET', `/api/events?after=${before}`)
    assert.equal([caught.json.events, caught.json.last, caught.json.newest], [bodies, before + 2, before + 2])
    assert.equal((await api('GET', `/api/events?after=${before}`, undefined, other)).json.events, [])
    const log = await api('GET', `/api/webhooks/${endpoint.id}/deliveries`)
    assert.equal(
      log.json.deliveries.map((one: Json) => [
        one.event_id,
        one.attempt,
        one.state,
        one.status,
        one.response,
        one.next_attempt_at,
      ]),
      bodies.toReversed().map((body) => [body.id, 1, 'delivered', 200, 'thank you', null]),
    )
  })

  t('send a ping that says what came back', async () => {
    await clear()
    const endpoint = await make('/ping', ['invoice.paid'])
    const ping = async () => (await api('POST', `/api/webhooks/${endpoint.id}/test`)).json.delivery
    const good = await ping()
    assert.equal([good.type, good.state, good.status], ['ping', 'delivered', 200])
    assert.ok(
      new Webhook(endpoint.secret).verify(
        at('/ping')[0]?.body ?? '',
        at('/ping')[0]?.headers as Record<string, string>,
      ),
    )
    receiver.answer = (_, response) => response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end()
    const moved = await ping()
    assert.equal([moved.state, moved.status, moved.error, moved.next_attempt_at], ['failed', 302, 'HTTP_302', null])
    assert.equal(at('/elsewhere'), [])
    assert.is((await api('GET', `/api/webhooks/${endpoint.id}`)).json.endpoint.last_error, 'HTTP_302')
  })

  t('sign with both secrets after a rotation', async () => {
    await clear()
    const endpoint = await make('/turn')
    const turned = await api('POST', `/api/webhooks/${endpoint.id}/rotate`)
    assert.is(turned.status, 200, turned.text)
    assert.not.equal(turned.json.secret, endpoint.secret)
    await api('POST', `/api/webhooks/${endpoint.id}/test`)
    const [got] = at('/turn')
    for (const secret of [endpoint.secret, turned.json.secret]) {
      assert.ok(new Webhook(secret).verify(got?.body ?? '', got?.headers as Record<string, string>))
    }
    assert.is(String(got?.headers['x-service-signature']).split('v1=').length, 3)
  })

  t('repeat what failed after a minute, and once more on demand', async () => {
    await clear()
    const endpoint = await make('/fails', ['invoice.sent'])
    receiver.answer = (_, response) => response.writeHead(503, { 'retry-after': '120' }).end('later')
    const askedMs = Date.now()
    await api('POST', '/api/invoices', order())
    const log = async () => (await api('GET', `/api/webhooks/${endpoint.id}/deliveries`)).json.deliveries
    await eventually('the next to be queued', async () => (await log()).length === 2)
    const [next, first] = await log()
    assert.equal([first.state, first.status, first.error, first.response], ['failed', 503, 'HTTP_503', 'later'])
    assert.equal([next.state, next.attempt, next.event_id], ['pending', 2, first.event_id])
    // counted from the answer, which is settled a while later on a busy machine
    const [earliestMs, latestMs] = [askedMs + 120_000, Date.parse(first.settled_at) + 132_000]
    const nextMs = Date.parse(next.next_attempt_at)
    assert.ok(nextMs >= earliestMs && nextMs <= latestMs, `${earliestMs} ${nextMs} ${latestMs}`)
    assert.is(first.next_attempt_at, next.next_attempt_at)
    receiver.answer = (_, response) => response.end()
    const now = await api('POST', `/api/webhooks/${endpoint.id}/deliveries/${first.id}/redeliver`)
    assert.equal([now.status, now.json.delivery.id, now.json.delivery.attempt], [202, next.id, 2], now.text)
    assert.is(now.headers.get('location'), `/api/webhooks/${endpoint.id}/deliveries/${next.id}`)
    await eventually('what was planned for later', async () => at('/fails').length === 2)
    await eventually('its outcome', async () => (await log())[0].state === 'delivered')
    assert.equal(
      (await log()).map((one: Json) => [one.attempt, one.state]),
      [
        [2, 'delivered'],
        [1, 'failed'],
      ],
    )
    const again = await api('POST', `/api/webhooks/${endpoint.id}/deliveries/${first.id}/redeliver`)
    assert.equal([again.status, again.json.delivery.attempt], [202, 1], again.text)
    await eventually('another one', async () => at('/fails').length === 3)
    const other = await make('/late', ['invoice.sent'])
    const range = await api('POST', `/api/webhooks/${other.id}/redeliver`, { after: 0 })
    assert.is(range.status, 202, range.text)
    await eventually('the missed to come', async () => at('/late').length === range.json.queued)
    assert.ok(at('/late').some(({ body }) => JSON.parse(body).id === first.event_id))
    assert.is(new Set(at('/late').map(({ body }) => JSON.parse(body).id)).size, range.json.queued)
  })

  t('tell of other kinds in the same way, to who asks for them', async () => {
    await clear()
    await make('/sites', ['website.*'])
    await make('/invoices', ['invoice.*'])
    const content = { meta: { company_name: 'Hooked' } }
    const metadata = { shop: 'north' }
    const made = await api('POST', '/api/website/generate', { content, external_ref: 'site-hook', metadata })
    assert.ok(made.status < 300, made.text)
    await eventually('the event', async () => at('/sites').length === 1)
    const { type, object_sequence, data } = JSON.parse(at('/sites')[0]?.body ?? '')
    assert.equal(
      [type, object_sequence, data.site.external_ref, data.site.metadata],
      ['website.generated', 1, 'site-hook', metadata],
    )
    assert.equal(at('/invoices'), [])
  })

  t('are seen by whoever runs the platform', async () => {
    await clear()
    const page = await (await fetch(platform.metricsUrls.controllers)).text()
    const figureOf = (name: string) =>
      Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)`, 'm').exec(page)?.[1])
    assert.ok(figureOf('bottega_webhook_attempts_total{outcome="delivered"}') > 0)
    assert.ok(figureOf('bottega_webhook_attempts_total{outcome="failed"}') > 0)
    assert.is(figureOf('bottega_webhook_backlog{attempt="first"}'), 0)
    assert.is(figureOf('bottega_webhook_backlog{attempt="again"}'), 0, 'they went with their endpoint')
    assert.is(figureOf('bottega_webhook_oldest_due_seconds{attempt="again"}'), 0)
    assert.ok(page.includes('bottega_webhook_dead_letters_total'))
  })

  t('say what was wrong with a check that failed', async () => {
    await clear()
    const endpoint = await make('/check', ['invoice.sent'])
    await api('POST', '/api/invoices', order())
    await eventually('it to come', async () => at('/check').length === 1)
    const [{ body, headers } = { body: '', headers: {} }] = at('/check')
    const kept = ['x-service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
    const sent = Object.fromEntries(kept.map((name) => [name, String((headers as Json)[name])]))
    const check = async (change: object) =>
      (await api('POST', '/api/webhooks/verify', { body, headers: sent, secret: endpoint.secret, ...change })).json
    assert.equal((await check({})).findings, [])
    const parsed = await check({ body: JSON.stringify(JSON.parse(body), null, 2) })
    assert.equal([parsed.valid, parsed.findings[0].part], [false, 'body'], JSON.stringify(parsed))
    const stranger = await make('/stranger')
    const mixed = await check({ secret: stranger.secret })
    assert.equal([mixed.valid, mixed.findings[0].part], [false, 'secret'])
    assert.not.match(JSON.stringify(mixed), /whsec_[A-Za-z0-9+/]{10}/)
    const late = await check({ received_at: new Date(Date.now() + 400_000).toISOString() })
    assert.equal(
      late.findings.map(({ part }: Json) => part),
      ['clock'],
    )
    const bare = await check({ headers: {} })
    assert.equal(new Set(bare.findings.map(({ part }: Json) => part)), new Set(['header']))
  })

  t('switch off an endpoint that is gone, and tell its owner', async () => {
    await clear()
    const endpoint = await make('/gone')
    receiver.answer = (_, response) => response.writeHead(410).end()
    await api('POST', `/api/webhooks/${endpoint.id}/test`)
    const shown = (await api('GET', `/api/webhooks/${endpoint.id}`)).json.endpoint
    assert.equal([shown.status, shown.disabled_reason], ['disabled', 'it answered 410 Gone'])
    const refusal = await api('POST', `/api/webhooks/${endpoint.id}/redeliver`, { after: 0 })
    assert.is(refusal.json.code, 'ENDPOINT_DISABLED')
    receiver.got.length = 0
    await api('POST', '/api/invoices', order())
    const on = await api('PATCH', `/api/webhooks/${endpoint.id}`, { status: 'enabled' })
    assert.equal([on.json.endpoint.status, on.json.endpoint.disabled_reason], ['enabled', null])
    assert.equal(receiver.got, [])
    await eventually('the mail', async () =>
      (await mailsIn(platform.mailDir)).some(({ subject }) => /switched off/.test(subject ?? '')),
    )
    const mail = (await mailsIn(platform.mailDir)).find(({ subject }) => /switched off/.test(subject ?? ''))
    assert.equal(
      mail?.to?.map(({ address }) => address),
      ['owner@demo.test'],
    )
    assert.is((await api('GET', '/api/account')).json.account.quotas.webhook_endpoints.used, 1)
  })
})
