/** What has changed since prices were reviewed, against a price list (rules/devinstance.md#re-pricing). */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PRICING_VERSION, priceTable } from '../../../crds/devinstance/sizing/prices.ts'
import { OfferFault, readOffers } from '../../../crds/devinstance/sizing/pricing/offers.ts'
import { percentOf, repriceOf, repriceText } from '../../../crds/devinstance/sizing/pricing/reprice.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { root } from '../../support/structure/tree.ts'

type Offer = { family: string; attributes: Record<string, string>; usd: string; unit?: string; currency?: string }

const REGIONS: Record<string, string> = { 'us-east-1': '', 'eu-central-1': 'EUC1-' }

/** A price list as AWS publishes it: products, and the terms of each. */
const listOf = (offerCode: string, offers: readonly Offer[]) => ({
  formatVersion: 'v1.0',
  offerCode,
  version: '20261120093000',
  publicationDate: '2026-11-20T09:30:00Z',
  products: Object.fromEntries(
    offers.map(({ family, attributes }, n) => [`SKU${n}`, { sku: `SKU${n}`, productFamily: family, attributes }]),
  ),
  terms: {
    OnDemand: Object.fromEntries(
      offers.map(({ usd, unit = 'Hrs', currency = 'USD' }, n) => {
        const dimension = { unit, beginRange: '0', endRange: 'Inf', pricePerUnit: { [currency]: usd } }
        return [`SKU${n}`, { [`SKU${n}.OD`]: { priceDimensions: { [`SKU${n}.OD.1`]: dimension } } }]
      }),
    ),
    Reserved: {
      SKU0: { 'SKU0.R': { priceDimensions: { r: { unit: 'Hrs', pricePerUnit: { USD: '0.0010000000' } } } } },
    },
  },
})

const machine = (instanceType: string, usd: string, more: Record<string, string> = {}): Offer => ({
  family: 'Compute Instance',
  attributes: {
    regionCode: 'us-east-1',
    instanceType,
    operatingSystem: 'Linux',
    tenancy: 'Shared',
    preInstalledSw: 'NA',
    capacitystatus: 'Used',
    usagetype: `BoxUsage:${instanceType}`,
    ...more,
  },
  usd,
})
const storage = (usd: string, region = 'us-east-1'): Offer => ({
  family: 'Storage',
  attributes: { regionCode: region, volumeApiName: 'gp3', usagetype: `${REGIONS[region]}EBS:VolumeUsage.gp3` },
  usd,
  unit: 'GB-Mo',
})
const snapshot = (usd: string): Offer => ({
  family: 'Storage Snapshot',
  attributes: { regionCode: 'us-east-1', usagetype: 'EBS:SnapshotUsage' },
  usd,
  unit: 'GB-Mo',
})
const address = (usd: string, kind = 'InUse'): Offer => ({
  family: 'VpcPublicIPv4Address',
  attributes: { regionCode: 'us-east-1', usagetype: `PublicIPv4:${kind}Address` },
  usd,
})

const usdOfMicro = (microUsd: number) => (microUsd / 1_000_000).toFixed(10)
/** The default region as it was reviewed. */
const asReviewed = (): Offer[] => {
  const { computePerHour, storagePerGbMonth, snapshotPerGbMonth } = priceTable(PRICING_VERSION)
  return [
    ...Object.entries(computePerHour).map(([type, perHour]) => machine(type, usdOfMicro(perHour))),
    storage(usdOfMicro(storagePerGbMonth)),
    snapshot(usdOfMicro(snapshotPerGbMonth)),
  ]
}
const addresses = () => listOf('AmazonVPC', [address('0.0050000000'), address('0.0050000000', 'Idle')])
const without = (type: string) => asReviewed().filter(({ attributes }) => attributes.instanceType !== type)

const ON = '2026-11-26'
const against = (...lists: object[]) =>
  repriceOf(lists.map(readOffers), { pricingVersion: PRICING_VERSION, on: ON, olderThanDays: 90 })
const home = (found: ReturnType<typeof against>) => {
  const region = found.regions.find((one) => one.region === 'us-east-1')
  if (!region) throw new Error('the default region is compared')
  return region
}

spec('a price list', (t) => {
  t('is read for what was reviewed: machines on demand, gp3, snapshots, addresses', () => {
    const { source, regions } = readOffers(
      listOf('AmazonEC2', [machine('t4g.medium', '0.0336000000'), storage('0.08')]),
    )
    assert.is(source, 'AmazonEC2 20261120093000')
    const found = regions['us-east-1']
    assert.equal(found?.compute, { 't4g.medium': 33_600 })
    assert.equal(found?.storage, 80_000)
    assert.is(found?.ipv4, undefined)
  })
  t('is read past what is something else', () => {
    const others = [
      machine('t4g.medium', '0.05', { operatingSystem: 'Windows' }),
      machine('t4g.medium', '0.06', { tenancy: 'Dedicated' }),
      machine('t4g.medium', '0.07', { preInstalledSw: 'SQL Std' }),
      machine('t4g.medium', '0.08', { capacitystatus: 'UnusedCapacityReservation' }),
      machine('p5.48xlarge', '55.04'),
      { ...machine('t3.medium', '0.3'), currency: 'CNY' },
      { ...storage('0.1'), attributes: { regionCode: 'us-east-1', usagetype: 'EBS:VolumeUsage.gp2' } },
      { ...snapshot('0.0125'), attributes: { regionCode: 'us-east-1', usagetype: 'EBS:SnapshotArchiveStorage' } },
    ]
    const { regions } = readOffers(listOf('AmazonEC2', [...others, machine('t4g.medium', '0.0336')]))
    assert.equal(regions['us-east-1'], { compute: { 't4g.medium': 33_600 }, unclear: [] })
  })
  t('of AWS is read past what stands beside each thing in it', () => {
    /** Usage types, units and dollars of us-east-1 in AmazonEC2 20260810215758 and AmazonVPC 20260724154225. */
    const beside: [string, string, string, string][] = [
      ['Storage', 'EBS:VolumeUsage', 'GB-Mo', '0.0500000000'],
      ['Storage', 'EBS:VolumeUsage.io2', 'GB-month', '0.1250000000'],
      ['System Operation', 'EBS:VolumeP-IOPS.gp3', 'IOPS-Mo', '0.0050000000'],
      ['Provisioned Throughput', 'EBS:VolumeP-Throughput.gp3', 'GiBps-mo', '40.9600000000'],
      ['System Operation', 'USE1-EBS:TimeBasedSnapshotCopy.tier1', 'GB', '0.0200000000'],
      ['Storage Snapshot', 'USE1-EBS:SnapshotUsage.outposts', 'GB-Mo', '0.0270000000'],
      ['Storage Snapshot', 'EBS:SnapshotUsageUnderBilling', 'GB-Mo', '0.0510000000'],
      ['Storage Snapshot', 'EBS:SnapshotArchiveEarlyDelete', 'GB-Mo', '0.0125000000'],
      ['', 'USE1-PublicIPv4:ContiguousBlock', 'Hrs', '0.0080000000'],
    ]
    const own: [string, string, string, string][] = [
      ['Storage', 'EBS:VolumeUsage.gp3', 'GB-Mo', '0.0800000000'],
      ['Storage Snapshot', 'EBS:SnapshotUsage', 'GB-Mo', '0.0500000000'],
      ['', 'USE1-PublicIPv4:InUseAddress', 'Hrs', '0.0050000000'],
      ['', 'USE1-PublicIPv4:IdleAddress', 'Hrs', '0.0050000000'],
    ]
    const offers = [...beside, ...own].map(([family, usagetype, unit, usd]) => ({
      family,
      attributes: { regionCode: 'us-east-1', usagetype },
      unit,
      usd,
    }))
    const found = against(listOf('AmazonEC2', [machine('t3.medium', '0.0416000000'), ...offers]))
    assert.is(found.hasChanged, false)
    assert.is(home(found).unlisted.length, Object.keys(priceTable(PRICING_VERSION).computePerHour).length - 1)
  })
  t('that has two prices of one thing is not believed in it', () => {
    const { regions } = readOffers(listOf('AmazonEC2', [machine('t3.large', '0.08'), machine('t3.large', '0.09')]))
    assert.equal(regions['us-east-1'], { compute: {}, unclear: ['t3.large'] })
  })
  t('charges an address the dearer of in use and idle', () => {
    const { regions } = readOffers(listOf('AmazonVPC', [address('0.005'), address('0.007', 'Idle')]))
    assert.is(regions['us-east-1']?.ipv4, 7_000)
  })
  t('that is none is refused', () => {
    for (const none of [null, [], {}, { products: {} }, { products: {}, terms: { OnDemand: 3 } }]) {
      assert.throws(
        () => readOffers(none),
        (error: unknown) => error instanceof OfferFault,
      )
    }
  })
})

spec('a re-price', (t) => {
  t('of what is as it was reviewed changes nothing', () => {
    const found = against(listOf('AmazonEC2', asReviewed()), addresses())
    assert.is(found.hasChanged, false)
    assert.equal([home(found).changes, home(found).classes, home(found).unlisted], [[], [], []])
  })
  t('tells each change by how many percent, and what it means for the committed cost of each class', () => {
    const found = against(
      listOf('AmazonEC2', [...without('t4g.medium'), machine('t4g.medium', '0.0420000000')]),
      addresses(),
    )
    assert.is(found.hasChanged, true)
    assert.equal(home(found).changes, [{ what: 't4g.medium', per: 'hour', fromMicroUsd: 33_600, toMicroUsd: 42_000 }])
    assert.equal(home(found).classes, [
      { sizeClass: 'XS', arch: 'arm64', instanceType: 't4g.medium', fromMicroUsd: 30_578_000, toMicroUsd: 36_710_000 },
    ])
    const text = repriceText(found)
    assert.match(text, /t4g\.medium +0\.0336 → 0\.042 USD an hour +\+25\.0 %/)
    assert.match(text, /XS +arm64 +t4g\.medium +30\.58 → 36\.71 USD a month +\+20\.1 %/)
  })
  t('of storage moves every class, by its disk', () => {
    const dearer = [...asReviewed().filter(({ family }) => family !== 'Storage'), storage('0.0900000000')]
    const { classes, changes } = home(against(listOf('AmazonEC2', dearer), addresses()))
    assert.equal(
      changes.map(({ what, per }) => [what, per]),
      [['gp3 storage', 'GB and month']],
    )
    assert.is(classes.length, 10)
    const xl = classes.find(({ sizeClass, arch }) => sizeClass === 'XL' && arch === 'arm64')
    assert.is((xl?.toMicroUsd ?? 0) - (xl?.fromMicroUsd ?? 0), 3_000_000, '300 GB at a cent more')
  })
  t('says what the lists do not have, and takes nothing for its absence', () => {
    const found = against(listOf('AmazonEC2', without('m8g.xlarge')))
    assert.is(found.hasChanged, false)
    assert.equal(home(found).unlisted, ['m8g.xlarge', 'public IPv4 address'])
    const away = found.regions.find(({ region }) => region === 'eu-central-1')
    assert.is(away?.isListed, false)
    assert.match(repriceText(found), /eu-central-1: in none of the lists/)
  })
  t('names regions of the list that nobody has reviewed', () => {
    const far = machine('t4g.medium', '0.04', { regionCode: 'ap-southeast-2' })
    assert.equal(against(listOf('AmazonEC2', [...asReviewed(), far])).unreviewed, ['ap-southeast-2'])
  })
  t('tells what was reviewed too long ago, by days', () => {
    const lists = [listOf('AmazonEC2', asReviewed())].map(readOffers)
    const asked = { pricingVersion: PRICING_VERSION, olderThanDays: 90 }
    const late = repriceOf(lists, { ...asked, on: '2027-02-26' })
    assert.equal(
      home(late).stale.map(({ what, ageDays }) => [what, ageDays]),
      [
        ['compute', 91],
        ['storage', 91],
        ['ipv4', 91],
        ['snapshot', 91],
      ],
    )
    assert.equal(home(repriceOf(lists, { ...asked, on: '2027-02-25' })).stale, [])
    assert.is(late.hasChanged, false, 'to be old is no change')
  })
  t('rounds percent half away from zero', () => {
    const cases: [number, number, string][] = [
      [1000, 1250, '+25.0 %'],
      [3, 2, '-33.3 %'],
      [2000, 2001, '+0.1 %'],
      [2000, 1999, '-0.1 %'],
      [100_000, 100_001, '+0.0 %'],
    ]
    for (const [from, to, text] of cases) assert.is(percentOf(from, to), text)
  })
})

spec('hack/reprice', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reprice-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const run = (...args: string[]) => {
    const command = join(root, 'hack', 'commands', 'reprice.ts')
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', command, '--on', ON, ...args],
      { encoding: 'utf8' },
    )
    return { status, stdout, stderr }
  }
  const vpc = () => file('vpc.json', JSON.stringify(addresses()))
  t('ends with 0 where nothing has changed', () => {
    const same = file('ec2.json', JSON.stringify(listOf('AmazonEC2', asReviewed())))
    const { status, stdout } = run(same, vpc())
    assert.is(status, 0, stdout)
    assert.match(stdout, /nothing has changed/)
  })
  t('ends with 3 where something has, and writes nothing but its report', () => {
    const offers = [...without('t3.medium'), machine('t3.medium', '0.0400000000')]
    const { status, stdout } = run(file('other.json', JSON.stringify(listOf('AmazonEC2', offers))), vpc())
    assert.is(status, 3, stdout)
    assert.match(stdout, /t3\.medium +0\.0416 → 0\.04 USD an hour +-3\.8 %/)
  })
  /** Products, on demand, reserved, each name on a line of its own, as AWS writes it. */
  const laidOut = (list: object) => JSON.stringify(list, null, 2).replaceAll('": ', '" : ')
  t('reads no further than what is on demand, for a list of one region is longer than any text', () => {
    const [asked] = laidOut(listOf('AmazonEC2', asReviewed())).split('"Reserved" :')
    const long = file('long.json', `${asked}"Reserved" : {`)
    truncateSync(long, 700 * 1024 ** 2)
    const { status, stdout, stderr } = run(long, vpc())
    assert.is(status, 0, stderr)
    assert.match(stdout, /us-east-1: nothing has changed/)
  })
  t('finds the end of what is on demand where two reads part it', () => {
    const list = listOf('AmazonEC2', asReviewed())
    const at = laidOut({ disclaimer: '', ...list }).indexOf('"Reserved"')
    const padded = laidOut({ disclaimer: '.'.repeat(16 * 1024 ** 2 - at - 5), ...list })
    assert.is(padded.indexOf('"Reserved"'), 16 * 1024 ** 2 - 5)
    const { status, stdout, stderr } = run(
      file('parted.json', `${padded.split('"Reserved" :')[0]}"Reserved" : {`),
      vpc(),
    )
    assert.is(status, 0, stderr)
    assert.match(stdout, /us-east-1: nothing has changed/)
  })
  t('refuses what is longer than that before it', () => {
    const long = file('whole.json', '{')
    truncateSync(long, 700 * 1024 ** 2)
    assert.match(run(long).stderr, /more than 500 MB on demand/)
  })
  t('ends with 1 for a file that is no price list, and with 2 when it is typed wrong', () => {
    const none = run(file('none.json', '{'))
    assert.is(none.status, 1)
    assert.match(none.stderr, /none\.json.*no price list/)
    assert.is(run(join(folder, 'away.json')).status, 1)
    assert.is(run().status, 2)
    assert.is(run(vpc(), '--older-than', 'old').status, 2)
  })
})
