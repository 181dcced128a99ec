import { usedAtOf } from '../../../../crds/devinstance/bootstrap/report.ts'
import type { Surroundings } from '../../../../crds/devinstance/life/context.ts'
import { type DecidedCall, rebuilt } from '../../../../crds/devinstance/life/rebuilt.ts'
import { type DevInstanceRow, monthCostMicroUsd } from '../../../../crds/devinstance/life/row.ts'
import { decide } from '../../../../crds/devinstance/life/transitions.ts'
import { type DevInstanceResource, planDevInstance, TERMINATED_KEPT_MS } from '../../../../crds/devinstance/plan.ts'
import type { Said, Trigger } from '../../../../crds/devinstance/protocol.ts'
import type { DevInstanceSpec, DevInstanceStatus } from '../../../../crds/devinstance/schema.ts'
import { usdOf } from '../../../../crds/devinstance/sizing/prices.ts'
import { devInstanceDetail } from '../../../../crds/devinstance/view.ts'
import type { DevInstanceWorld } from '../../../../crds/devinstance/world.ts'
import { isDeepStrictEqual } from '../../../../crds/values/compare.ts'
import {
  aDevInstance,
  after,
  CLEAN,
  inEachState,
  later,
  livesOf,
  minutes,
  T0,
} from '../../../support/builders/devinstance.ts'
import { faultsOf, say, type Try, told, tries } from '../../../support/builders/devinstance-tries.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** What the spec wishes of a machine, and what comes between. */

/** Before a silence would be said of one that runs. */
const NOW = later(minutes(4))
const [reserved, provisioning, , ready, running, stopped, resizing, terminated] = inEachState() as [
  DevInstanceRow,
  DevInstanceRow,
  DevInstanceRow,
  DevInstanceRow,
  DevInstanceRow,
  DevInstanceRow,
  DevInstanceRow,
  DevInstanceRow,
]

const anInstance = (
  change: Partial<DevInstanceSpec>,
  generation = 2,
  status?: DevInstanceStatus,
): DevInstanceResource => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'DevInstance',
  metadata: { name: 'dev-1', namespace: 'b', uid: 'u', resourceVersion: '1', generation, creationTimestamp: T0 },
  spec: { account: 'demo', name: 'october', sizeClass: 'S', arch: 'arm64', agents: ['codex'], ...change },
  ...(status && { status }),
})
const aWorld = (box: DevInstanceRow, change: Partial<DevInstanceWorld> = {}): DevInstanceWorld => ({
  account: { capabilities: ['devbox.manage'], capMicroUsd: 500_000_000 },
  record: { uid: 'u', rev: 7, pricingVersion: box.pricingVersion, box, othersMicroUsd: 0 },
  pending: [],
  lastReport: null,
  factSeq: 0,
  ...change,
})
const POLICY = { policy: { idleMinutes: 30, autoscale: 'ask' } } as const

type Seen = { spec?: Partial<DevInstanceSpec>; generation?: number; world?: Partial<DevInstanceWorld>; at?: string }
const plan = (box: DevInstanceRow, { spec: change = {}, generation, world = {}, at = NOW }: Seen = {}) =>
  planDevInstance(anInstance({ ...POLICY, ...change }, generation), aWorld(box, world), new Date(at))

/** The row once nothing is left to settle, and what is said of it then. */
const settled = (box: DevInstanceRow, seen: Seen) => {
  let row = box
  const triggers: string[] = []
  for (let left = 5; left > 0; left--) {
    const made = plan(row, seen)
    const [step] = made.steps
    if (step?.do !== 'settle') return { row, triggers, plan: made, verdict: wordsOf(made) }
    assert.is(step.settlement.state, 'accepted', JSON.stringify(step.settlement))
    triggers.push(step.settlement.trigger)
    if (step.settlement.state === 'accepted') row = step.settlement.instance
  }
  throw new Error(`it does not come to rest: ${triggers.join(' ')}`)
}
const wordsOf = ({ verdict }: ReturnType<typeof plan>): string =>
  verdict.state === 'stalled' ? `stalled ${verdict.code}` : `${verdict.state} ${verdict.reason}`
const typesOf = ({ conditions = [] }: ReturnType<typeof plan>) => conditions.map(({ type }) => type)
const calls = <T extends Trigger>(box: DevInstanceRow, trigger: T, said: Said[T], around: Surroundings = CLEAN) => {
  const decision = decide(trigger, { instance: box, said, at: NOW, around })
  assert.is(decision.state, 'accepted', JSON.stringify(decision))
  return decision.state === 'accepted' ? decision.instance : box
}
const v = ({ version }: DevInstanceRow) => ({ version })
const wantedOf = (row: DevInstanceRow) => {
  const stored = { id: 'dev-1', owner: 'demo', box: row, policy: row.policy, conditions: [], stalled: null }
  const { wanted } = devInstanceDetail(
    { ...stored, factSeq: 0, createdAt: T0 },
    { at: NOW, lastReport: null, events: [] },
  )
  return wanted && [wanted.power, wanted.sizeClass, wanted.diskGb]
}

spec('a wish for power', (t) => {
  t('is recorded with its generation, awaited of the provisioner, and fulfilled by what is reported', () => {
    const asked = settled(running, { spec: { power: 'stopped' }, generation: 4 })
    assert.equal([asked.triggers, asked.verdict], [['wish-power'], 'waiting StopWished'])
    assert.equal([asked.row.powerWish.generation, asked.row.version], [4, running.version + 1])
    const { verdict } = asked.plan
    assert.match(verdict.state === 'waiting' ? verdict.message : '', /provisioner.* to stop it, wished by generation 4/)
    assert.equal(wantedOf(asked.row), ['stopped', null, null])
    const done = calls(asked.row, 'stopped', v(asked.row))
    assert.equal(settled(done, { spec: { power: 'stopped' }, generation: 4 }).verdict, 'ready Stopped')
    assert.is(wantedOf(done), null)

    const up = settled(done, { spec: { power: 'running' }, generation: 5 })
    assert.is(up.verdict, 'waiting StartWished')
    const started = calls(calls(up.row, 'starting', v(up.row)), 'started', { version: up.row.version + 1 })
    assert.equal(settled(started, { spec: { power: 'running' }, generation: 5 }).verdict, 'ready Running')
  })

  t('counts once: a box that stops itself stays stopped, and says what the spec says', () => {
    const up = settled(stopped, { spec: { power: 'running' } })
    const started = calls(up.row, 'started', v(up.row))
    const idle = calls(calls(started, 'stopping', { reason: 'idle' }), 'stopped', v(started))
    const seen = { spec: { power: 'running' } as const, generation: 2 }
    const later1 = settled(idle, seen)
    assert.equal([later1.triggers, later1.verdict, wantedOf(later1.row)], [[], 'ready Stopped', null])
    assert.equal(typesOf(later1.plan), ['SpecOvertaken'])
    // applied again, with another field changed: another generation, and no wish
    const other = settled(idle, {
      spec: { power: 'running', policy: { idleMinutes: 60, autoscale: 'ask' } },
      generation: 3,
    })
    assert.equal([other.triggers, other.verdict], [['policy'], 'ready Stopped'])
    // and wished again
    const again = settled(idle, { spec: { power: 'running', wish: 1 }, generation: 4 })
    assert.equal([again.triggers, again.verdict], [['wish-power', 'wish-size'], 'waiting StartWished'])
  })

  t('of a stop is made over REST as well, of which the spec knows nothing', () => {
    const seen = { spec: { power: 'running' }, generation: 3 } as const
    const up = settled(running, seen).row
    const halted = calls(up, 'halting', v(up))
    const asked = settled(halted, seen)
    assert.equal([asked.triggers, asked.verdict, wantedOf(halted)], [[], 'waiting StopWished', ['stopped', null, null]])
    const { verdict } = asked.plan
    assert.match(verdict.state === 'waiting' ? verdict.message : '', /provisioner.* to stop it, asked for over REST at/)
    assert.is(decide('halting', { instance: halted, said: v(halted), at: NOW, around: CLEAN }).state, 'unchanged')

    const done = calls(halted, 'stopped', v(halted))
    assert.equal([wantedOf(done), typesOf(settled(done, seen).plan)], [null, ['SpecOvertaken']])
    const again = decide('halting', { instance: done, said: v(done), at: NOW, around: CLEAN })
    assert.is(again.state === 'refused' && again.refusal.code, 'WRONG_STATE')

    // taken back by a wish, by a start, and with the machine
    const kept = settled(halted, { spec: { power: 'running', wish: 1 }, generation: 4 })
    assert.equal([kept.triggers, wantedOf(kept.row)], [['wish-power', 'wish-size'], null])
    const haltedReady = calls(ready, 'halting', v(ready))
    const started = calls(haltedReady, 'starting', v(haltedReady))
    assert.equal([started.starting !== null, wantedOf(started)], [true, null])
    assert.equal(wantedOf(calls(halted, 'terminating', { ...v(halted), acknowledgeWorkAtRisk: true })), null)
  })

  t('is overtaken by what is asked for later over REST, and overtakes what was asked for before', () => {
    const down = settled(calls(stopped, 'starting', v(stopped)), { spec: { power: 'stopped' } })
    assert.equal([down.verdict, down.row.starting], ['ready Stopped', null])
    const open = settled(ready, { spec: { power: 'stopped' } })
    const asked = calls(open.row, 'starting', v(open.row))
    assert.equal([asked.powerWish.open, asked.starting !== null], [false, true])
    const ending = settled(running, { spec: { power: 'stopped' } })
    assert.is(calls(ending.row, 'terminating', v(ending.row)).powerWish.open, false)
    // whoever has not seen it is told
    const blind = decide('starting', { instance: open.row, said: v(ready), at: NOW, around: CLEAN })
    assert.is(blind.state === 'refused' && blind.refusal.code, 'VERSION_CONFLICT')
  })

  t('outlives a report of something older', () => {
    const down = settled(ready, { spec: { power: 'stopped' } })
    const late = calls(down.row, 'started', v(down.row))
    assert.equal([late.state, late.powerWish.open], ['running', true])
  })

  t('stands at the reservation, and waits until there is a machine', () => {
    const box = aDevInstance({ powerWish: { power: 'stopped', wish: 0, generation: 1, at: T0, open: true } })
    assert.equal(
      [plan(box, { spec: { power: 'stopped' } }).steps, wordsOf(plan(box, { spec: { power: 'stopped' } }))],
      [[], 'waiting Reserved'],
    )
    const up = after(box, 'provisioning', 'token', 'finalize')
    assert.is(wordsOf(plan(up, { spec: { power: 'stopped' } })), 'waiting StopWished')
    assert.is(after(up, 'stopped').powerWish.open, false)
  })

  t('is refused as the table would refuse it', () => {
    assert.is(wordsOf(plan(resizing, { spec: { power: 'running' } })), 'stalled RESIZE_PENDING')
    assert.is(wordsOf(plan(terminated, { spec: { power: 'running' } })), 'stalled WRONG_STATE')
    const gone = calls(stopped, 'terminated', { ...v(stopped), instanceGone: true, eipGone: false, volumesGone: false })
    assert.is(wordsOf(plan(gone, { spec: { power: 'running' } })), 'stalled WRONG_STATE')
  })
})

spec('a wish for another size', (t) => {
  t('is recorded, awaited, announced, and fulfilled by what is confirmed', () => {
    const asked = settled(running, { spec: { sizeClass: 'M' }, generation: 3 })
    assert.equal([asked.triggers, asked.verdict], [['wish-size'], 'waiting ResizeWished'])
    assert.equal(wantedOf(asked.row), [null, 'M', 80])
    const { row } = asked
    const announced = calls(row, 'resizing', { ...v(row), sizeClass: 'M', diskGb: 80 })
    assert.equal(settled(announced, { spec: { sizeClass: 'M' } }).verdict, 'waiting Resizing')
    const body = { sizeClass: 'M', diskGb: 80, verifiedDf: '79G', state: 'running' } as const
    const done = calls(announced, 'resized', { ...v(announced), ...body })
    const end = settled(done, { spec: { sizeClass: 'M' } })
    assert.equal([end.verdict, typesOf(end.plan), wantedOf(end.row)], ['ready Running', [], null])
  })

  t('is refused with the codes of REST, and taken as soon as nothing is in the way', () => {
    const around = { git: { dirty: 1, untracked: 0, unpushed: 0 }, at: NOW, usedAt: null, attestedAt: null }
    const poor = { account: { capabilities: ['devbox.manage'], capMicroUsd: 100_000_000 } }
    const cases: [string, DevInstanceRow, Seen][] = [
      ['stalled CAP_EXCEEDED', running, { spec: { sizeClass: 'M' }, world: poor }],
      ['stalled WORK_AT_RISK', running, { spec: { sizeClass: 'M' }, world: { lastReport: around } }],
      ['stalled INVALID_FIELD', running, { spec: { sizeClass: 'M', diskGb: 60 } }],
      ['stalled DISK_SHRINK', { ...running, diskGb: 200 }, { spec: { diskGb: 100 } }],
      ['stalled WRONG_STATE', reserved, { spec: { sizeClass: 'M' } }],
      ['stalled WRONG_STATE', provisioning, { spec: { sizeClass: 'M' } }],
      ['stalled RESIZE_PENDING', resizing, { spec: { sizeClass: 'L' } }],
      ['stalled WRONG_STATE', terminated, { spec: { sizeClass: 'M' } }],
    ]
    for (const [words, box, seen] of cases) {
      const made = plan(box, seen)
      assert.equal([made.steps, wordsOf(made)], [[], words])
      assert.ok(Date.parse(made.wakeAt ?? '') <= Date.parse(NOW) + minutes(5), 'it is looked at again')
    }
    const rich = { account: { capabilities: ['devbox.manage'], capMicroUsd: 500_000_000 } }
    assert.is(settled(running, { spec: { sizeClass: 'M' }, world: rich }).verdict, 'waiting ResizeWished')
    const { record } = aWorld(running)
    const others = record && { record: { ...record, othersMicroUsd: 400_000_000 } }
    assert.is(wordsOf(plan(running, { spec: { sizeClass: 'M' }, world: others ?? {} })), 'stalled CAP_EXCEEDED')
    const granted = calls(running, 'cap-override', {})
    assert.is(settled(granted, { spec: { sizeClass: 'M' }, world: poor }).verdict, 'waiting ResizeWished')
  })

  t('may be taken back, also where it was refused', () => {
    const asked = settled(running, { spec: { sizeClass: 'M' }, generation: 3 })
    const back = settled(asked.row, { spec: { sizeClass: 'S' }, generation: 4 })
    assert.equal([back.verdict, wantedOf(back.row)], ['ready Running', null])
    const grown = settled(running, { spec: { diskGb: 500 }, generation: 3 })
    assert.equal(wantedOf(grown.row), [null, 'S', 500])
    const less = settled(grown.row, { spec: { diskGb: 60 }, generation: 4 })
    assert.equal(wantedOf(less.row), [null, 'S', 60])
    assert.is(wantedOf(settled(grown.row, { generation: 4 }).row), null)
  })

  t('stalls again where what was accepted would be refused by now', () => {
    const { row } = settled(running, { spec: { sizeClass: 'M' } })
    const poor = { account: { capabilities: ['devbox.manage'], capMicroUsd: 60_000_000 } }
    assert.is(wordsOf(plan(row, { spec: { sizeClass: 'M' }, world: poor })), 'stalled CAP_EXCEEDED')
  })

  t('does not fight with a resize over REST: what the spec said before is no wish', () => {
    const announced = calls(running, 'resizing', { ...v(running), sizeClass: 'M' })
    const body = { sizeClass: 'M', diskGb: 80, verifiedDf: '79G', state: 'running' } as const
    const larger = calls(announced, 'resized', { ...v(announced), ...body })
    const seen = settled(larger, { spec: { sizeClass: 'S' }, generation: 9 })
    assert.equal([seen.triggers, seen.verdict, typesOf(seen.plan)], [[], 'ready Running', ['SpecOvertaken']])
    const stop = settled(larger, { spec: { sizeClass: 'S', power: 'stopped' }, generation: 10 })
    assert.equal([stop.triggers, wantedOf(stop.row)], [['wish-power'], ['stopped', null, null]])
    assert.equal(wantedOf(settled(larger, { spec: { sizeClass: 'S', wish: 1 } }).row), [null, 'S', 80])
    // and a newer request overtakes an open wish
    const open = settled(running, { spec: { sizeClass: 'L' } }).row
    assert.is(calls(open, 'resizing', { ...v(open), sizeClass: 'M' }).sizeWish.open, null)
  })

  t('is tried once where the cloud has nothing of it', () => {
    const { row } = settled(running, { spec: { sizeClass: 'M' } })
    const announced = calls(row, 'resizing', { ...v(row), sizeClass: 'M', diskGb: 80 })
    const body = { sizeClass: 'S', diskGb: 80, verifiedDf: '79G', state: 'running' } as const
    const undone = calls(announced, 'resized', { ...v(announced), ...body })
    const seen = settled(undone, { spec: { sizeClass: 'M' } })
    assert.equal([seen.verdict, wantedOf(seen.row)], ['unready ResizeUndone', null])
    assert.equal(wantedOf(settled(undone, { spec: { sizeClass: 'M', wish: 1 } }).row), [null, 'M', 80])
    assert.is(settled(undone, { spec: { sizeClass: 'S' } }).verdict, 'ready Running')
  })
})

spec('wishes among all that may be said', (t) => {
  const likeness = ({
    state,
    machine,
    sizeClass,
    diskGb,
    powerWish,
    sizeWish,
    starting,
    terminating,
    deletedAt,
  }: DevInstanceRow) =>
    JSON.stringify([
      state,
      machine,
      sizeClass,
      diskGb,
      [powerWish.power, powerWish.open],
      [sizeWish.open, sizeWish.undoneAt !== null],
      [starting !== null, terminating !== null, deletedAt !== null],
    ])
  const OF: readonly Trigger[] = [
    'wish-power',
    'wish-size',
    'starting',
    'started',
    'stopping',
    'stopped',
    'awake',
    'resizing',
    'resized',
    'terminating',
    'terminated',
    'delete',
  ]

  type Walk = { known: Set<string>; wrong: Set<string>; kept: number }
  type Point = ReturnType<typeof livesOf>[number]

  /** Says one thing. @returns where that leads, where nobody was before */
  const step = (walk: Walk, { instance, calls: made }: Point, one: Try, at: string): Point[] => {
    const decision = say(instance, one, at, CLEAN)
    if (decision.state === 'refused' || decision.state === 'unchanged') return []
    walk.kept += 1
    const complain = (what: string) => void walk.wrong.add(`${instance.state} ${told(one)}: ${what}`)
    for (const rule of faultsOf(instance, one, decision.instance)) complain(rule)
    if (decision.entries.length === 0) complain('the history does not tell of it')
    const like = likeness(decision.instance)
    if (walk.known.has(like)) return []
    walk.known.add(like)
    const all = [...made, { ...one, at, around: CLEAN } as DecidedCall]
    const again = rebuilt(JSON.parse(JSON.stringify(all)) as DecidedCall[])
    if (!isDeepStrictEqual(again, JSON.parse(JSON.stringify(decision.instance)))) complain('not rebuilt')
    return [{ instance: decision.instance, calls: all }]
  }

  t(
    'are never open in vain, and the facts make the row again',
    () => {
      const walk: Walk = { known: new Set(), wrong: new Set(), kept: 0 }
      let edge = livesOf()
      for (let depth = 1; depth <= 4; depth++) {
        const at = later(100_000 + depth * 1000)
        edge = edge.flatMap((point) =>
          tries(point.instance)
            .filter(({ trigger }) => OF.includes(trigger))
            .flatMap((one) => step(walk, point, one, at)),
        )
      }
      console.log(`\ncounted: ${walk.kept} kept, ${walk.known.size} that differ`)
      assert.equal([...walk.wrong].slice(0, 10), [])
      assert.ok(walk.known.size > 200)
    },
    { timeoutMs: 120_000 },
  )
})

spec('figures of the status', (t) => {
  const hour = 3_600_000
  const running1 = after(ready, 'started')

  t('tell the cost of this month alone, across the turn of a month and of states', () => {
    const begin = Date.parse(running1.meter.since)
    const whole = monthCostMicroUsd(running1, later(begin - Date.parse(T0) + 10 * hour))
    assert.is(usdOf(whole), 0.78)
    const december = (h: number) => new Date(Date.UTC(2026, 11, 1) + h * hour).toISOString()
    assert.is(monthCostMicroUsd(running1, december(0)), 0)
    assert.is(usdOf(monthCostMicroUsd(running1, december(10))), 0.78)
    // read in the new month at another rate: what was before is not forgotten
    const decision = decide('stopped', { instance: running1, said: v(running1), at: december(10), around: CLEAN })
    const down = decision.state === 'accepted' ? decision.instance : running1
    assert.is(usdOf(monthCostMicroUsd(down, december(10))), 0.78)
    assert.is(usdOf(monthCostMicroUsd(down, december(20))), 0.88)
    assert.is(monthCostMicroUsd(down, '2027-01-01T00:00:00.000Z'), 0)
  })

  t('are written when ten cents were added, a month turned or the meter stands, and not at each pass', () => {
    const at = (h: number) => later(Date.parse(running1.meter.since) - Date.parse(T0) + h * hour)
    const shown = (box: DevInstanceRow, h: number, monthUsd?: string) => {
      const status = monthUsd === undefined ? undefined : ({ monthUsd } as DevInstanceStatus)
      return planDevInstance(anInstance(POLICY, 1, status), aWorld(box), new Date(at(h)))
    }
    assert.is(shown(running1, 1).status.monthUsd, '0.08')
    assert.is(shown(running1, 1, '0.00').status.monthUsd, '0.00')
    assert.is(shown(running1, 2, '0.00').status.monthUsd, '0.16')
    assert.is(shown(running1, 300, '30.00').status.monthUsd, usdOf(monthCostMicroUsd(running1, at(300))).toFixed(2))
    const wake = shown(stopped, 100, '1.00').wakeAt ?? ''
    const hours = (Date.parse(wake) - Date.parse(at(100))) / hour
    assert.ok(hours > 9 && hours < 10, `${hours} hours for ten cents of 7.65 a month`)
  })

  t('say since when nobody used it, once that is five minutes ago', () => {
    const idle = (usedAt: string | null, box = running1) =>
      plan(box, {
        at: later(minutes(30)),
        world: { lastReport: { at: later(minutes(30)), git: null, usedAt, attestedAt: null } },
      }).status.idleSince
    assert.is(idle(later(minutes(20))), '2026-11-22T10:20:00Z')
    assert.is(idle(later(minutes(26))), undefined)
    assert.is(idle(null), undefined)
    assert.is(idle(later(minutes(20)), stopped), undefined)
    assert.is(idle(later(-minutes(60))), `${(running1.startedAt ?? '').slice(0, 19)}Z`)
  })
})

spec('the end of a resource', (t) => {
  t('comes a bounded time after that of the machine', () => {
    const end = Date.parse(terminated.terminatedAt ?? '') + TERMINATED_KEPT_MS
    const at = (ms: number) => new Date(ms).toISOString()
    const before = plan(terminated, { at: at(end - 1) })
    assert.equal([before.steps, before.wakeAt], [[], at(end)])
    const [step] = plan(terminated, { at: at(end) }).steps
    assert.equal(step?.do === 'settle' && [step.settlement.trigger, step.settlement.state], ['delete', 'accepted'])
    const seen = after(terminated, 'awake')
    assert.equal(plan(seen, { at: at(end) }).steps, [], 'what is seen again keeps it')
  })
})

spec('use of an instance', (t) => {
  t('is told by its reports', () => {
    const of = (...activity: object[]) => usedAtOf({ at: T0, activity })
    assert.is(
      of({ source: 'terminal', weight: 0, secondsAgo: 120 }, { source: 'files', weight: 0, secondsAgo: 600 }),
      later(-120_000),
    )
    assert.is(of({ source: 'agent', weight: 1 }), T0)
    assert.is(of({ source: 'ssh', weight: 0, count: 2 }, { source: 'unpushed', weight: 1, count: 3 }), null)
    assert.is(usedAtOf({ at: T0, activity: ['ssh'] }), null)
  })
})
