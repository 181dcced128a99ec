import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { newReportToken } from '../../../../api/auth/tokens.ts'
import type { DevInstanceNeeds } from '../../../../api/devinstance/needs.ts'
import { devInstanceRoutes } from '../../../../api/devinstance/routes.ts'
import type { Caller } from '../../../../api/http/caller.ts'
import { makePipeline } from '../../../../api/http/pipeline.ts'
import { makeServer } from '../../../../api/http/server.ts'
import { makeStores } from '../../../../api/wiring/stores.ts'
import { type Keys, keysOfOne } from '../../../../controllers/base/keys.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import { makeMirrorReader } from '../../../../controllers/store/mirror.ts'
import { migrate } from '../../../../controllers/store/pg/migrate.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import type { AccountView } from '../../../../crds/account/view.ts'
import { reserved } from '../../../../crds/devinstance/life/effects.ts'
import { policyOf } from '../../../../crds/devinstance/schema.ts'
import { PRICING_VERSION } from '../../../../crds/devinstance/sizing/prices.ts'
import type { StoredDevInstance } from '../../../../crds/devinstance/view.ts'
import { removeData } from '../../../platform/pgfiles.ts'
import { query, startPostgres } from '../../../platform/postgres.ts'
import { type BenchContext, median } from '../figure.ts'
import { BENCH_KEY, makeStageParts } from '../stages.ts'
import type { LoadOrder, LoadResult } from './load.ts'

/**
 * Reports of dev instances beside reads of the same instances, both by the api's own routes through every stage on one PostgreSQL
 * that keeps what it says: one connection for each instance, alternating rounds, medians. And how often the API server was written to.
 */

const ROUNDS = 5
const WARM_SECONDS = 2
const BORN = '2026-11-01T00:00:00.000Z'
const RATIO_GOAL = 0.5
/** A report without news, as long as a real one. */
const REPORT = {
  at: BORN,
  uptimeSeconds: 86_400,
  memory: { totalGb: 8, usedGb: 3.2, peakRssGb: 2.1 },
  disk: { totalGb: 50, usedGb: 12.5 },
  oom: { count: 0 },
  git: { dirty: 2, untracked: 1, unpushed: 0, head: 'abcdef0' },
  agents: { 'claude-code': '2.0.0', codex: '0.60.0' },
  activity: ['terminal'],
}

export type LoadAsk = (order: LoadOrder) => Promise<LoadResult>

const idOf = (at: number): string => `dev-${at.toString(16).padStart(32, '0')}`

const profile: AccountView = {
  ...{ id: 'demo', email: 'owner@demo.test', name: 'Demo', plan: 'team', role: 'member', teams: [] },
  ...{
    capabilities: ['devbox.manage'],
    cost_cap_usd: null,
    template_lock: null,
    rails: [],
    ai_per_day: null,
    limits: {},
  },
  ...{ version: 1, created_at: BORN },
}
const caller: Caller = { account: 'demo', by: { kind: 'token', id: 'bench' }, scopes: null, profile }

/** One that runs, as the controllers leave it. */
const storedOf = (at: number): StoredDevInstance => {
  const id = idOf(at)
  const spec = { account: 'demo', name: `bench-${at}`, sizeClass: 'S', arch: 'arm64', agents: [] as never[] } as const
  const row = reserved({
    spec: { ...spec },
    fallbackName: id,
    pricingVersion: PRICING_VERSION,
    bootstrapSha256: '',
    at: BORN,
  })
  const box = { ...row, state: 'running' as const, machine: 'up' as const, instanceId: `i-${at}`, startedAt: BORN }
  return {
    id,
    owner: 'demo',
    box,
    policy: policyOf({}),
    conditions: [],
    stalled: null,
    factSeq: 0,
    createdAt: BORN,
  }
}

const MIRROR =
  'insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, status) values ($1, $2, $3, $2, 1, 1, $4, $5, $5, $6)'
const ROW =
  'insert into devboxes (resource, account, uid, name, committed_micro_usd, pricing_version, rev, box, instance_id, token_hash, reserved_at) values ($1, $2, $1, $3, 0, $4, 1, $5, $6, $7, $8)'

/** @returns the report token of each */
const plant = async (url: string, { tokenHash, drawn }: Keys, count: number): Promise<string[]> => {
  await query(url, MIRROR, ['Account', 'demo', 'demo', JSON.stringify(profile), BORN, null])
  const tokens: string[] = []
  for (let at = 0; at < count; at += 1) {
    const stored = storedOf(at)
    const { id, box } = stored
    const { token, secret } = newReportToken({ drawn }, id)
    await query(url, MIRROR, ['DevInstance', id, 'demo', JSON.stringify(stored), BORN, 'running'])
    const of = [id, 'demo', box?.name, PRICING_VERSION, JSON.stringify(box), box?.instanceId, tokenHash(secret), BORN]
    await query(url, ROW, of)
    tokens.push(token)
  }
  await query(url, 'vacuum analyze')
  return tokens
}

type Serving = { port: number; writes(): number; close(): void }

/** The api's routes of dev instances; whatever would be written to the API server is counted in its place. */
const serve = async (pg: Pg, keys: Keys): Promise<Serving> => {
  let writes = 0
  const counted = async () => {
    writes += 1
  }
  const kube = new Proxy({}, { get: () => counted })
  const stages = makeStageParts({ pg, keys })
  const more = {
    mirror: makeMirrorReader({ pg }),
    authenticate: async () => caller,
    kube,
    wake: counted,
    appendFact: counted,
  }
  const deps = { ...stages, ...makeStores({ pg, keys }), ...more } as unknown as DevInstanceNeeds &
    Parameters<typeof makePipeline>[0]
  const pipeline = makePipeline(deps, devInstanceRoutes)
  const log = makeLog({ level: 'error' })
  const server = makeServer({ routes: devInstanceRoutes, deps, pipeline, log, observe: () => undefined })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, writes: () => writes, close: () => server.close() }
}

/** @param connections as many instances @param seconds of one round */
export const reports = async (
  { figure, progress, scratch }: BenchContext,
  ask: LoadAsk,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<void> => {
  const dataDir = join(scratch, 'pg-reports')
  const postgres = await startPostgres({ dataDir, owner: `bench-${process.pid}`, durable: true })
  const pg = makePg({ url: postgres.url })
  const step = progress.step(`http: ${ROUNDS} rounds of reports and reads`)
  try {
    await migrate(postgres.url)
    const keys = keysOfOne(BENCH_KEY)
    const tokens = await plant(postgres.url, keys, connections)
    const { port, writes, close } = await serve(pg, keys)
    const path = (at: number) => `/api/devboxes/${idOf(at)}`
    const reads = tokens.map((_, at) => ({ path: path(at), token: 'btg_bench' }))
    const told = tokens.map((token, at) => ({ path: `${path(at)}/report`, token, body: JSON.stringify(REPORT) }))
    const rateOf = async (requests: LoadOrder['requests'], length: number) => {
      const result = await ask({ port, requests, seconds: length })
      return result.answers / result.seconds
    }
    await rateOf(reads, WARM_SECONDS)
    await rateOf(told, WARM_SECONDS)
    const rates: { reads: number[]; reports: number[]; ratios: number[] } = { reads: [], reports: [], ratios: [] }
    const before = writes()
    for (let round = 1; round <= ROUNDS; round += 1) {
      step.update(`round ${round} of ${ROUNDS}`, (round - 1) / ROUNDS)
      const read = await rateOf(reads, seconds)
      const report = await rateOf(told, seconds)
      rates.reads.push(read)
      rates.reports.push(report)
      rates.ratios.push(report / read)
    }
    step.done()
    close()
    progress.line(`  reports by reads, round by round: ${rates.ratios.map((one) => one.toFixed(2)).join(', ')}`)
    figure({
      name: `report route of dev instances, ${connections} connections`,
      value: median(rates.reports),
      unit: '/s',
      peer: 'GET of the same instances',
      peerValue: median(rates.reads),
      goal: { atLeast: RATIO_GOAL },
    })
    progress.line(`  writes to the API server meanwhile: ${writes() - before}`)
    if (writes() !== before) throw new Error(`${writes() - before} writes to the API server by reports without news`)
  } finally {
    await pg.close()
    await postgres.stop()
    removeData(dataDir)
  }
}
