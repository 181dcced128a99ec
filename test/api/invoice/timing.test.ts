/** What time does to invoices, over REST and kubectl on a clock that is moved: reminders, overdue, repetition, purge. */
import { refName } from '../../../crds/kernel/fields.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'

let platform: Platform
let admin: string
const DAY_MS = 86_400_000
const ask = (method: string, path: string, body?: unknown, token = platform.owner): Promise<Reply> =>
  call(platform.baseUrl, token, method, path, body)
const post = (path: string, body?: unknown) => ask('POST', `/api/invoices${path}`, body)
const get = async (id: string): Promise<Json> => (await ask('GET', `/api/invoices/${id}`)).json.invoice
const refused = (reply: Reply, status: number, code: string) =>
  assert.equal([reply.status, reply.json?.code], [status, code], reply.text)
const now = async (): Promise<number> => Date.parse((await ask('GET', '/api/dev/clock', undefined, admin)).json.now)
const dayAhead = async (days: number): Promise<string> =>
  new Date((await now()) + days * DAY_MS).toISOString().slice(0, 10)
/** Moves on to an hour of the day that is so many days ahead. */
const moveTo = async (day: string, hour = 12): Promise<void> => {
  const ms = Date.parse(`${day}T00:00:00Z`) + hour * 3_600_000 - (await now())
  const moved = await ask('POST', '/api/dev/clock', { advance: `PT${Math.ceil(ms / 1000)}S` }, admin)
  assert.is(moved.status, 200, moved.text)
}
let clients = 0
/** An invoice to a client of its own. */
const make = async (change: Record<string, unknown> = {}): Promise<Json> => {
  clients += 1
  const made = await post('', order({ client_email: `client-${clients}@acme.test`, ...change }))
  assert.is(made.status, 201, made.text)
  return { ...made.json.invoice, password: made.json.password }
}
const mailsTo = async (address: string) =>
  (await mailsIn(platform.mailDir)).filter((mail) => mail.to?.[0]?.address === address)
const remindersTo = async (address: string) =>
  (await mailsTo(address)).filter(({ messageId }) => messageId?.includes('.reminder.'))
const mailed = (address: string, count: number) =>
  eventually(`${count} reminders to ${address}`, async () => {
    const found = await remindersTo(address)
    assert.ok(found.length <= count, `${found.length} reminders to ${address}`)
    return found.length === count && found
  })
const told = async (id: string, type: string) =>
  (
    await query(
      platform.database.url,
      "select 1 from outbox where resource = $1 and channel = 'event' and payload ->> 'type' = $2",
      [id, type],
    )
  ).length
const steps = (invoice: Json) => invoice.reminders.sent.map(({ step }: Json) => step)

spec('time on an invoice', (t) => {
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'boss' },
      spec: { email: 'boss@demo.test', role: 'admin' },
    })
    admin = await platform.token('boss')
    await eventually('the admin', async () => (await ask('GET', '/api/dev/clock', undefined, admin)).status === 200)
  })
  t.after(() => platform.end())

  t('reminds four times, tells once that it is overdue, and mails no password', async () => {
    const due = await dayAhead(10)
    const { id, client_email, reminders, url, password } = await make({ due_date: due })
    assert.equal([reminders.enabled, reminders.next_on, reminders.sent], [true, await dayAhead(7), []])

    await moveTo(await dayAhead(7))
    const before = await get(id)
    assert.equal([before.status, steps(before), before.reminders.next_on], ['sent', ['-3'], due])
    const [mail] = await mailed(client_email, 1)
    assert.match(mail?.subject ?? '', /^Reminder: invoice INV-\d{3}-\d{4} from .*, 1,440\.00 EUR due /)
    assert.ok(mail?.text?.includes(url))
    assert.not.ok(`${mail?.text}${mail?.html}`.includes(password))

    await moveTo(due, 23)
    assert.equal([(await get(id)).status, await told(id, 'invoice.overdue')], ['sent', 0])
    await moveTo(await dayAhead(1), 1)
    assert.equal([(await get(id)).status, await told(id, 'invoice.overdue')], ['overdue', 1])

    // one move over all that is left: each comes at its own time, as if it had passed
    await moveTo(await dayAhead(60))
    const after = await get(id)
    assert.equal([steps(after), after.reminders.next_on], [['-3', '0', '+7', '+14'], null])
    const days = after.reminders.sent.map(({ at }: Json) => (Date.parse(at) - Date.parse(due)) / DAY_MS)
    assert.equal(
      days.map((day: number) => Math.floor(day)),
      [-3, 0, 7, 14],
    )
    await mailed(client_email, 4)
    assert.is(await told(id, 'invoice.overdue'), 1)
  })

  t('reminds of the rest after a part, and no more once it is paid, voided or credited', async () => {
    const due = await dayAhead(4)
    const [partial, paid, voided, credited] = [await make(), await make(), await make(), await make()]
    const all = [partial, paid, voided, credited]
    for (const { id } of all) {
      assert.is((await ask('PATCH', `/api/invoices/${id}`, { due_date: due })).status, 200)
      assert.is((await post(`/${id}/send`)).status, 200)
    }
    await post(`/${partial.id}/payments`, { amount_cents: 44_000 })
    await post(`/${paid.id}/payments`)
    await post(`/${voided.id}/void`)
    await post(`/${credited.id}/credit-note`)
    await moveTo(await dayAhead(30))
    const [mail] = await mailed(partial.client_email, 4)
    assert.match(mail?.subject ?? '', /1,000\.00 EUR/)
    assert.equal([(await get(partial.id)).status, await told(partial.id, 'invoice.overdue')], ['overdue', 1])
    for (const { id, client_email } of [paid, voided, credited]) {
      const view = await get(id)
      assert.equal([view.reminders.sent, view.reminders.next_on, await told(id, 'invoice.overdue')], [[], null, 0])
      assert.equal(await remindersTo(client_email), [])
    }
  })

  t('sends none by itself where it is switched off, at creation or later, even when a part is paid', async () => {
    const due = await dayAhead(5)
    const off = await make({ due_date: due, reminders: { enabled: false } })
    assert.equal(off.reminders, { enabled: false, next_on: null, sent: [] })
    const later = await make({ due_date: due })
    await post(`/${later.id}/payments`, { amount_cents: 1 })
    const patched = await ask('PATCH', `/api/invoices/${later.id}`, { reminders: { enabled: false } })
    assert.equal([patched.status, patched.json.invoice.reminders.next_on], [200, null], patched.text)
    refused(await ask('PATCH', `/api/invoices/${later.id}`, { reminders: {}, terms: 'x' }), 409, 'LOCKED_PARTIAL')
    await moveTo(await dayAhead(21))
    for (const { client_email } of [off, later]) assert.equal(await remindersTo(client_email), [])
    const on = await ask('PATCH', `/api/invoices/${off.id}`, { reminders: null })
    assert.is(on.json.invoice.reminders.enabled, true)
  })

  t('moves what was not given with the due date', async () => {
    const due = await dayAhead(5)
    const { id, client_email } = await make({ due_date: due })
    await moveTo(await dayAhead(3))
    const moved = await dayAhead(40)
    const patched = await ask('PATCH', `/api/invoices/${id}`, { due_date: moved })
    const { reminders, pending_revision } = patched.json.invoice
    assert.equal([steps(patched.json.invoice), reminders.next_on], [['-3'], due], 'an edit that was not sent')
    assert.equal(pending_revision.changed, [{ pointer: '/due_date', from: due, to: moved }])
    const again = (await post(`/${id}/send`)).json.invoice
    assert.equal([again.reminders.next_on, again.pending_revision], [moved, null])
    await moveTo(await dayAhead(20))
    await mailed(client_email, 1)
    await moveTo(moved)
    await mailed(client_email, 2)
  })

  t('reminds when it is asked to, once a day, and says why not', async () => {
    const { id, client_email } = await make({ due_date: await dayAhead(30) })
    const first = await post(`/${id}/remind`)
    assert.equal(first.json.reminder, { sent: true, to: client_email, step: 'manual' })
    assert.equal(steps(first.json.invoice), ['manual'])
    await mailed(client_email, 1)
    const second = await post(`/${id}/remind`)
    assert.equal([second.status, second.json.reminder.sent], [200, false])
    assert.match(second.json.reminder.reason, /one reminder a day/)
    await moveTo(await dayAhead(1))
    assert.is((await post(`/${id}/remind`)).json.reminder.sent, true)
    await mailed(client_email, 2)
    assert.is((await mailsTo(client_email)).length, 3, 'the invoice and two reminders')

    const test = await make({ test: true })
    assert.match((await post(`/${test.id}/remind`)).json.reminder.reason, /test invoice/)
    const draft = await make({ send: false })
    refused(await post(`/${draft.id}/remind`), 409, 'NOT_PAYABLE')
    await post(`/${id}/payments`)
    refused(await post(`/${id}/remind`), 409, 'NOTHING_DUE')
    refused(await ask('POST', `/api/invoices/${id}/remind`, undefined, await platform.token('other')), 404, 'NOT_FOUND')
  })

  t('repeats an invoice every month, as drafts or sent', async () => {
    const today = await dayAhead(0)
    const day = Number(today.slice(8)) >= 28 ? 1 : Number(today.slice(8)) + 1
    const parent = await make({ due_date: await dayAhead(20), metadata: { retainer: 'a' } })
    const set = await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'send' })
    assert.is(set.status, 200, set.text)
    const { next_on, every, mode, invoices } = set.json.recurrence
    assert.equal([every, mode, invoices], ['month', 'send', []])
    await moveTo(next_on, 1)
    const { recurrence } = await get(parent.id)
    assert.is(recurrence.invoices.length, 1)
    const child = await eventually('the child to be sent', async () => {
      const found = await get(recurrence.invoices[0].id)
      return found?.status === 'sent' && found
    })
    const { of, period } = child.recurrence
    assert.equal([of, period, child.due_date], [parent.id, next_on.slice(0, 7), addDays(next_on, 20)])
    assert.equal([child.total_cents, child.metadata, child.external_ref], [144_000, { retainer: 'a' }, null])
    assert.is((await mailsTo(parent.client_email)).length >= 2, true)

    const drafts = await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'draft' })
    await moveTo(drafts.json.recurrence.next_on, 1)
    const made = (await get(parent.id)).recurrence.invoices
    assert.is(made.length, 2)
    const draft = await eventually('the draft', () => get(made[1].id))
    assert.equal([draft.status, draft.number], ['draft', null])

    const paused = await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'draft', paused: true })
    assert.equal([paused.json.recurrence.paused, paused.json.recurrence.next_on], [true, null])
    await moveTo(await dayAhead(40))
    assert.is((await get(parent.id)).recurrence.invoices.length, 2)
    await post(`/${parent.id}/void`)
    refused(await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'draft' }), 409, 'LOCKED_VOID')
  })

  t('makes the invoice of a month under another name where another account has taken it before', async () => {
    const today = await dayAhead(0)
    const day = Number(today.slice(8)) >= 28 ? 1 : Number(today.slice(8)) + 1
    const parent = await make({ due_date: await dayAhead(20) })
    const set = await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'draft' })
    const { next_on } = set.json.recurrence
    const taken = refName('inv', { account: 'demo', externalRef: `${parent.id} ${next_on.slice(0, 7)}` })
    const items = [{ description: 'Not of demo', qty: '1', unitCents: 1 }]
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Invoice',
      metadata: { name: taken },
      spec: { account: 'other', send: false, items },
    })
    await moveTo(next_on, 1)
    const { invoices } = (await get(parent.id)).recurrence
    assert.is(invoices.length, 1)
    assert.is.not(invoices[0].id, taken)
    const child = await eventually('the child', () => get(invoices[0].id))
    assert.equal([child.total_cents, child.recurrence.of], [144_000, parent.id])
    await post(`/${parent.id}/void`)
  })

  t('leaves a draft, and says so, when the cap of sends is reached', async () => {
    const parent = await make({ due_date: await dayAhead(3), client_email: 'retainer@acme.test' })
    const day = Number((await dayAhead(1)).slice(8))
    const set = await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'send' })
    const limited = (sendsPerDay: number | null) =>
      platform.kubectl([
        'patch',
        'acct',
        'demo',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { limits: { sendsPerDay } } }),
      ])
    await limited(0)
    try {
      await moveTo(set.json.recurrence.next_on, 1)
      const { invoices } = (await get(parent.id)).recurrence
      assert.is(invoices[0].held, true)
      const child = await eventually('the child', () => get(invoices[0].id))
      assert.is(child.status, 'draft')
      assert.match(child.warnings.join(), /daily cap of sends/)
    } finally {
      await limited(null)
    }
    await post(`/${parent.id}/recurrence`, { every: 'month', day, mode: 'send', paused: true })
  })

  t('refuses a repetition that could not be, and knows one that came by kubectl', async () => {
    const bare = await post('', { send: false, items: [] })
    const monthly = { every: 'month', day: 1, mode: 'send' }
    refused(await post(`/${bare.json.invoice.id}/recurrence`, monthly), 409, 'NO_ITEMS')
    const { id } = await make({ due_date: await dayAhead(3) })
    for (const [body, pointer] of [
      [{ ...monthly, day: 32 }, '/day'],
      [{ ...monthly, every: 'week' }, '/every'],
      [{ ...monthly, until: '2027-02-30' }, '/until'],
      [{ day: 1, mode: 'send' }, '/every'],
    ] as const) {
      const { status, json } = await post(`/${id}/recurrence`, body)
      assert.equal([status, json.errors?.[0]?.pointer], [400, pointer], JSON.stringify(body))
    }
    const change = { spec: { recurrence: { every: 'month', day: 1, mode: 'draft' } } }
    await platform.kubectl(['patch', 'inv', id, '--type=merge', '-p', JSON.stringify(change)])
    const { next_on } = await eventually('the repetition', async () => {
      const { recurrence } = await get(id)
      return recurrence?.next_on && recurrence
    })
    assert.match(next_on, /-01$/)
  })

  t('takes a test away after 30 days, with all that is left of it', async () => {
    const test = await make({ test: true })
    const draft = await make({ test: true, send: false })
    const real = await make()
    await post(`/${test.id}/payments`)
    await moveTo(await dayAhead(29))
    assert.is((await get(test.id)).status, 'paid')
    await moveTo(await dayAhead(2))
    for (const { id } of [test, draft]) {
      await eventually('the test to go', async () => (await ask('GET', `/api/invoices/${id}`)).status === 404)
      assert.is(await platform.kubectl(['get', 'inv', id, '--ignore-not-found']), '')
    }
    assert.is((await get(real.id)).id, real.id)
    const left = await query(platform.database.url, 'select 1 from sends where resource = $1', [test.id])
    assert.equal(left, [])
  })
})

const addDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
