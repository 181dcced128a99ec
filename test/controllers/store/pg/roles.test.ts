import { readFileSync } from 'node:fs'
import { makeAppendFact } from '../../../../controllers/store/ledger/facts.ts'
import { LEASE, takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { migrate } from '../../../../controllers/store/pg/migrate.ts'
import { DatabaseRefused, makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { mayAlterTables } from '../../../../controllers/store/pg/roles.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const GRANTS = readFileSync(new URL('../../../../controllers/store/sql/grants.sql', import.meta.url), 'utf8')
const INSUFFICIENT_PRIVILEGE = '42501'
const AT = '2026-11-22T12:00:00.000Z'
const FACT = { resource: 'inv-1', resourceKind: 'Invoice', kind: 'viewed', body: {}, at: AT } as const

/** What nobody but the controllers writes. */
const LEDGER = ['series', 'register', 'known_numbers', 'sends', 'snapshots', 'facts', 'events', 'event_heads']
const CONTROLLERS = ['migrations', 'epochs', 'outbox', 'schedule', 'mirror', 'mirror_lost', 'installation']
const AUDIT = ['audit', 'audit_heads']
const KEPT = [...LEDGER, ...CONTROLLERS, ...AUDIT]

/** The names that grants.sql gives something on, by the word before them. */
const granted = (of: 'table' | 'function'): Set<string> => {
  const statements = GRANTS.replace(/--.*$/gm, '').split(';')
  const shape =
    of === 'table'
      ? /^\s*grant (?!execute|usage)[^;]*? on ([\s\S]+?) to /
      : /^\s*grant execute on function ([\s\S]+?) to /
  return new Set(statements.flatMap((text) => shape.exec(text.replace(/\s+/g, ' '))?.[1]?.split(/,\s*/) ?? []))
}

/** Relations on which the role may do anything, of a column alone too. */
const ALLOWED_TABLES = `
select c.relname as name from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
  and (has_any_column_privilege(c.oid, 'select, insert, update, references')
    or has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger'))
order by name`
const ALLOWED_FUNCTIONS = `
select p.proname as name from pg_proc p
where p.pronamespace = 'public'::regnamespace and has_function_privilege(p.oid, 'execute') order by name`
const UNPINNED = `
select p.proname as name from pg_proc p
where p.pronamespace = 'public'::regnamespace and p.prosecdef
  and not coalesce('search_path=public, pg_temp' = any (p.proconfig), false)`

spec('the role of the api', (t) => {
  let database: Database
  let owner: Pg
  let api: Pg
  t.before(async () => {
    database = await makeDatabase()
    owner = makePg({ url: database.url, max: 2 })
    api = makePg({ url: database.apiUrl, max: 2 })
    await takeEpoch(owner, 'test')
  })
  t.after(async () => {
    await Promise.all([owner.close(), api.close()])
    await database.drop()
  })
  const names = async (pg: Pg, text: string): Promise<string[]> =>
    (await pg.query<{ name: string }>('names', text)).rows.map(({ name }) => name)
  const stateOf = (text: string, pg = api): Promise<string> =>
    pg.query('refused', text).then(
      () => 'done',
      (error) => (error instanceof DatabaseRefused ? error.state : String(error)),
    )
  const refuses = async (...texts: string[]): Promise<void> => {
    const states = await Promise.all(texts.map(async (text) => `${await stateOf(text)}: ${text}`))
    assert.equal(
      states.filter((text) => !text.startsWith(INSUFFICIENT_PRIVILEGE)),
      [],
    )
  }

  t('alters, makes and drops nothing', async () => {
    await refuses(
      'alter table register add column extra text',
      'alter table audit disable trigger all',
      'drop trigger audit_is_append_only on audit',
      'create trigger mine before insert on audit for each row execute function refuse_change()',
      'drop table facts',
      'create table mine (n integer)',
      "create function mine() returns integer language sql as 'select 1'",
      "create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'",
      'alter function append_audit security invoker',
      'create role mine',
      'grant select on epochs to public',
      "set session_replication_role = 'replica'",
      'set role postgres',
      'select * from epochs',
      "update migrations set sha256 = ''",
    )
  })

  t('writes no row of the ledger, of the audit, or of what the controllers alone write', async () => {
    await refuses(
      ...KEPT.flatMap((table) => [
        `insert into ${table} default values`,
        `delete from ${table}`,
        `truncate ${table}`,
        `do 'begin lock table ${table} in access exclusive mode; end'`,
      ]),
    )
    const columns = await owner.query<{ text: string }>(
      'columns',
      `select format('update %I set %I = %I', relname, attname, attname) as text
       from pg_attribute join pg_class c on c.oid = attrelid
       where relnamespace = 'public'::regnamespace and relname = any ($1) and attnum > 0 and attgenerated = '' and attidentity = ''`,
      [KEPT],
    )
    assert.ok(columns.rows.length > KEPT.length)
    await refuses(...columns.rows.map(({ text }) => text))
  })

  t('takes no epoch, acts under none, and decides on no fact', async () => {
    const { rows } = await owner.query<{ epoch: number }>('epoch', 'select epoch from epochs', [])
    const epoch = Number(rows[0]?.epoch)
    const reserve = `select outcome from reserve_devbox('${LEASE}', ${epoch}, 'dev-1', 'demo', 'one', 1, 10, 'v1', '${AT}')`
    await refuses(
      `select take_epoch('${LEASE}', 'mine', 0)`,
      `select append_facts('${LEASE}', ${epoch}, '[]')`,
      `select decide_facts('${LEASE}', ${epoch}, '[]')`,
      "select set_next_number('demo', 'demo/iss-default/invoice/2026', 'INV-026-', 9)",
      `select stored from store_app_outcome('${LEASE}', ${epoch}, 'app-1', 0, '{}', '[]', null, null, '${AT}')`,
      reserve,
    )
    assert.is(await stateOf(reserve, owner), 'done')
  })

  t('reports a fact, and cannot change, decide or remove it', async () => {
    const append = makeAppendFact({ pg: api, epoch: null })
    const { result, fact } = await append({ ...FACT, key: 'view:1', state: 'pending' })
    assert.equal([result, fact.state], ['new', 'pending'])
    await refuses(
      "update facts set state = 'accepted', decided_at = at",
      "update facts set body = '{}'",
      'delete from facts',
      "insert into facts (resource, seq, key, kind, body, written_by, state, at) values ('x', 1, 'k', 'v', '{}', 'api', 'pending', now())",
    )
    const forged = JSON.stringify([{ ...FACT, key: 'view:2', state: 'accepted', writtenBy: 'controller' }])
    await assert.rejects(api.query('forged', 'select * from report_facts($1)', [forged]), /needs an epoch/)
  })

  t('appends to the audit by its function alone', async () => {
    const text = 'select seq from append_audit($1, $2, $3, $4)'
    const { rows } = await api.query('append', text, [['demo'], [AT], ['one'], ['{}']])
    assert.is(rows.length, 1)
    await refuses(
      "update audit set entry = '{}'",
      'delete from audit',
      'truncate audit',
      'update audit_heads set last_seq = 0',
    )
  })

  t('is not led astray by a temporary table of its own', async () => {
    await api.tx(async (run) => {
      await run('fake', 'create temporary table facts (like public.facts) on commit drop')
      await run('report', 'select * from report_facts($1)', [
        JSON.stringify([{ ...FACT, key: 'view:3', state: 'accepted', writtenBy: 'api' }]),
      ])
    })
    const { rows } = await owner.query('kept', "select key from facts where key = 'view:3'", [])
    assert.equal(rows, [{ key: 'view:3' }])
    assert.equal(await names(owner, UNPINNED), [])
  })

  t('is heard, hears, locks, and prepares', async () => {
    const heard = Promise.withResolvers<string>()
    const listener = await api.listen('bottega_mirror', heard.resolve)
    await owner.query('told', "select pg_notify('bottega_mirror', 'x')", [])
    assert.is(await heard.promise, 'x')
    await listener.close()
    const locked = 'select pg_try_advisory_xact_lock($1::bigint) as got'
    assert.equal((await api.query('locked', locked, [1])).rows, [{ got: true }])
    assert.equal((await api.query('locked', locked, [1])).rows, [{ got: true }])
  })

  t('has what grants.sql names, and nothing of a table or function that it does not', async () => {
    const tables = granted('table')
    const functions = granted('function')
    assert.ok(tables.has('tokens') && functions.has('report_facts'))
    assert.equal(await names(api, ALLOWED_TABLES), [...tables].sort())
    assert.equal(await names(api, ALLOWED_FUNCTIONS), [...functions].sort())
    await query(database.url, 'create table later (n integer)')
    await query(database.url, 'create function later_read() returns bigint language sql return 1')
    await query(database.url, 'grant all on later to public')
    await migrate(database.url, { apiUrl: database.apiUrl })
    await refuses('select * from later', 'select later_read()')
    await query(database.url, 'drop table later; drop function later_read')
  })

  t('keeps its password when the migration runs again, and is told from the owner', async () => {
    const other = new URL(database.apiUrl)
    other.password = 'another'
    await migrate(database.url, { apiUrl: other.href })
    assert.is(await api.ready(), true)
    assert.equal([await mayAlterTables(api), await mayAlterTables(owner)], [false, true])
    await assert.rejects(migrate(database.url, { apiUrl: database.url }), /owns the tables: it needs a role of its own/)
  })
})
