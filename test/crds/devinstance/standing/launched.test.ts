import {
  committedMicroUsd,
  type DevInstanceRow,
  presentMonthlyMicroUsd,
  runningMonthlyMicroUsd,
} from '../../../../crds/devinstance/life/row.ts'
import { planDevInstance } from '../../../../crds/devinstance/plan.ts'
import type { Said } from '../../../../crds/devinstance/protocol.ts'
import { monthlyPrice } from '../../../../crds/devinstance/sizing/prices.ts'
import { driftOf } from '../../../../crds/devinstance/standing/drift.ts'
import { devInstanceItem, tombstoneOf } from '../../../../crds/devinstance/view.ts'
import {
  aDevInstance,
  after,
  CLEAN,
  good,
  HOST_KEY,
  inEachState,
  later,
  T0,
} from '../../../support/builders/devinstance.ts'
import { say, type Try } from '../../../support/builders/devinstance-tries.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** What is launched is what is kept, and what it costs (rules/devinstance.md#what-was-launched). */

const AT = later(60_000)
const OF_M = 129_186_000
const AS_T4G = 108_162_000

/** Of what the image had installed. */
const BAKED = 'e'.repeat(64)

const kept = (instance: DevInstanceRow, one: Try): DevInstanceRow => {
  const decision = say(instance, one, AT, CLEAN)
  assert.ok(decision.state === 'recorded' || decision.state === 'accepted', JSON.stringify(decision))
  return decision.state === 'recorded' || decision.state === 'accepted' ? decision.instance : instance
}
const configuring = after(aDevInstance({ sizeClass: 'M', diskGb: 80 }), 'provisioning', 'token')
const finalizing = (facts: Partial<Said['finalize']['facts']>): Try => {
  const body = good(configuring).finalize
  return { trigger: 'finalize', said: { ...body, facts: { ...body.facts, region: 'us-east-1', ...facts } } }
}
const typesOf = (box: DevInstanceRow) => {
  const { metadata, ...rest } = {
    apiVersion: 'bottega.dev/v1alpha1' as const,
    kind: 'DevInstance' as const,
    metadata: { name: 'dev-1', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: T0 },
    spec: { account: 'demo', sizeClass: 'M', arch: 'arm64', agents: [] },
  }
  const record = { uid: 'u', rev: 1, pricingVersion: box.pricingVersion, box, othersMicroUsd: 0 }
  const world = { account: null, record, pending: [], lastReport: null, factSeq: 0 }
  const { conditions = [] } = planDevInstance({ ...rest, metadata } as never, world, new Date(AT))
  return conditions.map(({ type }) => type)
}

spec('what was launched', (t) => {
  t('is kept as finalize tells it, and a type that costs less is billed as that', () => {
    const { creditMode: _, ...facts } = (finalizing({}).said as Said['finalize']).facts
    const own = kept(
      configuring,
      finalizing({ ...facts, instanceType: 'm7g.xlarge', imageId: 'ami-1', bakedSha256: BAKED }),
    )
    assert.equal(own.launched, {
      instanceType: 'm7g.xlarge',
      region: 'us-east-1',
      imageId: 'ami-1',
      bakedSha256: BAKED,
      volumeType: 'gp3',
      diskGb: 80,
      agents: facts.agents,
    })
    assert.equal([runningMonthlyMicroUsd(own), own.hostKeys, driftOf(own)], [OF_M, [HOST_KEY], null])

    const fallback = kept(configuring, finalizing({ instanceType: 't4g.xlarge' }))
    assert.equal(
      [fallback.state, runningMonthlyMicroUsd(fallback), presentMonthlyMicroUsd(fallback)],
      ['ready', AS_T4G, AS_T4G],
    )
    assert.is(committedMicroUsd(fallback), OF_M, 'a start as the type of the class needs no second look at the cap')
    assert.is(driftOf(fallback), null, 'the cloud had no other, and it costs no more')
    const shown = devInstanceItem(tombstoneOf({ id: 'dev-1', owner: 'demo', box: fallback }), AT)
    assert.equal([shown.instanceType, shown.price.runningMonthlyUsd], ['t4g.xlarge', 108.16])
  })

  t('is billed though it is refused, and the difference is a condition with both prices', () => {
    const dear = kept(configuring, finalizing({ instanceType: 'm8g.xlarge' }))
    assert.equal([dear.state, dear.launched?.instanceType], ['configuring', 'm8g.xlarge'])
    assert.ok(presentMonthlyMicroUsd(dear) > OF_M && committedMicroUsd(dear) === presentMonthlyMicroUsd(dear))
    assert.match(
      driftOf(dear) ?? '',
      /running it costs 141\.10 USD a month, and 129\.19 USD were promised; it costs 141\.10/,
    )
    assert.equal(typesOf(dear), ['NotAsReserved', 'LaunchDiffers'])
  })

  for (const [facts, words] of [
    [{ instanceType: 't4g.2xlarge' }, /t4g\.2xlarge is L on arm64, and M on arm64 was reserved/],
    [{ instanceType: 'x9.metal' }, /x9\.metal has no price here: it is priced as M on arm64/],
    [{ region: 'eu-west-1' }, /eu-west-1 has other prices, which are not known: it is priced as us-east-1/],
    [{ volumeType: 'io2' }, /io2 is priced as gp3/],
    [{ diskGb: 90 }, /its disk has 90 GB, and 80 GB were reserved/],
  ] as const) {
    t(`that is not as reserved is said: ${JSON.stringify(facts)}`, () => {
      const made = kept(configuring, finalizing({ instanceType: 'm7g.xlarge', ...facts }))
      assert.match(driftOf(made) ?? '', words)
      assert.ok(typesOf(made).includes('LaunchDiffers'))
    })
  }

  t('in a region whose prices were reviewed is billed at those, as each type that has one there', () => {
    const by = { pricingVersion: configuring.pricingVersion, region: 'eu-central-1' }
    const { diskGb } = configuring
    const there = kept(configuring, finalizing({ instanceType: 'm7g.xlarge', region: 'eu-central-1' }))
    assert.is(runningMonthlyMicroUsd(there), monthlyPrice('m7g.xlarge', diskGb, by).runningMicroUsd)
    assert.ok(runningMonthlyMicroUsd(there) > OF_M && committedMicroUsd(there) === runningMonthlyMicroUsd(there))
    assert.match(driftOf(there) ?? '', /^running it costs \d+\.\d\d USD a month, and 129\.19 USD were promised/)
    const unknown = kept(configuring, finalizing({ instanceType: 'r8g.xlarge', region: 'eu-central-1' }))
    assert.is(runningMonthlyMicroUsd(unknown), runningMonthlyMicroUsd(there))
    assert.match(driftOf(unknown) ?? '', /r8g\.xlarge has no price here: it is priced as M on arm64/)
  })

  t('follows a start as another type, which is news though it runs already', () => {
    const running = inEachState()[4] ?? aDevInstance()
    const { version } = running
    const said = { version, instanceType: 't4g.xlarge', region: 'us-east-1' }
    const other = kept(running, { trigger: 'started', said })
    assert.equal([other.launched?.instanceType, other.version], ['t4g.xlarge', version + 1])
    assert.is(other.meter.monthlyMicroUsd, presentMonthlyMicroUsd(other))
    assert.match(driftOf(other) ?? '', /t4g\.xlarge is M on arm64, and S on arm64 was reserved/)
    const again = { ...said, version: version + 1 }
    assert.is(say(other, { trigger: 'started', said: again }, AT, CLEAN).state, 'unchanged')
  })

  t('is of another type after a resize: the one that is told, or that of the class', () => {
    const resizing = inEachState()[6] ?? aDevInstance()
    const { launched } = kept(configuring, finalizing({}))
    assert.ok(launched)
    const was = { ...resizing, launched: launched && { ...launched, instanceType: 't4g.large' } }
    const { resized } = good(was)
    const untold = kept(was, { trigger: 'resized', said: resized })
    assert.equal([untold.launched?.instanceType, untold.launched?.diskGb, driftOf(untold)], [null, null, null])
    assert.is(runningMonthlyMicroUsd(untold), OF_M)
    const told = kept(was, { trigger: 'resized', said: { ...resized, instanceType: 't4g.xlarge' } })
    assert.is(runningMonthlyMicroUsd(told), AS_T4G)
    const back = kept(was, { trigger: 'resized', said: { ...resized, sizeClass: 'S' } })
    assert.is(back.launched?.instanceType, 't4g.large')
  })
})
