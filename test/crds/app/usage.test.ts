import fc from 'fast-check'
import { hostUseIn, useSince } from '../../../crds/app/lifecycle/usage/containers.ts'
import { type AppMinute, pointsOf, widthOf } from '../../../crds/app/lifecycle/usage/points.ts'
import {
  BOUNDS,
  type Carried,
  noTraffic,
  quantileMs,
  type Traffic,
  trafficIn,
  trafficSince,
  visitorsIn,
  withRequest,
} from '../../../crds/app/lifecycle/usage/traffic.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** As Caddy 2.11 writes it. @param took requests up to each bound, each with what the bounds below it count */
const page = (host: string, code: string, took: number[], server = 'bottega'): string =>
  [...BOUNDS, '+Inf']
    .map((le, place) => {
      const labels = `code="${code}",handler="vars",host="${host}",method="GET",server="${server}",le="${le}"`
      return `caddy_http_request_duration_seconds_bucket{${labels}} ${took[place]}`
    })
    .join('\n')

const quick = (count: number) => Array.from({ length: 12 }, () => count)

spec('the requests of an app', (t) => {
  t('are counted by hostname, of our own server alone', () => {
    const text = [
      page('a.test', '200', quick(3)),
      page('a.test', '503', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
      page('_other', '404', quick(9)),
      page('a.test', '308', quick(7), 'bottega-redirects'),
    ].join('\n')
    const found = trafficIn(text, 'bottega')
    assert.equal([...found.keys()], ['a.test'])
    assert.is(trafficIn([text, page('a.test:8443', '200', quick(4))].join('\n'), 'bottega').get('a.test')?.requests, 9)
    assert.equal(found.get('a.test'), { requests: 5, errors: 2, took: [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2] })
  })

  t('are those since the look before, all of them where the proxy began anew', () => {
    const of = (requests: number) => ({ ...noTraffic(), requests, took: [requests, ...noTraffic().took.slice(1)] })
    assert.is(trafficSince(of(10), of(13)).requests, 3)
    assert.is(trafficSince(of(10), of(2)).requests, 2)
    assert.is(trafficSince(undefined, of(2)).requests, 2)
  })

  const visits = (tookMs: number[], status = 200) =>
    tookMs.reduce((sum, took) => withRequest(sum, { status, tookMs: took }), noTraffic())
  const looks = (ended: Traffic, underWay = noTraffic()) => ({ ended, underWay })

  t('are those of others: looks of ours are taken off, those that are not counted yet the next time', () => {
    assert.equal(visits([4, 5, 6, 20_000]).took, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    assert.is(visits([1], 503).errors, 1)
    const one = visitorsIn(visits([4, 4, 700]), looks(visits([800])))
    assert.equal([one.others, one.carried.notYet], [visits([4, 4]), noTraffic()])
    const near = visitorsIn(visits([4, 700]), looks(visits([400])))
    assert.equal(near.others, visits([4]), 'it took us another while than the proxy')
    const late = visitorsIn(visits([4]), looks(visits([4, 4])))
    assert.equal([late.others, late.carried.notYet], [noTraffic(), visits([4])])
    const next = visitorsIn(visits([4, 4]), looks(noTraffic()), late.carried)
    assert.equal([next.others, next.carried.notYet], [visits([4]), noTraffic()])
    const failed = visitorsIn(visits([4], 503), looks(visits([4], 503)))
    assert.equal([failed.others, failed.carried.notYet], [noTraffic(), noTraffic()])
  })

  t('are those of others also while a look of ours is under way, which the proxy may have counted', () => {
    const during = visitorsIn(visits([4], 503), looks(noTraffic(), visits([4])))
    assert.equal(during.others, noTraffic())
    const after = visitorsIn(visits([4]), looks(visits([4], 503)), during.carried)
    assert.equal(after.others, visits([4]), 'it was counted before, and its failure is none of visitors')
    const given = visitorsIn(noTraffic(), looks(noTraffic()), during.carried)
    assert.is(given.others.requests, 1, 'no look of ours came to it: it was a visitor')
  })

  t('are given back where a look of ours never came to the proxy', () => {
    const lost = visitorsIn(noTraffic(), looks(visits([4])))
    assert.is(visitorsIn(visits([4, 4]), looks(noTraffic()), lost.carried).others.requests, 1, 'it may have come late')
    const later = visitorsIn(noTraffic(), looks(noTraffic()), lost.carried)
    assert.is(visitorsIn(visits([4]), looks(noTraffic()), later.carried).others.requests, 1)
  })

  /** Of one request, in ticks: the proxy counts it, and we see its end, in any order. A visitor's end is seen by nobody. */
  const lives = fc.record({
    isOurs: fc.boolean(),
    beginsAt: fc.nat(60),
    countedAfter: fc.nat(12),
    endsAfter: fc.nat(12),
    tookMs: fc.constantFrom(1, 8, 300, 20_000),
  })

  t('add up to the visitors, wherever looks at the proxy fall', () => {
    const holds = (requests: readonly (typeof lives extends fc.Arbitrary<infer T> ? T : never)[], every: number) => {
      const of = (chosen: typeof requests) => visits(chosen.map(({ tookMs }) => tookMs))
      const ours = requests.filter(({ isOurs }) => isOurs)
      const others = requests.filter(({ isOurs }) => !isOurs)
      const countedAt = (one: (typeof requests)[number]) => one.beginsAt + one.countedAfter
      const endsAt = (one: (typeof requests)[number]) => one.beginsAt + one.endsAfter
      let carried: Carried | undefined
      let told = 0
      let from = -1
      // the two looks at the end come when all is over
      for (const at of [...Array.from({ length: Math.ceil(90 / every) }, (_, n) => n * every), 200, 300]) {
        const isNew = (instant: number) => instant > from && instant <= at
        const counted = of(requests.filter((one) => isNew(countedAt(one))))
        const ended = of(ours.filter((one) => isNew(endsAt(one))))
        const underWay = of(ours.filter((one) => one.beginsAt <= at && endsAt(one) > at))
        const seen = visitorsIn(counted, { ended, underWay }, carried)
        carried = seen.carried
        told += seen.others.requests
        from = at
        const came = others.filter((one) => countedAt(one) <= at).length
        if (told > came) return false
      }
      return told === others.length
    }
    // A look is counted within a look at the proxy of its end: what comes later never came.
    const prompt = fc
      .array(lives, { maxLength: 30 })
      .map((all) => all.map((one) => ({ ...one, countedAfter: Math.min(one.countedAfter, one.endsAfter + 2) })))
    fc.assert(fc.property(prompt, fc.integer({ min: 3, max: 20 }), holds), { numRuns: 500 })
  })

  t('took as long as the bounds say, and nothing is said of none', () => {
    const took = noTraffic().took
    took[4] = 100
    assert.is(quantileMs(took, 0.5), 75)
    took[11] = 100
    assert.is(quantileMs(took, 0.95), 10_000)
    assert.is(quantileMs(noTraffic().took, 0.5), null)
  })
})

const stats = (cpuNs: number, usage: number) =>
  JSON.stringify({
    cpu_stats: { cpu_usage: { total_usage: cpuNs } },
    memory_stats: { usage, stats: { inactive_file: 1_048_576 } },
  })
const [ONE, TWO] = ['1'.repeat(64), '2'.repeat(64)]

spec('what the containers of an app use', (t) => {
  const at = (cpu: number, restarts: number, more = '') =>
    hostUseIn(`container shop ${ONE} ${restarts} ${stats(cpu, 3 * 1_048_576)}\n${more}disk shop 42 1024 within 0\n`)

  t('is what was used since the look before, and what there is now', () => {
    const used = useSince(at(1e9, 1), at(2.5e9, 2))
    assert.equal(used.get('shop'), { cpuMs: 1_500, memoryMib: 2, diskMib: 42, restarts: 1 })
  })

  t('counts a container that is new from its begin, and nothing at the first look', () => {
    const fresh = `container shop ${TWO} 0 ${stats(5e8, 1_048_576)}\n`
    assert.is(useSince(at(1e9, 0), at(1e9, 0, fresh)).get('shop')?.cpuMs, 500)
    assert.is(useSince(undefined, at(9e9, 7)).get('shop')?.cpuMs, 0)
    assert.is(useSince(undefined, at(9e9, 7)).get('shop')?.restarts, 0)
  })

  t('is nothing where the engine does not answer, or answers anything', () => {
    const use = hostUseIn(`container shop ${ONE} 0 \ncontainer shop ${TWO} 0 {"cpu_stats": 7}\ncontainer ../x y z\n`)
    assert.equal(
      use.containers.map(({ cpuNs, memoryBytes }) => [cpuNs, memoryBytes]),
      [
        [0, 0],
        [0, 0],
      ],
    )
  })
})

spec('the points of a graph', (t) => {
  const minute = (at: string, change: Partial<AppMinute> = {}): AppMinute => ({
    at,
    requests: 60,
    errors: 1,
    took: noTraffic().took,
    cpuMs: 6_000,
    looked: 60,
    memoryMib: 10,
    diskMib: null,
    restarts: 0,
    ...change,
  })

  t('are as wide as a graph takes, whatever the span', () => {
    const hours = (count: number) => widthOf(0, count * 3_600_000)
    assert.equal([hours(1), hours(12), hours(24), hours(24 * 7)], [1, 1, 5, 15])
  })

  t('add what is counted, average what is a rate, and keep the most of what is a level', () => {
    const minutes = [
      minute('2026-11-22T10:00:00.000Z', { memoryMib: 30 }),
      minute('2026-11-22T10:04:00.000Z', { cpuMs: 18_000 }),
      minute('2026-11-22T10:05:00.000Z', { looked: 0, cpuMs: 0 }),
    ]
    const [first, second] = pointsOf(minutes, 5)
    assert.equal(
      [first?.at, first?.requests, first?.errors_5xx, first?.cpu_millis, first?.memory_mib],
      ['2026-11-22T10:00:00.000Z', 120, 2, 200, 30],
    )
    assert.equal([second?.at, second?.cpu_millis, second?.memory_mib], ['2026-11-22T10:05:00.000Z', null, null])
  })
})
