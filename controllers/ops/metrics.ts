/**
 * The one door of prom-client. Names are controller-runtime's and client-go's where they have one, so that stock
 * dashboards work; our own begin with `bottega_`. No label holds an account, an address or a URL.
 */
import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client'
import { CERTIFICATE_STATES } from '../../crds/host/schema.ts'
import type { RequestInfo } from '../kube/transport.ts'
import type { WatchMetrics } from '../kube/watch.ts'
import type { ControllerMetrics } from '../runtime/contract.ts'
import type { QueueMetrics } from '../runtime/queue.ts'

/** controller-runtime's buckets, thinned: seconds. */
const PASS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
const PLAIN_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

export type Metrics = {
  registry: Registry
  request: (info: RequestInfo) => void
  watch: WatchMetrics
  queue: QueueMetrics
  controller: ControllerMetrics
  leader(name: string, isLeader: boolean): void
  eventsDropped(): void
  /** Somebody or something changed on a host what is a resource's; it is put back. */
  drifted(kind: string, host: string): void
  /** What is served on a host, as it was measured now; nothing: the host is gone, or was not reached. */
  certificates(host: string, found: readonly NameCertificate[], now: Date): void
  counter<L extends string>(config: CounterConfiguration<L>): Counter<L>
  gauge<L extends string>(config: GaugeConfiguration<L>): Gauge<L>
  histogram<L extends string>(config: HistogramConfiguration<L>): Histogram<L>
  /** The page for /metrics, in OpenMetrics when the Accept header asks for it. */
  render(accept: string | undefined): Promise<{ contentType: string; body: string }>
}

/** Whose the name is: the platform's to give, below its base domain, or somebody's own. `notAfter`: ISO. */
export type NameCertificate = { names: 'platform' | 'own'; state: string; notAfter?: string }

export type MetricsOptions = { version: string; process: string; defaults?: boolean }

/**
 * prom-client's own OpenMetrics mode renames counters for good (`x_total` becomes `x`), which breaks the next plain
 * scrape; so the plain page is translated.
 */
const toOpenMetrics = (plain: string): string => {
  const counters = new Set<string>()
  for (const [, name] of plain.matchAll(/^# TYPE (\S+) counter$/gm)) if (name) counters.add(name)
  const lines = plain.split('\n').flatMap((line) => {
    if (line === '') return []
    const [hash, word, name = '', ...rest] = line.split(' ')
    if (hash !== '#' || !counters.has(name)) return [line]
    // A counter's family has no suffix, its sample has; one without the suffix may not be called a counter.
    if (name.endsWith('_total')) return [[hash, word, name.slice(0, -'_total'.length), ...rest].join(' ')]
    return [word === 'TYPE' ? `# TYPE ${name} unknown` : line]
  })
  return `${lines.join('\n')}\n# EOF\n`
}

const watchMetrics = (registers: Registry[]): WatchMetrics => {
  const labelNames = ['kind', 'reason'] as const
  const restarts = new Counter({
    name: 'bottega_watch_restarts_total',
    help: 'Watches that ended by a failure or silence.',
    labelNames,
    registers,
  })
  const kinds = { labelNames: ['kind'] as const, registers }
  const drift = new Counter({
    name: 'bottega_watch_drift_total',
    help: 'Events that the watch missed and a list found.',
    ...kinds,
  })
  const failures = new Counter({
    name: 'bottega_watch_handler_errors_total',
    help: 'Watch handlers that threw.',
    ...kinds,
  })
  const read = new Map<string, () => number>()
  new Gauge({
    name: 'bottega_watch_staleness_seconds',
    help: 'Time since the API server was last heard on this watch.',
    ...kinds,
    collect() {
      for (const [kind, stalenessMs] of read) this.set({ kind }, stalenessMs() / 1000)
    },
  })
  return {
    restarted: (kind, reason) => restarts.inc({ kind, reason }),
    drifted: (kind, events) => drift.inc({ kind }, events),
    handlerFailed: (kind) => failures.inc({ kind }),
    watching: (kind, stalenessMs) => {
      read.set(kind, stalenessMs)
      drift.inc({ kind }, 0)
    },
  }
}

const queueMetrics = (registers: Registry[]): QueueMetrics => {
  const named = { labelNames: ['name'] as const, registers }
  const timed = { ...named, buckets: PASS_SECONDS }
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Keys added.', ...named })
  const retries = new Counter({
    name: 'workqueue_retries_total',
    help: 'Keys that came back after a failure.',
    ...named,
  })
  const waited = new Histogram({ name: 'workqueue_queue_duration_seconds', help: 'Time from add to start.', ...timed })
  const worked = new Histogram({ name: 'workqueue_work_duration_seconds', help: 'Time from start to end.', ...timed })
  const reads = new Map<string, () => { depth: number; runningSeconds: number[] }>()
  const gauge = (name: string, help: string, value: (read: { depth: number; runningSeconds: number[] }) => number) =>
    new Gauge({
      name,
      help,
      ...named,
      collect() {
        for (const [queue, read] of reads) this.set({ name: queue }, value(read()))
      },
    })
  gauge('workqueue_depth', 'Keys waiting.', ({ depth }) => depth)
  gauge('workqueue_unfinished_work_seconds', 'Seconds of work not yet ended, summed.', ({ runningSeconds }) =>
    runningSeconds.reduce((sum, one) => sum + one, 0),
  )
  gauge('workqueue_longest_running_processor_seconds', 'The longest work not yet ended.', ({ runningSeconds }) =>
    Math.max(0, ...runningSeconds),
  )
  return {
    added: (name) => adds.inc({ name }),
    retried: (name) => retries.inc({ name }),
    started: (name, seconds) => waited.observe({ name }, seconds),
    finished: (name, seconds) => worked.observe({ name }, seconds),
    watching: (name, read) => reads.set(name, read),
  }
}

const controllerMetrics = (registers: Registry[]): ControllerMetrics => {
  const named = { labelNames: ['controller'] as const, registers }
  const passes = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes by result.',
    labelNames: ['controller', 'result'] as const,
    registers,
  })
  const errors = new Counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Passes that failed.',
    ...named,
  })
  const stalls = new Counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Passes that ended stalled.',
    ...named,
  })
  const time = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of passes.',
    ...named,
    buckets: PASS_SECONDS,
  })
  const active = new Gauge({ name: 'controller_runtime_active_workers', help: 'Passes under way.', ...named })
  const most = new Gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Passes at most at once.',
    ...named,
  })
  return {
    running: (controller, concurrency) => {
      most.set({ controller }, concurrency)
      for (const result of ['success', 'error', 'requeue', 'requeue_after'] as const)
        passes.inc({ controller, result }, 0)
      errors.inc({ controller }, 0)
    },
    started: (controller) => active.inc({ controller }),
    ended: (controller, result, seconds) => {
      active.dec({ controller })
      passes.inc({ controller, result })
      if (result === 'error') errors.inc({ controller })
      time.observe({ controller }, seconds)
    },
    stalled: (controller) => stalls.inc({ controller }),
  }
}

/** Of a host that is looked at no more nothing is told: an old figure would say that all is well. */
const certificateMetrics = (registers: Registry[]): Metrics['certificates'] => {
  const labelNames = ['host', 'names', 'state'] as const
  const count = new Gauge({
    name: 'bottega_certificates',
    help: 'Hostnames by how their certificate was found, by a handshake.',
    labelNames,
    registers,
  })
  const left = new Gauge({
    name: 'bottega_certificate_left_seconds',
    help: 'Until the first certificate runs out; below 0 since it has.',
    labelNames: ['host', 'names'] as const,
    registers,
  })
  return (host, found, now) => {
    for (const names of ['platform', 'own'] as const) {
      const of = found.filter((one) => one.names === names)
      for (const state of CERTIFICATE_STATES) {
        const those = of.filter((one) => one.state === state).length
        if (found.length === 0) count.remove({ host, names, state })
        else count.set({ host, names, state }, those)
      }
      const ends = of.flatMap(({ notAfter }) => (notAfter === undefined ? [] : [Date.parse(notAfter)]))
      if (ends.length === 0) left.remove({ host, names })
      else left.set({ host, names }, (Math.min(...ends) - now.getTime()) / 1000)
    }
  }
}

/** One registry per process. */
export const makeMetrics = ({ version, process: name, defaults = true }: MetricsOptions): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  // Event-loop lag, heap, CPU, open handles.
  if (defaults) collectDefaultMetrics({ register: registry })
  new Gauge({ name: 'build_info', help: 'Always 1.', labelNames: ['version', 'process'], registers }).set(
    { version, process: name },
    1,
  )
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server.',
    labelNames: ['code', 'method', 'host'],
    registers,
  })
  const leading = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while leading.',
    labelNames: ['name'],
    registers,
  })
  const dropped = new Counter({
    name: 'bottega_events_dropped_total',
    help: 'Events left out by the rate bound.',
    registers,
  })
  const drift = new Counter({
    name: 'bottega_host_drift_total',
    help: 'Times that what is of a resource was changed on its host, and was put back.',
    labelNames: ['kind', 'host'],
    registers,
  })
  return {
    registry,
    drifted: (kind, host) => drift.inc({ kind, host }),
    certificates: certificateMetrics(registers),
    request: ({ code, method, host }) => requests.inc({ code, method, host }),
    watch: watchMetrics(registers),
    queue: queueMetrics(registers),
    controller: controllerMetrics(registers),
    leader: (lease, isLeader) => leading.set({ name: lease }, isLeader ? 1 : 0),
    eventsDropped: () => dropped.inc(),
    counter: (config) => new Counter({ ...config, registers }),
    gauge: (config) => new Gauge({ ...config, registers }),
    histogram: (config) => new Histogram({ ...config, registers }),
    render: async (accept) => {
      const plain = await registry.metrics()
      return accept?.includes('application/openmetrics-text')
        ? { contentType: OPEN_METRICS, body: toOpenMetrics(plain) }
        : { contentType: PLAIN_TEXT, body: plain }
    },
  }
}
