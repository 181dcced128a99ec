/** Prices of each region, as they were reviewed and as an instance was launched (rules/devinstance.md#reviewed-prices). */
import { PRICING_VERSION, priceTable, usdOf } from '../../../crds/devinstance/sizing/prices.ts'
import { isNotPriced, priceAsLaunched, pricedRegions } from '../../../crds/devinstance/sizing/pricing/launched.ts'
import { DEFAULT_REGION, REVIEWED_PRICES } from '../../../crds/devinstance/sizing/pricing/reviewed.ts'
import {
  ARCHES,
  CLASSES,
  fallbackAnswer,
  instanceTypeNames,
  launchPrices,
  priceOf,
  regionSizes,
  SIZE_CLASSES,
  sizesAnswer,
} from '../../../crds/devinstance/sizing/sizes.ts'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const FRANKFURT = 'eu-central-1'
const cells = SIZE_CLASSES.flatMap((sizeClass) =>
  ARCHES.map((arch) => ({ sizeClass, arch, diskGb: CLASSES[sizeClass].diskGb })),
)

spec('prices by region', (t) => {
  t('every figure says what it rests on and on which day it was reviewed', () => {
    for (const [version, regions] of Object.entries(REVIEWED_PRICES)) {
      for (const [region, prices] of Object.entries(regions)) {
        for (const [what, { source, reviewedOn }] of Object.entries(prices)) {
          const place = `${version} ${region} ${what}`
          assert.ok(source.length > 20, place)
          assert.match(reviewedOn, /^20\d\d-(0[1-9]|1[0-2])-\d\d$/, place)
          assert.is(new Date(reviewedOn).toISOString().slice(0, 10), reviewedOn, place)
        }
      }
    }
  })
  t('every figure is a whole number of micro-USD above zero, of a type on offer', () => {
    for (const regions of Object.values(REVIEWED_PRICES)) {
      for (const { compute, storage, ipv4, snapshot } of Object.values(regions)) {
        const figures = [...Object.values(compute.perHour), storage.perGbMonth, ipv4.perHour, snapshot.perGbMonth]
        assert.ok(figures.every((figure) => Number.isSafeInteger(figure) && figure > 0))
        assert.equal(
          Object.keys(compute.perHour).filter((type) => !instanceTypeNames().includes(type)),
          [],
        )
      }
    }
  })
  t('an instance of the default region costs as launched what it was reserved at', () => {
    for (const shape of cells) {
      const [own] = launchPrices({ ...shape, region: DEFAULT_REGION }, PRICING_VERSION)
      assert.ok(own && !isNotPriced(own))
      assert.equal(own.price, priceOf(shape))
    }
  })
  t('another region has prices of its own, dearer here, for every class', () => {
    for (const shape of cells) {
      const [own] = launchPrices({ ...shape, region: FRANKFURT }, PRICING_VERSION)
      assert.ok(own && !isNotPriced(own))
      assert.ok(own.price.runningMicroUsd > priceOf(shape).runningMicroUsd)
    }
    const xs = priceAsLaunched({ region: FRANKFURT, instanceType: 't4g.medium', diskGb: 30 })
    // 730 x 0.0384 + 30 x 0.0952 + 730 x 0.005
    assert.ok(!isNotPriced(xs))
    assert.is(usdOf(xs.price.runningMicroUsd), 34.54)
  })
  t('a type that stands in costs its own price, not that of the class', () => {
    const shape = { sizeClass: 'M', arch: 'arm64', diskGb: 80, region: DEFAULT_REGION } as const
    const [own, cheaper] = launchPrices(shape, PRICING_VERSION)
    assert.ok(own && cheaper && !isNotPriced(own) && !isNotPriced(cheaper))
    assert.equal(
      [own, cheaper].map(({ instanceType, price }) => [instanceType, usdOf(price.runningMicroUsd)]),
      [
        ['m7g.xlarge', 129.19],
        ['t4g.xlarge', 108.16],
      ],
    )
  })
  t('every type on offer has a price in every region that was reviewed', () => {
    for (const [version, regions] of Object.entries(REVIEWED_PRICES)) {
      for (const region of Object.keys(regions)) {
        const without = instanceTypeNames().filter((instanceType) =>
          isNotPriced(priceAsLaunched({ region, instanceType, diskGb: 80 }, version)),
        )
        assert.equal(without, [], `${version} ${region}`)
      }
    }
  })
  t('the machines of Graviton4 and those heavy on memory cost in Frankfurt what AWS asks there', () => {
    const { computePerHour } = priceTable(PRICING_VERSION, FRANKFURT)
    const { 'm8g.xlarge': m, 'm8g.4xlarge': xl, 'r7g.xlarge': heavy } = computePerHour
    assert.equal([m, xl, heavy], [215_080, 860_320, 258_400])
  })
  t('a region that nobody reviewed is not priced: a code, the regions that are, and the next step', () => {
    for (const region of ['ap-southeast-2', 'toString', '']) {
      const found = priceAsLaunched({ region, instanceType: 't4g.medium', diskGb: 30 })
      assert.ok(isNotPriced(found), region)
      assert.is(found.code, 'REGION_NOT_PRICED')
      assert.match(found.detail, /eu-central-1, us-east-1/)
      assert.is(found.next, PROBLEMS.REGION_NOT_PRICED.next)
      assert.throws(() => priceTable(PRICING_VERSION, region), /is not priced/)
    }
  })
  t('a type that nobody reviewed is not priced, and stands in for nothing at a price', () => {
    for (const instanceType of ['r8g.xlarge', 'x2gd.metal']) {
      const found = priceAsLaunched({ region: FRANKFURT, instanceType, diskGb: 80 })
      assert.ok(isNotPriced(found), instanceType)
      assert.equal([found.code, found.next], ['TYPE_NOT_PRICED', PROBLEMS.TYPE_NOT_PRICED.next])
      assert.equal(fallbackAnswer(instanceType, found), { instanceType, runningMonthlyUsd: null })
    }
  })
  t('a pricing version that never was is a fault, not a region without a price', () => {
    assert.throws(
      () => priceAsLaunched({ region: DEFAULT_REGION, instanceType: 't4g.medium', diskGb: 30 }, '1999-01-01'),
      /no pricing version/,
    )
  })
  t('the catalogue of a region has its prices, of the types that may stand in too', () => {
    assert.equal(pricedRegions(PRICING_VERSION), [FRANKFURT, DEFAULT_REGION])
    const answer = regionSizes(FRANKFURT)
    assert.ok(!isNotPriced(answer))
    assert.equal([answer.region, answer.sizes.length], [FRANKFURT, 10])
    const m = answer.sizes.find(({ sizeClass, arch }) => sizeClass === 'M' && arch === 'arm64')
    // 730 x 0.1955 + 80 x 0.0952 + 3.65
    assert.is(m?.runningMonthlyUsd, 153.98)
    assert.equal(m?.fallbacks, [
      { instanceType: 't4g.xlarge', runningMonthlyUsd: 123.39 },
      // 730 x 0.21508 + 80 x 0.0952 + 3.65
      { instanceType: 'm8g.xlarge', runningMonthlyUsd: 168.27 },
    ])
    const elsewhere = regionSizes('ap-southeast-2')
    assert.ok(isNotPriced(elsewhere))
    assert.equal(regionSizes(DEFAULT_REGION), sizesAnswer())
  })
})
