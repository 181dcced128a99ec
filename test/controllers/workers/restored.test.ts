import { rmSync } from 'node:fs'
import { Problem } from '../../../api/http/problem.ts'
import type { ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { creditInvoice, recordPayment } from '../../../api/invoice/money/money.ts'
import { invoices } from '../../../api/invoice/read.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../../support/crash/process.ts'
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
} from '../../support/stage/stage.ts'

/** The database was put back to what it was before some sends: the cluster knows more than the ledger. */

const folder = scratchFolder('restored')
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }
const ends: (() => Promise<unknown>)[] = []

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const account = (name: string) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Account',
  metadata: { name, namespace: namespace.name },
  spec: { email: `owner@${name}.test`, name, plan: 'team' },
})

const lead = async (database: Database): Promise<OneProcess> => {
  const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port }
  const process = await startOneProcess(options, makeLife())
  ends.push(() => process.end())
  return process
}
const request = (who: string, more: Partial<ApiRequest>) =>
  ({
    caller: { account: who, profile: { plan: 'team' } },
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    headers: {},
    params: {},
    query: {},
    ...more,
  }) as ApiRequest

const send = async ({ api }: OneProcess, who: string, ref: string, change: object = {}): Promise<string> => {
  const answer = await createInvoice(api, request(who, { body: order({ external_ref: ref, ...change }) }))
  return (answer.body as { invoice: { id: string } }).invoice.id
}
const refusal = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof Problem) return error
  throw error
}
type Held = { name: string; number: string | undefined; reason: string | undefined; message: string | undefined }
const held = async (): Promise<Held[]> => {
  const { items } = JSON.parse(await kubectl(['get', 'inv', '-o', 'json'])) as { items: InvoiceResource[] }
  return items.map(({ metadata, status }) => {
    const stalled = status?.conditions?.find(({ type }) => type === 'Stalled')
    return { name: metadata.name, number: status?.number, reason: stalled?.reason, message: stalled?.message }
  })
}
const numbersOf = async () => Object.fromEntries((await held()).map(({ name, number }) => [name, number]))
const caught = async (count: number) =>
  eventually(`${count} mails`, async () => (await mailsIn(folder)).length >= count && mailsIn(folder))
const idle = async (process: OneProcess) => (await process.operator()).lookAtAll()

spec('a database that was put back to an earlier state', (t) => {
  t.before(async () => {
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    for (const name of ['demo', 'other', 'credited']) await kubectl(['apply', '-f', '-'], account(name))
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  t('gives no number twice, mails nobody again, and says so', async () => {
    const database = await makeDatabase()
    ends.push(database.drop)
    const first = await lead(database)
    const kept = await send(first, 'demo', 'before')
    const paid = await send(first, 'demo', 'paid-later')
    await caught(2)
    await idle(first)
    await first.end()
    const copy = await copyDatabase(database.url)
    ends.push(copy.drop)

    const second = await lead(database)
    const lost: string[] = []
    // not in the order of their names, in which the next life looks at them
    for (const ref of ['d', 'a', 'c', 'b']) lost.push(await send(second, 'demo', `after-${ref}`))
    const body = { amount_cents: 100, method: 'transfer', reference: 'r' }
    assert.is((await recordPayment(second.api, request('demo', { params: { id: paid }, body }))).status, 200)
    await caught(6)
    await idle(second)
    await second.end()
    const before = await numbersOf()

    const third = await lead(copy)
    await idle(third)
    assert.equal(await numbersOf(), before, 'each resource names its own number still')
    const numbers = await query(copy.url, 'select number from register order by seq')
    assert.equal(
      numbers.map(({ number }) => number),
      [before[kept], before[paid]],
      'no number was given anew',
    )
    const reasons = new Map((await held()).map(({ name, reason }) => [name, reason]))
    for (const name of lost) assert.is(reasons.get(name), 'LedgerBehind', name)
    assert.is(reasons.get(paid), 'LedgerBehind', 'a payment that is not on record is no reason to ask for it again')
    assert.is(reasons.get(kept), undefined)

    // what is served, and what is refused
    const [id = ''] = lost
    const shown = (await invoices.get(third.api, request('demo', { params: { id } }))).body as {
      invoice: { number: string; stalled: { code: string } }
    }
    assert.is(shown.invoice.number, before[id])
    assert.is(shown.invoice.stalled.code, 'LEDGER_BEHIND')
    const payment = await refusal(recordPayment(third.api, request('demo', { params: { id }, body })))
    assert.is(payment.code, 'LEDGER_BEHIND')
    assert.equal(await query(copy.url, 'select 1 from facts where resource = $1', [id]), [], 'nothing was stored of it')

    // another client does not get what a client has
    const refused = await refusal(send(third, 'demo', 'new'))
    assert.is(refused.code, 'LEDGER_BEHIND')
    assert.match(refused.message, before[lost[3] ?? ''] ?? 'nothing')
    assert.is((await query(copy.url, 'select 1 from register')).length, 2)
    // a series of which the ledger is not behind goes on
    await send(third, 'other', 'theirs')
    await caught(7)
    await idle(third)
    const mails = (await mailsIn(folder)).map(({ messageId }) => messageId)
    assert.is(new Set(mails).size, mails.length, 'no mail went twice')
    await third.end()

    // whoever deletes what stalls does not free its number
    await kubectl(['delete', 'inv', ...lost])
    const fourth = await lead(copy)
    assert.is((await refusal(send(fourth, 'demo', 'newer'))).code, 'LEDGER_BEHIND')
    await fourth.end()
  })

  t('gives no credit note a number that another has, though the resource that names it is gone', async () => {
    const database = await makeDatabase()
    ends.push(database.drop)
    const first = await lead(database)
    const [named, other] = [await send(first, 'credited', 'named'), await send(first, 'credited', 'other')]
    await idle(first)
    await first.end()
    const copy = await copyDatabase(database.url)
    ends.push(copy.drop)
    const credit = ({ api }: OneProcess, id: string) =>
      creditInvoice(api, request('credited', { params: { id }, body: { amount_cents: 100, reason: 'late' } }))

    const second = await lead(database)
    assert.is((await credit(second, named)).status, 201)
    await idle(second)
    await second.end()

    const third = await lead(copy)
    await idle(third)
    await third.end()
    await kubectl(['delete', 'inv', named])

    const fourth = await lead(copy)
    // it is owed less from then on, and its document waits for a number that is nobody's
    assert.is((await credit(fourth, other)).status, 201)
    await idle(fourth)
    assert.equal(await query(copy.url, "select number from register where kind = 'credit_note'"), [])
    const stalled = (await held()).find(({ name }) => name === other)
    assert.is(stalled?.reason, 'LedgerBehind')
    assert.match(stalled?.message ?? '', 'CNINV-026-0001 was given')
    await fourth.end()
  })
})
