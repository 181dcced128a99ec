import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { keyIdOf, makeKeyRing } from '../../../../controllers/base/keyring.ts'
import { BadSeal, headOf, makePlainSealer, makeSealer } from '../../../../controllers/base/seal.ts'
import {
  countSealed,
  PAGE_ROWS,
  PLAIN,
  RESEAL_BATCH,
  resealPage,
} from '../../../../controllers/store/installation/reseal.ts'
import { enterKeys, readRingKeys } from '../../../../controllers/store/installation/ringkeys.ts'
import { SEALED, type SealedColumn, type SealedKey } from '../../../../controllers/store/installation/sealed.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { resealRound } from '../../../../controllers/workers/sweeps/reseal.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { NOT_SEALED } from '../../../support/canaries/kinds.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const [oldRing, bothRing, newRing] = [makeKeyRing([OLD]), makeKeyRing([NEW, OLD]), makeKeyRing([NEW])]
const plainOf = (key: SealedKey): Buffer => Buffer.from(`secret of ${Object.values(key).join('/')}`)
const log = pino({ level: 'silent' })

const placeOf = ({ table, column }: SealedColumn): string => `${table}.${column}`

/** What else a row needs, as its table demands. */
const REST: Record<string, string> = {
  roots: '{}',
  host_credentials: '{}',
  session_keys: '{"public_jwk": {}, "created_at": "2026-01-01", "signs_from": "2026-01-01"}',
  webhook_endpoints:
    '{"account": "demo", "url": "https://a.test", "events": ["*"], "created_at": "2026-01-01", "updated_at": "2026-01-01", "previous_until": "2027-01-01"}',
  app_env: '{"keys": []}',
  app_releases: '{"operation": "op", "state": "failed", "source": "s", "created_at": "2026-01-01"}',
  app_runs:
    '{"app": "a", "account": "demo", "cause": "asked", "service": "web", "command": [], "timeout_seconds": 60, "repeatable": true, "env_keys": [], "attempt": 1, "state": "succeeded", "taken": 0, "lost": 0, "output_first": 0, "output_next": 0, "created_at": "2026-01-01", "ended_at": "2026-01-01"}',
  app_registries: '{"username": "robot", "updated_at": "2026-01-01"}',
  devbox_envs: '{"sealed": "\\\\x00"}',
  site_messages:
    '{"site": "site-a", "account": "demo", "key": "\\\\x00", "held": false, "day": "2026-01-01", "at": "2026-01-01"}',
  idempotency:
    '{"first_used_at": "2026-01-01", "state": "answered", "run": "00000000-0000-4000-8000-000000000000", "lease_until": "2026-01-01"}',
  operations:
    '{"account": "demo", "method": "POST", "path": "/", "scope": {}, "kind": "Invoice", "name": "a", "resource": "/", "command": "c", "state": "succeeded", "created_at": "2026-01-01", "settled_at": "2026-01-01"}',
}
/** Of columns that must not be null and of which a row of the table may have no other. */
const UNIQUE: Record<string, (n: number) => object> = {
  webhook_endpoints: (n) => ({ fingerprint: `f${n}` }),
  app_releases: (n) => ({ id: `rel-${n}` }),
  idempotency: () => ({ fingerprint: `\\x${'00'.repeat(32)}` }),
}

const keyOf = ({ key }: SealedColumn, n: number): SealedKey =>
  Object.fromEntries(Object.entries(key).map(([name, type]) => [name, type === 'text' ? `${name}-${n}` : n]))

/** A row of each table, with every sealed column of it under what `seal` gives. */
const plant = async (url: string, n: number, seal: (purpose: string, plain: Buffer, about: string) => Buffer) => {
  for (const table of new Set(SEALED.map((one) => one.table))) {
    const columns = SEALED.filter((one) => one.table === table)
    const first = columns[0] as SealedColumn
    const key = keyOf(first, n)
    const sealed = columns.map(({ column, purpose, about }) => [
      column,
      `\\x${seal(purpose, plainOf(key), about(key)).toString('hex')}`,
    ])
    const row = { ...JSON.parse(REST[table] ?? '{}'), ...UNIQUE[table]?.(n), ...key, ...Object.fromEntries(sealed) }
    const names = Object.keys(row).join(', ')
    await query(url, `insert into ${table} (${names}) select ${names} from json_populate_record(null::${table}, $1)`, [
      JSON.stringify(row),
    ])
  }
}

spec('sealed anew', (t) => {
  let database: Database
  let pg: Pg
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 3 })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })
  const plantUnder = async (from: number, count: number, key: Buffer) => {
    for (let n = from; n < from + count; n++)
      await plant(database.url, n, (purpose, plain, about) =>
        makeSealer(makeKeyRing([key]), purpose).seal(plain, about),
      )
  }
  const valuesOf = async (one: SealedColumn) =>
    (await query(database.url, `select *, ${one.column} as sealed from ${one.table}`)) as (SealedKey & {
      sealed: Buffer
    })[]
  /** Every value opens by this ring, and says what was sealed. */
  const allOpen = async (ring: typeof newRing) => {
    let opened = 0
    for (const one of SEALED)
      for (const row of await valuesOf(one)) {
        const key = Object.fromEntries(Object.keys(one.key).map((name) => [name, row[name] as string | number]))
        assert.equal(makeSealer(ring, one.purpose).open(row.sealed, one.about(key)), plainOf(key), placeOf(one))
        opened++
      }
    return opened
  }
  const never = new AbortController().signal
  /** Until one finds nothing to move. */
  const round = async (ring = bothRing) => {
    while ((await resealRound({ pg, ring, log }, never)).moved > 0);
  }

  t(
    'is every column that is sealed: all columns of bytes are in the declaration, or are known to be something else',
    async () => {
      const rows = await query(
        database.url,
        `select c.table_name || '.' || c.column_name as place from information_schema.columns c
join information_schema.tables t using (table_schema, table_name)
where c.table_schema = 'public' and c.data_type = 'bytea' and t.table_type = 'BASE TABLE'`,
      )
      const declared = SEALED.map(placeOf)
      const found = rows.map(({ place }) => String(place)).filter((place) => !(place in NOT_SEALED))
      assert.equal(found.sort(), declared.sort())
      const planted = [...found, 'new_table.sealed'].filter((place) => !declared.includes(place))
      assert.equal(planted, ['new_table.sealed'], 'a new one is found')
      const keys = await query(
        database.url,
        `select c.relname as name, array_agg(a.attname::text order by array_position(i.indkey::int[], a.attnum::int)) as key
from pg_index i join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
where i.indisprimary group by 1`,
      )
      for (const one of SEALED)
        assert.equal(keys.find(({ name }) => name === one.table)?.key, Object.keys(one.key), `the key of ${one.table}`)
    },
  )

  t('every kind of value, under the old key or of before there were ids, opens by the new key alone', async () => {
    await enterKeys(pg, [keyIdOf(OLD), keyIdOf(NEW)])
    await plantUnder(1, 3, OLD)
    await plant(database.url, 4, (purpose, plain, about) => makePlainSealer(OLD, purpose).seal(plain, about))
    await plantUnder(5, 1, NEW)
    const all = SEALED.length * 5
    assert.equal(Object.fromEntries(await countSealed(pg)), {
      [keyIdOf(OLD)]: SEALED.length * 3,
      [PLAIN]: SEALED.length,
      [keyIdOf(NEW)]: SEALED.length,
    })
    await assert.rejects(allOpen(newRing))
    await round()
    assert.equal(Object.fromEntries(await countSealed(pg)), { [keyIdOf(NEW)]: all })
    assert.is(await allOpen(newRing), all)
    const cleared = (await readRingKeys(pg)).filter(({ clearedAt }) => clearedAt !== null).map(({ id }) => id)
    assert.equal(cleared, [keyIdOf(OLD)])
  })

  t('a second round writes nothing, and keys in the wrong order lead back and lose nothing', async () => {
    await enterKeys(pg, [keyIdOf(OLD), keyIdOf(NEW)])
    await plantUnder(1, 2, OLD)
    await round()
    const after = await Promise.all(SEALED.map(valuesOf))
    await round()
    assert.equal(await Promise.all(SEALED.map(valuesOf)), after)
    await round(makeKeyRing([OLD, NEW]))
    assert.is(await allOpen(oldRing), SEALED.length * 2)
    const needed = (await readRingKeys(pg)).filter(({ clearedAt }) => clearedAt === null).map(({ id }) => id)
    assert.equal(needed, [keyIdOf(OLD)])
  })

  t('goes on where it was killed: page by page, and what was written in between stays', async () => {
    const env = SEALED.find((one) => placeOf(one) === 'app_env.sealed') as SealedColumn
    const rows = PAGE_ROWS + 2 * RESEAL_BATCH + 7
    const seal = makeSealer(oldRing, env.purpose)
    const sealed: Buffer[] = []
    for (let n = 1; n <= rows; n++) {
      const key = { app: 'app', version: n }
      sealed.push(seal.seal(plainOf(key), env.about(key)))
    }
    const text = `insert into app_env (app, version, sealed, keys)
select 'app', v.n, v.sealed, '{}' from unnest($1::bytea[]) with ordinality as v(sealed, n)`
    await query(database.url, text, [sealed])
    let writes = 0
    const dying: Pg = {
      ...pg,
      query: (name, text, values) => {
        if (name.startsWith('write_sealed') && ++writes > 3) throw new Error('killed')
        return pg.query(name, text, values)
      },
    }
    await assert.rejects(resealPage(dying, env, bothRing, null), /killed/)
    const left = Object.fromEntries(await countSealed(pg))
    assert.equal(left, { [keyIdOf(OLD)]: rows - 3 * RESEAL_BATCH, [keyIdOf(NEW)]: 3 * RESEAL_BATCH })
    // the process that knew of the page is gone; the next begins anew
    const again = await resealPage(pg, env, bothRing, null)
    assert.equal([again.moved, again.last], [PAGE_ROWS - 3 * RESEAL_BATCH, { app: 'app', version: PAGE_ROWS }])
    const end = await resealPage(pg, env, bothRing, again.last)
    assert.equal([end.moved, end.last], [2 * RESEAL_BATCH + 7, null])
    assert.is(await allOpen(newRing), rows)
  })

  t('leaves what somebody has written in between', async () => {
    const env = SEALED.find((one) => placeOf(one) === 'app_env.sealed') as SealedColumn
    const key = { app: 'app', version: 1 }
    const sealed = (text: string) => makeSealer(oldRing, env.purpose).seal(Buffer.from(text), env.about(key))
    await query(database.url, 'insert into app_env (app, version, sealed, keys) values ($1, $2, $3, $4)', [
      ...['app', 1, sealed('read'), []],
    ])
    const written = sealed('written in between')
    const around: Pg = {
      ...pg,
      query: async (name, text, values) => {
        if (name.startsWith('write_sealed')) await query(database.url, 'update app_env set sealed = $1', [written])
        return pg.query(name, text, values)
      },
    }
    const page = await resealPage(around, env, bothRing, null)
    assert.is(page.moved, 0)
    const [row] = await valuesOf(env)
    assert.equal(row?.sealed, written)
  })

  t('one that cannot be opened holds up no other, and its key stays needed', async () => {
    const lost = Buffer.alloc(32, 9)
    await enterKeys(pg, [keyIdOf(OLD), keyIdOf(NEW), keyIdOf(lost)])
    await plantUnder(1, 1, lost)
    await plantUnder(2, 2, OLD)
    const said: unknown[] = []
    const loud = pino({ level: 'error' }, { write: (line: string) => void said.push(JSON.parse(line)) })
    const first = await resealRound({ pg, ring: bothRing, log: loud }, never)
    assert.equal(first, { moved: SEALED.length * 2, isSettled: false })
    await round()
    assert.equal(Object.fromEntries(await countSealed(pg)), {
      [keyIdOf(lost)]: SEALED.length,
      [keyIdOf(NEW)]: SEALED.length * 2,
    })
    assert.is(said.length, SEALED.length)
    const needed = (await readRingKeys(pg)).filter(({ clearedAt }) => clearedAt === null).map(({ id }) => id)
    assert.equal(needed.sort(), [keyIdOf(lost), keyIdOf(NEW)].sort())
    const garbage = Buffer.concat([headOf(keyIdOf(NEW)), randomBytes(80)])
    assert.throws(
      () => makeSealer(newRing, 'app-env').open(garbage, 'x'),
      (error: unknown) => error instanceof BadSeal,
    )
  })
})
