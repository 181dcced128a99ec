/** The end of the api under load: everything that was asked is answered and written down, in time. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ending, pidOf } from '../../../hack/lib/processes.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const CLIENTS = 200
const STOP_LIMIT_MS = 10_000

type Tally = {
  answered: number
  /** Answers that said that the connection ends with them. */
  told: number
  /** Requests that were sent and whose answer never came whole. */
  dropped: string[]
}

/** The length of the whole answer at the head of what was received; 0 while it is not whole. */
const wholeAnswer = (said: string): number => {
  const end = said.indexOf('\r\n\r\n')
  if (end < 0) return 0
  const total = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(said.slice(0, end))?.[1] ?? 0)
  return said.length >= total ? total : 0
}

/** Asks on one connection, one request after the other, until it is told that the connection ends, or until `isOver`. */
const askOn = (port: number, request: string, tally: Tally, isOver: () => boolean): Promise<'ended' | 'refused'> =>
  new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let said = ''
    let isAsking = false
    let ending: 'ended' | 'refused' = 'refused'
    const ask = () => {
      ending = 'ended'
      said = ''
      isAsking = true
      socket.write(request)
    }
    const hear = (text: string) => {
      said += text
      if (wholeAnswer(said) === 0) return
      isAsking = false
      tally.answered += 1
      const isLast = /\r\nconnection: close/i.test(said)
      if (isLast) tally.told += 1
      if (isLast || isOver()) socket.end()
      else ask()
    }
    socket.setEncoding('latin1').on('connect', ask).on('data', hear)
    socket.on('error', (error) => {
      if (isAsking) tally.dropped.push(error.message)
      isAsking = false
    })
    socket.on('close', () => {
      if (isAsking) tally.dropped.push('closed')
      resolve(ending)
    })
  })

spec('the end of the api', (t) => {
  let platform: Platform
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t(
    `${CLIENTS} keep-alive clients and requests that wait: exit 0 in time, nothing dropped, audit and use of tokens written`,
    async () => {
      const { baseUrl, api } = platform
      const port = Number(new URL(baseUrl).port)
      const tally: Tally = { answered: 0, told: 0, dropped: [] }
      // nobody decides: these wait for their verdict when the end begins
      await platform.controllers.kill()
      const waiting = Array.from({ length: 5 }, (_, n) =>
        call(baseUrl, platform.owner, 'POST', '/api/invoices', order({ external_ref: `waits-${n}` })),
      )
      const waited = Promise.all(waiting)
      waited.catch(() => {})
      const request = `GET /api/invoices?limit=1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${platform.owner}\r\n\r\n`
      let isOver = false
      const clients = Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          while (!isOver && (await askOn(port, request, tally, () => isOver)) !== 'refused');
        }),
      )
      await eventually('all clients to be served', async () => tally.answered > 5 * CLIENTS)
      const fresh = await platform.token('demo')
      assert.is((await call(baseUrl, fresh, 'GET', '/api/invoices?limit=1')).status, 200)
      const ended = new Promise<Ending>((resolve) => api.onDeath(resolve))
      const before = tally.answered
      process.kill(pidOf(api), 'SIGTERM')
      const late = sleep(STOP_LIMIT_MS, null, { ref: false })
      const ending = await Promise.race([ended, late])
      isOver = true
      assert.equal(ending, { code: 0, signal: null }, `${tally.answered - before} answers since; ${tally.dropped}`)
      await clients
      assert.equal(tally.dropped, [])
      assert.ok(tally.told > 0, `${tally.told} told`)
      const replies = await waited
      assert.equal(
        replies.map(({ status }) => status),
        replies.map(() => 202),
      )
      const kept = 'select count(*)::int as n from audit where entry like \'%"POST /api/invoices"%\''
      assert.is((await sql(kept))[0]?.n, waiting.length)
      const used = 'select count(*)::int as n from tokens where last_used_at is null and account = $1'
      assert.is((await sql(used, ['demo']))[0]?.n, 0)
      await platform.controllers.start()
      await api.start()
    },
    { timeoutMs: 240_000 },
  )
})
