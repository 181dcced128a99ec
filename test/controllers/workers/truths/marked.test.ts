import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { ApiRequest } from '../../../../api/http/route.ts'
import { createInvoice } from '../../../../api/invoice/create.ts'
import { keysOfOne } from '../../../../controllers/base/keys.ts'
import { makeKube } from '../../../../controllers/kube/kube.ts'
import { makeCaches } from '../../../../controllers/operator.ts'
import { takeNextEpoch } from '../../../../controllers/runtime/epoch.ts'
import { makePg } from '../../../../controllers/store/pg/pg.ts'
import { reconcile, reconcileDepsOf } from '../../../../controllers/workers/reconcile/reconcile.ts'
import { judge } from '../../../../controllers/workers/truths/judgement.ts'
import { makeTruths } from '../../../../controllers/workers/truths/truths.ts'
import type { InvoiceResource } from '../../../../crds/invoice/schema.ts'
import { LEASE_NAME } from '../../../../crds/kernel/platform.ts'
import { startMailCatcher } from '../../../../hack/commands/mailcatcher.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { makeLife } from '../../../support/crash/crash.ts'
import { type OneProcess, keys as ownKeys, startOneProcess } from '../../../support/crash/process.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { eventually, mailsIn, order } from '../../../support/stage/invoicing.ts'
import {
  copyDatabase,
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  scratchFolder,
  serviceKubeconfig,
} from '../../../support/stage/stage.ts'

/** A copy of the database that was put back while nobody led: whoever looks at a resource with kubectl sees it there. */

const AGAIN_MS = 200
const folder = scratchFolder('marked')
const ends: (() => Promise<unknown>)[] = []
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }
let newest: Database
let older: Database

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const request = (body: object) =>
  ({
    caller: { account: 'demo', profile: { plan: 'team' } },
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    headers: {},
    params: {},
    query: {},
    body,
  }) as unknown as ApiRequest
const create = async ({ api }: OneProcess, ref: string, change: object = {}): Promise<string> => {
  const answer = await createInvoice(api, request(order({ external_ref: ref, ...change })))
  return (answer.body as { invoice: { id: string } }).invoice.id
}
const lead = async (database: Database): Promise<OneProcess> => {
  const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port }
  const process = await startOneProcess(options, makeLife())
  ends.push(() => process.end())
  await process.operator()
  return process
}

/** As main.ts waits for the truths before it leads. */
const waiting = (database: Database, keys = ownKeys) => {
  const pg = makePg({ url: database.url, max: 2 })
  const kube = makeKube({ kubeconfig: serviceKubeconfig('controllers') })
  const log = pino({ level: 'silent' })
  const caches = makeCaches({ kube, namespace: namespace.name, log })
  const now = () => new Date()
  const deps = reconcileDepsOf({ kube, pg, caches, keys, namespace: namespace.name, log, now })
  const judged: (string | null)[] = []
  const truths = makeTruths({
    ...{ ...deps, kube, now, accept: undefined, againMs: AGAIN_MS },
    onJudged: (code) => void judged.push(code),
  })
  const stopping = new AbortController()
  const agreed = truths.agree(stopping.signal).then(
    () => true,
    () => false,
  )
  const clients = { kube, pg, caches, keys, namespace: namespace.name, log, now }
  const end = async () => {
    stopping.abort(new Error('enough'))
    await agreed
    truths.stop()
    await caches.stop()
    await Promise.all([kube.close(), pg.close()])
  }
  /** So many looks later. */
  const looks = (more: number) => {
    const until = judged.length + more
    return eventually(`${more} looks`, async () => judged.length >= until)
  }
  return { deps, clients, judged, looks, end }
}
/** As main.ts does before it leads. */
const takeMarks = async (database: Database): Promise<void> => {
  const { deps, end } = waiting(database)
  assert.is((await judge({ ...deps, accept: undefined })).wrong, null)
  await takeNextEpoch(deps.taking, 'test')
  await end()
}

const invoices = async (): Promise<InvoiceResource[]> => JSON.parse(await kubectl(['get', 'inv', '-o', 'json'])).items
const stalledOf = ({ status }: InvoiceResource) => status?.conditions?.find(({ type }) => type === 'Stalled')
/** All of a resource but its conditions. */
const restOf = ({ metadata, spec, status }: InvoiceResource): unknown => {
  const { resourceVersion: _version, ...meta } = metadata as InvoiceResource['metadata'] & { managedFields?: unknown }
  const { conditions: _conditions, ...rest } = status ?? {}
  return { meta: { ...meta, managedFields: null }, spec, rest }
}
const versions = async () => (await invoices()).map(({ metadata }) => [metadata.name, metadata.resourceVersion])
/** What of the ledger would show that somebody worked. */
const ledgerOf = async ({ url }: Database) => [
  await query(url, 'select * from register'),
  await query(url, 'select * from facts'),
  await query(url, 'select * from outbox'),
  await query(url, 'select * from mirror order by kind, name'),
  await query(url, 'select epoch from epochs'),
]

spec('a resource that an older database is behind of, while nobody leads', (t) => {
  const lost: string[] = []
  let paused = ''

  t.before(async () => {
    namespace = await makeNamespace()
    const metadata = { name: LEASE_NAME, namespace: namespace.name }
    await kubectl(['create', '-f', '-'], { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata })
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team' },
    })
    newest = await makeDatabase()
    ends.push(newest.drop)
    await takeMarks(newest)
    const first = await lead(newest)
    await create(first, 'kept')
    await create(first, 'draft', { send: false })
    await eventually('a mail', async () => (await mailsIn(folder)).length === 1)
    await (await first.operator()).lookAtAll()
    await first.end()
    older = await copyDatabase(newest.url)
    ends.push(older.drop)
    await takeMarks(newest)
    const second = await lead(newest)
    for (const ref of ['a', 'b', 'c']) lost.push(await create(second, `after-${ref}`))
    paused = lost[2] ?? ''
    await eventually('the mails', async () => (await mailsIn(folder)).length === 4)
    await (await second.operator()).lookAtAll()
    await second.end()
    await kubectl(['annotate', 'inv', paused, 'bottega.dev/paused=true'])
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await catcher.stop()
    await namespace.remove()
  })

  t('under a key that is not the database’s nothing is said of any', async () => {
    const before = await versions()
    const process = waiting(older, keysOfOne(Buffer.alloc(32, 9)))
    await process.looks(2)
    await process.end()
    assert.is(process.judged.at(-1), 'KEY_UNKNOWN')
    assert.equal(await versions(), before)
  })

  t('says so in its conditions, once, and nothing else of it or of any other changes', async () => {
    const [before, ledger] = [await invoices(), await ledgerOf(older)]
    const process = waiting(older)
    await process.looks(2)
    const after = await invoices()
    for (const [at, one] of after.entries()) {
      const { name } = one.metadata
      const stalled = stalledOf(one)
      if (!lost.includes(name)) {
        assert.equal(one, before[at], name)
        continue
      }
      assert.equal([stalled?.status, stalled?.reason], ['True', 'LedgerBehind'], name)
      assert.match(stalled?.message ?? '', `LEDGER_BEHIND: ${one.status?.number} stands in its status`)
      assert.equal(restOf(one), restOf(before[at] as InvoiceResource), name)
    }
    assert.match(await kubectl(['get', 'inv', lost[0] ?? '', '-o', 'wide']), 'LedgerBehind')
    const written = await versions()
    await process.looks(3)
    assert.equal(await versions(), written, 'it is written once')
    await process.end()
    assert.equal(await ledgerOf(older), ledger, 'nobody worked on it')
  })

  t('says so too where the database is an empty one', async () => {
    const empty = await makeDatabase()
    ends.push(empty.drop)
    const process = waiting(empty)
    await eventually('all of them to say so', async () =>
      (await invoices()).every((one) => one.status?.number === undefined || stalledOf(one)?.status === 'True'),
    )
    await process.end()
    assert.equal(await query(empty.url, 'select 1 from installation'), [], 'it belongs to nobody still')
  })

  t('says so no more once it is reconciled and somebody leads, and keeps its number', async () => {
    const numbers = async () => (await invoices()).map(({ metadata, status }) => [metadata.name, status?.number])
    const before = await numbers()
    const process = waiting(older)
    await reconcile(process.clients, { apply: true, json: true, reserve: new Map() })
    await process.end()
    const third = await lead(older)
    await eventually('none to say so', async () => (await invoices()).every((one) => !stalledOf(one)))
    await (await third.operator()).lookAtAll()
    await sleep(AGAIN_MS)
    await third.end()
    assert.equal(await numbers(), before)
    const readies = (await invoices()).map(({ metadata, status }) => [
      metadata.name === paused,
      status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    ])
    for (const [, ready] of readies) assert.is(ready, 'True')
    assert.is((await mailsIn(folder)).length, 4, 'nobody was mailed')
  })
})
