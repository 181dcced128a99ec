/** Issuers over REST and kubectl: registers of their own, refusals, archiving, logos, and the turn of the year in two zones. */
import { query } from '../../../hack/platform/postgres.ts'
import { jpeg, plain, png, UNFIT, UNREADABLE, webp } from '../../support/builders/logos.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

let platform: Platform
const PATH = '/api/invoices/issuers'
const ask = (method: string, path: string, body?: unknown, token = platform.owner) =>
  call(platform.baseUrl, token, method, path, body)
const make = async (body: Json): Promise<Json> => {
  const made = await ask('POST', PATH, body)
  assert.is(made.status, 201, made.text)
  assert.is(made.headers.get('location'), `${PATH}/${made.json.issuer.id}`)
  return made.json.issuer
}
const patch = (id: string, body: Json) => ask('PATCH', `${PATH}/${id}`, body)
const send = async (change: Json = {}): Promise<Json> => {
  const sent = await ask('POST', '/api/invoices', order(change))
  assert.is(sent.status, 201, sent.text)
  return sent.json
}
const refusalOf = ({ status, json }: { status: number; json: Json }) => [
  status,
  json?.code,
  json?.errors?.[0]?.pointer ?? null,
]

/** Bytes as they are. */
const upload = async (id: string, body: Uint8Array, headers: Record<string, string> = {}) => {
  const response = await fetch(`${platform.baseUrl}${PATH}/${id}/logo`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.owner}`, 'content-type': 'application/octet-stream', ...headers },
    body,
    signal: AbortSignal.timeout(40_000),
  })
  return { status: response.status, headers: response.headers, json: (await response.json()) as Json }
}

const frozenOf = async (id: string): Promise<Json[]> =>
  (await query(platform.database.url, 'select frozen from sends where resource = $1 order by n', [id])).map(
    (row) => (row as { frozen: Json }).frozen,
  )

spec('issuers over REST', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('the default one is listed before anything was made, and is the profile', async () => {
    const { json } = await ask('GET', PATH)
    assert.equal([json.total, json.limit, json.offset, json.issuers.length], [1, 50, 0, 1])
    const [first] = json.issuers
    assert.equal(
      [first.id, first.is_default, first.number_prefix, first.next_number, first.time_zone, first.legal_name],
      ['iss-default', true, 'INV', 1, 'UTC', 'demo Studio'],
    )
    assert.equal((await ask('GET', '/api/invoices/settings/profile')).json.profile, first)
    assert.equal((await ask('GET', `${PATH}/iss-default`)).json.issuer, first)
  })

  t('one that is made, read, changed and listed is the same everywhere', async () => {
    const body = {
      legal_name: 'ACME SL',
      tax_id: 'ESB1',
      address: 'Calle Mayor 1',
      city: 'Madrid',
      postcode: '28001',
      country: 'ES',
      email: 'acme@demo.test',
      iban: 'ES91 2100 0418 4502 0005 1332',
      footer: 'Thank you',
      time_zone: 'Europe/Madrid',
      number_prefix: 'ACME',
    }
    const made = await make(body)
    for (const [name, value] of Object.entries(body)) {
      assert.is(made[name], name === 'iban' ? 'ES9121000418450200051332' : value, name)
    }
    assert.equal((await ask('GET', `${PATH}/${made.id}`)).json.issuer, made)
    const { json } = await patch(made.id, { footer: null, city: 'Lugo' })
    assert.equal([json.issuer.footer, json.issuer.city, json.issuer.tax_id], [null, 'Lugo', 'ESB1'])
    const listed = (await ask('GET', PATH)).json.issuers
    assert.equal(
      listed.map(({ id }: Json) => id),
      ['iss-default', made.id],
    )
    assert.equal(listed[1], json.issuer)
    assert.equal((await ask('GET', `${PATH}?limit=1&offset=1`)).json.issuers, [json.issuer])
  })

  t('one without a prefix is given one that is free', async () => {
    const [a, b] = [await make({}), await make({ legal_name: 'B' })]
    assert.equal([a.number_prefix, b.number_prefix], ['INV2', 'INV3'])
  })

  t('a repeat under an Idempotency-Key is one issuer', async () => {
    const again = () =>
      call(platform.baseUrl, platform.owner, 'POST', PATH, { number_prefix: 'ONCE' }, { 'idempotency-key': 'iss-once' })
    const [first, second] = [await again(), await again()]
    assert.equal([first.status, second.status, second.json], [201, 201, first.json])
  })

  t('each refusal has its code, its place and its status', async () => {
    const { id } = await make({ number_prefix: 'FULL', next_number: 10 })
    await send({ issuer_id: id })
    const { invoice } = await send({})
    const moved = await ask('PATCH', `/api/invoices/${invoice.id}`, { issuer_id: id })
    assert.equal(refusalOf(moved), [409, 'LOCKED_NUMBERED', '/issuer_id'], 'a rule of the cluster, in our words')
    const refusals: [string, string, Json, unknown[]][] = [
      ['POST', PATH, { number_prefix: 'TEST' }, [400, 'BAD_PREFIX', '/number_prefix']],
      ['POST', PATH, { number_prefix: 'CNX' }, [400, 'BAD_PREFIX', '/number_prefix']],
      ['POST', PATH, { number_prefix: 'acme' }, [400, 'BAD_PREFIX', '/number_prefix']],
      ['POST', PATH, { number_prefix: 'NINECHARS' }, [400, 'BAD_PREFIX', '/number_prefix']],
      ['POST', PATH, { number_prefix: 'FULL' }, [409, 'PREFIX_TAKEN', '/number_prefix']],
      ['POST', PATH, { number_prefix: 'INV' }, [409, 'PREFIX_TAKEN', '/number_prefix']],
      ['POST', PATH, { time_zone: 'Mars/Base' }, [400, 'INVALID_FIELD', '/time_zone']],
      ['POST', PATH, { country: 'Spain' }, [400, 'INVALID_FIELD', '/country']],
      ['POST', PATH, { iban: 'ES9221000418450200051332' }, [400, 'INVALID_FIELD', '/iban']],
      ['POST', PATH, { legal_name: 'a\nb' }, [400, 'INVALID_FIELD', '/legal_name']],
      ['POST', PATH, { next_number: 0 }, [400, 'INVALID_FIELD', '/next_number']],
      ['POST', PATH, { archived: true }, [400, 'UNKNOWN_FIELD', '/archived']],
      ['POST', PATH, { logo: null }, [400, 'UNKNOWN_FIELD', '/logo']],
      ['PATCH', `${PATH}/${id}`, { number_prefix: 'OTHER' }, [409, 'PREFIX_IN_USE', '/number_prefix']],
      ['PATCH', `${PATH}/${id}`, { number_prefix: null }, [400, 'BAD_PREFIX', '/number_prefix']],
      ['PATCH', `${PATH}/${id}`, { next_number: 99 }, [409, 'NEXT_NUMBER_FIXED', '/next_number']],
      ['PATCH', `${PATH}/${id}`, { next_number: null }, [400, 'INVALID_FIELD', '/next_number']],
      ['PATCH', `${PATH}/iss-default`, { archived: true }, [409, 'ISSUER_DEFAULT', null]],
      ['DELETE', `${PATH}/iss-default`, undefined, [409, 'ISSUER_DEFAULT', null]],
      ['PATCH', '/api/invoices/settings/profile', { archived: true }, [400, 'UNKNOWN_FIELD', '/archived']],
      ['GET', `${PATH}/iss-nobody`, undefined, [404, 'NOT_FOUND', null]],
      ['GET', `${PATH}?archived=maybe`, undefined, [400, 'INVALID_FIELD', '/archived']],
    ]
    for (const [method, path, body, wanted] of refusals) {
      assert.equal(refusalOf(await ask(method, path, body)), wanted, `${method} ${path} ${JSON.stringify(body)}`)
    }
    assert.is((await ask('GET', `${PATH}/${id}`)).json.issuer.next_number, 11)
  })

  t("another account's issuer is not there: neither to read nor to invoice under", async () => {
    const { id } = await make({ number_prefix: 'MINE' })
    const other = await platform.token('other')
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/logo'],
      ['DELETE', '/logo'],
    ] as const) {
      const body = method === 'PATCH' ? { footer: 'x' } : undefined
      assert.is((await ask(method, `${PATH}/${id}${path}`, body, other)).json.code, 'NOT_FOUND', `${method} ${path}`)
    }
    const stolen = await ask('POST', '/api/invoices', order({ issuer_id: id }), other)
    assert.equal(refusalOf(stolen), [404, 'BAD_ISSUER', '/issuer_id'])
    const draft = await ask('POST', '/api/invoices', order({ send: false }), other)
    const moved = await ask('PATCH', `/api/invoices/${draft.json.invoice.id}`, { issuer_id: id }, other)
    assert.equal(refusalOf(moved), [404, 'BAD_ISSUER', '/issuer_id'])
  })

  const applied = (name: string, issuerId: string, account = 'demo') =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Invoice',
      metadata: { name },
      spec: {
        account,
        issuerId,
        send: true,
        clientEmail: 'billing@acme.test',
        items: [{ description: 'x', qty: '1', unitCents: 100 }],
      },
    })
  const statusOf = async (name: string): Promise<Json> =>
    JSON.parse(await platform.kubectl(['get', 'inv', name, '-o', 'json'])).status ?? {}
  const stalledAs = (status: Json): string | null => {
    const stalled = status.conditions?.find(({ type }: Json) => type === 'Stalled')
    return stalled?.status === 'True' ? `${stalled.reason} ${stalled.message.split(':')[0]}` : null
  }

  t('by kubectl a stranger is Stalled with the code that REST answers, and numbers nothing', async () => {
    const { id } = await make({ number_prefix: 'KUBE' })
    await applied('inv-of-other', id, 'other')
    await applied('inv-of-nobody', 'iss-nobody')
    for (const name of ['inv-of-other', 'inv-of-nobody']) {
      const said = await eventually(name, async () => stalledAs(await statusOf(name)))
      assert.is(said, 'BadIssuer BAD_ISSUER')
      assert.is((await statusOf(name)).number, undefined)
    }
  })

  t('an archived one invoices no more, keeps what it has, and comes back with what waited for it', async () => {
    const { id } = await make({ number_prefix: 'OLD' })
    const { invoice } = await send({ issuer_id: id })
    assert.is(invoice.number, 'OLD-026-0001')
    const draft = (await ask('POST', '/api/invoices', order({ issuer_id: id, send: false }))).json.invoice
    assert.equal(
      [(await ask('DELETE', `${PATH}/${id}`)).status, (await ask('DELETE', `${PATH}/${id}`)).status],
      [204, 204],
    )
    const held = (await ask('GET', `${PATH}/${id}`)).json.issuer
    assert.equal([held.archived, typeof held.archived_at, held.next_number], [true, 'string', 2])
    const ids = async (query: string) => (await ask('GET', `${PATH}${query}`)).json.issuers.map((one: Json) => one.id)
    assert.equal([(await ids('')).includes(id), (await ids('?archived=true')).includes(id)], [false, true])

    const refused = await ask('POST', '/api/invoices', order({ issuer_id: id }))
    assert.equal(refusalOf(refused), [404, 'BAD_ISSUER', '/issuer_id'])
    assert.equal((await ask('GET', `/api/invoices/${draft.id}/pdf`)).json.code, 'BAD_ISSUER')
    assert.is((await ask('PATCH', `/api/invoices/${draft.id}`, { send: true })).json.code, 'BAD_ISSUER')
    assert.equal(refusalOf(await ask('POST', PATH, { number_prefix: 'OLD' })), [409, 'PREFIX_TAKEN', '/number_prefix'])
    assert.is(
      (await ask('PATCH', `/api/invoices/${invoice.id}`, { terms: 'Later' })).json.invoice.number,
      'OLD-026-0001',
    )

    await applied('inv-waits', id)
    await eventually('the stall', async () => stalledAs(await statusOf('inv-waits')))
    assert.is((await patch(id, { archived: false })).json.issuer.archived, false)
    const numbers = await eventually('the two that waited', async () => {
      const waiting = [(await statusOf('inv-waits')).number, (await statusOf(draft.id)).number]
      return waiting.every((number) => typeof number === 'string') && waiting
    })
    assert.equal(numbers.sort(), ['OLD-026-0002', 'OLD-026-0003'])
  })

  t('two number side by side, each 1..n under its own prefix, from where they were told to begin', async () => {
    const [a, b] = [await make({ number_prefix: 'LEFT' }), await make({ number_prefix: 'RIGHT', next_number: 501 })]
    assert.equal([a.next_number, b.next_number], [1, 501])
    const sent = await Promise.all(
      Array.from({ length: 24 }, (_, n) => send({ issuer_id: n % 2 === 0 ? a.id : b.id, external_ref: `side-${n}` })),
    )
    const numbersOf = (prefix: string) => sent.map(({ number }) => number).filter((one) => one.startsWith(prefix))
    const expected = (prefix: string, from: number) =>
      Array.from({ length: 12 }, (_, n) => `${prefix}-026-${String(from + n).padStart(4, '0')}`)
    assert.equal(numbersOf('LEFT').sort(), expected('LEFT', 1))
    assert.equal(numbersOf('RIGHT').sort(), expected('RIGHT', 501))
    for (const { invoice } of sent) assert.ok([a.id, b.id].includes(invoice.issuer_id))
    const listed = await ask('GET', `/api/invoices?issuer_id=${b.id}`)
    assert.is(listed.json.total, 12)
    const [frozen] = await frozenOf(sent[0].invoice.id)
    assert.is(frozen.seller.logo, null)
  })

  t('a logo of each kind is taken, served anew, and frozen at send; a later one leaves what was sent', async () => {
    const { id } = await make({ number_prefix: 'LOGO', city: 'Lugo', country: 'ES' })
    const sums: string[] = []
    for (const bytes of [png, await plain(900, 300).jpeg().toBuffer(), webp]) {
      const { status, json } = await upload(id, bytes)
      assert.is(status, 200, JSON.stringify(json))
      const { logo, logo_upload } = json.issuer
      assert.is(logo_upload, null)
      sums.push(logo.sha256)
      const served = await fetch(`${platform.baseUrl}${PATH}/${id}/logo`, {
        headers: { authorization: `Bearer ${platform.owner}` },
      })
      assert.equal([served.status, served.headers.get('content-type')], [200, 'image/png'])
      const got = Buffer.from(await served.arrayBuffer())
      assert.equal([got.readUInt32BE(16), got.readUInt32BE(20)], [logo.width, logo.height])
      const { invoice } = await send({ issuer_id: id })
      const [frozen] = await frozenOf(invoice.id)
      assert.equal(frozen.seller.logo, logo)
      assert.equal([frozen.seller.city, frozen.seller.country, frozen.seller.iban], ['Lugo', 'ES', ''])
    }
    const listed = (await ask('GET', `/api/invoices?issuer_id=${id}`)).json.invoices.toReversed()
    const kept = await Promise.all(listed.map(async (one: Json) => (await frozenOf(one.id))[0].seller.logo.sha256))
    assert.equal(kept, sums)
    assert.is((await ask('DELETE', `${PATH}/${id}/logo`)).status, 204)
    assert.equal(refusalOf(await ask('GET', `${PATH}/${id}/logo`)), [404, 'NOT_FOUND', null])
    assert.is((await ask('GET', `${PATH}/${id}`)).json.issuer.logo, null)
  })

  t('a file that is no logo is refused with its reason and the next step, and the old logo stays', async () => {
    const { id } = await make({ number_prefix: 'BAD' })
    const before = (await upload(id, jpeg)).json.issuer.logo
    for (const [what, bytes, reason] of [...UNFIT, ...UNREADABLE]) {
      const { status, json } = await upload(id, bytes)
      if (bytes.length > 2_000_000) assert.equal([status, json.code], [413, 'BODY_TOO_LARGE'], what)
      else {
        assert.equal([status, json.code], [400, 'BAD_LOGO'], `${what}: ${JSON.stringify(json)}`)
        assert.match(json.detail, reason)
        assert.match(json.next, /PNG, JPEG or WebP/)
      }
    }
    assert.equal((await ask('GET', `${PATH}/${id}`)).json.issuer.logo, before)
  })

  t('who does not wait for the logo is told where to look', async () => {
    const { id } = await make({ number_prefix: 'ASYNC' })
    const asked = await upload(id, png, { prefer: 'respond-async' })
    const location = `/api/operations/${asked.json.operation_id}`
    assert.equal([asked.status, asked.headers.get('location')], [202, location])
    // its logo may be there already: nobody waits for the answer either
    assert.is(asked.json.issuer.id, id)
    const issuer = await eventually('the logo', async () => {
      const { json } = await ask('GET', `${PATH}/${id}`)
      return json.issuer.logo && json.issuer
    })
    assert.equal([issuer.logo.width, issuer.logo_upload], [64, null])
    const { operation } = await eventually('the verdict', async () => {
      const { json } = await ask('GET', location)
      return json.operation.state !== 'pending' && json
    })
    assert.equal([operation.state, operation.status, operation.result.issuer.logo], ['succeeded', 200, issuer.logo])
  })
})

spec('the turn of the year', (t) => {
  let admin: string
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'boss' },
      spec: { email: 'boss@demo.test', role: 'admin' },
    })
    admin = await platform.token('boss')
    await eventually('the admin', async () => (await ask('GET', '/api/dev/clock', undefined, admin)).status === 200)
  })
  t.after(() => platform.end())

  const moveTo = async (instant: string) => {
    const { json } = await ask('GET', '/api/dev/clock', undefined, admin)
    const seconds = Math.ceil((Date.parse(instant) - Date.parse(json.now)) / 1000)
    const moved = await ask('POST', '/api/dev/clock', { advance: `PT${seconds}S` }, admin)
    assert.is(moved.status, 200, moved.text)
  }

  t('falls at the midnight of each issuer, and a prefix is free again with it', async () => {
    const thisYear = new Date().getUTCFullYear()
    const [old, next] = [thisYear, thisYear + 1].map((year) => String(year % 1000).padStart(3, '0'))
    const east = await make({ number_prefix: 'EAST', time_zone: 'Asia/Tokyo' })
    const west = await make({ number_prefix: 'WEST', time_zone: 'America/Los_Angeles' })
    const both = async () => [(await send({ issuer_id: east.id })).number, (await send({ issuer_id: west.id })).number]
    await moveTo(`${thisYear}-12-31T14:00:00Z`)
    assert.equal(await both(), [`EAST-${old}-0001`, `WEST-${old}-0001`])
    await moveTo(`${thisYear}-12-31T15:00:01Z`)
    assert.equal(await both(), [`EAST-${next}-0001`, `WEST-${old}-0002`])
    const nextOf = async (id: string) => (await ask('GET', `${PATH}/${id}`)).json.issuer.next_number
    assert.equal([await nextOf(east.id), await nextOf(west.id)], [2, 3])
    assert.is((await patch(west.id, { number_prefix: 'WST' })).json.code, 'PREFIX_IN_USE')
    await moveTo(`${thisYear + 1}-01-01T08:00:01Z`)
    assert.is(await nextOf(west.id), 1)
    assert.is((await patch(west.id, { number_prefix: 'WST', next_number: 7 })).json.issuer.next_number, 7)
    assert.equal(await both(), [`EAST-${next}-0002`, `WST-${next}-0007`])
  })
})
