import { CRASHES_MAX, findingsOf, SILENT_MS } from '../../../crds/app/lifecycle/health/findings.ts'
import { TRIES_MAX } from '../../../crds/app/lifecycle/health/mend.ts'
import type { ContainerSeen, Episode, ReleasePart } from '../../../crds/app/lifecycle/health/seen.ts'
import { STALE_MS } from '../../../crds/app/lifecycle/health/verdict.ts'
import { BAD_MS } from '../../../crds/app/lifecycle/health/watch.ts'
import { planApp } from '../../../crds/app/plan.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import { viewApp } from '../../../crds/app/view.ts'
import type { AppObservation, AppWorld, Release } from '../../../crds/app/world.ts'
import { AT, aLook, anApp, anOperation, aRelease, aWorld, NOW } from '../../support/builders/app/app.ts'
import { anEpisode } from '../../support/builders/app/episode.ts'
import { GOOD, stepped } from '../../support/builders/app/stepped.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What is found of a live release, what is done about it and what is said. */

const MIB = 1_048_576
const LIMITS = { cpuMillis: 500, memoryBytes: 256 * MIB, pids: 256 }
const part = (service: string, change: Partial<ReleasePart> = {}): ReleasePart => ({
  service,
  project: 'shop-r1',
  name: `${service}-r1`,
  networks: ['shop-r1_default'],
  limits: LIMITS,
  isOneShot: false,
  isKeptUp: true,
  ...change,
})
const container = (service: string, change: Partial<ContainerSeen> = {}): ContainerSeen => ({
  project: 'shop-r1',
  name: `${service}-r1`,
  service,
  state: 'running',
  health: 'none',
  restarts: 0,
  code: 0,
  isOutOfMemory: false,
  policy: 'unless-stopped',
  limits: LIMITS,
  networks: ['shop-r1_default'],
  restartedAt: [],
  ...change,
})
const PARTS = [part('web'), part('worker')]
const release = (number = 1, change: Partial<Release> = {}): Release => {
  const mark = { project: `shop-r${number}`, listener: `web-r${number}` }
  return aRelease(number, {
    record: { ...aRelease(number).record, ...mark, parts: number === 1 ? PARTS : [] },
    ...change,
  })
}
const look = (containers: ContainerSeen[], change: Partial<AppObservation> = {}): AppObservation =>
  aLook({ containers, stopped: [], ...change })
const whole = (change: Partial<ContainerSeen> = {}): ContainerSeen[] => [container('web', change), container('worker')]
const at = (ms: number): string => new Date(NOW.getTime() + ms).toISOString()
const found = (containers: ContainerSeen[], change: Partial<AppObservation> = {}) =>
  findingsOf(release(), look(containers, change))

/** With its route set, so that nothing but health is to be done. */
const settled = (change: Partial<AppWorld>): AppWorld => {
  const from = aWorld({ releases: [release()], look: look(whole()) })
  const [step] = planApp(anApp(), from, NOW).steps
  return { ...(step ? stepped(from, step, GOOD) : from), ...change }
}
const doing = (change: Partial<AppWorld>, now = NOW): AppStep[] => planApp(anApp(), settled(change), now).steps
const verdictOf = (change: Partial<AppWorld>, now = NOW) => planApp(anApp(), settled(change), now).verdict

spec('what is found of a live release', (t) => {
  t('is nothing while all of it runs as it says', () => {
    assert.equal(found(whole()), [])
  })

  const cases: [string, ContainerSeen[], Partial<AppObservation>, string, string | null, boolean][] = [
    ['a container that was stopped', whole({ state: 'exited', code: 137 }), {}, 'SERVICE_STOPPED', 'start', true],
    ['one that is paused', whole({ state: 'paused' }), {}, 'SERVICE_STOPPED', 'start', true],
    ['one that is dead', whole({ state: 'dead' }), {}, 'SERVICE_STOPPED', 'make', true],
    ['one that is not there', [container('worker')], {}, 'SERVICE_MISSING', 'make', true],
    ['one without its network', whole({ networks: [] }), {}, 'NETWORK_LOST', 'make', true],
    ['one that is unhealthy', whole({ health: 'unhealthy' }), {}, 'SERVICE_UNHEALTHY', 'restart', true],
    ['one that was restarted', whole({ restartedAt: [AT] }), {}, 'SERVICE_RESTARTED', null, false],
    ['one that crashes on', whole({ restartedAt: Array(CRASHES_MAX).fill(AT) }), {}, 'CRASH_LOOP', null, true],
    ['other limits', whole({ limits: { ...LIMITS, memoryBytes: MIB } }), {}, 'LIMITS_CHANGED', 'limit', false],
    ['no limits at all', whole({ limits: null }), {}, 'LIMITS_CHANGED', 'limit', false],
    ['a lost route', whole(), { hasRoute: false }, 'ROUTE_LOST', null, true],
    ['no answer for a while', whole(), { http: null, badSince: at(-SILENT_MS) }, 'NOT_ANSWERING', null, true],
    ['a fault for a while', whole(), { http: 503, badSince: at(-SILENT_MS) }, 'NOT_ANSWERING', null, true],
  ]
  for (const [what, containers, change, code, mend, isDown] of cases) {
    t(`is ${code} for ${what}`, () => {
      const all = found(containers, change)
      assert.equal(
        all.map((one) => [one.code, one.mend?.do ?? null, one.isDown]),
        [[code, mend, isDown]],
      )
    })
  }

  t('is not a slow moment, nor a fault that has just begun', () => {
    assert.equal(found(whole(), { http: null, badSince: at(-SILENT_MS + 1) }), [])
  })

  t('is not a restart of long ago', () => {
    assert.equal(found(whole({ restartedAt: [at(-120_000)] })), [])
  })

  t('is nothing of what ends by itself and has ended well, or is not there any more', () => {
    const parts = [...PARTS, part('migrate', { isOneShot: true, isKeptUp: false }), part('job', { isKeptUp: false })]
    const live = release(1, { record: { ...release().record, parts } })
    const done = [
      container('migrate', { state: 'exited', policy: 'no' }),
      container('job', { state: 'exited', policy: 'no' }),
    ]
    assert.equal(findingsOf(live, look([...whole(), ...done])), [])
    assert.equal(findingsOf(live, look(whole())), [])
    const failed = container('job', { state: 'exited', code: 2, policy: 'no' })
    assert.equal(
      findingsOf(live, look([...whole(), failed])).map(({ code }) => code),
      ['SERVICE_STOPPED'],
    )
  })

  t('tells one thing of a container, and what explains the rest first', () => {
    const both = [
      container('web', { state: 'exited', networks: [], limits: null }),
      container('worker', { state: 'exited' }),
    ]
    assert.equal(
      found(both, { hasRoute: false }).map(({ code, service }) => [code, service]),
      [
        ['NETWORK_LOST', 'web'],
        ['SERVICE_STOPPED', 'worker'],
        ['ROUTE_LOST', null],
      ],
    )
  })
})

spec('what is done about it', (t) => {
  const stopped = look(whole({ state: 'exited', code: 137 }))
  const kinds = (steps: AppStep[]) => steps.map((step) => step.do)

  t('it is noted first, then tried to be put right at once, and told when it is well', () => {
    assert.equal(kinds(doing({ look: stopped })), ['noteUnhealthy'])
    const [step] = doing({ look: stopped, episode: anEpisode() })
    const mends = [{ do: 'start', project: 'shop-r1', name: 'web-r1' }]
    assert.equal(step?.do === 'mend' && step.mends, mends)
    assert.equal(kinds(doing({ episode: anEpisode({ attempts: 1, attemptedAt: at(-5_000) }) })), ['noteRecovered'])
  })

  t('what takes it down while something milder lasts is noted as what it is, and once', () => {
    for (const code of ['LIMITS_CHANGED', 'SERVICE_RESTARTED'] as const) {
      const mild = anEpisode({ n: 7, code, attempts: 1, attemptedAt: at(-5_000) })
      const [step] = doing({ look: stopped, episode: mild })
      assert.equal(
        step?.do === 'noteUnhealthy' && [step.finding.code, step.instead?.n],
        ['SERVICE_STOPPED', 7],
        'it is no part of what was noted',
      )
    }
    const limits = look(whole({ limits: null }))
    assert.equal(kinds(doing({ look: limits, episode: anEpisode({ code: 'SERVICE_RESTARTED' }) })), ['mend'])
    assert.equal(kinds(doing({ look: stopped, episode: anEpisode({ code: 'NOT_ANSWERING' }) })), ['mend'])
  })

  t('that it is down is said before it is put right, and what visitors do not notice is put right at once', () => {
    const done = (status: 'True' | 'Unknown' | 'False', seen: AppObservation) => {
      const ready = { type: 'Ready', status, reason: 'Any', message: '', observedGeneration: 1, lastTransitionTime: AT }
      const object = { ...anApp(), status: { observedGeneration: 1, conditions: [ready] } } as AppResource
      const plan = planApp(object, settled({ look: seen, episode: anEpisode() }), NOW)
      return [kinds(plan.steps), plan.verdict.state]
    }
    assert.equal(done('True', stopped), [[], 'unready'])
    assert.equal(done('Unknown', stopped), [[], 'unready'])
    assert.equal(done('False', stopped)[0], ['mend'])
    assert.equal(done('True', look(whole({ limits: null })))[0], ['mend'])
  })

  t('a route that was lost is set in the same pass', () => {
    assert.equal(kinds(doing({ look: look(whole(), { hasRoute: false }) })), ['setRoute', 'noteUnhealthy'])
  })

  t('the pauses grow, and after the last try a person is called', () => {
    let waitedMs = 0
    for (let attempts = 1; attempts < TRIES_MAX; attempts++) {
      let ms = 0
      const seen = () => look(whole({ state: 'exited', code: 1 }), { at: at(ms) })
      const tried = anEpisode({ attempts, attemptedAt: at(-1) })
      while (doing({ look: seen(), episode: tried }, new Date(NOW.getTime() + ms)).length === 0) ms += 1_000
      assert.ok(ms >= waitedMs, `${attempts}: ${ms}`)
      waitedMs = ms
    }
    const last = anEpisode({ attempts: TRIES_MAX, attemptedAt: at(-86_400_000) })
    assert.equal(doing({ look: stopped, episode: last }), [])
    const verdict = verdictOf({ look: stopped, episode: last })
    assert.is(verdict.state === 'stalled' && verdict.code, 'APP_UNHEALTHY')
  })

  t('nothing is done by a look of before the last try, nor by one of long ago', () => {
    assert.equal(doing({ look: stopped, episode: anEpisode({ attempts: 1, attemptedAt: AT }) }), [])
    assert.equal(doing({ look: stopped }, new Date(NOW.getTime() + 31_000)), [])
  })

  t('what was started more than once has to run for a while, and what begins is not well yet', () => {
    const twice = anEpisode({ attempts: 2, attemptedAt: at(-14_000) })
    assert.equal(doing({ episode: twice }), [])
    assert.equal(kinds(doing({ episode: { ...twice, attemptedAt: at(-15_000) } })), ['noteRecovered'])
    const beginning = look(whole({ health: 'starting' }))
    assert.equal(doing({ look: beginning, episode: anEpisode({ attempts: 1, attemptedAt: at(-9_000) }) }), [])
  })

  t('an app that was stopped for its disk is left alone, and one whose release is being started too', () => {
    const disk = { usedMib: 2, budgetMib: 1, isStopped: true }
    assert.equal(doing({ look: { ...stopped, running: [], disk } }), [])
    assert.equal(doing({ look: { ...stopped, disk: { ...disk, isStopped: false } } }), [], 'it is about to be stopped')
    const inStep = (name: string) => {
      const steps = anOperation().steps.map((step) => ({
        ...step,
        state: step.name === name ? ('running' as const) : ('succeeded' as const),
      }))
      const operation = anOperation({ n: 2, state: 'running', release: 2, startedAt: AT, steps })
      const releases = [aRelease(2, { state: 'starting', liveAt: null, address: null }), release()]
      return kinds(doing({ operations: [operation], releases, look: stopped, job: { state: 'running' } }))
    }
    assert.equal(inStep('start'), [])
    assert.equal(inStep('images'), ['noteUnhealthy'], 'a build takes long, and visitors do not wait for it')
  })
})

spec('the next look', (t) => {
  const wakeMs = (lookMs: number, change: Partial<AppWorld> = {}): number => {
    const world = settled({ look: look(whole(), { at: at(lookMs) }), ...change })
    return Date.parse(planApp(anApp(), world, NOW).wakeAt ?? '') - NOW.getTime()
  }
  t('comes when the last one is too old to be gone by, however many passes lie in between', () => {
    assert.equal([wakeMs(0), wakeMs(-4_000), wakeMs(-9_999)], [10_001, 6_001, 2])
  })
  t('of a host that was not looked at comes in its time, and not at once', () => {
    assert.equal([wakeMs(-10_001), wakeMs(-60_000)], [10_000, 10_000])
  })
  t('comes in its time when the clock was set back since the last one', () => {
    assert.equal([wakeMs(1), wakeMs(3_600_000)], [10_001, 10_001])
  })
  t('comes sooner while something is wrong', () => {
    assert.is(wakeMs(-500, { episode: anEpisode() }), 1_501)
  })
})

spec('what is said of an app', (t) => {
  t('is ready only while a look of late saw it serve', () => {
    assert.is(verdictOf({}).state, 'ready')
    const unready = (change: Partial<AppWorld>, now = NOW) => {
      const verdict = verdictOf(change, now)
      return verdict.state === 'unready' ? [verdict.ready, verdict.reason] : [verdict.state]
    }
    assert.equal(unready({ look: null }), ['Unknown', 'NotSeen'])
    assert.equal(unready({}, new Date(NOW.getTime() + STALE_MS + 1)), ['Unknown', 'NotSeen'])
    assert.equal(unready({ look: null, unreachable: 'no route to it' }), ['Unknown', 'HostUnreachable'])
    assert.equal(unready({ look: look(whole({ state: 'exited' })) }), ['False', 'ServiceStopped'])
    assert.equal(unready({ look: look(whole(), { http: null }) }), ['False', 'NotServing'])
    // Who watches Events hears of it, be it that the next look finds it well again.
    const silent = verdictOf({ look: look(whole(), { http: null }) })
    assert.ok(silent.state === 'unready' && silent.warns)
    assert.equal(unready({ releases: [] }), ['False', 'Empty'])
    // It serves all the same.
    assert.equal(unready({ look: look(whole({ restartedAt: [AT] })) }), ['ready'])
  })

  t('names the service, its exit code, the tries and what it said last', () => {
    const episode: Episode = anEpisode({
      attempts: 2,
      attemptedAt: at(-1),
      log: 'starting\nno such file: /etc/app.conf',
    })
    const world = settled({ look: look(whole({ state: 'exited', code: 2 })), episode })
    const plan = planApp(anApp(), world, NOW)
    const message = plan.verdict.state === 'unready' ? plan.verdict.message : ''
    assert.match(message, /^release 1: web is exited, exit code 2; tried to put it right 2 of 8 times/)
    assert.match(message, /no such file: \/etc\/app\.conf$/)
    const { type, reason } = plan.conditions?.[0] ?? {}
    assert.equal([type, reason], ['Unhealthy', 'ServiceStopped'])
    const { health } = viewApp(anApp(), world, plan)
    assert.equal(
      [health.state, health.code, health.service, health.exit_code],
      ['unhealthy', 'SERVICE_STOPPED', 'web', 137],
    )
    assert.is(viewApp(anApp(), settled({}), plan).health.state, 'healthy')
  })
})

spec('a release that is watched', (t) => {
  const watch = { until: at(60_000), before: 1 }
  const bad = (change: Partial<ContainerSeen>) =>
    look([container('web', { project: 'shop-r2', name: 'web-r2', ...change })], { address: '127.0.0.1:30002' })
  const world = (change: Partial<AppWorld> = {}): AppWorld => {
    const old = release(1, { state: 'superseded', supersededAt: AT })
    const live = release(2)
    const operations = [2, 1].map((n) => anOperation({ n, state: 'succeeded', release: n, endedAt: AT, switchAt: AT }))
    const releases = [{ ...live, record: { ...live.record, watch } }, old]
    const from = aWorld({ operations, releases, look: bad({}), before: look(whole()) })
    const [step] = planApp(anApp(), from, NOW).steps
    return { ...(step ? stepped(from, step, GOOD) : from), ...change }
  }
  const stepOf = (change: Partial<AppWorld>, now = NOW) => planApp(anApp(), world(change), now).steps[0]?.do

  for (const [what, change] of [
    ['ends', { state: 'exited', code: 3 }],
    ['runs out of memory', { state: 'exited', code: 137, isOutOfMemory: true }],
    ['is restarted', { restartedAt: [AT] }],
    ['is unhealthy', { health: 'unhealthy' }],
  ] as [string, Partial<ContainerSeen>][]) {
    t(`is left for the one before when it ${what}`, () => {
      assert.is(stepOf({ look: bad(change) }), 'returnTo')
      const object = anApp()
      let now = world({ look: bad(change) })
      const done: string[] = []
      for (let round = 0; round < 10; round++) {
        const [step] = planApp(object, now, new Date(NOW.getTime() + 2_000)).steps
        if (!step) break
        done.push(step.do)
        now = stepped(now, step, GOOD)
      }
      assert.equal(done, ['returnTo', 'setRoute', 'takeDown', 'retire'], 'the route goes before what was bad does')
      assert.equal(
        now.releases.map(({ number, state }) => [number, state]),
        [
          [2, 'failed'],
          [1, 'live'],
        ],
      )
      assert.equal([now.route?.address, now.operations[0]?.state], ['127.0.0.1:30001', 'failed'])
    })
  }

  t('is left when it answers faults for a while, and not for a slow moment', () => {
    const faulty = (since: number) => ({ ...bad({}), http: 500, badSince: at(since) })
    assert.is(stepOf({ look: faulty(-BAD_MS) }), 'returnTo')
    assert.is(stepOf({ look: faulty(-1_000) }), undefined)
  })

  t('keeps the one before for as long as it is watched, and no longer', () => {
    assert.is(stepOf({}, new Date(NOW.getTime() + 59_000)), undefined)
    const after = new Date(NOW.getTime() + 61_000)
    assert.is(stepOf({ look: { ...bad({}), at: after.toISOString() } }, after), 'takeDown')
    const ended = { ...bad({ state: 'exited', code: 3 }), at: after.toISOString() }
    assert.is(stepOf({ look: ended }, after), 'noteUnhealthy')
  })

  t('is not left for one that does not serve any better, and what the host did says nothing of it', () => {
    const ended = bad({ state: 'exited', code: 3 })
    assert.is(stepOf({ look: ended, before: null }), 'noteUnhealthy')
    assert.is(stepOf({ look: ended, before: look(whole(), { http: null }) }), 'noteUnhealthy')
    assert.is(stepOf({ look: { ...bad({}), hasRoute: false } }), 'setRoute')
  })

  t('lets the one before go when another release is made: three are more than an app may have', () => {
    const running = anOperation({ n: 3, state: 'running', release: 3, startedAt: AT })
    const { releases } = world()
    const made = aRelease(3, { state: 'building', liveAt: null, address: null })
    const steps = running.steps.map((step) => ({
      ...step,
      state: step.name === 'images' ? ('running' as const) : step.state,
    }))
    const change = {
      operations: [{ ...running, steps }],
      releases: [made, ...releases],
      job: { state: 'running' } as const,
    }
    assert.is(stepOf(change, new Date(NOW.getTime() + 2_000)), 'takeDown')
  })
})
