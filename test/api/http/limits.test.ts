import { setTimeout as sleep } from 'node:timers/promises'
import {
  makeAttempts,
  WRONG_MAX,
  WRONG_MAX_PER_ADDRESS,
  WRONG_MAX_PER_TARGET,
  WRONG_WINDOW_MS,
} from '../../../api/auth/attempts.ts'
import { compose, type Exchange } from '../../../api/http/exchange.ts'
import { Problem } from '../../../api/http/problem.ts'
import type { Answer } from '../../../api/http/route.ts'
import {
  addressKey,
  clientAddress,
  LIMIT_DEFAULTS,
  type LimitSettings,
  makeLimits,
} from '../../../api/http/stages/limits.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const exchange = (change: Partial<Exchange>): Exchange =>
  ({
    route: { path: '/api/invoices' },
    method: 'GET',
    headers: {},
    ip: '192.0.2.1',
    answerHeaders: {},
    ...change,
  }) as Exchange

const by = (id: string) => exchange({ caller: { by: { kind: 'token', id } } as never })
const page = (ip: string) => exchange({ route: { path: '/i/:token' } as never, ip })
const ok = async (): Promise<Answer> => ({ status: 200 })

const limited = (change: Partial<LimitSettings> = {}) => {
  const limits = makeLimits({ ...LIMIT_DEFAULTS, ...change })
  const stage = compose([limits.limitByIp, limits.limitByToken])
  const run = async (one: Exchange, next = ok) => {
    try {
      return { status: (await stage(one, next)).status, headers: one.answerHeaders }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { status: error.status, headers: { ...one.answerHeaders, ...error.headers } }
    }
  }
  return { ...limits, run }
}

spec('the rate of a token', (t) => {
  // The counters read the time from here: it stands still, however long a test takes.
  const realNow = Date.now
  t.before.each(() => {
    const nowMs = realNow()
    Date.now = () => nowMs
  })
  t.after.each(() => {
    Date.now = realNow
  })

  t('is 50 in a second and 150 spare, then 429 with a time to come back', async () => {
    const { run } = limited()
    const answers = []
    for (let n = 0; n < 210; n += 1) answers.push(await run(by('one')))
    assert.is(answers.filter(({ status }) => status === 200).length, 200)
    assert.is(answers.at(-1)?.status, 429)
    assert.is(answers.at(-1)?.headers['retry-after'], '1')
    assert.is((await run(by('other'))).status, 200)
  })

  t('is told in the headers of every answer, the refusals too', async () => {
    const { run } = limited({ ratePerSecond: 2, rateSpare: 1 })
    const seen = []
    for (let n = 0; n < 4; n += 1) seen.push((await run(by('one'))).headers)
    assert.equal(
      new Set(seen.map((headers) => headers['ratelimit-policy'])),
      new Set(['"second";q=2;w=1, "spare";q=1;w=60']),
    )
    assert.equal(
      seen.map((headers) => headers.ratelimit),
      [
        '"second";r=1;t=1, "spare";r=1;t=60',
        '"second";r=0;t=1, "spare";r=1;t=60',
        '"second";r=0;t=1, "spare";r=0;t=60',
        '"second";r=0;t=1, "spare";r=0;t=60',
      ],
    )
  })

  t('shows how much of the spare is used', async () => {
    const { run, burst } = limited({ ratePerSecond: 1, rateSpare: 5 })
    assert.equal(await burst('one'), { limit: 1, spare: 5, used: 0, resets_at: null })
    for (let n = 0; n < 3; n += 1) await run(by('one'))
    const { used, resets_at } = await burst('one')
    assert.is(used, 2)
    assert.is(Date.parse(resets_at ?? ''), Date.now() + 60_000)
  })
})

spec('what is under way at once', (t) => {
  const hanging = () => {
    const waiting: (() => void)[] = []
    const next = () => new Promise<Answer>((resolve) => waiting.push(() => resolve({ status: 200 })))
    return { next, end: () => waiting.splice(0).map((resolve) => resolve()) }
  }

  t('is capped for a token: 429, and free again when one has ended', async () => {
    const { run } = limited({ concurrencyPerToken: 2 })
    const { next, end } = hanging()
    const first = [run(by('one'), next), run(by('one'), next)]
    await new Promise(setImmediate)
    assert.equal(await run(by('one')).then(({ status, headers }) => [status, headers['retry-after']]), [429, '1'])
    assert.is((await run(by('other'))).status, 200)
    end()
    await Promise.all(first)
    assert.is((await run(by('one'))).status, 200)
  })

  t('is capped for the process: 503', async () => {
    const { run } = limited({ concurrency: 2 })
    const { next, end } = hanging()
    const first = [run(by('one'), next), run(page('192.0.2.1'), next)]
    await new Promise(setImmediate)
    assert.equal(await run(by('two')).then(({ status, headers }) => [status, headers['retry-after']]), [503, '1'])
    end()
    await Promise.all(first)
    assert.is((await run(by('two'))).status, 200)
  })
})

spec('the rate of an address', (t) => {
  t('holds for client pages and for posts to sign-in, apart, and for nothing else', async () => {
    const { run } = limited({ pagesPerMinute: 2, signinsPerMinute: 1 })
    const signin = (method: string) => exchange({ route: { path: '/signin' } as never, method })
    assert.equal([(await run(page('192.0.2.1'))).status, (await run(page('192.0.2.1'))).status], [200, 200])
    const refused = await run(page('192.0.2.1'))
    assert.is(refused.status, 429)
    assert.ok(Number(refused.headers['retry-after']) <= 60)
    assert.is((await run(page('192.0.2.2'))).status, 200)
    assert.equal([(await run(signin('POST'))).status, (await run(signin('POST'))).status], [200, 429])
    assert.is((await run(signin('GET'))).status, 200)
    assert.is((await run(exchange({}))).status, 200)
  })

  t('counts a customer of IPv6 as one', () => {
    assert.is(addressKey('::ffff:192.0.2.1'), '192.0.2.1')
    assert.is(addressKey('2001:db8:0:7:1::1'), addressKey('2001:db8::7:ffff:0:0:2'))
    assert.is(addressKey('2001:db8:0:7::1'), '2001:db8:0:7::/64')
    assert.is.not(addressKey('2001:db8:0:7::1'), addressKey('2001:db8:0:8::1'))
    assert.is(addressKey('::1'), '0:0:0:0::/64')
  })

  t('believes X-Forwarded-For only as far as our own proxies wrote it', () => {
    const seen = (told: string | undefined, proxies: number) =>
      clientAddress('10.0.0.1', told === undefined ? {} : { 'x-forwarded-for': told }, {
        proxies,
        clientAddressHeader: undefined,
      })
    assert.is(seen('203.0.113.9', 0), '10.0.0.1')
    assert.is(seen('forged, 203.0.113.9', 1), '203.0.113.9')
    assert.is(seen('forged, 203.0.113.9, 10.0.0.2', 2), '203.0.113.9')
    assert.is(seen(undefined, 1), '10.0.0.1')
  })

  t('believes the header of our own front, where it holds one address, and X-Forwarded-For no more', () => {
    const front = { proxies: 0, clientAddressHeader: 'cf-connecting-ip' }
    const seen = (told: string) =>
      clientAddress('10.0.0.1', { 'cf-connecting-ip': told, 'x-forwarded-for': '198.51.100.7' }, front)
    assert.is(seen('203.0.113.9'), '203.0.113.9')
    assert.is(seen('2001:db8::1'), '2001:db8::1')
    for (const told of ['', '203.0.113.9, 198.51.100.7', 'client']) assert.is(seen(told), '10.0.0.1')
  })
})

spec('wrong tries', (t) => {
  let database: Database
  let pg: Pg
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.apiUrl, connectTimeoutMs: 120_000 }) // a busy machine lets a thousand wait for long
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })
  const free = async (of: { ip: string; target: string }, attempts = makeAttempts({ pg })) =>
    (await attempts.begin(of)).waitMs === 0

  t('a thousand at once, over two replicas, get no more than ten looks', async () => {
    const replicas = [makeAttempts({ pg }), makeAttempts({ pg })]
    const tries = await Promise.all(
      Array.from({ length: 1000 }, (_, n) => free({ ip: '192.0.2.1', target: 'page:a' }, replicas[n % 2])),
    )
    assert.is(tries.filter(Boolean).length, WRONG_MAX)
  })

  t('go on being refused, one after the other', async () => {
    const attempts = makeAttempts({ pg })
    const tries = []
    for (let n = 0; n < 100; n += 1) tries.push(await free({ ip: '192.0.2.3', target: 'page:e' }, attempts))
    assert.is(tries.filter(Boolean).length, WRONG_MAX)
  })

  t('leave the right user of another address his try, however many addresses guess at the link', async () => {
    for (let n = 0; n < WRONG_MAX_PER_TARGET; n += 1) assert.ok(await free({ ip: `198.51.100.${n}`, target: 'page:b' }))
    assert.not.ok(await free({ ip: '198.51.100.1', target: 'page:b' }))
    const attempt = await makeAttempts({ pg }).begin({ ip: '203.0.113.1', target: 'page:b' })
    assert.is(attempt.waitMs, 0)
  })

  t('lock an address out for a minute at most, counted from its first', async () => {
    const { waitMs } = await makeAttempts({ pg }).begin({ ip: '192.0.2.1', target: 'page:a' })
    assert.ok(waitMs > 0 && waitMs <= 60_000, `${waitMs}`)
    await query(database.url, "update attempts set expire = expire - 60000 where key like 'here:%'")
    await query(database.url, "update attempts set expire = expire - 60000 where key like 'address:%'")
    assert.ok(await free({ ip: '192.0.2.1', target: 'page:a' }))
  })

  t('of one address over many links are counted together', async () => {
    const looks = []
    for (let n = 0; n < 50; n += 1) looks.push(await free({ ip: '192.0.2.77', target: `page:c${n}` }))
    assert.is(looks.filter(Boolean).length, WRONG_MAX_PER_ADDRESS)
  })

  t('that were right do not count', async () => {
    const attempts = makeAttempts({ pg })
    for (let n = 0; n < 50; n += 1) {
      const attempt = await attempts.begin({ ip: '192.0.2.88', target: 'page:d' })
      assert.is(attempt.waitMs, 0)
      await attempt.right()
    }
  })

  t('leave neither an address nor a mail address in the database', async () => {
    await free({ ip: '192.0.2.99', target: 'signin:canary@demo.test' })
    const kept = JSON.stringify(await query(database.url, 'select * from attempts'))
    assert.not.match(kept, /canary|192\.0\.2/)
  })
})

spec('the limits on a running platform', (t) => {
  let platform: Platform
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '5', BOTTEGA_PAGES_PER_MINUTE: '2000' } })
  })
  t.after(() => platform.end())

  t('every answer to a token tells them, and a flood is answered 429 at once', async () => {
    const get = (path: string) => call(platform.baseUrl, platform.owner, 'GET', path)
    for (const path of ['/api/account', '/api/invoices?nope=1', '/api/invoices/none', '/api/admin/accounts']) {
      const { headers } = await get(path)
      assert.match(headers.get('ratelimit') ?? '', /^"second";r=\d+;t=1, "spare";r=\d+;t=\d+$/, path)
      assert.is(headers.get('ratelimit-policy'), '"second";q=5;w=1, "spare";q=150;w=60', path)
    }
    const flood = await Promise.all(Array.from({ length: 600 }, () => get('/api/account')))
    const refused = flood.filter(({ status }) => status === 429)
    assert.ok(flood.some(({ status }) => status === 200))
    assert.ok(refused.length > 100, `${refused.length} of 600 refused`)
    assert.equal([refused[0]?.json.code, refused[0]?.headers.get('retry-after')], ['TOO_MANY_REQUESTS', '1'])
    // a busy machine has no connection to spare for one of them, and says so: nothing was done, and when to come again
    const others = flood
      .filter(({ status, json, headers }) => {
        const isShed = status === 503 && json.code === 'UNAVAILABLE' && json.outcome === 'not_stored'
        return status !== 200 && status !== 429 && !(isShed && headers.get('retry-after') !== null)
      })
      .map(({ status, text }) => `${status} ${text}`)
    assert.equal(others.slice(0, 3), [])
    await eventually('the token to be served again', async () => (await get('/api/account')).status === 200)
  })

  t(
    'a thousand wrong passwords are throttled, and the right one opens the page within the minute',
    async () => {
      const made = await eventually('a send', async () => {
        const reply = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order())
        return reply.status === 201 && reply
      })
      const path = new URL(made.json.url).pathname
      const enter = (password: string) =>
        call(platform.baseUrl, null, 'POST', path, `password=${password}`, {
          'content-type': 'application/x-www-form-urlencoded',
        })
      const startedMs = performance.now()
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => enter(`wrong-${n}`)))
      const windows = Math.floor((performance.now() - startedMs) / WRONG_WINDOW_MS) + 1
      const count = (status: number) => answers.filter((answer) => answer.status === status).length
      assert.is(count(403) + count(429), 1000)
      assert.ok(count(403) >= WRONG_MAX && count(403) <= windows * WRONG_MAX, `${count(403)} in ${windows} minutes`)
      // the minute may end between two tries: a right one that opens the page clears the count, and it begins again
      const locked = await eventually('the right one to be refused too', async () => {
        await Promise.all(Array.from({ length: WRONG_MAX + 1 }, () => enter('wrong')))
        const reply = await enter(made.json.password)
        return reply.status === 429 && reply
      })
      const waitSeconds = Number(locked.headers.get('retry-after'))
      assert.ok(waitSeconds > 0 && waitSeconds <= 60, `${waitSeconds}`)
      const opened = async () => (await enter(made.json.password)).status === 303
      await sleep(waitSeconds * 1000)
      await eventually('the page to open again', opened)
    },
    { timeoutMs: 300_000 },
  )
})
