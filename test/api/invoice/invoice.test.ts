import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

let platform: Platform
const post = (body: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body, headers)
const described = JSON.parse(
  readFileSync(new URL('../../../api/openapi/openapi-invoices.json', import.meta.url), 'utf8'),
)

/** Nothing is stored: no resource, no number, no mail. */
const stored = async () => {
  const names = await platform.kubectl(['get', 'inv', '-o', 'name'])
  const rows = await query(
    platform.database.url,
    "select (select count(*) from register)::int as numbers, (select count(*) from outbox)::int as mails, (select count(*) from mirror where kind = 'Invoice')::int as views",
  )
  return { resources: names.split('\n').filter(Boolean).length, ...rows[0] }
}

const item = (change: object) => order({ items: [{ description: 'x', qty: 1, unit_cents: 100, ...change }] })
const deep = `{"items":${'['.repeat(50)}${']'.repeat(50)}}`

type Bad = { say: string; body: unknown; status: number; code: string; pointer?: string }
const BAD: Bad[] = [
  {
    say: 'a misspelt field',
    body: order({ cleint_name: 'x' }),
    status: 400,
    code: 'UNKNOWN_FIELD',
    pointer: '/cleint_name',
  },
  {
    say: 'a misspelt field in an item',
    body: item({ unit_cent: 1 }),
    status: 400,
    code: 'UNKNOWN_FIELD',
    pointer: '/items/0/unit_cent',
  },
  {
    say: 'a field of the resource that REST hides',
    body: order({ account: 'other' }),
    status: 400,
    code: 'UNKNOWN_FIELD',
    pointer: '/account',
  },
  {
    say: 'a float in money',
    body: item({ unit_cents: 10.5 }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/items/0/unit_cents',
  },
  {
    say: 'money as text',
    body: item({ unit_cents: '100' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/items/0/unit_cents',
  },
  {
    say: 'money beyond 2^53',
    body: item({ unit_cents: 2 ** 60 }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/items/0/unit_cents',
  },
  {
    say: 'seven decimals in qty',
    body: item({ qty: 0.1234567 }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/items/0/qty',
  },
  { say: 'qty as text', body: item({ qty: '1' }), status: 400, code: 'INVALID_FIELD', pointer: '/items/0/qty' },
  { say: 'a list where an object belongs', body: [], status: 400, code: 'INVALID_FIELD', pointer: '' },
  { say: 'send as text', body: order({ send: 'yes' }), status: 400, code: 'INVALID_FIELD', pointer: '/send' },
  {
    say: 'null as a name',
    body: order({ client_name: null }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/client_name',
  },
  {
    say: '5,000 items',
    body: order({ items: Array.from({ length: 5_000 }, () => ({ description: 'x', qty: 1, unit_cents: 1 })) }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/items',
  },
  { say: 'malformed JSON', body: '{"send": true,', status: 400, code: 'MALFORMED_JSON' },
  { say: 'two JSON values', body: '{} {}', status: 400, code: 'MALFORMED_JSON' },
  { say: 'deep nesting', body: deep, status: 400, code: 'MALFORMED_JSON' },
  {
    say: 'a prototype key',
    body: '{"__proto__": {"send": true}}',
    status: 400,
    code: 'UNKNOWN_FIELD',
    pointer: '/__proto__',
  },
  {
    say: 'an unknown currency',
    body: order({ currency: 'XXQ' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/currency',
  },
  {
    say: 'a day that is none',
    body: order({ due_date: '2027-02-30' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/due_date',
  },
  {
    say: 'two addresses',
    body: order({ client_email: 'a@b.test,c@d.test' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/client_email',
  },
  {
    say: 'a mail header in the name',
    body: order({ client_name: 'ACME\r\nBcc: evil@x.test' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/client_name',
  },
  {
    say: 'NUL in a description',
    body: item({ description: 'a\u0000b' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/items/0/description',
  },
  {
    say: 'a bidi override in the terms',
    body: order({ terms: 'pay \u202e001 EUR' }),
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/terms',
  },
  {
    say: 'a lone surrogate',
    body: '{"client_name":"\\ud800"}',
    status: 400,
    code: 'INVALID_FIELD',
    pointer: '/client_name',
  },
  {
    say: 'a bad reference',
    body: order({ external_ref: 'a b' }),
    status: 400,
    code: 'BAD_EXTERNAL_REF',
    pointer: '/external_ref',
  },
  {
    say: 'a reference of 129',
    body: order({ external_ref: 'x'.repeat(129) }),
    status: 400,
    code: 'BAD_EXTERNAL_REF',
    pointer: '/external_ref',
  },
  {
    say: 'an object in metadata',
    body: order({ metadata: { a: {} } }),
    status: 400,
    code: 'BAD_METADATA',
    pointer: '/metadata/a',
  },
  {
    say: '21 keys of metadata',
    body: order({ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, n])) }),
    status: 400,
    code: 'BAD_METADATA',
    pointer: '/metadata',
  },
  {
    say: '2 KB of metadata',
    body: order({ metadata: { a: 'x'.repeat(2048) } }),
    status: 400,
    code: 'BAD_METADATA',
    pointer: '/metadata',
  },
  { say: 'no items', body: order({ items: [] }), status: 409, code: 'NO_ITEMS', pointer: '/items' },
  { say: 'a total of zero', body: item({ unit_cents: 0 }), status: 409, code: 'ZERO_TOTAL', pointer: '/items' },
  {
    say: 'a discount above the total',
    body: order({ discount_cents: 999_999 }),
    status: 409,
    code: 'ZERO_TOTAL',
    pointer: '/items',
  },
  {
    say: 'paid without send',
    body: order({ send: false, paid: { method: 'cash' } }),
    status: 400,
    code: 'PAID_REQUIRES_SEND',
    pointer: '/paid',
  },
  {
    say: 'paid above the total',
    body: order({ paid: { method: 'cash', amount_cents: 144_001 } }),
    status: 400,
    code: 'BAD_PAID_AMOUNT',
    pointer: '/paid/amount_cents',
  },
  { say: 'an issuer of somebody else', body: order({ issuer_id: 'iss-other' }), status: 404, code: 'BAD_ISSUER' },
]

/** Text that is allowed and must stay text: in the answer, on the page, in the mail, in the PDF. */
const HOSTILE = `<img src=x onerror=alert(1)> "'& \\) endobj {{7*7}} \${x} %0d%0a ; drop table invoices -- ‮`.replace(
  '\u202e',
  '',
)

spec('bad input', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  for (const { say, body, status, code, pointer } of BAD) {
    t(`${say} is ${code}, with a pointer, and nothing is stored`, async () => {
      const reply = await post(body)
      assert.is(reply.status, status, reply.text)
      assert.is(reply.json.code, code)
      assert.is(reply.headers.get('content-type'), 'application/problem+json; charset=utf-8')
      if (pointer !== undefined)
        assert.ok(
          reply.json.errors.some((one: { pointer: string }) => one.pointer === pointer),
          reply.text,
        )
      assert.ok(reply.json.next.length > 10 && reply.json.detail.length > 5 && reply.json.request_id)
    })
  }

  t('10,000 items are refused before they are read', async () => {
    const items = Array.from({ length: 10_000 }, () => ({ description: 'x', qty: 1, unit_cents: 1 }))
    const reply = await post(order({ items }))
    assert.equal([reply.status, reply.json.code], [413, 'BODY_TOO_LARGE'])
  })

  t('5 MB is refused before it is read', async () => {
    const reply = await post(order({ terms: 'x'.repeat(5_000_000) }))
    assert.is(reply.status, 413)
    assert.is(reply.json.code, 'BODY_TOO_LARGE')
  })

  t('another content type, bad UTF-8 and a bad path have answers too', async () => {
    assert.is(
      (await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' })).json.code,
      'UNSUPPORTED_MEDIA_TYPE',
    )
    const bytes = await fetch(`${platform.baseUrl}/api/invoices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.owner}`, 'content-type': 'application/json' },
      body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    })
    assert.is(((await bytes.json()) as { code: string }).code, 'MALFORMED_JSON')
    assert.is((await call(platform.baseUrl, platform.owner, 'GET', '/api/invoices/%')).status, 404)
    assert.is((await call(platform.baseUrl, platform.owner, 'GET', '/api/nothing')).json.code, 'NOT_FOUND')
    const wrong = await call(platform.baseUrl, platform.owner, 'PUT', '/api/invoices')
    assert.is(wrong.status, 405)
    assert.is(wrong.headers.get('allow'), 'POST, GET, HEAD')
  })

  t('no token, garbage and a stranger get 401 with a challenge', async () => {
    for (const token of [null, 'garbage', 'btg_0123456789abcdef_aaaaaaaaaaaaaaaaaaaaaaaaaaa', `${platform.owner}x`]) {
      const reply = await call(platform.baseUrl, token, 'GET', '/api/invoices')
      assert.is(reply.status, 401)
      assert.is(reply.json.code, 'UNAUTHENTICATED')
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/)
    }
  })

  t('after all of that nothing is stored', async () => {
    assert.equal(await stored(), { resources: 0, numbers: 0, mails: 0, views: 0 })
  })

  t('hostile text in every field is kept as text and escaped wherever it is shown', async () => {
    const line = HOSTILE.replaceAll('\n', ' ')
    const { status, json } = await post(
      order({
        client_name: line,
        terms: `${HOSTILE}\n\tsecond line`,
        items: [{ description: HOSTILE, qty: 1, unit_cents: 100 }],
        paid: { method: line.slice(0, 100), reference: line.slice(0, 100) },
      }),
    )
    assert.is(status, 201)
    assert.is(json.invoice.client_name, line)
    const path = json.url.slice(platform.baseUrl.length)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const entered = await call(platform.baseUrl, null, 'POST', path, `password=${json.password}`, form)
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = await call(platform.baseUrl, null, 'GET', path, undefined, { cookie })
    assert.not.match(page.text, /<img/)
    assert.ok(page.text.includes('&lt;img src=x onerror=alert(1)&gt;'))
  })

  t('answers fit the description, and every documented code is in the catalogue', async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    const fits = (schema: object, body: unknown) => {
      const check = ajv.compile({ ...schema, components: described.components })
      assert.ok(check(body), JSON.stringify(check.errors))
    }
    const answer = (path: string, method: string, status: string) =>
      described.paths[path][method].responses[status].content['application/json'].schema
    const made = await post(order({ external_ref: 'described' }))
    fits(answer('/api/invoices', 'post', '201'), made.json)
    const list = await call(platform.baseUrl, platform.owner, 'GET', '/api/invoices')
    fits(answer('/api/invoices', 'get', '200'), list.json)
    const one = await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices/${made.json.invoice.id}`)
    fits(answer('/api/invoices/{id}', 'get', '200'), one.json)
    const served = await call(platform.baseUrl, null, 'GET', '/api/openapi-invoices.json')
    assert.equal(served.json, described)
    const help = await call(platform.baseUrl, null, 'GET', '/problems/NO_ITEMS')
    assert.ok(help.text.includes(PROBLEMS.NO_ITEMS.next))
  })

  t('the profile is frozen at send: a later change leaves what was sent', async () => {
    const path = '/api/invoices/settings/profile'
    const change = (body: object) => call(platform.baseUrl, platform.owner, 'PATCH', path, body)
    assert.is((await change({ time_zone: 'Mars/Base' })).json.code, 'INVALID_FIELD')
    const set = await change({
      legal_name: 'Bottega di Prova',
      address: 'Via Uno 1\n20100 Milano',
      tax_id: 'IT123',
      time_zone: 'Europe/Rome',
    })
    assert.is(set.json.profile.legal_name, 'Bottega di Prova')
    const before = await post(order())
    await change({ legal_name: 'Another Name', footer: null })
    const sends = await query(
      platform.database.url,
      "select frozen -> 'seller' ->> 'legalName' as seller from sends where resource = $1",
      [before.json.invoice.id],
    )
    assert.equal(sends, [{ seller: 'Bottega di Prova' }])
  })
})
