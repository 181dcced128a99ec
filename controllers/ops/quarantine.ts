/** What the operator's people see of what was set aside, and of what nobody has decided. */
import { QUARANTINE_SOURCES, type QuarantineSource } from '../store/ledger/quarantine.ts'
import type { Metrics } from './metrics.ts'

export type QuarantineCounts = {
  quarantined(): Promise<{ source: QuarantineSource; count: number }[]>
  undecided(): Promise<{ count: number; lateMs: number }>
}

export const makeQuarantineMetrics = (metrics: Metrics, counts: QuarantineCounts): void => {
  metrics.gauge({
    name: 'bottega_quarantined',
    help: 'What was set aside because it failed through a fault of its own, by what it is; each process says the same.',
    labelNames: ['source'],
    async collect() {
      // a scrape says what it can while the database is away
      const rows = await counts.quarantined().catch(() => [])
      for (const source of QUARANTINE_SOURCES)
        this.set({ source }, rows.find((one) => one.source === source)?.count ?? 0)
    },
  })
  const gauge = (name: string, help: string, figureOf: (of: { count: number; lateMs: number }) => number) =>
    metrics.gauge({
      name,
      help: `${help}; each process says the same.`,
      async collect() {
        this.set(figureOf(await counts.undecided().catch(() => ({ count: 0, lateMs: 0 }))))
      },
    })
  gauge('bottega_facts_undecided', 'What was reported and is not decided', ({ count }) => count)
  gauge(
    'bottega_facts_oldest_undecided_seconds',
    'For how long the oldest of it has waited',
    ({ lateMs }) => lateMs / 1000,
  )
}
