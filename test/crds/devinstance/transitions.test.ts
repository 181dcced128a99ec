import { LEASE_MS } from '../../../crds/devinstance/life/effects.ts'
import {
  addressOf,
  committedMicroUsd,
  type DevInstanceRow,
  isLive,
  presentMonthlyMicroUsd,
} from '../../../crds/devinstance/life/row.ts'
import { allowedActions, decide, TRANSITIONS, TRIGGERS } from '../../../crds/devinstance/life/transitions.ts'
import type { Said, Trigger } from '../../../crds/devinstance/protocol.ts'
import { STATES, type State } from '../../../crds/devinstance/schema.ts'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
import { isDeepStrictEqual } from '../../../crds/values/compare.ts'
import {
  aDevInstance,
  after,
  CLEAN,
  FIRST,
  good,
  inEachState,
  later,
  minutes,
  PROFILE,
  SECOND,
} from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const DEPTH = 5
const AT_RISK = { git: { dirty: 1, untracked: 0, unpushed: 2 } }

type Try = { [T in Trigger]: { trigger: T; said: Said[T] } }[Trigger]

/** What may be said of a dev instance: what fits, and what does not in each way that a guard knows. */
const tries = (instance: DevInstanceRow): Try[] => {
  const fits = good(instance)
  const { version } = instance
  const stale = version - 1
  const versioned = ['started', 'stopped', 'resizing', 'resized', 'renamed', 'eip-released', 'terminated'] as const
  return [
    ...TRIGGERS.map((trigger) => ({ trigger, said: fits[trigger] }) as Try),
    ...versioned.map((trigger) => ({ trigger, said: { ...fits[trigger], version: stale } }) as Try),
    { trigger: 'provisioning', said: { instanceId: 'i-ffffffff' } },
    { trigger: 'finalize', said: { ...fits.finalize, instanceId: 'i-ffffffff' } },
    { trigger: 'started', said: { version, ...SECOND } },
    { trigger: 'started', said: { version, publicIp: '198.51.100.9' } },
    { trigger: 'resizing', said: { version, sizeClass: 'XS', arch: 'x86_64' } },
    { trigger: 'resizing', said: { version, sizeClass: 'M', diskGb: 1 } },
    { trigger: 'resizing', said: { version, sizeClass: 'XS' } },
    { trigger: 'resized', said: { ...fits.resized, state: 'running', ...SECOND } },
    {
      trigger: 'resized',
      said: { version, sizeClass: instance.sizeClass, diskGb: instance.diskGb, verifiedDf: '490G', state: 'ready' },
    },
    { trigger: 'resized', said: { ...fits.resized, verifiedDf: '10G' } },
    { trigger: 'eip-released', said: { version, allocationId: 'eipalloc-none' } },
    { trigger: 'eip-released', said: { version, allocationId: FIRST.eipAllocId } },
    { trigger: 'terminated', said: { ...fits.terminated, volumesGone: false } },
    { trigger: 'repo', said: { ...fits.repo, profile: { ...PROFILE, scannedAt: later(-90_000_000) } } },
    { trigger: 'repo', said: { ...fits.repo, profile: { ...PROFILE, resolvedPackages: 100_000 } } },
  ]
}

const told = ({ trigger, said }: Try) => `${trigger} ${JSON.stringify(said)}`
const say = (instance: DevInstanceRow, { trigger, said }: Try, at: string) =>
  decide(trigger, { instance, said: said as never, at, around: CLEAN })

/** What holds of every box, whatever was said of it. */
const faultsOf = (before: DevInstanceRow, instance: DevInstanceRow): string[] => {
  const allocations = instance.held.map(({ eipAllocId }) => eipAllocId)
  const rules: [string, boolean][] = [
    ['the state is one of the table', (STATES as readonly string[]).includes(instance.state)],
    ['the version rises by one at most', instance.version - before.version <= 1 && instance.version >= before.version],
    ['a move shows in the version', instance.state === before.state || instance.version > before.version],
    [
      'an intent stands while it resizes, and only then',
      (instance.intent !== null) === (instance.state === 'resizing'),
    ],
    [
      'an instance is attached once it was reported',
      (instance.instanceId === null) === (instance.state === 'reserved'),
    ],
    ['an instance stays the same', before.instanceId === null || instance.instanceId === before.instanceId],
    ['the address in use is held', instance.eipAllocId === null || addressOf(instance) !== null],
    ['an address is held once', new Set(allocations).size === allocations.length],
    [
      'what is gone holds nothing',
      isLive(instance) || (instance.held.length === 0 && instance.tokenHash === null && instance.env === null),
    ],
    [
      'what is gone costs nothing',
      isLive(instance) || committedMicroUsd(instance) + presentMonthlyMicroUsd(instance) === 0,
    ],
    ['what costs is committed', presentMonthlyMicroUsd(instance) <= committedMicroUsd(instance)],
    [
      'a running instance has an address',
      instance.state !== 'running' || before.state === 'running' || addressOf(instance) !== null,
    ],
    ['a disk never shrinks', instance.diskGb >= before.diskGb],
    ['the architecture stays', instance.arch === before.arch],
    [
      'the clock of cost runs at the present price',
      instance.meter.monthlyMicroUsd === presentMonthlyMicroUsd(instance),
    ],
    [
      'only a deleted one has an end',
      instance.deletedAt === null || ['reserved', 'terminated'].includes(instance.state),
    ],
  ]
  return rules.filter(([, holds]) => !holds).map(([rule]) => rule)
}

/** Two dev instances that every further call treats alike. */
const likeness = (instance: DevInstanceRow): string => {
  const { meter: _, sizedAt: _s, stateSince: _t, startedAt: _a, reservedAt: _r, ...rest } = instance
  const undated = { ...rest, held: rest.held.map(({ eipAllocId }) => eipAllocId), lease: rest.lease !== null }
  return JSON.stringify({ ...undated, terminatedAt: null, intent: rest.intent && { ...rest.intent, announcedAt: '' } })
}

type Walk = { wrong: Set<string>; reached: Set<State>; calls: number; accepted: number }

/** Says one thing of a dev instance, looks at what became of it, and says it again. @returns the dev instance it made */
const step = (walk: Walk, instance: DevInstanceRow, one: Try, at: string): DevInstanceRow | null => {
  walk.calls += 1
  const before = JSON.stringify(instance)
  const decision = say(instance, one, at)
  const complain = (what: string) => void walk.wrong.add(`${instance.state} ${told(one)}: ${what}`)
  if (JSON.stringify(instance) !== before) complain('it wrote on the box it was asked about')
  if (decision.state === 'refused' && !Object.hasOwn(PROBLEMS, decision.refusal.code)) complain(decision.refusal.code)
  if (decision.state !== 'accepted') return null
  walk.accepted += 1
  for (const rule of faultsOf(instance, decision.instance)) complain(rule)
  const again = say(decision.instance, one, at)
  const [was, is] = [decision.instance, again.state === 'accepted' ? again.instance : decision.instance]
  if (!isDeepStrictEqual({ ...was, version: 0 }, { ...is, version: 0 })) complain('a repeat changed something')
  return decision.instance
}

/** Everything that can be said, up to so many times, from one box on. Boxes that are alike are asked once. */
const walkFrom = (walk: Walk, start: DevInstanceRow): void => {
  const known = new Set([likeness(start)])
  let edge = [start]
  for (let depth = 1; depth <= DEPTH; depth++) {
    const made = edge.flatMap((instance) => {
      walk.reached.add(instance.state)
      return tries(instance).map((one) => step(walk, instance, one, later(depth * 1000)))
    })
    edge = made.filter((instance): instance is DevInstanceRow => {
      if (instance === null || known.has(likeness(instance))) return false
      known.add(likeness(instance))
      return true
    })
  }
}

spec('the table of transitions', (t) => {
  t(
    'ends every sequence of up to five triggers legally, from every state, and a repeat changes nothing',
    () => {
      const walk: Walk = { wrong: new Set(), reached: new Set(), calls: 0, accepted: 0 }
      for (const start of inEachState()) walkFrom(walk, start)
      console.log(`\ncounted: ${walk.calls} calls, ${walk.accepted} accepted, in ${walk.reached.size} states`)
      assert.equal([...walk.wrong].slice(0, 10), [])
      assert.equal([...walk.reached].sort(), [...STATES].sort())
      assert.ok(walk.accepted > 2_000, `only ${walk.accepted} accepted`)
    },
    { timeoutMs: 120_000 },
  )

  t('uses each of its rows', () => {
    const used = new Set(
      inEachState().flatMap((instance) =>
        tries(instance).flatMap((one) => {
          const decision = say(instance, one, later(5000))
          const row = TRANSITIONS.find(({ on, from }) => on === one.trigger && from.includes(instance.state))
          return row && decision.state !== 'refused' ? [TRANSITIONS.indexOf(row)] : []
        }),
      ),
    )
    const unused = TRANSITIONS.filter((_, index) => !used.has(index)).map(({ on, from }) => `${on} from ${from.join()}`)
    assert.equal(unused, [])
  })

  const [reserved, provisioning, configuring, ready, running, stopped, resizing, terminated] = inEachState() as [
    DevInstanceRow,
    DevInstanceRow,
    DevInstanceRow,
    DevInstanceRow,
    DevInstanceRow,
    DevInstanceRow,
    DevInstanceRow,
    DevInstanceRow,
  ]
  const lapsed = { ...provisioning, lease: { expiresAt: later(1000 + LEASE_MS), renewed: false } }
  const late = later(minutes(40))
  const v = (instance: DevInstanceRow) => ({ version: instance.version })
  /** box, call, code; and when, and around what, where that matters. */
  const refusals: [DevInstanceRow, Try, string, string?, typeof AT_RISK?][] = [
    [reserved, { trigger: 'token', said: { hash: '' } }, 'WRONG_STATE'],
    [provisioning, { trigger: 'provisioning', said: { instanceId: 'i-ffffffff' } }, 'INSTANCE_MISMATCH'],
    [lapsed, { trigger: 'token', said: { hash: '' } }, 'LEASE_EXPIRED', late],
    [
      { ...lapsed, lease: { expiresAt: later(0), renewed: true } },
      { trigger: 'provisioning', said: { instanceId: provisioning.instanceId ?? '' } },
      'LEASE_EXPIRED',
      late,
    ],
    [
      configuring,
      { trigger: 'finalize', said: { ...good(configuring).finalize, instanceId: 'i-ffffffff' } },
      'INSTANCE_MISMATCH',
    ],
    [configuring, { trigger: 'finalize', said: { ...good(configuring).finalize, assertions: {} } }, 'ASSERTION_FAILED'],
    [ready, { trigger: 'started', said: { ...v(ready), publicIp: '198.51.100.7' } }, 'ADDRESS_PAIR_REQUIRED'],
    [ready, { trigger: 'started', said: { ...v(ready), ...FIRST, publicIp: '198.51.100.7' } }, 'ADDRESS_MISMATCH'],
    [
      after(stopped, 'eip-released'),
      { trigger: 'started', said: v(after(stopped, 'eip-released')) },
      'ADDRESS_PAIR_REQUIRED',
    ],
    [running, { trigger: 'started', said: { version: running.version + 1 } }, 'VERSION_CONFLICT'],
    [running, { trigger: 'eip-released', said: { ...v(running), allocationId: 'eipalloc-9' } }, 'ADDRESS_MISMATCH'],
    [running, { trigger: 'resizing', said: { ...v(running), sizeClass: 'M', arch: 'x86_64' } }, 'ARCH_CHANGE'],
    [running, { trigger: 'resizing', said: { ...v(running), sizeClass: 'M', diskGb: 20 } }, 'DISK_SHRINK'],
    [running, { trigger: 'resizing', said: { ...v(running), sizeClass: 'M' } }, 'WORK_AT_RISK', T(), AT_RISK],
    [running, { trigger: 'terminated', said: good(running).terminated }, 'WORK_AT_RISK', T(), AT_RISK],
    [running, { trigger: 'terminated', said: { ...good(running).terminated, eipGone: false } }, 'INSTANCE_LIVE'],
    [running, { trigger: 'resized', said: good(running).resized }, 'NO_RESIZE_INTENT'],
    [running, { trigger: 'delete', said: {} }, 'INSTANCE_LIVE'],
    ...(['started', 'stopped', 'resizing', 'eip-released'] as const).map((trigger): [DevInstanceRow, Try, string] => [
      resizing,
      { trigger, said: good(resizing)[trigger] } as Try,
      'RESIZE_PENDING',
    ]),
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, sizeClass: 'XL' } }, 'NO_RESIZE_INTENT'],
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, verifiedDf: '71G' } }, 'ASSERTION_FAILED'],
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, diskGb: 49 } }, 'DISK_SHRINK'],
    [
      running,
      { trigger: 'repo', said: { ...good(running).repo, profile: { ...PROFILE, scannedAt: later(-90_000_000) } } },
      'PROFILE_STALE',
    ],
    [
      running,
      { trigger: 'repo', said: { ...good(running).repo, profile: { ...PROFILE, resolvedPackages: 100_000 } } },
      'RESIZE_REQUIRED',
    ],
    [terminated, { trigger: 'env', said: good(terminated).env }, 'WRONG_STATE'],
    [after(terminated, 'delete'), { trigger: 'renamed', said: good(terminated).renamed }, 'NOT_FOUND'],
  ]
  for (const [instance, one, code, at = later(5000), around = CLEAN] of refusals) {
    t(`refuses ${one.trigger} while ${instance.state} with ${code}: ${JSON.stringify(one.said).slice(0, 70)}`, () => {
      const decision = decide(one.trigger, { instance, said: one.said as never, at, around })
      assert.is(decision.state, 'refused')
      assert.is(decision.state === 'refused' && decision.refusal.code, code)
      assert.ok(decision.state === 'refused' && decision.refusal.detail.length > 10, 'with its figures')
    })
  }

  t('compares the version before anything else, and a conflict leaves the intent', () => {
    const said = { ...good(resizing).resized, version: resizing.version - 1, sizeClass: 'XL' as const }
    const decision = decide('resized', { instance: resizing, said, at: later(9000), around: CLEAN })
    assert.is(decision.state === 'refused' && decision.refusal.code, 'VERSION_CONFLICT')
    assert.is(
      decide('resized', { instance: resizing, said: good(resizing).resized, at: later(9000), around: CLEAN }).state,
      'accepted',
    )
  })

  t('goes on with work at risk once that is acknowledged, on record', () => {
    const said = { ...good(running).terminated, acknowledgeWorkAtRisk: true }
    const decision = decide('terminated', { instance: running, said, at: later(9000), around: AT_RISK })
    assert.equal(decision.state === 'accepted' && decision.entries, [
      { kind: 'terminated', data: { acknowledgedWorkAtRisk: true } },
    ])
  })

  t('renews a lease once, by the same instance, and takes a late finalize with a mark', () => {
    const again = decide('provisioning', { instance: lapsed, said: good(lapsed).provisioning, at: late, around: CLEAN })
    assert.is(again.state === 'accepted' && again.instance.lease?.renewed, true)
    assert.is(again.state === 'accepted' && again.instance.version, lapsed.version)
    const instance = { ...configuring, lease: lapsed.lease }
    const finalized = decide('finalize', { instance, said: good(instance).finalize, at: late, around: CLEAN })
    assert.is(finalized.state === 'accepted' && finalized.instance.finalizedLate, true)
  })

  t('takes a resize back to what it was, keeping a disk that has grown', () => {
    const said = { ...good(resizing).resized, sizeClass: 'S' as const, diskGb: 80 }
    const decision = decide('resized', { instance: resizing, said, at: later(9000), around: CLEAN })
    const instance = decision.state === 'accepted' ? decision.instance : aDevInstance()
    assert.equal([instance.sizeClass, instance.diskGb, instance.intent, instance.state], ['S', 80, null, 'stopped'])
  })

  t('keeps an address that was not released as held, and says what it costs', () => {
    const decision = decide('started', {
      instance: stopped,
      said: { ...v(stopped), ...SECOND },
      at: later(9000),
      around: CLEAN,
    })
    const instance = decision.state === 'accepted' ? decision.instance : aDevInstance()
    assert.equal([instance.eipAllocId, instance.held.length], [SECOND.eipAllocId, 2])
    assert.is(committedMicroUsd(instance) - committedMicroUsd(stopped), 3_650_000)
    assert.equal(decision.state === 'accepted' && decision.entries.map(({ kind }) => kind), [
      'started',
      'address.changed',
    ])
  })

  t('names the actions that are open, by the last words of the endpoints', () => {
    assert.equal(allowedActions(reserved).slice(0, 2), ['provisioning', 'renamed'])
    assert.ok(allowedActions(reserved).includes('delete') && !allowedActions(running).includes('delete'))
    assert.ok(allowedActions(resizing).includes('resized') && !allowedActions(resizing).includes('started'))
    assert.equal(allowedActions(terminated), ['teams', 'delete'])
    assert.ok(allowedActions(after(running, 'env')).includes('reveal'))
    assert.equal(allowedActions(after(terminated, 'delete')), [])
  })

  function T(): string {
    return later(5000)
  }
})
