import { type Lives, makeLives } from '../../../controllers/store/account/lives.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const AT = '2026-11-20T10:00:00.000Z'

spec('the lives of accounts', (t) => {
  let database: Database
  let pg: Pg
  let lives: Lives
  let epoch = 0
  const sql = (text: string, values: unknown[] = []) => query(database.url, text, values)
  const begin = async (uid: string, name: string, email: string, continues: string | null = null) => {
    await lives.begin({ uid, name, email, continues, at: AT })
    return (await lives.of(uid))?.key
  }

  /** An account in the mirror, and one that was deleted; a token of each name. */
  t.before(async () => {
    database = await makeDatabase()
    await sql(
      `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
       values ('Account', 'demo', 'demo', 'uid-demo', 1, 1, '{"email": "owner@demo.test"}', $1, $1)`,
      [AT],
    )
    pg = makePg({ url: database.url, max: 2 })
    epoch = await takeEpoch(pg, 'lives')
    lives = await makeLives({ pg, epoch: () => epoch })
    await begin('uid-demo', 'demo', 'owner@demo.test')
    await begin('uid-deleted', 'deleted', 'old@demo.test')
    await lives.end('uid-deleted', AT)
    const token = `insert into tokens (id, account, name, secret_hash) values ($1, $2, 'x', decode(repeat('00', 32), 'hex'))`
    await sql(token, ['of demo', 'demo'])
    await sql(token, ['of nobody', 'deleted'])
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('binds an account to its name, and whoever comes under the name of a deleted one to another key', async () => {
    assert.equal(lives.holderOf('demo'), { uid: 'uid-demo', name: 'demo' })
    assert.is((await lives.of('uid-demo'))?.key, 'demo')
    assert.is(await begin('uid-new', 'deleted', 'new@demo.test'), 'deleted..2')
  })

  t('gives the first of a name that name as its key, and says the same however often it is asked', async () => {
    assert.is(await begin('a-1', 'a', 'a@demo.test'), 'a')
    assert.is(await begin('a-1', 'a', 'a@demo.test'), 'a')
    assert.is(await begin('a-1', 'a', 'moved@demo.test'), 'a')
    assert.equal((await lives.of('a-1'))?.before, null)
  })

  t('goes on without a word only with the address that was last seen, and never after a deletion', async () => {
    assert.is(await begin('a-2', 'a', 'a@demo.test'), 'a..2')
    await lives.end('a-2', AT)
    assert.is(await begin('a-3', 'a', 'a@demo.test'), 'a..3')
    assert.is(await begin('a-4', 'a', 'A@demo.test'), 'a..3')
    assert.equal(lives.holderOf('a..3'), { uid: 'a-4', name: 'a' })
  })

  t(
    'goes on as the one that is named, gives it back when the word is taken back, and refuses who is unknown',
    async () => {
      assert.is(await begin('b-1', 'b', 'b@demo.test', 'a-2'), 'a..2')
      assert.is(await begin('c-1', 'c', 'c@demo.test'), 'c')
      assert.is(await begin('c-1', 'c', 'c@demo.test', 'a-1'), 'a')
      assert.equal([lives.holderOf('c'), lives.holderOf('a')], [undefined, { uid: 'c-1', name: 'c' }])
      assert.is(await begin('c-1', 'c', 'c@demo.test'), 'c')
      assert.is(lives.holderOf('a'), undefined)
      assert.is(await begin('d-1', 'd', 'd@demo.test', 'nobody'), 'd')
    },
  )

  t('goes on as none that another resource stands for', async () => {
    assert.is(await begin('e-1', 'e', 'e@demo.test', 'uid-demo'), 'e')
    assert.equal((await lives.of('e-1'))?.asked, 'uid-demo')
  })

  t('ends what opens in the name of a deleted account, once, and nothing of another', async () => {
    const open = async () =>
      (await sql('select id from tokens where revoked_at is null order by id')).map(({ id }) => id)
    assert.equal(await open(), ['of demo', 'of nobody'])
    await lives.end('e-1', AT)
    assert.equal(await open(), ['of demo', 'of nobody'])
    await sql("delete from mirror where name = 'demo'")
    await lives.end('uid-demo', AT)
    assert.equal(await open(), ['of nobody'])
    await lives.end('uid-demo', AT)
    assert.is(await begin('demo-2', 'demo', 'owner@demo.test'), 'demo..2')
  })

  t('tells the key of a name before its next account is seen', async () => {
    const keyOf = async (name: string) => (await sql('select account_key_of($1) as key', [name]))[0]?.key
    assert.equal([await keyOf('unheard-of'), await keyOf('c'), await keyOf('e')], ['unheard-of', 'c', 'e..2'])
  })

  t('are bound by nobody who has lost the lease', async () => {
    const stale = await makeLives({ pg, epoch: () => epoch - 1 })
    await assert.rejects(stale.begin({ uid: 'f-1', name: 'f', email: 'f@demo.test', continues: null, at: AT }), /stale/)
    await assert.rejects(stale.end('a-1', AT), /stale/)
  })
})
