import { pino } from 'pino'
import type { ApiRequest } from '../../../../api/http/route.ts'
import { createInvoice } from '../../../../api/invoice/create.ts'
import { creditInvoice } from '../../../../api/invoice/money/money.ts'
import { makeKube } from '../../../../controllers/kube/kube.ts'
import { makeCaches } from '../../../../controllers/operator.ts'
import { takeNextEpoch } from '../../../../controllers/runtime/epoch.ts'
import { makeHistory } from '../../../../controllers/store/ledger/history.ts'
import { makePg } from '../../../../controllers/store/pg/pg.ts'
import {
  type ReconcileClients,
  reconcile,
  reconcileDepsOf,
} from '../../../../controllers/workers/reconcile/reconcile.ts'
import { judge } from '../../../../controllers/workers/truths/judgement.ts'
import { INVOICE } from '../../../../crds/invoice/kind.ts'
import { LEASE_NAME } from '../../../../crds/kernel/platform.ts'
import { startMailCatcher } from '../../../../hack/commands/mailcatcher.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { makeLife } from '../../../support/crash/crash.ts'
import { keys, type OneProcess, startOneProcess } from '../../../support/crash/process.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { eventually, order } from '../../../support/stage/invoicing.ts'
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

/** Tables of one database that are of different days: each is read as a truth, and what does not fit is named. */

const SERIES = 'demo/iss-default/invoice/2026'
const NOTES = 'demo/iss-default/credit_note/2026'
const folder = scratchFolder('torn')
const ends: (() => Promise<unknown>)[] = []
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }
let whole: Database
/** On the Lease. */
let epoch = 0
let cluster: Pick<ReconcileClients, 'kube' | 'caches' | 'log'>

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const request = (more: Partial<ApiRequest>) =>
  ({
    caller: { account: 'demo', profile: { plan: 'team' } },
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    headers: {},
    params: {},
    query: {},
    ...more,
  }) as ApiRequest
const send = async ({ api }: OneProcess, ref: string): Promise<{ id: string; number: string }> => {
  const answer = await createInvoice(api, request({ body: order({ external_ref: ref }) }))
  return (answer.body as { invoice: { id: string; number: string } }).invoice
}
const leading = async <T>({ url }: Database, work: (process: OneProcess) => Promise<T>): Promise<T> => {
  const options = { databaseUrl: url, namespace: namespace.name, mailPort: catcher.port }
  const process = await startOneProcess(options, makeLife())
  try {
    const operator = await process.operator()
    const given = await work(process)
    await operator.lookAtAll()
    return given
  } finally {
    await process.end()
  }
}
const before = async <T>({ url }: Database, work: (clients: ReconcileClients) => Promise<T>): Promise<T> => {
  const pg = makePg({ url, max: 2 })
  try {
    return await work({ ...cluster, pg, keys, namespace: namespace.name, now: () => new Date() })
  } finally {
    await pg.close()
  }
}
const wrongOf = (database: Database) =>
  before(
    database,
    async (clients) => (await judge({ ...reconcileDepsOf(clients), accept: undefined })).wrong?.what ?? null,
  )
const lead = (database: Database) =>
  before(database, async (clients) => {
    const deps = reconcileDepsOf(clients)
    assert.is((await judge({ ...deps, accept: undefined })).wrong, null)
    return takeNextEpoch(deps.taking, 'test')
  })
const apply = (database: Database) =>
  before(database, (clients) => reconcile(clients, { apply: true, json: false, reserve: new Map() }))

/** A copy of which a part is of an earlier day, before the Lease as it was when the copy was whole. */
const torn = async (...statements: string[]): Promise<Database> => {
  await kubectl(['annotate', 'lease', LEASE_NAME, '--overwrite', `bottega.dev/epoch=${epoch}`])
  const copy = await copyDatabase(whole.url)
  ends.push(copy.drop)
  const tables = ['register', 'series', 'sends', 'snapshots', 'facts', 'history_marks', 'history_heads']
  for (const table of tables) await query(copy.url, `alter table ${table} disable trigger all`)
  for (const statement of statements) await query(copy.url, statement)
  for (const table of tables) await query(copy.url, `alter table ${table} enable trigger all`)
  return copy
}
/** The count of a series as it was at an earlier number. */
const countAt = (series: string, seq: number) => `
update series s set last_seq = ${seq}, last_step = 0, head_hash = coalesce(
  (select r.hash from register r where r.series_id = s.id and r.seq = ${seq} and r.step = 0), genesis_hash(s.id)
) where s.id = '${series}'`
const entries = ({ url }: Database, series = SERIES) =>
  query(
    url,
    `select seq::int, entry, number, resource from register where series_id = '${series}' and step = 0 order by seq`,
  )
const isSound = async ({ url }: Database, series = SERIES) =>
  (await query(url, `select first_bad from verify_series('${series}')`))[0]?.first_bad === null

spec('parts of a database that are older than others', (t) => {
  let sent: { id: string; number: string }[] = []

  t.before(async () => {
    namespace = await makeNamespace()
    const metadata = { name: LEASE_NAME, namespace: namespace.name }
    await kubectl(['create', '-f', '-'], { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata })
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team' },
    })
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    const kube = makeKube({ kubeconfig: serviceKubeconfig('reconcile') })
    const log = pino({ level: 'silent' })
    const caches = makeCaches({ kube, namespace: namespace.name, log })
    cluster = { kube, caches, log }
    ends.push(async () => {
      await caches.stop()
      await kube.close()
    })
    whole = await makeDatabase()
    ends.push(whole.drop)
    epoch = await lead(whole)
    sent = await leading(whole, async (process) => {
      const made: typeof sent = []
      for (const ref of ['a', 'b', 'c']) made.push(await send(process, ref))
      const last = made[2]?.id ?? ''
      const body = { amount_cents: 1_000, reason: 'late' }
      assert.is((await creditInvoice(process.api, request({ params: { id: last }, body }))).status, 201)
      return made
    })
    // the head that whoever leads tells each hour
    const pg = makePg({ url: whole.url, max: 1 })
    const taken = Number((await query(whole.url, 'select epoch from epochs'))[0]?.epoch)
    assert.ok(await makeHistory({ pg, epoch: () => taken }).take(new Date()))
    await pg.close()
    await eventually('the watch to see all', async () => {
      const held = cluster.caches.of(INVOICE).get(`${namespace.name}/${sent[2]?.id}`)
      return (held?.status?.creditNotes ?? []).length === 1
    })
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await catcher.stop()
    await namespace.remove()
  })

  t('are none where all is of one day', async () => {
    assert.is(await wrongOf(whole), null)
  })

  t('a series that counts less than it has entries: nobody leads, and it counts on behind them', async () => {
    for (const statement of [countAt(SERIES, 1), `delete from series where id = '${SERIES}'`]) {
      const database = await torn(statement)
      assert.match((await wrongOf(database)) ?? '', `series ${SERIES} has given INV-026-0003, and counts`)
      assert.match(await apply(database), `register ${SERIES}: count what it has, up to INV-026-0003`)
      assert.equal([await wrongOf(database), await isSound(database)], [null, true])
      assert.equal(
        (await entries(database)).map(({ seq }) => seq),
        [1, 2, 3],
      )
      const [row] = await query(
        database.url,
        `select last_seq::int as last, first_seq::int as first from series where id = '${SERIES}'`,
      )
      assert.equal(row, { last: 3, first: 1 })
    }
  })

  t('a number that a resource was seen to have, and that its series has not come to', async () => {
    const database = await torn("insert into known_numbers values ('demo', 'INV-026-', 5)")
    assert.match((await wrongOf(database)) ?? '', 'INV-026-0005 of account demo is known to have been given')
    await apply(database)
    assert.equal([await wrongOf(database), await isSound(database)], [null, true])
    assert.equal(
      (await entries(database)).map(({ entry }) => entry),
      ['issued', 'issued', 'issued', 'lost', 'lost'],
    )
  })

  t('a document without a number in the register, whose resource is gone, has it given back', async () => {
    const last = sent[2] ?? { id: '', number: '' }
    await kubectl(['delete', 'inv', last.id])
    await eventually('the watch to see it', async () => {
      return cluster.caches.of(INVOICE).get(`${namespace.name}/${last.id}`) === undefined
    })
    const database = await torn(
      `delete from register where resource like '${last.id}%'`,
      countAt(SERIES, 2),
      countAt(NOTES, 0),
      'delete from history_marks',
      'delete from history_heads',
    )
    const wrong = (await wrongOf(database)) ?? ''
    assert.match(wrong, 'of account demo is called')
    assert.match(wrong, `${last.id}/`)
    assert.match(wrong, 'has no number in the register')
    await apply(database)
    assert.is(await wrongOf(database), null)
    assert.equal((await entries(database)).at(-1), {
      seq: 3,
      entry: 'restored',
      number: last.number,
      resource: last.id,
    })
    const notes = await entries(database, NOTES)
    assert.equal(
      notes.map(({ entry, number }) => [entry, number]),
      [['restored', 'CNINV-026-0001']],
    )
    assert.equal([await isSound(database), await isSound(database, NOTES)], [true, true])
    const next = await leading(database, (process) => send(process, 'next'))
    assert.is(next.number, 'INV-026-0004')
    await kubectl(['delete', 'inv', next.id])
  })

  t('a head of the history that had come further: what it had seen is set aside', async () => {
    const { id = '' } = sent[2] ?? {}
    const database = await torn(
      ...['sends', 'snapshots', 'facts'].map((table) => `delete from ${table} where resource = '${id}'`),
      `delete from register where resource like '${id}%'`,
      countAt(SERIES, 2),
      countAt(NOTES, 0),
    )
    assert.match((await wrongOf(database)) ?? '', 'the history has a head in which series')
    await apply(database)
    assert.equal([await wrongOf(database), await isSound(database)], [null, true])
    assert.equal(
      (await entries(database)).map(({ entry, number }) => [entry, number]),
      [
        ['issued', 'INV-026-0001'],
        ['issued', 'INV-026-0002'],
        ['lost', 'INV-026-0003'],
      ],
    )
  })
})
