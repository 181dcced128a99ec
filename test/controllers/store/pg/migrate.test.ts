import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { migrate } from '../../../../controllers/store/pg/migrate.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase, scratchFolder } from '../../../support/stage/stage.ts'

type Files = Readonly<Record<string, string>>

const OWN = new URL('../../../../controllers/store/sql/', import.meta.url)
const folders: string[] = []

/** A folder with these files, as the URL that migrate takes. */
const folderOf = (files: Files): URL => {
  const folder = scratchFolder('sql')
  folders.push(folder)
  for (const room of ['schema', 'functions']) mkdirSync(`${folder}/${room}`, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(`${folder}/${name}`), { recursive: true })
    writeFileSync(`${folder}/${name}`, text)
  }
  return pathToFileURL(`${folder}/`)
}

const gives = (name: string, value: string): Files => ({
  [`functions/${name}.sql`]: `create or replace function ${name}() returns integer\nlanguage sql\nreturn ${value};\n`,
})

spec('migrate', (t) => {
  let database: Database
  t.before(async () => {
    database = await makeDatabase()
  })
  const empty = async () => {
    await query(database.url, 'drop schema public cascade')
    await query(database.url, 'create schema public')
  }
  t.before.each(empty)
  t.after(async () => {
    for (const folder of folders) rmSync(folder, { recursive: true })
    await database.drop()
  })
  const run = (files: Files) => migrate(database.url, { folder: folderOf(files) })
  const sql = (text: string) => query(database.url, text)
  const first: Files = { 'schema/001_one.sql': 'create table one (n int); insert into one values (1);' }

  t('many at once on an empty database apply each file once', async () => {
    const files = {
      ...first,
      'schema/002_two.sql': 'select pg_sleep(0.2); insert into one values (2);',
      ...gives('f', '1'),
      'functions/g.sql': 'create or replace function g() returns integer return f(); insert into one values (3);',
    }
    await Promise.all(Array.from({ length: 6 }, () => run(files)))
    assert.equal(await sql('select n from one order by n'), [{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  t('a file of the schema that was applied may not be edited', async () => {
    await run(first)
    await assert.rejects(run({ 'schema/001_one.sql': 'create table one (n bigint);' }), /001_one.sql was edited/)
  })

  t('a file that fails leaves nothing behind and names itself', async () => {
    const broken = { ...first, 'schema/003_bad.sql': 'create table three (n int); select 1 / 0;' }
    await assert.rejects(run(broken), /schema\/003_bad.sql failed and was rolled back: division by zero/)
    assert.equal(await sql("select to_regclass('three') as three"), [{ three: null }])
    await run({ ...first, 'schema/003_bad.sql': 'create table three (n int);' })
  })

  t('a file of the schema numbered below one that is applied is refused', async () => {
    await run(first)
    await assert.rejects(run({ ...first, 'schema/000_zero.sql': 'select 1' }), /000_zero.sql comes before schema\/001/)
  })

  t('a file with another kind of name, or with another function than its name says, is refused', async () => {
    await assert.rejects(run({ 'schema/4_four.sql': 'select 1' }), /4_four.sql must be named like/)
    const [text = ''] = Object.values(gives('f', '1'))
    await assert.rejects(run({ 'functions/g.sql': text }), /g.sql must hold one `create or replace function g`/)
    await assert.rejects(run({ 'functions/f.sql': text + text }), /f.sql must hold one/)
    await assert.rejects(run({ 'functions/f.sql': text.replace('or replace ', '') }), /f.sql must hold one/)
  })

  t('a function whose text changed is made anew, and no other is touched', async () => {
    const versions = () => sql('select proname, xmin from pg_proc where pronamespace = current_schema()::regnamespace')
    await run({ ...first, ...gives('f', '1'), ...gives('g', 'f() + 1') })
    const before = await versions()
    await run({ ...first, ...gives('f', '1'), ...gives('g', 'f() + 1') })
    assert.equal(await versions(), before)
    await run({ ...first, ...gives('f', '10'), ...gives('g', 'f() + 1') })
    assert.equal(await sql('select f(), g()'), [{ f: 10, g: 11 }])
    const same = (await versions()).filter(({ xmin }) => before.some((one) => one.xmin === xmin))
    assert.equal(
      same.map(({ proname }) => proname),
      ['g'],
    )
    await run({ ...first, ...gives('f', '1'), ...gives('g', 'f() + 1') })
    assert.equal(await sql('select g()'), [{ g: 2 }])
  })

  t('a function stands after those that it calls, whatever they are named, and after all of the schema', async () => {
    const names = await run({
      ...gives('a', 'b() + d() -- and not e()'),
      ...gives('b', 'c()'),
      ...gives('c', '(select count(*) from one)::integer'),
      ...gives('d', '1'),
      ...gives('e', 'a()'),
      ...first,
    })
    assert.equal(
      names,
      ['schema/001_one', 'functions/c', 'functions/b', 'functions/d', 'functions/a', 'functions/e'].map(
        (name) => `${name}.sql`,
      ),
    )
    assert.equal(await sql('select e()'), [{ e: 2 }])
  })

  t('functions in a circle are named, and one that calls itself is none', async () => {
    const circle = { ...gives('a', 'b()'), ...gives('b', 'c()'), ...gives('c', 'a()') }
    await assert.rejects(run({ ...first, ...circle }), /in a circle: a → b → c → a/)
    assert.equal(await sql("select to_regclass('one') as one"), [{ one: null }])
    const itself =
      'create or replace function f(n integer) returns integer language plpgsql\n' +
      'as $$ begin return case when n = 0 then 0 else 1 + f(n - 1) end; end $$;'
    await run({ 'functions/f.sql': itself })
    assert.equal(await sql('select f(3)'), [{ f: 3 }])
  })

  t(
    'another signature is refused until the schema drops the old function, and what went with it comes back',
    async () => {
      const files = {
        ...first,
        ...gives('f', '1'),
        ...gives('g', 'f()'),
        'functions/kept.sql':
          'create or replace function kept() returns trigger language plpgsql as $$ begin return null; end $$;\n' +
          'create or replace trigger kept before delete on one for each row execute function kept();',
      }
      await run(files)
      const [old = ''] = Object.values(gives('f', '1'))
      const changed = (from: string, to: string) => ({ ...files, 'functions/f.sql': old.replace(from, to) })
      const refused = /functions\/f.sql failed .*: another function f is there, .*in schema\/ has to drop the old one/
      await assert.rejects(run(changed('integer', 'bigint')), refused)
      await assert.rejects(run(changed('f()', 'f(n integer default 0)')), refused)
      assert.equal(await sql('select g(), pg_typeof(f())::text as type'), [{ g: 1, type: 'integer' }])

      const drop = 'drop function f cascade; drop table one; create table one (n int); insert into one values (1);'
      await run({ ...changed('integer', 'bigint'), ...gives('g', 'f()::integer'), 'schema/002_drop.sql': drop })
      assert.equal(await sql('select g(), pg_typeof(f())::text as type'), [{ g: 1, type: 'bigint' }])
      await sql('delete from one')
      assert.equal(await sql('select n from one'), [{ n: 1 }])
    },
  )

  t('a database of the numbered files is refused, and told what to do', async () => {
    await sql('create table migrations (name text primary key, sha256 text not null, applied_at timestamptz)')
    await sql("insert into migrations values ('0001_fence.sql', 'x', now())")
    const refused = /an earlier development version \(0001_fence.sql\).*Begin with an empty one;.*hack\/down --purge/
    await assert.rejects(migrate(database.url), refused)
    assert.equal(await sql("select to_regclass('series') as series"), [{ series: null }])
  })

  t('our own files apply twice in a row, say nothing but their names, and hold every function', async () => {
    const own = await makeDatabase()
    const names = await migrate(own.url)
    const files = ['schema', 'functions'].flatMap((room) =>
      readdirSync(new URL(room, OWN)).map((name) => `${room}/${name}`),
    )
    assert.equal([...names].sort(), files.sort())
    const functions = 'select proname as name from pg_proc where pronamespace = current_schema()::regnamespace'
    assert.equal(
      (await query(own.url, functions)).map(({ name }) => `functions/${name}.sql`).sort(),
      files.filter((name) => name.startsWith('functions/')),
    )
    await own.drop()
  })
})
