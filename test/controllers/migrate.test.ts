import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { migrate } from '../../controllers/runtime/migrate.ts'
import { query } from '../../hack/lib/postgres.ts'
import { assert, spec } from '../support/spec.ts'
import { type Database, makeDatabase, scratchFolder } from '../support/stage.ts'

const folders: string[] = []

/** A folder with these files, as the URL that migrate takes. */
const folderOf = (files: Record<string, string>): URL => {
  const folder = scratchFolder('sql')
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}`, text)
  return pathToFileURL(`${folder}/`)
}

spec('migrate', (t) => {
  let database: Database
  t.before(async () => {
    database = await makeDatabase()
    await query(database.url, 'drop schema public cascade')
    await query(database.url, 'create schema public')
  })
  t.after(async () => {
    for (const folder of folders) rmSync(folder, { recursive: true })
    await database.drop()
  })
  const run = (files: Record<string, string>) => migrate(database.url, { folder: folderOf(files) })
  const first = { '0001_one.sql': 'create table one (n int); insert into one values (1);' }

  t('many at once on an empty database apply each file once', async () => {
    const files = { ...first, '0002_two.sql': 'select pg_sleep(0.2); insert into one values (2);' }
    await Promise.all(Array.from({ length: 6 }, () => run(files)))
    assert.equal(await query(database.url, 'select n from one order by n'), [{ n: 1 }, { n: 2 }])
  })

  t('a file that was applied may not be edited', async () => {
    await assert.rejects(run({ '0001_one.sql': 'create table one (n bigint);' }), /0001_one.sql was edited/)
  })

  t('a file that fails leaves nothing behind and names itself', async () => {
    const broken = { ...first, '0003_bad.sql': 'create table three (n int); select 1 / 0;' }
    await assert.rejects(run(broken), /0003_bad.sql failed and was rolled back: division by zero/)
    assert.equal(await query(database.url, "select to_regclass('three') as three"), [{ three: null }])
    await run({ ...first, '0003_bad.sql': 'create table three (n int);' })
  })

  t('a file numbered below one that is applied is refused', async () => {
    await assert.rejects(run({ '0000_zero.sql': 'select 1' }), /0000_zero.sql comes before/)
  })

  t('a file with another kind of name is refused', async () => {
    await assert.rejects(run({ '4_four.sql': 'select 1' }), /4_four.sql must be named like/)
  })

  t('the house’s own files apply twice in a row, and say nothing but their names', async () => {
    const own = await makeDatabase()
    const names = await migrate(own.url)
    assert.equal(names, readdirSync(new URL('../../controllers/runtime/sql/', import.meta.url)).sort())
    await own.drop()
  })
})
