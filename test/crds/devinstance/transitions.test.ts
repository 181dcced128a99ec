import { breachFindings, machineFindings } from '../../../crds/devinstance/life/breaches.ts'
import { LEASE_MS } from '../../../crds/devinstance/life/happened.ts'
import { nextAsItStands } from '../../../crds/devinstance/life/refusal.ts'
import { committedMicroUsd, type DevInstanceRow, presentMonthlyMicroUsd } from '../../../crds/devinstance/life/row.ts'
import { isReport, STANDINGS, standingOf } from '../../../crds/devinstance/life/table.ts'
import { allowedActions, decide, TRANSITIONS, TRIGGERS } from '../../../crds/devinstance/life/transitions.ts'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
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
  T0,
} from '../../support/builders/devinstance.ts'
import { say, type Try, tries } from '../../support/builders/devinstance-tries.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** One of which nothing was seen since, and one of which something was. */
const tombstones = (): DevInstanceRow[] => {
  const gone = after(inEachState().at(-1) ?? aDevInstance(), 'delete')
  return [gone, after(gone, 'awake'), after(gone, 'awake', 'stopping')]
}

const AT_RISK = { git: { dirty: 1, untracked: 0, unpushed: 2 } }

spec('the table of transitions', (t) => {
  t('has one row for each state and report, and never two for a state and a trigger', () => {
    const rowsFor = TRIGGERS.flatMap((on) =>
      STANDINGS.map((state) => ({
        on,
        state,
        count: TRANSITIONS.filter((row) => row.on === on && row.from.includes(state)).length,
      })),
    )
    assert.equal(
      rowsFor.filter(({ on, count }) => count > 1 || (isReport(on) && count === 0)),
      [],
    )
  })

  t('has no rule that refuses a report and keeps nothing of it', () => {
    const refusing = TRANSITIONS.filter(({ on, guards }) => isReport(on) && guards.length > 0)
    assert.equal(
      refusing.map(({ on, from }) => `${on} from ${from.join()}`),
      [],
    )
  })

  /** What each refusal of one says to do next, with what is open then. */
  const refusalsOf = (instance: DevInstanceRow) =>
    tries(instance).flatMap((one) => {
      const decision = say(instance, one, later(minutes(60)), AT_RISK)
      if (decision.state !== 'refused' && decision.state !== 'recorded') return []
      const stands = decision.state === 'recorded' ? decision.instance : instance
      const [{ code }, allowed] = [decision.refusal, allowedActions(stands)]
      const next = nextAsItStands(code, stands, allowed) ?? PROBLEMS[code].next
      const words = [...next.matchAll(/POST …[/]([a-z-]+)/g)].map(([, word = '']) => word)
      return [{ words, allowed, told: `${stands.state} ${one.trigger} ${code}: ${next}` }]
    })
  t('never refuses with a next step that is not open as the instance stands', () => {
    const renewed = { ...(inEachState()[1] ?? aDevInstance()), lease: { expiresAt: T0, renewed: true } }
    const refusals = [...inEachState(), renewed].flatMap(refusalsOf)
    const closed = refusals.filter(({ words, allowed }) => words.some((word) => !allowed.includes(word)))
    assert.equal([...new Set(closed.map(({ told }) => told))], [])
    assert.ok(new Set(refusals.flatMap(({ words }) => words)).size > 3, 'some name an endpoint')
    assert.equal(
      refusalsOf(renewed).flatMap(({ told }) => (told.includes('once more') ? told : [])),
      [],
      'a lease is renewed once',
    )
  })

  t('uses each of its rows', () => {
    // one that is a day old, one whose override has run out
    const day = later(minutes(60 * 24 * 9))
    const overridden = after(aDevInstance(), 'cap-override')
    const stopping = after(inEachState()[4] ?? aDevInstance(), 'stopping')
    const used = new Set(
      [...inEachState(), overridden, stopping, ...tombstones()].flatMap((instance) =>
        tries(instance).flatMap((one) => {
          const isClock = one.trigger === 'lapse' || one.trigger === 'override-lapse'
          const decision = say(instance, one, isClock ? day : later(5000), CLEAN)
          const row = TRANSITIONS.find(({ on, from }) => on === one.trigger && from.includes(standingOf(instance)))
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
  const part = { instanceGone: false, eipGone: false, volumesGone: false }
  const taken = (instance: DevInstanceRow, one: Try, around: Parameters<typeof say>[3] = CLEAN) => {
    const decision = say(instance, one, T(), around)
    assert.is(decision.state, 'accepted', JSON.stringify(decision))
    return decision.state === 'accepted' ? decision.instance : instance
  }
  const gone = taken(stopped, { trigger: 'terminated', said: { ...v(stopped), ...part, instanceGone: true } })
  const tombstone = after(terminated, 'delete')
  const spent = { ...lapsed, lease: { expiresAt: later(0), renewed: true } }
  const stranger = 'i-ffffffff'
  const half = { publicIp: '198.51.100.7' }
  const inUse = { ...CLEAN, taken: ['instance'] as const }
  /** box, call, code; and when, and around what, where that matters. */
  type Case = [DevInstanceRow, Try, string, string?, typeof AT_RISK?]
  const refusals: Case[] = [
    [reserved, { trigger: 'token', said: { hash: '' } }, 'WRONG_STATE'],
    [lapsed, { trigger: 'token', said: { hash: '' } }, 'LEASE_EXPIRED', late],
    [running, { trigger: 'resizing', said: { ...v(running), sizeClass: 'M', arch: 'x86_64' } }, 'ARCH_CHANGE'],
    [running, { trigger: 'resizing', said: { ...v(running), sizeClass: 'M', diskGb: 20 } }, 'DISK_SHRINK'],
    [running, { trigger: 'resizing', said: { ...v(running), sizeClass: 'M' } }, 'WORK_AT_RISK', T(), AT_RISK],
    [running, { trigger: 'resizing', said: { version: 1, sizeClass: 'M' } }, 'VERSION_CONFLICT'],
    [running, { trigger: 'terminating', said: v(running) }, 'WORK_AT_RISK', T(), AT_RISK],
    [running, { trigger: 'starting', said: v(running) }, 'WRONG_STATE'],
    [gone, { trigger: 'starting', said: v(gone) }, 'WRONG_STATE'],
    [running, { trigger: 'delete', said: {} }, 'INSTANCE_LIVE'],
    [after(terminated, 'awake'), { trigger: 'delete', said: {} }, 'INSTANCE_LIVE'],
    [reserved, { trigger: 'lapse', said: {} }, 'WRONG_STATE'],
    ...(['starting', 'resizing'] as const).map(
      (trigger): Case => [resizing, { trigger, said: good(resizing)[trigger] } as Try, 'RESIZE_PENDING'],
    ),
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
    [tombstone, { trigger: 'starting', said: good(terminated).starting }, 'NOT_FOUND'],
    [tombstone, { trigger: 'delete', said: {} }, 'NOT_FOUND'],
  ]
  for (const [instance, one, code, at = later(5000), around = CLEAN] of refusals) {
    t(`refuses ${one.trigger} while ${instance.state} with ${code}: ${JSON.stringify(one.said).slice(0, 70)}`, () => {
      const decision = decide(one.trigger, { instance, said: one.said as never, at, around })
      assert.is(decision.state, 'refused')
      assert.is(decision.state === 'refused' && decision.refusal.code, code)
      assert.ok(decision.state === 'refused' && decision.refusal.detail.length > 10, 'with its figures')
    })
  }

  /** What the document has refused, of what has happened: it is answered with the code, and it is on record. */
  const recorded: [DevInstanceRow, Try, string, Parameters<typeof say>[3]?][] = [
    [provisioning, { trigger: 'provisioning', said: { instanceId: stranger } }, 'INSTANCE_MISMATCH'],
    [terminated, { trigger: 'provisioning', said: { instanceId: stranger } }, 'WRONG_STATE'],
    [reserved, { trigger: 'provisioning', said: { instanceId: stranger } }, 'INSTANCE_MISMATCH', inUse],
    [spent, { trigger: 'provisioning', said: { instanceId: spent.instanceId ?? '' } }, 'LEASE_EXPIRED'],
    [spent, { trigger: 'provisioning', said: { instanceId: stranger } }, 'INSTANCE_MISMATCH'],
    [
      configuring,
      { trigger: 'finalize', said: { ...good(configuring).finalize, instanceId: stranger } },
      'INSTANCE_MISMATCH',
    ],
    [configuring, { trigger: 'finalize', said: { ...good(configuring).finalize, assertions: {} } }, 'ASSERTION_FAILED'],
    [
      configuring,
      { trigger: 'finalize', said: good(configuring).finalize },
      'ADDRESS_IN_USE',
      { ...CLEAN, taken: ['address'] },
    ],
    [reserved, { trigger: 'finalize', said: good(reserved).finalize }, 'WRONG_STATE'],
    [running, { trigger: 'finalize', said: { ...good(running).finalize, instanceId: stranger } }, 'INSTANCE_MISMATCH'],
    [running, { trigger: 'stopped', said: { version: running.version - 1 } }, 'VERSION_CONFLICT'],
    [running, { trigger: 'eip-released', said: { ...v(running), allocationId: 'eipalloc-9' } }, 'ADDRESS_MISMATCH'],
    [running, { trigger: 'resized', said: good(running).resized }, 'NO_RESIZE_INTENT'],
    [resizing, { trigger: 'started', said: { ...v(resizing), ...SECOND } }, 'RESIZE_PENDING'],
    [configuring, { trigger: 'started', said: v(configuring) }, 'WRONG_STATE'],
    [reserved, { trigger: 'stopped', said: v(reserved) }, 'WRONG_STATE'],
    [terminated, { trigger: 'started', said: v(terminated) }, 'WRONG_STATE'],
    [terminated, { trigger: 'measurements', said: good(terminated).measurements }, 'WRONG_STATE'],
    [ready, { trigger: 'started', said: { ...v(ready), ...half } }, 'ADDRESS_PAIR_REQUIRED'],
    [running, { trigger: 'started', said: { ...v(running), eipAllocId: 'eipalloc-9' } }, 'ADDRESS_PAIR_REQUIRED'],
    [running, { trigger: 'started', said: { ...v(running), eipAllocId: FIRST.eipAllocId } }, 'ADDRESS_PAIR_REQUIRED'],
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, ...half } }, 'ADDRESS_PAIR_REQUIRED'],
    [running, { trigger: 'terminated', said: { ...v(running), ...part } }, 'INSTANCE_LIVE'],
    [
      running,
      { trigger: 'terminated', said: { ...v(running), ...part, instanceGone: true, instanceId: 'i-eeeeeeee' } },
      'INSTANCE_MISMATCH',
    ],
    [tombstone, { trigger: 'renamed', said: good(terminated).renamed }, 'NOT_FOUND'],
    [tombstone, { trigger: 'started', said: v(terminated) }, 'NOT_FOUND'],
    [tombstone, { trigger: 'stopped', said: v(terminated) }, 'NOT_FOUND'],
    [tombstone, { trigger: 'provisioning', said: { instanceId: stranger } }, 'NOT_FOUND'],
  ]
  for (const [instance, one, code, around = CLEAN] of recorded) {
    t(
      `answers ${one.trigger} while ${standingOf(instance)} with ${code}, and has it on record with its price: ${JSON.stringify(one.said).slice(0, 70)}`,
      () => {
        const decision = say(instance, one, T(), around)
        assert.is(decision.state === 'recorded' && decision.refusal.code, code)
        if (decision.state !== 'recorded') return
        assert.equal([decision.instance.state, decision.instance.version], [instance.state, instance.version])
        assert.equal([decision.entries[0]?.kind, decision.entries[0]?.data.code], ['contradicted', code])
        const finding = breachFindings(decision.instance).at(-1)
        assert.match(finding?.message ?? '', /USD a month as it stands, [0-9.]+ USD are committed; [a-z]/)
        const again = say(decision.instance, one, T(), around)
        assert.is(again.state, 'refused', 'the same again is on record already')
      },
    )
  }

  /** What nobody could have asked before: it goes on, and the broken rule is a condition. */
  const conditions: [DevInstanceRow, Try, string, Parameters<typeof say>[3]?][] = [
    [ready, { trigger: 'started', said: { ...v(ready), ...FIRST, publicIp: '198.51.100.7' } }, 'AddressDiffers'],
    [after(stopped, 'eip-released'), { trigger: 'started', said: { version: stopped.version + 1 } }, 'AddressUnknown'],
    [
      stopped,
      { trigger: 'started', said: { ...v(stopped), ...SECOND } },
      'AddressContested',
      { ...CLEAN, taken: ['address'] },
    ],
    [
      stopped,
      { trigger: 'started', said: { ...v(stopped), ...SECOND } },
      'CapExceeded',
      { ...CLEAN, cap: { othersMicroUsd: 0, capMicroUsd: 1 } },
    ],
    [gone, { trigger: 'started', said: v(gone) }, 'ReportedOutOfOrder'],
    [running, { trigger: 'terminated', said: good(running).terminated }, 'WorkLost', AT_RISK],
    [running, { trigger: 'eip-released', said: good(running)['eip-released'] }, 'AddressUnknown'],
    [
      resizing,
      { trigger: 'resized', said: { ...good(resizing).resized, sizeClass: 'XL', diskGb: 300 } },
      'ResizedUnasked',
    ],
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, verifiedDf: '71G' } }, 'FileSystemSmall'],
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, diskGb: 49 } }, 'DiskDiffers'],
    [resizing, { trigger: 'resized', said: { ...good(resizing).resized, arch: 'x86_64' } }, 'ArchDiffers'],
  ]
  for (const [instance, one, condition, around = CLEAN] of conditions) {
    t(`takes ${one.trigger} while ${instance.state} as it was said: ${condition}`, () => {
      const made = taken(instance, one, around)
      assert.ok(
        breachFindings(made).some(({ type }) => type === condition),
        JSON.stringify(breachFindings(made)),
      )
      assert.is(made.version, instance.version + 1)
    })
  }

  t('compares the version before anything else, and a conflict leaves the intent', () => {
    const said = { ...good(resizing).resized, version: resizing.version - 1, sizeClass: 'XL' as const }
    const decision = decide('resized', { instance: resizing, said, at: later(9000), around: CLEAN })
    assert.is(decision.state === 'recorded' && decision.refusal.code, 'VERSION_CONFLICT')
    const held = decision.state === 'recorded' ? decision.instance : resizing
    assert.equal(held.intent, resizing.intent)
    const next = taken(held, { trigger: 'resized', said: good(resizing).resized })
    assert.equal([next.state, next.breaches], ['stopped', []], 'whoever looked and said what is true has answered it')
  })

  t('bills by what is there: each part of it that is gone, and each that is seen again', () => {
    const monthly = (instance: DevInstanceRow) => presentMonthlyMicroUsd(instance)
    const stoppedPrice = monthly(stopped)
    assert.is(monthly(gone), stoppedPrice, 'volumes and address go on')
    assert.match(
      machineFindings(gone)[0]?.message ?? '',
      /not confirmed gone: its volumes, eipalloc-1; it costs 7\.65 USD/,
    )
    const without = taken(gone, { trigger: 'eip-released', said: { ...v(gone), allocationId: FIRST.eipAllocId } })
    assert.is(monthly(without), 4_000_000)
    const end = taken(without, { trigger: 'terminated', said: { ...v(without), ...part, volumesGone: true } })
    assert.equal([end.state, monthly(end), committedMicroUsd(end)], ['terminated', 0, 0])
    const back = say(end, { trigger: 'started', said: v(end) }, T(), CLEAN)
    const seen = back.state === 'recorded' ? back.instance : end
    assert.equal([seen.state, monthly(seen) > 0, monthly(seen) <= committedMicroUsd(seen)], ['terminated', true, true])
    assert.is(machineFindings(seen)[0]?.type, 'SeenRunning')
  })

  t('counts a second instance until it is confirmed gone by its id', () => {
    const two = say(running, { trigger: 'provisioning', said: { instanceId: 'i-ffffffff' } }, T(), CLEAN)
    const both = two.state === 'recorded' ? two.instance : running
    assert.is(presentMonthlyMicroUsd(both), 2 * presentMonthlyMicroUsd(running))
    assert.is(breachFindings(both)[0]?.type, 'SecondInstance')
    const said = { ...v(both), ...part, instanceGone: true, instanceId: 'i-ffffffff' }
    const one = taken(both, { trigger: 'terminated', said })
    assert.equal([one.state, one.strays, one.breaches], ['running', [], []])
  })

  t('bills a machine that stops itself as stopped at once, and one that has not stopped after all as running', () => {
    const stopping = after(running, 'stopping')
    assert.equal([stopping.state, stopping.version], ['running', running.version])
    assert.is(presentMonthlyMicroUsd(stopping), presentMonthlyMicroUsd(stopped))
    assert.is(machineFindings(stopping)[0]?.type, 'Stopping')
    assert.equal(after(stopping, 'awake').machine, 'up')
    assert.is(presentMonthlyMicroUsd(after(stopped, 'awake')), presentMonthlyMicroUsd(running))
  })

  t('spends an override with the next resize, needed or not, and lets it run out', () => {
    const [around] = [{ ...CLEAN, cap: { othersMicroUsd: 0, capMicroUsd: 1 } }]
    const overridden = after(ready, 'cap-override')
    assert.equal(
      [overridden.capOverride?.grantedAt, overridden.capOverride?.expiresAt],
      [later(1000), later(1000 + minutes(7 * 24 * 60))],
    )
    const one: Try = { trigger: 'resizing', said: { ...v(ready), sizeClass: 'M' } }
    const fits = say(overridden, one, T(), CLEAN)
    assert.equal(fits.state === 'accepted' && [fits.instance.capOverride, fits.entries[0]?.data.overrideUsed], [
      null,
      false,
    ])
    const exceeds = say(overridden, one, T(), around)
    assert.is(exceeds.state === 'accepted' && exceeds.instance.intent?.overrideUsed, true)
    const late = say(overridden, one, later(minutes(8 * 24 * 60)), around)
    assert.is(late.state === 'refused' && late.refusal.code, 'CAP_EXCEEDED')
  })

  t('goes on with work at risk once that is acknowledged, on record', () => {
    const said = { ...good(running).terminated, acknowledgeWorkAtRisk: true }
    const decision = decide('terminated', { instance: running, said, at: later(9000), around: AT_RISK })
    assert.equal(decision.state === 'accepted' && decision.entries, [
      { kind: 'terminated', data: { acknowledgedWorkAtRisk: true } },
    ])
    const asked = after(running, 'terminating')
    assert.equal(taken(asked, { trigger: 'terminated', said: good(asked).terminated }, AT_RISK).breaches, [])
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
