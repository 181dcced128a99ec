/** What is counted of the health of apps. No label holds an app, an account or an address. */
import type { Metrics } from '../../../ops/metrics.ts'

export type HealthCounts = {
  unhealthy(host: string, code: string): void
  mended(host: string, outcome: 'done' | 'failed'): void
  recovered(host: string): void
  returned(host: string): void
}

type Counter = ReturnType<Metrics['counter']>
type Wanted = { name: string; help: string; labelNames: string[] }

/** A process that leads again finds what it has counted. */
const counterIn = ({ registry, counter }: Metrics, wanted: Wanted): Counter =>
  (registry.getSingleMetric(wanted.name) as Counter | undefined) ?? counter(wanted)

export const healthCountsOf = (metrics: Metrics | undefined): HealthCounts => {
  if (!metrics) return { unhealthy: () => {}, mended: () => {}, recovered: () => {}, returned: () => {} }
  const unhealthy = counterIn(metrics, {
    name: 'bottega_app_unhealthy_total',
    help: 'Times that something of a live release was not as it is to be.',
    labelNames: ['host', 'code'],
  })
  const mends = counterIn(metrics, {
    name: 'bottega_app_mends_total',
    help: 'Tries to put an app right.',
    labelNames: ['host', 'outcome'],
  })
  const recovered = counterIn(metrics, {
    name: 'bottega_app_recovered_total',
    help: 'Times that all of an app was well again.',
    labelNames: ['host'],
  })
  const returns = counterIn(metrics, {
    name: 'bottega_app_returns_total',
    help: 'Releases that were bad after their switch, and left for the one before.',
    labelNames: ['host'],
  })
  return {
    unhealthy: (host, code) => unhealthy.inc({ host, code }),
    mended: (host, outcome) => mends.inc({ host, outcome }),
    recovered: (host) => recovered.inc({ host }),
    returned: (host) => returns.inc({ host }),
  }
}
