import { join } from 'node:path'
import { makeKube } from '../../controllers/kube/kube.ts'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import { applyRebuild, lookAtRebuild } from '../../controllers/workers/lost/rebuild.ts'
import { ensureTools } from '../lib/tools.ts'
import { controlPlaneTools } from '../lib/tooltable.ts'
import { startControlPlane } from '../platform/controlplane.ts'
import { createKubectl } from '../platform/kubectl.ts'
import { applyPlatform, createDemoAccounts } from '../platform/platform.ts'
import { apiUrlOf, query, startPostgres } from '../platform/postgres.ts'
import type { BenchContext } from './sides/figure.ts'
import { RAW_SPEC } from './sides/rawpair.ts'

/**
 * An empty cluster in front of a database that keeps what was asked of 100,000 invoices: how long until all of them stand in it
 * again, under the rules that every resource meets.
 */

const INVOICES = Number(process.env.BENCH_INVOICES ?? 100_000)
/** For 100,000 of them; fewer have as much less. */
const BAR_S = (300 * INVOICES) / 100_000

const FILL = `
insert into desires (kind, name, uid, origin, generation, account, created_at, metadata, spec)
select 'Invoice', 'inv-' || n, 'uid-' || n, 'uid-' || n, 1, 'demo', now(), '{"labels": {}, "annotations": {}}', $1::json
from generate_series(1, $2::int) n`

const startParts = async ({ scratch, progress }: BenchContext) => {
  const owner = `bench-${process.pid}`
  const tools = await ensureTools(controlPlaneTools, { progress })
  const [plane, postgres] = await Promise.all([
    startControlPlane({ stateDir: join(scratch, 'cp'), tools, owner, durable: true }),
    startPostgres({ dataDir: join(scratch, 'pg'), owner, durable: true }),
  ])
  const kubectl = createKubectl(tools.path('kubectl'), plane.kubeconfig)
  await applyPlatform(kubectl)
  await createDemoAccounts(kubectl)
  await migrate(postgres.url, { apiUrl: apiUrlOf(postgres.url) })
  return { plane, postgres, end: () => Promise.all([plane.stop(), postgres.stop()]) }
}

export async function bench(context: BenchContext): Promise<void> {
  const { progress, figure } = context
  const { plane, postgres, end } = await startParts(context)
  const pg = makePg({ url: postgres.url, max: 2 })
  const kube = makeKube({ kubeconfig: plane.kubeconfig, fieldManager: 'bottega-setup' })
  try {
    await query(postgres.url, FILL, [JSON.stringify(RAW_SPEC), INVOICES])
    const step = progress.step(`${INVOICES} invoices, made again in an empty cluster`)
    const startedMs = performance.now()
    const deps = { pg, kube, namespace: 'default' }
    const done = await applyRebuild(deps, await lookAtRebuild(deps))
    const tookS = (performance.now() - startedMs) / 1000
    step.done(`${done.made} made, ${done.refused.length} refused`)
    if (done.made !== INVOICES)
      throw new Error(`${done.made} of ${INVOICES}: ${JSON.stringify(done.refused.slice(0, 3))}`)
    const name = `${INVOICES.toLocaleString('en-US')} invoices made again in an empty cluster`
    figure({ name, value: tookS, unit: 's', peer: 'the bar', peerValue: BAR_S, goal: { atMost: 1 } })
  } finally {
    await Promise.all([kube.close(), pg.close()])
    await end()
  }
}
