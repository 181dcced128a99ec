import { setTimeout as sleep } from 'node:timers/promises'
import { Stalled, Waiting } from '../../../controllers/base/errors.ts'
import { makeLog } from '../../../controllers/base/log.ts'
import type { EventNote } from '../../../controllers/kube/events.ts'
import { type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { type Cache, reflect } from '../../../controllers/kube/watch.ts'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import type { Controller, ControllerDeps } from '../../../controllers/runtime/contract.ts'
import { type RunningController, runController } from '../../../controllers/runtime/controller.ts'
import { PAUSED } from '../../../crds/kernel/object.ts'
import { type Plan, ready, stalled, waiting } from '../../../crds/kernel/plan.ts'
import { type FaultProxy, startFaultProxy, status } from '../../support/doubles/faultproxy.ts'
import { ensureWidgets, makeSpace, makeWidget, until, WIDGET, type Widget } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { sharedKubeconfig } from '../../support/stage/stage.ts'

type Facts = { made: number }
type Step = { do: 'grow'; to: number } | { do: 'paint'; colour: string }
/** The world outside: how much of each widget has been made. */
type World = { made: number; colour: string | undefined }
type Outside = Map<string, World>
type WidgetController = Controller<Widget, Facts, World, Step>

const planWidget = ({ spec: { size = 0, colour }, metadata }: Widget, world: World): Plan<Step, Facts> => {
  const facts = { made: world.made }
  const none = (verdict: Plan<Step, Facts>['verdict']) => ({ steps: [], status: facts, verdict })
  if (metadata.deletionTimestamp) {
    return world.made > 0
      ? { steps: [{ do: 'grow', to: 0 }], status: facts, verdict: ready('Gone', 'gone') }
      : none(ready('Gone', 'gone'))
  }
  if (size > 50) return none(stalled('INVALID_FIELD', 'size is above 50'))
  if (colour === 'none') return none(waiting('PaintMissing', 'no paint', 200))
  const steps: Step[] = []
  if (world.made !== size) steps.push({ do: 'grow', to: size })
  if (colour !== undefined && world.colour !== colour) steps.push({ do: 'paint', colour })
  return { steps, status: facts, verdict: ready('Made', `made ${world.made}`) }
}

type Rig = {
  proxy: FaultProxy
  cache: Cache<Widget>
  running: RunningController
  outside: Outside
  events: EventNote[]
  logs: Record<string, unknown>[]
  passes: () => number
  metricsPage: () => Promise<string>
  /** Method and subresource of each write since the start. */
  writes: () => string[]
}

spec('controller', (t) => {
  let admin: Kube
  let space: string
  const ends: (() => Promise<unknown>)[] = []

  t.before(async () => {
    admin = makeKube({ kubeconfig: sharedKubeconfig() })
    await ensureWidgets(admin)
  })
  t.before.each(async () => {
    space = await makeSpace(admin)
  })
  t.after.each(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  t.after(() => admin.close())

  const start = async (
    change: Partial<WidgetController> = {},
    deps: Partial<ControllerDeps<Widget>> = {},
  ): Promise<Rig> => {
    const proxy = await startFaultProxy(sharedKubeconfig())
    const kube = makeKube({ kubeconfig: proxy.kubeconfig, fieldManager: 'bottega-controllers' })
    const cache = reflect<Widget>({ kube, kind: WIDGET, namespace: space, backoff: { minMs: 20, maxMs: 200 } })
    await cache.synced
    const outside: Outside = new Map()
    const events: EventNote[] = []
    const logs: Record<string, unknown>[] = []
    let passes = 0
    const nothing = (): World => ({ made: 0, colour: undefined })
    const controller: WidgetController = {
      kind: WIDGET,
      observe: async ({ metadata }) => outside.get(metadata.name) ?? nothing(),
      plan: planWidget,
      act: {
        grow: async ({ to }, { metadata }) =>
          void outside.set(metadata.name, { ...nothing(), ...outside.get(metadata.name), made: to }),
        paint: async ({ colour }, { metadata }) =>
          void outside.set(metadata.name, { ...nothing(), ...outside.get(metadata.name), colour }),
      },
      ...change,
    }
    const { observe } = controller
    controller.observe = (object, signal) => {
      passes += 1
      return observe(object, signal)
    }
    const metrics = makeMetrics({ version: 'test', process: 'test', defaults: false })
    const running = runController(controller, {
      kube,
      cache,
      log: makeLog({ level: 'debug', destination: { write: (line) => void logs.push(JSON.parse(line)) } }),
      metrics,
      events: { emit: (note) => void events.push(note), flush: async () => {} },
      backoff: { minMs: 20, maxMs: 200 },
      ...deps,
    })
    ends.push(
      () => proxy.close(),
      () => kube.close(),
      () => cache.stop(),
      () => running.stop(1_000),
    )
    const writes = () =>
      proxy.writes().map(({ method, path }) => `${method} ${path.split('/').slice(8).join('/') || 'object'}`)
    const metricsPage = async () => (await metrics.render(undefined)).body
    return { proxy, cache, running, outside, events, logs, passes: () => passes, writes, metricsPage }
  }

  const ref = (name: string) => ({ namespace: space, name })
  const get = (name: string) => admin.get<Widget>(WIDGET, ref(name))
  const conditionOf = (widget: Widget | undefined, type: string) =>
    widget?.status?.conditions?.find((c) => c.type === type)
  const says = (rig: Rig, name: string, type: string, reason: string) =>
    until(
      `${name} says ${type} ${reason}`,
      () => conditionOf(rig.cache.get(`${space}/${name}`), type)?.reason === reason,
    )
  const idle = async (rig: Rig) => {
    await until('it is idle', () => rig.running.busy() === 0)
    await sleep(120)
    await until('it is idle', () => rig.running.busy() === 0)
  }

  t('create, two steps, ready: one status patch and nothing else', async () => {
    const rig = await start()
    await makeWidget(admin, space, 'plain', { size: 3, colour: 'red' })
    await says(rig, 'plain', 'Ready', 'Made')
    await idle(rig)
    assert.equal(rig.writes(), ['PATCH status'])
    assert.equal(rig.outside.get('plain'), { made: 3, colour: 'red' })
    const widget = await get('plain')
    assert.is(widget.status?.made, 3)
    assert.is(widget.status?.observedGeneration, 1)
    assert.equal(
      widget.status?.conditions?.map(({ type, status: s }) => `${type}=${s}`),
      ['Ready=True'],
    )
    assert.is(rig.passes(), 2, 'one round with the steps, one without, none for the event of our own patch')
    assert.is(rig.events.length, 0)
  })

  t('a second pass over an unchanged object writes nothing, nor does a new process', async () => {
    const rig = await start()
    await makeWidget(admin, space, 'same', { size: 1 })
    await says(rig, 'same', 'Ready', 'Made')
    const { resourceVersion } = (await get('same')).metadata
    const writes = rig.writes().length
    for (let n = 0; n < 3; n += 1) {
      rig.running.wake(`${space}/same`)
      await idle(rig)
    }
    assert.is(rig.writes().length, writes)
    const second = await start({ observe: async () => ({ made: 1, colour: undefined }) })
    await until('it has looked', () => second.passes() > 0)
    await idle(second)
    assert.equal(second.writes(), [])
    assert.is((await get('same')).metadata.resourceVersion, resourceVersion)
  })

  t('the event of our own patch wakes nobody even when it arrives before the answer', async () => {
    const rig = await start()
    const slow: Kube['patchStatus'] = async (...args) => {
      const answer = await admin.patchStatus(...args)
      await sleep(150)
      return answer as never
    }
    const late = await start({}, { kube: { get: admin.get, patchMeta: admin.patchMeta, patchStatus: slow } })
    await rig.running.stop(1_000)
    await makeWidget(admin, space, 'early', { size: 1 })
    await says(late, 'early', 'Ready', 'Made')
    await idle(late)
    assert.is(late.passes(), 2)
  })

  t('a change of the spec is followed, and told by an Event', async () => {
    const rig = await start()
    await makeWidget(admin, space, 'edit', { size: 1 })
    await says(rig, 'edit', 'Ready', 'Made')
    await admin.patchSpec(WIDGET, ref('edit'), { spec: { size: 51 } })
    await says(rig, 'edit', 'Stalled', 'InvalidField')
    const stuck = await get('edit')
    assert.is(conditionOf(stuck, 'Ready')?.status, 'False')
    assert.is(conditionOf(stuck, 'Stalled')?.message, 'INVALID_FIELD: size is above 50')
    await admin.patchSpec(WIDGET, ref('edit'), { spec: { size: 2 } })
    await until('it is made again', () => rig.outside.get('edit')?.made === 2)
    await says(rig, 'edit', 'Ready', 'Made')
    await until('Stalled is gone', async () => conditionOf(await get('edit'), 'Stalled') === undefined)
    assert.equal(
      rig.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Warning InvalidField', 'Normal Made'],
    )
  })

  t('waiting comes back after the asked time, and writes once', async () => {
    const rig = await start()
    await makeWidget(admin, space, 'wait', { colour: 'none' })
    await says(rig, 'wait', 'Reconciling', 'PaintMissing')
    await until('it has looked again', () => rig.passes() >= 3)
    assert.is(rig.writes().length, 1)
    assert.match(await rig.metricsPage(), /reconcile_total\{controller="widget",result="requeue_after"\} [3-9]/)
  })

  t('Waiting and Stalled may be thrown too, and leave the facts as they are', async () => {
    let thrown: Error | undefined
    const rig = await start({
      observe: async () => {
        if (thrown) throw thrown
        return { made: 1, colour: undefined }
      },
    })
    await makeWidget(admin, space, 'throw', { size: 1 })
    await says(rig, 'throw', 'Ready', 'Made')
    thrown = new Waiting('HostBooting', 'no ssh yet', 60_000)
    rig.running.wake(`${space}/throw`)
    await says(rig, 'throw', 'Reconciling', 'HostBooting')
    thrown = new Stalled('NO_ITEMS', 'add one')
    rig.running.wake(`${space}/throw`)
    await says(rig, 'throw', 'Stalled', 'NoItems')
    await idle(rig)
    assert.is((await get('throw')).status?.made, 1)
    assert.is(rig.writes().length, 3)
  })

  t('a fault backs off, says so once and without secrets, and is forgotten when it ends', async () => {
    let broken = true
    const secret = 'postgres://bottega:hunter2@db/x'
    const rig = await start({
      act: {
        grow: async () => {
          if (broken) throw Object.assign(new Error(`could not reach ${secret}`), { code: 'ECONNREFUSED' })
          rig.outside.set('fault', { made: 1, colour: undefined })
        },
        paint: async () => {},
      },
    })
    await makeWidget(admin, space, 'fault', { size: 1 })
    await says(rig, 'fault', 'Reconciling', 'GrowFailed')
    await until('it tried again', () => rig.passes() >= 4)
    const faulty = await get('fault')
    assert.is(conditionOf(faulty, 'Ready')?.status, 'False')
    assert.match(conditionOf(faulty, 'Ready')?.message ?? '', 'ECONNREFUSED')
    assert.not.match(JSON.stringify(faulty), 'hunter2')
    assert.not.match(JSON.stringify(rig.logs), 'hunter2')
    assert.equal(rig.writes(), ['PATCH status'])
    assert.equal(
      rig.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Warning GrowFailed'],
    )
    broken = false
    await says(rig, 'fault', 'Ready', 'Made')
    await until('Reconciling is gone', async () => conditionOf(await get('fault'), 'Reconciling') === undefined)
    assert.match(await rig.metricsPage(), /reconcile_errors_total\{controller="widget"\} [3-9]/)
  })

  t('observe and act end at their limits', async () => {
    let hangs: 'observe' | 'act' = 'observe'
    const aborted: string[] = []
    const hang = (what: string, signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener('abort', () => aborted.push(what)))
    const rig = await start(
      {
        observe: async (_object, signal) =>
          hangs === 'observe' ? hang('observe', signal) : { made: 0, colour: undefined },
        act: { grow: (_step, _object, signal) => hang('act', signal), paint: async () => {} },
      },
      { observeLimitMs: 60, actLimitMs: 60 },
    )
    await makeWidget(admin, space, 'slow', { size: 1 })
    await says(rig, 'slow', 'Reconciling', 'ObserveFailed')
    assert.is(conditionOf(await get('slow'), 'Ready')?.status, 'Unknown')
    hangs = 'act'
    await says(rig, 'slow', 'Reconciling', 'GrowFailed')
    assert.ok(aborted.includes('observe') && aborted.includes('act'))
  })

  t('work that lasts says so once, and only then', async () => {
    const gate = Promise.withResolvers<void>()
    const rig = await start(
      {
        act: {
          grow: async ({ to }, { metadata }) => {
            await gate.promise
            rig.outside.set(metadata.name, { made: to, colour: undefined })
          },
          paint: async () => {},
        },
      },
      { quietMs: 100 },
    )
    await makeWidget(admin, space, 'long', { size: 1 })
    await says(rig, 'long', 'Reconciling', 'Grow')
    gate.resolve()
    await says(rig, 'long', 'Ready', 'Made')
    await idle(rig)
    assert.is(rig.writes().length, 2)
    assert.is(conditionOf(await get('long'), 'Reconciling'), undefined)
    assert.is(rig.passes(), 2)
  })

  t('a look that lasts is no work, and says nothing of an object that stands', async () => {
    let lookMs = 0
    const rig = await start(
      {
        observe: async ({ metadata }) => {
          await sleep(lookMs)
          return rig.outside.get(metadata.name) ?? { made: 0, colour: undefined }
        },
      },
      { quietMs: 50 },
    )
    await makeWidget(admin, space, 'seen', { size: 1 })
    await says(rig, 'seen', 'Ready', 'Made')
    await idle(rig)
    const [written, passed] = [rig.writes().length, rig.passes()]
    lookMs = 300
    rig.running.wake(`${space}/seen`)
    await until('the slow pass', async () => rig.passes() === passed + 1)
    await idle(rig)
    assert.is(rig.writes().length, written)
  })

  t('a conflict is no error: the fresh object is looked at', async () => {
    const rig = await start({
      observe: async ({ metadata, spec: { size } }) => {
        // Somebody edits between our look and our write.
        if (size === 1) {
          await admin.patchSpec(WIDGET, ref(metadata.name), { spec: { size: 2 } })
          await sleep(30)
        }
        return { made: size ?? 0, colour: undefined }
      },
    })
    await makeWidget(admin, space, 'race', { size: 1 })
    await until('it speaks of the second', async () => (await get('race')).status?.observedGeneration === 2)
    await idle(rig)
    assert.is((await get('race')).status?.made, 2)
    assert.match(await rig.metricsPage(), 'controller_runtime_reconcile_errors_total{controller="widget"} 0')
    assert.is(rig.events.length, 0)
  })

  t('a finalizer goes on first, and off last, by patches that touch nothing else', async () => {
    const forgotten: string[] = []
    const rig = await start({
      finalizer: 'runtime-test.bottega.dev/widget',
      forget: async (key) => void forgotten.push(key),
    })
    await makeWidget(admin, space, 'final', { size: 2 }, { finalizers: ['other.dev/keeps'] })
    await says(rig, 'final', 'Ready', 'Made')
    await idle(rig)
    assert.equal(rig.writes(), ['PATCH object', 'PATCH status'])
    assert.is(rig.passes(), 2)
    await admin.delete(WIDGET, ref('final'))
    await until('what was made is gone', () => rig.outside.get('final')?.made === 0)
    await until('ours is off', async () => (await get('final')).metadata.finalizers?.length === 1)
    assert.equal((await get('final')).metadata.finalizers, ['other.dev/keeps'])
    await idle(rig)
    assert.equal(forgotten, [])
    await admin.patchMeta(WIDGET, ref('final'), { finalizers: null })
    await until('it is forgotten', () => forgotten.includes(`${space}/final`))
    assert.is(rig.writes().length, 3)
  })

  t('a deletion waits while the plan cannot finish it', async () => {
    const rig = await start({
      finalizer: 'runtime-test.bottega.dev/widget',
      plan: (object, world) =>
        object.metadata.deletionTimestamp
          ? { steps: [], status: { made: world.made }, verdict: waiting('Draining', 'in use', 60_000) }
          : planWidget(object, world),
    })
    await makeWidget(admin, space, 'held', { size: 1 })
    await says(rig, 'held', 'Ready', 'Made')
    await admin.delete(WIDGET, ref('held'))
    await says(rig, 'held', 'Reconciling', 'Draining')
    assert.is((await get('held')).metadata.finalizers?.length, 1)
    await admin.patchMeta(WIDGET, ref('held'), { finalizers: null })
  })

  t('a paused object is left alone until the annotation goes', async () => {
    const rig = await start()
    await makeWidget(admin, space, 'rest', { size: 1 }, { annotations: { [PAUSED]: 'true' } })
    await says(rig, 'rest', 'Reconciling', 'Paused')
    assert.is(rig.passes(), 0)
    await admin.patchMeta(WIDGET, ref('rest'), { annotations: { [PAUSED]: null } })
    await says(rig, 'rest', 'Ready', 'Made')
    assert.is(conditionOf(await get('rest'), 'Reconciling'), undefined)
  })

  t('wakeAt brings it back at that instant', async () => {
    const instants: number[] = []
    const rig = await start({
      plan: (_object, world, now) => {
        instants.push(now.getTime())
        const wakeAt = instants.length === 1 ? { wakeAt: new Date(now.getTime() + 1_200).toISOString() } : {}
        return { steps: [], status: { made: world.made }, verdict: ready('Made', 'made'), ...wakeAt }
      },
    })
    await makeWidget(admin, space, 'clock')
    await until('it looked twice', () => instants.length === 2)
    assert.ok((instants[1] ?? 0) - (instants[0] ?? 0) >= 1_150)
    await idle(rig)
    assert.is(rig.writes().length, 1)
  })

  t('a plan that never ends its steps is a fault, not a loop', async () => {
    const rig = await start({ act: { grow: async () => {}, paint: async () => {} } })
    await makeWidget(admin, space, 'endless', { size: 1 })
    await says(rig, 'endless', 'Reconciling', 'PlanFailed')
    assert.ok(rig.passes() >= 20)
  })

  t('the report comes after the status, with it, in each pass without steps', async () => {
    const reports: string[] = []
    let calls = 0
    const rig = await start({
      report: async (object, world) => {
        calls += 1
        if (calls === 2) throw new Error('no mirror')
        reports.push(`${object.status?.conditions?.[0]?.reason} ${world.made}`)
      },
    })
    await makeWidget(admin, space, 'report', { size: 1 })
    await until('it is reported', () => reports.length === 1)
    rig.running.wake(`${space}/report`)
    await until('it is reported again, after a failure', () => reports.length === 2)
    assert.is(calls, 3)
    assert.equal(reports, ['Made 1', 'Made 1'])
    await idle(rig)
    assert.equal(rig.writes(), ['PATCH status'], 'the failure of the report is not in the status')
  })

  t('a server that is away while the status is written is awaited', async () => {
    const rig = await start()
    rig.proxy.answer(({ method }) => method === 'PATCH', status(503, 'ServiceUnavailable'), 7)
    await makeWidget(admin, space, 'away', { size: 1 })
    await says(rig, 'away', 'Ready', 'Made')
    assert.is((await get('away')).status?.made, 1)
  })

  t('every line of a pass names it, with constant words', async () => {
    const rig = await start()
    await makeWidget(admin, space, 'logged', { size: 1 })
    await says(rig, 'logged', 'Ready', 'Made')
    await idle(rig)
    const lines = rig.logs.filter(({ name }) => name === 'logged')
    assert.equal(
      lines.map(({ msg }) => msg),
      ['step done', 'status written'],
    )
    assert.is(new Set(lines.map(({ reconcileID }) => reconcileID)).size, 1)
    assert.equal(
      lines.map(({ controller, namespace }) => `${controller} ${namespace}`),
      [`widget ${space}`, `widget ${space}`],
    )
  })

  t('a stop lets a pass end and starts no other', async () => {
    const gate = Promise.withResolvers<void>()
    const rig = await start({
      act: {
        grow: async ({ to }, { metadata }) => {
          await gate.promise
          rig.outside.set(metadata.name, { made: to, colour: undefined })
        },
        paint: async () => {},
      },
    })
    await makeWidget(admin, space, 'last', { size: 1 })
    await until('it runs', () => rig.running.busy() === 1)
    queueMicrotask(gate.resolve)
    assert.is(await rig.running.stop(60_000), true)
    assert.is(rig.outside.get('last')?.made, 1)
    assert.is(conditionOf(await get('last'), 'Ready')?.status, 'True')
    await makeWidget(admin, space, 'ignored')
    await sleep(100)
    assert.is((await get('ignored')).status, undefined)
  })

  t('a stop past its deadline writes nothing more', async () => {
    const rig = await start({ act: { grow: () => new Promise(() => {}), paint: async () => {} } })
    await makeWidget(admin, space, 'cutoff', { size: 1 })
    await until('it runs', () => rig.running.busy() === 1)
    assert.is(await rig.running.stop(50), false)
    await sleep(100)
    assert.equal(rig.writes(), [])
  })
})
