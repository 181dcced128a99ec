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
import { allRoutes } from '../../../api/wiring/routes.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const exchange = (change: Partial<Exchange>): Exchange =>
  ({
    route: { path: '/api/invoices', scope: { kind: 'scope', scope: 'invoices:read' } },
    method: 'GET',
    headers: {},
    ip: '192.0.2.1',
    answerHeaders: {},
    ...change,
  }) as Exchange

/** A token, of an account of its own where none is named. */
const by = (id: string, account = `of ${id}`, kind = 'token') =>
  exchange({ caller: { account, by: { kind, id } } as never })
const page = (ip: string) => exchange({ route: { path: '/i/:token', scope: { kind: 'public' } } as never, ip })
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

/** The counters read the time from here: it stands still, however long a test takes. */
const stopClock = ({ before, after }: Parameters<Parameters<typeof spec>[1]>[0]): void => {
  const realNow = Date.now
  before.each(() => {
    const nowMs = realNow()
    Date.now = () => nowMs
  })
  after.each(() => {
    Date.now = realNow
  })
}

spec('the rate of a token', (t) => {
  stopClock(t)

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

  t(
    'is no way round that of its account: many tokens do together what the account may, and no other account feels it',
    async () => {
      const { run } = limited()
      const answers = []
      for (let n = 0; n < 1_000; n += 1) answers.push(await run(by(`token ${n % 20}`, 'many')))
      assert.is(answers.filter(({ status }) => status === 200).length, 200 + 600)
      const last = answers.at(-1)
      assert.equal([last?.status, last?.headers['retry-after'], last?.headers['ratelimit-remaining']], [429, '1', '0'])
      assert.is((await run(by('fresh', 'many'))).status, 429)
      assert.is((await run(by('one', 'other'))).status, 200)
    },
  )

  t('keeps the reports of machines apart from what their account asks: neither takes from the other', async () => {
    const { run } = limited({ ratePerSecondPerAccount: 2, rateSparePerAccount: 1, ratePerSecond: 2, rateSpare: 1 })
    for (let n = 0; n < 9; n += 1) await run(by(`token ${n}`, 'many'))
    assert.is((await run(by('token', 'many'))).status, 429)
    const reports = []
    for (let n = 0; n < 5; n += 1) reports.push((await run(by(`box ${n}`, 'many', 'report'))).status)
    assert.equal(reports, [200, 200, 200, 429, 429])
  })

  t('where it is set above that of an account, is what an account may', async () => {
    const { run } = limited({ ratePerSecond: 900, rateSpare: 100 })
    const answers = []
    for (let n = 0; n < 1_100; n += 1) answers.push((await run(by('one', 'many'))).status)
    assert.is(answers.filter((status) => status === 200).length, 1_000)
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

  t('is capped for an account, whatever tokens it asks with, and for no other', async () => {
    const { run } = limited({ concurrencyPerToken: 2, concurrencyPerAccount: 3 })
    const { next, end } = hanging()
    const first = ['one', 'two', 'three'].map((token) => run(by(token, 'many'), next))
    await new Promise(setImmediate)
    for (const token of ['one', 'four'])
      assert.equal(await run(by(token, 'many')).then(({ status, headers }) => [status, headers['retry-after']]), [
        429,
        '1',
      ])
    assert.is((await run(by('one', 'other'))).status, 200)
    assert.is((await run(by('box', 'many', 'report'))).status, 200)
    end()
    await Promise.all(first)
    assert.is((await run(by('four', 'many'))).status, 200)
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
  stopClock(t)

  /** One request of an address is taken, whatever is asked for. */
  const ONE = {
    pagesPerMinute: 1,
    signinsPerMinute: 1,
    filesPerMinute: 1,
    cardEventsPerMinute: 1,
    gatePerMinute: 1,
  }
  const asks = (route: (typeof allRoutes)[number], ip = '192.0.2.1') => exchange({ route, method: route.method, ip })

  t('holds for every route that needs no credential, and for no other', async () => {
    const wrong: string[] = []
    for (const route of allRoutes) {
      const { run } = limited(ONE)
      const answers = [await run(asks(route)), await run(asks(route)), await run(asks(route, '192.0.2.2'))]
      const wanted = route.scope.kind === 'public' ? [200, 429, 200] : [200, 200, 200]
      const got = answers.map(({ status }) => status)
      if (String(got) !== String(wanted)) wrong.push(`${route.method} ${route.path}: ${got}`)
    }
    assert.equal(wrong, [])
  })

  t(
    'is that of what is asked for: each kind is counted apart, and machines that speak for many may do more',
    async () => {
      const { run } = limited()
      const most: Record<string, number> = {
        'GET /i/:token': 300,
        'POST /signin': 60,
        'GET /preview/:token': 3_000,
        'POST /api/collect/stripe/webhook': 6_000,
        'GET /_bottega/verify': 60_000,
      }
      for (const [name, max] of Object.entries(most)) {
        const route = allRoutes.find(({ method, path }) => `${method} ${path}` === name)
        assert.ok(route, name)
        let taken = 0
        while (taken <= max && (await run(asks(route))).status === 200) taken += 1
        assert.is(taken, max, name)
        const { headers } = await run(asks(route))
        assert.ok(Number(headers['retry-after']) > 0 && Number(headers['retry-after']) <= 60, name)
      }
    },
  )

  t('counts sign-in by its kind: what is posted and what goes to the provider, and not its pages', async () => {
    const { run } = limited({ pagesPerMinute: 2, signinsPerMinute: 1 })
    const ask = async (method: string, path: string, ip: string): Promise<number> => {
      const route = allRoutes.find((one) => one.path === path && one.method === method)
      assert.ok(route, path)
      return (await run(asks(route, ip))).status
    }
    const asking: [string, string][] = [
      ['POST', '/signin'],
      ['POST', '/signin/link/:token'],
      ['GET', '/signin/oidc'],
      ['GET', '/signin/oidc/callback'],
    ]
    for (const [n, [method, path]] of asking.entries()) {
      const ip = `198.51.100.${n}`
      assert.equal([await ask(method, path, ip), await ask(method, path, ip)], [200, 429], path)
      assert.equal([await ask('GET', '/signin', ip), await ask('GET', '/signin/link/:token', ip)], [200, 200], path)
      assert.is(await ask('GET', '/signin', ip), 429)
    }
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
