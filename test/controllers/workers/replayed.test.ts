import { rmSync } from 'node:fs'
import { pino } from 'pino'
import type { ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { makeCaches } from '../../../controllers/operator.ts'
import { takeNextEpoch } from '../../../controllers/runtime/epoch.ts'
import { makeQuarantine } from '../../../controllers/store/ledger/quarantine.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { reconcile, reconcileDepsOf } from '../../../controllers/workers/reconcile/reconcile.ts'
import type { ReconcileSummary } from '../../../controllers/workers/reconcile/words.ts'
import { judge } from '../../../controllers/workers/truths/judgement.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { keys, type OneProcess, startOneProcess } from '../../support/crash/process.ts'
import { makeMovedClock } from '../../support/doubles/movedclock.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { eventually, mailsIn, order } from '../../support/stage/invoicing.ts'
import {
  copyDatabase,
  type Database,
  kubectlFor,
  makeDatabase,
  type Namespace,
  scratchFolder,
  serviceKubeconfig,
} from '../../support/stage/stage.ts'

/** A copy of the night, put back after the morning's reminders and reconciled: what was done in between is not done again. */

const NIGHT = '2026-11-22T03:00:00.000Z'
const MORNING = '2026-11-22T09:00:01.000Z'
const AFTERNOON = '2026-11-22T15:00:00.000Z'
/** Three days before it is the morning; the second is overdue by then. */
const DUE = '2026-11-25'

const folder = scratchFolder('replayed')
const clock = makeMovedClock(NIGHT)
const ends: (() => Promise<unknown>)[] = []
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }

const lead = async (database: Database): Promise<OneProcess> => {
  const own = { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port, now: clock.now }
  const process = await startOneProcess(own, makeLife())
  ends.push(() => process.end())
  return process
}
const send = async ({ api }: OneProcess): Promise<string> => {
  const request = {
    caller: { account: 'demo', profile: { plan: 'team' } },
    route: { method: 'POST', scope: { kind: 'token' } },
    ...{ url: '/api/invoices', headers: {}, params: {}, query: {} },
    body: order({ external_ref: 'one', due_date: DUE }),
  } as unknown as ApiRequest
  return ((await createInvoice(api, request)).body as { invoice: { id: string } }).invoice.id
}
const idle = async (process: OneProcess) => (await process.operator()).lookAtAll()
const caught = (count: number) => eventually(`${count} mails`, async () => (await mailsIn(folder)).length >= count)
const waitingIn = ({ url }: Database) =>
  query(url, "select 1 from outbox where due_at is not null union all select 1 from deliveries where state = 'pending'")

spec('a copy of before the morning, reconciled in the afternoon', (t) => {
  let copy: Database
  let id: string
  let cluster: Pick<Parameters<typeof reconcile>[0], 'kube' | 'caches' | 'log'>
  const reconciling = async <R>(work: (clients: Parameters<typeof reconcile>[0]) => Promise<R>, of: Database) => {
    const pg = makePg({ url: of.url, max: 2 })
    try {
      return await work({ ...cluster, pg, keys, namespace: namespace.name, now: clock.now })
    } finally {
      await pg.close()
    }
  }
  const takeMarks = (of: Database) =>
    reconciling(async (clients) => {
      const deps = reconcileDepsOf(clients)
      assert.is((await judge({ ...deps, accept: undefined })).wrong, null)
      await takeNextEpoch(deps.taking, 'test')
    }, of)
  const summary = (apply: boolean): Promise<ReconcileSummary> =>
    reconciling(
      async (clients) => JSON.parse(await reconcile(clients, { apply, json: true, reserve: new Map() })),
      copy,
    )

  t.before(async () => {
    namespace = await makeDemoNamespace()
    const metadata = { name: LEASE_NAME, namespace: namespace.name }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata }
    await kubectlFor(namespace.kubeconfig)(['create', '-n', namespace.name, '-f', '-'], lease)
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    const kube = makeKube({ kubeconfig: serviceKubeconfig('reconcile') })
    const log = pino({ level: 'silent' })
    const caches = makeCaches({ kube, namespace: namespace.name, log })
    ends.push(() => caches.stop().then(() => kube.close()))
    cluster = { kube, caches, log }

    const newest = await makeDatabase()
    ends.push(newest.drop)
    await takeMarks(newest)
    const night = await lead(newest)
    id = await send(night)
    await caught(1)
    await idle(night)
    await night.end()
    copy = await copyDatabase(newest.url)
    ends.push(copy.drop)
    // taken a moment earlier: its mail was on its way
    const unsent = "state = 'queued', attempts = 0, due_at = created_at, settled_at = null"
    await query(copy.url, `update outbox set ${unsent} where channel = 'mail' and resource = $1`, [id])

    clock.moveTo(MORNING)
    await takeMarks(newest)
    const morning = await lead(newest)
    await idle(morning)
    await caught(2)
    await idle(morning)
    await morning.end()
    await eventually('the watch to see the reminder', async () => {
      const seq = cluster.caches.of(INVOICE).get(`${namespace.name}/${id}`)?.status?.factSeq ?? 0
      const [row] = await query(newest.url, 'select max(seq)::int as seq from facts where resource = $1', [id])
      return seq > 0 && seq === row?.seq
    })
    clock.moveTo(AFTERNOON)
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  t('is planned with a count of what waited in it', async () => {
    const plan = await summary(false)
    assert.equal(plan.aside, { event: 1, mail: 1 })
    assert.ok(plan.steps.some((one) => one.includes('1 events, 1 mails')))
    assert.ok(plan.decide.some((one) => one.includes('/api/admin/quarantine')))
    assert.is((await waitingIn(copy)).length, 2, 'a plan changes nothing')
  })

  t('mails nobody again, neither what waited nor what it was reminded of', async () => {
    await summary(true)
    assert.equal(await waitingIn(copy), [])
    const afternoon = await lead(copy)
    await idle(afternoon)
    await idle(afternoon)
    assert.is((await mailsIn(folder)).length, 2)
    const mails = await query(copy.url, "select purpose, state from outbox where channel = 'mail' order by id")
    assert.equal(mails, [{ purpose: 'invoice:1', state: 'unknown' }])
    const next = await query(copy.url, "select due_at::text as at from schedule where purpose = 'reminder'")
    assert.match(String(next[0]?.at), '2026-11-25')
    await afternoon.end()
  })

  t('sends what an administrator releases', async () => {
    const pg = makePg({ url: copy.url, max: 1 })
    const quarantine = makeQuarantine({ pg })
    const held = await quarantine.list({ source: 'mail', released: false }, { limit: 10, offset: 0 })
    assert.equal(
      held.rows.map(({ resource, reason }) => [resource, reason.includes('may have gone out')]),
      [[id, true]],
    )
    assert.is(await quarantine.release(held.rows[0]?.id ?? 0, { who: 'admin', at: clock.now().toISOString() }), true)
    await pg.close()
    const evening = await lead(copy)
    await caught(3)
    await evening.end()
  })
})
