import { mkdirSync, rmSync } from 'node:fs'
import type { Answer, ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { creditInvoice } from '../../../api/invoice/money/money.ts'
import type { InvoiceView } from '../../../crds/invoice/view.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, refNamed, startOneProcess } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweepAlone, sweeps } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { eventually, mailsIn, order } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/** A receipt leaves, comes back for a credit note and leaves again: killed at every call, the same numbers, and no mail. */

const folder = scratchFolder('archive-converge')
const ref = 'the-kept-order'
const name = refNamed('inv', 'demo', ref)
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }

/** The controllers live two months later than the receipt, so that its retention is over; their views are as ever. */
const LATER_MS = 60 * 86_400_000
const options = () => ({
  namespace: namespace.name,
  mailPort: catcher.port,
  tools: () => ({ deps: { now: () => new Date(Date.now() + LATER_MS) }, close: async () => undefined }),
})

const kubectl = (args: string[]) => kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name])
const isThere = async () => (await kubectl(['get', 'inv', name, '--ignore-not-found', '-o', 'name'])) !== ''
const request = (body: unknown): ApiRequest =>
  ({
    caller: { account: 'demo', profile: { plan: 'team' } },
    params: { id: name },
    body,
    headers: {},
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    idempotencyKey: Buffer.alloc(16, 7).toString('hex'),
  }) as unknown as ApiRequest

const mirrored = async (url: string) =>
  (await query(url, 'select archived, view from mirror where name = $1', [name]))[0] as
    | { archived: boolean; view: InvoiceView }
    | undefined
/** Nothing has happened to it for long, as far as the sweep can tell. */
const age = (url: string) => query(url, "update mirror set updated_at = '2026-01-01' where name = $1", [name])

/** A receipt whose retention is over. */
const prepare = async (url: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const process = await startOneProcess(
    { namespace: namespace.name, mailPort: catcher.port, databaseUrl: url },
    makeLife(),
  )
  try {
    // without a recipient: the mail sender goes by the clock of the wall, and would keep what is due in two months
    const { client_email: _, ...body } = order({ external_ref: ref, paid: { method: 'cash', reference: '' } })
    assert.is((await createInvoice(process.api, request(body))).status, 201)
    await eventually('its view', async () => (await mirrored(url))?.view.status === 'paid')
  } finally {
    await process.end()
  }
}

/** Sweeps until it has left. */
const leave = async ({ operator }: OneProcess, url: string): Promise<void> => {
  const leads = await operator()
  await eventually('it to leave', async () => {
    await age(url)
    await leads.lookAtAll()
    return !(await isThere()) && (await mirrored(url))?.archived === true
  })
}

let databaseUrl = ''
const story = (): Story<Answer> => ({
  options: options(),
  prepare: async (url) => {
    databaseUrl = url
    await prepare(url)
  },
  play: async (process) => {
    await leave(process, databaseUrl)
    const answer = await creditInvoice(process.api, request({ amount_cents: 44_000 }))
    await leave(process, databaseUrl)
    return answer
  },
  isSettled: async (url) => {
    const row = await mirrored(url)
    return row?.archived === true && row.view.credited_cents === 44_000 && !(await isThere())
  },
  look: async (url, answer) => {
    assert.is(answer.status, 201, JSON.stringify(answer.body))
    const numbers = await query(url, 'select kind, number from register where step = 0 order by kind')
    assert.equal(
      numbers.map(({ kind }) => kind),
      ['credit_note', 'invoice'],
      'a number each',
    )
    assert.is((await query(url, 'select 1 from sends')).length, 1, 'one send')
    assert.equal(await mailsIn(folder), [], 'no mail')
    const row = await mirrored(url)
    assert.equal([row?.view.number, row?.view.credit_notes.length], [numbers[1]?.number, 1])
    assert.equal(row?.view.credit_notes[0]?.number, numbers[0]?.number)
    const told = await query(url, "select payload ->> 'type' as type from outbox where channel = 'event' order by id")
    assert.equal(
      told.map(({ type }) => type),
      ['invoice.paid', 'invoice.credit_noted'],
    )
  },
  alone: async (url) => {
    const facts = await query(url, "select state from facts where kind = 'credit'")
    const numbers = await query(url, "select 1 from register where kind = 'credit_note'")
    assert.ok(facts.length <= 1 && facts.every(({ state }) => state === 'accepted'))
    assert.is(numbers.length, facts.length, 'a number for what was credited')
    assert.equal(await mailsIn(folder), [], 'no mail')
    return facts.length === 0 ? 'nothing' : 'credited'
  },
  // by name, so that a row that is written again says which it is
  fingerprint: async (url) => [
    await query(url, 'select count(*) from facts'),
    await query(url, 'select kind, name, archived, xmin::text from mirror order by 1, 2'),
  ],
  mayDo: /^(get|list) |^sql (mirror_|observe_|issuer_profiles|turn_outbox|take_epoch|put_mirror)/,
  looked: /^sql mirror_unknown/,
  clear: async () => {
    await kubectl(['delete', 'inv', name, '--ignore-not-found'])
  },
  deathsMin: 20,
  every: 50,
})

spec('an invoice that leaves and comes back, by a process that dies at any call', (t) => {
  t.before(async () => {
    namespace = await makeDemoNamespace()
    catcher = await startMailCatcher({ dir: folder, port: 0 })
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  t(
    'without a crash, it leaves twice and is credited once',
    async () => {
      const { calls } = await live(story())
      assert.ok(calls.filter((call) => call.startsWith('delete ')).length >= 2, 'deleted twice')
    },
    { timeoutMs: 240_000 },
  )

  sweeps(t, 'the same numbers, no mail, and no resource left', story)
  sweepAlone(t, 'the same numbers, no mail, and no resource left', story)
})
