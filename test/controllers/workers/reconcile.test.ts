import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { ApiRequest } from '../../../api/http/route.ts'
import { exportRegister } from '../../../api/invoice/books/books.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { creditInvoice, recordPayment } from '../../../api/invoice/money/money.ts'
import { invoices } from '../../../api/invoice/read.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { makeCaches } from '../../../controllers/operator.ts'
import { takeNextEpoch } from '../../../controllers/runtime/epoch.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { ReconcileRefused } from '../../../controllers/workers/reconcile/apply.ts'
import {
  type ReconcileClients,
  type ReconcileOptions,
  reconcile,
  reconcileDepsOf,
} from '../../../controllers/workers/reconcile/reconcile.ts'
import type { ReconcileSummary } from '../../../controllers/workers/reconcile/words.ts'
import { judge } from '../../../controllers/workers/truths/judgement.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type CrashPoint, makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, keys as ownKeys, startOneProcess } from '../../support/crash/process.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, mailsIn, order } from '../../support/stage/invoicing.ts'
import {
  copyDatabase,
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  scratchFolder,
  serviceKubeconfig,
} from '../../support/stage/stage.ts'

/** An older copy of the database was put back, and is reconciled with what the cluster knows. */

const SERIES = 'demo/iss-default/invoice/2026'
const NOW = new Date('2026-11-23T10:00:00.000Z')
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const INSIDE = new Set(['sql begin', 'sql restore_series', 'sql restore_facts'])
const folder = scratchFolder('reconcile')
const ends: (() => Promise<unknown>)[] = []
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }
/** Before the four sends; it is never reconciled itself, only copies of it are. */
let older: Database
let newest: Database

/** What the reconciliations see of it: one watch for all of them. */
let cluster: Pick<ReconcileClients, 'kube' | 'caches' | 'log'>
const openCluster = (): typeof cluster => {
  const kube = makeKube({ kubeconfig: serviceKubeconfig('reconcile') })
  const log = pino({ level: 'silent' })
  const caches = makeCaches({ kube, namespace: namespace.name, log })
  ends.push(async () => {
    await caches.stop()
    await kube.close()
  })
  return { kube, caches, log }
}
/** Until the watch has seen what became of it. */
const seen = (name: string, is: (found: InvoiceResource | undefined) => boolean) =>
  eventually(`the watch to see ${name}`, async () => is(cluster.caches.of(INVOICE).get(`${namespace.name}/${name}`)))

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const account = (name: string) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Account',
  metadata: { name, namespace: namespace.name },
  spec: { email: `owner@${name}.test`, name, plan: 'team' },
})
const copied = async (database: Database): Promise<Database> => {
  const copy = await copyDatabase(database.url)
  ends.push(copy.drop)
  return copy
}

type Reconciling = {
  clients: ReconcileClients
  run(options?: Partial<ReconcileOptions>): Promise<string>
  end(): Promise<void>
}

const reconciling = (database: Database, point?: CrashPoint): Reconciling & { calls: string[] } => {
  const life = makeLife(point)
  const pg = makePg({ url: database.url, max: 2, around: life.around, connectTimeoutMs: 30_000 })
  const clients = { ...cluster, pg, keys: ownKeys, namespace: namespace.name, now: () => NOW }
  let ended: Promise<void> | undefined
  const once = () => {
    ended ??= pg.close()
    return ended
  }
  ends.push(once)
  return {
    clients,
    run: (options = {}) => reconcile(clients, { apply: false, json: true, reserve: new Map(), ...options }),
    end: once,
    calls: life.calls,
  }
}
const codeOf = async (database: Database): Promise<string | null> => {
  const { clients, end } = reconciling(database)
  const { wrong } = await judge({ ...reconcileDepsOf(clients), accept: undefined })
  await end()
  return wrong?.code ?? null
}
const planOf = async (database: Database, reserve = new Map<string, number>()): Promise<ReconcileSummary> => {
  const { run, end } = reconciling(database)
  const summary = JSON.parse(await run({ reserve }))
  await end()
  return summary
}
const apply = async (
  database: Database,
  reserve = new Map<string, number>(),
): Promise<ReconcileSummary & { done: boolean }> => {
  const { run, end } = reconciling(database)
  try {
    return JSON.parse(await run({ apply: true, reserve }))
  } finally {
    await end()
  }
}
/** As main.ts does before it leads. */
const takeMarks = async (database: Database): Promise<number> => {
  const { clients, end } = reconciling(database)
  const deps = reconcileDepsOf(clients)
  assert.is((await judge({ ...deps, accept: undefined })).wrong, null)
  const epoch = await takeNextEpoch(deps.taking, 'test')
  await end()
  return epoch
}
const lead = async (database: Database): Promise<OneProcess> => {
  const process = await startOneProcess(
    { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port },
    makeLife(),
  )
  ends.push(() => process.end())
  return process
}
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
const send = async ({ api }: OneProcess, ref: string, change: object = {}): Promise<string> => {
  const answer = await createInvoice(api, request({ body: order({ external_ref: ref, ...change }) }))
  return (answer.body as { invoice: { id: string } }).invoice.id
}
/** Never two at once: they would lead by two databases. */
const leading = async (database: Database, work: (process: OneProcess) => Promise<void>): Promise<void> => {
  const process = await lead(database)
  try {
    await process.operator()
    await work(process)
  } finally {
    await process.end()
  }
}
// biome-ignore lint/suspicious/noExplicitAny: a view is looked into, field by field
const viewOf = async ({ api }: OneProcess, id: string): Promise<any> =>
  ((await invoices.get(api, request({ params: { id } }))).body as { invoice: unknown }).invoice
const idle = async (process: OneProcess) => (await process.operator()).lookAtAll()
const caught = (count: number) => eventually(`${count} mails`, async () => (await mailsIn(folder)).length >= count)
const numbersOf = async (): Promise<Record<string, string | undefined>> => {
  const { items } = JSON.parse(await kubectl(['get', 'inv', '-o', 'json'])) as { items: InvoiceResource[] }
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status?.number]))
}
const registerOf = ({ url }: Database, series = SERIES) =>
  query(url, `select seq, entry, number, resource from register where series_id = '${series}' order by seq, step`)
const isSound = async ({ url }: Database, series = SERIES) => {
  const [row] = await query(url, `select first_bad from verify_series('${series}')`)
  return row !== undefined && row.first_bad === null
}
/** All that a reconciliation writes, but for epochs and for the row that tells of each run. */
const writtenIn = async ({ url }: Database): Promise<unknown> => [
  await query(url, 'select * from register order by series_id, seq, step'),
  await query(url, 'select id, last_seq, last_step, prefix, head_hash from series order by id'),
  await query(url, 'select * from facts order by resource, seq'),
  await query(
    url,
    "select account, at, once, entry, hash from audit where account not like '%/%' order by account, seq",
  ),
  await query(url, 'select cluster_uid, namespace, key_check, reconciling, disagreement from installation'),
  await query(url, 'select kind, name, uid from mirror_lost order by 1, 2'),
]
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

spec('an older copy of the database, reconciled', (t) => {
  const lost: string[] = []
  let paid = ''
  let before: Record<string, string | undefined> = {}

  t.before(async () => {
    namespace = await makeNamespace()
    const metadata = { name: LEASE_NAME, namespace: namespace.name }
    await kubectl(['create', '-f', '-'], { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata })
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    await kubectl(['apply', '-f', '-'], account('demo'))
    cluster = openCluster()
    newest = await makeDatabase()
    ends.push(newest.drop)
    await takeMarks(newest)

    const first = await lead(newest)
    await send(first, 'kept')
    paid = await send(first, 'paid-later')
    await caught(2)
    await idle(first)
    await first.end()
    older = await copied(newest)

    await takeMarks(newest)
    const second = await lead(newest)
    // not in the order of their names
    for (const ref of ['d', 'a', 'c', 'b']) lost.push(await send(second, `after-${ref}`))
    const pay = (id: string, amount_cents: number) =>
      recordPayment(second.api, request({ params: { id }, body: { amount_cents, method: 'transfer', reference: 'r' } }))
    assert.is((await pay(paid, 100)).status, 200)
    assert.is((await pay(lost[1] ?? '', 144_000)).status, 200)
    const credited = request({ params: { id: lost[2] ?? '' }, body: { amount_cents: 4_000, reason: 'late' } })
    assert.is((await creditInvoice(second.api, credited)).status, 201)
    // four sends, a receipt and a credit note
    await caught(8)
    await idle(second)
    await second.end()
    before = await numbersOf()
    await seen(lost[2] ?? '', (found) => (found?.status?.creditedCents ?? 0) > 0)
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  t('is planned in plain words, and a plan writes nothing', async () => {
    const copy = await copied(older)
    const [was, mails] = [await writtenIn(copy), (await mailsIn(folder)).length]
    const plan = await planOf(copy)
    assert.equal(new Set(plan.disagreements.map(({ code }) => code)), new Set(['LEDGER_BEHIND']))
    const [invoices] = plan.series.filter(({ id }) => id === SERIES)
    assert.equal(
      invoices?.restored,
      lost.map((name) => before[name]),
    )
    assert.equal([invoices?.lost, invoices?.next], [[], 'INV-026-0007'])
    assert.equal(new Set(plan.resources.map(({ name }) => name)), new Set([...lost, paid]))
    assert.ok(
      plan.decide.some((one) => one.includes('--reserve')),
      'what may have been mailed and is known nowhere',
    )
    assert.equal(plan.blocked, [])
    const { clients, end } = reconciling(copy)
    assert.match(await reconcile(clients, { apply: false, json: false, reserve: new Map() }), '--apply would:')
    await end()
    assert.equal(await writtenIn(copy), was)
    assert.is((await mailsIn(folder)).length, mails)
  })

  t('gives each client the number that was mailed, mails nobody, and goes on behind them', async () => {
    const copy = await copied(older)
    assert.is(await codeOf(copy), 'LEDGER_BEHIND', 'until it is reconciled')
    const mails = (await mailsIn(folder)).length
    const epochs = async () => Number((await query(copy.url, 'select epoch from epochs'))[0]?.epoch)
    const marked = async () =>
      Number(
        JSON.parse(await kubectl(['get', 'lease', LEASE_NAME, '-o', 'json'])).metadata.annotations['bottega.dev/epoch'],
      )
    const top = Math.max(await epochs(), await marked())
    assert.is((await apply(copy)).done, true)
    assert.is(await codeOf(copy), null)
    assert.ok((await epochs()) > top, 'the epoch is above those of all sides')
    assert.is(await marked(), await epochs())

    const entries = await registerOf(copy)
    assert.equal(
      entries.map(({ seq }) => Number(seq)),
      [1, 2, 3, 4, 5, 6],
    )
    assert.equal(
      entries.map(({ entry }) => entry),
      ['issued', 'issued', 'restored', 'restored', 'restored', 'restored'],
    )
    for (const { resource, number } of entries) assert.is(before[String(resource)], number)
    assert.ok(await isSound(copy))

    const again = await apply(copy)
    assert.equal([again.done, again.agree, again.steps], [false, true, []], 'a second time changes nothing')

    let next = ''
    await leading(copy, async (third) => {
      await idle(third)
      assert.equal(await numbersOf(), before)
      const view = await viewOf(third, lost[0] ?? '')
      assert.equal([view.status, view.stalled ?? null, view.number], ['sent', null, before[lost[0] ?? '']])
      assert.equal([(await viewOf(third, paid)).paid_cents, (await viewOf(third, paid)).status], [100, 'partial'])
      assert.equal(
        [(await viewOf(third, lost[1] ?? '')).status, (await viewOf(third, lost[2] ?? '')).credited_cents],
        ['paid', 4_000],
      )
      const notes = await registerOf(copy, 'demo/iss-default/credit_note/2026')
      assert.equal(
        notes.map(({ entry, number }) => [entry, number]),
        [['restored', 'CNINV-026-0001']],
      )
      assert.is((await query(copy.url, "select 1 from outbox where channel = 'mail' and state <> 'sent'")).length, 0)
      assert.is((await mailsIn(folder)).length, mails, 'nobody was mailed')

      next = await send(third, 'next')
      assert.is((await viewOf(third, next)).number, 'INV-026-0007')
      await caught(mails + 1)
      await idle(third)
      assert.ok(await isSound(copy))
      const { stream } = (await exportRegister(third.api, request({}))) as unknown as { stream: AsyncIterable<string> }
      const file = join(folder, 'register.jsonl')
      writeFileSync(file, (await Array.fromAsync(stream)).join(''))
      const script = join(import.meta.dirname, '..', '..', '..', 'api', 'client', 'verify-register.mjs')
      const checked = spawnSync(process.execPath, [script, file], { encoding: 'utf8' })
      assert.is(checked.status, 0, checked.stdout)
      assert.match(checked.stdout, '4 restored')
      const audits = await query(copy.url, "select entry from audit where entry like '%reconcile%'")
      assert.ok(audits.length >= 7, 'each series, each resource and the run are in the audit')
    })
    await kubectl(['delete', 'inv', next])
    await seen(next, (found) => found === undefined)
  })

  t('sets aside what is known nowhere, and never gives it again', async () => {
    const copy = await copied(older)
    const gone = lost[1] ?? ''
    await kubectl(['delete', 'inv', gone])
    await seen(gone, (found) => found === undefined)
    const reserve = new Map([[SERIES, 9]])
    const plan = await planOf(copy, reserve)
    const [invoices] = plan.series.filter(({ id }) => id === SERIES)
    const missing = before[gone] ?? ''
    assert.equal(invoices?.lost, [missing, 'INV-026-0007', 'INV-026-0008', 'INV-026-0009'])
    assert.ok(
      plan.decide.some((one) => one.includes(missing)),
      'somebody has it',
    )
    assert.is((await apply(copy, reserve)).done, true)
    assert.ok(await isSound(copy))
    assert.equal((await apply(copy, reserve)).done, false)
    const entries = await registerOf(copy)
    assert.equal(
      entries.filter(({ entry }) => entry === 'lost').map(({ number }) => number),
      invoices?.lost,
    )
    let next = ''
    await leading(copy, async (process) => {
      next = await send(process, 'behind-them')
      assert.is((await viewOf(process, next)).number, 'INV-026-0010')
    })
    await kubectl(['delete', 'inv', next])
    await seen(next, (found) => found === undefined)
  })

  t('is refused while somebody leads, under another key, and for what only a person can decide', async () => {
    const copy = await copied(older)
    await leading(copy, async () => {
      const refused = await refusal(apply(copy))
      assert.instance(refused, ReconcileRefused)
      assert.match(String(refused), 'somebody leads')
    })

    const was = await writtenIn(copy)
    const { clients, end } = reconciling(copy)
    const otherKey = { ...clients, keys: keysOfOne(Buffer.alloc(32, 9)) }
    assert.match(
      String(await refusal(reconcile(otherKey, { apply: true, json: true, reserve: new Map() }))),
      'another key',
    )
    await end()
    assert.match(String(await refusal(apply(copy, new Map([['demo/nobody/invoice/2026', 3]])))), 'there is no series')
    assert.equal(await writtenIn(copy), was)
  })

  t(
    'comes to the same end when it is killed at any statement and run again',
    async () => {
      const reference = await copied(older)
      const whole = reconciling(reference)
      await whole.run({ apply: true })
      await whole.end()
      const wanted = await writtenIn(reference)
      const from = whole.calls.indexOf('sql begin_reconcile')
      assert.ok(from > 0)
      // after one call is before the next, so that only the first has to be killed before as well
      const points: CrashPoint[] = [{ call: from, when: 'before' }]
      // within a transaction nothing is done yet: looked at in the first of them, in the others with --full
      const firstCommit = whole.calls.indexOf('sql commit', from)
      for (let call = from; call < whole.calls.length; call++) {
        const isInside = call > firstCommit && INSIDE.has(whole.calls[call] ?? '')
        if (isFull || !isInside) points.push({ call, when: 'after' })
      }
      for (const point of points) {
        const at = `${point.when} ${whole.calls[point.call]}`
        const copy = await copyDatabase(older.url)
        const dying = reconciling(copy, point)
        assert.ok((await refusal(dying.run({ apply: true }))) !== null, `it died ${at}`)
        await dying.end()
        const isLast = point === points.at(-1)
        if (!isLast) assert.is(await codeOf(copy), 'LEDGER_BEHIND', `nobody leads ${at}`)
        await apply(copy)
        assert.equal(await writtenIn(copy), wanted, at)
        await copy.drop()
      }
    },
    { timeoutMs: 600_000 },
  )
})
