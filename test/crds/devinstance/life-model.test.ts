import type { Surroundings } from '../../../crds/devinstance/life/context.ts'
import { type DecidedCall, rebuilt } from '../../../crds/devinstance/life/rebuilt.ts'
import { committedMicroUsd, type DevInstanceRow, presentMonthlyMicroUsd } from '../../../crds/devinstance/life/row.ts'
import { isReport } from '../../../crds/devinstance/life/table.ts'
import type { TransitionDecision } from '../../../crds/devinstance/life/transitions.ts'
import { STATES, type State } from '../../../crds/devinstance/schema.ts'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
import { isDeepStrictEqual } from '../../../crds/values/compare.ts'
import { aDevInstance, CLEAN, FIRST, finalizeOf, later, livesOf, SECOND } from '../../support/builders/devinstance.ts'
import {
  faultsOf,
  isLost,
  OTHER_INSTANCE,
  say,
  type Try,
  told,
  tries,
} from '../../support/builders/devinstance-tries.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/**
 * The table of transitions, walked: all that can be said, up to six times, from every state on. What the database would find in
 * the way (the cap) is put before the table as the controllers do. Dev instances that are alike in what matters are asked once.
 */

const DEPTH = 6
/** With the long counts no order is left out because another one came to a like dev instance. */
const FULL = process.env.BOTTEGA_TEST_FULL === '1'
const DEPTH_OF_ORDERS = 5
/** Room for one of S and a little, beside what others have. */
const BUDGET = { othersMicroUsd: 40_000_000, capMicroUsd: 100_000_000 }

type Point = { instance: DevInstanceRow; calls: Link }
/** The latest call, and those before it. */
type Link = { call: DecidedCall; before: Link } | null
type Walk = { wrong: Set<string>; reached: Set<State>; asked: number; kept: number; known: Set<string> }

const listed = (link: Link): DecidedCall[] => (link === null ? [] : [...listed(link.before), link.call])
const linked = (calls: readonly DecidedCall[]): Link => calls.reduce<Link>((before, call) => ({ call, before }), null)

/** As the controllers decide: the cap is looked at when more is committed than before and it is too much. */
const decided = (
  instance: DevInstanceRow,
  one: Try,
  at: string,
): { decision: TransitionDecision; around: Surroundings } => {
  const decision = say(instance, one, at, CLEAN)
  const isKept = decision.state === 'accepted' || decision.state === 'recorded'
  const more = isKept ? committedMicroUsd(decision.instance) : 0
  const isOver = more > committedMicroUsd(instance) && more + BUDGET.othersMicroUsd > BUDGET.capMicroUsd
  const around = isOver ? { ...CLEAN, cap: BUDGET } : CLEAN
  return { decision: isOver ? say(instance, one, at, around) : decision, around }
}

/**
 * What a further call is judged by. Names, teams, repositories, instants and the figures of a breach are of no account to that; of
 * sizes it is the price, of addresses how many and whether one is in use.
 */
const likeness = (instance: DevInstanceRow): string => {
  const { state, machine, volumesGone, sizeClass, held, eipAllocId, lease, intent, starting, launched } = instance
  const extents = intent && [intent.from.sizeClass, intent.to.sizeClass]
  const asked = starting?.newAddress === true || instance.capOverride !== null
  const rest = [lease !== null, instance.strays.length > 0, instance.deletedAt !== null, instance.instanceId !== null]
  return JSON.stringify([
    state,
    machine,
    volumesGone,
    sizeClass,
    launched?.instanceType,
    held.length,
    eipAllocId !== null,
    extents,
    asked,
    rest,
  ])
}

const withoutMeter = ({ meter: _, ...rest }: DevInstanceRow) => rest

/** What was asked stays within the cap, but for an override; of what happened it is said. */
const budgetFaults = (before: DevInstanceRow, one: Try, made: DevInstanceRow): string[] => {
  const limit = Math.max(committedMicroUsd(before), BUDGET.capMicroUsd - BUDGET.othersMicroUsd)
  if (committedMicroUsd(made) <= limit || made.intent?.overrideUsed) return []
  if (!isReport(one.trigger)) return ['more than the cap is committed']
  return made.breaches.some(({ code }) => code === 'CAP_EXCEEDED') ? [] : ['the cap is exceeded and nobody says so']
}

/** That it is said again changes nothing. */
const repeatFaults = (made: DevInstanceRow, again: TransitionDecision): string[] => {
  if (again.state !== 'accepted' && again.state !== 'recorded') return []
  const plain = (instance: DevInstanceRow) => ({ ...withoutMeter(instance), version: 0, breaches: [] })
  return isDeepStrictEqual(plain(made), plain(again.instance)) ? [] : ['a repeat changed something']
}

/** Says one thing, looks at what became of it, and says it again. */
const step = (walk: Walk, { instance, calls }: Point, one: Try, at: string): Point | null => {
  walk.asked += 1
  const { decision, around } = decided(instance, one, at)
  const complain = (what: string) => void walk.wrong.add(`${instance.state} ${told(one)}: ${what}`)
  if (isLost(instance, one, decision)) complain('it has happened, and is not on record')
  if (decision.state === 'refused' && !Object.hasOwn(PROBLEMS, decision.refusal.code)) complain(decision.refusal.code)
  if (decision.state === 'refused' || decision.state === 'unchanged') return null
  walk.kept += 1
  const made = decision.instance
  for (const rule of faultsOf(instance, one, made)) complain(rule)
  if (decision.entries.length === 0) complain('the history does not tell of it')
  for (const rule of budgetFaults(instance, one, made)) complain(rule)
  for (const rule of repeatFaults(made, say(made, one, at, around))) complain(rule)
  return { instance: made, calls: { call: { ...one, at, around } as DecidedCall, before: calls } }
}

/** A row is worth what is on record of it: as JSON, as the facts are kept. */
const checkRebuilt = (walk: Walk, { instance, calls }: Point): void => {
  const kept = JSON.parse(JSON.stringify(listed(calls))) as DecidedCall[]
  if (!isDeepStrictEqual(rebuilt(kept), JSON.parse(JSON.stringify(instance)))) {
    walk.wrong.add(`the facts do not make the row again: ${kept.map(({ trigger }) => trigger).join(' ')}`)
  }
}

const walkFrom = (walk: Walk, starts: readonly Point[]): void => {
  let edge = starts
  for (let depth = 1; depth <= DEPTH; depth++) {
    const next: Point[] = []
    for (const point of edge) {
      walk.reached.add(point.instance.state)
      for (const one of tries(point.instance)) {
        const made = step(walk, point, one, later(100_000 + depth * 1000))
        const like = made && likeness(made.instance)
        if (made === null || like === null || walk.known.has(like)) continue
        walk.known.add(like)
        checkRebuilt(walk, made)
        next.push(made)
      }
    }
    edge = next
  }
}

const newWalk = (): Walk => ({ wrong: new Set(), reached: new Set(), asked: 0, kept: 0, known: new Set() })
const starts = (): Point[] => livesOf().map(({ instance, calls }) => ({ instance, calls: linked(calls) }))

spec('the life of a dev instance, walked', (t) => {
  t(
    'loses nothing that happened, keeps the cap for what was asked, and is made again of its facts, to depth six',
    () => {
      const walk = newWalk()
      walkFrom(walk, starts())
      console.log(`\ncounted: ${walk.asked} calls, ${walk.kept} kept, ${walk.known.size} dev instances that differ`)
      assert.equal([...walk.wrong].slice(0, 10), [])
      assert.equal([...walk.reached].sort(), [...STATES].sort())
      assert.ok(walk.kept > 10_000, `only ${walk.kept} kept`)
    },
    { timeoutMs: 240_000 },
  )

  /** Each as somebody may say it who knows how it stands, or knew it a while ago. */
  const REPORTS: ((version: number) => Try)[] = [
    (version) => ({ trigger: 'started', said: { version } }),
    (version) => ({ trigger: 'started', said: { version, ...SECOND } }),
    (version) => ({ trigger: 'stopped', said: { version } }),
    (version) => ({
      trigger: 'resized',
      said: { version, sizeClass: 'M', diskGb: 80, verifiedDf: '79G', state: 'running' },
    }),
    (version) => ({ trigger: 'eip-released', said: { version, allocationId: FIRST.eipAllocId } }),
    (version) => ({
      trigger: 'terminated',
      said: { version, instanceGone: true, eipGone: false, volumesGone: false },
    }),
    (version) => ({ trigger: 'terminated', said: { version, instanceGone: true, eipGone: true, volumesGone: true } }),
    () => ({ trigger: 'provisioning', said: { instanceId: OTHER_INSTANCE } }),
    () => ({ trigger: 'finalize', said: { ...finalizeOf(aDevInstance()), ...SECOND } }),
    () => ({ trigger: 'stopping', said: { reason: 'idle for 30 minutes' } }),
    () => ({ trigger: 'awake', said: {} }),
  ]
  /** Of a time long ago are those that name a version. */
  const saidOf = (version: number): Try[] =>
    REPORTS.flatMap((report) => {
      const [now, past] = [report(version), report(version - 1)]
      return 'version' in now.said ? [now, past] : [now]
    })

  /** Of the last reports of all orders so many are one whose row is made again of its facts: all would take hours. */
  const LAST_REBUILT = 50
  /** Every order, each to its end; how many there are is counted, for one that is left out would not be missed. */
  const inEveryOrder = (walk: Walk, point: Point, depth: number): number => {
    if (depth > DEPTH_OF_ORDERS) return 1
    return saidOf(point.instance.version).reduce((orders, one) => {
      const made = step(walk, point, one, later(100_000 + depth * 1000)) ?? point
      if (made !== point && (depth < DEPTH_OF_ORDERS || walk.kept % LAST_REBUILT === 0)) checkRebuilt(walk, made)
      return orders + inEveryOrder(walk, made, depth + 1)
    }, 0)
  }
  /** Those that come to dev instances which are alike in what a further report is judged by are gone on with once. */
  const inOrdersThatDiffer = (walk: Walk, from: readonly Point[]): void => {
    let edge = from
    for (let depth = 1; depth <= DEPTH_OF_ORDERS; depth++) {
      const made = edge.flatMap((point) =>
        saidOf(point.instance.version).flatMap((one) => step(walk, point, one, later(100_000 + depth * 1000)) ?? []),
      )
      edge = made.filter((point) => {
        const like = likeness(point.instance)
        return !walk.known.has(like) && walk.known.add(like)
      })
      for (const point of edge) checkRebuilt(walk, point)
    }
  }

  t(
    'keeps reports that contradict each other, and late ones, in every order of five',
    () => {
      const walk = newWalk()
      const from = [2, 3, 4, 5, 6].flatMap((index) => starts()[index] ?? [])
      if (FULL) {
        const orders = from.reduce((sum, point) => sum + inEveryOrder(walk, point, 1), 0)
        assert.is(orders, from.length * saidOf(1).length ** DEPTH_OF_ORDERS)
      } else inOrdersThatDiffer(walk, from)
      console.log(`\ncounted: ${walk.asked} reports, ${walk.kept} kept`)
      assert.equal([...walk.wrong].slice(0, 10), [])
      assert.ok(walk.kept > 1_500, `only ${walk.kept} kept`)
    },
    { timeoutMs: FULL ? 7_200_000 : 240_000 },
  )

  t('ends at the same cost, whichever part is said to be gone first', () => {
    const orders = <T>(parts: readonly T[]): T[][] =>
      parts.length === 0
        ? [[]]
        : parts.flatMap((part) => orders(parts.filter((one) => one !== part)).map((rest) => [part, ...rest]))
    const part = { instanceGone: false, eipGone: false, volumesGone: false }
    const parts: ((version: number) => Try)[] = [
      (version) => ({ trigger: 'terminated', said: { version, ...part, instanceGone: true } }),
      (version) => ({ trigger: 'terminated', said: { version, ...part, volumesGone: true } }),
      (version) => ({ trigger: 'eip-released', said: { version, allocationId: FIRST.eipAllocId } }),
      (version) => ({ trigger: 'stopped', said: { version } }),
    ]
    for (const point of starts().slice(3, 7)) {
      for (const order of orders(parts)) {
        const walk = newWalk()
        const end = order.reduce(
          (held, said, index) => step(walk, held, said(held.instance.version), later(200_000 + index)) ?? held,
          point,
        )
        const { instance } = end
        // Who says last that it is stopped says that it is there.
        const isSeen = instance.machine !== 'gone'
        assert.equal([...walk.wrong], [])
        assert.is(
          isSeen || instance.state === 'terminated',
          true,
          listed(end.calls)
            .map(({ trigger }) => trigger)
            .join(' '),
        )
        assert.is(isSeen || presentMonthlyMicroUsd(instance) === 0, true)
      }
    }
  })
})
