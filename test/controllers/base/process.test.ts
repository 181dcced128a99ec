import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { API, CONTROLLERS, developmentNames, EnvError, readEnv, readProcessEnv } from '../../../controllers/base/env.ts'
import { KubeError } from '../../../controllers/base/errors.ts'
import { makeLog, withoutSecrets } from '../../../controllers/base/log.ts'
import { installStop, type StopOptions } from '../../../controllers/base/stop.ts'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import { makeOps } from '../../../controllers/ops/port.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const logInto = (lines: Record<string, unknown>[]) =>
  makeLog({ destination: { write: (line) => void lines.push(JSON.parse(line)) } })

const GOOD = {
  BOTTEGA_DATABASE_URL: 'postgres://u:p@h/d',
  BOTTEGA_PUBLIC_URL: 'https://shop.test/',
  BOTTEGA_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  BOTTEGA_SMTP_URL: 'smtp://localhost:2525',
  BOTTEGA_MAIL_FROM: 'Shop <billing@shop.test>',
}

const refusalOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    assert.instance(error, EnvError)
    return String(error)
  }
  return 'nothing was refused'
}

spec('env', (t) => {
  t('a good environment is read, with its defaults', () => {
    const env = readEnv(CONTROLLERS, { ...GOOD, BOTTEGA_METRICS_LISTEN: '127.0.0.1:0' })
    assert.is(env.publicUrl, 'https://shop.test')
    assert.equal(env.metricsListen, { host: '127.0.0.1', port: 0 })
    assert.equal(env.secretKeys, [Buffer.alloc(32, 7)])
    assert.is(env.logLevel, 'info')
    assert.is(env.kubeconfig, undefined)
  })

  t('all faults are told at once, by name and by what is expected, never the value', () => {
    const bad = {
      ...GOOD,
      BOTTEGA_DATABASE_URL: '',
      BOTTEGA_SECRET_KEY: 'hunter2',
      BOTTEGA_METRICS_LISTEN: 'everywhere:99999',
      BOTTEGA_LOG_LEVEL: 'loud',
      BOTTEGA_MAIL_FROM: 'nobody',
      BOTTEGA_SMTP_URL: 'http://x',
    }
    let error: unknown
    try {
      readEnv(CONTROLLERS, bad)
    } catch (thrown) {
      error = thrown
    }
    assert.instance(error, EnvError)
    const { faults, message } = error as EnvError
    assert.equal(faults.map(({ name }) => name).sort(), [
      'BOTTEGA_DATABASE_URL',
      'BOTTEGA_LOG_LEVEL',
      'BOTTEGA_MAIL_FROM',
      'BOTTEGA_METRICS_LISTEN',
      'BOTTEGA_SECRET_KEY',
      'BOTTEGA_SMTP_URL',
    ])
    assert.match(message, 'BOTTEGA_DATABASE_URL: is missing')
    assert.match(message, 'openssl rand -base64 32')
    assert.not.match(message, 'hunter2')
  })

  t('settings of development are known by their names, those of both processes', () => {
    const names = ['BOTTEGA_DEV_CLOCK', 'BOTTEGA_EGRESS_ALLOW_LOOPBACK', 'BOTTEGA_STRIPE_API_BASE']
    for (const fields of [API, CONTROLLERS]) assert.equal(developmentNames(fields).sort(), names)
  })

  t('settings of development are refused where clients reach the platform, each by name', () => {
    const given = {
      BOTTEGA_DEV_CLOCK: 'on',
      BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true',
      BOTTEGA_STRIPE_API_BASE: 'http://127.0.0.1:1',
    }
    for (const fields of [API, CONTROLLERS]) {
      for (const url of ['https://shop.test', 'http://127.0.0.1.shop.test', 'https://127.0.0.1']) {
        const told = refusalOf(() => readProcessEnv(fields, { ...GOOD, ...given, BOTTEGA_PUBLIC_URL: url }))
        for (const name of Object.keys(given)) assert.match(told, `${name}: is for development`)
      }
      const here = readProcessEnv(fields, { ...GOOD, ...given, BOTTEGA_PUBLIC_URL: 'http://127.0.0.1:8080' })
      assert.equal(here.development.sort(), Object.keys(given).sort())
    }
  })

  t('what says that it is none of development is none', () => {
    const given = {
      BOTTEGA_DEV_CLOCK: 'off',
      BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'false',
      BOTTEGA_STRIPE_API_BASE: 'https://api.stripe.com/',
    }
    assert.equal(readProcessEnv(API, { ...GOOD, ...given }).development, [])
  })

  t('servers of names are addresses, with ports or without, and nothing else', () => {
    const of = (value: string) => readEnv(CONTROLLERS, { ...GOOD, BOTTEGA_DNS_SERVERS: value }).nameServers
    assert.equal(of('192.0.2.1, 127.0.0.1:5353,2001:db8::1,[2001:db8::1]:53'), [
      ...['192.0.2.1', '127.0.0.1:5353'],
      ...['2001:db8::1', '[2001:db8::1]:53'],
    ])
    for (const bad of [
      'dns.example',
      '192.0.2.1:70000',
      '192.0.2.1,',
      '::1:99999',
      '[::1',
      Array(6).fill('::1').join(),
    ]) {
      assert.throws(() => of(bad), /BOTTEGA_DNS_SERVERS: expected up to 5 addresses/, bad)
    }
    assert.is(readEnv(CONTROLLERS, GOOD).nameServers, undefined)
  })

  t('an IPv6 address and an empty host are places to listen', () => {
    const at = (value: string) => readEnv(CONTROLLERS, { ...GOOD, BOTTEGA_METRICS_LISTEN: value }).metricsListen
    assert.equal(at('[::1]:80'), { host: '::1', port: 80 })
    assert.equal(at(':80'), { host: '::', port: 80 })
  })
})

spec('log', (t) => {
  t('planted secrets do not come out', () => {
    const lines: Record<string, unknown>[] = []
    const log = logInto(lines)
    const planted = 'hunter2'
    const token = `btg_id_${planted}`
    log.info({ password: planted, nested: { token: planted, deep: { authorization: planted } } }, 'one')
    log.child({ secret: planted }).info({ smtpUrl: planted }, 'two')
    const cause = new Error(`Bearer ${planted} and ${token} at postgres://u:${planted}@h`)
    log.error(
      { err: Object.assign(new Error('three', { cause }), { body: planted, headers: { x: planted } }) },
      'three',
    )
    const causes = [{ field: 'spec.x', reason: 'r', message: planted }]
    log.error({ err: new KubeError('create x', { status: 422, reason: 'Invalid', detail: planted, causes }) }, 'four')
    assert.is(lines.length, 4)
    assert.not.match(JSON.stringify(lines), planted)
    assert.match(JSON.stringify(lines[3]), '422')
    assert.is(lines[0]?.level, 'info')
  })

  t('texts of others lose their secrets', () => {
    assert.is(
      withoutSecrets('see smtp://me:pw@mail:25 and whsec_abc'),
      'see smtp://me:[redacted]@mail:25 and whsec_[redacted]',
    )
  })
})

spec('metrics', (t) => {
  t('plain by default, OpenMetrics when asked, and plain again after', async () => {
    const metrics = makeMetrics({ version: '1.2.3', process: 'api' })
    metrics.request({ verb: 'get', path: '/x', method: 'GET', host: 'h:1', code: '200', durationMs: 1 })
    const plain = await metrics.render('text/plain')
    assert.match(plain.contentType, 'text/plain')
    assert.match(plain.body, '# TYPE rest_client_requests_total counter')
    assert.match(plain.body, 'rest_client_requests_total{code="200",method="GET",host="h:1"} 1')
    assert.match(plain.body, 'build_info{version="1.2.3",process="api"} 1')
    assert.match(plain.body, 'nodejs_eventloop_lag_max_seconds')
    const open = await metrics.render('application/openmetrics-text; version=1.0.0')
    assert.match(open.contentType, 'application/openmetrics-text')
    assert.match(open.body, /# TYPE rest_client_requests counter\n/)
    assert.match(open.body, 'rest_client_requests_total{code="200",method="GET",host="h:1"} 1')
    assert.match(open.body, /\n# EOF\n$/)
    assert.not.match(open.body, /\n\n/)
    const again = await metrics.render(undefined)
    assert.match(again.body, '# TYPE rest_client_requests_total counter')
  })
})

spec('ops', (t) => {
  t('alive, ready by named checks, not ready once it leaves', async () => {
    let database: boolean | Error = true
    const checks = {
      cache: () => true,
      database: async () => {
        if (database instanceof Error) throw database
        return database
      },
    }
    const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
    const ops = await makeOps({ listen: { host: '127.0.0.1', port: 0 }, metrics, checks })
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${ops.port}${path}`)
      return `${response.status} ${(await response.text()).trim().split('\n').join(', ')}`
    }
    assert.is(await ask('/readyz'), '200 ok cache, ok database')
    database = false
    assert.is(await ask('/readyz'), '503 ok cache, failed database')
    database = new Error('postgres://u:hunter2@h')
    assert.is(await ask('/readyz'), '503 ok cache, failed database')
    assert.is(await ask('/healthz'), '200 ok')
    assert.match(await ask('/metrics'), 'build_info')
    assert.match(await ask('/else'), '404')
    database = true
    ops.leave()
    assert.match(await ask('/readyz'), '503 failed stopping')
    await ops.stop()
    await assert.rejects(ask('/healthz'), /fetch failed/)
  })

  t('a check that hangs is a failed one', async () => {
    const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
    const ops = await makeOps({
      listen: { host: '127.0.0.1', port: 0 },
      metrics,
      checks: { hung: () => new Promise(() => {}) },
    })
    const response = await fetch(`http://127.0.0.1:${ops.port}/readyz`)
    assert.is(response.status, 503)
    await ops.stop()
  })
})

spec('stop', (t) => {
  const start = (options: Partial<StopOptions> = {}) => {
    const source = new EventEmitter()
    const exits: number[] = []
    const lines: Record<string, unknown>[] = []
    const exit = (code: number) => void exits.push(code)
    const stop = installStop({ log: logInto(lines), exit, source: source as NodeJS.Process, ...options })
    return { source, exits, lines, stop }
  }

  t('SIGTERM stops the parts in their order, also past one that fails, and exits 0', async () => {
    const { source, exits, lines, stop } = start()
    const order: string[] = []
    stop.add('readiness', () => order.push('readiness'))
    stop.add('broken', () => {
      throw new Error('no')
    })
    const work = async (leftMs: number) => {
      await sleep(20)
      order.push(`work ${leftMs}`)
    }
    stop.add('work', work, 12_000)
    stop.add('lease', (leftMs) => order.push(`lease ${leftMs}`))
    source.emit('SIGTERM', 'SIGTERM')
    assert.ok(stop.signal.aborted)
    await stop.begin('again')
    assert.equal(order, ['readiness', 'work 12000', 'lease 3000'])
    assert.equal(exits, [0])
    assert.ok(lines.some(({ part }) => part === 'broken'))
  })

  t('a part that hangs does not hold the end up', async () => {
    const { exits, lines, stop } = start({ limitMs: 50 })
    stop.add('hung', () => new Promise(() => {}))
    await stop.begin('test')
    assert.equal(exits, [1])
    assert.is(lines.at(-1)?.part, 'hung')
  })

  t('a part that hangs takes its own time and no other part’s, and shows in the exit', async () => {
    const { exits, lines, stop } = start()
    const order: string[] = []
    stop.add('hung', () => new Promise(() => {}), 20)
    stop.add('audit', () => order.push('audit'))
    stop.add('database', () => order.push('database'))
    await stop.begin('test')
    assert.equal([order, exits], [['audit', 'database'], [1]])
    assert.is(lines.at(-1)?.part, 'hung')
  })

  t('a second signal ends it at once', async () => {
    const { source, exits, stop } = start()
    stop.add('slow', () => sleep(100))
    source.emit('SIGINT', 'SIGINT')
    source.emit('SIGTERM', 'SIGTERM')
    assert.equal(exits, [1])
    await stop.begin('wait')
  })

  t('an error that nobody caught is logged and ends the process', () => {
    const { source, exits, lines } = start()
    source.emit('unhandledRejection', new Error('postgres://u:hunter2@h'))
    assert.equal(exits, [1])
    assert.is(lines.length, 1)
    assert.not.match(JSON.stringify(lines), 'hunter2')
  })
})
