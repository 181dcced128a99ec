/** The port of `run` for people who run the platform, as every process of Bottega has one: alive, ready, metrics. */
import { type Metrics, makeMetrics } from '../../../../controllers/ops/metrics.ts'
import { makeOps, type Ops } from '../../../../controllers/ops/port.ts'
import { UsageFault } from '../../cli/net/outcome.ts'
import type { Partner, RunStanding } from './standing.ts'

/** A round that takes longer is one that hangs; longer than any pause that may be set. */
const ROUND_OLD_MS = 15 * 60_000
/** Of one question. */
const SILENT_MS = 60_000

/** @param text `HOST:PORT`, as `[::]:9090` @throws UsageFault */
export const listenFrom = (text: string): { host: string; port: number } => {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:\s[\]]+):(\d{1,5})$/i.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535)
    throw new UsageFault(`BOTTEGA_METRICS_LISTEN is a host and a port, as [::]:9090, not ${text}.`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** The figures of the standing, as they are whenever somebody asks. */
const tellStanding = (metrics: Metrics, standing: RunStanding, nowMs: () => number): void => {
  metrics.counter({
    name: 'bottega_provisioner_rounds_total',
    help: 'Rounds over all dev instances, by how they ended.',
    labelNames: ['outcome'],
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(standing.rounds)) this.inc({ outcome }, count)
    },
  })
  metrics.counter({
    name: 'bottega_provisioner_steps_total',
    help: 'Effects that were begun in the cloud, on machines and in the registry.',
    labelNames: ['step'],
    collect() {
      this.reset()
      for (const [step, count] of standing.steps) this.inc({ step }, count)
    },
  })
  metrics.gauge({
    name: 'bottega_provisioner_instances',
    help: 'Dev instances of the last round: done, waiting for something, or stuck until a person acts.',
    labelNames: ['state'],
    collect() {
      for (const [state, count] of Object.entries(standing.instances)) this.set({ state }, count)
    },
  })
  metrics.gauge({
    name: 'bottega_provisioner_orphan_usd',
    help: 'USD a month for what bears the tag of the installation and is nobody’s.',
    collect() {
      this.set(standing.orphanUsd)
    },
  })
  const startedMs = nowMs()
  metrics.gauge({
    name: 'bottega_provisioner_round_age_seconds',
    help: 'Since a round ended well, or since the start.',
    collect() {
      this.set((nowMs() - (standing.wellAtMs ?? startedMs)) / 1000)
    },
  })
}

/** Who is away is asked again and again without a word: silence says it. */
const answers = ({ answered, askedMs }: RunStanding, who: Partner, nowMs: number): true | string => {
  const since = askedMs[who]
  if (since !== null && nowMs - since > SILENT_MS) return `has not answered for ${Math.round((nowMs - since) / 1000)} s`
  return answered[who]
}

export type PortOptions = {
  listen: { host: string; port: number }
  version: string
  nowMs(): number
}

/** Ready is who has ended a round well, and was answered by the registry and the cloud when it last asked. */
export const openPort = (standing: RunStanding, { listen, version, nowMs }: PortOptions): Promise<Ops> => {
  const metrics = makeMetrics({ version, process: 'provisioner' })
  tellStanding(metrics, standing, nowMs)
  return makeOps({
    listen,
    metrics,
    checks: {
      registry: () => answers(standing, 'registry', nowMs()),
      cloud: () => answers(standing, 'cloud', nowMs()),
      rounds: () => {
        if (standing.wellAtMs === null) return 'none has ended well yet'
        const ageMs = nowMs() - standing.wellAtMs
        return ageMs < ROUND_OLD_MS || `the last that ended well did ${Math.round(ageMs / 60_000)} minutes ago`
      },
    },
  })
}
