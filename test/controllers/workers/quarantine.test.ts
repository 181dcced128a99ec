import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeOutbox } from '../../../controllers/store/ledger/outbox.ts'
import { makeQuarantine, type Quarantine } from '../../../controllers/store/ledger/quarantine.ts'
import { startMailSender } from '../../../controllers/workers/mail-sender.ts'
import { FAULT_AFTER_MS } from '../../../controllers/workers/outbox-worker.ts'
import { ATTEMPTS_MAX, RETRY_AFTER_MS } from '../../../crds/webhook/schedule.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { answered, type Office, openOffice, START } from '../../support/stage/webhook-senders.ts'

/** What fails through a fault of its own holds up nothing, over a real ledger. */

const OPEN = { source: null, released: false }
const PAGE = { limit: 50, offset: 0 }
const HOUR_MS = 3_600_000
const ROUNDS_MAX = 200
const QUEUE = `
insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
values ($1, $2, 'demo', $3, $4, $5, $6, $7, $7) returning id`

spec('what fails through a fault of its own', (t) => {
  let office: Office
  let quarantine: Quarantine
  let passedMs: number
  t.before.each(async () => {
    office = await openOffice()
    quarantine = makeQuarantine(office)
    passedMs = 0
  })
  t.after.each(() => office.end())

  const held = async () => (await quarantine.list(OPEN, PAGE)).rows
  const release = async (id: number) => quarantine.release(id, { who: 'boss', at: office.clock.now().toISOString() })
  const advance = (ms: number) => {
    passedMs += ms
    office.clock.moveTo(new Date(Date.parse(START) + passedMs).toISOString())
  }
  /** Moves the clock on until it is so. */
  const untilThen = async (what: string, stepMs: number, isSo: () => Promise<boolean>) => {
    for (let left = ROUNDS_MAX; !(await isSo()); left--) {
      if (left <= 0) throw new Error(`never: ${what}`)
      advance(stepMs)
      await sleep(100)
    }
  }
  const queue = async (kind: string, resource: string, channel: string, payload: object) => {
    const values = [kind, resource, `${channel}/1`, channel, `<${resource}@test>`, JSON.stringify(payload), START]
    return Number((await office.sql(QUEUE, values))[0]?.id)
  }
  const delivered = async () =>
    Number((await office.sql("select count(*)::int as n from deliveries where state = 'delivered'"))[0]?.n)

  t(
    'an event that cannot be told is set aside alone, those of the same batch are told, and it can be released',
    async () => {
      await office.open('/hooks')
      const poison = await queue('Invoice', 'inv-bad', 'event', { data: {} })
      await office.tell(40)
      await queue('Invoice', 'inv-worse', 'event', { type: 'invoice.sent', test: 'perhaps', data: {} })
      const { deliveries } = await office.lead()
      office.send(deliveries)
      await eventually('the others', async () => (await delivered()) === 40)
      await untilThen('both are set aside', 30_000, async () => (await held()).length === 2)
      const rows = await held()
      assert.equal(rows.map(({ source, resource, account, tries }) => [source, resource, account, tries]).sort(), [
        ['event', 'inv-bad', 'demo', 5],
        ['event', 'inv-worse', 'demo', 5],
      ])
      for (const { reason } of rows) assert.match(reason, /null value|invalid input syntax/)
      await office.sql('update outbox set payload = payload || \'{"type": "invoice.sent"}\' where id = $1', [poison])
      assert.ok(await release(rows.find(({ resource }) => resource === 'inv-bad')?.id ?? 0))
      await eventually('what was released', async () => (await delivered()) === 41)
      assert.is((await held()).length, 1)
      // the places of an account have no gap
      assert.equal(await office.sql('select count(*)::int as n, max(sequence)::int as last from events'), [
        { n: 41, last: 41 },
      ])
    },
  )

  t(
    'an attempt whose outcome the ledger refuses is recorded without its words, and keeps no other from it',
    async () => {
      await office.open('/odd')
      await office.open('/good', 'other')
      await office.tell(1)
      await office.tell(20, 'other')
      office.net.answer = ({ path }) => answered(path === '/odd' ? 3_000_000_000 : 200)
      const { deliveries } = await office.lead()
      office.send(deliveries)
      await eventually('the good ones', async () => (await delivered()) === 20)
      const fault = async () => (await office.sql("select fault from deliveries where state = 'failed'"))[0]?.fault
      await eventually('the odd one', async () => (await fault()) === 'NOT_RECORDED')
    },
  )

  t('a delivery that cannot be attempted follows its schedule to the end, is set aside, and begins anew', async () => {
    const endpoint = await office.open('/sealed')
    const [before] = await office.sql('select secret from webhook_endpoints where id = $1', [endpoint])
    await office.sql("update webhook_endpoints set secret = '\\x00' where id = $1", [endpoint])
    await office.tell(1)
    const { deliveries } = await office.lead()
    office.send(deliveries)
    const tried = async () => Number((await office.sql('select max(attempt)::int as n from deliveries'))[0]?.n)
    for (const [index, stepMs] of RETRY_AFTER_MS.entries()) {
      await eventually(`attempt ${index + 2} to be planned`, async () => (await tried()) === index + 2)
      advance(stepMs * 1.1 + 20_000)
    }
    await eventually('it to be set aside', async () => (await held()).length === 1)
    const [row] = await held()
    assert.equal([row?.source, row?.resource, row?.tries], ['delivery', endpoint, ATTEMPTS_MAX])
    assert.match(row?.reason ?? '', /^NOT_ATTEMPTED/)
    assert.equal(office.net.asked, [])
    await office.sql('update webhook_endpoints set secret = $2, version = version + 1 where id = $1', [
      endpoint,
      before?.secret,
    ])
    assert.ok(await release(row?.id ?? 0))
    await eventually('it to be delivered', async () => (await delivered()) === 1)
  })

  t('a mail of which nothing can be made is set aside, and the others go out', async () => {
    const epoch = (await office.lead()).epoch
    const mailed: string[] = []
    const settled: string[] = []
    // no send is there for a reminder to be about, its number is none, and of a kind that nobody knows nothing can be made
    await queue('Invoice', 'inv-none', 'mail', { mail: 'reminder', n: 'first' })
    await queue('Gadget', 'gadget-1', 'mail', { mail: 'hello' })
    const sender = startMailSender({
      outbox: makeOutbox({ pg: office.pg, epoch: () => epoch, now: office.clock.now }),
      mailer: { send: async () => void mailed.push('one'), close: async () => {} } as never,
      keys: keysOfOne(Buffer.alloc(32, 7)),
      publicUrl: 'https://bottega.test',
      now: office.clock.now,
      log: pino({ level: 'silent' }),
      lanes: 2,
      onDelivered: (_kind, resource) => void settled.push(resource),
    })
    await untilThen('both are set aside', HOUR_MS, async () => (await held()).length === 2)
    await sender.stop()
    assert.equal((await held()).map(({ source, resource, tries }) => [source, resource, tries]).sort(), [
      ['mail', 'gadget-1', FAULT_AFTER_MS.length + 1],
      ['mail', 'inv-none', FAULT_AFTER_MS.length + 1],
    ])
    assert.equal(mailed, [])
    assert.equal(await office.sql('select state, count(*)::int as n from outbox group by 1'), [
      { state: 'failed', n: 2 },
    ])
  })
})
