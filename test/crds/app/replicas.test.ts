import { judgeCompose } from '../../../crds/app/compose/judge.ts'
import { planRelease } from '../../../crds/app/compose/printing/plan.ts'
import { printProject } from '../../../crds/app/compose/printing/print.ts'
import { findingsOf } from '../../../crds/app/lifecycle/health/findings.ts'
import { partsOf } from '../../../crds/app/lifecycle/health/parts.ts'
import { fullness, grantedBudget, grantedReplicas, roomFor } from '../../../crds/app/lifecycle/keeping/budget.ts'
import { scaledProject } from '../../../crds/app/lifecycle/scaling/replicas.ts'
import { streamAddressOf } from '../../../crds/app/lifecycle/scaling/streams.ts'
import { planApp } from '../../../crds/app/plan.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import type { AppWorld, Release, ReplicaSeen } from '../../../crds/app/world.ts'
import { AT, aLook, anApp, anOperation, aRelease, aWorld, DEFAULT_BUDGET, NOW } from '../../support/builders/app/app.ts'
import { ENDED_WELL, GOOD, stepped } from '../../support/builders/app/stepped.ts'
import { shared, sourceOf } from '../../support/builders/sources/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const WEB = 'web: {image: "w:1", expose: [80]'
const judged = (text: string, replicas?: number | null) =>
  judgeCompose(sourceOf({ 'docker-compose.yml': text }), {
    ...shared,
    ...(replicas !== undefined && { replicas }),
  })
const projectIn = (text: string, replicas?: number | null) => {
  const verdict = judged(text, replicas)
  assert.ok(verdict.ok, JSON.stringify(verdict))
  return verdict
}
const refusalsIn = (text: string, replicas?: number | null): string[] => {
  const verdict = judged(text, replicas)
  return verdict.ok ? [] : verdict.findings.map(({ rule, pointer }) => `${rule} ${pointer}`)
}

spec('replicas in a compose file', (t) => {
  for (const keys of ['deploy: {replicas: 3}', 'scale: 3', 'deploy: {replicas: "3"}']) {
    t(`${keys} of the routed service is taken where the app says nothing`, () => {
      const { project, changes, runs } = projectIn(`services: {${WEB}, ${keys}}}`)
      assert.equal([project.replicas, changes], [3, []])
      assert.match(runs, /replicas: 3/)
      assert.is(planRelease(null, { project, warnings: [], composePath: 'compose.yaml' }, []).replicas, 3)
    })
    t(`${keys} is rewritten to what the app says, with the reason`, () => {
      const { project, changes } = projectIn(`services: {${WEB}, ${keys}}}`, 2)
      assert.is(project.replicas, 2)
      assert.equal([changes[0]?.rule, changes[0]?.from, changes[0]?.to], ['one-of-each', '3', '2'])
      assert.match(changes[0]?.reason ?? '', /replicas of the app/)
    })
  }
  t('are one where nobody says a number, and the project is as it was before there were any', () => {
    assert.is(Object.hasOwn(projectIn(`services: {${WEB}}}`).project, 'replicas'), false)
    assert.is(projectIn(`services: {${WEB}, scale: 1}}`).project.replicas, undefined)
  })
  t('are refused with their place for what keeps something, and for what takes no visitors', () => {
    const keeps = `services: {${WEB}, volumes: ["d:/d"], scale: 2}}\nvolumes: {d: {}}`
    assert.equal(refusalsIn(keeps), ['one-of-each /services/web/scale'])
    const worker = `services: {${WEB}}, worker: {image: "j:1", deploy: {replicas: 2}}}`
    assert.equal(refusalsIn(worker), ['one-of-each /services/worker/deploy/replicas'])
  })
  t('are refused where the app asks for several of what keeps something', () => {
    const keeps = `services: {${WEB}, volumes: ["d:/d"]}}\nvolumes: {d: {}}`
    assert.equal(refusalsIn(keeps, 3), ['one-of-each /services/web'])
    assert.equal(refusalsIn(keeps, 1), [])
  })
})

spec('a release with replicas', (t) => {
  const { project } = projectIn(`services: {${WEB}, healthcheck: {test: [CMD, x]}}, api: {image: "a:1"}}`, 3)
  const printed = printProject(project, 4, 'origin')
  const { services } = JSON.parse(printed.release?.text ?? '{}')
  t('has each as a service of its own, with its own port and limits, under one name on its networks', () => {
    assert.equal(Object.keys(services).sort(), ['api-r4', 'web-r4', 'web.2-r4', 'web.3-r4'])
    assert.equal(printed.routed.services, ['web-r4', 'web.2-r4', 'web.3-r4'])
    for (const name of printed.routed.services) {
      assert.equal(services[name].ports, ['127.0.0.1::80'])
      assert.equal(services[name], services['web-r4'])
      assert.equal(services[name].networks.default.aliases, ['web'])
    }
  })
  t('is looked at container by container', () => {
    const parts = partsOf(printed, project, 4).map(({ service, name }) => `${service} ${name}`)
    assert.equal(parts.sort(), ['api api-r4', 'web web-r4', 'web.2 web.2-r4', 'web.3 web.3-r4'])
  })
  t('is printed with as many as its record says, and the limits that they have now', () => {
    const limits = { web: { cpuMillis: 70, memoryBytes: 32 * 1_048_576, pids: 64 } }
    const now = printProject(scaledProject(project, { replicas: 1, limits }), 4, 'origin')
    const one = JSON.parse(now.release?.text ?? '{}').services
    assert.equal(Object.keys(one).sort(), ['api-r4', 'web-r4'])
    assert.equal([one['web-r4'].cpus, one['api-r4'].cpus], [0.07, services['api-r4'].cpus])
  })
})

const ADDRESSES = ['127.0.0.1:30001', '127.0.0.1:30002', '127.0.0.1:30003']
const seen = (count: number, down: readonly number[] = []): ReplicaSeen[] =>
  ADDRESSES.slice(0, count).map((address, place) => ({
    name: place === 0 ? 'web-r1' : `web.${place + 1}-r1`,
    address: down.includes(place) ? null : address,
    isReady: !down.includes(place),
  }))
const live = (count: number, record: object = {}, change: Partial<Release> = {}): Release =>
  aRelease(1, {
    address: ADDRESSES.slice(0, count).join(','),
    record: {
      ...{ project: 'shop-r1', listener: 'web-r1', route: { service: 'web', port: 80 }, stateful: [] },
      ...{ budget: DEFAULT_BUDGET, services: ['web'], replicas: count, ...record },
    },
    ...change,
  })
const roomOf = (count: number) => ({
  held: roomFor(DEFAULT_BUDGET, count),
  others: { cpuMillis: 0, memoryMib: 0, diskGib: 0 },
})
const worldOf = (count: number, change: Partial<AppWorld> = {}): AppWorld => {
  const address = ADDRESSES.slice(0, count).join(',')
  return aWorld({
    ...{ room: roomOf(count), releases: [live(count)], look: aLook({ address, replicas: seen(count), strays: [] }) },
    ...change,
  })
}

/** Runs the plan to its rest. @returns what was done */
const settled = (object: AppResource, from: AppWorld, fate = GOOD, now = NOW): { world: AppWorld; done: AppStep[] } => {
  let world = from
  const done: AppStep[] = []
  for (let rounds = 0; rounds < 40; rounds++) {
    const [step] = planApp(object, world, now).steps
    if (!step) return { world, done }
    done.push(step)
    world = stepped(world, step, fate)
    if (step.do === 'scaled') {
      const count = world.releases[0]?.record?.replicas ?? 1
      world = {
        ...world,
        look: aLook({ address: world.releases[0]?.address ?? null, replicas: seen(count), strays: [] }),
      }
    }
  }
  throw new Error(`it does not come to rest: ${done.map((step) => step.do).join(' ')}`)
}
const names = (done: readonly AppStep[]) => done.map((step) => step.do).filter((name) => name !== 'takeRoom')
const UP = { ...GOOD, start: { ...ENDED_WELL, log: `up\nbottega: address ${ADDRESSES[1]},${ADDRESSES[2]} 200\n` } }

spec('a scale', (t) => {
  t('that was written by hand is asked for, starts what is added, leads visitors there, and rests', () => {
    const { world, done } = settled(anApp({ replicas: 3 }), worldOf(1), UP)
    assert.equal(names(done), ['ask', 'beginScale', 'startJob', 'grown', 'claimSwitch', 'setRoute', 'scaled'])
    const [release] = world.releases
    assert.equal([release?.number, release?.state, release?.record?.replicas], [1, 'live', 3])
    assert.is(release?.address, ADDRESSES.join(','))
    assert.is(world.operations.at(-1)?.state, 'succeeded')
  })
  t('down leads visitors away before anything goes, and what leaves drains', () => {
    const { world, done } = settled(anApp({ replicas: 1 }), worldOf(3, { requests: { [ADDRESSES[2] ?? '']: 1 } }))
    assert.equal(names(done), ['ask', 'beginScale', 'grown', 'claimSwitch', 'setRoute', 'scaled'])
    const [release] = world.releases
    assert.is(release?.address, ADDRESSES[0])
    assert.equal(release?.record?.leaving, [
      { name: 'web.2-r1', address: ADDRESSES[1], since: AT },
      { name: 'web.3-r1', address: ADDRESSES[2], since: AT },
    ])
    const later = new Date(NOW.getTime() + 2_000)
    const look = { ...world.look, at: later.toISOString() } as NonNullable<AppWorld['look']>
    const gone = settled(anApp({ replicas: 1 }), { ...world, look }, GOOD, later)
    const [first] = gone.done
    assert.equal(first?.do === 'dropReplicas' && first.names, ['web.2-r1'], 'the one that nobody is on')
    const late = new Date(NOW.getTime() + 61_000)
    const last = planApp(anApp({ replicas: 1 }), gone.world, late).steps.find((step) => step.do === 'dropReplicas')
    assert.equal(last?.do === 'dropReplicas' && last.names, ['web.3-r1'], 'the bound has run out')
  })
  t('that failed is not tried again until somebody says so, and what it left is taken away', () => {
    const failing = {
      ...GOOD,
      start: { state: 'exited', code: 36, log: 'bottega: reason no\n', cancelled: false } as const,
    }
    const { world } = settled(anApp({ replicas: 3 }), worldOf(1), failing)
    assert.equal([world.operations.at(-1)?.state, world.releases[0]?.state], ['failed', 'live'])
    assert.is(world.releases[0]?.record?.replicas, 1)
    const strays = { ...world, look: aLook({ replicas: seen(1), strays: ['web.2-r1'] }) }
    const [step] = planApp(anApp({ replicas: 3 }), strays, NOW).steps
    assert.equal(step?.do === 'dropReplicas' && step.names, ['web.2-r1'])
  })
  t('is taken up from wherever it was left, and comes to the same end', () => {
    let world = worldOf(1)
    const object = anApp({ replicas: 3 })
    const whole = settled(object, world, UP)
    for (const step of whole.done) {
      const from = settled(object, { ...world, job: world.job && UP.start }, UP)
      assert.equal(
        [from.world.releases[0]?.address, from.world.releases[0]?.record?.replicas],
        [ADDRESSES.join(','), 3],
        `taken up before ${step.do}`,
      )
      world = stepped(world, step, UP)
    }
  })
  t('waits for what is under way, and is none while nothing is live', () => {
    const deploying = worldOf(1, { room: roomOf(3), operations: [anOperation({ state: 'queued', n: 1 })] })
    assert.is(planApp(anApp({ replicas: 3, asked: 1 }), deploying, NOW).steps[0]?.do, 'begin')
    const empty = planApp(anApp({ replicas: 3 }), worldOf(1, { room: roomOf(3), releases: [], look: null }), NOW)
    assert.equal(empty.steps, [])
    const asked = anOperation({ n: 1, intent: { kind: 'scale', replicas: 3 } })
    const [step] = planApp(
      anApp({ replicas: 3, asked: 1 }),
      worldOf(1, { room: roomOf(3), releases: [], look: null, operations: [asked] }),
      NOW,
    ).steps
    assert.equal(step?.do === 'end' && step.state, 'succeeded')
  })
  t('of a service that keeps something is refused, by hand and over REST', () => {
    const stateful = worldOf(1, { room: roomOf(3), releases: [live(1, { stateful: ['web'] })] })
    const plan = planApp(anApp({ replicas: 3 }), { ...stateful, route: null }, NOW)
    assert.is(
      plan.steps.find((step) => step.do === 'ask'),
      undefined,
    )
    const rested = settled(anApp({ replicas: 3 }), stateful)
    assert.match(
      JSON.stringify(planApp(anApp({ replicas: 3 }), rested.world, NOW).verdict),
      /REPLICAS_REFUSED.*\/replicas web keeps/,
    )
    const asked = anOperation({ n: 1, intent: { kind: 'scale', replicas: 3 } })
    const { world } = settled(anApp({ replicas: 3, asked: 1 }), { ...stateful, operations: [asked] })
    assert.equal([world.operations[0]?.state, world.operations[0]?.code], ['failed', 'REPLICAS_REFUSED'])
  })
  t('takes room for each, the disk once, and keeps to what runs where there is none', () => {
    assert.equal(roomFor(DEFAULT_BUDGET, 3), { cpuMillis: 3_000, memoryMib: 3_072, diskGib: 10 })
    const capacity = { cpuMillis: 2_000, memoryMib: 4_096, diskGib: 100 }
    const host = { ...aWorld().host, capacity } as NonNullable<AppWorld['host']>
    const room = { held: DEFAULT_BUDGET, others: { cpuMillis: 0, memoryMib: 0, diskGib: 0 } }
    const world = worldOf(1, { host, room })
    assert.is(
      fullness(anApp({ replicas: 3 }), { ...world, host }),
      'local is full: 3000 thousandths of a processor are asked for, 2000 of 2000 are left',
    )
    assert.equal(grantedReplicas({ replicas: 3 }, { ...world, host }), 1)
    assert.equal(
      grantedReplicas({ replicas: 3 }, { ...world, host, room: { ...room, held: roomFor(DEFAULT_BUDGET, 3) } }),
      3,
    )
    assert.equal(
      grantedBudget({ replicas: 3 }, { ...world, host, room: { ...room, held: roomFor(DEFAULT_BUDGET, 3) } }),
      DEFAULT_BUDGET,
    )
    const { world: rested } = settled(anApp({ replicas: 3 }), world)
    assert.match(JSON.stringify(planApp(anApp({ replicas: 3 }), rested, NOW).verdict), /HOST_FULL.*3000/)
  })
})

spec('the proxy of replicas', (t) => {
  const setRouteIn = (object: AppResource, world: AppWorld) => {
    const step = planApp(object, world, NOW).steps.find((one) => one.do === 'setRoute')
    assert.ok(step?.do === 'setRoute')
    return step
  }
  const handlers = (object: AppResource, world: AppWorld): string =>
    JSON.stringify(setRouteIn(object, world).route.handle)
  const host = { ...aWorld().host, siteRoot: '/srv' } as NonNullable<AppWorld['host']>
  t('has an upstream for each that it reads of a file, and passes over one that is dead', () => {
    const text = handlers(anApp({ replicas: 3 }), worldOf(3, { host }))
    const file = '/srv/dial/app-11111111-2222-3333-4444-555555555555'
    assert.match(text, `[{"dial":"{file.${file}}"},{"dial":"{file.${file}.2}"},{"dial":"{file.${file}.3}"}]`)
    assert.match(text, /least_conn/)
    assert.match(text, /"passive":\{"fail_duration":"5s","max_fails":1\}/)
  })
  t('is asked for one as it was before there were any', () => {
    const text = handlers(anApp(), worldOf(1))
    assert.not.match(text, /least_conn|passive/)
    assert.match(text, '"upstreams":[{"dial":"127.0.0.1:30001"}]')
  })
  t('counts WebSockets apart where they are to be cut', () => {
    assert.is(streamAddressOf('127.0.0.1:30001'), '[::ffff:127.0.0.1]:30001')
    assert.not.match(handlers(anApp({ replicas: 3 }), worldOf(3)), /::ffff/)
    const text = handlers(anApp({ replicas: 3, websockets: 'cut' }), worldOf(3))
    assert.match(text, '"dial":"[::ffff:127.0.0.1]:30003"')
    const read = handlers(anApp({ replicas: 3, websockets: 'cut' }), worldOf(3, { host }))
    assert.match(read, /"source":"\{file\.[^"]+\.3\}","destinations":\["\{bottega\.stream\.3\}"\]/)
    assert.match(read, '{"dial":"{bottega.stream.3}"}')
    const [from, to] = [/^(.+):(\d+)$/, '[::ffff:$1]:$2']
    assert.is(ADDRESSES[0]?.replace(from, to), streamAddressOf(ADDRESSES[0] ?? ''), 'as the proxy makes it of the file')
  })
  t('waits for WebSockets of a release that is over, or does not', () => {
    const over = aRelease(1, { state: 'superseded', supersededAt: AT, address: ADDRESSES[0] ?? '' })
    const now = new Date(NOW.getTime() + 2_000)
    const requests = { '[::ffff:127.0.0.1]:30001': 1 }
    const route = { digest: 'd', address: '127.0.0.1:40001' }
    const world = worldOf(1, { releases: [aRelease(2), over], requests, route, look: null })
    const goes = (object: AppResource) => planApp(object, world, now).steps.some((step) => step.do === 'takeDown')
    assert.equal([goes(anApp()), goes(anApp({ websockets: 'cut' }))], [false, true])
    const held = { ...aRelease(2), record: { watch: { until: '2026-11-22T11:00:00.000Z', before: 1 } } }
    const watched = { ...world, releases: [held, over] }
    const cuts = (object: AppResource) => planApp(object, watched, now).steps.some((step) => step.do === 'cutStreams')
    assert.equal([cuts(anApp()), cuts(anApp({ websockets: 'cut' }))], [false, true])
    const busy = { ...watched, requests: { ...requests, [ADDRESSES[0] ?? '']: 1 } }
    assert.is(
      planApp(anApp({ websockets: 'cut' }), busy, now).steps.some((step) => step.do === 'cutStreams'),
      false,
    )
  })
})

spec('the health of replicas', (t) => {
  const stoppedOne = {
    ...{
      project: 'shop-r1',
      name: 'web.2-r1',
      service: 'web.2',
      state: 'exited',
      health: 'none',
      restarts: 0,
      code: 137,
    },
    ...{ isOutOfMemory: true, policy: 'unless-stopped', limits: null, networks: [], restartedAt: [] },
  }
  t('is noted and put right for one while the others serve, and the app stays ready', () => {
    const look = aLook({
      address: [ADDRESSES[0], ADDRESSES[0], ADDRESSES[2]].join(','),
      replicas: seen(3, [1]),
      containers: [stoppedOne],
    })
    const [finding] = findingsOf(live(3), look)
    assert.equal(
      [finding?.code, finding?.service, finding?.isDown, finding?.mend?.do],
      ['SERVICE_STOPPED', 'web.2', false, 'start'],
    )
    const { world, done } = settled(anApp({ replicas: 3 }), worldOf(3, { look }))
    assert.ok(names(done).includes('noteUnhealthy') && names(done).includes('mend'), names(done).join(' '))
    const plan = planApp(anApp({ replicas: 3 }), { ...world, look }, NOW)
    assert.equal([plan.verdict.state, plan.status.replicas, plan.status.serving], ['ready', 2, '2/3'])
  })
  t('is the health of the app where none serves', () => {
    const look = aLook({ http: null, address: null, replicas: seen(3, [0, 1, 2]), containers: [stoppedOne] })
    assert.is(findingsOf(live(3), look)[0]?.isDown, true)
    assert.is(planApp(anApp({ replicas: 3 }), worldOf(3, { look }), NOW).verdict.state, 'unready')
  })
})
