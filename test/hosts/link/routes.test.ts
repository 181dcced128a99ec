import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AdminReset } from '../../../controllers/io/hosts/caddy.ts'
import type { HostRoute } from '../../../controllers/io/hosts/link.ts'
import { RouteTaken } from '../../../controllers/io/hosts/routes.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'

const command = promisify(execFile)
const PAUSE_MS = 300

spec('the routes of a host', (t) => {
  let host: AppHost
  let open: TestHosts
  const calls: string[] = []
  /** Called before each admin call; may change the world under it. */
  let before: (name: string) => Promise<void> = async () => {}
  /** Called when it was answered; may lose the answer. */
  let after: (name: string) => void = () => {}
  const routes = () => open.hosts.routes(HOST_NAME)
  const name = (label: string) => `${label}.${host.baseDomain}`
  const says = (label: string, body: string): HostRoute => ({
    id: `test-${label}`,
    owner: 'App/test',
    hostnames: [name(label)],
    handle: [{ handler: 'static_response', body }],
  })
  const admin = async (method: string, path: string, body?: unknown) => {
    const data = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)]
    const args = [
      'curl',
      '-sS',
      '--fail',
      '-X',
      method,
      ...data,
      '--unix-socket',
      host.admin,
      `http://localhost:2019${path}`,
    ]
    return (await command(args[0] ?? '', args.slice(1))).stdout
  }
  /** One request of a visitor, with the certificate checked against the CA. */
  const visit = (label: string, asks = name(label)): Promise<{ status: number; body: string } | null> =>
    new Promise((resolve) => {
      const ca = readFileSync(host.acme.caCert)
      const hostname = name(label)
      const options = {
        host: '127.0.0.1',
        port: host.httpsPort,
        servername: hostname,
        ca,
        agent: false,
        headers: { host: asks },
      }
      request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      })
        .on('error', () => resolve(null))
        .end()
    })
  const shows = (label: string, body: string) =>
    eventually(`${label} to say ${body}`, async () => (await visit(label))?.body === body)
  const changes = () => calls.filter((call) => !call.startsWith('admin GET'))

  t.before(async () => {
    host = await startAppHost()
    open = await openHosts(host, {
      around: async (call, run) => {
        if (call.name.startsWith('admin')) {
          calls.push(call.name)
          await before(call.name)
        }
        const answer = await run()
        if (call.name.startsWith('admin')) after(call.name)
        return answer
      },
    })
  })
  t.before.each(() => {
    calls.length = 0
    before = async () => {}
    after = () => {}
  })
  t.after(async () => {
    await open.end()
    await host.end()
  })

  t('are served under TLS with a certificate of the CA that the host names', async () => {
    await routes().set(says('first', 'one'))
    await shows('first', 'one')
    assert.is((await visit('nobody'))?.status ?? null, null)
  })

  t('are counted by the names that are served, whatever names a visitor makes up', async () => {
    await routes().set(says('counted', 'counts'))
    await shows('counted', 'counts')
    const madeUp = [
      'x.evil.test',
      `y.${host.baseDomain}`,
      ...Array.from({ length: 20 }, (_, n) => `${name('counted')}:${n}`),
    ]
    for (const asks of madeUp) assert.is.not((await visit('counted', asks))?.body, 'counts', asks)
    for (const asks of [`${name('counted')}:${host.httpsPort}`, name('counted').toUpperCase()])
      assert.is((await visit('counted', asks))?.body, 'counts', asks)
    assert.is(
      (await visit('counted', name('first')))?.body,
      'one',
      'another name of ours than the one of the handshake',
    )
    const hosts = [...(await admin('GET', '/metrics')).matchAll(/ host="([^"]*)"|,host="([^"]*)"/g)].map(
      ([, a, b]) => a ?? b ?? '',
    )
    assert.ok(hosts.includes(name('counted')))
    assert.equal(
      [...new Set(hosts)].filter((one) => madeUp.includes(one)),
      [],
    )
    await routes().remove('test-counted')
  })

  t('change nothing when they are set to what they are', async () => {
    await routes().set(says('first', 'one'))
    assert.equal(changes(), [])
    await routes().set(says('first', 'two'))
    assert.equal(changes(), ['admin PATCH /id/test-first'])
    await shows('first', 'two')
    const stands = await Promise.all(['two', 'one'].map((text) => routes().stands(says('first', text))))
    assert.equal(stands, [true, false])
  })

  t('answer 404 for a name that lost its route, and 308 without TLS', async () => {
    await routes().set(says('gone', 'here'))
    await shows('gone', 'here')
    await routes().remove('test-gone')
    await routes().remove('test-gone')
    assert.is(await routes().read('test-gone'), null)
    const response = await fetch(`http://127.0.0.1:${host.httpPort}/x?y=1`, { redirect: 'manual' })
    assert.is(response.status, 308)
    assert.is(response.headers.get('location'), `https://127.0.0.1:${host.httpsPort}/x?y=1`)
  })

  t('are read again when somebody changed them between the look and the write', async () => {
    await routes().set(says('raced', 'one'))
    calls.length = 0
    let raced = false
    before = async (call) => {
      if (call !== 'admin PATCH /id/test-raced' || raced) return
      raced = true
      await admin('POST', '/id/test-raced/handle', { handler: 'headers' })
    }
    await routes().set(says('raced', 'two'))
    assert.equal(changes(), ['admin PATCH /id/test-raced', 'admin PATCH /id/test-raced'])
    await shows('raced', 'two')
    assert.is(await routes().drift(), 'none')
  })

  t('are read again when an answer was lost, and not written twice', async () => {
    await routes().set(says('lost', 'one'))
    calls.length = 0
    let lost = false
    after = (call) => {
      if (call !== 'admin PATCH /id/test-lost' || lost) return
      lost = true
      throw new AdminReset('the endpoint restarted')
    }
    await routes().set(says('lost', 'two'))
    assert.ok(lost)
    assert.equal(changes(), ['admin PATCH /id/test-lost'])
    await shows('lost', 'two')
    await routes().remove('test-lost')
  })

  t('survive somebody else who restarts the endpoint again and again', async () => {
    let busy = true
    // their calls are cut by our changes, as ours are by theirs
    const noise = (method: string, body?: unknown) =>
      admin(method, '/config/apps/http/servers/noise', body).catch(() => {})
    const others = (async () => {
      for (let n = 0; busy; n++) {
        await noise('POST', { listen: [`127.0.0.1:0`], routes: [{ group: `g${n}` }] })
        // Without a pause nobody gets a word in: then it is a wait, and the next pass tries again.
        await sleep(PAUSE_MS)
      }
      await noise('DELETE')
    })()
    try {
      for (let n = 0; n < 5; n++) await routes().set(says('noisy', `${n}`))
    } finally {
      busy = false
      await others
    }
    await shows('noisy', '4')
    await routes().remove('test-noisy')
  })

  t('follow one another through one queue: many at once meet no reset', async () => {
    const many = Array.from({ length: 12 }, (_, index) => says(`many${index}`, `many ${index}`))
    await Promise.all(many.map((route) => routes().set(route)))
    assert.is(await routes().drift(), 'none')
    await Promise.all(many.map(({ id }) => routes().remove(id)))
    assert.is(await routes().drift(), 'none')
  })

  t('are put back when somebody changes, adds or removes some', async () => {
    await admin('PATCH', '/id/test-first/handle', [{ handler: 'static_response', body: 'changed' }])
    await admin('PUT', '/id/bottega/routes/0', {
      '@id': 'stranger',
      handle: [{ handler: 'static_response', body: 'x' }],
    })
    assert.is(await routes().drift(), 'routes')
    assert.is(await routes().reconcile(), 'routes')
    await shows('first', 'two')
    assert.is(await routes().reconcile(), 'none')
    await admin('DELETE', '/id/test-first')
    assert.is(await routes().reconcile(), 'routes')
    await shows('first', 'two')
  })

  t('stand as they were set, or not, by one reading of the proxy for all who ask', async () => {
    // what a look at the host put back is told of until its owner sets it
    await routes().set(says('first', 'two'))
    await routes().set(says('shared', 'one'))
    calls.length = 0
    const standing = (label: string, body: string, ageMaxMs = 600_000) => routes().standing(says(label, body), ageMaxMs)
    const asked = [standing('first', 'two'), standing('shared', 'one'), standing('shared', 'newer')]
    assert.equal(await Promise.all(asked), [
      { route: 'right', others: false },
      { route: 'right', others: false },
      { route: 'outdated', others: false },
    ])
    assert.equal(calls, ['admin GET /config/'])
    await admin('PATCH', '/id/test-shared/handle', [{ handler: 'static_response', body: 'changed' }])
    assert.equal(await standing('shared', 'one', 0), { route: 'wrong', others: false })
    assert.equal(await standing('first', 'two'), { route: 'right', others: false }, 'nobody else lost one by that')
    await routes().set(says('shared', 'one'))
    assert.equal(await standing('shared', 'one'), { route: 'right', others: false }, 'what was set is read anew')
    await admin('DELETE', '/id/test-shared')
    await routes().reconcile()
    assert.is(
      (await standing('shared', 'one')).route,
      'wrong',
      'put back by a look at the host, and told of by nobody yet',
    )
    await routes().remove('test-shared')
  })

  t('are right and yet not all that answers: what stands before them is seen, and goes', async () => {
    const strange: [what: string, change: () => Promise<unknown>][] = [
      [
        'a route of somebody else',
        () => admin('PUT', '/id/bottega/routes/0', { handle: [{ handler: 'static_response', body: 'x' }] }),
      ],
      [
        'what answers for nobody',
        async () => {
          const all = JSON.parse(await admin('GET', '/id/bottega/routes'))
          await admin('PATCH', '/id/bottega/routes', [all.at(-1), ...all.slice(0, -1)])
        },
      ],
      ['other settings', () => admin('PUT', '/id/bottega/strict_sni_host', true)],
    ]
    for (const [what, change] of strange) {
      await change()
      assert.is.not(await routes().drift(), 'none', what)
      assert.equal(await routes().standing(says('first', 'two'), 0), { route: 'right', others: true }, what)
      await routes().reconcile()
      assert.equal(await routes().standing(says('first', 'two'), 600_000), { route: 'right', others: false }, what)
    }
    await shows('first', 'two')
  })

  t('are built anew from what is stored when the proxy lost all of it', async () => {
    await host.restartCaddy()
    assert.is(await routes().drift(), 'config')
    await routes().set(says('second', 'two'))
    assert.ok(changes().includes('admin POST /load'))
    assert.is(await routes().drift(), 'none')
    await shows('first', 'two')
    await host.restartCaddy()
    assert.is(await routes().reconcile(), 'config')
    await shows('second', 'two')
  })

  t('leave alone what somebody else put into the proxy', async () => {
    const theirs = { listen: ['127.0.0.1:0'], routes: [] }
    await admin('PUT', '/config/apps/http/servers/theirs', theirs)
    assert.is(await routes().reconcile(), 'none')
    await routes().set(says('second', 'three'))
    assert.equal(JSON.parse(await admin('GET', '/config/apps/http/servers/theirs')), theirs)
  })

  t('refuse a hostname that another route of the host has', async () => {
    const error = await routes()
      .set({ ...says('first', 'x'), id: 'test-other' })
      .then(
        () => null,
        (refusal) => refusal,
      )
    assert.instance(error, RouteTaken)
    assert.is(await routes().read('test-other'), null)
  })

  t('know how many requests run on each upstream', async () => {
    const handle = [{ handler: 'reverse_proxy', upstreams: [{ dial: '127.0.0.1:9' }] }]
    await routes().set({ id: 'test-proxy', owner: 'App/test', hostnames: [name('proxy')], handle })
    assert.equal(await routes().upstreams(), [{ address: '127.0.0.1:9', requests: 0 }])
    await routes().remove('test-proxy')
    await routes().set(says('second', 'four'))
    assert.equal(await routes().upstreams(), [])
  })

  t('have their certificates measured by connecting', async () => {
    await shows('first', 'two')
    const measured = await eventually('sound certificates', async () => {
      const found = await open.hosts.certificates(HOST_NAME)
      return found.every(({ state }) => state === 'valid') && found
    })
    assert.equal(measured.map(({ hostname }) => hostname).sort(), [name('first'), name('raced'), name('second')])
    assert.match(measured[0]?.issuer ?? '', /Pebble/i)
  })
})
