import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { ObservedRequest } from '../../../api/http/answer.ts'
import { makeDispatch } from '../../../api/http/dispatch.ts'
import { drainServer } from '../../../api/http/drain.ts'
import { compose, type Stage } from '../../../api/http/exchange.ts'
import { Problem } from '../../../api/http/problem.ts'
import { BODY_MAX_BYTES, bodyTimeMs, takeBody } from '../../../api/http/reading/take.ts'
import type { Answer, ApiRequest, Method } from '../../../api/http/route.ts'
import { makeServer } from '../../../api/http/server.ts'
import { makeShape } from '../../../api/http/shape.ts'
import type { Route } from '../../../api/wiring/route.ts'
import type { Log } from '../../../controllers/base/log.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Express serves hidden routes, the dispatcher described ones: the same routes in both forms must not be told apart. */

type Handle = (request: ApiRequest) => Promise<Answer>
const show: Handle = async ({ params, query, body, form }) => ({
  status: 200,
  body: { params, query, body, bytes: form?.length ?? null },
})
const schema = { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false }
const failing: Handle = async () => {
  throw new Error('a secret of the inside')
}
const refusing: Handle = async () => {
  throw new Problem('LOCKED_PAID', 'It is paid.', { headers: { 'retry-after': '7' } })
}
const TABLE: [Method, string, Handle, object?][] = [
  ['GET', '/', show],
  ['GET', '/api/things', show, { query: { q: { type: 'string' } } }],
  ['POST', '/api/things', show, { body: schema }],
  ['GET', '/api/things/fixed', async () => ({ status: 200, body: { fixed: true } })],
  ['GET', '/api/things/:id', show],
  ['GET', '/api/things/late', async () => ({ status: 200, body: { late: true } })],
  ['DELETE', '/api/things/:id', async () => ({ status: 204 })],
  ['GET', '/api/things/:id/parts/:part', show],
  ['GET', '/api/star/*path', show],
  ['GET', '/api/star/under', async () => ({ status: 200, body: { under: true } })],
  ['POST', '/api/raw', show],
  ['POST', '/api/upload', show, { bodyMaxBytes: 3 * BODY_MAX_BYTES }],
  ['GET', '/api/bytes', async () => ({ status: 200, bytes: Buffer.from('é'), headers: { 'content-type': 'text/x' } })],
  ['GET', '/api/fails', failing],
  ['GET', '/api/never', () => new Promise(() => {})],
  ['GET', '/api/refuses', refusing],
  ['GET', '/api/split', async () => ({ status: 200, headers: { location: 'a\r\nset-cookie: b' } })],
]
const makeRoutes = (hidden: boolean): Route<unknown>[] =>
  TABLE.map(([method, path, handle, more = {}]) => ({
    ...{ method, path, summary: path, scope: { kind: 'public' }, answers: {}, codes: [], ...more, hidden },
    handle: (_deps: unknown, request: ApiRequest) => handle(request),
  })) as Route<unknown>[]

type Window = { server: Server; port: number; observed: ObservedRequest[]; logged: string[] }

const open = async (hidden: boolean, publicUrl = 'http://here.test', isLeaving = () => false): Promise<Window> => {
  const routes = makeRoutes(hidden)
  const [observed, logged]: [ObservedRequest[], string[]] = [[], []]
  const limit: Stage = (exchange, next) => {
    exchange.answerHeaders.ratelimit = '"burst";r=9'
    return next()
  }
  const server = makeServer({
    routes,
    deps: { publicUrl },
    pipeline: compose([limit, makeShape(routes)]),
    log: { error: (facts: { err: Error }) => logged.push(facts.err.message) } as unknown as Log,
    observe: (request) => observed.push(request),
    isLeaving,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port, observed, logged }
}

/** Later than any test ends: only the server cuts the line. */
const NEVER_MS = 600_000

/** Everything the server says until it closes, or until it has been silent for so long that it will not. */
const hear = (socket: Socket, quietMs = 3_000): Promise<string> =>
  new Promise((resolve) => {
    let said = ''
    const end = () => resolve(said)
    socket.setTimeout(quietMs, () => socket.destroy())
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text
    })
    socket.on('error', () => undefined).on('close', end)
  })

const tell = async ({ port }: Window, ...said: (string | Buffer)[]): Promise<string> => {
  const socket = connect(port, '127.0.0.1')
  const heard = hear(socket)
  for (const part of said) socket.write(part)
  return heard
}

const masked = (said: string): string =>
  said
    .replace(/^Date: .*$/gm, 'Date: …')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'ID')

const ask = (line: string, headers: string[] = [], body: string | Buffer = ''): Buffer =>
  Buffer.concat([
    Buffer.from([`${line} HTTP/1.1`, 'Host: a.test', 'Connection: close', ...headers, '', ''].join('\r\n'), 'latin1'),
    Buffer.from(body),
  ])
const post = (path: string, body: string | Buffer, ...headers: string[]): Buffer =>
  ask(`POST ${path}`, [`Content-Length: ${Buffer.byteLength(body)}`, ...headers], body)
const json = 'Content-Type: application/json'
const raw = (...lines: string[]): Buffer => Buffer.from([...lines, '', ''].join('\r\n'), 'latin1')
const thing = '{"name":"é"}'
const big = Buffer.alloc(BODY_MAX_BYTES + 1, 'a')

/** What is sent, and the statuses that come back, in order. */
const ODD: [string, Buffer, number[]][] = [
  ...(
    [
      ['GET /', 200],
      ['GET //', 200],
      ['GET /?', 200],
      ['GET /api/things', 200],
      ['GET /api/things?q=a%20b+c', 200],
      ['GET /api/things?q=a&q=b', 400],
      ['GET /api/things?p=a', 400],
      ['GET /api/things?q=%zz', 200],
      ['GET /api/things/', 200],
      ['GET /api/things//', 404],
      ['GET //api/things', 404],
      ['GET /api//things', 404],
      ['GET /API/things', 404],
      ['GET /api/%74hings', 404],
      ['GET /api\\things', 404],
      ['GET /api/things/fixed', 200],
      ['GET /api/things/fixed/', 200],
      ['GET /api/things/late', 200],
      ['GET /api/things/a%20b', 200],
      ['GET /api/things/a%2Fb', 200],
      ['GET /api/things/%C3%A9', 200],
      ['GET /api/things/\xc3\xa9', 400],
      ['GET /api/things/a\xa0b', 400],
      ['GET /api/things/%zz', 404],
      ['GET /api/things/%', 404],
      ['GET /api/things/%c3%28', 404],
      ['GET /api/things/%00', 404],
      ['GET /api/things/__proto__', 200],
      ['GET /api/things/..', 200],
      ['GET /api/things/../things', 404],
      ['GET /api/things/a;b=c', 200],
      ['GET /api/things/a#b', 200],
      ['GET /api/things#b', 200],
      ['GET /api/things?q=a#b', 200],
      ['GET /api/things/a/parts/b', 200],
      ['GET /api/things/a/parts/', 404],
      ['GET /api/things//parts/b', 404],
      ['GET /api/star/a/b', 200],
      ['GET /api/star/under', 200],
      ['GET http://a.test/api/things/x', 200],
      ['GET http://', 404],
      ['GET /nowhere', 404],
      ['GET /api/bytes', 200],
      ['GET /api/fails', 500],
      ['GET /api/refuses', 409],
      ['GET /api/split', 500],
      ['HEAD /api/things', 200],
      ['HEAD /api/bytes', 200],
      ['HEAD /api/raw', 405],
      ['HEAD /nowhere', 404],
      ['HEAD /api/things?p=a', 400],
      ['OPTIONS /api/things', 405],
      ['OPTIONS *', 404],
      ['PATCH /api/things', 405],
      ['TRACE /api/things', 405],
      ['PROPFIND /api/things', 405],
      ['M-SEARCH /nowhere', 404],
      ['BREW /api/things', 400],
      ['get /api/things', 400],
      ['DELETE /api/things/a', 204],
    ] as const
  ).map(([line, status]): [string, Buffer, number[]] => [line, ask(line), [status]]),
  ['HTTP/1.0', raw('GET /api/things HTTP/1.0'), [200]],
  ['HTTP/1.0, kept alive', raw('GET /api/things HTTP/1.0', 'Connection: keep-alive'), [200]],
  ['HTTP/2.0', raw('GET /api/things HTTP/2.0', 'Host: a', 'Connection: close'), [200]],
  ['no Host', raw('GET /api/things HTTP/1.1'), [400]],
  ['two Hosts', raw('GET /api/things HTTP/1.1', 'Host: a', 'Host: b', 'Connection: close'), [200]],
  ['an upgrade', ask('GET /api/things', ['Upgrade: h2c']), [200]],
  ['an expectation', ask('GET /api/things', ['Expect: miracles']), [417]],
  ['a header too long', ask('GET /api/things', [`X: ${'x'.repeat(20_000)}`]), [431]],
  ['five hundred headers', ask('GET /api/things', Array(500).fill('X: y')), [200]],
  ['a header with a bare CR', ask('GET /api/things', ['X: a\rb']), [400]],
  ['a body on GET', ask('GET /api/things', ['Content-Length: 2'], '{}'), [200]],
  ['a body', post('/api/things', thing, json), [200]],
  ['a slash after the path of a POST', post('/api/things/', thing, json), [200]],
  ['no body', ask('POST /api/things', [json]), [200]],
  ['a length of 0', post('/api/things', '', json), [200]],
  ['JSON of another type', post('/api/things', thing, 'Content-Type: text/plain'), [415]],
  ['no JSON', post('/api/things', '{', json), [400]],
  ['no UTF-8', post('/api/things', Buffer.from([0x22, 0xff, 0x22]), json), [400]],
  ['a field too much', post('/api/things', '{"nmae":"a"}', json), [400]],
  ['a body for nobody', post('/nowhere', thing, json), [404]],
  ['gzip', post('/api/things', gzipSync(thing), json, 'Content-Encoding: gzip'), [200]],
  ['GZIP', post('/api/raw', gzipSync(thing), 'Content-Encoding: GZIP'), [200]],
  ['deflate', post('/api/things', deflateSync(thing), json, 'Content-Encoding: deflate'), [200]],
  ['brotli', post('/api/things', brotliCompressSync(thing), json, 'Content-Encoding: br'), [200]],
  ['identity', post('/api/things', thing, json, 'Content-Encoding: identity'), [200]],
  ['gzip of nothing sent', post('/api/things', '', json, 'Content-Encoding: gzip'), [200]],
  ['an encoding nobody knows', post('/api/raw', thing, 'Content-Encoding: rot13'), [400]],
  ['an encoding named like a method', post('/api/raw', thing, 'Content-Encoding: constructor'), [400]],
  ['broken gzip', post('/api/raw', thing, 'Content-Encoding: gzip'), [400]],
  ['gzip cut off', post('/api/raw', gzipSync(thing).subarray(0, -9), 'Content-Encoding: gzip'), [400]],
  ['a gzip bomb', post('/api/raw', gzipSync(Buffer.alloc(50_000_000)), 'Content-Encoding: gzip'), [413]],
  ['a brotli bomb', post('/api/raw', brotliCompressSync(Buffer.alloc(50_000_000)), 'Content-Encoding: br'), [413]],
  ['chunks', ask('POST /api/things', [json, 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'), [200]],
  ['a bad chunk', ask('POST /api/things', [json, 'Transfer-Encoding: chunked'], 'x\r\n{}\r\n0\r\n\r\n'), [400]],
  ['chunks and a length', ask('POST /api/raw', ['Content-Length: 2', 'Transfer-Encoding: chunked'], '{}'), [400]],
  ['two lengths', ask('POST /api/raw', ['Content-Length: 2', 'Content-Length: 3'], '{}'), [400]],
  ['a length below 0', ask('POST /api/raw', ['Content-Length: -2'], '{}'), [400]],
  ['the largest body', post('/api/raw', big.subarray(1)), [200]],
  ['one byte more', post('/api/raw', big), [413]],
  ['a huge length and nothing else', ask('POST /api/raw', ['Content-Length: 99999999999']), [413]],
  ['chunks over the cap', ask('POST /api/raw', ['Transfer-Encoding: chunked'], `f4241\r\n${big}\r\n0\r\n\r\n`), [413]],
  [
    'requests one behind the other',
    Buffer.concat([
      raw('GET /api/things/1 HTTP/1.1', 'Host: a'),
      raw('POST /nowhere HTTP/1.1', 'Host: a', 'Content-Length: 4').subarray(0, -2),
      Buffer.from('\r\nabcd'),
      raw('PATCH /api/things HTTP/1.1', 'Host: a'),
      ask('GET /api/things/2'),
    ]),
    [200, 404, 405, 200],
  ],
]

spec('the window', (t) => {
  let [straight, express]: Window[] = []
  t.before(async () => {
    ;[straight, express] = await Promise.all([open(false), open(true)])
  })
  t.after(() => {
    for (const window of [straight, express]) window?.server.closeAllConnections()
  })
  const windows = (): [Window, Window] => {
    if (!straight || !express) throw new Error('the servers are not up')
    return [straight, express]
  }

  for (const [name, said, statuses] of ODD) {
    t(`answers the same with and without Express: ${JSON.stringify(name)}`, async () => {
      const [a, b] = windows()
      for (const window of [a, b]) window.observed.length = window.logged.length = 0
      const [one, other] = await Promise.all([tell(a, said), tell(b, said)])
      assert.is(masked(one), masked(other))
      const found = [...one.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
      assert.equal(found, statuses)
      const seen = ({ observed }: Window) => observed.map(({ method, route, status }) => [method, route, status])
      assert.equal(seen(a), seen(b))
      assert.equal(a.logged, b.logged)
      assert.is(a.logged.length, statuses[0] === 500 ? 1 : 0)
      assert.not.match(one, /secret of the inside|set-cookie/)
    })
  }

  t('takes plain requests for described routes, and leaves the rest to Express', () => {
    const dispatch = makeDispatch(makeRoutes(false))
    const path = (method: string, url: string) => dispatch(method, url)?.route.path
    assert.is(path('GET', '/api/things?q=1'), '/api/things')
    assert.is(path('HEAD', '/api/things'), '/api/things')
    assert.is(path('GET', '/api/things/late'), '/api/things/:id')
    assert.is(path('GET', '/api/things/fixed'), '/api/things/fixed')
    assert.is(path('GET', '/api/things/x/parts/y'), '/api/things/:id/parts/:part')
    assert.is(path('GET', '/api/star/under'), undefined)
    assert.is(path('PATCH', '/api/things'), undefined)
    assert.is(path('GET', '/api/things/'), undefined)
    assert.is(path('GET', '/api/things/%zz'), undefined)
    assert.is(makeDispatch(makeRoutes(true))('GET', '/api/things'), undefined)
  })

  t('gives the id of the request in the header and in the refusal', async () => {
    const said = await tell(windows()[0], ask('GET /api/refuses'))
    const id = /^request-id: (\S+)\r$/m.exec(said)?.[1]
    assert.ok(id && said.includes(`"request_id":"${id}"`))
    assert.match(said, /^ratelimit: "burst";r=9\r$/m)
    assert.match(said, /^retry-after: 7\r$/m)
  })

  t('keeps a connection after an answer, and after a small body that nobody read', async () => {
    for (const window of windows()) {
      const socket = connect(window.port, '127.0.0.1')
      const heard = hear(socket)
      for (const path of ['/api/things/1', '/nowhere', '/api/things/2']) {
        socket.write(raw(`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Length: 2').subarray(0, -2))
        socket.write('\r\nab')
        await sleep(50)
      }
      socket.write(ask('GET /api/things/3'))
      const said = await heard
      assert.equal(
        [...said.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status),
        ['405', '404', '405', '200'],
      )
      assert.is([...said.matchAll(/^connection: close/gim)].length, 1)
    }
  })

  t(
    'leaves without losing a request: a silent connection may bring one more, and hears that it is the last',
    async () => {
      let isLeaving = false
      const window = await open(false, undefined, () => isLeaving)
      const kept = raw('GET /api/things/1 HTTP/1.1', 'Host: a')
      const connected = async () => {
        const socket = connect(window.port, '127.0.0.1')
        const heard = hear(socket, 10_000)
        socket.write(kept)
        await once(socket, 'data')
        return { socket, heard }
      }
      const [busy, silent] = [await connected(), await connected()]
      isLeaving = true
      const left = drainServer(window.server, { lingerMs: 1_000, limitMs: 30_000 })
      while (window.server.listening) await sleep(1)
      busy.socket.write(kept)
      const said = await busy.heard
      assert.is([...said.matchAll(/HTTP\/1\.1 200/g)].length, 2)
      assert.is([...said.matchAll(/^connection: close/gim)].length, 1)
      assert.not.match(await silent.heard, /connection: close/i)
      assert.is(await left, true)
      await assert.rejects(once(connect(window.port, '127.0.0.1'), 'connect'), /ECONNREFUSED/)
    },
  )

  t('is left in time, also by a request that is never answered', async () => {
    const window = await open(false)
    const stuck = tell(window, ask('GET /api/never'))
    await once(window.server, 'request')
    assert.is(await drainServer(window.server, { lingerMs: 10, limitMs: 100 }), false)
    assert.is(await stuck, '')
  })

  t('tells a client that goes on sending why it was refused, then closes', async () => {
    for (const window of windows()) {
      for (const path of ['/api/raw', '/nowhere']) {
        const socket = connect(window.port, '127.0.0.1')
        const heard = hear(socket, NEVER_MS)
        socket.write(
          ask(`POST ${path}`, ['Transfer-Encoding: chunked']).toString().replace('Connection: close\r\n', ''),
        )
        const pour = setInterval(() => socket.writable && socket.write(`10000\r\n${'a'.repeat(0x10000)}\r\n`), 5)
        const said = await heard
        clearInterval(pour)
        assert.match(said, path === '/nowhere' ? /^HTTP\/1\.1 404/ : /^HTTP\/1\.1 413/)
        assert.match(said, /^connection: close\r$/m)
      }
    }
  })

  t('says nothing and logs nothing when a client goes away mid-body', async () => {
    for (const window of windows()) {
      window.observed.length = window.logged.length = 0
      for (const part of ['', '{"name"']) {
        const socket = connect(window.port, '127.0.0.1')
        socket.write(ask('POST /api/things', ['Content-Length: 50', json], part))
        await sleep(50)
        socket.destroy()
        await sleep(50)
      }
      assert.equal([window.observed, window.logged], [[], []])
      assert.match(await tell(window, post('/api/things', thing, json)), /^HTTP\/1\.1 200/)
    }
  })

  t('cuts a client that hangs in its body or its headers when its time is up', async () => {
    for (const window of windows()) {
      const { requestTimeout, headersTimeout } = window.server
      Object.assign(window.server, { requestTimeout: 300, headersTimeout: 200 })
      window.observed.length = window.logged.length = 0
      for (const part of [
        ask('POST /api/things', ['Content-Length: 50', json], '{'),
        'GET /api/things HTTP/1.1\r\nX:',
      ]) {
        const socket = connect(window.port, '127.0.0.1')
        const heard = hear(socket, NEVER_MS)
        socket.write(part)
        assert.match(await heard, /^HTTP\/1\.1 408 /)
      }
      assert.equal([window.observed, window.logged], [[], []])
      Object.assign(window.server, { requestTimeout, headersTimeout })
    }
  })

  t('takes from a route that says so more than others take, and no more than it says', async () => {
    for (const window of windows()) {
      const sent = (bytes: number) => tell(window, post('/api/upload', Buffer.alloc(bytes, 'a')))
      assert.match(await sent(BODY_MAX_BYTES + 1), /^HTTP\/1\.1 200/)
      assert.match(await sent(3 * BODY_MAX_BYTES + 1), /^HTTP\/1\.1 413/)
      assert.match(await tell(window, post('/api/raw', big)), /^HTTP\/1\.1 413/)
    }
  })

  t('gives a body time by its size, and says so when it is over', async () => {
    assert.equal([bodyTimeMs(BODY_MAX_BYTES), bodyTimeMs(100_000_000)], [30_000, 327_000])
    const hanging = new PassThrough() as unknown as IncomingMessage
    Object.assign(hanging, { headers: { 'content-length': '5' } })
    const refused = await takeBody(hanging, { maxBytes: BODY_MAX_BYTES, timeMs: 20 }).catch(
      (error: Problem) => error.code,
    )
    assert.is(refused, 'REQUEST_TIMEOUT')
  })

  t('tells a browser to stay with https, where the service is behind it', async () => {
    const [plain] = windows()
    const safe = await open(false, 'https://here.test')
    const hsts = /^strict-transport-security: max-age=31536000\r$/im
    assert.match(await tell(safe, ask('GET /api/things')), hsts)
    assert.not.match(await tell(plain, ask('GET /api/things')), hsts)
    safe.server.close()
  })

  t('has a named limit on everything that a stranger can hold', () => {
    const { server } = windows()[0]
    assert.equal([server.requestTimeout, server.headersTimeout, server.maxConnections], [337_000, 10_000, 10_000])
  })
})
