import fc from 'fast-check'
import { STRIPPED_HEADERS } from '../../../crds/app/lifecycle/publishing/visitorheaders.ts'
import { makeRedact } from '../../../crds/app/lifecycle/redact.ts'
import { DRAIN_MAX_MS } from '../../../crds/app/lifecycle/retire.ts'
import { routeOf } from '../../../crds/app/lifecycle/route.ts'
import { planApp } from '../../../crds/app/plan.ts'
import { addressIn, EXIT, imagesIn, reasonOf } from '../../../crds/app/start.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import { viewApp } from '../../../crds/app/view.ts'
import type { AppWorld, JobState } from '../../../crds/app/world.ts'
import { AT, aLook, anApp, anOperation, aRelease, aWorld, NOW } from '../../support/builders/app/app.ts'
import { ENDED_WELL, type Fate, GOOD, stepped } from '../../support/builders/app/stepped.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type Resource = ReturnType<typeof anApp>
const later = (ms: number) => new Date(NOW.getTime() + ms)

/** Plans and steps until nothing is to be done. @returns the world then, and the steps on the way */
const run = (object: Resource, from: AppWorld, fate: Fate = GOOD, now = NOW) => {
  let world = from
  const done: AppStep['do'][] = []
  for (let round = 0; round < 40; round++) {
    const { steps, verdict, conditions } = planApp(object, world, now)
    if (steps.length === 0) return { world, done, verdict, conditions }
    for (const step of steps) {
      done.push(step.do)
      world = stepped(world, step, fate)
    }
  }
  throw new Error(`no end: ${done.join(' ')}`)
}
const liveIn = (world: AppWorld) => world.releases.filter(({ state }) => state === 'live').map(({ number }) => number)
const failing = (step: 'images' | 'start', code: number, log = ''): Fate => ({
  ...GOOD,
  [step]: { state: 'exited', code, log, cancelled: false } satisfies JobState,
})

/** A process that is killed has taken some of its steps, and the next one looks anew. */
const happen =
  (object: Resource, fate: Fate) =>
  (world: AppWorld, event: string): AppWorld => {
    if (event === 'cancel') {
      const operations = world.operations.map((one) =>
        one.endedAt === null && one.switchAt === null ? { ...one, cancelAt: AT } : one,
      )
      return { ...world, operations }
    }
    const { steps } = planApp(object, world, NOW)
    const taken = event === 'killed' ? steps.slice(0, 1) : steps
    const next = taken.reduce((known, step) => stepped(known, step, fate), world)
    assert.ok(liveIn(next).length <= 1)
    return next
  }

spec('the plan of an app', (t) => {
  t('lets go of what was entered and never asked for: after a while, or once it is stopped', () => {
    const cutOff = anOperation({ n: 2 })
    const ends = (object: Resource, operation = cutOff, now = NOW) =>
      planApp(object, aWorld({ operations: [operation], releases: [aRelease(1)], look: aLook() }), now).steps.flatMap(
        (step) => (step.do === 'end' ? [step.state] : []),
      )
    assert.equal(ends(anApp({ asked: 1 })), [])
    assert.equal(ends(anApp({ asked: 1 }), cutOff, later(600_000)), ['cancelled'])
    assert.equal(ends(anApp({ asked: 1 }), { ...cutOff, cancelAt: AT }), ['cancelled'])
    assert.equal(ends(anApp({ asked: 2 }), cutOff, later(600_000)), [], 'what is asked for waits for its turn')
  })
  t('takes its name first, then waits for a deploy', () => {
    const { done, verdict } = run(anApp(), aWorld({ slugHolder: null }))
    assert.equal(done, ['takeSlug'])
    assert.equal(verdict.state === 'unready' && [verdict.ready, verdict.reason], ['False', 'Empty'])
  })

  const refusals: [string, Parameters<typeof anApp>[0], Partial<AppWorld>][] = [
    ['CAPABILITY_REQUIRED', {}, { account: { name: 'demo', capabilities: [] } }],
    ['HOST_MISSING', {}, { host: null }],
    ['HOST_MISSING', {}, { host: { ...(aWorld().host as NonNullable<AppWorld['host']>), account: 'other' } }],
    ['HOST_NOT_APPROVED', {}, { host: { ...(aWorld().host as NonNullable<AppWorld['host']>), approved: false } }],
    ['HOST_UNFIT', {}, { host: { ...(aWorld().host as NonNullable<AppWorld['host']>), baseDomain: null } }],
    ['SLUG_TAKEN', {}, { slugHolder: 'app-2' }],
    ['SLUG_TAKEN', { slug: 'admin' }, {}],
    ['INVALID_FIELD', { slug: 'xn--bcher' }, {}],
    ['PASSWORD_REQUIRED', { access: 'private' }, {}],
    ['PASSWORD_REQUIRED', { access: 'private', passwordVersion: 2 }, { passwordVersion: 1 }],
  ]
  for (const [code, change, world] of refusals) {
    t(`${code} stops everything: ${JSON.stringify(change)} ${Object.keys(world).join()}`, () => {
      const operation = anOperation({ byController: true })
      const { steps, verdict } = planApp(anApp(change), aWorld({ operations: [operation], ...world }), NOW)
      assert.equal(steps, [])
      assert.is(verdict.state === 'stalled' && verdict.code, code)
    })
  }

  t('runs a deploy in its order, and the route is set before the release is called live', () => {
    const { world, done, verdict } = run(anApp({ asked: 1 }), aWorld({ operations: [anOperation()] }))
    const way = 'begin check upload startJob takeImages startJob takeAddress claimSwitch setRoute goLive'
    assert.is(done.join(' '), way)
    assert.equal(liveIn(world), [1])
    assert.is(world.route?.address, '127.0.0.1:40001')
    assert.is(verdict.state, 'ready')
  })

  t('a switch tells the address of the release that it leads to, and leaves that of the one before', () => {
    const from = aWorld({ operations: [anOperation()], releases: [aRelease(1)], look: null })
    const { world } = run(anApp({ asked: 1 }), from)
    const addresses = world.releases.map(({ number, state, address }) => [number, state, address])
    assert.equal(addresses, [
      [2, 'live', '127.0.0.1:40001'],
      [1, 'superseded', '127.0.0.1:30001'],
    ])
  })

  t('does nothing for a request that never reached the resource', () => {
    const { done } = run(anApp({ asked: 0 }), aWorld({ operations: [anOperation({ n: 1 })] }))
    assert.equal(done, [])
  })

  t('takes up by itself what was written by hand, once', () => {
    const object = anApp({ source: { digest: 'b'.repeat(64) } })
    const { world, done } = run(object, aWorld())
    assert.is(done[0], 'ask')
    assert.equal(liveIn(world), [1])
    assert.equal(run(object, world).done, [])
  })

  t('restores what spec.restore names, with the env of then or of now', () => {
    for (const [env, envVersion] of [
      ['release', 3],
      ['current', 7],
    ] as const) {
      const releases = [
        aRelease(2, { envVersion: 7 }),
        aRelease(1, { state: 'superseded', envVersion: 3, source: 'c'.repeat(64), retiredAt: AT }),
      ]
      const { world } = run(anApp({ restore: { release: 1, env } }), aWorld({ releases }))
      const made = world.releases.find(({ number }) => number === 3)
      assert.is(made?.envVersion, envVersion)
      assert.is(made?.restoredFrom, 1)
      assert.is(made?.source, 'c'.repeat(64))
    }
  })

  t('a rollback to what never started fails, and the live one serves', () => {
    const operations = [anOperation({ intent: { kind: 'rollback', release: 9, env: 'release' } })]
    const { world, verdict } = run(anApp({ asked: 1 }), aWorld({ operations, releases: [aRelease(1)], look: aLook() }))
    assert.is(world.operations[0]?.code, 'UNKNOWN_RELEASE')
    assert.equal(liveIn(world), [1])
    assert.is(verdict.state, 'ready')
  })

  t('an env without a release is stored only; with one it starts the same images anew', () => {
    const operations = [anOperation({ intent: { kind: 'env', envVersion: 2 } })]
    const none = run(anApp({ asked: 1 }), aWorld({ operations }))
    assert.is(none.world.operations[0]?.state, 'succeeded')
    assert.equal(none.world.releases, [])
    const plan = planApp(anApp({ asked: 1 }), aWorld({ operations, releases: [aRelease(1)] }), NOW)
    assert.is(plan.steps[0]?.do, 'begin')
    const { world } = run(anApp({ asked: 1 }), aWorld({ operations, releases: [aRelease(1)] }))
    assert.is(world.releases.find(({ state }) => state === 'live')?.envVersion, 2)
  })

  const failures: [string, Fate, string][] = [
    ['a build that fails', failing('images', EXIT.buildFailed), 'BUILD_FAILED'],
    ['an image for another processor', failing('images', EXIT.wrongProcessor), 'ARCH_MISMATCH'],
    ['an image that is gone', failing('images', EXIT.imageMissing), 'IMAGE_MISSING'],
    [
      'a service that exits',
      failing('start', EXIT.exited, 'x\nbottega: reason web exited with code 3\n'),
      'RELEASE_FAILED',
    ],
    ['a job that the host killed', failing('start', 137), 'RELEASE_FAILED'],
    ['a start that tells no address', { ...GOOD, start: ENDED_WELL }, 'RELEASE_FAILED'],
  ]
  for (const [what, fate, code] of failures) {
    t(`${what} leaves the release before it serving`, () => {
      const from = aWorld({ operations: [anOperation()], releases: [aRelease(1)], route: null, look: aLook() })
      const { world, verdict, conditions } = run(anApp({ asked: 1 }), from, fate)
      assert.is(world.operations[0]?.code, code)
      assert.equal(liveIn(world), [1])
      assert.is(world.route?.address, '127.0.0.1:30001')
      assert.ok(world.releases.find(({ number }) => number === 2)?.retiredAt, 'what failed is taken down')
      assert.is(verdict.state, 'ready', 'what serves is ready, whatever became of the next')
      const told = conditions?.map(({ type, status, message }) => [type, status, message.split(':')[0]])
      assert.equal(told, [['ReleaseFailed', 'True', code]])
    })
  }

  t('a first release that fails stalls it, and a later success ends what was said', () => {
    const failed = anOperation({ state: 'failed', endedAt: AT, code: 'BUILD_FAILED', message: 'the build failed' })
    const { verdict } = run(anApp({ asked: 1 }), aWorld({ operations: [failed] }))
    assert.is(verdict.state === 'stalled' && verdict.code, 'RELEASE_FAILED')
    const good = anOperation({ n: 2, state: 'succeeded', endedAt: AT })
    const { conditions } = run(anApp(), aWorld({ operations: [failed, good], releases: [aRelease(2)], look: aLook() }))
    assert.equal(conditions, [])
  })

  t('one at a time, in the order of asking', () => {
    const operations = [1, 2, 3].map((n) => anOperation({ n }))
    const { world } = run(anApp({ asked: 3 }), aWorld({ operations }))
    assert.equal(
      world.operations.map(({ release }) => release),
      [1, 2, 3],
    )
    assert.equal(liveIn(world), [3])
  })

  t('a superseded release drains before it goes, and not for ever', () => {
    const releases = [aRelease(2), aRelease(1, { state: 'superseded', supersededAt: AT })]
    const { route } = run(anApp(), aWorld({ releases: [aRelease(2)] })).world
    const busy = aWorld({ releases, route, requests: { '127.0.0.1:30001': 1 } })
    assert.equal(planApp(anApp(), busy, later(2_000)).steps, [])
    assert.is(planApp(anApp(), busy, later(DRAIN_MAX_MS)).steps[0]?.do, 'takeDown')
    assert.equal(planApp(anApp(), { ...busy, requests: null }, later(2_000)).steps, [], 'nobody asked the proxy')
    assert.is(planApp(anApp(), { ...busy, requests: {} }, later(2_000)).steps[0]?.do, 'takeDown')
    assert.equal(planApp(anApp(), { ...busy, requests: {} }, later(10)).steps, [], 'a request may be on its way')
  })

  const kept = (record: object = {}) => ({ project: 'shop-r2', stateful: ['db'], ...record })
  const failedOne = (change: Parameters<typeof aRelease>[1] = {}) =>
    aRelease(2, { state: 'failed', address: null, record: kept(), ...change })

  t('a failed release leaves the base to what is live, and nothing when nothing is', () => {
    for (const releases of [[failedOne(), aRelease(1)], [failedOne()]]) {
      const world = aWorld({ releases, route: run(anApp(), aWorld({ releases: [aRelease(1)] })).world.route })
      const step = planApp(anApp(), world, NOW).steps[0]
      assert.equal(step?.do === 'takeDown' && [step.release.number, step.restoresBase], [2, true])
    }
    const superseded = aRelease(1, { state: 'superseded', supersededAt: AT, record: kept() })
    const { route } = run(anApp(), aWorld({ releases: [aRelease(2)] })).world
    const step = planApp(anApp(), aWorld({ releases: [aRelease(2), superseded], route }), later(DRAIN_MAX_MS)).steps[0]
    assert.is(step?.do === 'takeDown' && step.restoresBase, false)
  })

  t('while one is being made nobody takes its base away, and it is not started before the base is let go', () => {
    const steps = anOperation().steps.map((step) => ({
      ...step,
      state: step.name === 'start' ? ('running' as const) : step.name === 'switch' ? ('pending' as const) : 'succeeded',
    }))
    const operation = anOperation({ n: 3, state: 'running', release: 3, startedAt: AT, steps } as object)
    const making = aRelease(3, { state: 'starting', address: null, record: kept() })
    const world = aWorld({ operations: [operation], releases: [making, failedOne()], job: { state: 'absent' } })
    const plannedWith = (change: Partial<AppWorld>) =>
      planApp(anApp({ asked: 3 }), { ...world, ...change }, NOW).steps.map((step) => step.do)
    assert.equal(plannedWith({ retiring: { 2: { state: 'running' } } }), [])
    assert.equal(plannedWith({ retiring: { 2: { ...ENDED_WELL, code: 1 } as JobState } }), ['startJob'])
    assert.equal(plannedWith({ retiring: {} }), ['startJob'])
    const started: Partial<AppWorld> = { job: { state: 'running' } }
    assert.equal(plannedWith({ ...started, retiring: {} }), [])
    assert.equal(plannedWith({ ...started, retiring: { 2: { ...ENDED_WELL, code: 1 } as JobState } }), [])
    assert.equal(plannedWith({ ...started, retiring: { 2: ENDED_WELL } }), ['retire'])
  })

  t('another port of the live release, or another access, sets the route anew', () => {
    const releases = [aRelease(1)]
    const settled = run(anApp(), aWorld({ releases })).world
    assert.equal(run(anApp(), settled).done, [])
    const look = aLook({ address: '127.0.0.1:50000' })
    assert.equal(run(anApp(), { ...settled, look }).done, ['setRoute'])
    const shut = anApp({ access: 'private', passwordVersion: 1 })
    assert.equal(run(shut, { ...settled, passwordVersion: 1 }).done, ['setRoute'])
  })

  t('with a folder for it the proxy dials by a file, which is written anew when somebody changed it', () => {
    const world = aWorld({ releases: [aRelease(1)] })
    assert.ok(world.host)
    const host = { ...world.host, siteRoot: '/srv/sites' }
    const by = (address: string) => routeOf(anApp(), { ...world, host }, address)
    assert.equal(by('127.0.0.1:1').route, by('127.0.0.1:2').route, 'the proxy is told nothing new')
    assert.match(JSON.stringify(by('127.0.0.1:1').route), /"dial":"\{file\.\/srv\/sites\/dial\/app-/)
    const settled = run(anApp(), { ...world, host }).world
    const look = aLook({ dial: '127.0.0.1:30001' })
    assert.equal(run(anApp(), { ...settled, look }).done, [])
    for (const dial of ['', '127.0.0.1:9']) {
      assert.equal(run(anApp(), { ...settled, look: { ...look, dial } }).done, ['setRoute'])
    }
    const moved = planApp(anApp(), { ...settled, look: { ...look, address: '127.0.0.1:30007' } }, NOW).steps[0]
    assert.equal(moved?.do === 'setRoute' && [moved.address, moved.isSet], ['127.0.0.1:30007', true])
    for (const dial of ['gone', null]) {
      const down = { ...look, address: null, dial }
      assert.equal(
        run(anApp(), { ...settled, look: down }).done,
        [],
        'nobody listens, and no file says that anybody does',
      )
    }
    assert.equal(run(anApp(), { ...settled, look: { ...look, dial: 'gone' } }).done, ['setRoute'])
  })

  t('a deleted app ends its operations, leaves its host and only then lets go', () => {
    const gone = anApp({ asked: 1 }, { deletionTimestamp: AT })
    const from = aWorld({ operations: [anOperation()], releases: [aRelease(1)], route: { digest: 'x', address: 'y' } })
    const { done, verdict } = run(gone, { ...from, job: { state: 'absent' } })
    assert.is(done.join(' '), 'end removeRoute clear forget')
    assert.is(verdict.state, 'ready')
    assert.is(planApp(gone, { ...from, operations: [], unreachable: 'no route' }, NOW).verdict.state, 'waiting')
  })

  t('whatever happens, it ends: one live release, and a switch is the only thing that changes it', () => {
    const fates = fc.record({
      images: fc.constantFrom(GOOD.images, failing('images', 20).images, failing('images', 137).images),
      start: fc.constantFrom(GOOD.start, failing('start', 32).start, ENDED_WELL),
    })
    const events = fc.array(fc.constantFrom('pass', 'pass', 'pass', 'killed', 'cancel'), { maxLength: 30 })
    const property = fc.property(fates, events, fc.boolean(), (fate, happened, hasLive) => {
      const object = anApp({ asked: 1 })
      const from = aWorld({ operations: [anOperation()], releases: hasLive ? [aRelease(1)] : [] })
      const { world } = run(object, happened.reduce(happen(object, fate), from), fate, later(DRAIN_MAX_MS))
      const [operation] = world.operations
      assert.ok(operation && operation.endedAt !== null)
      const isMade = operation.state === 'succeeded'
      assert.equal(liveIn(world), isMade ? [operation.release] : hasLive ? [1] : [])
      assert.is(isMade, operation.switchAt !== null)
      const serving = world.releases.find(({ state }) => state === 'live')
      assert.is(world.route?.address, serving?.address ?? undefined)
    })
    fc.assert(property, { numRuns: 500 })
  })
})

spec('what is read and said of an app', (t) => {
  t('only marked lines at the very end are ours', () => {
    assert.is(addressIn('bottega: address 127.0.0.1:1\nhello\nbottega: address 127.0.0.1:2\n'), '127.0.0.1:2')
    assert.is(addressIn('bottega: address 127.0.0.1:1\nhello\n'), null)
    assert.is(addressIn('bottega: address 172.18.0.2:80,127.0.0.1:2 200\n'), '172.18.0.2:80,127.0.0.1:2')
    assert.is(addressIn('bottega: address metadata:80\n'), null)
    const id = `sha256:${'a'.repeat(64)}`
    const wanted = [{ service: 'web', name: 'x' }]
    assert.equal(imagesIn(`bottega: image ${id} arm64\n`, wanted)?.archs, ['arm64'])
    assert.is(imagesIn(`bottega: image latest amd64\n`, wanted), null)
    assert.is(imagesIn('', wanted), null)
  })

  t('a failed job is told with its reason', () => {
    const log = 'boom\nbottega: reason web exited with code 3\n'
    const { code, detail } = reasonOf('start', { state: 'exited', code: EXIT.exited, log, cancelled: false })
    assert.is(code, 'RELEASE_FAILED')
    assert.match(detail, /web exited with code 3/)
  })

  t('values of the env are blackened, plain and encoded, words that tell nothing are not', () => {
    const redact = makeRedact(['s3cr3t/value', 'true', '8080', 'abc'])
    const forms = ['s3cr3t/value', Buffer.from('s3cr3t/value').toString('base64'), encodeURIComponent('s3cr3t/value')]
    for (const form of forms) assert.not.match(redact(`x${form}y`), new RegExp(form.slice(0, 8)))
    assert.is(redact('port 8080 is true abc'), 'port 8080 is true abc')
  })

  t('what it has on disk stalls it once it was stopped for that, and not before', () => {
    const disk = { usedMib: 1_300, budgetMib: 1_024, isStopped: true }
    const verdictOf = (change: Partial<AppWorld>) =>
      run(anApp(), { ...run(anApp(), aWorld({ releases: [aRelease(1)] })).world, ...change }).verdict
    const verdict = verdictOf({ look: aLook({ running: [], disk }) })
    assert.is(verdict.state === 'stalled' && verdict.code, 'DISK_EXCEEDED')
    assert.match(verdict.state === 'stalled' ? verdict.message : '', /^DISK_EXCEEDED: it had 1300 of 1024 MiB/)
    assert.is(verdictOf({ look: aLook({ disk: { ...disk, isStopped: false } }) }).state, 'ready')
  })

  t('readiness is known of a public app that restricts nobody', () => {
    const look = aLook()
    const stateOf = (change: Parameters<typeof anApp>[0], world: Partial<AppWorld>) => {
      const object = anApp(change)
      const seen = aWorld({ releases: [aRelease(1)], look, ...world })
      return viewApp(object, seen, planApp(object, seen, NOW)).readiness.state
    }
    assert.is(stateOf({}, {}), 'ready')
    assert.is(stateOf({ applicationPolicy: 'unknown' }, {}), 'unknown')
    assert.is(stateOf({ access: 'private', passwordVersion: 1 }, { passwordVersion: 1 }), 'unknown')
    assert.is(stateOf({}, { look: { ...look, http: 500 } }), 'not_ready')
    assert.is(stateOf({}, { look: { ...look, stopped: [{ service: 'db', code: 1 }] } }), 'not_ready')
    const disk = { usedMib: 1_300, budgetMib: 1_024, isStopped: true }
    assert.is(stateOf({}, { look: { ...look, disk } }), 'not_ready')
    assert.is(stateOf({}, { look: { ...look, disk: { ...disk, isStopped: false } } }), 'ready')
    assert.is(stateOf({}, { releases: [] }), 'not_ready')
    assert.is(stateOf({}, { look: null }), 'unknown')
  })

  t('the route strips what visitors may not say, and asks the platform for a private app only', () => {
    const route = (change: Parameters<typeof anApp>[0]) => {
      const { steps } = planApp(anApp(change), aWorld({ releases: [aRelease(1)], passwordVersion: 1 }), NOW)
      const [step] = steps
      if (step?.do !== 'setRoute') throw new Error('a route was to be set')
      return JSON.stringify(step.route)
    }
    for (const text of [route({}), route({ access: 'private', passwordVersion: 1 })]) {
      for (const header of STRIPPED_HEADERS) assert.ok(text.includes(`"${header}"`), header)
    }
    assert.not.match(route({}), /_bottega/)
    const shut = route({ access: 'private', passwordVersion: 1 })
    assert.match(shut, /_bottega\/verify/)
    assert.equal(shut.match(/"match":\[\{"path":[^\]]*\]/g), ['"match":[{"path":["/_bottega/access"]'])
    assert.not.match(shut, /"not"/, 'nothing is exempt')
  })
})
