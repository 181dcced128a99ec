import fc from 'fast-check'
import { printProject } from '../../../crds/app/compose/printing/print.ts'
import { printRun } from '../../../crds/app/compose/printing/printrun.ts'
import type { ComposeService, Project } from '../../../crds/app/compose/project.ts'
import { faultsOf } from '../../../crds/app/faults.ts'
import { planApp } from '../../../crds/app/plan.ts'
import { runEnding } from '../../../crds/app/runs/ending.ts'
import { type AppRun, dueRunId, NO_RUNS, RUNS_AT_ONCE, runJobOf, runNameOf } from '../../../crds/app/runs/run.ts'
import type { AppSchedule } from '../../../crds/app/runs/schema.ts'
import { viewRun } from '../../../crds/app/runs/view.ts'
import { EXIT } from '../../../crds/app/start.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import { viewApp, viewOperation } from '../../../crds/app/view.ts'
import type { AppWorld, JobState } from '../../../crds/app/world.ts'
import { anApp, anOperation, aRelease, aWorld, NOW } from '../../support/builders/app/app.ts'
import { aRun, ranWith, runStepped } from '../../support/builders/app/runs.ts'
import { GOOD, stepped } from '../../support/builders/app/stepped.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type App = ReturnType<typeof anApp>
type Fate = (run: AppRun) => JobState
const COMMAND = { service: 'web', command: ['migrate'], timeoutSeconds: 60, repeatable: false }
const LOST: JobState = { state: 'exited', code: EXIT.commandLost, log: '', cancelled: false }
const later = (ms: number) => new Date(NOW.getTime() + ms)

const isOfRun = (step: AppStep): step is Parameters<typeof runStepped>[1] =>
  /^(ask|begin|start|follow|end|cancel|drop)Run$|^markSchedules$|^wakeAt$/.test(step.do)

const after = (world: AppWorld, step: AppStep, fate?: Fate): AppWorld =>
  isOfRun(step) ? runStepped(world, step, fate) : stepped(world, step, GOOD)

/** Plans and steps until nothing is to be done. */
const run = (object: App, from: AppWorld, fate: Fate = () => ranWith(0), now = NOW) => {
  let world = from
  const done: string[] = []
  for (let round = 0; round < 60; round++) {
    const plan = planApp(object, world, now)
    if (plan.steps.length === 0) return { world, done, plan }
    for (const step of plan.steps) {
      done.push(step.do)
      world = after(world, step, fate)
    }
  }
  throw new Error(`no end: ${done.join(' ')}`)
}

const live = (change: Partial<AppWorld> = {}): AppWorld =>
  aWorld({
    operations: [
      anOperation({ state: 'succeeded', release: 1, endedAt: NOW.toISOString(), switchAt: NOW.toISOString() }),
    ],
    releases: [aRelease(1)],
    ...change,
  })
const withRuns = (...runs: AppRun[]): AppWorld => live({ runs: { ...NO_RUNS, jobs: {}, runs } })
const deploying = (commands: object) => ({
  object: anApp({ commands, source: { digest: 'a'.repeat(64) }, asked: 1 } as Parameters<typeof anApp>[0]),
  world: aWorld({ operations: [anOperation()] }),
})
const states = ({ runs: { runs } }: AppWorld) => runs.map(({ cause, attempt, state }) => `${cause} ${attempt} ${state}`)

spec('commands before and after a release', (t) => {
  t('come in their places: before anything is started, and once visitors are there', () => {
    const { object, world } = deploying({ preRelease: COMMAND, postRelease: COMMAND })
    const ended = run(object, world)
    const order = ended.done.filter((step) => /startRun|startJob|goLive|takeImages/.test(step))
    assert.equal(order, ['startJob', 'takeImages', 'startRun', 'startJob', 'goLive', 'startRun'])
    assert.equal(states(ended.world), ['pre_release 1 succeeded', 'post_release 1 succeeded'])
    assert.is(ended.world.operations[0]?.state, 'succeeded')
    assert.ok(ended.world.runs.runs.every(({ droppedAt }) => droppedAt !== null))
  })

  t('without a declaration the steps are those that there always were', () => {
    const { object, world } = deploying({})
    const ended = run(object, world)
    assert.equal(
      ended.world.operations[0]?.steps.map(({ name }) => name),
      ['check', 'upload', 'images', 'start', 'switch'],
    )
    assert.equal(ended.world.runs.runs, [])
  })

  t('one before the release that fails ends it: nothing is started, nothing switched', () => {
    const { object, world } = deploying({ preRelease: COMMAND })
    const ended = run(object, world, () => ranWith(3))
    const [operation] = ended.world.operations
    assert.equal([operation?.state, operation?.code], ['failed', 'COMMAND_FAILED'])
    assert.match(operation?.message ?? '', /"migrate" in web ended with exit code 3: the last line/)
    assert.ok(!ended.done.includes('goLive'))
    assert.equal(
      viewOperation(operation as NonNullable<typeof operation>)
        .steps.slice(3)
        .map(({ name, state }) => `${name} ${state}`),
      ['pre_release failed', 'start skipped', 'switch skipped'],
    )
  })

  t('one whose end nobody knows is told and not repeated, unless it may run twice', () => {
    const once = deploying({ preRelease: COMMAND })
    const told = run(once.object, once.world, () => LOST)
    assert.equal(states(told.world), ['pre_release 1 unknown'])
    assert.is(told.world.operations[0]?.code, 'COMMAND_UNKNOWN')
    const twice = deploying({ preRelease: { ...COMMAND, repeatable: true } })
    const again = run(twice.object, twice.world, ({ attempt }) => (attempt < 3 ? LOST : ranWith(0)))
    assert.equal(states(again.world), ['pre_release 1 unknown', 'pre_release 2 unknown', 'pre_release 3 succeeded'])
    assert.is(again.world.operations[0]?.state, 'succeeded')
    const never = run(twice.object, twice.world, () => LOST)
    assert.is(never.world.runs.runs.length, 3)
    assert.is(never.world.operations[0]?.state, 'failed')
  })

  t('one after the release that fails is a condition of the release that is live, and of no other', () => {
    const { object, world } = deploying({ postRelease: COMMAND })
    const ended = run(object, world, () => ranWith(4))
    assert.is(ended.plan.verdict.state, 'ready')
    assert.equal(
      ended.plan.conditions?.map(({ type }) => type),
      ['PostReleaseFailed'],
    )
    assert.is(ended.world.operations[0]?.state, 'succeeded')
    const [operation] = ended.world.operations
    const shown = viewOperation({ ...(operation as NonNullable<typeof operation>), runs: ended.world.runs.runs })
    assert.equal([shown.steps.at(-1)?.name, shown.steps.at(-1)?.state], ['post_release', 'failed'])
    const next = {
      operations: [anOperation({ id: 'op-2', n: 2, state: 'succeeded', release: 2 })],
      releases: [aRelease(2)],
    }
    assert.equal(planApp(object, { ...live({ runs: ended.world.runs }), ...next }, NOW).conditions, [])
  })

  t('a rollback runs neither; a change of the env runs both', () => {
    const object = anApp({ commands: { preRelease: COMMAND, postRelease: COMMAND }, asked: 2 })
    const begunBy = (intent: Parameters<typeof anOperation>[0]) => {
      const world = live()
      world.operations.push(anOperation({ id: 'op-2', n: 2, ...intent }))
      return planApp(object, world, NOW).steps.find((step) => step.do === 'begin')
    }
    const back = begunBy({ intent: { kind: 'rollback', release: 1, env: 'release' } })
    assert.ok(back?.do === 'begin' && !back.commands)
    const env = begunBy({ intent: { kind: 'env', envVersion: 2 } })
    assert.ok(env?.do === 'begin' && env.commands?.preRelease && env.commands.postRelease)
  })

  t('is stopped with its operation', () => {
    const { object, world } = deploying({ preRelease: COMMAND })
    let at = world
    const running: Fate = () => ({ state: 'running' })
    while (!at.runs.runs.some(({ id }) => at.runs.jobs[id]?.state === 'running')) {
      const [step] = planApp(object, at, NOW).steps as [AppStep]
      at = after(at, step, running)
    }
    const asked = { ...at, operations: at.operations.map((one) => ({ ...one, cancelAt: NOW.toISOString() })) }
    const ended = run(object, asked)
    assert.equal(states(ended.world), ['pre_release 1 cancelled'])
    assert.is(ended.world.operations[0]?.state, 'cancelled')
  })
})

spec('a run', (t) => {
  t('goes its way from being asked for to being cleaned away, whenever whoever works on it is killed', () => {
    const deaths = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 })
    fc.assert(
      fc.property(deaths, (taken) => {
        let world = withRuns(aRun())
        const starts: AppStep[] = []
        for (const count of [...taken, ...Array<number>(12).fill(9)]) {
          const steps = planApp(anApp(), world, NOW).steps.slice(0, count)
          starts.push(...steps.filter((step) => step.do === 'startRun'))
          world = steps.reduce((at, step) => after(at, step), world)
        }
        const [ended] = world.runs.runs
        assert.equal([ended?.state, ended?.exitCode, ended?.release], ['succeeded', 0, 1])
        assert.ok(ended?.droppedAt !== null)
        assert.is(starts.length, 1, 'its job is started once')
      }),
    )
  })

  t('at most so many run at once, in the order of asking; commands of a release come on top', () => {
    const asked = Array.from({ length: 6 }, (_, n) => aRun({ id: `op-${n}` }))
    const own = aRun({ id: 'op-1-pre-1', cause: 'post_release', operation: 'op-x', release: 1 })
    const begun = planApp(anApp(), withRuns(...asked, own), NOW).steps.filter(({ do: what }) => what === 'beginRun')
    assert.equal(
      begun.map((step) => step.do === 'beginRun' && step.run.id),
      ['op-1-pre-1', 'op-0', 'op-1', 'op-2'],
    )
    assert.is(RUNS_AT_ONCE, 3)
  })

  t('keeps its release from being taken down while it goes', () => {
    const old = aRelease(1, { state: 'superseded', supersededAt: NOW.toISOString() })
    const world = live({
      releases: [aRelease(2), old],
      runs: {
        ...NO_RUNS,
        jobs: {},
        runs: [aRun({ state: 'running', release: 1, fetchedAt: later(120_000).toISOString() })],
      },
    })
    const down = (given: AppWorld) =>
      planApp(anApp(), given, later(120_000)).steps.some((step) => step.do === 'takeDown')
    assert.not(down(world))
    assert.ok(down({ ...world, runs: { ...NO_RUNS, jobs: {} } }))
  })

  t('is refused with why nothing is done for the app', () => {
    const world = { ...withRuns(aRun()), account: { name: 'demo', capabilities: [] } }
    const [step] = planApp(anApp(), world, NOW).steps
    assert.ok(step?.do === 'endRun' && step.state === 'failed' && step.code === 'CAPABILITY_REQUIRED')
  })

  const endings: [
    said: string,
    job: Partial<Extract<JobState, { state: 'exited' }>>,
    expected: (string | number | null)[],
  ][] = [
    ['ended well', { log: 'bottega: code 0 false\n' }, ['succeeded', 0, null]],
    ['ended with exit code 7', { log: 'bottega: code 7 false\n' }, ['failed', 7, 'COMMAND_FAILED']],
    ['was ended by signal 9', { log: 'bottega: code 137 false\n' }, ['failed', 137, 'COMMAND_FAILED']],
    ['ran out of memory', { log: 'bottega: code 137 true\n' }, ['failed', 137, 'COMMAND_FAILED']],
    ['took longer than 60 s', { code: EXIT.commandLate }, ['failed', null, 'COMMAND_TIMEOUT']],
    ['nobody knows how', { code: EXIT.commandLost }, ['unknown', null, 'COMMAND_UNKNOWN']],
    ['nobody knows how', { code: 137 }, ['unknown', null, 'COMMAND_UNKNOWN']],
    ['nobody knows how', { log: 'no word of it' }, ['unknown', null, 'COMMAND_UNKNOWN']],
    ['was stopped because somebody asked', { code: 137, cancelled: true }, ['cancelled', null, null]],
    [
      'could not be started: no such file',
      { code: EXIT.commandUnstarted, log: '\nbottega: reason no such file\n' },
      ['failed', null, 'COMMAND_FAILED'],
    ],
    [
      'db is unhealthy',
      { code: EXIT.baseFailed, log: '\nbottega: reason db is unhealthy\n' },
      ['failed', null, 'RELEASE_FAILED'],
    ],
  ]
  for (const [said, job, expected] of endings)
    t(`whose job says ${JSON.stringify(job)} ${said}`, () => {
      const { state, exitCode, code, message } = runEnding(
        aRun(),
        { state: 'exited', code: 0, log: '', cancelled: false, ...job },
        '',
      )
      assert.equal([state, exitCode, code], expected)
      assert.match(message, said)
    })

  t('has names that no other project of a host has, and that hold on it', () => {
    assert.match(runNameOf('shop', { id: 'op-1' }), /^shop-run-[0-9a-f]{12}$/)
    assert.ok(runJobOf({ id: `op-${'a'.repeat(32)}-post-3` }).length <= 63)
    for (const slug of ['shop-run-0123456789ab', 'shop']) assert.equal(faultsOf(anApp({ slug }).spec), [])
    assert.not.match(runNameOf('shop', { id: 'op-1' }), /-(base|build|r\d+)$/)
  })
})

const service = (name: string, change: Partial<ComposeService> = {}): ComposeService => ({
  ...{ name, stateful: false, oneShot: false, image: `sha256:${name}`, build: null, environment: { A: '1', B: '$2' } },
  ...{ dependsOn: {}, health: null, mounts: [], networks: { default: [] }, ports: [8080], restart: 'always' },
  ...{ limits: { cpuMillis: 500, memoryBytes: 1_000_000, pids: 100 }, init: true, readOnly: false, kept: {} },
  ...change,
})
const PROJECT: Project = {
  slug: 'shop',
  diskGib: 2,
  services: [
    service('web', { tty: true, mounts: [{ type: 'bind', source: 'conf', target: '/conf', digest: 'd' }] }),
    service('db', { stateful: true, mounts: [{ type: 'volume', source: 'data', target: '/data', readOnly: false }] }),
  ],
  networks: [{ name: 'default', internal: false }],
  volumes: ['data'],
  route: { service: 'web', port: 8080 },
  env: { used: [], missing: [] },
}
const GIVEN = {
  service: 'web',
  command: ['echo', '$HOME'],
  name: 'shop-run-1',
  id: 'op-1',
  release: 4,
  origin: 'uid',
  env: { B: 'x$y' },
  isBefore: false,
}

spec('the container of a run', (t) => {
  const printed = (change: Partial<typeof GIVEN> = {}) => {
    const one = printRun(PROJECT, { ...GIVEN, ...change })
    return { ...one, document: JSON.parse(one?.text ?? 'null') }
  }

  t('has what its service has, and neither its ports, nor its aliases, nor a way to be started again', () => {
    const { document, owner, project } = printed()
    const one = document.services['shop-run-1']
    const { release } = printProject(PROJECT, 4, 'uid')
    const served = JSON.parse(release?.text ?? '').services['web-r4']
    for (const key of [
      'image',
      'cap_drop',
      'security_opt',
      'cpus',
      'mem_limit',
      'memswap_limit',
      'pids_limit',
      'volumes',
      'init',
    ])
      assert.equal(one[key], served[key], key)
    assert.equal([one.ports, one.depends_on, one.tty, one.restart], [undefined, undefined, undefined, 'no'])
    assert.equal(one.environment, { A: '1', B: 'x$$y' })
    assert.equal(one.command, ['echo', '$$HOME'])
    assert.equal([owner, project, one.logging], ['release', 'shop-run-1', { driver: 'none' }])
    assert.equal(one.networks, { default: {}, _base_default: {} })
    assert.equal(document.networks, {
      default: { external: true, name: 'shop-r4_default' },
      _base_default: { external: true, name: 'shop-base_default' },
    })
  })

  t('before its release it is of that project, whose networks it makes as the release will find them', () => {
    const { document, project } = printed({ isBefore: true })
    const { release } = printProject(PROJECT, 4, 'uid')
    assert.is(project, 'shop-r4')
    assert.equal(document.networks, JSON.parse(release?.text ?? '').networks)
  })

  t('of a service that keeps something it has the volumes of the app', () => {
    const { document, owner } = printed({ service: 'db' })
    assert.is(owner, 'base')
    assert.equal(document.volumes, { data: { external: true, name: 'shop-base_data' } })
    assert.equal(document.networks, { default: { external: true, name: 'shop-base_default' } })
  })

  t('there is none of a service that is not there', () =>
    assert.is(printRun(PROJECT, { ...GIVEN, service: 'no' }), null),
  )
})

spec('a schedule', (t) => {
  const hourly: AppSchedule = {
    ...{
      name: 'hourly',
      service: 'web',
      command: ['tick'],
      schedule: '0 * * * *',
      timeZone: 'UTC',
      timeoutSeconds: 60,
    },
    ...{ overlap: 'skip', startingDeadlineSeconds: 300, suspended: false },
  }
  const object = (...schedules: Partial<AppSchedule>[]) =>
    anApp({ schedules: schedules.map((one) => ({ ...hourly, ...one })) })
  const marked = (app: App) => run(app, live()).world
  const at = (app: App, from: AppWorld, now: Date, fate?: Fate) => run(app, from, fate, now)
  const due = ({ runs: { runs } }: AppWorld) =>
    runs.map(({ dueAt, state, code }) => `${dueAt?.slice(11, 16)} ${code ?? state}`)
  /** 10:00 is when it is first seen. */
  const minutes = (count: number) => later(count * 60_000)

  t('runs at each of its instants once, from when it was there on, and wakes the app for the next', () => {
    const app = object({})
    const first = run(app, live())
    assert.equal(first.done.slice(-2), ['markSchedules', 'wakeAt'])
    assert.is(first.world.runs.wakesAt, '2026-11-22T11:00:00.000Z')
    const one = at(app, first.world, minutes(60))
    assert.equal(due(one.world), ['11:00 succeeded'])
    assert.equal(due(at(app, one.world, minutes(61)).world), ['11:00 succeeded'])
    assert.equal(due(at(app, one.world, minutes(121)).world), ['11:00 succeeded', '12:00 succeeded'])
    assert.is(one.world.runs.wakesAt, '2026-11-22T12:00:00.000Z')
    assert.is(
      one.world.runs.runs[0]?.id,
      dueRunId('11111111-2222-3333-4444-555555555555', 'hourly', '2026-11-22T11:00:00.000Z'),
    )
  })

  t('of what was missed only the last is run, if it is not too late', () => {
    const world = marked(object({}))
    assert.equal(due(at(object({}), world, minutes(304)).world), ['15:00 succeeded'])
    assert.equal(due(at(object({}), world, minutes(306)).world), ['15:00 MISSED'])
    const late = object({ startingDeadlineSeconds: 3_000 })
    assert.equal(due(at(late, world, minutes(306)).world), ['15:00 succeeded'])
  })

  t('leaves out what would run beside itself, unless that is allowed', () => {
    const world = marked(object({}))
    const running: Fate = () => ({ state: 'running' })
    const first = at(object({}), world, minutes(60), running).world
    assert.equal(due(at(object({}), first, minutes(120), running).world), ['11:00 running', '12:00 OVERLAP'])
    const both = at(object({ overlap: 'allow' }), first, minutes(120), running).world
    assert.equal(due(both), ['11:00 running', '12:00 running'])
  })

  t('begins anew when it is changed, rests when it is told to, and runs nothing where nothing is live', () => {
    const world = marked(object({}))
    assert.equal(due(at(object({ schedule: '30 * * * *' }), world, minutes(61)).world), [])
    const resting = at(object({ suspended: true }), world, minutes(61))
    assert.equal([due(resting.world), resting.world.runs.wakesAt], [[], null])
    assert.equal(due(at(object({}), { ...world, operations: [], releases: [] }, minutes(60)).world), [
      '11:00 NOT_RELEASED',
    ])
    assert.equal(at(anApp(), world, minutes(60)).world.runs.marks, [])
    const unsure = { ...world, runs: { ...world.runs, isClockTrusted: false } }
    assert.equal(due(at(object({}), unsure, minutes(60)).world), [], 'by a clock that may not be believed')
  })

  t('is shown as an operation that never ran where it was left out', () => {
    const world = marked(object({}))
    const [missed] = at(object({}), world, minutes(306)).world.runs.runs
    const view = viewRun(missed as AppRun)
    assert.equal([view.state, view.result?.code, view.started_at], ['cancelled', 'MISSED', null])
  })

  const wrong: [pointer: string, change: Partial<AppSchedule>][] = [
    ['/schedules/0/schedule', { schedule: '0 25 * * *' }],
    ['/schedules/0/timeZone', { timeZone: 'Mars/Base' }],
    ['/schedules/0/command/0', { command: [''] }],
    ['/schedules/0/command', { command: ['x'.repeat(40_000)] }],
  ]
  for (const [pointer, change] of wrong)
    t(`with a fault at ${pointer} is refused there`, () => {
      assert.equal(
        faultsOf(object(change).spec).map((fault) => fault.pointer),
        [pointer],
      )
      assert.is(planApp(object(change), live(), NOW).verdict.state, 'stalled')
    })

  t('has a name of its own', () => {
    assert.equal(
      faultsOf(object({}, {}).spec).map(({ pointer }) => pointer),
      ['/schedules/1/name'],
    )
  })

  t('is shown with the app in the words of REST', () => {
    const app = object({})
    const view = viewApp(app, live(), planApp(app, live(), NOW))
    assert.equal([view.schedules[0]?.time_zone, view.schedules[0]?.starting_deadline_seconds], ['UTC', 300])
    assert.equal(view.commands, { pre_release: null, post_release: null })
  })
})
