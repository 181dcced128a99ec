/** Settings of development in an installation that is none. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { EnvError } from '../../../controllers/base/env.ts'
import { demandDevelopment } from '../../../controllers/store/installation/installation.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase, serviceKubeconfig } from '../../support/stage/stage.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const DEVELOPMENT = ['BOTTEGA_DEV_CLOCK', 'BOTTEGA_EGRESS_ALLOW_LOOPBACK', 'BOTTEGA_STRIPE_API_BASE']

spec('a database that hack/up did not make', (t) => {
  let database: Database
  let pg: Pg

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.apiUrl })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  /** The process as it ends: its code, and what it said last. */
  const run = async (room: 'api' | 'controllers', setting: string) => {
    const env = {
      PATH: process.env.PATH,
      KUBECONFIG: serviceKubeconfig(room),
      BOTTEGA_DATABASE_URL: room === 'api' ? database.apiUrl : database.url,
      BOTTEGA_PUBLIC_URL: 'http://127.0.0.1:1',
      BOTTEGA_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      BOTTEGA_SMTP_URL: 'smtp://127.0.0.1:1',
      BOTTEGA_MAIL_FROM: 'a@b.test',
      BOTTEGA_METRICS_LISTEN: '127.0.0.1:0',
      BOTTEGA_LISTEN: '127.0.0.1:0',
      [setting]: { BOTTEGA_DEV_CLOCK: 'on', BOTTEGA_STRIPE_API_BASE: 'http://127.0.0.1:1' }[setting] ?? 'true',
    }
    const child = spawn(process.execPath, [join(root, room, 'main.ts')], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stderr)])
    return { code, said }
  }

  t(
    'is none of development for any role, once the mark is gone, and neither role of the api makes it one',
    async () => {
      await demandDevelopment(pg, DEVELOPMENT)
      await query(database.url, 'delete from development')
      await demandDevelopment(pg, [])
      const error = await assert.rejects(demandDevelopment(pg, DEVELOPMENT))
      assert.instance(error, EnvError)
      await assert.rejects(query(database.apiUrl, 'insert into development default values'), /permission denied/)
    },
  )

  for (const setting of DEVELOPMENT) {
    t(`is served by neither process that was given ${setting}, with a sentence`, async () => {
      const ends = await Promise.all([run('api', setting), run('controllers', setting)])
      for (const { code, said } of ends) {
        assert.is(code, 2, said)
        assert.match(said, `${setting}: is for development, and only an installation that hack/up made takes it`)
      }
    })
  }
})
