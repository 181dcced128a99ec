/** What the operator's people see of what was set aside. */
import { QUARANTINE_SOURCES, type QuarantineSource } from '../store/ledger/quarantine.ts'
import type { Metrics } from './metrics.ts'

export const makeQuarantineMetrics = (
  metrics: Metrics,
  counts: () => Promise<{ source: QuarantineSource; count: number }[]>,
): void => {
  metrics.gauge({
    name: 'bottega_quarantined',
    help: 'What was set aside because it failed through a fault of its own, by what it is; each process says the same.',
    labelNames: ['source'],
    async collect() {
      // a scrape says what it can while the database is away
      const rows = await counts().catch(() => [])
      for (const source of QUARANTINE_SOURCES)
        this.set({ source }, rows.find((one) => one.source === source)?.count ?? 0)
    },
  })
}
