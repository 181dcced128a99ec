import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { keyIdOf, makeKeyRing } from '../../controllers/base/keyring.ts'
import { makeSealer } from '../../controllers/base/seal.ts'
import { aboutAppEnv } from '../../controllers/store/app/app.ts'
import { openKeys } from '../../controllers/store/installation/open.ts'
import { countSealed } from '../../controllers/store/installation/reseal.ts'
import { makePg, type Pg } from '../../controllers/store/pg/pg.ts'
import { CommandRefusal } from '../../hack/lib/refusal.ts'
import { keysIn, type Rotating, removeOld, rotateKey } from '../../hack/platform/rotation.ts'
import { createStack, type Stack } from '../../hack/platform/stack.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { call, eventually, order, type Platform, type Reply, startPlatform } from '../support/stage/invoicing.ts'
import { type Planted, plantSecrets, spoiltOf } from '../support/stage/planted.ts'
import { scratchFolder, serviceKubeconfig } from '../support/stage/stage.ts'

/** The server key, changed under both processes while they are asked. */

const PER_SECOND = 50
const TICK_MS = 20
/** More than the slowest machine leaves open without being overrun. */
const UNDER_WAY_MAX = 200
const TRIES_MAX = 20
const AGAIN_MS = 1_000
/** Twenty seconds of them: no change of the key is shorter. */
const MADE_MIN = 1_000
/** One in so many makes and sends an invoice; the others read. */
const SEND_EVERY = 25
const ENVS = 4_000

spec('another server key', (t) => {
  let platform: Platform
  let second: Stack
  let pg: Pg
  let planted: Planted[]
  let rotating: Rotating
  /** Who answers now; the second api stands in while the first is started again, as in a rolling update. */
  let serving: string
  const underWay = new Map<string, number>()
  const said: string[] = []

  const stackOf = (folder: string, env: Record<string, string>): Promise<Stack> => {
    const owner = process.env.BOTTEGA_OWNER ?? `test-${process.pid}`
    const kubeconfigs = { api: serviceKubeconfig('api'), controllers: serviceKubeconfig('controllers') }
    const { url: databaseUrl } = platform.database
    return createStack({ folder, owner, namespace: platform.namespace.name, databaseUrl, kubeconfigs, env })
  }
  const moveTo = async (base: string) => {
    const from = serving
    serving = base
    await eventually('what is under way to end', async () => (underWay.get(from) ?? 0) === 0)
  }
  const restart = async () => {
    await platform.controllers.stop()
    await platform.controllers.start()
    await second.api.start()
    await moveTo(second.baseUrl)
    await platform.api.stop()
    await platform.api.start()
    await moveTo(platform.baseUrl)
    await second.api.stop()
  }
  const keysNow = async () => {
    const opened = await openKeys({ pg, secretKeys: keysIn(platform.secretKeyFile), makes: false })
    opened.stop()
    return opened.keys
  }
  const countsNow = async () => Object.fromEntries(await countSealed(pg))
  const failed: string[] = []
  let [made, answered, again] = [0, 0, 0]
  /** A machine that is busy with other things sheds, and says so; a client asks again, under the same key. Nothing else is forgiven. */
  const isShed = ({ status, json, headers }: Reply) =>
    status === 503 && json?.code === 'UNAVAILABLE' && headers.get('retry-after') !== null
  const one = (base: string, n: number): Promise<Reply> =>
    n % SEND_EVERY === 0
      ? call(base, platform.owner, 'POST', '/api/invoices', order(), { 'idempotency-key': `r${n}` })
      : call(base, platform.owner, 'GET', '/api/invoices?limit=5')
  const tried = async (n: number): Promise<Reply | undefined> => {
    const base = serving
    underWay.set(base, (underWay.get(base) ?? 0) + 1)
    try {
      const reply = await one(base, n)
      return isShed(reply) ? undefined : reply
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') return undefined
      throw error
    } finally {
      underWay.set(base, (underWay.get(base) ?? 0) - 1)
    }
  }
  const ask = async (n: number): Promise<void> => {
    try {
      let reply = await tried(n)
      for (let tries = 1; reply === undefined && tries < TRIES_MAX; tries += 1) {
        again += 1
        await sleep(AGAIN_MS)
        reply = await tried(n)
      }
      const isGood = reply !== undefined && [200, 201, 202].includes(reply.status)
      if (!isGood) failed.push(`${n}: ${reply?.status} ${reply?.text.slice(0, 200)}`)
    } catch (error) {
      failed.push(`${n}: ${error}`)
    } finally {
      answered += 1
    }
  }
  /**
   * So many a second from the first to the last moment of it, whether those before are answered or not, as long as not too many are
   * under way; what a pause of this process kept back is made up for at the next tick.
   */
  const whileAsked = async (work: () => Promise<unknown>): Promise<void> => {
    const startMs = performance.now()
    const answers: Promise<void>[] = []
    const tick = () => {
      const due = Math.floor(((performance.now() - startMs) * PER_SECOND) / 1000)
      while (made < due && made - answered < UNDER_WAY_MAX) answers.push(ask(made++))
    }
    const ticking = setInterval(tick, TICK_MS)
    await work().finally(() => clearInterval(ticking))
    const seconds = (performance.now() - startMs) / 1000
    console.log(`\ncounted: ${made} requests, ${(made / seconds).toFixed(1)} a second, ${again} of them again`)
    await Promise.all(answers)
  }

  t.before(
    async () => {
      platform = await startPlatform()
      const granted = JSON.stringify({ spec: { limits: { sendsPerDay: 1_000_000 } } })
      await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', granted])
      serving = platform.baseUrl
      pg = makePg({ url: platform.database.url, max: 3 })
      const shared = { BOTTEGA_PUBLIC_URL: platform.baseUrl, BOTTEGA_SECRET_KEY_FILE: platform.secretKeyFile }
      second = await stackOf(scratchFolder('second'), shared)
      planted = await plantSecrets(platform, pg)
      const { url: databaseUrl } = platform.database
      rotating = { databaseUrl, keyFile: platform.secretKeyFile, restart, say: (line) => void said.push(line) }
    },
    { timeoutMs: 240_000 },
  )
  t.after(async () => {
    await second.stop()
    await pg.close()
    await platform.end()
  })

  t('what was planted is good, and would be found spoilt', async () => {
    assert.equal(await spoiltOf(planted, platform.baseUrl, await keysNow()), [])
    assert.ok(planted.length >= 15)
    const stranger = { name: 'a token of nobody', isGood: async () => false }
    assert.equal(await spoiltOf([stranger], platform.baseUrl, platform.keys), ['a token of nobody'])
  })

  t(
    'is taken under requests: none fails, all is sealed anew, and the old key goes',
    async () => {
      const [old] = keysIn(platform.secretKeyFile)
      assert.ok(old)
      let newest = ''
      await whileAsked(async () => {
        newest = await rotateKey(rotating)
        assert.equal(keysIn(platform.secretKeyFile).map(keyIdOf), [newest, keyIdOf(old)])
        await removeOld(rotating)
      })
      assert.equal(failed, [])
      assert.ok(made >= MADE_MIN, `${made} requests`)
      assert.is(answered, made)
      assert.equal(keysIn(platform.secretKeyFile).map(keyIdOf), [newest])
      assert.equal(Object.keys(await countsNow()), [newest])
      assert.equal(await spoiltOf(planted, platform.baseUrl, await keysNow()), [])
      const page = await (await fetch(platform.metricsUrls.controllers)).text()
      assert.not.match(page, `key="${keyIdOf(old)}"`)
    },
    { timeoutMs: 900_000 },
  )

  t(
    'goes on where the leader was killed in the middle of it',
    async () => {
      const before = readFileSync(platform.secretKeyFile, 'utf8')
      const [newest] = keysIn(platform.secretKeyFile)
      assert.ok(newest)
      const older = Buffer.alloc(32, 5)
      writeFileSync(platform.secretKeyFile, `${before.trim()}\n${older.toString('base64')}\n`)
      await pg.query('enter', 'select enter_ring_keys($1)', [[keyIdOf(older)]])
      const sealer = makeSealer(makeKeyRing([older]), 'app-env')
      const values = Array.from({ length: ENVS }, (_, n) => sealer.seal(Buffer.from('{}'), aboutAppEnv('many', n + 1)))
      const text = `insert into app_env (app, version, sealed, keys)
select 'many', v.n, v.sealed, '{}' from unnest($1::bytea[]) with ordinality as v(sealed, n)`
      await pg.query('plant_many', text, [values])
      await platform.controllers.stop()
      await platform.controllers.start()
      const left = async () => (await countsNow())[keyIdOf(older)] ?? 0
      const some = await eventually('a part to be done', async () => {
        const count = await left()
        return count > 0 && count < ENVS ? count : undefined
      })
      await platform.controllers.kill()
      const killedAt = await left()
      assert.ok(killedAt > 0 && killedAt <= some, `${killedAt} were left`)
      await assert.rejects(
        removeOld({ ...rotating, restart: async () => {} }),
        (error: unknown) => error instanceof CommandRefusal && error.message.includes(keyIdOf(older)),
      )
      await platform.controllers.start()
      await eventually('all to be done', async () => (await left()) === 0)
      await eventually('it to be needed no more', () =>
        pg
          .query(`cleared`, 'select id from ring_keys where id = $1 and cleared_at is not null', [keyIdOf(older)])
          .then(({ rows }) => rows.length === 1),
      )
      assert.equal(await spoiltOf(planted, platform.baseUrl, await keysNow()), [])
      writeFileSync(platform.secretKeyFile, before)
    },
    { timeoutMs: 300_000 },
  )

  t(
    'in the wrong order is no fault: all opens, and all goes back under the one that stands first',
    async () => {
      const before = readFileSync(platform.secretKeyFile, 'utf8')
      const other = Buffer.alloc(32, 6)
      writeFileSync(platform.secretKeyFile, `${other.toString('base64')}\n${before.trim()}\n`)
      await platform.controllers.stop()
      await platform.controllers.start()
      const under = async () => Object.keys(await countsNow())
      await eventually('all to be under the first', async () => (await under()).join() === keyIdOf(other))
      // the api holds the other one alone: it was not started again, and answers what needs no seal
      assert.is((await call(platform.baseUrl, platform.owner, 'GET', '/api/invoices')).status, 200)
      writeFileSync(platform.secretKeyFile, `${before.trim()}\n${other.toString('base64')}\n`)
      await platform.controllers.stop()
      await platform.controllers.start()
      const [newest] = keysIn(platform.secretKeyFile)
      assert.ok(newest)
      await eventually('all to be back', async () => (await under()).join() === keyIdOf(newest))
      assert.equal(await spoiltOf(planted, platform.baseUrl, await keysNow()), [])
    },
    { timeoutMs: 300_000 },
  )

  t(
    'that is not the one which is needed starts nobody, and says which one is',
    async () => {
      // those of the test before are needed until a round has found nothing under them
      const needed = keysIn(platform.secretKeyFile).map(keyIdOf)
      const lacking = await stackOf(scratchFolder('lacking'), {
        BOTTEGA_SECRET_KEY: Buffer.alloc(32, 8).toString('base64'),
      })
      const known = () => pg.query('known', 'select k.id, r.id as root from ring_keys k, roots r order by 1, 2', [])
      const before = (await known()).rows
      for (const part of [lacking.api, lacking.controllers]) {
        await assert.rejects(
          part.start(),
          (error: unknown) =>
            error instanceof CommandRefusal &&
            /exit code 2/.test(error.message) &&
            needed.some((id) => error.detail.includes(`KEY_UNKNOWN: what is stored is sealed under the key ${id}`)),
        )
      }
      assert.equal((await known()).rows, before)
    },
    { timeoutMs: 180_000 },
  )
})
