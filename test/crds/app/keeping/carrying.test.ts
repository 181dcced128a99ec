import {
  CARRY_MAX_BYTES,
  type Carry,
  carries,
  carrySeconds,
  keptVolumes,
  packsIn,
  planCarry,
} from '../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import { isStartedThere, NOBODY } from '../../../../crds/app/lifecycle/keeping/moving/carrying.ts'
import { takesVolumes } from '../../../../crds/app/lifecycle/keeping/moving/leave.ts'
import { CERTIFICATE_LIMIT_MS } from '../../../../crds/app/lifecycle/keeping/moving/move.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import type { AppIntent, AppWorld, JobState, Moving, Operation, TargetHost } from '../../../../crds/app/world.ts'
import { AT, aLook, anApp, anOperation, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { aBackup } from '../../../support/builders/app/backups.ts'
import { aCarry, HELD } from '../../../support/builders/app/carried.ts'
import { aRun } from '../../../support/builders/app/runs.ts'
import { ENDED_WELL, type Fate, GOOD, stepped } from '../../../support/builders/app/stepped.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const local = aWorld().host as TargetHost
const green: TargetHost = { ...local, name: 'green' }
const moving = (change: Partial<Moving> = {}): Moving => ({
  ...{ target: green, address: '192.0.2.2', unreachable: null },
  ...{ placed: null, authority: null, isCertified: false, isForwarded: false, carry: aCarry() },
  ...change,
})
const intent: AppIntent = { kind: 'move', host: 'green', forwardSeconds: 60, downtime: true }
const asked = anOperation({ id: 'op-m', n: 2, intent, byController: true })
const record = { ...aRelease(1).record, host: 'local', volumes: ['data'], stateful: ['db'] }
const deployed = anOperation({ id: 'op-1', n: 1, state: 'succeeded', release: 1, endedAt: AT, switchAt: AT })
const world = (change: Partial<AppWorld> = {}): AppWorld =>
  aWorld({
    ...{ operations: [deployed, asked], releases: [aRelease(1, { record })], look: aLook(), moving: moving() },
    ...{ wanted: 'green', ...change },
  })
const app = anApp()
/** Whatever drained has been. */
const LATE = new Date(NOW.getTime() + 3_600_000)
const EXITED = (code: number, log = ''): JobState => ({ state: 'exited', code, log, cancelled: false })

/** Takes the first step, until nothing is to be done, or one of that name would be. */
const run = (from: AppWorld, { fate = GOOD, until }: { fate?: Fate; until?: AppStep['do'] } = {}) => {
  let now = from
  const done: AppStep['do'][] = []
  for (let round = 0; round < 80; round++) {
    const { steps, verdict } = planApp(app, now, NOW)
    const [step] = steps
    if (!step || step.do === until) return { world: now, done, verdict }
    done.push(step.do)
    now = stepped(now, step, fate)
  }
  throw new Error(`no end: ${done.join(' ')}`)
}
const withCarry = (from: AppWorld, change: Partial<Carry>): AppWorld => {
  const { moving: known } = from
  return { ...from, moving: known && { ...known, carry: { ...aCarry(), ...known.carry, ...change } } }
}
/** Beside the route of what is live, of which this world does not know that it is set. */
const namesAt = (from: AppWorld, now = NOW) =>
  planApp(app, from, now).steps.flatMap((step) => (step.do === 'setRoute' ? [] : [step.do]))
const lastOf = ({ operations }: AppWorld) => operations.at(-1)
const lives = ({ releases }: AppWorld) => releases.filter(({ state }) => state === 'live').map(({ number }) => number)

spec('the plan of a move that carries what the app keeps', (t) => {
  t('has its name certified before anything stops, and stops it before anything is copied', () => {
    const { done, world: after } = run(world())
    const before = ['takePlace', 'begin', 'check', 'upload', 'startJob', 'takeImages']
    const carrying = [
      'placeRoute',
      'holdVolumes',
      'carryVolumes',
      'placeVolumes',
      'passVolumes',
      'startJob',
      'takeAddress',
    ]
    const switching = ['placeRoute', 'claimSwitch', 'leaveHold', 'keepThere', 'setRoute', 'forward', 'goLive']
    assert.equal(done.slice(0, 20), [...before, ...carrying, ...switching])
    assert.equal([lastOf(after)?.state, lives(after), after.home], ['succeeded', [2], 'green'])
  })

  t('keeps nothing still that keeps nothing', () => {
    const plain = { ...aRelease(1).record, host: 'local' }
    const { done } = run(world({ releases: [aRelease(1, { record: plain })] }))
    assert.not(done.includes('holdVolumes'))
  })

  t('comes to the same end when whoever is at it is killed after any step, and another one looks anew', () => {
    const { done } = run(world())
    for (const [killedAfter, last] of done.entries()) {
      let now = world()
      for (let taken = 0; taken <= killedAfter; taken++)
        now = stepped(now, planApp(app, now, NOW).steps[0] as AppStep, GOOD)
      assert.is(lives(now).length, 1, last)
      // What was done in that pass alone is not known any more; what the hosts say is.
      const carry = now.moving?.carry && { ...now.moving.carry, isKept: false, undone: null }
      const { world: after } = run({ ...now, moving: now.moving && moving({ carry: carry ?? aCarry() }) })
      assert.equal([lastOf(after)?.state, lives(after), after.home], ['succeeded', [2], 'green'], last)
    }
  })

  const ends: [string, AppStep['do'], Partial<Carry>, string][] = [
    ['there is no room', 'carryVolumes', { hold: EXITED(45, '\nbottega: reason 9 MiB are free\n') }, 'HOST_FULL'],
    ['a volume is too large', 'carryVolumes', { hold: EXITED(42) }, 'VOLUMES_STAY'],
    ['the disk of the other host is full', 'carryVolumes', { isFull: true }, 'HOST_FULL'],
    ['nothing could be packed', 'carryVolumes', { hold: EXITED(43) }, 'VOLUMES_NOT_MOVED'],
    ['its host was restarted', 'carryVolumes', { watch: EXITED(137), hold: EXITED(137) }, 'VOLUMES_NOT_MOVED'],
    ['nothing watches any more', 'startJob', { watch: EXITED(137) }, 'VOLUMES_NOT_MOVED'],
    ['what came over differs', 'passVolumes', { place: EXITED(44) }, 'VOLUMES_NOT_MOVED'],
    ['its host has started it again', 'startJob', { fate: 'back', watch: ENDED_WELL }, 'MOVE_TOO_LATE'],
    ['its host has started it again', 'claimSwitch', { fate: 'back', watch: ENDED_WELL }, 'MOVE_TOO_LATE'],
    ['its host has started it again', 'leaveHold', { fate: 'back', watch: ENDED_WELL }, 'MOVE_TOO_LATE'],
  ]
  for (const [what, at, seen, code] of ends) {
    t(`ends with the old ones running, and the new ones not, when ${what}, before ${at}`, () => {
      // Images are a job too, that is begun before anything stops.
      const held = at === 'startJob' ? run(world(), { until: 'passVolumes' }).world : run(world(), { until: at }).world
      const from = at === 'startJob' ? stepped(held, planApp(app, held, NOW).steps[0] as AppStep, GOOD) : held
      const { done, world: after } = run(withCarry(from, seen))
      assert.equal(done.slice(0, 2), ['undoMove', 'end'])
      assert.equal(
        [lastOf(after)?.state, lastOf(after)?.code, lives(after), after.home],
        ['failed', code, [1], 'local'],
      )
    })
  }

  t('undoes what was begun when the new ones do not come up, or somebody stops it', () => {
    const bad = { ...GOOD, start: EXITED(32) }
    const { done, world: after } = run(world(), { fate: bad })
    assert.equal(
      done.filter((one) => one === 'undoMove' || one === 'end'),
      ['undoMove', 'end'],
    )
    assert.equal([lastOf(after)?.state, lives(after)], ['failed', [1]])
    const { world: held } = run(world(), { until: 'takeAddress' })
    const stopped = held.operations.map((one) => (one.id === 'op-m' ? { ...one, cancelAt: AT } : one))
    const { done: undone, world: ended } = run({ ...held, operations: stopped })
    assert.equal(undone.slice(0, 2), ['undoMove', 'end'])
    assert.is(lastOf(ended)?.state, 'cancelled')
  })

  t('has nothing to undo before anything was told to the host that it leaves', () => {
    const { world: from } = run(world(), { until: 'holdVolumes' })
    const stopped = from.operations.map((one) => (one.id === 'op-m' ? { ...one, cancelAt: AT } : one))
    assert.is(run({ ...from, operations: stopped }).done[0], 'end')
  })

  t('waits while the host that it leaves is away, and begins nothing there', () => {
    for (const until of ['carryVolumes', 'startJob', 'claimSwitch', 'leaveHold'] as const) {
      const { world: from } = run(world(), { until: until === 'startJob' ? 'passVolumes' : until })
      const { steps, verdict } = planApp(app, withCarry(from, { unreachable: 'local is away' }), NOW)
      assert.equal([steps.map((step) => step.do), verdict.state], [[], 'waiting'], until)
    }
  })

  t('ends once its host has started it again, be the other one away, or gone', () => {
    for (const until of ['carryVolumes', 'startJob', 'claimSwitch', 'leaveHold'] as const) {
      const { world: from } = run(world(), { until: until === 'startJob' ? 'passVolumes' : until })
      const back = withCarry(from, { fate: 'back', watch: ENDED_WELL })
      for (const there of [{ unreachable: 'green is away' }, { target: null }]) {
        const seen = { ...back, moving: back.moving && { ...back.moving, ...there } }
        assert.equal(namesAt(seen), ['undoMove'], `${until} ${JSON.stringify(there)}`)
      }
    }
    const silent = withCarry(run(world(), { until: 'carryVolumes' }).world, { watch: EXITED(137), hold: EXITED(137) })
    assert.equal(namesAt({ ...silent, moving: silent.moving && { ...silent.moving, unreachable: 'away' } }), [
      'undoMove',
    ])
  })

  t('has nothing to wait for on the other host before it was begun to be started there', () => {
    const at = (until: AppStep['do']) => lastOf(run(world(), { until }).world) as Operation
    assert.equal(
      ['carryVolumes', 'passVolumes', 'takeAddress', 'claimSwitch'].map((step) =>
        isStartedThere(at(step as AppStep['do'])),
      ),
      [false, false, true, true],
    )
  })

  t('is ended with all of its jobs, each where it runs, when the app is deleted meanwhile', () => {
    const gone = anApp({}, { deletionTimestamp: AT })
    const { steps } = planApp(gone, run(world(), { until: 'carryVolumes' }).world, NOW)
    const told = steps.map((step) =>
      step.do === 'cancelJob' ? `${step.job}${step.isHome ? ' at home' : ''}` : step.do,
    )
    assert.equal(told, [
      ...['op-m-images', 'op-m-start', 'op-m-watch at home', 'op-m-back at home', 'op-m-hold at home', 'op-m-place'],
      'end',
    ])
  })

  t('gives up before anything stops where the name gets no certificate there', () => {
    const { world: from } = run(world(), { until: 'placeRoute' })
    const at = { ...from, moving: moving({ placed: NOBODY }) }
    assert.equal(namesAt(at), [])
    const [end] = planApp(app, at, new Date(NOW.getTime() + CERTIFICATE_LIMIT_MS)).steps
    assert.ok(end?.do === 'end' && /no certificate on green/.test(end.message))
  })

  t('tells the proxy who may come in until it stops something, and ends nobody whom the proxy still lets in', () => {
    const LET_IN = { access: 'public' as const, password: null, links: 0, again: [], at: AT }
    const { world: from } = run(world(), { until: 'holdVolumes' })
    const route = from.route ?? { digest: 'before', address: '127.0.0.1:30001' }
    const shut = anApp({ access: 'private', passwordVersion: 1 })
    const at = (change: Partial<AppWorld>) =>
      planApp(shut, { ...from, route: { ...route, letIn: LET_IN }, passwordVersion: 1, ...change }, NOW).steps.map(
        (step) => step.do,
      )
    // What stands against it is waited for, be it for hours.
    assert.equal(at({ moving: moving({ placed: NOBODY }) }), ['setRoute', 'endOpen'])
    assert.equal(at({ runs: { ...from.runs, runs: [aRun({ state: 'running', fetchedAt: AT })] } }), [
      'setRoute',
      'endOpen',
    ])
    assert.equal(at({}), ['holdVolumes'])
    const held = { placed: NOBODY, isCertified: true, carry: aCarry({ ...HELD, hold: { state: 'running' } }) }
    assert.equal(at({ moving: moving(held) }), [])
    assert.equal(at({ moving: moving({ ...held, carry: aCarry({ unreachable: 'it is away' }) }) }), [])
  })

  t(
    'waits for what is run in the app before it stops it, follows that to its end, and has nothing begun beside it',
    () => {
      const { world: from } = run(world(), { until: 'holdVolumes' })
      const running = aRun({ state: 'running', startedAt: AT, fetchedAt: AT, release: 1 })
      const queued = aRun({ id: 'op-next' })
      const at = (change: Partial<AppWorld>) => namesAt({ ...from, ...change })
      const withRuns = (runs: ReturnType<typeof aRun>[], job?: JobState) =>
        at({ runs: { ...from.runs, runs, jobs: job ? { 'op-run': job } : {} } })
      assert.equal(withRuns([running, queued]), [])
      assert.equal(withRuns([running, queued], { state: 'absent' }), ['startRun'])
      assert.equal(withRuns([running, queued], ENDED_WELL), ['followRun'])
      assert.equal(withRuns([{ ...running, cancelAt: AT }, queued], { state: 'running' }), ['cancelRun'])
      assert.equal(withRuns([queued]), ['holdVolumes'])
      const backup = aBackup({ state: 'running', startedAt: AT })
      assert.equal(at({ backups: [backup, aBackup({ id: 'bk-next' })] }), [])
      assert.equal(at({ backups: [backup], backupJobs: { [backup.id]: { keep: { state: 'absent' } } } }), [
        'startBackup',
      ])
      assert.equal(at({ backups: [backup], backupJobs: { [backup.id]: { keep: EXITED(41) } } }), ['endBackup'])
      const { world: held } = run(world(), { until: 'carryVolumes' })
      const runs = {
        ...held.runs,
        runs: [aRun({ state: 'queued' }), { ...running, state: 'failed' as const, endedAt: AT }],
      }
      assert.equal(namesAt({ ...held, runs, backups: [aBackup({ state: 'queued' })] }), ['carryVolumes'])
    },
  )

  t('takes nothing away beside what it has stopped, for that is started again where the move fails', () => {
    const { world: from } = run(world(), { until: 'holdVolumes' })
    const leaving = [{ name: 'web-2', address: null, since: null }]
    const live = from.releases.map((one) =>
      one.state === 'live' ? { ...one, record: { ...one.record, leaving } } : one,
    )
    const over = aRelease(3, { state: 'superseded', address: '127.0.0.1:30003', liveAt: AT, record })
    const at = (change: Partial<AppWorld>) => namesAt({ ...from, releases: [...live, over], ...change }, LATE)
    const runs = { ...from.runs, runs: [aRun({ state: 'running', startedAt: AT, release: 1 })] }
    assert.equal(at({ runs }), ['takeDown', 'dropReplicas'])
    const carry = aCarry({ ...HELD, hold: { state: 'running' } })
    const held = { placed: NOBODY, isCertified: true, carry }
    assert.equal(at({ moving: moving(held) }), [])
    // What is being taken away is waited for.
    assert.equal(at({ retiring: { 3: { state: 'running' } } }), ['dropReplicas'])
  })

  t('is not begun without a word that it may stand still, be it from whoever asks or for good', () => {
    const { downtime: _, ...silent } = intent
    const unasked = { ...asked, intent: silent as AppIntent }
    const { world: after, done } = run(world({ operations: [deployed, unasked] }))
    assert.equal([lastOf(after)?.code, done], ['DOWNTIME_NOT_CONFIRMED', ['end', 'setRoute']].slice(0, 2))
    const allowed = anApp({ handOver: { downtime: 'allow' } })
    assert.is(planApp(allowed, world({ operations: [deployed, unasked] }), NOW).steps[0]?.do, 'takePlace')
  })

  t('is not begun away from a host that cannot be read', () => {
    for (const from of [world({ unreachable: 'it is away' }), world({ host: { ...local, approved: false } })]) {
      assert.is(lastOf(run(from).world)?.code, 'VOLUMES_AWAY')
    }
  })
})

spec('what a move carries', (t) => {
  t('is all that was kept, of releases of before as well, wherever these were made', () => {
    const old = aRelease(1, { state: 'superseded', record: { host: 'local', volumes: ['old', 'data'] } })
    const other = aRelease(2, { state: 'superseded', record: { host: 'green', volumes: ['there'] } })
    const now = aRelease(3, { record: { host: 'local', volumes: ['data'] } })
    assert.equal(keptVolumes([now, other, old]), ['data', 'old', 'there'])
    // It came here with what a release of before had left behind: its own keeps nothing.
    const plain = aRelease(3, { record: { host: 'local', volumes: [] } })
    const here = world({
      releases: [plain, aRelease(2, { state: 'superseded', record: { host: 'red', volumes: ['old'] } })],
    })
    assert.is(lastOf(run(here).world)?.code ?? null, null)
    assert.ok(run(here).done.includes('holdVolumes'))
    const { downtime: _, ...silent } = intent
    const unasked = { ...here, operations: [deployed, { ...asked, intent: silent as AppIntent }] }
    assert.is(lastOf(run(unasked).world)?.code, 'DOWNTIME_NOT_CONFIRMED')
  })

  t(
    'goes from the host that it has left where it was carried, or was only begun to be brought, and stays there else',
    () => {
      const done = (host: string, isCarrying: boolean, state: 'succeeded' | 'failed' = 'succeeded') => {
        const names = isCarrying ? (['images', 'volumes', 'start'] as const) : (['images', 'start'] as const)
        const steps = names.map((name) => ({ name, state, message: null, startedAt: AT, endedAt: AT }))
        return anOperation({ intent: { ...intent, host }, state, endedAt: AT, steps })
      }
      const to = (...all: Parameters<typeof done>[]) => [deployed, ...all.map((one) => done(...one))]
      const cases: [boolean, string, ReturnType<typeof to>][] = [
        [true, 'local', to(['green', true])],
        [false, 'local', to(['green', false])],
        [true, 'green', to(['green', true, 'failed'])],
        [true, 'green', to(['green', false], ['green', true, 'failed'])],
        [true, 'green', to(['green', false], ['local', true])],
        [false, 'green', to(['green', true], ['local', false])],
        [true, 'green', to(['green', true], ['red', true, 'failed'], ['local', true], ['red', false])],
        [false, 'green', to(['green', true], ['red', true, 'failed'])],
        [false, 'local', [deployed]],
      ]
      for (const [isTaken, host, operations] of cases) {
        const said = operations.map((one) => `${one.state} ${one.intent.kind === 'move' && one.intent.host}`).join(', ')
        assert.is(takesVolumes(operations, host), isTaken, `${host}: ${said}`)
      }
    },
  )

  t('is what its job says, whole or not at all', () => {
    const [, log = ''] = ['', (HELD.hold as { log: string }).log]
    assert.equal(packsIn(log), [{ n: 1, name: 'data', bytes: 9, sha256: '1'.repeat(64) }])
    assert.equal(packsIn('\nbottega: held 0\n'), [])
    for (const bad of [
      '',
      log.replace('held 1', 'held 2'),
      log.replace('data', '../x'),
      log.replace(' 9 ', ' nine '),
    ]) {
      assert.is(packsIn(bad), null, bad)
    }
  })

  t('takes longer the more there is, and is given more time than it takes', () => {
    const services = [{ stopGracePeriodMs: 1_000, health: null }] as never
    const [little, much] = [planCarry({ services }, 0), planCarry({ services }, CARRY_MAX_BYTES)]
    assert.ok(much.downtimeSeconds > little.downtimeSeconds && little.downtimeSeconds > 0)
    for (const { downtimeSeconds, maxSeconds } of [little, much]) assert.ok(maxSeconds >= 4 * downtimeSeconds)
    // Whoever measures it himself comes to no less than was planned for so much, and to little more.
    const { anySeconds, gibSeconds } = carrySeconds({ services })
    for (const gib of [1, 2, 8]) {
      const planned = planCarry({ services }, gib * 1024 ** 3).maxSeconds
      const reckoned = anySeconds + gib * gibSeconds
      assert.ok(reckoned >= planned && reckoned - planned < 16 * gib, `${reckoned} for ${planned}`)
    }
    assert.not(carries(asked))
  })
})
