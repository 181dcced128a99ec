import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keyIdOf, makeKeyRing } from '../../../../controllers/base/keyring.ts'
import { keysOfOne } from '../../../../controllers/base/keys.ts'
import { openKeys } from '../../../../controllers/store/installation/open.ts'
import {
  assertHeld,
  enterKeys,
  forgetKey,
  KeyUnknown,
  readRingKeys,
  settleKeys,
} from '../../../../controllers/store/installation/ringkeys.ts'
import { addRoot, FIRST_ROOT, readRoots, retireRoot } from '../../../../controllers/store/installation/roots.ts'
import { migrate } from '../../../../controllers/store/pg/migrate.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase, scratchFolder } from '../../../support/stage/stage.ts'

const [OLD, NEW, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]

spec('the roots of an installation', (t) => {
  let database: Database
  let pg: Pg
  let api: Pg
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 3 })
    api = makePg({ url: database.apiUrl, max: 3 })
  })
  t.after.each(async () => {
    await Promise.all([pg.close(), api.close()])
    await database.drop()
  })
  const open = async (secretKeys: Buffer[], more: Partial<Parameters<typeof openKeys>[0]> = {}) => {
    const opened = await openKeys({ pg, secretKeys, makes: true, ...more })
    opened.stop()
    return opened
  }
  const refusal = async (run: () => Promise<unknown>): Promise<string> => {
    try {
      await run()
    } catch (error) {
      assert.instance(error, KeyUnknown)
      return (error as Error).message
    }
    return assert.unreachable('nobody was refused') as never
  }

  t('the first is drawn, whoever comes first, and no key of the ring can be read from what follows', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => open([OLD])))
    const [first, ...others] = all.map(({ keys }) => keys.linkToken('inv-1', 1))
    assert.ok(others.every((one) => one === first))
    assert.not.equal(first, keysOfOne(OLD).linkToken('inv-1', 1))
    assert.is((await readRoots(pg)).length, 1)
  })

  t('the api waits for the controllers to make it, and reads it by its own role', async () => {
    const waiting = openKeys({ pg: api, secretKeys: [OLD], makes: false })
    const { keys } = await open([OLD])
    const opened = await waiting
    opened.stop()
    assert.is(opened.keys.linkToken('inv-1', 1), keys.linkToken('inv-1', 1))
    await assert.rejects(api.query('steal', `delete from roots`, []), /permission denied/)
    await assert.rejects(api.query('steal2', `update ring_keys set cleared_at = now()`, []), /permission denied/)
  })

  t('of a database of before all follows from its key, as it did', async () => {
    const before = keysOfOne(OLD)
    await query(database.url, `insert into roots (id) values ('first')`)
    await query(
      database.url,
      `insert into installation (cluster_uid, key_check) values ('here', '${before.installation}')`,
    )
    assert.match(await refusal(() => open([NEW])), 'KEY_UNKNOWN')
    const { keys } = await open([NEW, OLD])
    const { keys: later } = await open([NEW, OLD])
    for (const one of [keys, later]) {
      assert.is(one.installation, before.installation)
      assert.is(one.linkToken('inv-1', 1), before.linkToken('inv-1', 1))
      assert.equal(one.tokenHash('secret'), before.tokenHash('secret'))
    }
    assert.equal((await readRingKeys(pg)).map(({ id }) => id).sort(), [OLD, NEW].map(keyIdOf).sort())
  })

  t('a database of before that holds something is marked by the migration, an empty one is not', async () => {
    const sql = join(import.meta.dirname, '..', '..', '..', '..', 'controllers', 'store', 'sql')
    const [before, after] = [scratchFolder('sql-before'), scratchFolder('sql-after')]
    for (const folder of [before, after]) cpSync(sql, folder, { recursive: true })
    rmSync(join(before, 'schema', '025_keys.sql'))
    rmSync(join(before, 'functions', 'enter_ring_keys.sql'))
    // the last one, whatever has come since
    renameSync(join(after, 'schema', '025_keys.sql'), join(after, 'schema', '999_keys.sql'))
    const migrateBy = (url: string, folder: string) => migrate(url, { folder: pathToFileURL(`${folder}/`) })
    for (const isUsed of [true, false]) {
      const server = new URL(database.url)
      const name = `${server.pathname.slice(1)}_${isUsed ? 'used' : 'unused'}`
      await query(database.url, `create database ${name}`)
      server.pathname = `/${name}`
      await migrateBy(server.href, before)
      if (isUsed)
        await query(
          server.href,
          `insert into tokens (id, account, name, secret_hash) values ('t', 'a', 'n', sha256(''))`,
        )
      await migrateBy(server.href, after)
      const rows = await query(server.href, 'select id, sealed from roots')
      assert.equal(rows, isUsed ? [{ id: 'first', sealed: null }] : [])
      await query(database.url, `drop database ${name} with (force)`)
    }
    for (const folder of [before, after]) rmSync(folder, { recursive: true })
  })

  t('a lost database gets them back from what the cluster has kept', async () => {
    const { keys } = await open([OLD])
    await addRoot(pg, makeKeyRing([OLD]), 0)
    const kept = await readRoots(pg)
    await query(database.url, 'truncate roots, ring_keys')
    assert.match(await refusal(() => open([NEW], { kept: async () => kept })), keyIdOf(OLD))
    const { keys: again } = await open([OLD], { kept: async () => kept })
    assert.is(again.installation, keys.installation)
    assert.equal(await readRoots(pg), kept)
  })

  t('a second one is known before it makes, and the first is retired only after that', async () => {
    let nowMs = Date.now()
    const { keys, refresh } = await open([OLD], { now: () => new Date(nowMs) })
    const before = keys.linkToken('inv-1', 1)
    const { id } = await addRoot(pg, makeKeyRing([OLD]))
    assert.not(await retireRoot(pg, FIRST_ROOT), 'nothing has taken over')
    await refresh()
    assert.is(keys.linkToken('inv-1', 1), before)
    nowMs += 6 * 60_000
    const after = keys.linkToken('inv-1', 1)
    assert.not.equal(after, before)
    assert.equal(keys.nameOfLink(before), { name: 'inv-1', version: 1 })
    await query(database.url, `update roots set derives_from = now() where id = '${id}'`)
    assert.ok(await retireRoot(pg, FIRST_ROOT))
    await refresh()
    assert.is(keys.nameOfLink(before), null)
    assert.equal(keys.nameOfLink(after), { name: 'inv-1', version: 1 })
    assert.not(await retireRoot(pg, id), 'the last one stays')
  })
})

spec('the keys that are needed', (t) => {
  t(
    'are those under which something is sealed, and whoever lacks one is refused until it is clear or given up',
    async () => {
      const database = await makeDatabase()
      const pg = makePg({ url: database.url, max: 2 })
      try {
        await enterKeys(pg, [keyIdOf(OLD)])
        await enterKeys(pg, [keyIdOf(NEW), keyIdOf(OLD)])
        await assertHeld(pg, makeKeyRing([OLD, NEW]))
        await assert.rejects(assertHeld(pg, makeKeyRing([NEW])), new RegExp(`KEY_UNKNOWN: .*${keyIdOf(OLD)}`))
        await settleKeys(pg, [
          { id: keyIdOf(OLD), isClear: true },
          { id: keyIdOf(NEW), isClear: false },
          { id: keyIdOf(OTHER), isClear: false },
        ])
        await assertHeld(pg, makeKeyRing([NEW]))
        assert.is((await readRingKeys(pg)).length, 2, 'a key that nobody entered is asked of nobody')
        await enterKeys(pg, [keyIdOf(OLD)])
        await assert.rejects(assertHeld(pg, makeKeyRing([NEW])), /KEY_UNKNOWN/)
        assert.ok(await forgetKey(pg, keyIdOf(OLD)))
        await assertHeld(pg, makeKeyRing([NEW]))
      } finally {
        await pg.close()
        await database.drop()
      }
    },
  )
})
