/** Every price of the catalogue, to the cent (rules/devinstance.md#prices). */
import {
  centsOf,
  monthlyPrice,
  PRICING_VERSION,
  priceTable,
  pricingVersions,
  usdOf,
  usdOfCents,
} from '../../../crds/devinstance/sizing/prices.ts'
import {
  ARCHES,
  CLASSES,
  fallbackTypes,
  instanceTypeNamed,
  instanceTypeNames,
  isBurst,
  nextClass,
  priceAnswer,
  priceOf,
  SIZE_CLASSES,
  type SizeArch,
  type SizeClass,
  sizesAnswer,
  steadyMilliCpu,
} from '../../../crds/devinstance/sizing/sizes.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type Row = [SizeClass, SizeArch, string, vcpu: number, memoryGib: number, diskGb: number, ...usd: number[]]

/** Class, architecture, type, shape; then compute, all-in running, stopped with the address, stopped without, in USD. */
const TABLE: Row[] = [
  ['XS', 'arm64', 't4g.medium', 2, 4, 30, 24.53, 30.58, 6.05, 2.4],
  ['XS', 'x86_64', 't3.medium', 2, 4, 30, 30.37, 36.42, 6.05, 2.4],
  ['S', 'arm64', 't4g.large', 2, 8, 50, 49.06, 56.71, 7.65, 4],
  ['S', 'x86_64', 't3.large', 2, 8, 50, 60.74, 68.39, 7.65, 4],
  ['M', 'arm64', 'm7g.xlarge', 4, 16, 80, 119.14, 129.19, 10.05, 6.4],
  ['M', 'x86_64', 'm7i.xlarge', 4, 16, 80, 147.17, 157.22, 10.05, 6.4],
  ['L', 'arm64', 'm7g.2xlarge', 8, 32, 150, 238.27, 253.92, 15.65, 12],
  ['L', 'x86_64', 'm7i.2xlarge', 8, 32, 150, 294.34, 309.99, 15.65, 12],
  ['XL', 'arm64', 'm7g.4xlarge', 16, 64, 300, 476.54, 504.19, 27.65, 24],
  ['XL', 'x86_64', 'm7i.4xlarge', 16, 64, 300, 588.67, 616.32, 27.65, 24],
]

/** Fallback types with their compute, in USD a month. */
const FALLBACKS: [string, SizeClass, SizeArch, number][] = [
  ['t4g.xlarge', 'M', 'arm64', 98.11],
  ['t3.xlarge', 'M', 'x86_64', 121.47],
  ['m7i-flex.xlarge', 'M', 'x86_64', 139.81],
  ['m8g.xlarge', 'M', 'arm64', 131.05],
  ['t4g.2xlarge', 'L', 'arm64', 196.22],
  ['m7i-flex.2xlarge', 'L', 'x86_64', 279.62],
  ['m8g.4xlarge', 'XL', 'arm64', 524.2],
  ['m7i-flex.4xlarge', 'XL', 'x86_64', 559.24],
]

const shapeOf = (sizeClass: SizeClass) => {
  const { vcpu, memoryGib } = CLASSES[sizeClass]
  return { vcpu, memoryGib }
}

const micro = (price: ReturnType<typeof priceOf>) => [
  price.parts.computeMicroUsd,
  price.runningMicroUsd,
  price.stoppedMicroUsd,
  price.releasedMicroUsd,
]

spec('prices of dev instances', (t) => {
  for (const [sizeClass, arch, instanceType, vcpu, memoryGib, diskGb, ...usd] of TABLE) {
    t(`${sizeClass} on ${arch} is ${instanceType} at ${usd[1]} USD a month, all in`, () => {
      assert.equal(micro(priceOf({ sizeClass, arch, diskGb })).map(usdOf), usd)
      assert.equal(instanceTypeNamed(instanceType), { instanceType, sizeClass, arch, vcpu, memoryGib })
    })
  }
  t('GET /sizes answers the whole table in its order, with parts that add up', () => {
    const { pricingVersion, region, sizes } = sizesAnswer()
    assert.equal([pricingVersion, region], ['2026-07-20', 'us-east-1'])
    const rows = TABLE.map(
      ([sizeClass, arch, instanceType, vcpu, memoryGib, diskGb, computeUsd, running, stopped]) => ({
        sizeClass,
        arch,
        instanceType,
        vcpu,
        memoryGib,
        diskGb,
        runningMonthlyUsd: running,
        stoppedMonthlyUsd: stopped,
        parts: { computeUsd, storageUsd: usdOfCents(diskGb * 8), ipv4Usd: 3.65 },
        fallbacks: FALLBACKS.filter(([, ofClass, ofArch]) => ofClass === sizeClass && ofArch === arch)
          .map(([type, , , usd]) => ({
            instanceType: type,
            runningMonthlyUsd: usdOfCents(Math.round(usd * 100) + diskGb * 8 + 365),
          }))
          .sort((a, b) => a.runningMonthlyUsd - b.runningMonthlyUsd),
      }),
    )
    assert.equal(sizes, rows)
  })
  for (const [instanceType, sizeClass, arch, computeUsd] of FALLBACKS) {
    t(`${instanceType} stands in for ${sizeClass} on ${arch} at ${computeUsd} USD of compute`, () => {
      assert.is(usdOf(monthlyPrice(instanceType, 0, PRICING_VERSION).parts.computeMicroUsd), computeUsd)
      assert.ok(fallbackTypes({ sizeClass, arch }).includes(instanceType))
      assert.equal(instanceTypeNamed(instanceType), { instanceType, sizeClass, arch, ...shapeOf(sizeClass) })
    })
  }
  t('fallback types are exactly those, the cheapest first', () => {
    const named = SIZE_CLASSES.flatMap((sizeClass) => ARCHES.flatMap((arch) => fallbackTypes({ sizeClass, arch })))
    assert.equal([...named].sort(), FALLBACKS.map(([type]) => type).sort())
    const compute = (type: string) => monthlyPrice(type, 0, PRICING_VERSION).parts.computeMicroUsd
    for (const sizeClass of SIZE_CLASSES) {
      for (const arch of ARCHES) {
        const prices = fallbackTypes({ sizeClass, arch }).map(compute)
        assert.equal(
          prices,
          [...prices].sort((a, b) => a - b),
        )
      }
    }
  })
  t('r7g.xlarge has the memory of L and the cores of M, for 156.37 USD of compute', () => {
    assert.is(usdOf(monthlyPrice('r7g.xlarge', 0, PRICING_VERSION).parts.computeMicroUsd), 156.37)
    assert.equal(instanceTypeNamed('r7g.xlarge'), {
      instanceType: 'r7g.xlarge',
      sizeClass: 'L',
      arch: 'arm64',
      vcpu: 4,
      memoryGib: 32,
    })
  })
  t('every type on offer has a price in every version, and every price a type', () => {
    for (const table of pricingVersions().map((version) => priceTable(version))) {
      assert.equal(Object.keys(table.computePerHour).sort(), instanceTypeNames().sort())
    }
  })
  t('every figure of a table is a whole number of micro-USD', () => {
    for (const table of pricingVersions().map((version) => priceTable(version))) {
      const figures = [
        ...Object.values(table.computePerHour),
        table.storagePerGbMonth,
        table.ipv4PerHour,
        table.snapshotPerGbMonth,
      ]
      assert.ok(figures.every((figure) => Number.isSafeInteger(figure) && figure > 0))
    }
  })
  t('what REST shows adds up to the cent for any disk', () => {
    for (const type of instanceTypeNames()) {
      for (const diskGb of [1, 33, 47, 120, 451, 16_384]) {
        const { parts, runningMonthlyUsd } = priceAnswer(monthlyPrice(type, diskGb, PRICING_VERSION))
        const cents = [parts.computeUsd, parts.storageUsd, parts.ipv4Usd].map((usd) => Math.round(usd * 100))
        assert.is(
          cents.reduce((a, b) => a + b, 0),
          Math.round(runningMonthlyUsd * 100),
          `${type} with ${diskGb} GB`,
        )
      }
    }
  })
  t('half a cent rounds up, a little less rounds down', () => {
    assert.equal([5_000, 4_999, 15_000, 24_528_000].map(centsOf), [1, 0, 2, 2453])
  })
  t('a pricing version that never was is refused', () => {
    assert.throws(() => priceOf({ sizeClass: 'XS', arch: 'arm64', diskGb: 30 }, '1999-01-01'), /no pricing version/)
    assert.throws(() => priceOf({ sizeClass: 'XS', arch: 'arm64', diskGb: 30 }, 'toString'), /no pricing version/)
  })
  t('burst types keep up a fifth to two fifths of each processor, the others all of it', () => {
    const kept = ['t4g.medium', 't3.large', 't4g.2xlarge', 'm7i.xlarge'].map((type) => [
      isBurst(type),
      steadyMilliCpu(type),
    ])
    assert.equal(kept, [
      [true, 400],
      [true, 600],
      [true, 3200],
      [false, 4000],
    ])
  })
  t('one class up from XS ends at XL', () => {
    assert.equal(SIZE_CLASSES.map(nextClass), ['S', 'M', 'L', 'XL', undefined])
  })
})
