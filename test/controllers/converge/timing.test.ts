import { mkdirSync, rmSync } from 'node:fs'
import type { ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { remindClient, repeatInvoice } from '../../../api/invoice/timing/timing.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { refName } from '../../../crds/kernel/fields.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { refNamed } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweeps } from '../../support/crash/sweep.ts'
import { makeMovedClock } from '../../support/doubles/movedclock.ts'
import { viewIn } from '../../support/judges/viewin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { mailsIn, order } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/**
 * A month of one invoice, killed at every call: sent, repeated, reminded of by hand and by itself, overdue, and its child
 * sent on the first of the month. Each happens once.
 */

const START = '2026-11-21T12:00:00.000Z'
const DUE = '2026-11-25'
/** One reminder three days before, one on the due date; overdue; the next month's. */
const INSTANTS = ['2026-11-22T09:00:01Z', '2026-11-25T09:00:01Z', '2026-11-26T00:00:01Z', '2026-12-01T00:00:01Z']

const folder = scratchFolder('timing')
const parent = refNamed('inv', 'demo', 'the-retainer')
const child = refName('inv', { account: 'demo', externalRef: `${parent} 2026-12` })
const clock = makeMovedClock(START)
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }

const asking = (body: object, more: object = {}) =>
  ({
    caller: { account: 'demo', profile: { plan: 'team' } },
    body,
    headers: {},
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    params: { id: parent },
    ...more,
  }) as unknown as ApiRequest
const ORDER = asking(order({ external_ref: 'the-retainer', due_date: DUE }))
const MONTHLY = asking({ every: 'month', day: 1, mode: 'send' })
const REMIND = asking({}, { idempotencyKey: 'ab'.repeat(32) })

const view = (url: string, name: string) => viewIn(url, INVOICE, name)
const mails = (url: string) =>
  query(
    url,
    "select resource, purpose, state, unknowns::int, message_id as id from outbox where channel = 'mail' order by id",
  )
const factsOf = async (url: string, name: string): Promise<unknown[]> =>
  (await query(url, 'select key, kind from facts where resource = $1 order by key', [name]))
    .filter(({ kind }) => kind !== 'remind')
    .map(({ key }) => key)

const isDone = async (url: string): Promise<boolean> => {
  const [one, next, sent] = await Promise.all([view(url, parent), view(url, child), mails(url)])
  const left = await query(url, 'select 1 from schedule where due_at <= $1', [clock.now().toISOString()])
  return (
    left.length === 0 &&
    one?.status === 'overdue' &&
    one.recurrence?.invoices.length === 1 &&
    next?.status === 'sent' &&
    next.delivery.state === 'accepted' &&
    sent.length === 5 &&
    sent.every(({ state }) => state === 'sent')
  )
}

const lookedAt = async (url: string) => {
  assert.equal(await factsOf(url, parent), [
    `overdue:${DUE}`,
    'period:2026-12',
    'recurring:1',
    'reminder:-3',
    'reminder:0',
  ])
  const one = await view(url, parent)
  assert.equal(
    one?.reminders.sent.map(({ step }) => step),
    ['manual', '-3', '0'],
  )
  assert.is((await query(url, 'select 1 from register')).length, 2, 'two numbers')
  assert.equal(
    (await query(url, "select payload ->> 'type' as type from outbox where channel = 'event' order by 1")).map(
      ({ type }) => type,
    ),
    ['invoice.overdue', 'invoice.sent', 'invoice.sent'],
  )
  const used = await query(url, 'select sum(used)::int as used from send_days')
  assert.equal(used, [{ used: 2 }], 'two places under the cap')
  const queued = await mails(url)
  const caught = (await mailsIn(folder)).map(({ messageId }) => messageId)
  for (const { id, purpose, unknowns } of queued) {
    const times = caught.filter((one) => one === id).length
    assert.ok(times >= 1 && times <= 1 + Number(unknowns), `${purpose}: ${times} times, ${unknowns} unknown`)
  }
}

const story = (): Story<unknown> => ({
  options: { namespace: namespace.name, mailPort: catcher.port, now: clock.now },
  prepare: async () => {
    clock.reset(START)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
  },
  play: async ({ api, operator }) => {
    await createInvoice(api, ORDER)
    const repeated = await repeatInvoice(api, MONTHLY)
    await remindClient(api, REMIND)
    for (const instant of INSTANTS) {
      // the dead move no clock: this is a call of the life
      await api.mirror.get(INVOICE, parent, { account: 'demo' })
      clock.moveTo(instant)
      await (await operator()).lookAtAll()
    }
    return repeated
  },
  isSettled: isDone,
  look: lookedAt,
  fingerprint: (url) =>
    query(url, 'select (select count(*) from facts) as facts, (select max(xmin::text::bigint) from schedule) as rows'),
  mayDo: /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror)/,
  looked: /^sql observe_invoices/,
  clear: async () => {
    const kubectl = kubectlFor(namespace.kubeconfig)
    await kubectl(['delete', 'inv', parent, child, '-n', namespace.name, '--ignore-not-found'])
  },
  deathsMin: 40,
  every: 60,
})

spec('a month of an invoice whose process dies at any call', (t) => {
  t.before(async () => {
    namespace = await makeDemoNamespace()
    catcher = await startMailCatcher({ dir: folder, port: 0 })
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  t('without a crash, each reminder, the overdue and the next month come once', async () => {
    const { calls } = await live(story())
    const creates = calls.filter((call) => call.startsWith('create ') && call.includes('/invoices'))
    assert.is(creates.length, 2)
  })

  sweeps(t, 'each once', story)
})
