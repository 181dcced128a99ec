import { type Blobs, makeBlobs, sha256Of } from '../../../controllers/store/blobs.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const CHUNK_BYTES = 262_144

spec('blobs', (t) => {
  let database: Database
  let pg: Pg
  let blobs: Blobs
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    blobs = makeBlobs({ pg })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  for (const bytes of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])
    t(`${bytes} bytes come back as they were`, async () => {
      const content = Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => (index * 31 + 7) % 256))
      const sha256 = await blobs.put(content)
      assert.is(sha256, sha256Of(content))
      assert.equal(await blobs.get(sha256), content)
    })

  t('the same bytes are stored once, also by many at once', async () => {
    const content = Buffer.alloc(1000, 'same')
    await Promise.all(Array.from({ length: 20 }, () => blobs.put(content)))
    const text = `select count(*)::int as n from blob_chunks where sha256 = '\\x${sha256Of(content)}'`
    assert.equal(await query(database.url, text), [{ n: 1 }])
  })

  t('what is not there is null', async () => {
    assert.is(await blobs.get('00'.repeat(32)), null)
  })

  t('bytes that rotted are not handed out', async () => {
    const sha256 = await blobs.put(Buffer.from('good'))
    await query(database.url, `update blob_chunks set content = 'evil' where sha256 = '\\x${sha256}'`)
    await assert.rejects(blobs.get(sha256), /is damaged/)
  })
})
