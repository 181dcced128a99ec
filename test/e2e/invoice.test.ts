import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../hack/platform/postgres.ts'
import { assert, spec } from '../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  startPlatform,
} from '../support/stage/invoicing.ts'

let platform: Platform
const post = (body: unknown, token = platform.owner) => call(platform.baseUrl, token, 'POST', '/api/invoices', body)
const get = (path: string, token = platform.owner) => call(platform.baseUrl, token, 'GET', path)

const manifest = (name: string, change: object = {}) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Invoice',
  metadata: { name, namespace: platform.namespace.name },
  spec: {
    account: 'demo',
    send: true,
    clientName: 'ACME',
    clientEmail: 'billing@acme.test',
    currency: 'EUR',
    dueDate: '2027-12-20',
    taxRateBp: 2000,
    items: [{ description: 'October retainer', qty: '1.5', unitCents: 80_000 }],
    ...change,
  },
})
const apply = (object: object) => platform.kubectl(['apply', '-f', '-'], object)
const ready = (name: string) => platform.kubectl(['wait', '--for=condition=Ready', `inv/${name}`, '--timeout=120s'])
const mailed = () =>
  eventually('every mail to be sent', async () => {
    const left = await query(platform.database.url, "select from outbox where channel = 'mail' and state <> 'sent'")
    return left.length === 0
  })
const condition = async (name: string, type: string) => {
  const object = JSON.parse(await platform.kubectl(['get', 'inv', name, '-o', 'json']))
  return object.status?.conditions?.find((one: { type: string }) => one.type === type)
}

spec('an invoice, end to end', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('one call numbers, freezes, mails, and answers with link and password', async () => {
    const { status, json, headers } = await post(order({ external_ref: 'order-1001', metadata: { po: 7 } }))
    assert.is(status, 201)
    assert.match(json.number, /^INV-\d{3}-0001$/)
    assert.is(json.invoice.total_cents, 144_000)
    assert.is(json.invoice.status, 'sent')
    assert.equal(json.invoice.metadata, { po: 7 })
    assert.is(headers.get('location'), `/api/invoices/${json.invoice.id}`)
    assert.match(json.password, /^[2-9A-HJ-NP-Za-km-z]{12}$/)

    const [mail] = await eventually('the mail', async () => {
      const mails = await mailsIn(platform.mailDir)
      return mails.length > 0 && mails
    })
    assert.ok(mail)
    assert.is(mail.to?.[0]?.address, 'billing@acme.test')
    assert.ok(mail.text?.includes(json.url) && mail.text.includes(json.password), 'link and password are in the mail')
    assert.ok(mail.html?.includes(json.password))
    assert.ok(mail.subject?.includes('1,440.00 EUR') && mail.subject.includes(json.number))

    const read = await eventually('the delivery in the view', async () => {
      const { json: body } = await get(`/api/invoices/${json.invoice.id}`)
      return body.invoice.delivery.state === 'accepted' && body.invoice
    })
    assert.equal({ ...read, delivery: null }, { ...json.invoice, delivery: null })

    const pdf = await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices/${json.invoice.id}/pdf`)
    assert.ok(pdf.text.startsWith('%PDF-1.7'))
    const { json: snapshots } = await get(`/api/invoices/${json.invoice.id}/snapshots`)
    assert.is(snapshots.snapshots.length, 1)
    assert.is(`"${snapshots.snapshots[0].sha256}"`, pdf.headers.get('etag'))
  })

  t('kubectl and REST take consecutive numbers from one register', async () => {
    const before = Number((await post(order())).json.number.slice(-4))
    await apply(manifest('inv-october-acme'))
    await ready('inv-october-acme')
    const after = Number((await post(order())).json.number.slice(-4))
    assert.is(after, before + 2)
    const table = await platform.kubectl(['get', 'inv'])
    assert.match(table, /NUMBER +STATUS +TOTAL +DUE +READY +AGE/)
    const [, row = ''] = /^(inv-october-acme .*)$/m.exec(table) ?? []
    assert.match(
      row,
      new RegExp(`INV-\\d{3}-${String(before + 1).padStart(4, '0')} +sent +1,440.00 EUR +2027-12-20 +True`),
    )
    const seen = await get('/api/invoices/inv-october-acme')
    assert.is(seen.json.invoice.number, row.split(/ +/)[1])
  })

  t('the page opens with the password alone, without a script, and a GET changes nothing', async () => {
    const { json } = await post(order({ client_name: '<script>alert(1)</script>' }))
    const path = json.url.slice(platform.baseUrl.length)
    const gate = await call(platform.baseUrl, null, 'GET', path)
    assert.match(gate.text, /type="password"/)
    assert.not.match(gate.text, /ACME|1,440|<script/)
    assert.match(gate.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const wrong = await call(platform.baseUrl, null, 'POST', path, 'password=wrong', form)
    assert.is(wrong.status, 403)
    const right = await call(platform.baseUrl, null, 'POST', path, `password=${json.password}`, form)
    assert.is(right.status, 303)
    const cookie = right.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = await call(platform.baseUrl, null, 'GET', path, undefined, { cookie })
    assert.ok(page.text.includes('1,440.00 EUR') && page.text.includes(json.number))
    assert.not.match(page.text, /<script/i)
    const pdf = await call(platform.baseUrl, null, 'GET', `${path}/pdf`, undefined, { cookie })
    assert.is(pdf.headers.get('content-type'), 'application/pdf')
    assert.is((await call(platform.baseUrl, null, 'GET', `${path}/pdf`)).status, 401)
    const other = await post(order())
    const foreign = await call(
      platform.baseUrl,
      null,
      'GET',
      other.json.url.slice(platform.baseUrl.length),
      undefined,
      { cookie },
    )
    assert.match(foreign.text, /type="password"/)
    assert.is((await call(platform.baseUrl, null, 'GET', `${path}x`)).status, 404)
  })

  t('a client with an account gets a locked link and no password', async () => {
    const { json } = await post(order({ client_email: 'Other@demo.test' }))
    assert.is(json.password, undefined)
    const path = json.url.slice(platform.baseUrl.length)
    assert.is((await call(platform.baseUrl, null, 'GET', path)).status, 401)
    assert.is((await call(platform.baseUrl, platform.owner, 'GET', path)).status, 401)
    const theirs = await call(platform.baseUrl, await platform.token('other'), 'GET', path)
    assert.ok(theirs.text.includes(json.number))
    const mail = await eventually('the mail', async () =>
      (await mailsIn(platform.mailDir)).find((one) => one.text?.includes(json.url)),
    )
    assert.not.match(mail.text ?? '', /[Pp]assword:/)
  })

  t('a send under the reference of a draft is refused at once, and the draft stays one', async () => {
    const external_ref = 'draft-then-send'
    const draft = await post(order({ external_ref, send: false }))
    assert.is(draft.status, 201, draft.text)
    const sent = await post(order({ external_ref }))
    assert.equal([sent.status, sent.json.code], [409, 'REF_PAYLOAD_MISMATCH'], sent.text)
    assert.equal(
      sent.json.errors.map((one: { pointer: string }) => one.pointer),
      ['/send'],
    )
    assert.is((await get(draft.headers.get('location') ?? '')).json.invoice.status, 'draft')
    assert.is((await post(order({ external_ref, send: false }))).json.idempotent_replay, true)
  })

  t('what nobody can read on the channel of views ends nothing, and hides nothing', async () => {
    const pid = platform.api.pid()
    for (const payload of ['garbage', '{}', '[5]', 'null']) {
      await query(platform.database.url, "select pg_notify('bottega_mirror', $1)", [payload])
    }
    assert.is((await post(order())).status, 201)
    assert.is(platform.api.pid(), pid)
  })

  t('50 parallel posts with one external_ref: one invoice, one mail, 49 replays', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(order({ external_ref: 'race' }))))
    assert.is(new Set(answers.map(({ json }) => json.number)).size, 1)
    assert.is(answers.filter(({ status }) => status === 201).length, 1)
    assert.is(answers.filter(({ status, json }) => status === 200 && json.idempotent_replay).length, 49)
    assert.is(new Set(answers.map(({ json }) => json.password)).size, 1)
    const caught = async () =>
      (await mailsIn(platform.mailDir)).filter((mail) => mail.text?.includes(answers[0]?.json.url)).length
    await eventually('its mail', async () => (await caught()) > 0)
    await sleep(500)
    assert.is(await caught(), 1)
    const other = await post(order({ external_ref: 'race', currency: 'USD', client_email: 'else@acme.test' }))
    assert.is(other.status, 409)
    assert.is(other.json.code, 'REF_PAYLOAD_MISMATCH')
    assert.equal(other.json.errors.map((one: { pointer: string }) => one.pointer).sort(), [
      '/client_email',
      '/currency',
    ])
  })

  t('a draft has no number; PATCH edits and then sends it; a sent one cannot be deleted', async () => {
    const { status, json } = await post(order({ send: false, external_ref: 'draft-first' }))
    assert.is(status, 201)
    assert.is(json.number, null)
    assert.is(json.invoice.status, 'draft')
    const path = `/api/invoices/${json.invoice.id}`
    const draft = await call(platform.baseUrl, platform.owner, 'GET', `${path}/pdf`)
    assert.ok(draft.text.startsWith('%PDF'), draft.text.slice(0, 200))
    const edited = await call(platform.baseUrl, platform.owner, 'PATCH', path, { discount_cents: 20_000, terms: null })
    assert.is(edited.json.invoice.total_cents, 120_000)
    const sent = await call(platform.baseUrl, platform.owner, 'PATCH', path, { send: true })
    assert.is(sent.json.invoice.status, 'sent')
    assert.match(sent.json.invoice.number, /^INV-/)
    const again = await post(order({ send: false, external_ref: 'draft-first' }))
    assert.is(again.json.invoice.id, json.invoice.id, 'the call that made the draft is known after its edits')
    const kept = await call(platform.baseUrl, platform.owner, 'DELETE', path)
    assert.is(kept.status, 409)
    assert.is(kept.json.code, 'LOCKED_NUMBERED')
    const second = await post(order({ send: false }))
    const gone = await call(platform.baseUrl, platform.owner, 'DELETE', `/api/invoices/${second.json.invoice.id}`)
    assert.is(gone.status, 204)
    assert.is((await get(`/api/invoices/${second.json.invoice.id}`)).status, 404)
  })

  t('test mode takes a series of its own and sends no mail; receipt mode is paid at once', async () => {
    const mailsTo = async (address: string) =>
      (await mailsIn(platform.mailDir)).filter((mail) => mail.to?.[0]?.address === address).length
    const test = await post(order({ test: true, client_email: 'test-mode@acme.test' }))
    assert.match(test.json.number, /^TEST-\d{3}-0001$/)
    assert.is(test.json.would_email.to, 'test-mode@acme.test')
    const receipt = await post(order({ client_email: 'paid@acme.test', paid: { method: 'cash', reference: 'till 4' } }))
    assert.is(receipt.json.invoice.status, 'paid')
    assert.is(receipt.json.invoice.balance_cents, 0)
    assert.equal(
      receipt.json.invoice.payments.map((one: { declared_by: string }) => one.declared_by),
      ['owner'],
    )
    const locked = await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${receipt.json.invoice.id}`, {
      terms: 'net 10',
    })
    assert.is(locked.json.code, 'LOCKED_PAID')
    await eventually('the receipt', async () => (await mailsTo('paid@acme.test')) === 1)
    assert.is(await mailsTo('test-mode@acme.test'), 0)
  })

  t('the list filters, pages, counts, and shows what a POST has just answered', async () => {
    const made = await post(order({ client_email: 'listed@acme.test', external_ref: 'listed-1' }))
    const newest = await get('/api/invoices?limit=1')
    assert.equal(
      { ...newest.json.invoices[0], delivery: null, updated_at: null },
      { ...made.json.invoice, delivery: null, updated_at: null },
    )
    const one = await get(
      '/api/invoices?client_email=listed@acme.test&external_ref=listed-1&status=sent&issuer_id=iss-default&since=2020-01-01',
    )
    assert.is(one.json.total, 1)
    assert.is((await get('/api/invoices?since=2999-01-01')).json.total, 0)
    assert.is((await get('/api/invoices?sttaus=sent')).json.code, 'UNKNOWN_PARAMETER')
    assert.is((await get('/api/invoices?limit=201')).json.code, 'INVALID_FIELD')
    const foreign = await get(`/api/invoices/${made.json.invoice.id}`, await platform.token('other'))
    assert.is(foreign.status, 404)
    assert.is((await get('/api/invoices', await platform.token('other'))).json.total, 0)
  })

  t('a manifest applied again after a deletion is the same invoice; another payload is stalled', async () => {
    await apply(manifest('inv-again'))
    await ready('inv-again')
    const first = await get('/api/invoices/inv-again')
    await mailed()
    const mails = (await mailsIn(platform.mailDir)).length
    await platform.kubectl(['delete', 'inv', 'inv-again'])
    assert.is((await get('/api/invoices/inv-again')).json.invoice.number, first.json.invoice.number)
    await apply(manifest('inv-again'))
    await ready('inv-again')
    assert.is((await get('/api/invoices/inv-again')).json.invoice.number, first.json.invoice.number)
    await platform.kubectl(['delete', 'inv', 'inv-again'])
    await apply(manifest('inv-again', { currency: 'USD' }))
    const stalled = await eventually('Stalled', () => condition('inv-again', 'Stalled'))
    assert.match(stalled.message, /^REF_PAYLOAD_MISMATCH/)
    assert.is(stalled.reason, 'RefPayloadMismatch')
    await sleep(300)
    assert.is((await mailsIn(platform.mailDir)).length, mails)
  })

  t('a hostile resource is refused by schema, CEL or policy, or stalls with the REST code', async () => {
    const refused = async (change: object) =>
      assert.rejects(apply(manifest(`inv-bad-${Math.random().toString(36).slice(2)}`, change)), /./)
    await refused({ items: [{ description: 'x', qty: '1', unitCents: 1.5 }] })
    await refused({ items: Array.from({ length: 501 }, () => ({ description: 'x', qty: '1', unitCents: 1 })) })
    await refused({ currency: 'euro' })
    await refused({ paid: { method: 'cash' }, send: false })
    await refused({ clientEmail: 'a@b.test\nBcc: c@d.test' })
    await apply(manifest('inv-empty', { items: [] }))
    const stalled = await eventually('Stalled', () => condition('inv-empty', 'Stalled'))
    assert.match(stalled.message, /^NO_ITEMS/)
    await apply(manifest('inv-nobody', { account: 'nobody' }))
    const waiting = await eventually('a verdict', () => condition('inv-nobody', 'Ready'))
    assert.is(waiting.reason, 'AccountMissing')
    await assert.rejects(
      platform.kubectl([
        'patch',
        'inv',
        'inv-empty',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"number":"INV-026-0099"}}',
      ]),
      /denied|forbidden|only/i,
    )
    await ready('inv-october-acme')
  })

  t('every series verifies, and its numbers are 1 to n', async () => {
    const series = await query(platform.database.url, 'select id, last_seq::int as last from series')
    assert.ok(series.length >= 2)
    for (const { id, last } of series) {
      const [row] = await query(platform.database.url, 'select count::int, first_bad from verify_series($1)', [id])
      assert.equal(row, { count: last, first_bad: null })
    }
  })

  t(
    'a restart of everything with nothing changed writes nothing and sends nothing',
    async () => {
      await mailed()
      const versions = () =>
        platform.kubectl([
          'get',
          'bottega',
          '-o',
          'jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}',
        ])
      const rows =
        'select (select count(*) from sends)::int as sends, (select count(*) from outbox)::int as mails, (select count(*) from facts)::int as facts, (select max(xmin::text::bigint) from mirror)::text as mirror'
      const look = () => Promise.all([versions(), query(platform.database.url, rows), mailsIn(platform.mailDir)])
      let last = await look()
      await eventually('the last views to be written', async () => {
        await sleep(1_000)
        const [earlier, now] = [last, await look()]
        last = now
        return JSON.stringify(earlier) === JSON.stringify(now)
      })
      const [before, ledger, mails] = last
      await Promise.all([platform.controllers.stop(), platform.api.stop()])
      await Promise.all([platform.controllers.start(), platform.api.start()])
      await sleep(3_000)
      assert.is(await versions(), before)
      assert.equal(await query(platform.database.url, rows), ledger)
      assert.is((await mailsIn(platform.mailDir)).length, mails.length)
    },
    { timeoutMs: 180_000 },
  )

  t('a plain create-and-send costs one create and one status patch', async () => {
    const writes = async (url: string) => {
      const text = await (await fetch(url)).text()
      const lines = text
        .split('\n')
        .filter((line) => /^rest_client_requests_total\{.*method="(POST|PATCH|PUT|DELETE)"/.test(line))
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    }
    const { api, controllers } = platform.metricsUrls
    const start = [await writes(api), await writes(controllers)] as const
    const began = performance.now()
    const ids: string[] = []
    for (let n = 0; n < 10; n++) {
      const { status, json, text } = await post(order())
      assert.is(status, 201, text)
      ids.push(json.invoice.id)
    }
    await sleep(500)
    // On a busy machine work lasts 2 s, and says so: in a patch, and in an Event.
    const events = JSON.parse(await platform.kubectl(['get', 'events', '-o', 'json'])).items as Json[]
    const slow = events.filter(({ involvedObject }) => ids.includes(involvedObject.name)).length * 2
    // The lease is renewed by a PATCH every 0.8 s (kube/lease.ts), one more at the edges; the rest is ours.
    const renewals = Math.ceil((performance.now() - began) / 800) + 1
    assert.is((await writes(api)) - start[0], 10)
    const patches = (await writes(controllers)) - start[1]
    assert.ok(patches >= 10 && patches <= 10 + renewals + slow, `${patches} writes by the controllers`)
  })
})
