import { forwardRoute } from '../../../../crds/app/lifecycle/keeping/moving/forward.ts'
import { CERTIFICATE_LIMIT_MS, type MoveAsked, moveFault } from '../../../../crds/app/lifecycle/keeping/moving/move.ts'
import { leftPlaces } from '../../../../crds/app/lifecycle/keeping/moving/place.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import { viewApp } from '../../../../crds/app/view.ts'
import type { AppPlace, AppWorld, Moving, TargetHost } from '../../../../crds/app/world.ts'
import { withOurs } from '../../../../crds/host/proxy.ts'
import { AT, aLook, anApp, anOperation, anOwnName, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { type Fate, GOOD, stepped } from '../../../support/builders/app/stepped.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const local = aWorld().host as TargetHost
const green: TargetHost = { ...local, name: 'green' }
const moving = (change: Partial<Moving> = {}): Moving => ({
  ...{ target: green, address: '192.0.2.2', unreachable: null },
  ...{ placed: null, authority: null, isCertified: false, isForwarded: false, carry: null },
  ...change,
})
const intent = { kind: 'move', host: 'green', forwardSeconds: 60 } as const
const asked = anOperation({ id: 'op-m', n: 2, intent, byController: true })
const record = { ...aRelease(1).record, host: 'local' }
const deployed = anOperation({ id: 'op-1', n: 1, state: 'succeeded', release: 1, endedAt: AT, switchAt: AT })
const world = (change: Partial<AppWorld> = {}): AppWorld =>
  aWorld({
    ...{ operations: [deployed, asked], releases: [aRelease(1, { record })], look: aLook(), moving: moving() },
    ...{ wanted: 'green', ...change },
  })
const app = anApp()

/** Plans, and takes the first step, until nothing is to be done. */
const run = (from: AppWorld, fate: Fate = GOOD) => {
  let now = from
  const done: AppStep['do'][] = []
  for (let round = 0; round < 80; round++) {
    const { steps, verdict } = planApp(app, now, NOW)
    const [step] = steps
    if (!step) return { world: now, done, verdict }
    done.push(step.do)
    now = stepped(now, step, fate)
  }
  throw new Error(`no end: ${done.join(' ')}`)
}
/** Beside the route of what is live, of which this world does not know that it is set. */
const stepsAt = (from: AppWorld, now = NOW) => planApp(app, from, now).steps.filter((step) => step.do !== 'setRoute')
const lives = ({ releases }: AppWorld) => releases.filter(({ state }) => state === 'live').map(({ number }) => number)
const lastOf = ({ operations }: AppWorld) => operations.at(-1)

spec('the plan of a move', (t) => {
  t('makes the release there, then its route and certificate, then claims, and sends visitors on last', () => {
    const { world: after, done } = run(world())
    const wanted = ['takePlace', 'begin', 'check', 'upload', 'startJob', 'takeImages', 'startJob', 'takeAddress']
    const switching = ['placeRoute', 'claimSwitch', 'setRoute', 'forward', 'goLive']
    assert.equal(done.slice(0, 13), [...wanted, ...switching])
    assert.equal(lives(after), [2])
    assert.is(lastOf(after)?.state, 'succeeded')
    assert.equal([after.home, after.host?.name], ['green', 'green'])
  })

  t('comes to the same end when whoever is at it is killed after any step, and another one looks anew', () => {
    const { done } = run(world())
    for (const [killedAfter, last] of done.entries()) {
      let now = world()
      for (let taken = 0; taken <= killedAfter; taken++) {
        const step = planApp(app, now, NOW).steps[0] as AppStep
        now = stepped(now, step, GOOD)
      }
      assert.is(lives(now).length, 1, last)
      // What was done is in the rows; what was seen in that pass is not known any more.
      const { world: after } = run({ ...now, moving: now.moving && moving() })
      assert.equal([lastOf(after)?.state, lives(after), after.home], ['succeeded', [2], 'green'], last)
    }
  })

  const fates: [string, Fate][] = [
    ['a build that fails there', { ...GOOD, images: { state: 'exited', code: 20, log: '', cancelled: false } }],
    ['a start that fails there', { ...GOOD, start: { state: 'exited', code: 32, log: '', cancelled: false } }],
  ]
  for (const [what, fate] of fates) {
    t(`leaves the old one serving after ${what}, and takes away what was begun`, () => {
      const { world: after, done } = run(world(), fate)
      assert.equal([lives(after), after.home, lastOf(after)?.state], [[1], 'local', 'failed'])
      assert.ok(done.includes('leavePlace') && !done.includes('claimSwitch') && !done.includes('forward'), done.join())
      assert.equal(after.places, [{ host: 'local', place: 'home', until: null }])
      assert.is(planApp(app, { ...after, moving: null }, NOW).steps.length, 0, 'it is not tried again')
    })
  }

  t('gives up where the name gets no certificate there, and only before the claim', () => {
    const started = { ...asked, state: 'running' as const, release: 2 }
    const steps = started.steps.map((one) => ({ ...one, state: 'succeeded' as const, startedAt: AT }))
    const last = steps.map((one) => (one.name === 'switch' ? { ...one, state: 'running' as const } : one))
    const made = aRelease(2, { state: 'starting', address: '127.0.0.1:2', record: { ...record, host: 'green' } })
    const at = (switchAt: string | null) =>
      world({
        operations: [deployed, { ...started, steps: last, switchAt }],
        releases: [made, aRelease(1, { record })],
        moving: moving({ placed: '127.0.0.1:2' }),
      })
    const late = new Date(NOW.getTime() + CERTIFICATE_LIMIT_MS)
    assert.equal(stepsAt(at(null)), [])
    const [end] = stepsAt(at(null), late)
    assert.ok(end?.do === 'end' && /no certificate on green/.test(end.message))
    assert.equal(stepsAt(at(AT), late), [])
  })

  t('touches nothing on a host whose approval was withdrawn, or that is away', () => {
    const withdrawn = world({ host: { ...local, approved: false }, look: null })
    for (const from of [withdrawn, world({ unreachable: 'it is away' })]) {
      const { done, world: after } = run(from)
      assert.ok(done.includes('goLive') && !done.includes('forward'), done.join())
      assert.is(after.home, 'green')
    }
    const other = planApp(app, { ...withdrawn, operations: [deployed], wanted: 'local' }, NOW)
    assert.is(other.verdict.state === 'stalled' && other.verdict.code, 'HOST_NOT_APPROVED')
    assert.equal(other.steps, [])
  })

  t('is asked for by the spec once, and by one that names where the app lives never', () => {
    const [step] = planApp(app, world({ operations: [deployed] }), NOW).steps
    assert.equal(step?.do === 'ask' && step.intent, { kind: 'move', host: 'green', forwardSeconds: 86_400 })
    assert.equal(stepsAt(world({ operations: [deployed], wanted: 'local', moving: null })), [])
    const failed = { ...asked, state: 'failed' as const, endedAt: AT }
    assert.equal(stepsAt(world({ operations: [deployed, failed], moving: null })), [])
  })

  const live = { ...aRelease(1), record }
  const fits: MoveAsked = {
    ...{ spec: { account: 'demo', routing: 'managed' }, wanted: 'green', home: 'local', target: green, live },
    places: [{ host: 'local', place: 'home', until: null }],
    ...{ kept: [], volumes: [], away: null },
  }
  const left: AppPlace = { host: 'green', place: 'left', until: AT }
  const table: [string, Partial<MoveAsked>, string | null][] = [
    ['a host that fits', {}, null],
    ['one that is not there', { target: null }, 'HOST_MISSING'],
    ["another account's", { target: { ...green, account: 'other', class: 'owned' } }, 'HOST_MISSING'],
    ["an isolated one that is nobody's", { target: { ...green, class: 'isolated' } }, 'HOST_MISSING'],
    ['its own', { wanted: 'local', target: local }, 'SAME_HOST'],
    ['any, where nothing runs', { live: null }, 'NOT_RELEASED'],
    ['a host that fits, with a volume', { kept: ['data'] }, null],
    ['any, with a volume that is large', { kept: ['data'], volumes: [{ name: 'data', bytes: 9e9 }] }, 'VOLUMES_STAY'],
    ['any, with a volume that cannot be read', { kept: ['data'], away: 'it is away' }, 'VOLUMES_AWAY'],
    ['any, away from one that cannot be read, with nothing to read', { away: 'it is away' }, null],
    [
      'any, with what keeps something elsewhere',
      { live: { ...live, record: { ...record, stateful: ['db'] } } },
      'VOLUMES_STAY',
    ],
    ['any, with a route of before', { spec: { account: 'demo', routing: 'original' } }, 'WRONG_STATE'],
    ['one that is not approved', { target: { ...green, approved: false } }, 'HOST_NOT_APPROVED'],
    ['one that takes nothing new', { target: { ...green, isCordoned: true } }, 'HOST_CORDONED'],
    ['one without a base domain', { target: { ...green, baseDomain: null } }, 'HOST_UNFIT'],
    ['one that was not inspected', { target: { ...green, arch: null } }, 'HOST_UNFIT'],
    ['one that it has left lately', { places: [...fits.places, left] }, 'HOST_LEFT'],
    ['any, without its upload', { live: { ...live, sourceKept: false } }, 'UNKNOWN_SOURCE'],
  ]
  for (const [what, change, code] of table) {
    t(`${code ?? 'may go'}: ${what}`, () => assert.is(moveFault({ ...fits, ...change })?.code ?? null, code))
  }
})

spec('what is left of an app on a host', (t) => {
  const places: AppPlace[] = [
    { host: 'local', place: 'home', until: null },
    { host: 'green', place: 'left', until: AT },
    { host: 'blue', place: 'left', until: new Date(NOW.getTime() + 1).toISOString() },
    { host: 'red', place: 'coming', until: null },
  ]

  t('goes when its time has come, and all of it when the app is deleted', () => {
    const names = (of: AppPlace[]) => of.map(({ host }) => host)
    assert.equal(names(leftPlaces(places, NOW, false)), ['green'])
    assert.equal(names(leftPlaces(places, NOW, true)), ['green', 'blue', 'red'])
  })

  t('keeps a deleted app until nothing of it is anywhere', () => {
    const gone = anApp({}, { deletionTimestamp: AT })
    const from = world({ operations: [deployed], places: places.slice(0, 2), leaving: { green: { state: 'absent' } } })
    assert.equal(
      planApp(gone, from, NOW).steps.map((step) => step.do),
      ['leavePlace'],
    )
    const away = planApp(gone, { ...from, leaving: { green: null } }, NOW)
    assert.equal([away.steps, away.verdict.state], [[], 'waiting'])
  })

  t('is shown, with the host where it lives', () => {
    const at = world({ operations: [deployed], places: places.slice(0, 2), moving: null })
    const plan = planApp(app, at, NOW)
    assert.equal([plan.status.host, plan.status.leaving], ['local', ['green']])
    assert.equal(viewApp(app, at, plan).left_hosts, [{ host_id: 'green', until: AT, volumes: [] }])
    const kept = [
      aRelease(1, { record }),
      aRelease(0, { state: 'superseded', record: { ...record, host: 'green', volumes: ['data'] } }),
    ]
    assert.equal(viewApp(app, { ...at, releases: kept }, plan).left_hosts[0]?.volumes, ['data'])
  })
})

spec('the route of a host that was left', (t) => {
  const to = {
    from: local,
    to: { ...green, baseDomain: 'other.test' },
    address: '192.0.2.2',
    httpPort: 80,
    authority: 'QQ==',
  }
  const named = anApp({ domains: ['www.shop.test'] })
  const { naming } = aWorld({
    naming: { ...aWorld().naming, names: [anOwnName('www.shop.test', { routed: true })] },
  })
  const route = forwardRoute(named, { naming }, to)
  const text = JSON.stringify(route)

  t('sends every name on by TLS, under the name that is certified there, by its CA alone', () => {
    assert.equal(route.hostnames, ['shop.apps.test', 'www.shop.test'])
    assert.match(text, /"server_name":"shop\.other\.test"/)
    assert.match(text, /"trusted_ca_certs":\["QQ=="\]/)
    assert.match(text, /"dial":"192\.0\.2\.2:443"/)
    assert.is(JSON.stringify(forwardRoute(named, { naming }, { ...to, authority: null })).includes('trusted_ca'), false)
  })

  t('asks for the new name in place of the old managed one, and for own domains as they are', () => {
    const [, { routes }] = route.handle as [object, { routes: { match?: { host: string[] }[] }[] }]
    assert.equal(
      routes.map(({ match }) => match?.[0]?.host ?? null),
      [['shop.apps.test'], null],
    )
    assert.equal(text.match(/"Host":\["[^"]*"\]/g), [
      '"Host":["shop.other.test"]',
      '"Host":["{http.request.hostport}"]',
    ])
  })

  t('has challenges of a CA answered there, at the port of plain HTTP', () => {
    const settings = { admin: '127.0.0.1:2019', httpPort: 80, httpsPort: 443 }
    const config = withOurs({}, settings as never, [route]) as {
      apps: { http: { servers: Record<string, { routes: object[] }> } }
    }
    const [first] = config.apps.http.servers['bottega-redirects']?.routes ?? []
    assert.equal(first, {
      match: [{ host: route.hostnames, path: ['/.well-known/acme-challenge/*'] }],
      handle: [{ handler: 'reverse_proxy', upstreams: [{ dial: '192.0.2.2:80' }] }],
      terminal: true,
    })
  })
})
