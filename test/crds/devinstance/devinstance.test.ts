import { isNews, resizeProposal } from '../../../crds/devinstance/bootstrap/report.ts'
import { devInstanceFaults } from '../../../crds/devinstance/faults.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import { costToDateMicroUsd, presentMonthlyMicroUsd } from '../../../crds/devinstance/life/row.ts'
import { type DevInstanceResource, planDevInstance } from '../../../crds/devinstance/plan.ts'
import { capRefusal } from '../../../crds/devinstance/reserving.ts'
import { usdOf } from '../../../crds/devinstance/sizing/prices.ts'
import { devInstanceDetail, storedDevInstance } from '../../../crds/devinstance/view.ts'
import type { DevInstanceWorld, Pending } from '../../../crds/devinstance/world.ts'
import { restSchema, toSpec } from '../../../crds/kernel/rest.ts'
import {
  aDevInstance,
  after,
  anInstance,
  good,
  inEachState,
  later,
  minutes,
  T0,
} from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const aWorld = (change: Partial<DevInstanceWorld> = {}): DevInstanceWorld => ({
  account: { capabilities: ['devbox.manage'], capMicroUsd: 100_000_000 },
  record: null,
  pending: [],
  lastReport: null,
  factSeq: 0,
  ...change,
})
const recorded = (instance = aDevInstance()) => ({
  uid: 'uid-1',
  rev: 7,
  pricingVersion: instance.pricingVersion,
  box: instance,
  othersMicroUsd: 0,
})
const plan = (world: Partial<DevInstanceWorld>, at = later(minutes(1)), object = anInstance()) =>
  planDevInstance(object, aWorld(world), new Date(at))
const dos = ({ steps }: ReturnType<typeof plan>) => steps.map((step) => step.do)

spec('the plan of a dev instance', (t) => {
  t('reserves what came by kubectl, then enters it', () => {
    assert.equal(dos(plan({})), ['reserve'])
    assert.equal(plan({}).steps[0], {
      do: 'reserve',
      name: 'dev-1',
      committedMicroUsd: 56_706_000,
      capMicroUsd: 100_000_000,
      pricingVersion: '2026-07-20',
    })
    const record = { uid: null, rev: 0, pricingVersion: '2026-07-20', box: null, othersMicroUsd: 0 }
    assert.equal(plan({ record }).steps, [{ do: 'enter', name: 'dev-1', pricingVersion: '2026-07-20', rev: 0 }])
  })

  t('stops where a person must act, with the code of REST', () => {
    const verdict = (world: Partial<DevInstanceWorld>, object = anInstance()) => {
      const { verdict: said } = plan(world, T0, object)
      return said.state === 'stalled' ? said.code : said.reason
    }
    assert.is(verdict({ account: null }), 'AccountMissing')
    assert.is(verdict({ account: { capabilities: [], capMicroUsd: 1 } }), 'CAPABILITY_REQUIRED')
    assert.is(verdict({}, anInstance({ diskGb: 20 })), 'INVALID_FIELD')
    assert.is(verdict({}, anInstance({}, true)), 'Deleted')
  })

  t('is ready only while nothing is asked of the provisioner', () => {
    const verdicts = inEachState().map(
      (instance) => `${instance.state} ${plan({ record: recorded(instance) }).verdict.state}`,
    )
    assert.equal(verdicts, [
      'reserved waiting',
      'provisioning waiting',
      'configuring waiting',
      'ready ready',
      'running ready',
      'stopped ready',
      'resizing waiting',
      'terminated ready',
    ])
  })

  t('judges one call at a time, the oldest first', () => {
    const call = (seq: number, trigger: Pending['trigger']) =>
      ({ seq, trigger, said: good(aDevInstance())[trigger], by: null, at: T0 }) as Pending
    const made = plan({ record: recorded(), pending: [call(3, 'provisioning'), call(4, 'delete')] })
    const [step] = made.steps
    assert.equal(dos(made), ['settle'])
    assert.equal(step?.do === 'settle' && [step.rev, step.settlement.seq, step.settlement.state], [7, 3, 'accepted'])
    const refused = plan({ record: recorded(), pending: [call(5, 'stopped')] }).steps[0]
    assert.is(
      refused?.do === 'settle' && refused.settlement.state === 'refused' && refused.settlement.code,
      'WRONG_STATE',
    )
  })

  t('lets a reservation lapse after a day, and not a millisecond before', () => {
    const day = minutes(24 * 60)
    const before = plan({ record: recorded() }, later(day - 1))
    assert.equal([dos(before), before.wakeAt], [[], later(day)])
    const [step] = plan({ record: recorded() }, later(day)).steps
    const settled = step?.do === 'settle' && step.settlement.state === 'accepted' ? step.settlement : null
    assert.equal([settled?.trigger, settled?.instance.deletedAt], ['lapse', later(day)])
    assert.equal(dos(plan({ record: recorded(inEachState()[1]) }, later(day))), [], 'one that was launched stays')
  })

  t('holds a deleted resource until nothing is left to pay for', () => {
    const [reserved, , , , running, , , terminated] = inEachState()
    const going = anInstance({}, true)
    const verdict = plan({ record: recorded(running) }, T0, going).verdict
    assert.is(verdict.state === 'stalled' && verdict.code, 'INSTANCE_LIVE')
    for (const instance of [reserved, terminated])
      assert.equal(dos(plan({ record: recorded(instance) }, T0, going)), ['settle'])
    const gone = aDevInstance({ deletedAt: T0 })
    assert.is(plan({ record: recorded(gone) }, T0, going).verdict.state, 'ready')
    const other = { ...recorded(gone), uid: 'uid-0' }
    assert.equal(dos(plan({ record: other })), ['reserve'], 'a new resource under a name that was used')
  })

  t('removes the resource of what is deleted, once its status says so, and nobody has to come back for it', () => {
    const world = { record: recorded(aDevInstance({ deletedAt: T0 })) }
    const first = plan(world, T0)
    assert.equal([dos(first), first.wakeAt], [[], later(1_000)], 'its status is written first')
    const buried: DevInstanceResource = { ...anInstance(), status: { phase: 'deleted' } }
    assert.equal(dos(plan(world, T0, buried)), ['remove'])
    assert.equal(dos(plan({ ...world, isRemoved: true }, T0, buried)), [])
    const lapsed = { record: recorded(aDevInstance({ deletedAt: later(24 * 3_600_000) })) }
    assert.equal(dos(plan(lapsed, later(24 * 3_600_000), buried)), ['remove'], 'what lapsed is no resource either')
    const lost = { ...anInstance(), metadata: { ...anInstance().metadata, isLost: true as const } }
    assert.equal(
      [dos(plan(lapsed, later(24 * 3_600_000), lost)), plan(lapsed, later(24 * 3_600_000), lost).wakeAt],
      [[], undefined],
    )
    const going = { ...buried, metadata: anInstance({}, true).metadata }
    assert.equal([dos(plan(world, T0, going)), plan(world, T0, going).wakeAt], [[], undefined])
  })

  t('says what is wrong by conditions, and when to look again', () => {
    const [, provisioning, , , running] = inEachState() as [
      never,
      ReturnType<typeof aDevInstance>,
      never,
      never,
      ReturnType<typeof aDevInstance>,
    ]
    const types = (world: Partial<DevInstanceWorld>, at: string) => plan(world, at).conditions?.map(({ type }) => type)
    const leaseEnd = provisioning.lease?.expiresAt ?? ''
    assert.equal(types({ record: recorded(provisioning) }, leaseEnd), [])
    assert.equal(types({ record: recorded(provisioning) }, later(1, leaseEnd)), ['LeaseExpired'])
    const started = running.startedAt ?? ''
    assert.is(plan({ record: recorded(running) }, started).wakeAt, later(minutes(5), started))
    assert.equal(types({ record: recorded(running) }, later(minutes(5), started)), ['ReportStale'])
    const lastReport = {
      at: later(minutes(4), started),
      git: { dirty: 0, untracked: 2, unpushed: 0 },
      usedAt: null,
      attestedAt: null,
    }
    assert.equal(types({ record: recorded(running), lastReport }, later(minutes(5), started)), ['WorkAtRisk'])
    const two = {
      ...running,
      held: [...running.held, { eipAllocId: 'eipalloc-8', publicIp: '198.51.100.8', heldFrom: T0 }],
    }
    assert.ok(types({ record: recorded(two) }, started)?.includes('AddressOrphaned'))
  })
})

spec('what a dev instance costs', (t) => {
  t('begins with the launch, follows the state, and ends with its end', () => {
    const monthly = inEachState().map(
      (instance) => `${instance.state} ${usdOf(presentMonthlyMicroUsd(instance)).toFixed(2)}`,
    )
    assert.equal(monthly, [
      'reserved 0.00',
      'provisioning 56.71',
      'configuring 56.71',
      'ready 56.71',
      'running 56.71',
      'stopped 7.65',
      'resizing 7.65',
      'terminated 0.00',
    ])
    const released = after(inEachState()[5] ?? aDevInstance(), 'eip-released')
    assert.is(usdOf(presentMonthlyMicroUsd(released)), 4)
  })

  t('adds up to the dollar: a month of running and a month of being stopped', () => {
    const hour = 3_600_000
    const running = inEachState()[4] ?? aDevInstance()
    const since = Date.parse(running.meter.since) - Date.parse(T0)
    const month = later(since + 730 * hour)
    assert.is(usdOf(costToDateMicroUsd(running, month)), 56.71)
    assert.is(costToDateMicroUsd(running, T0), 0, 'a clock that runs backwards costs nothing')
  })

  t('is refused above the cap with its arithmetic', () => {
    const { code, detail } = capRefusal({ committedMicroUsd: 56_706_000, capMicroUsd: 100_000_000, others: 61_156_000 })
    assert.is(code, 'CAP_EXCEEDED')
    assert.is(detail, '61.16 USD a month committed and 56.71 USD for this are 117.86 USD, the cap is 100.00 USD')
  })
})

spec('a dev instance over REST', (t) => {
  t('is asked for in the names of the document', () => {
    const schema = restSchema(DEVINSTANCE.spec, { names: 'camel' }) as {
      properties: Record<string, unknown>
      required: string[]
    }
    assert.equal(Object.keys(schema.properties), ['name', 'sizeClass', 'arch', 'diskGb', 'agents', 'repo', 'policy'])
    assert.equal(schema.required, ['sizeClass'])
    const made = toSpec(DEVINSTANCE, { name: 'a', sizeClass: 'XS', policy: { idleMinutes: 20 } }, { account: 'demo' })
    assert.equal(made, {
      name: 'a',
      sizeClass: 'XS',
      policy: { idleMinutes: 20, autoscale: 'ask' },
      account: 'demo',
      arch: 'arm64',
      agents: [],
    })
  })

  t('refuses a disk below the class and an agent named twice', () => {
    assert.equal(
      devInstanceFaults({ sizeClass: 'M', agents: ['codex', 'codex'], diskGb: 79 }).map(({ pointer }) => pointer),
      ['/diskGb', '/agents/1'],
    )
  })

  t('shows the row, its price, and what may be done next', () => {
    const instance = inEachState()[4] ?? aDevInstance()
    const stored = storedDevInstance(anInstance(), instance, plan({ record: recorded(instance) }))
    const shown = devInstanceDetail(
      { ...stored, box: instance },
      { at: later(0, instance.meter.since), lastReport: null, events: [] },
    )
    assert.equal(
      [shown.name, shown.state, shown.version, shown.publicIp, shown.policy, shown.price.runningMonthlyUsd],
      ['october', 'running', 5, '198.51.100.1', { idleMinutes: 30, autoscale: 'ask' }, 56.71],
    )
    assert.not.match(JSON.stringify(shown), 'cdcdcd', 'the hash of the report token stays inside')
  })
})

spec('a report of a dev instance', (t) => {
  const kept = (atMs: number, body: Record<string, unknown>) => ({ at: later(atMs), body })
  t('wakes the controllers only for what conditions speak of', () => {
    const clean = kept(0, { git: { dirty: 0 } })
    assert.is(isNews(null, clean), true)
    assert.is(isNews(clean, kept(minutes(1), { git: { dirty: 0 } })), false)
    assert.is(isNews(clean, kept(minutes(1), { git: { dirty: 3 } })), true)
    assert.is(isNews(clean, kept(minutes(6), { git: { dirty: 0 } })), true)
    assert.is(isNews(clean, kept(minutes(1), { git: { dirty: 0 }, attested: {} })), true)
  })

  t('leads to a proposal once memory ran out, and to none for what happened before the resize', () => {
    const instance = inEachState()[4] ?? aDevInstance()
    const memory = { totalGb: 8, usedGb: 7, peakRssGb: 3 }
    const reports = [
      kept(minutes(1), { at: later(minutes(1)), memory, oom: { count: 0 } }),
      kept(minutes(2), { at: later(minutes(2)), memory, oom: { count: 1, victim: 'cc1plus' } }),
    ]
    const seen = {
      reports,
      committedMicroUsd: 56_706_000,
      capMicroUsd: 1_000_000_000,
      now: new Date(later(minutes(3))),
    }
    const of = { id: 'dev-1', box: instance, policy: { idleMinutes: 30, autoscale: 'ask' as const } }
    assert.equal(resizeProposal(of, seen)?.sizeClass, 'M')
    assert.match(resizeProposal(of, seen)?.command ?? '', 'bottega devbox resize dev-1')
    assert.is(resizeProposal({ ...of, policy: { ...of.policy, autoscale: 'never' } }, seen), null)
    assert.is(resizeProposal({ ...of, box: { ...instance, sizedAt: later(minutes(2) + 1) } }, seen), null)
    assert.is(resizeProposal(of, { ...seen, reports: reports.slice(0, 1) }), null)
  })
})
