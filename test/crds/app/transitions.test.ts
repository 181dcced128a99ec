import fc from 'fast-check'
import { operationAnswer } from '../../../crds/app/answer.ts'
import type {
  OperationContext,
  OperationDecision,
  OperationEvent,
  OperationEventName,
} from '../../../crds/app/lifecycle/events.ts'
import {
  decide,
  decideAsk,
  ENDED,
  isOpen,
  OPERATION_EVENTS,
  OPERATION_TRANSITIONS,
  QUEUE_MAX,
} from '../../../crds/app/lifecycle/transitions.ts'
import {
  type AppIntent,
  DEPLOY_STEPS,
  OPERATION_STATES,
  type Operation,
  type OperationState,
} from '../../../crds/app/world.ts'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
import { AT, anOperation, aRelease, aWorld } from '../../support/builders/app/app.ts'
import { contextIn, happened } from '../../support/builders/app/happened.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const LATER = '2026-11-22T10:00:05.000Z'
const ending = (on: 'succeeded' | 'failed' | 'cancelled' | 'unknown'): OperationEvent => ({
  on,
  code: on === 'failed' ? 'RELEASE_FAILED' : null,
  message: 'that was it',
  log: 'the last lines',
})
const passing = (
  step: 'check' | 'upload' | 'images' | 'pre_release' | 'volumes' | 'start',
  known = {},
): OperationEvent => ({
  on: 'passed',
  step,
  known,
  message: null,
})
const BEGUN: OperationEvent = { on: 'begun', source: 'a'.repeat(64), envVersion: 3, restoredFrom: null }

/** Everything that can happen to an operation. */
const EVENTS: readonly OperationEvent[] = [
  BEGUN,
  passing('check', { record: { project: 'shop-r2' }, digest: 'd' }),
  passing('upload'),
  passing('images', { record: { arch: 'amd64' }, state: 'starting' }),
  passing('start', { address: '127.0.0.1:40001' }),
  { on: 'claimed' },
  { on: 'switched' },
  { on: 'cancel' },
  ending('succeeded'),
  ending('failed'),
  ending('cancelled'),
  ending('unknown'),
  { on: 'retired' },
  {
    on: 'returned',
    before: aRelease(1, { state: 'superseded', supersededAt: AT }),
    code: 'RELEASE_FAILED',
    message: 'it was bad',
    log: 'the last lines',
  },
  { on: 'scaling' },
  { on: 'grown', address: '127.0.0.1:30001,127.0.0.1:30002', leaving: [], message: '1 more answers' },
  { on: 'scaled', replicas: 2, parts: [] },
  { on: 'left', names: ['web.2-r1'] },
]
const WAY = EVENTS.slice(0, 7)

/** What brings an operation on its way, from where it is. */
const nextOf = ({ state, steps, switchAt }: Operation): OperationEvent => {
  if (state === 'queued') return BEGUN
  const present = steps.find((step) => step.state === 'running')?.name
  if (present === undefined || present === 'switch') return { on: switchAt === null ? 'claimed' : 'switched' }
  return passing(present)
}

/** A queue of an app with a live release, after some events to each of its operations. */
const start = () =>
  aWorld({ operations: [1, 2, 3].map((n) => anOperation({ n, id: `op-a${n}` })), releases: [aRelease(1)] })
type Happening = { n: number; event: OperationEvent }
const after = (happenings: readonly Happening[]) =>
  happenings.reduce((world, { n, event }) => happened(world, { id: `op-a${n}` }, event), start())
/** The first operation of the queue, and what a decision about it rests on, after these events. */
const contextAfter = (...events: OperationEvent[]): OperationContext => {
  const world = after(events.map((event) => ({ n: 1, event })))
  return contextIn(world, world.operations[0] as Operation)
}
/** The same of a scale of the live release. */
const scaleAfter = (...events: OperationEvent[]): OperationContext => {
  const from = aWorld({
    operations: [anOperation({ id: 'op-a1', intent: { kind: 'scale', replicas: 2 } })],
    releases: [aRelease(1)],
  })
  const world = events.reduce((now, event) => happened(now, { id: 'op-a1' }, event), from)
  return contextIn(world, world.operations[0] as Operation)
}
const SCALE_WAY = EVENTS.filter(({ on }) => on === 'scaling' || on === 'grown')
const decideAfter = (event: OperationEvent, ...before: OperationEvent[]): OperationDecision =>
  decide(event, contextAfter(...before), LATER)
const told = (decision: OperationDecision): string =>
  decision.state === 'refused' ? `${decision.refusal.code}: ${decision.refusal.detail}` : decision.state

/** What holds of an app's rows, whatever happened to its operations. */
const faultsIn = (world: ReturnType<typeof aWorld>): string[] => {
  const { operations, releases } = world
  const holds = (rule: string, isTrue: boolean) => (isTrue ? [] : [rule])
  const numbers = releases.map(({ number }) => number)
  return [
    ...holds('one release is live at most', releases.filter(({ state }) => state === 'live').length <= 1),
    ...holds('one operation runs at most', operations.filter(({ state }) => state === 'running').length <= 1),
    ...holds('a number is given once', new Set(numbers).size === numbers.length),
    ...operations.flatMap((operation) => {
      const { endedAt, switchAt, cancelAt, release, state, steps } = operation
      const made = releases.find(({ number }) => number === release)
      const present = steps.filter((step) => step.state === 'running').length
      return [
        ...holds(`${state}: what has ended has an end, and nothing else has`, isOpen(operation) === (endedAt === null)),
        ...holds(`${state}: asked to stop before the switch only`, cancelAt === null || switchAt === null),
        ...holds(`${state}: a step is present while it runs, and only then`, present === (state === 'running' ? 1 : 0)),
        ...holds(`${state}: it has a release once it has begun`, (release !== null) === (made !== undefined)),
        ...holds(
          `${state}: only a switch makes a release live`,
          made === undefined || ((made.liveAt === null || switchAt !== null) && made.operation === operation.id),
        ),
        ...holds(
          `${state}: a success without a switch began nothing`,
          state !== 'succeeded' || (switchAt !== null) === (release !== null),
        ),
      ]
    }),
  ]
}

spec('the table of an operation', (t) => {
  t(
    'whatever happens in whatever order, the rows of an app fit together, and what has ended stays as it ended but for a return',
    () => {
      const event = fc.oneof(
        { weight: 3, arbitrary: fc.constant('next' as const) },
        { weight: 1, arbitrary: fc.constantFrom(...EVENTS) },
      )
      const happenings = fc.array(fc.record({ n: fc.integer({ min: 1, max: 3 }), event }), { maxLength: 60 })
      const counts = new Map<OperationState, number>()
      const property = fc.property(happenings, (list) => {
        let world = start()
        for (const { n, event } of list) {
          const before = world.operations.map((one) => JSON.stringify(one))
          const next = happened(
            world,
            { id: `op-a${n}` },
            event === 'next' ? nextOf(world.operations[n - 1] as Operation) : event,
          )
          assert.equal(
            world.operations.map((one) => JSON.stringify(one)),
            before,
            'it writes on nothing',
          )
          const isReturn = (one: Operation) => event !== 'next' && event.on === 'returned' && one.id === `op-a${n}`
          const ended = world.operations.filter((one) => !isOpen(one) && !isReturn(one))
          for (const one of ended)
            assert.equal(
              next.operations.find(({ id }) => id === one.id),
              one,
            )
          assert.equal(faultsIn(next), [])
          world = next
        }
        for (const { state } of world.operations) counts.set(state, (counts.get(state) ?? 0) + 1)
      })
      fc.assert(property, { numRuns: 2_000 })
      assert.equal([...counts.keys()].sort(), [...OPERATION_STATES].sort(), 'each state was reached')
    },
  )

  t('from every state that is open some event leads to an end, and out of an end only from good to bad', () => {
    const ends = new Set<OperationState>(ENDED)
    for (const state of OPERATION_STATES) {
      const leads = OPERATION_TRANSITIONS.filter(({ from, to }) => from.includes(state) && to !== 'same')
      const ways = leads.map(({ on, to }) => `${on} ${to}`)
      if (ends.has(state)) assert.equal(ways, state === 'succeeded' ? ['returned failed'] : [], state)
      else
        assert.ok(
          leads.some(({ to }) => ends.has(to as OperationState)),
          state,
        )
    }
  })

  t('a repeat of what was accepted changes nothing', () => {
    for (const before of [[], WAY.slice(0, 1), WAY.slice(0, 5), WAY.slice(0, 6), WAY, [ending('failed')]]) {
      for (const event of EVENTS) {
        const context = contextAfter(...before)
        const first = decide(event, context, AT)
        if (first.state !== 'accepted') continue
        const world = after([...before, event, event].map((one) => ({ n: 1, event: one })))
        assert.equal(world.operations[0], first.operation, event.on)
      }
    }
  })

  t('uses each of its rows', () => {
    const befores = [
      [],
      [BEGUN],
      WAY.slice(0, 5),
      WAY.slice(0, 6),
      WAY,
      [BEGUN, ending('failed')],
      [ending('cancelled')],
    ]
    const scales = [[], SCALE_WAY.slice(0, 1), SCALE_WAY, [...SCALE_WAY, { on: 'claimed' } as const]]
    const contexts = [...befores.map((before) => contextAfter(...before)), ...scales.map((way) => scaleAfter(...way))]
    const used = contexts.flatMap((context) => {
      return EVENTS.filter((event) => decide(event, context, LATER).state !== 'refused').map((event) =>
        OPERATION_TRANSITIONS.findIndex(({ on, from }) => on === event.on && from.includes(context.operation.state)),
      )
    })
    assert.equal(
      OPERATION_TRANSITIONS.filter((_row, index) => !used.includes(index)).map(({ on, from }) => `${on} from ${from}`),
      [],
    )
  })

  t('the words of the table are those of REST, and its codes are in the catalogue', () => {
    assert.equal((operationAnswer.properties as { state: { enum: string[] } }).state.enum, [...OPERATION_STATES])
    const reached = OPERATION_TRANSITIONS.flatMap(({ to }) => (to === 'same' ? [] : [to]))
    assert.equal([...new Set<OperationState>(['queued', ...reached])].sort(), [...OPERATION_STATES].sort())
    assert.equal([...new Set<OperationEventName>(EVENTS.map(({ on }) => on))].sort(), [...OPERATION_EVENTS].sort())
    for (const before of [[], [BEGUN], WAY.slice(0, 6), WAY]) {
      for (const event of EVENTS) {
        const decision = decideAfter(event, ...before)
        if (decision.state !== 'refused') continue
        assert.ok(Object.hasOwn(PROBLEMS, decision.refusal.code), decision.refusal.code)
        assert.match(decision.refusal.detail, /^\S.{10,}\.$/)
      }
    }
  })

  const refusals: [string, OperationEvent, OperationEvent[]][] = [
    ['TOO_LATE: Visitors are on release 2 already.', { on: 'cancel' }, WAY.slice(0, 6)],
    ['TOO_LATE: Visitors are on release 2 already.', { on: 'cancel' }, WAY],
    ['TOO_LATE: op-a1 has ended: failed.', { on: 'cancel' }, [ending('failed')]],
    ['WRONG_STATE: op-a1 was asked to stop at 2026-11-22T10:00:00.000Z.', BEGUN, [{ on: 'cancel' }]],
    [
      'WRONG_STATE: op-a1 was asked to stop at 2026-11-22T10:00:00.000Z.',
      { on: 'claimed' },
      [...WAY.slice(0, 5), { on: 'cancel' }],
    ],
    ['WRONG_STATE: op-a1 has not claimed its switch.', { on: 'switched' }, WAY.slice(0, 5)],
    ['WRONG_STATE: The present step of op-a1 is check, not start.', passing('start'), [BEGUN]],
    ['WRONG_STATE: Release 2 is live.', { on: 'retired' }, WAY],
    ['WRONG_STATE: failed is not for an operation that is succeeded.', ending('failed'), WAY],
    ['WRONG_STATE: succeeded is not for an operation that is running.', ending('succeeded'), [BEGUN]],
  ]
  for (const [words, event, before] of refusals) {
    t(`${event.on} after ${before.map(({ on }) => on).join(' ')}: ${words}`, () => {
      assert.is(told(decideAfter(event, ...before)), words)
    })
  }

  t('the second in the queue does not begin while the first runs', () => {
    const world = after([{ n: 1, event: BEGUN }])
    const second = contextIn(world, world.operations[1] as Operation)
    assert.is(told(decide(BEGUN, second, LATER)), 'WRONG_STATE: op-a1 runs.')
  })

  t('a cancel before the switch stands, also when it is asked again and after it has its way', () => {
    const asked = decideAfter({ on: 'cancel' }, BEGUN)
    assert.is(asked.state === 'accepted' && asked.operation.cancelAt, LATER)
    assert.is(told(decideAfter({ on: 'cancel' }, BEGUN, { on: 'cancel' })), 'unchanged')
    assert.is(told(decideAfter({ on: 'cancel' }, BEGUN, { on: 'cancel' }, ending('cancelled'))), 'unchanged')
  })

  t('a release is numbered after the last one, and what steps teach of it adds up', () => {
    const { operation, release } = contextAfter(...WAY.slice(0, 5))
    assert.equal([operation.state, operation.release, operation.startedAt], ['running', 2, AT])
    assert.equal(
      operation.steps.map(({ state }) => state),
      ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'running'],
    )
    assert.equal(
      [release?.number, release?.id, release?.state, release?.envVersion, release?.digest, release?.address],
      [2, 'rel-a1', 'starting', 3, 'd', '127.0.0.1:40001'],
    )
    assert.equal(release?.record, { project: 'shop-r2', arch: 'amd64' })
  })

  t('at the switch the release before it steps back first, and both are told when', () => {
    const decision = decideAfter({ on: 'switched' }, ...WAY.slice(0, 6))
    assert.ok(decision.state === 'accepted')
    assert.equal(
      decision.releases.map(({ number, state, liveAt, supersededAt }) => [number, state, liveAt, supersededAt]),
      [
        [1, 'superseded', AT, LATER],
        [2, 'live', LATER, null],
      ],
    )
    assert.equal([decision.operation.state, decision.operation.endedAt], ['succeeded', LATER])
  })

  t('a failure is told on its step, its release and itself, and the rest is skipped', () => {
    const long = `${'x'.repeat(998)}🙂🙂🙂`
    const decision = decideAfter(
      { on: 'failed', code: 'BUILD_FAILED', message: long, log: 'boom' },
      BEGUN,
      passing('check'),
    )
    assert.ok(decision.state === 'accepted')
    const { operation, releases } = decision
    assert.equal([operation.state, operation.code, operation.endedAt], ['failed', 'BUILD_FAILED', LATER])
    assert.equal(
      operation.steps.map(({ state }) => state),
      ['succeeded', 'failed', 'skipped', 'skipped', 'skipped'],
    )
    assert.is(operation.steps[1]?.message, `${'x'.repeat(998)}🙂🙂`, 'its first 1000 characters')
    assert.equal(
      releases.map(({ state, reason, logTail, supersededAt }) => [state, reason, logTail, supersededAt]),
      [['failed', long, 'boom', LATER]],
    )
  })
})

spec('the table of a scale', (t) => {
  const of = (record: object) => ({ ...aRelease(1), record: { ...aRelease(1).record, ...record } })
  const leaving = [{ name: 'web.2-r1', address: '127.0.0.1:30002', since: null }]
  t('changes the record of the live release alone, and nothing of it when it does not come to its end', () => {
    const claimed = scaleAfter(...SCALE_WAY, { on: 'claimed' })
    const { record } = claimed.live ?? {}
    assert.is(record?.scaling?.address, '127.0.0.1:30001,127.0.0.1:30002')
    const done = decide({ on: 'scaled', replicas: 2, parts: [] }, claimed, LATER)
    assert.is(done.state, 'accepted')
    const [live] = done.state === 'accepted' ? done.releases : []
    assert.equal([live?.state, live?.record?.replicas, live?.record?.scaling], ['live', 2, undefined])
    const failed = decide(ending('failed'), scaleAfter(...SCALE_WAY), LATER)
    assert.equal(failed.state === 'accepted' && [failed.operation.state, failed.releases], ['failed', []])
  })
  t('notes since when a replica leaves, and one that is wanted again stays', () => {
    const context = {
      ...scaleAfter(...SCALE_WAY, { on: 'claimed' }),
      live: of({ replicas: 2, scaling: { address: 'a', leaving } }),
    }
    const down = decide({ on: 'scaled', replicas: 1, parts: [] }, context, LATER)
    const [live] = down.state === 'accepted' ? down.releases : []
    assert.equal(live?.record?.leaving, [{ ...leaving[0], since: LATER }])
    const part = {
      service: 'web.2',
      project: 'shop-r1',
      name: 'web.2-r1',
      networks: [],
      isOneShot: false,
      isKeptUp: true,
    }
    const parts = [{ ...part, limits: { cpuMillis: 1, memoryBytes: 1, pids: 1 } }]
    const up = decide({ on: 'scaled', replicas: 2, parts }, { ...context, live: of({ leaving }) }, LATER)
    assert.is((up.state === 'accepted' ? up.releases : [])[0]?.record?.leaving, undefined)
  })
  t('is cancelled before the switch alone, and makes no release', () => {
    assert.is(decide({ on: 'cancel' }, scaleAfter(...SCALE_WAY), LATER).state, 'accepted')
    assert.match(told(decide({ on: 'cancel' }, scaleAfter(...SCALE_WAY, { on: 'claimed' }), LATER)), /^TOO_LATE/)
    assert.match(told(decide(BEGUN, scaleAfter(), LATER)), /makes no release/)
    assert.match(told(decide({ on: 'scaling' }, contextAfter(), LATER)), /is no scale/)
  })
})

spec('asking for an operation', (t) => {
  const deploy = (digest: string): AppIntent => ({ kind: 'deploy', digest, envVersion: null, volumes: [] })
  const ask = (id: string, digest: string, byController = false) => ({
    id,
    app: 'app-1',
    account: 'demo',
    intent: deploy(digest),
    byController,
  })
  const waiting = (count: number) =>
    Array.from({ length: count }, (_one, index) => anOperation({ n: index + 1, intent: deploy(`d${index}`) }))

  t('enters it as the last, with its steps before it', () => {
    const decision = decideAsk(ask('op-x', 'new'), { held: null, open: waiting(2), last: 7 }, LATER)
    assert.ok(decision.state === 'accepted')
    const { n, state, kind, createdAt, byController, steps } = decision.operation
    assert.equal([n, state, kind, createdAt, byController], [8, 'queued', 'deploy', LATER, false])
    assert.equal(
      steps.map(({ name, state }) => [name, state]),
      DEPLOY_STEPS.map((name) => [name, 'pending']),
    )
  })

  t('finds what its first try entered, and what says the same as the last of the queue', () => {
    const open = waiting(2)
    const held = open[0] as Operation
    const found = decideAsk(ask(held.id, 'd0'), { held, open, last: 2 }, LATER)
    assert.equal(found, { state: 'unchanged', operation: held, releases: [] })
    const same = decideAsk(ask('op-x', 'd1'), { held: null, open, last: 2 }, LATER)
    assert.equal(same.state === 'unchanged' && same.operation, open[1])
    const cancelled = open.map((one) => ({ ...one, cancelAt: AT }))
    assert.is(decideAsk(ask('op-x', 'd1'), { held: null, open: cancelled, last: 2 }, LATER).state, 'accepted')
  })

  t('QUEUE_FULL refuses a caller of REST, and nothing that was written by hand', () => {
    const queue = { held: null, open: waiting(QUEUE_MAX), last: QUEUE_MAX }
    assert.is(
      told(decideAsk(ask('op-x', 'new'), queue, LATER)),
      'QUEUE_FULL: 10 operations of app-1 wait or run already.',
    )
    assert.is(decideAsk(ask('op-x', 'new', true), queue, LATER).state, 'accepted')
    assert.is(decideAsk(ask('op-1', 'd0'), { ...queue, held: queue.open[0] as Operation }, LATER).state, 'unchanged')
  })

  t("a key that was used for another app's operation is a mismatch", () => {
    const held = anOperation({ app: 'app-2' })
    const decision = decideAsk(ask(held.id, 'new'), { held, open: [], last: 0 }, LATER)
    assert.is(told(decision), 'IDEMPOTENCY_MISMATCH: The key was used for an operation of another app.')
  })
})
