import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { request as ask, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { newToken } from '../../../api/auth/tokens.ts'
import { compose, type Exchange, type Stage } from '../../../api/http/exchange.ts'
import { Problem, problemBody } from '../../../api/http/problem.ts'
import { makeByteBudget } from '../../../api/http/reading/budget.ts'
import { FORM_MAX_BYTES, fieldsOf } from '../../../api/http/reading/form.ts'
import { DEPTH_MAX, jsonOf, NAMES_MAX, VALUES_MAX } from '../../../api/http/reading/json.ts'
import type { Answer, Method } from '../../../api/http/route.ts'
import { makeServer } from '../../../api/http/server.ts'
import { makeShape } from '../../../api/http/shape.ts'
import { LIMIT_DEFAULTS, type LimitSettings, makeLimits, type RequestLimits } from '../../../api/http/stages/limits.ts'
import { makeWrongStage } from '../../../api/http/stages/wrong.ts'
import { compileCheck } from '../../../api/http/validate.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'

/** What a stranger, or one account, may hold of the process: never so much that others are not served. */

const MEGABYTE = 1_000_000
const JSON_TYPE = 'application/json'
const parse = (text: string) => jsonOf(Buffer.from(text), JSON_TYPE)
const codeOf = (run: () => unknown): string => {
  try {
    run()
    return 'taken'
  } catch (error) {
    return (error as Problem).code
  }
}
const parsedOr = (text: string): Promise<string> =>
  parse(text).then(
    () => 'taken',
    (error: Problem) => error.code,
  )

/** Values that JSON.parse makes, counted as an engine would: to see that nothing is built of what is refused. */
const countingParse = async <R>(run: () => Promise<R>): Promise<{ result: R; parsed: number }> => {
  const parse = JSON.parse
  let parsed = 0
  JSON.parse = (...given: Parameters<typeof parse>) => {
    parsed++
    return parse(...given)
  }
  try {
    return { result: await run(), parsed }
  } finally {
    JSON.parse = parse
  }
}

spec('the cost of JSON', (t) => {
  const wide = (count: number) => `[${Array.from({ length: count }, () => '1').join(',')}]`
  const members = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  for (const [what, text, code] of [
    ['seven million numbers', wide(7_000_000), 'BODY_TOO_LARGE'],
    ['a million members', members(1_000_000), 'BODY_TOO_LARGE'],
    ['a million empty objects', `[${'{},'.repeat(1_000_000)}{}]`, 'BODY_TOO_LARGE'],
    ['one value too many', wide(VALUES_MAX), 'BODY_TOO_LARGE'],
    ['one name too many', members(NAMES_MAX + 1), 'BODY_TOO_LARGE'],
    [
      'one name too many, each in an object of its own',
      `[${Array.from({ length: NAMES_MAX + 1 }, (_, n) => `{"k${n}" \n: 1}`).join(',')}]`,
      'BODY_TOO_LARGE',
    ],
    ['one level too many', deep(DEPTH_MAX + 1), 'MALFORMED_JSON'],
    ['a million levels', deep(1_000_000), 'MALFORMED_JSON'],
  ] as const) {
    t(`${what} is refused before anything is made of it`, async () => {
      assert.equal(await countingParse(() => parsedOr(text)), { result: code, parsed: 0 })
    })
  }

  t('what is taken is what was sent', async () => {
    for (const value of [
      { a: ['{', '[', ',', '"', '\\', '\\"', '\\\\', 'é'.repeat(10), ''], b: { c: null, d: -1.5e3 } },
      'text with "quotes", {brackets}, [and], commas',
      Array.from({ length: VALUES_MAX - 2 }, () => 1),
      Object.fromEntries(Array.from({ length: NAMES_MAX }, (_, n) => [`k${n}`, n])),
      Array.from({ length: 6_000 }, () => ({ a: ':', 'b"': '":' })), // the same names again and again are two
      '"'.repeat(200_000),
      ','.repeat(200_000),
      '\\'.repeat(200_000),
    ])
      assert.equal(await parse(JSON.stringify(value)), value)
    assert.equal(await parse(deep(DEPTH_MAX)), JSON.parse(deep(DEPTH_MAX)))
  })

  for (const [what, text] of [
    ['blanks', `{${' '.repeat(14_000_000)}}`],
    ['quotes in one text', JSON.stringify('"'.repeat(7_000_000))],
    ['line ends in one text', JSON.stringify({ a: '\r\n'.repeat(3_500_000) })],
    ['escaped signs in one text', `["${'\\u0041'.repeat(2_300_000)}"]`],
    ['signs of two bytes in one text', JSON.stringify({ a: { b: ['é'.repeat(7_000_000)] } })],
  ] as const)
    t(`a large body of ${what} lets others be served while it is looked through and read`, async () => {
      let [others, isDone] = [0, false]
      const serve = (): unknown => others++ < 1_000 && !isDone && setImmediate(serve)
      serve()
      await parse(text)
      isDone = true
      assert.ok(others >= 14, `${others} turns of others`)
    })

  t('a long text is what it was, wherever it is cut into pieces', async () => {
    const signs = ['a', '"', '\\', '\\"', '\n', '\u0001', 'é', '\u2028', '😀', '\ud83d', '\ufeff', 'ab\\\\']
    for (const sign of signs)
      for (let first = 0; first < 7; first++) {
        const text = 'x'.repeat(first) + sign.repeat(Math.ceil(1_100_000 / Buffer.byteLength(JSON.stringify(sign)) + 1))
        const value = { a: [text, 'short'], ['__proto__']: text }
        assert.ok(JSON.stringify(await parse(JSON.stringify(value))) === JSON.stringify(value), `${sign} ${first}`)
        const escaped = `"${[...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
        if (first < 6 && sign === 'a')
          assert.ok((await parse(`"${'x'.repeat(first)}${escaped.slice(1)}`)) === 'x'.repeat(first) + text)
      }
  })

  t('a long text of backslashes may end in any escape where a piece ends', async () => {
    for (let pairs = 499_990; pairs < 500_004; pairs++)
      for (const last of ['\\u0041', '\\n', '\\"', 'é', '']) {
        const text = `"${'\\\\'.repeat(pairs)}${last}${'x'.repeat(20)}"`
        assert.ok((await parse(text)) === JSON.parse(text), `${pairs} ${last}`)
      }
  })

  t('what is no JSON is told so, wherever it breaks', async () => {
    for (const text of ['{', '"', '"\\', '"\\"', '[1,', '{"a":', ']', '}}', 'nul'])
      assert.is(await parsedOr(text), 'MALFORMED_JSON')
  })

  t('what is no JSON is told so in long texts too', async () => {
    const long = 'a'.repeat(1_200_000)
    for (const text of [
      `"${long}`,
      `"${long}\n"`,
      `"${long}\\x"`,
      `"\\u00"${long}"`,
      `"${long}" "${long}"`,
      `{"${long}"}`,
    ])
      assert.is(await parsedOr(text), 'MALFORMED_JSON', `${text.slice(0, 4)} … ${text.slice(-4)}`)
    const torn = Buffer.from(`"${'é'.repeat(600_000)}"`)
    torn[999_999] = 0x41
    assert.is(await jsonOf(torn, JSON_TYPE).catch((error: Problem) => error.code), 'MALFORMED_JSON')
  })
})

spec('what a refusal repeats', (t) => {
  const bodyOf = (detail: string, pointer = '') =>
    problemBody(
      new Problem('NO_ITEMS', detail, { faults: [{ code: 'NO_ITEMS', pointer, detail }] }),
      'id',
      'https://here.test',
    )

  t('is never more than a person reads, and no credential is cut into one that is shown', () => {
    const long = 'eyJx '.repeat(200_000)
    assert.ok(JSON.stringify(bodyOf(long, `/${long}`)).length < 13_000)
    const token = newToken().token
    for (let before = 3_900; before <= 4_001; before++) {
      const { detail, errors = [] } = bodyOf(`${'a '.repeat(before / 2)}${' '.repeat(before % 2)}${token} ${long}`)
      for (const text of [detail, errors[0]?.detail ?? '']) assert.not.match(text, /btg_/, `${before}`)
    }
    assert.is(bodyOf('It has none.').detail, 'It has none.')
  })
})

spec('a form', (t) => {
  t('is read, and refused before it is read where no page sends so much', () => {
    assert.equal(
      [...fieldsOf(Buffer.from('a=1&b=%C3%A9+x'))],
      [
        ['a', '1'],
        ['b', 'é x'],
      ],
    )
    assert.equal([...fieldsOf(undefined)], [])
    assert.is(
      codeOf(() => fieldsOf(Buffer.alloc(FORM_MAX_BYTES, '&'))),
      'taken',
    )
    assert.is(
      codeOf(() => fieldsOf(Buffer.alloc(FORM_MAX_BYTES + 1, '&'))),
      'BODY_TOO_LARGE',
    )
  })

  t('is read by nobody else: no other file of the api takes bytes apart into fields', () => {
    const root = new URL('../../../', import.meta.url)
    const others = globSync('api/**/*.ts', { cwd: root }).filter((path) => path !== 'api/http/reading/form.ts')
    const takers = others.filter((path) =>
      /URLSearchParams\([^)]*(form|bytes|body)/.test(readFileSync(new URL(path, root), 'utf8')),
    )
    assert.equal(takers, [])
  })
})

spec('the findings of a body', (t) => {
  const item = { type: 'object', properties: { a: {}, b: {} }, required: ['a', 'b'], additionalProperties: false }
  const check = compileCheck({ type: 'object', properties: { items: { type: 'array', maxItems: 250, items: item } } })
  const pointers = (count: number): string[] =>
    check({ items: Array.from({ length: count }, () => ({})) }).map(({ pointer }) => pointer)

  t('are all that a person can use, and of a large one the first alone: more would be work without end', () => {
    assert.equal(pointers(2), ['/items/0/a', '/items/0/b', '/items/1/a', '/items/1/b'])
    assert.is(pointers(250).length, 20)
    assert.is(pointers(50_000).length, 1)
    const unknown = Object.fromEntries(Array.from({ length: 45_000 }, (_, n) => [`k${n}`, 1]))
    assert.is(compileCheck(item)(unknown).length, 1)
    assert.is(compileCheck(item)({ k: 1 }).length, 3)
  })

  t('are made of no more than is told', () => {
    // As an engine would: a finding that is made reads the name of what it is about.
    let read = 0
    const counted = Object.defineProperty({}, 'a', { enumerable: true, get: () => ++read && undefined })
    check({ items: Array.from({ length: 50_000 }, () => counted) })
    assert.ok(read < 5_000, `${read} items were looked at`)
  })
})

spec('the bytes that are held', (t) => {
  t('are so many of a party and so many of the process; what is given back is free', () => {
    const { open, held } = makeByteBudget({ heldMegabytes: 5, heldMegabytesPerParty: 3 })
    const [one, two, three] = [open('one'), open('two'), open('three')]
    one.take(3 * MEGABYTE)
    assert.equal(
      [codeOf(() => open('one').take(1)), codeOf(() => two.take(2 * MEGABYTE))],
      ['TOO_MANY_REQUESTS', 'taken'],
    )
    assert.equal([codeOf(() => three.take(1)), held()], ['UNAVAILABLE', 5 * MEGABYTE])
    one.end()
    one.end()
    assert.equal([codeOf(() => three.take(3 * MEGABYTE)), held()], ['taken', 5 * MEGABYTE])
    two.end()
    three.end()
    assert.is(held(), 0)
  })
})

type Held = { server: Server; port: number; limits: RequestLimits; bodies: number[] }

const LARGE_ANSWER = 8 * MEGABYTE
const answerOf = async (path: string, size: number): Promise<Answer> =>
  path === '/api/large' ? { status: 200, bytes: Buffer.alloc(LARGE_ANSWER) } : { status: 200, body: { size } }

/** A server with the limits and no caller but those that say their account in a header. */
const openServer = async (settings: Partial<LimitSettings>): Promise<Held> => {
  const bodies: number[] = []
  const table: [Method, string, object?][] = [
    ['GET', '/api/quick'],
    ['GET', '/api/large'],
    ['POST', '/api/take', { bodyMaxBytes: 15 * MEGABYTE }],
    ['POST', '/api/large'],
  ]
  const routes = table.map(([method, path, more]) => ({
    ...{ method, path, summary: path, scope: { kind: 'public' }, answers: {}, codes: [], ...more },
    handle: async (_deps: unknown, { form }: { form?: Buffer }) => {
      bodies.push(form?.length ?? 0)
      return answerOf(path, form?.length ?? 0)
    },
  })) as unknown as Route<unknown>[]
  const limits = makeLimits({ ...LIMIT_DEFAULTS, proxies: 1, ...settings })
  const known: Stage = (exchange, next) => {
    const account = exchange.headers['x-account']
    if (typeof account === 'string') exchange.caller = { account, by: { kind: 'token', id: account } } as never
    return next()
  }
  const server = makeServer({
    routes,
    deps: { publicUrl: 'http://here.test' },
    pipeline: compose([limits.limitByIp, known, limits.limitByToken, limits.limitByBytes, makeShape(routes)]),
    log: { error: () => undefined } as never,
    observe: () => undefined,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port, limits, bodies }
}

const end = ({ server }: Held): void => {
  server.closeAllConnections()
  server.close()
}

type Sent = { path?: string; from: string; account?: string; body?: Buffer; packed?: boolean }
const send = async ({ port }: Held, { path = '/api/take', from, account, body, packed }: Sent): Promise<number> => {
  const headers = {
    'x-forwarded-for': from,
    ...(account && { 'x-account': account }),
    ...(packed && { 'content-encoding': 'gzip' }),
    ...(body && { 'content-length': body.length }),
  }
  const asked = ask({ port, host: '127.0.0.1', path, method: body ? 'POST' : 'GET', headers, agent: false })
  asked.end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode ?? 0
}

/** A body of which one byte comes, and never the rest. */
const begin = ({ port }: Held, from: string): Socket => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(`POST /api/take HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${from}\r\nContent-Length: 50\r\n\r\nx`)
  return socket
}

const NEIGHBOUR = '198.51.100.1'

spec('who holds much', (t) => {
  t('holds no place of the process while a body has not arrived, and so many of his address', async () => {
    const held = await openServer({ concurrency: 20, concurrencyPerAddress: 200 })
    const sockets = Array.from({ length: 200 }, () => begin(held, '192.0.2.1'))
    await eventually(
      'all to have begun',
      async () => (await send(held, { path: '/api/quick', from: '192.0.2.1' })) === 429,
    )
    assert.is(await send(held, { path: '/api/quick', from: NEIGHBOUR }), 200)
    assert.is(await send(held, { from: NEIGHBOUR, body: Buffer.alloc(10) }), 200)
    assert.is(held.limits.underWay(), 0)
    for (const socket of sockets) socket.destroy()
    await eventually(
      'the places to be free',
      async () => (await send(held, { path: '/api/quick', from: '192.0.2.1' })) === 200,
    )
    end(held)
  })

  t('is refused beyond his bytes while they come out of a small body, and nobody else is', async () => {
    const held = await openServer({ heldMegabytes: 40, heldMegabytesPerParty: 31 })
    const bomb = gzipSync(Buffer.alloc(14 * MEGABYTE, 'a'))
    assert.ok(bomb.length < MEGABYTE)
    const most = { seen: 0 }
    const watch = setInterval(() => {
      most.seen = Math.max(most.seen, held.limits.heldBytes())
    }, 1)
    const [statuses, other] = await Promise.all([
      Promise.all(
        Array.from({ length: 40 }, () =>
          send(held, { from: '192.0.2.1', account: 'greedy', body: bomb, packed: true }),
        ),
      ),
      send(held, { from: NEIGHBOUR, account: 'other', body: Buffer.alloc(MEGABYTE) }),
    ])
    clearInterval(watch)
    assert.is(other, 200)
    assert.equal(new Set(statuses), new Set([200, 429]))
    assert.ok(most.seen <= 40 * MEGABYTE, `${most.seen} bytes held`)
    assert.is(held.limits.heldBytes(), 0)
    end(held)
  })

  t('may not leave large answers unread without end', async () => {
    const held = await openServer({ heldMegabytesPerParty: 20, heldMegabytes: 100 })
    const read = `GET /api/large HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n`
    const sockets = Array.from({ length: 10 }, () => {
      const socket = connect(held.port, '127.0.0.1').on('error', () => undefined)
      socket.pause()
      socket.write(read)
      return socket
    })
    await eventually('two answers to be held', async () => held.limits.heldBytes() === 2 * LARGE_ANSWER)
    assert.is(await send(held, { path: '/api/large', from: '192.0.2.1' }), 429)
    assert.is(await send(held, { path: '/api/large', from: NEIGHBOUR }), 200)
    const done = held.bodies.length
    const change = { path: '/api/large', from: '192.0.2.1', body: Buffer.alloc(1) }
    assert.equal([await send(held, change), held.bodies.length], [200, done + 1], 'what was done is answered')
    for (const socket of sockets) socket.destroy()
    await eventually('what was held to be free', async () => held.limits.heldBytes() === 0)
    end(held)
  })
})

spec('wrong credentials of one address', (t) => {
  const at = (token: string | null, ip = '192.0.2.1') =>
    ({ headers: token === null ? {} : { authorization: `Bearer ${token}` }, ip }) as Exchange

  t('are so many in a minute, then refused before the look; a token that was good a moment ago goes on', async () => {
    const looked: string[] = []
    const stage = makeWrongStage({
      wrongPerMinute: 120,
      isRemembered: ({ authorization }) => authorization === 'Bearer good',
    })
    const send = async (exchange: Exchange): Promise<string> =>
      stage(exchange, async () => {
        looked.push(String(exchange.headers.authorization))
        if (exchange.headers.authorization === 'Bearer good') return { status: 200 }
        throw new Problem('UNAUTHENTICATED', 'The token is unknown.')
      }).then(
        ({ status }) => String(status),
        (error: Problem) => error.code,
      )
    const answers: string[] = []
    for (let n = 0; n < 1_500; n++) answers.push(await send(at(`wrong-${n}`)))
    assert.equal(
      [looked.length, answers.slice(0, 120).every((one) => one === 'UNAUTHENTICATED'), new Set(answers.slice(120))],
      [120, true, new Set(['TOO_MANY_REQUESTS'])],
    )
    assert.is(await send(at('good')), '200')
    assert.is(await send(at('wrong', '198.51.100.1')), 'UNAUTHENTICATED')
    assert.is(await send(at(null)), 'UNAUTHENTICATED')
  })
})
