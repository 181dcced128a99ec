import { isDeepStrictEqual } from '../../crds/compare.ts'
import { addressOf, type Box, committedMicroUsd, isLive, presentMonthlyMicroUsd } from '../../crds/devinstance/box.ts'
import { LEASE_MS } from '../../crds/devinstance/effects.ts'
import type { Said, Trigger } from '../../crds/devinstance/protocol.ts'
import { STATES, type State } from '../../crds/devinstance/schema.ts'
import { allowedActions, decide, TRANSITIONS, TRIGGERS } from '../../crds/devinstance/transitions.ts'
import { PROBLEMS } from '../../crds/problem.ts'
import { aBox, after, CLEAN, FIRST, good, inEachState, later, minutes, PROFILE, SECOND } from '../support/devbox.ts'
import { assert, spec } from '../support/spec.ts'

const DEPTH = 5
const AT_RISK = { git: { dirty: 1, untracked: 0, unpushed: 2 } }

type Try = { [T in Trigger]: { trigger: T; said: Said[T] } }[Trigger]

/** What may be said of a box: what fits, and what does not in each way that a guard knows. */
const tries = (box: Box): Try[] => {
  const fits = good(box)
  const { version } = box
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
      said: { version, sizeClass: box.sizeClass, diskGb: box.diskGb, verifiedDf: '490G', state: 'ready' },
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
const say = (box: Box, { trigger, said }: Try, at: string) =>
  decide(trigger, { box, said: said as never, at, around: CLEAN })

/** What holds of every box, whatever was said of it. */
const faultsOf = (before: Box, box: Box): string[] => {
  const allocations = box.held.map(({ eipAllocId }) => eipAllocId)
  const rules: [string, boolean][] = [
    ['the state is one of the table', (STATES as readonly string[]).includes(box.state)],
    ['the version rises by one at most', box.version - before.version <= 1 && box.version >= before.version],
    ['a move shows in the version', box.state === before.state || box.version > before.version],
    ['an intent stands while it resizes, and only then', (box.intent !== null) === (box.state === 'resizing')],
    ['an instance is attached once it was reported', (box.instanceId === null) === (box.state === 'reserved')],
    ['an instance stays the same', before.instanceId === null || box.instanceId === before.instanceId],
    ['the address in use is held', box.eipAllocId === null || addressOf(box) !== null],
    ['an address is held once', new Set(allocations).size === allocations.length],
    [
      'what is gone holds nothing',
      isLive(box) || (box.held.length === 0 && box.tokenHash === null && box.env === null),
    ],
    ['what is gone costs nothing', isLive(box) || committedMicroUsd(box) + presentMonthlyMicroUsd(box) === 0],
    ['what costs is committed', presentMonthlyMicroUsd(box) <= committedMicroUsd(box)],
    [
      'a running instance has an address',
      box.state !== 'running' || before.state === 'running' || addressOf(box) !== null,
    ],
    ['a disk never shrinks', box.diskGb >= before.diskGb],
    ['the architecture stays', box.arch === before.arch],
    ['the clock of cost runs at the present price', box.meter.monthlyMicroUsd === presentMonthlyMicroUsd(box)],
    ['only a deleted one has an end', box.deletedAt === null || ['reserved', 'terminated'].includes(box.state)],
  ]
  return rules.filter(([, holds]) => !holds).map(([rule]) => rule)
}

/** Two boxes that every further call treats alike. */
const likeness = (box: Box): string => {
  const { meter: _, sizedAt: _s, stateSince: _t, startedAt: _a, reservedAt: _r, ...rest } = box
  const undated = { ...rest, held: rest.held.map(({ eipAllocId }) => eipAllocId), lease: rest.lease !== null }
  return JSON.stringify({ ...undated, terminatedAt: null, intent: rest.intent && { ...rest.intent, announcedAt: '' } })
}

type Walk = { wrong: Set<string>; reached: Set<State>; calls: number; accepted: number }

/** Says one thing of a box, looks at what became of it, and says it again. @returns the box it made */
const step = (walk: Walk, box: Box, one: Try, at: string): Box | null => {
  walk.calls += 1
  const before = JSON.stringify(box)
  const decision = say(box, one, at)
  const complain = (what: string) => void walk.wrong.add(`${box.state} ${told(one)}: ${what}`)
  if (JSON.stringify(box) !== before) complain('it wrote on the box it was asked about')
  if (decision.state === 'refused' && !Object.hasOwn(PROBLEMS, decision.refusal.code)) complain(decision.refusal.code)
  if (decision.state !== 'accepted') return null
  walk.accepted += 1
  for (const rule of faultsOf(box, decision.box)) complain(rule)
  const again = say(decision.box, one, at)
  const [was, is] = [decision.box, again.state === 'accepted' ? again.box : decision.box]
  if (!isDeepStrictEqual({ ...was, version: 0 }, { ...is, version: 0 })) complain('a repeat changed something')
  return decision.box
}

/** Everything that can be said, up to so many times, from one box on. Boxes that are alike are asked once. */
const walkFrom = (walk: Walk, start: Box): void => {
  const known = new Set([likeness(start)])
  let edge = [start]
  for (let depth = 1; depth <= DEPTH; depth++) {
    const made = edge.flatMap((box) => {
      walk.reached.add(box.state)
      return tries(box).map((one) => step(walk, box, one, later(depth * 1000)))
    })
    edge = made.filter((box): box is Box => {
      if (box === null || known.has(likeness(box))) return false
      known.add(likeness(box))
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
      inEachState().flatMap((box) =>
        tries(box).flatMap((one) => {
          const decision = say(box, one, later(5000))
          const row = TRANSITIONS.find(({ on, from }) => on === one.trigger && from.includes(box.state))
          return row && decision.state !== 'refused' ? [TRANSITIONS.indexOf(row)] : []
        }),
      ),
    )
    const unused = TRANSITIONS.filter((_, index) => !used.has(index)).map(({ on, from }) => `${on} from ${from.join()}`)
    assert.equal(unused, [])
  })

  const [reserved, provisioning, configuring, ready, running, stopped, resizing, terminated] = inEachState() as [
    Box,
    Box,
    Box,
    Box,
    Box,
    Box,
    Box,
    Box,
  ]
  const lapsed = { ...provisioning, lease: { expiresAt: later(1000 + LEASE_MS), renewed: false } }
  const late = later(minutes(40))
  const v = (box: Box) => ({ version: box.version })
  /** box, call, code; and when, and around what, where that matters. */
  const refusals: [Box, Try, string, string?, typeof AT_RISK?][] = [
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
    ...(['started', 'stopped', 'resizing', 'eip-released'] as const).map((trigger): [Box, Try, string] => [
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
  for (const [box, one, code, at = later(5000), around = CLEAN] of refusals) {
    t(`refuses ${one.trigger} while ${box.state} with ${code}: ${JSON.stringify(one.said).slice(0, 70)}`, () => {
      const decision = decide(one.trigger, { box, said: one.said as never, at, around })
      assert.is(decision.state, 'refused')
      assert.is(decision.state === 'refused' && decision.refusal.code, code)
      assert.ok(decision.state === 'refused' && decision.refusal.detail.length > 10, 'with its figures')
    })
  }

  t('compares the version before anything else, and a conflict leaves the intent', () => {
    const said = { ...good(resizing).resized, version: resizing.version - 1, sizeClass: 'XL' as const }
    const decision = decide('resized', { box: resizing, said, at: later(9000), around: CLEAN })
    assert.is(decision.state === 'refused' && decision.refusal.code, 'VERSION_CONFLICT')
    assert.is(
      decide('resized', { box: resizing, said: good(resizing).resized, at: later(9000), around: CLEAN }).state,
      'accepted',
    )
  })

  t('goes on with work at risk once that is acknowledged, on record', () => {
    const said = { ...good(running).terminated, acknowledgeWorkAtRisk: true }
    const decision = decide('terminated', { box: running, said, at: later(9000), around: AT_RISK })
    assert.equal(decision.state === 'accepted' && decision.told, [
      { kind: 'terminated', data: { acknowledgedWorkAtRisk: true } },
    ])
  })

  t('renews a lease once, by the same instance, and takes a late finalize with a mark', () => {
    const again = decide('provisioning', { box: lapsed, said: good(lapsed).provisioning, at: late, around: CLEAN })
    assert.is(again.state === 'accepted' && again.box.lease?.renewed, true)
    assert.is(again.state === 'accepted' && again.box.version, lapsed.version)
    const box = { ...configuring, lease: lapsed.lease }
    const finalized = decide('finalize', { box, said: good(box).finalize, at: late, around: CLEAN })
    assert.is(finalized.state === 'accepted' && finalized.box.finalizedLate, true)
  })

  t('takes a resize back to what it was, keeping a disk that has grown', () => {
    const said = { ...good(resizing).resized, sizeClass: 'S' as const, diskGb: 80 }
    const decision = decide('resized', { box: resizing, said, at: later(9000), around: CLEAN })
    const box = decision.state === 'accepted' ? decision.box : aBox()
    assert.equal([box.sizeClass, box.diskGb, box.intent, box.state], ['S', 80, null, 'stopped'])
  })

  t('keeps an address that was not released as held, and says what it costs', () => {
    const decision = decide('started', {
      box: stopped,
      said: { ...v(stopped), ...SECOND },
      at: later(9000),
      around: CLEAN,
    })
    const box = decision.state === 'accepted' ? decision.box : aBox()
    assert.equal([box.eipAllocId, box.held.length], [SECOND.eipAllocId, 2])
    assert.is(committedMicroUsd(box) - committedMicroUsd(stopped), 3_650_000)
    assert.equal(decision.state === 'accepted' && decision.told.map(({ kind }) => kind), ['started', 'address.changed'])
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
