/** What the egress guard makes of answers, by receivers that know no HTTP (rules/platform.md#answers-from-outside). */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Egress, makeEgress } from '../../../controllers/net/egress.ts'
import {
  always,
  makeTestKeys,
  OK,
  outcomeOf,
  posting,
  type Receiver,
  setTrap,
  startReceiver,
} from '../../support/doubles/egress.ts'
import { until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const BYTES_MAX = 1_000
const LIMIT_MS = 600
/** For an answer that comes, however slow the machine is. */
const AMPLE_MS = 60_000

const drip = (socket: Socket, first: string, more: string) => {
  socket.write(first)
  const timer = setInterval(() => socket.write(more), 20)
  socket.on('close', () => clearInterval(timer))
}

/** Writes as fast as it is read, for ever. */
const pour = (socket: Socket, first: string) => {
  socket.write(first)
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

type Case = {
  what: string
  answer: (socket: Socket, text: string) => void
  outcome: string
  status?: number | null
  body?: string
  detail?: RegExp
}

const body = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`

const CASES: Case[] = [
  { what: 'a sound one', answer: always(OK), outcome: 'ok 200', body: 'ok' },
  {
    what: 'one that fails',
    answer: always('HTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\nno'),
    outcome: 'ok 500',
    body: 'no',
  },
  { what: 'one without a body', answer: always('HTTP/1.1 204 No Content\r\n\r\n'), outcome: 'ok 204', body: '' },
  {
    what: 'one in chunks',
    answer: always('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
    outcome: 'ok 200',
    body: 'abcde',
  },
  {
    what: 'one that ends with the connection',
    answer: (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc'),
    outcome: 'ok 200',
    body: 'abc',
  },
  {
    what: 'one with early hints',
    answer: always(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`),
    outcome: 'ok 200',
    body: 'ok',
  },
  {
    what: 'one of just as many bytes as are taken',
    answer: always(body(BYTES_MAX)),
    outcome: 'ok 200',
    body: 'x'.repeat(BYTES_MAX),
  },
  {
    what: 'one byte more than is taken',
    answer: always(body(BYTES_MAX + 1)),
    outcome: 'ANSWER_TOO_LARGE',
    status: 200,
    body: 'x'.repeat(BYTES_MAX),
    detail: /more than 1000 bytes/,
  },
  {
    what: 'one of a gigabyte, as it names itself',
    answer: (socket) => pour(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n'),
    outcome: 'ANSWER_TOO_LARGE',
    status: 200,
    body: 'x'.repeat(BYTES_MAX),
  },
  {
    what: 'one without an end',
    answer: (socket) => pour(socket, 'HTTP/1.1 200 OK\r\n\r\n'),
    outcome: 'ANSWER_TOO_LARGE',
    status: 200,
    body: 'x'.repeat(BYTES_MAX),
  },
  {
    what: 'a drip',
    answer: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n', '.'),
    outcome: 'TIMEOUT',
    status: 200,
    detail: /no whole answer in 600 ms/,
  },
  { what: 'nothing', answer: () => {}, outcome: 'TIMEOUT', status: null, body: '' },
  {
    what: 'headers without an end',
    answer: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'),
    outcome: 'TIMEOUT',
    status: null,
  },
  {
    what: 'early hints without an end',
    answer: (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    outcome: 'TIMEOUT',
    status: null,
  },
  {
    what: 'huge headers',
    answer: always(
      `HTTP/1.1 200 OK\r\n${'x-a: '.padEnd(1_000, 'b')}\r\n`.concat(`${'x-a: '.padEnd(1_000, 'b')}\r\n`.repeat(40)),
    ),
    outcome: 'ANSWER_TOO_LARGE',
    status: null,
    detail: /headers/,
  },
  {
    what: 'less than it names',
    answer: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'),
    outcome: 'BROKEN_ANSWER',
    status: 200,
    body: 'abc',
  },
  {
    what: 'chunks without their end',
    answer: (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'),
    outcome: 'BROKEN_ANSWER',
    status: 200,
    body: 'abc',
  },
  {
    what: 'chunks of no size',
    answer: always('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n'),
    outcome: 'BROKEN_ANSWER',
    status: 200,
    detail: /no HTTP/,
  },
  {
    what: 'two lengths',
    answer: always('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'),
    outcome: 'BROKEN_ANSWER',
    status: null,
  },
  {
    what: 'a length and chunks',
    answer: always('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
    outcome: 'BROKEN_ANSWER',
    status: null,
  },
  {
    what: 'a reset',
    answer: (socket) => socket.resetAndDestroy(),
    outcome: 'BROKEN_ANSWER',
    status: null,
    detail: /broke off/,
  },
  { what: 'an end', answer: (socket) => socket.end(), outcome: 'BROKEN_ANSWER', status: null, detail: /broke off/ },
  {
    what: 'a reset in the middle',
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc')
      // after a turn in which the reader, in this very process, has read: a reset throws away what is unread
      setTimeout(() => setImmediate(() => socket.resetAndDestroy()), 50)
    },
    outcome: 'BROKEN_ANSWER',
    status: 200,
    body: 'abc',
  },
  {
    what: 'no HTTP',
    answer: always('220 mail.example ESMTP\r\n'),
    outcome: 'BROKEN_ANSWER',
    status: null,
    detail: /no HTTP/,
  },
  {
    what: 'another protocol',
    answer: always('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    outcome: 'BROKEN_ANSWER',
    status: null,
  },
  {
    what: 'a status that is none',
    answer: always('HTTP/1.1 99999 Hm\r\n\r\n'),
    outcome: 'BROKEN_ANSWER',
    status: null,
  },
]

const limitsOf = (outcome: string) =>
  outcome === 'TIMEOUT' ? { limitMs: LIMIT_MS, leastMs: LIMIT_MS - 10 } : { limitMs: AMPLE_MS, leastMs: 0 }

const ADDRESS = /127\.|\d:\d|::/

spec('answers to the egress guard', (t) => {
  let egress: Egress
  t.before(() => {
    egress = makeEgress({ allowLoopback: true })
  })
  t.after(() => egress.close())

  for (const { what, answer, outcome, status, body: expected, detail } of CASES) {
    t(`takes ${what} for ${outcome}`, async () => {
      const receiver = await startReceiver(answer)
      const url = `http://127.0.0.1:${receiver.port}/`
      const startedAt = performance.now()
      const { limitMs, leastMs } = limitsOf(outcome)
      const got = await egress.exchange(posting(url, { limitMs, bytesMax: BYTES_MAX }))
      const tookMs = performance.now() - startedAt
      await receiver.close()
      assert.is(outcomeOf(got), outcome)
      if (status !== undefined) assert.is(got.status, status)
      if (expected !== undefined) assert.is(got.body.toString(), expected)
      assert.ok(got.latencyMs >= leastMs && got.latencyMs <= tookMs + 1, `${got.latencyMs} of ${tookMs} ms`)
      if (got.ok) return
      assert.match(got.detail, detail ?? /./)
      assert.not.match(got.detail, ADDRESS)
    })
  }

  t('leaves an answer packed as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
    const receiver = await startReceiver(always(Buffer.concat([Buffer.from(head), bomb])))
    const got = await egress.exchange(posting(`http://127.0.0.1:${receiver.port}/`))
    assert.is(outcomeOf(got), 'ok 200')
    assert.ok(got.body.equals(bomb))
    await receiver.close()
  })
  t('gives headers in small letters, and repeated ones as one', async () => {
    const answer = 'HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nX-A: 1\r\nx-a: 2\r\ncontent-length: 0\r\n\r\n'
    const receiver = await startReceiver(always(answer))
    const got = await egress.exchange(posting(`http://127.0.0.1:${receiver.port}/`))
    assert.equal(got.ok && got.headers, { 'retry-after': '7', 'x-a': '1, 2', 'content-length': '0' })
    await receiver.close()
  })
  t('ends the connection of who says more than is taken, within a few buffers', async () => {
    let written = 0
    const receiver = await startReceiver((socket) => {
      pour(socket, 'HTTP/1.1 200 OK\r\n\r\n')
      socket.on('close', () => {
        written = socket.bytesWritten
      })
    })
    const got = await egress.exchange(posting(`http://127.0.0.1:${receiver.port}/`))
    assert.is(outcomeOf(got), 'ANSWER_TOO_LARGE')
    await until('the connection to end', () => written > 0)
    assert.ok(written < 32 * 1024 * 1024, `${written}`)
    await receiver.close()
  })
  for (const extra of ['HTTP/1.1 299 Forged\r\ncontent-length: 0\r\n\r\n', 'rubbish']) {
    t(`takes nothing that was said unasked for the next answer: ${extra.slice(0, 12)}`, async () => {
      const single = makeEgress({ allowLoopback: true, connectionsPerOrigin: 1 })
      const receiver = await startReceiver(always(OK + extra))
      const url = `http://127.0.0.1:${receiver.port}/`
      // The answer itself may be whole or fall with what follows it.
      const got = [await single.exchange(posting(url)), await single.exchange(posting(url))].map(outcomeOf)
      await sleep(50)
      got.push(outcomeOf(await single.exchange(posting(url))))
      assert.ok(
        got.every((outcome) => outcome === 'ok 200' || outcome === 'BROKEN_ANSWER'),
        String(got),
      )
      assert.is(receiver.received.length, 3)
      await single.close()
      await receiver.close()
    })
  }
  t('keeps a connection for what comes next', async () => {
    const single = makeEgress({ allowLoopback: true, connectionsPerOrigin: 1 })
    const receiver = await startReceiver((socket) => socket.write(OK))
    for (let i = 0; i < 10; i += 1) await single.exchange(posting(`http://127.0.0.1:${receiver.port}/`))
    assert.is(receiver.received.length, 1)
    await single.close()
    await receiver.close()
  })
  t('never sends what waited for a connection past its limit', async () => {
    const single = makeEgress({ allowLoopback: true, connectionsPerOrigin: 1 })
    const receiver = await startReceiver(() => {})
    const url = `http://127.0.0.1:${receiver.port}/`
    const first = single.exchange(posting(`${url}first`, { limitMs: 500 }))
    const second = await single.exchange(posting(`${url}second`, { limitMs: 100 }))
    assert.is(outcomeOf(second), 'TIMEOUT')
    assert.is(outcomeOf(await first), 'TIMEOUT')
    await sleep(100)
    assert.not.match(receiver.received.join(''), /second/)
    await single.close()
    await receiver.close()
  })
  t('holds its limit while a name is looked up, and sends nothing afterwards', async () => {
    const receiver = await startReceiver(always(OK))
    const slow = makeEgress({ allowLoopback: true, resolve: () => sleep(300, ['127.0.0.1']) })
    const got = await slow.exchange(posting(`http://hook.test:${receiver.port}/`, { limitMs: 100 }))
    assert.is(outcomeOf(got), 'TIMEOUT')
    await sleep(400)
    assert.is(receiver.received.join(''), '')
    await slow.close()
    await receiver.close()
  })
  t('stops when it is told to, before and during', async () => {
    const receiver = await startReceiver(() => {})
    const url = `http://127.0.0.1:${receiver.port}/`
    assert.is(outcomeOf(await egress.exchange(posting(url, { signal: AbortSignal.abort() }))), 'TIMEOUT')
    assert.is(receiver.received.length, 0)
    const stopped = posting(url, { limitMs: 600_000, signal: AbortSignal.timeout(100) })
    assert.is(outcomeOf(await egress.exchange(stopped)), 'TIMEOUT')
    await receiver.close()
  })
  t('tells a port where nobody listens', async () => {
    const trap = await setTrap(['127.0.0.1'])
    await trap.close()
    const got = await egress.exchange(posting(`http://127.0.0.1:${trap.port}/`))
    assert.is(outcomeOf(got), 'CONNECTION_FAILED')
    assert.is(!got.ok && got.detail, 'refuses connections')
  })
  t('ends what is idle when it closes, waits for what is under way, and asks nothing more', async () => {
    const closing = makeEgress({ allowLoopback: true })
    let ended = 0
    const receiver = await startReceiver((socket, text) => {
      socket.on('close', () => {
        ended += 1
      })
      if (text.startsWith('POST /slow')) setTimeout(() => socket.write(OK), 200)
      else if (!text.startsWith('POST /never')) socket.write(OK)
    })
    const url = `http://127.0.0.1:${receiver.port}`
    await closing.exchange(posting(`${url}/idle`))
    const slow = closing.exchange(posting(`${url}/slow`))
    const never = closing.exchange(posting(`${url}/never`, { limitMs: 400 }))
    await closing.close()
    assert.equal([await slow, await never].map(outcomeOf), ['ok 200', 'TIMEOUT'])
    await until('every connection to end', () => ended >= 2 && ended === receiver.received.length)
    assert.is(outcomeOf(await closing.exchange(posting(`${url}/after`))), 'CONNECTION_FAILED')
    await receiver.close()
  })
})

spec('TLS of the egress guard', (t) => {
  const keys = makeTestKeys()
  let egress: Egress
  t.before(() => {
    egress = makeEgress({ allowLoopback: true, ca: keys.ca, resolve: async () => ['127.0.0.1'] })
  })
  t.after(() => egress.close())

  const refused: [string, keyof Omit<typeof keys, 'ca'>, RegExp][] = [
    ['has expired', 'expired', /expired/],
    ['is for another name', 'otherName', /another name/],
    ['signed itself', 'selfSigned', /signed itself/],
    ['is of an unknown authority', 'unknown', /authority that is not known/],
  ]
  const tls = (name: keyof Omit<typeof keys, 'ca'>): Promise<Receiver> =>
    startReceiver(always(OK), { keys: keys[name] })
  for (const [what, name, detail] of refused) {
    t(`refuses a certificate that ${what}, at each attempt, and sends nothing`, async () => {
      const receiver = await tls(name)
      for (const host of ['hook.test', '127.0.0.1', 'hook.test']) {
        const got = await egress.exchange(posting(`https://${host}:${receiver.port}/`))
        assert.is(outcomeOf(got), 'TLS_FAILED')
        assert.match(got.ok ? '' : got.detail, detail)
        assert.not.match(got.ok ? '' : got.detail, ADDRESS)
      }
      assert.is(receiver.received.join(''), '')
      await receiver.close()
    })
  }
  t('takes a sound one, and trusts no authority but those of the system where it was given none', async () => {
    const receiver = await tls('good')
    const url = `https://hook.test:${receiver.port}/`
    assert.is(outcomeOf(await egress.exchange(posting(url))), 'ok 200')
    const other = makeEgress({ allowLoopback: true, resolve: async () => ['127.0.0.1'] })
    assert.is(outcomeOf(await other.exchange(posting(url))), 'TLS_FAILED')
    await other.close()
    await receiver.close()
  })
  t('takes a server without TLS for TLS_FAILED, and one with it that was asked without for broken', async () => {
    const plain = await startReceiver((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n'))
    assert.is(outcomeOf(await egress.exchange(posting(`https://hook.test:${plain.port}/`))), 'TLS_FAILED')
    const secure = await tls('good')
    assert.is(outcomeOf(await egress.exchange(posting(`http://hook.test:${secure.port}/`))), 'BROKEN_ANSWER')
    await plain.close()
    await secure.close()
  })
  t('tells a server that is not there from one whose TLS is bad', async () => {
    const trap = await setTrap(['127.0.0.1'])
    // The trap takes connections and ends them at once.
    for (const url of [`https://hook.test:${trap.port}/`, `https://127.0.0.1:${trap.port}/`]) {
      assert.is(outcomeOf(await egress.exchange(posting(url))), 'CONNECTION_FAILED')
    }
    await trap.close()
    const got = await egress.exchange(posting(`https://hook.test:${trap.port}/`))
    assert.equal([outcomeOf(got), !got.ok && got.detail], ['CONNECTION_FAILED', 'refuses connections'])
  })
  t('gives up on a handshake that never ends', async () => {
    const silent = await startReceiver(() => {})
    const got = await egress.exchange(posting(`https://hook.test:${silent.port}/`, { limitMs: 300 }))
    assert.is(outcomeOf(got), 'TIMEOUT')
    await silent.close()
  })
})
