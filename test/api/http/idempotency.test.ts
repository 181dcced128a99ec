import type { Caller } from '../../../api/http/caller.ts'
import type { Exchange } from '../../../api/http/exchange.ts'
import { Problem } from '../../../api/http/problem.ts'
import type { Answer } from '../../../api/http/route.ts'
import { makeIdempotency, makeIdempotencyStage, type OutcomeOf } from '../../../api/http/stages/idempotency.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { DatabaseUnavailable, makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { KEEP_MS, makeKeyBook, sweepKeys } from '../../../controllers/store/request/idempotency.ts'
import { query, withConnection } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const SECRET = 'canary-of-a-password'
/** Longer than a busy machine stands still, or what runs would lose its key. */
const LEASE_MS = 9_000
const keys = keysOfOne(Buffer.alloc(32, 7))

type Attempt = {
  key?: string
  body?: unknown
  account?: string
  scopes?: string[] | null
  path?: string
  url?: string
  method?: Route['method']
  handle?: (exchange: Exchange) => Promise<Answer>
  outcomeOf?: OutcomeOf
}

/** Every row of every table as text: what somebody who copies the database would read. */
const dumpOf = (url: string): Promise<string> =>
  withConnection(url, async (run) => {
    const tables = await run(
      "select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
    )
    let dump = ''
    for (const { name } of tables) {
      const rows = await run(`select t::text as row from ${name} t`)
      dump += rows.map(({ row }) => row).join('\n')
    }
    // bytea shows as hex: what lies in it in clear is looked for too.
    const bytes = [...dump.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex]) =>
      Buffer.from(hex ?? '', 'hex').toString('latin1'),
    )
    return dump + bytes.join('\n')
  })

const codeOf = (error: unknown) => (error instanceof Problem ? error.code : String(error))
const refusal = async (work: Promise<unknown>): Promise<string> => codeOf(await assert.rejects(work))

spec('an Idempotency-Key', (t) => {
  let database: Database
  let pg: Pg
  let clockMs = Date.parse('2026-11-21T12:00:00.000Z')
  const now = () => new Date(clockMs)
  let runs = 0

  const stageOf = (outcomeOf: OutcomeOf = async () => null) => {
    const book = makeKeyBook({ pg, now, leaseMs: LEASE_MS })
    return makeIdempotencyStage({ idempotency: makeIdempotency({ book, keys }), outcomeOf })
  }
  const made = async (): Promise<Answer> => ({
    status: 201,
    headers: { location: `/api/things/${++runs}`, 'set-cookie': 'a=b' },
    body: { n: runs, password: SECRET },
  })
  const exchangeOf = ({ key, body = { a: 1, b: [2] }, ...attempt }: Attempt): Exchange =>
    ({
      route: {
        method: attempt.method ?? 'POST',
        path: attempt.path ?? '/api/things',
        scope: { kind: 'token' },
        body: {},
      },
      method: attempt.method ?? 'POST',
      url: attempt.url ?? attempt.path ?? '/api/things',
      headers: key === undefined ? {} : { 'idempotency-key': key },
      caller: {
        account: attempt.account ?? 'demo',
        by: { kind: 'token', id: 't' },
        scopes: attempt.scopes ?? null,
      } as Caller,
      body,
      form: Buffer.alloc(0),
    }) as unknown as Exchange
  const send = (attempt: Attempt): Promise<Answer> => {
    const exchange = exchangeOf(attempt)
    return stageOf(attempt.outcomeOf)(exchange, () => (attempt.handle ?? made)(exchange))
  }

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.apiUrl })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('the same request gets the first answer again, marked, without its cookie', async () => {
    const first = await send({ key: 'same' })
    const again = await send({ key: 'same', body: { b: [2], a: 1 } })
    assert.equal(again.body, first.body)
    assert.is(again.status, 201)
    assert.equal(again.headers, { location: first.headers?.location ?? '', 'idempotency-replayed': 'true' })
  })

  t('bytes are replayed as they were', async () => {
    const bytes = Buffer.from([0, 255, 10])
    const handle = async () => ({ status: 200, bytes, headers: { 'content-type': 'application/pdf' } })
    await send({ key: 'bytes', handle })
    const again = await send({ key: 'bytes', handle })
    assert.ok(again.bytes?.equals(bytes))
    assert.is(again.headers?.['content-type'], 'application/pdf')
  })

  t('another body is refused, and told of the key, the route and the first use', async () => {
    await send({ key: 'other-body' })
    const error = await assert.rejects(send({ key: 'other-body', body: { a: 2 } }))
    assert.is(codeOf(error), 'IDEMPOTENCY_MISMATCH')
    for (const said of ['other-body', 'POST /api/things', now().toISOString()]) assert.match(String(error), said)
  })

  t('another object or a credential with other rights is another request', async () => {
    await send({ key: 'path', path: '/api/things/:id', url: '/api/things/1' })
    assert.is(
      await refusal(send({ key: 'path', path: '/api/things/:id', url: '/api/things/2' })),
      'IDEMPOTENCY_MISMATCH',
    )
    await send({ key: 'rights' })
    assert.is(await refusal(send({ key: 'rights', scopes: ['invoices:read'] })), 'IDEMPOTENCY_MISMATCH')
  })

  t('another account, another route and another method have keys of their own', async () => {
    const answers = [
      await send({ key: 'mine' }),
      await send({ key: 'mine', account: 'other' }),
      await send({ key: 'mine', path: '/api/others' }),
      await send({ key: 'mine', method: 'PUT' }),
    ]
    assert.is(new Set(answers.map(({ headers }) => headers?.location)).size, 4)
  })

  t('of 20 at once one runs, and the others are told to come back', async () => {
    const before = runs
    const gate = Promise.withResolvers<void>()
    const handle = () => gate.promise.then(made)
    const refused: Problem[] = []
    const sent = Array.from({ length: 20 }, () =>
      send({ key: 'crowd', handle }).catch((error: Problem) => {
        if (refused.push(error) === 19) gate.resolve()
      }),
    )
    await Promise.all(sent)
    assert.is(runs - before, 1)
    assert.ok(refused.every(({ code, headers }) => code === 'IDEMPOTENCY_IN_FLIGHT' && headers['retry-after'] === '2'))
  })

  t('a run that lasts keeps its key', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = send({ key: 'slow', handle: () => gate.promise.then(made) })
    const lease = async () =>
      (await query(database.url, "select lease_until::text as until from idempotency where key = 'slow'"))[0]?.until
    const first = await eventually('its lease', lease)
    await eventually('a renewal', async () => (await lease()) !== first)
    assert.is(await refusal(send({ key: 'slow' })), 'IDEMPOTENCY_IN_FLIGHT')
    gate.resolve()
    await slow
  })

  t('a run that died is run again after its lease, by the same name of its effects', async () => {
    const of = { account: 'demo', route: 'POST /api/things', key: 'died' }
    const names: (string | undefined)[] = []
    const handle = async ({ idempotencyKey }: Exchange) => {
      names.push(idempotencyKey)
      throw new DatabaseUnavailable('gone')
    }
    await assert.rejects(send({ key: 'died', handle }))
    await query(
      database.url,
      "update idempotency set state = 'running', lease_until = clock_timestamp() + interval '1 h' where key = $1",
      [of.key],
    )
    clockMs += 60_000
    assert.is(await refusal(send({ key: 'died' })), 'IDEMPOTENCY_IN_FLIGHT')
    await query(database.url, 'update idempotency set lease_until = clock_timestamp() where key = $1', [of.key])
    assert.is(await refusal(send({ key: 'died', body: { a: 2 } })), 'IDEMPOTENCY_MISMATCH')
    await assert.rejects(send({ key: 'died', handle }))
    assert.is(names.length, 2)
    assert.match(String(names[0]), /^[0-9a-f]{64}$/)
    assert.is(names[0], names[1])
  })

  t('a run that was taken over keeps nothing', async () => {
    const book = makeKeyBook({ pg, now, leaseMs: LEASE_MS })
    const of = { account: 'demo', route: 'POST /x', key: 'zombie' }
    const first = await book.reserve(of, Buffer.alloc(32))
    await query(database.url, "update idempotency set lease_until = now() - interval '1 s' where key = 'zombie'")
    const second = await book.reserve(of, Buffer.alloc(32))
    if (first.outcome !== 'run' || second.outcome !== 'run') throw new Error('both were to run')
    await first.run.end({ state: 'answered', sealed: Buffer.from('first') })
    await second.run.end({ state: 'answered', sealed: Buffer.from('second') })
    const third = await book.reserve(of, Buffer.alloc(32))
    assert.is(third.outcome === 'replay' && third.sealed.toString(), 'second')
  })

  t('a failure (5xx) is run again, a refusal (4xx) also with a corrected body', async () => {
    const failing = async () => Promise.reject(new Error('bug'))
    await assert.rejects(send({ key: 'failed', handle: failing }))
    assert.is((await send({ key: 'failed' })).status, 201)
    const refusing = async () => Promise.reject(new Problem('NO_ITEMS', 'none'))
    await assert.rejects(send({ key: 'refused', handle: refusing }))
    assert.is((await send({ key: 'refused', body: { a: 9 } })).status, 201)
    assert.is((await send({ key: 'refused', body: { a: 9 } })).headers?.['idempotency-replayed'], 'true')
  })

  t('202 is kept: a retry names the same operation', async () => {
    const handle = async () => ({ status: 202, headers: { location: `/op/${++runs}`, 'retry-after': '2' } })
    const first = await send({ key: 'later', handle })
    const again = await send({ key: 'later', handle })
    assert.is(again.headers?.location, first.headers?.location)
    assert.is(again.status, 202)
  })

  t(
    'what was refused after its 202 frees the key for a corrected body, whose effects have names of their own',
    async () => {
      const names: (string | undefined)[] = []
      const later = async ({ idempotencyKey }: Exchange) => {
        names.push(idempotencyKey)
        return { status: 202, headers: { location: '/op/1' }, operation: 'op-1' }
      }
      const ended = (code: 'NO_ITEMS' | 'OUTCOME_UNKNOWN') => () => Promise.reject(new Problem(code, 'It was.'))
      const corrected = { key: 'verdict', body: { a: 9 }, handle: later }
      await send({ key: 'verdict', handle: later })
      assert.is(await refusal(send(corrected)), 'IDEMPOTENCY_MISMATCH', 'while it is undecided')
      assert.is(await refusal(send({ ...corrected, outcomeOf: ended('OUTCOME_UNKNOWN') })), 'IDEMPOTENCY_MISMATCH')
      assert.is(await refusal(send({ key: 'verdict', outcomeOf: ended('NO_ITEMS') })), 'NO_ITEMS', 'the same again')
      assert.is((await send({ ...corrected, outcomeOf: ended('NO_ITEMS') })).status, 202)
      assert.is((await send(corrected)).headers?.['idempotency-replayed'], 'true')
      assert.is(new Set(names).size, 2)
    },
  )

  t(
    'a refusal at once, and a failure, name the effects of the same request the same, and of a corrected one anew',
    async () => {
      const names: (string | undefined)[] = []
      const refusing = async ({ idempotencyKey }: Exchange) => {
        names.push(idempotencyKey)
        throw new Problem('NO_ITEMS', 'none')
      }
      for (const body of [{ a: 1 }, { a: 1 }, { a: 2 }])
        await assert.rejects(send({ key: 'named', body, handle: refusing }))
      assert.is(names[0], names[1])
      assert.is.not(names[1], names[2])
    },
  )

  t('lapses after 24 hours, and is swept away', async () => {
    const first = await send({ key: 'old' })
    clockMs += KEEP_MS - 1
    assert.equal((await send({ key: 'old' })).body, first.body)
    clockMs += 1
    const anew = await send({ key: 'old', body: { a: 3 } })
    assert.is(anew.headers?.['idempotency-replayed'], undefined)
    // whose request was corrected began a moment later
    clockMs += 1
    const left = async () => (await query(database.url, 'select count(*)::int as n from idempotency'))[0]?.n
    assert.ok((await sweepKeys({ pg, now })) > 5)
    assert.is(await left(), 1)
  })

  t('bad keys are refused; 255 visible characters are a key; DELETE and GET ignore it', async () => {
    for (const key of ['', 'a b', 'ä', 'x'.repeat(256), 'a\t']) {
      assert.is(await refusal(send({ key })), 'BAD_IDEMPOTENCY_KEY')
    }
    assert.is((await send({ key: `${'~!'.repeat(127)}x` })).status, 201)
    for (const method of ['DELETE', 'GET'] as const) assert.is((await send({ key: 'a b', method })).status, 201)
  })

  t('what is kept cannot be read in the database, nor opened elsewhere', async () => {
    await send({ key: 'sealed' })
    assert.not.match(await dumpOf(database.url), SECRET)
    await query(
      database.url,
      "update idempotency set sealed = (select sealed from idempotency where key = 'sealed') where key = 'old'",
    )
    await assert.rejects(send({ key: 'old', body: { a: 3 } }), /seal/i)
  })
})

spec('invoices under an Idempotency-Key', (t) => {
  let platform: Platform
  const post = (key: string, body: unknown = order()) =>
    call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body, { 'idempotency-key': key })
  const count = async (table: string) =>
    (await query(platform.database.url, `select count(*)::int as n from ${table}`))[0]?.n

  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('50 at once under one key make one invoice, one number, one mail', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => post('fifty')))
    const good = replies.filter(({ status }) => status === 201)
    assert.ok(good.length >= 1)
    assert.ok(replies.every(({ status, json }) => status === 201 || json.code === 'IDEMPOTENCY_IN_FLIGHT'))
    const again = await post('fifty')
    assert.equal(again.json, good[0]?.json)
    assert.is(again.headers.get('idempotency-replayed'), 'true')
    assert.is(again.headers.get('location'), `/api/invoices/${again.json.invoice.id}`)
    assert.is(await count('register'), 1)
    assert.is((await post('fifty', order({ due_date: '2027-12-21' }))).json.code, 'IDEMPOTENCY_MISMATCH')
  })

  t('the password and the token are nowhere in the database', async () => {
    const { json } = await post('fifty')
    const dump = await dumpOf(platform.database.url)
    assert.ok(json.password.length === 12)
    for (const secret of [json.password, platform.owner, platform.owner.slice('btg_'.length + 17)]) {
      assert.not.ok(dump.includes(secret))
    }
  })

  t(
    'a request whose process was killed meets its own invoice when it is sent again',
    async () => {
      // Nobody judges: the request waits, with its invoice in the cluster, until its process dies.
      await platform.controllers.stop()
      const lost = post('killed').catch(() => null)
      const names = async () => (await platform.kubectl(['get', 'inv', '-o', 'name'])).split('\n').filter(Boolean)
      await eventually('the second invoice', async () => (await names()).length === 2)
      await platform.api.kill()
      await lost
      const leaseEnds = (inMs: number) =>
        query(
          platform.database.url,
          `update idempotency set lease_until = clock_timestamp() + $1 * interval '1 ms' where key = 'killed'
            and lease_until < clock_timestamp() + interval '1 h' returning key`,
          [inMs],
        )
      assert.is((await leaseEnds(1_800_000)).length, 1)
      await Promise.all([platform.api.start(), platform.controllers.start()])
      assert.is((await post('killed')).json.code, 'IDEMPOTENCY_IN_FLIGHT')
      await leaseEnds(0)
      const reply = await eventually('an answer', async () => {
        const { status, json } = await post('killed')
        return status < 300 && json
      })
      assert.is(reply.idempotent_replay, true)
      assert.is((await names()).length, 2)
      assert.is(await count('register'), 2)
    },
    { timeoutMs: 240_000 },
  )
})
