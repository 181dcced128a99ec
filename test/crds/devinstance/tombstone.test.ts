import { BREACHES, breachFindings, machineFindings } from '../../../crds/devinstance/life/breaches.ts'
import { committedMicroUsd, type DevInstanceRow, presentMonthlyMicroUsd } from '../../../crds/devinstance/life/row.ts'
import { allowedActions } from '../../../crds/devinstance/life/transitions.ts'
import { CONDITIONS_MAX } from '../../../crds/devinstance/schema.ts'
import { tombstoneOf } from '../../../crds/devinstance/view.ts'
import { aDevInstance, after, CLEAN, good, INSTANCE, inEachState, later } from '../../support/builders/devinstance.ts'
import { say, type Try } from '../../support/builders/devinstance-tries.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const AT = later(60_000)
const LAUNCHED_LATE = 'i-00000000'

const kept = (instance: DevInstanceRow, one: Try, around = CLEAN): DevInstanceRow => {
  const decision = say(instance, one, AT, around)
  assert.ok(decision.state === 'recorded' || decision.state === 'accepted', JSON.stringify(decision))
  return decision.state === 'recorded' || decision.state === 'accepted' ? decision.instance : instance
}
const namesOf = (instance: DevInstanceRow) =>
  [...breachFindings(instance), ...machineFindings(instance)].map(({ type }) => type)

spec('what is said of a dev instance that was deleted', (t) => {
  const tombstone = after(inEachState().at(-1) ?? aDevInstance(), 'delete')
  const lapsed = { ...aDevInstance(), deletedAt: later(0) }
  const { version } = tombstone
  const all = { instanceGone: true, eipGone: true, volumesGone: true }

  t('costs what is there again, counts against the cap, and is shown with its price and the next step', () => {
    assert.equal([presentMonthlyMicroUsd(tombstone), committedMicroUsd(tombstone)], [0, 0])
    const up = kept(tombstone, { trigger: 'started', said: { version } })
    assert.equal([up.deletedAt, up.state, up.version], [tombstone.deletedAt, 'terminated', version])
    assert.is(presentMonthlyMicroUsd(up), committedMicroUsd(up))
    assert.is(up.meter.monthlyMicroUsd, presentMonthlyMicroUsd(up))
    assert.ok(presentMonthlyMicroUsd(up) > 50_000_000, 'compute and volumes')
    const { conditions } = tombstoneOf({ id: 'dev-1', owner: 'demo', box: up })
    assert.equal(
      conditions.map(({ type, since }) => [type, since]),
      [
        ['SeenAfterDeletion', AT],
        ['SeenRunning', AT],
      ],
    )
    assert.match(
      conditions[0]?.message ?? '',
      /it was deleted at .*; it costs 53\.06 USD a month as it stands.*take down/,
    )
    assert.equal(allowedActions(up), [])
  })

  t('says that the cap is exceeded by it', () => {
    const cap = { othersMicroUsd: 90_000_000, capMicroUsd: 100_000_000 }
    const up = kept(tombstone, { trigger: 'started', said: { version } }, { ...CLEAN, cap } as typeof CLEAN)
    assert.equal(namesOf(up), ['CapExceeded', 'SeenAfterDeletion', 'SeenRunning'])
  })

  t('ends once that is confirmed gone, part by part', () => {
    const up = kept(tombstone, { trigger: 'finalize', said: good(tombstone).finalize })
    const part = kept(up, { trigger: 'terminated', said: { version, ...all, volumesGone: false } })
    assert.is(presentMonthlyMicroUsd(part), 4_000_000)
    assert.equal(namesOf(part), ['LeftBehind'])
    const over = kept(part, { trigger: 'terminated', said: { version, ...all } })
    assert.equal([presentMonthlyMicroUsd(over), namesOf(over), over.deletedAt], [0, [], tombstone.deletedAt])
    assert.is(say(over, { trigger: 'terminated', said: { version, ...all } }, AT, CLEAN).state, 'unchanged')
  })

  t('tells of an instance that was launched when its reservation had lapsed, and of one more', () => {
    const launched = kept(lapsed, { trigger: 'provisioning', said: { instanceId: LAUNCHED_LATE } })
    assert.equal([launched.instanceId, launched.machine, launched.state], [LAUNCHED_LATE, 'up', 'reserved'])
    assert.ok(presentMonthlyMicroUsd(launched) > 0)
    const two = kept(launched, { trigger: 'provisioning', said: { instanceId: INSTANCE } })
    assert.equal(
      two.strays.map(({ instanceId }) => instanceId),
      [INSTANCE],
    )
    const gone = kept(two, { trigger: 'terminated', said: { version: 1, ...all } })
    assert.ok(presentMonthlyMicroUsd(gone) > 0, 'the other one goes on')
    const over = kept(gone, { trigger: 'terminated', said: { version: 1, ...all, instanceId: INSTANCE } })
    assert.is(presentMonthlyMicroUsd(over), 0)
  })

  t('is on record each time that something else is said, and not when it is known', () => {
    const one: Try = { trigger: 'eip-released', said: { version, allocationId: 'eipalloc-7' } }
    const other: Try = { trigger: 'eip-released', said: { version, allocationId: 'eipalloc-8' } }
    const first = kept(tombstone, one)
    assert.is(say(first, one, AT, CLEAN).state, 'refused')
    assert.is(say(first, other, AT, CLEAN).state, 'recorded')
    const known: Try = { trigger: 'eip-released', said: { version, allocationId: tombstone.released[0] ?? '' } }
    assert.is(say(tombstone, known, AT, CLEAN).state, 'unchanged')
  })
})

spec('the conditions of a dev instance', (t) => {
  t('have room in its status, all of them at once', () => {
    // one of what the machine does, and each that conditionsOf says beside
    const findings = 10
    const ofEachPass = 3
    const names = new Set(BREACHES.map(({ condition }) => condition))
    assert.ok(names.size + findings + ofEachPass <= CONDITIONS_MAX, `${names.size} of what has happened`)
    const broken = BREACHES.map(({ code, on = 'started' as const }) => ({ code, on, at: AT, detail: 'it is so' }))
    const codes = new Map(broken.map((one) => [one.code, one]))
    const all = breachFindings(aDevInstance({ breaches: [...codes.values()] }))
    assert.is(new Set(all.map(({ type }) => type)).size, all.length, 'each under a name of its own')
  })
})

spec('a report that is refused', (t) => {
  const [, , configuring, ready] = inEachState() as [DevInstanceRow, DevInstanceRow, DevInstanceRow, DevInstanceRow]

  t('tells of every rule that it breaks, the first as the answer', () => {
    const said = { ...good(configuring).finalize, assertions: {} }
    const taken = { ...CLEAN, taken: ['address'] as const }
    const decision = say(configuring, { trigger: 'finalize', said }, AT, taken)
    assert.is(decision.state === 'recorded' && decision.refusal.code, 'ASSERTION_FAILED')
    if (decision.state !== 'recorded') return
    const { code, broke } = (decision.entries[0]?.data ?? {}) as { code: string; broke: { code: string }[] }
    assert.equal([code, broke.map((one) => one.code)], ['ASSERTION_FAILED', ['ADDRESS_IN_USE']])
    assert.equal(namesOf(decision.instance), ['AddressContested', 'NotAsReserved'])
    assert.equal([decision.instance.held, decision.instance.state], [[], 'configuring'])
  })

  t('keeps the address of an instance that is not ready, for it costs, and ends with a finalize that fits', () => {
    const bad: Try = { trigger: 'finalize', said: { ...good(configuring).finalize, assertions: {} } }
    const seen = kept(configuring, bad)
    assert.equal(
      seen.held.map(({ eipAllocId }) => eipAllocId),
      ['eipalloc-1'],
    )
    const fine = kept(seen, { trigger: 'finalize', said: good(seen).finalize })
    assert.equal([fine.state, fine.breaches, fine.held.length], ['ready', [], 1])
  })

  t('tells what half an address costs that no sum knows', () => {
    const said = { version: ready.version, eipAllocId: 'eipalloc-9' }
    const half = kept(ready, { trigger: 'started', said })
    assert.match(breachFindings(half)[0]?.message ?? '', /a further one costs 3\.65 USD a month, which stand in no sum/)
    const own = kept(ready, { trigger: 'started', said: { ...said, eipAllocId: 'eipalloc-1' } })
    assert.match(breachFindings(own)[0]?.message ?? '', /it is one that is held/)
    assert.equal(namesOf(own), ['AddressUnknown'], 'and no word of another address')
  })

  t('does not lose a second instance behind a lease that is spent', () => {
    const provisioning = inEachState()[1] ?? aDevInstance()
    const spent = { ...provisioning, lease: { expiresAt: later(0), renewed: true } }
    const seen = kept(spent, { trigger: 'provisioning', said: { instanceId: LAUNCHED_LATE } })
    assert.equal([seen.strays.length, namesOf(seen)], [1, ['LeaseSpent', 'SecondInstance']])
  })
})
