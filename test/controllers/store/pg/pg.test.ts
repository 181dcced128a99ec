import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseRefused, DatabaseUnavailable, makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase, ownPostgres } from '../../../support/stage/stage.ts'

const isUnavailable = (error: unknown) => error instanceof DatabaseUnavailable
const endAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'bottega' and datname = current_database()`

/** Polls until it holds; the test's deadline ends it otherwise. */
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(20)
}

spec('pg', (t) => {
  let database: Database
  let pg: Pg
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 4 })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('reads int8 exactly and instants as ISO text', async () => {
    const { rows } = await pg.query(
      'test_types',
      "select 9007199254740991::int8 as safe, 9007199254740993::int8 as large, $1::date as day, timestamptz '2026-11-21 10:00:00.5+01' as at",
      ['2026-11-21'],
    )
    assert.equal(rows, [
      { safe: 9_007_199_254_740_991, large: 9_007_199_254_740_993n, day: '2026-11-21', at: '2026-11-21T09:00:00.500Z' },
    ])
  })

  t('tells a refusal from an outage, names the rule, and shows no value', async () => {
    const text = "insert into tokens (id, account, name, secret_hash) values ($1, 'a', 'secret name', $2)"
    await pg.query('test_insert', text, ['t1', Buffer.alloc(32)])
    const error = await assert.rejects(pg.query('test_insert', text, ['t1', Buffer.alloc(32)]))
    assert.ok(error instanceof DatabaseRefused)
    assert.is(error.constraint, 'tokens_pkey')
    assert.not.match(error.message, 'secret name')
  })

  t('knows that what the server gave up was not done, and does not where the session ended', async () => {
    const insert = "insert into tokens (id, account, name, secret_hash) values ('t0', 'a', 'n', sha256(''))"
    const slow = (text: string) =>
      assert.rejects(
        pg.tx(async (run) => {
          await run('test_limit', "set local statement_timeout = '50ms'")
          await run('test_slow', `${insert}; select ${text}`)
        }),
        isUnavailable,
      )
    const isUndone = async (text: string) => ((await slow(text)) as DatabaseUnavailable).isUndone
    assert.is(await isUndone('pg_sleep(10)'), true)
    assert.is(await isUndone('pg_terminate_backend(pg_backend_pid())'), false)
    assert.equal((await pg.query('test_none', "select from tokens where id = 't0'", [])).rows, [])
  })

  t('a transaction is rolled back when its work fails, and its connection is used again', async () => {
    const single = makePg({ url: database.url, max: 1 })
    const failed = single.tx(async (run) => {
      await run('test_token', "insert into tokens (id, account, name, secret_hash) values ($1, 'a', 'n', $2)", [
        't2',
        Buffer.alloc(32),
      ])
      await run('test_refused', 'select 1 / $1::int', [0])
    })
    await assert.rejects(failed, (error) => error instanceof DatabaseRefused)
    assert.is((await single.query('test_count', 'select from tokens where id = $1', ['t2'])).rows.length, 0)
    await single.close()
  })

  t('repeats a transaction that lost a deadlock', async () => {
    await pg.query('test_two', 'create table pair (id int primary key, n int); insert into pair values (1, 0), (2, 0)')
    const both = Promise.withResolvers<void>()
    let arrived = 0
    const update = (first: number, second: number) => {
      let attempts = 0
      return pg.tx(async (run) => {
        attempts++
        await run('test_update', 'update pair set n = n + 1 where id = $1', [first])
        if (attempts === 1 && ++arrived === 2) both.resolve()
        await both.promise
        await run('test_update', 'update pair set n = n + 1 where id = $1', [second])
      })
    }
    await Promise.all([update(1, 2), update(2, 1)])
    const { rows } = await pg.query('test_pair', 'select n from pair order by id', [])
    assert.equal(rows, [{ n: 2 }, { n: 2 }])
  })

  t('lives through the end of every connection, idle and busy, and then serves again', async () => {
    const errors: Error[] = []
    // a busy machine may take longer to connect than a caller waits, and what never slept would be waited for below
    const patient = { url: database.url, max: 4, connectTimeoutMs: 60_000 }
    const mine = makePg({ ...patient, onConnectionError: (error) => errors.push(error) })
    await Promise.all([1, 2, 3, 4].map(() => mine.ready()))
    const busy = [1, 2].map(() => assert.rejects(mine.query('test_sleep', 'select pg_sleep($1)', [20]), isUnavailable))
    const open = assert.rejects(
      mine.tx((run) => run('test_sleep', 'select pg_sleep($1)', [20])),
      isUnavailable,
    )
    const sleeping =
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'"
    await until(async () => (await query(database.url, sleeping))[0]?.n === 3)
    // on a connection of its own, which is idle from now on
    await until(async () => (await mine.ready()) && mine.stats().idle > 0)
    await query(database.url, endAll)
    await Promise.all([...busy, open])
    // before anybody borrows the idle one: who did would be told instead
    await until(() => errors.length > 0)
    await until(() => mine.ready())
    assert.ok(mine.stats().unavailable >= 3)
    await mine.close()
  })

  t('a listener that cannot read what was notified is told to look, and goes on', async () => {
    const heard: string[] = []
    const broken: Error[] = []
    const listening = makePg({ url: database.url, onConnectionError: (error) => broken.push(error) })
    const listener = await listening.listen(
      'garbage_channel',
      (payload) => heard.push(JSON.parse(payload)),
      () => heard.push('look'),
    )
    for (const payload of ['garbage', '"fine"'])
      await query(database.url, 'select pg_notify($1, $2)', ['garbage_channel', payload])
    await until(() => heard.includes('fine'))
    assert.equal(heard, ['look', 'fine'])
    assert.is(broken.length, 1)
    await listener.close()
    await listening.close()
  })

  t('a listener comes back by itself and says so', async () => {
    const heard: string[] = []
    let reconnects = 0
    const listener = await pg.listen(
      'test_channel',
      (payload) => heard.push(payload),
      () => reconnects++,
    )
    const tell = (text: string) => pg.query('test_notify', "select pg_notify('test_channel', $1)", [text])
    await tell('one')
    await until(() => heard.length === 1)
    await query(database.url, endAll)
    await until(() => reconnects === 1)
    await tell('two')
    await until(() => heard.length === 2)
    assert.equal(heard, ['one', 'two'])
    await listener.close()
    const text = "select count(*)::int as n from pg_stat_activity where query like 'listen test_channel%'"
    await until(async () => (await query(database.url, text))[0]?.n === 0)
  })

  t('every statement of a transaction passes the hook, begin and commit too', async () => {
    const seen: string[] = []
    const hooked = makePg({
      url: database.url,
      around: async (call, run) => {
        seen.push(`before ${call.name}`)
        const result = await run()
        seen.push(`after ${call.name}`)
        return result
      },
    })
    await hooked.tx((run) => run('test_one', 'select $1::int', [1]))
    assert.equal(
      seen,
      ['begin', 'test_one', 'commit'].flatMap((name) => [`before ${name}`, `after ${name}`]),
    )
    await hooked.close()
  })

  t('a crash before the commit leaves nothing behind', async () => {
    const crashing = makePg({
      url: database.url,
      max: 1,
      around: (call, run) => (call.name === 'commit' ? Promise.reject(new Error('crash')) : run()),
    })
    const work = crashing.tx((run) =>
      run('test_token', "insert into tokens (id, account, name, secret_hash) values ($1, 'a', 'n', $2)", [
        't3',
        Buffer.alloc(32),
      ]),
    )
    await assert.rejects(work, 'crash')
    assert.is((await crashing.query('test_count', 'select from tokens where id = $1', ['t3'])).rows.length, 0)
    await crashing.close()
  })
})

spec('pg and a server of its own', (t) => {
  let server: Awaited<ReturnType<typeof ownPostgres>>
  t.before(async () => {
    server = await ownPostgres()
  })
  t.after(() => server.end())

  t('refuses to start where a commit may be lost: server, database or role', async () => {
    const opened = () => makePg({ url: server.url, max: 1 })
    const demand = async (expected: RegExp | null) => {
      const pg = opened()
      try {
        if (expected === null) await pg.assertDurable()
        else await assert.rejects(pg.assertDurable(), expected)
        await pg.assertDurable({ allowUnsafe: true })
      } finally {
        await pg.close()
      }
    }
    await demand(null)
    for (const [place, source] of [
      ['role postgres', 'user'],
      ['database postgres', 'database'],
    ]) {
      await query(server.url, `alter ${place} set synchronous_commit = off`)
      await demand(new RegExp(`synchronous_commit=off \\(set by: ${source}\\)`))
      await query(server.url, `alter ${place} reset synchronous_commit`)
    }
    await query(server.url, 'alter system set synchronous_commit = off')
    await query(server.url, 'alter system set fsync = off')
    await query(server.url, 'select pg_reload_conf()')
    await until(async () => (await query(server.url, 'show fsync'))[0]?.fsync === 'off')
    await demand(/fsync=off .* and synchronous_commit=off/)
    await query(server.url, 'alter system reset all')
    await query(server.url, 'select pg_reload_conf()')
    await until(async () => (await query(server.url, 'show fsync'))[0]?.fsync === 'on')
    await demand(null)
  })

  t('who starts before the server does waits for it', async () => {
    await server.kill()
    const lost: Error[] = []
    const pg = makePg({
      url: server.url,
      max: 1,
      connectTimeoutMs: 1000,
      onConnectionError: (error) => lost.push(error),
    })
    try {
      const started = pg.assertDurable()
      await until(() => lost.length > 1)
      await server.start()
      await started
    } finally {
      await pg.close()
    }
  })

  t('a killed server means DatabaseUnavailable, and service again after it is back', async () => {
    const pg = makePg({ url: server.url, max: 3, connectTimeoutMs: 1000 })
    let reconnects = 0
    const listener = await pg.listen(
      'test_channel',
      () => {},
      () => reconnects++,
    )
    await Promise.all([pg.ready(), pg.ready(), pg.ready()])
    const busy = assert.rejects(pg.query('test_sleep', 'select pg_sleep($1)', [20]), isUnavailable)
    await sleep(100)
    await server.kill()
    await busy
    await assert.rejects(pg.query('test_one', 'select $1::int', [1]), isUnavailable)
    assert.not(await pg.ready())
    await server.start()
    await until(() => pg.ready())
    await until(() => reconnects === 1)
    await listener.close()
    await pg.close()
  })

  t('waits no longer than the limit for a connection when all are in use', async () => {
    const pg = makePg({ url: server.url, max: 1, connectTimeoutMs: 1_000 })
    await until(() => pg.ready())
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const busy = pg.tx(async () => {
      begun.resolve()
      await gate.promise
    })
    await begun.promise
    await assert.rejects(pg.query('test_one', 'select $1::int', [1]), isUnavailable)
    gate.resolve()
    await busy
    await pg.close()
  })
})
