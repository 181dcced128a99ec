import { StaleEpoch } from '../../../controllers/base/errors.ts'
import { makeLog } from '../../../controllers/base/log.ts'
import type { AnyResource } from '../../../controllers/kinds/held.ts'
import { readDatabaseClock } from '../../../controllers/store/clock.ts'
import { makeIssuers } from '../../../controllers/store/invoice/issuers.ts'
import { makeDesires, makeKeptGenerations } from '../../../controllers/store/ledger/desires.ts'
import { makeAppendFact } from '../../../controllers/store/ledger/facts.ts'
import { type Ledger, makeLedger } from '../../../controllers/store/ledger/ledger.ts'
import { makeSchedule, nextDue, type Schedule } from '../../../controllers/store/ledger/schedule.ts'
import { makeMirror } from '../../../controllers/store/mirror.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { startClockGuard } from '../../../controllers/workers/clock-guard.ts'
import { startScheduler } from '../../../controllers/workers/scheduler.ts'
import type { Scheduled } from '../../../crds/kernel/schedule.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { frozenInvoice } from '../../support/builders/frozen.ts'
import { until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { freezing, type Leader } from '../../support/stage/ledger.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const START = '2026-12-17T08:00:00.000Z'
const HOUR_MS = 3_600_000

/** A reminder that is due at the start, as a plan would write it. */
const row = (name: string, change: Partial<Scheduled> = {}): Scheduled => ({
  purpose: 'reminder',
  dueAt: START,
  lapsesAt: null,
  generation: 1,
  factSeq: 0,
  effect: {
    fact: {
      key: 'reminder:-3',
      kind: 'reminder',
      body: { step: '-3' },
      event: { kind: 'Invoice', account: 'demo', type: 'invoice.overdue', data: { invoice: { id: name } } },
    },
    mail: {
      kind: 'Invoice',
      account: 'demo',
      purpose: 'reminder:-3',
      channel: 'mail',
      messageId: `<${name}@test>`,
      payload: { mail: 'reminder', n: 1 },
    },
  },
  ...change,
})
const looking = (change: Partial<Scheduled> = {}) => row('', { purpose: 'purge', effect: null, ...change })

spec('the schedule', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let nowMs: number
  let schedule: Schedule
  let ledger: Ledger
  /** What the watch holds: name → generation. */
  let held: Map<string, { generation: number; paused?: boolean; factSeq?: number }>
  /** What is kept of those that were lost. */
  let lost: Map<string, { generation: number }>
  let woken: string[]
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    epoch = await takeEpoch(pg, 'test')
    nowMs = Date.parse(START)
    schedule = makeSchedule({ pg, epoch: () => epoch, now: () => new Date(nowMs) })
    ledger = makeLedger({ pg, epoch: () => epoch })
    held = new Map([['inv-1', { generation: 1 }]])
    lost = new Map()
    woken = []
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })

  const put = (rows: Scheduled[], resource = 'inv-1') => schedule.put({ kind: 'Invoice', resource, rows })
  const keptOf = (name: string): AnyResource | null => {
    const kept = lost.get(name)
    return kept ? ({ metadata: { name, ...kept } } as AnyResource) : null
  }
  const find = (_kind: string, name: string): AnyResource | undefined => {
    const found = held.get(name)
    if (!found) return undefined
    const annotations = found.paused ? { 'bottega.dev/paused': 'true' } : {}
    const metadata = { name, generation: found.generation, annotations }
    return { metadata, status: { factSeq: found.factSeq ?? 0 } } as unknown as AnyResource
  }
  const sweep = async (by = schedule): Promise<number> => {
    const log = makeLog({ level: 'silent' })
    const wake = (_kind: string, name: string) => void woken.push(name)
    const stored = async (_kind: string, name: string) => keptOf(name)
    const deps = { schedule: by, find, stored, wake, onQueued: () => undefined, now: () => new Date(nowMs), log }
    const counting = { dealtWith: 0 }
    const scheduler = startScheduler({
      ...deps,
      schedule: {
        due: by.due,
        turn: async (turn) => {
          counting.dealtWith += turn.claims.length + turn.looks.length + turn.gone.length
          return by.turn(turn)
        },
      },
    })
    await scheduler.sweep()
    await scheduler.stop()
    return counting.dealtWith
  }
  const sql = (text: string) => query(database.url, text)
  const facts = async (name = 'inv-1') => (await ledger.observe(name)).facts.map(({ key }) => key)
  const queued = async () =>
    (await sql('select resource, purpose, message_id as id from outbox order by id')).map(({ purpose }) => purpose)
  const standing = async () =>
    (await sql('select purpose from schedule order by purpose')).map(({ purpose }) => purpose)

  t('nothing is due for a clock that is away from that of the database, and all of it once they agree', async () => {
    let aheadMs = 30 * 24 * HOUR_MS
    const log = makeLog({ level: 'silent' })
    const guard = startClockGuard({
      readDatabase: () => readDatabaseClock(pg),
      wall: () => Date.now() + aheadMs,
      log,
      lookEveryMs: 50,
    })
    const now = () => new Date(guard.earlier())
    const ours = makeSchedule({ pg, epoch: () => epoch, now })
    const soon = new Date(Date.now() + HOUR_MS).toISOString()
    const past = new Date(Date.now() - HOUR_MS).toISOString()
    held.set('inv-2', { generation: 1 })
    await put([row('inv-1', { dueAt: past })])
    await put([row('inv-2', { dueAt: soon })], 'inv-2')
    const wake = (_kind: string, name: string) => void woken.push(name)
    const trusting = { schedule: ours, find, stored: async () => null, wake, onQueued: () => undefined, now, log }
    const scheduler = startScheduler({ ...trusting, isClockTrusted: guard.isTrusted })
    await guard.look()
    assert.equal([await scheduler.sweep(), await facts(), woken], [0, [], []])
    aheadMs = -aheadMs
    assert.equal([await scheduler.sweep(), await facts(), woken], [0, [], []])
    aheadMs = 0
    await until('what is due is claimed by itself', async () => (await facts()).length === 1)
    assert.equal([await facts(), await facts('inv-2')], [['reminder:-3'], []])
    await scheduler.stop()
    guard.stop()
  })

  t('one that cannot be claimed keeps no other from it, and is looked at', async () => {
    held.set('inv-2', { generation: 1 })
    await put([row('inv-1')])
    await put([row('inv-2')], 'inv-2')
    await sql("update schedule set effect = jsonb_set(effect, '{fact,key}', 'null') where resource = 'inv-1'")
    await sweep()
    assert.equal([await facts('inv-1'), await facts('inv-2')], [[], ['reminder:-3']])
    assert.equal(new Set(woken), new Set(['inv-1', 'inv-2']))
    // its pass writes it anew
    await put([row('inv-1')])
    await sweep()
    assert.equal(await facts('inv-1'), ['reminder:-3'])
  })

  t('claims what is due once: the fact, its mail and its event in one transaction', async () => {
    await put([row('inv-1')])
    await sweep()
    await sweep()
    assert.equal(await facts(), ['reminder:-3'])
    assert.equal((await queued()).toSorted(), ['event:reminder:-3', 'reminder:-3'])
    assert.equal(await standing(), [])
    assert.equal(woken, ['inv-1'])
  })

  t('claims nothing before it is due, by the clock of the platform', async () => {
    await put([row('inv-1')])
    nowMs -= 1
    await sweep()
    assert.equal([await facts(), woken], [[], []])
    assert.equal(await nextDue(pg, new Date(nowMs), new Date(nowMs + 1)), new Date(START))
    assert.is(await nextDue(pg, new Date(START), new Date(nowMs + HOUR_MS)), null)
  })

  t('holds only while nothing was recorded since: a payment that stands before the claim stops it', async () => {
    await put([row('inv-1')])
    const append = makeAppendFact({ pg, epoch: null })
    const payment = {
      resourceKind: 'Invoice',
      key: 'payment:p',
      kind: 'payment',
      body: {},
      state: 'pending',
      at: '2026-12-17T07:59:59.900Z',
    }
    await append({ ...payment, resource: 'inv-1', state: 'pending' })
    await sweep()
    assert.equal(await facts(), ['payment:p'])
    assert.equal(await queued(), [])
    assert.equal([await standing(), woken], [['reminder'], ['inv-1']], 'a pass is asked what is due now')
    await put([row('inv-1', { factSeq: 1 })])
    await sweep()
    assert.equal(await facts(), ['payment:p', 'reminder:-3'])
  })

  t('keeps what is due of a resource that is absent, until its deletion is on record', async () => {
    await put([row('inv-1')])
    held.delete('inv-1')
    assert.is(await sweep(), 1)
    assert.is(await sweep(), 0, 'asked again in a minute')
    assert.equal([await facts(), await standing()], [[], ['reminder']])
    const desires = makeDesires({ pg, epoch: () => epoch, known: makeKeptGenerations() })
    await desires.see({ kind: 'Invoice', name: 'inv-1', uid: 'u', generation: 1, how: 'seen' })
    nowMs += 60_000
    assert.is(await sweep(), 1)
    assert.equal(await standing(), [])
  })

  t('the row of a purge goes once its deletion was asked for, and stays for a living namesake', async () => {
    await put([looking()])
    held.delete('inv-1')
    await sweep()
    assert.equal(await standing(), ['purge'], 'nobody asked for a deletion')
    const asked = `insert into deletions (kind, name, uid, asked_at) values ('Invoice', 'inv-1', 'first', now());
      insert into desires (kind, name, uid, origin, generation, account, created_at, metadata, spec)
        values ('Invoice', 'inv-1', 'second', 'second', 1, 'demo', now(), '{}', '{}')`
    await query(database.url, asked)
    nowMs += 60_000
    await sweep()
    assert.equal(await standing(), ['purge'], "the deletion was the first one's, and the second lives")
    await query(database.url, "delete from desires where name = 'inv-1'")
    nowMs += 60_000
    await sweep()
    assert.equal(await standing(), [])
  })

  t('goes on with a resource that was lost, by what is kept of it, and once', async () => {
    await put([row('inv-1')])
    held.delete('inv-1')
    lost.set('inv-1', { generation: 2 })
    assert.is(await sweep(), 1)
    assert.equal([await facts(), await queued()], [[], []], 'another generation was asked for since')
    lost.set('inv-1', { generation: 1 })
    nowMs += 60_000
    await sweep()
    await sweep()
    assert.equal(
      [await facts(), await queued(), await standing()],
      [['reminder:-3'], ['reminder:-3', 'event:reminder:-3'], []],
    )
  })

  t('leaves a resource that has taken in more than the row was decided on: the ledger is an older copy', async () => {
    held.set('inv-1', { generation: 1, factSeq: 3 })
    await put([row('inv-1')])
    assert.is(await sweep(), 1)
    assert.equal([await facts(), await queued()], [[], []])
  })

  t('never lets a claim and a payment pass one another', async () => {
    const append = makeAppendFact({ pg, epoch: null })
    for (let n = 0; n < 30; n++) {
      const resource = `inv-race-${n}`
      held.set(resource, { generation: 1 })
      await put([row(resource)], resource)
      const payment = {
        resource,
        resourceKind: 'Invoice',
        key: 'payment:p',
        kind: 'payment',
        body: {},
        state: 'pending' as const,
        at: START,
      }
      const turn = { claims: [{ resource, purpose: 'reminder', generation: 1, factSeq: 0 }], looks: [], gone: [] }
      const [, claimed] = await Promise.all([append(payment), schedule.turn(turn)])
      const order = await facts(resource)
      assert.equal(order, claimed.length > 0 ? ['reminder:-3', 'payment:p'] : ['payment:p'])
    }
  })

  const left: [string, Partial<Scheduled>, { generation: number; paused?: boolean }][] = [
    ['whose spec was edited since', {}, { generation: 2 }],
    ['that is paused', {}, { generation: 1, paused: true }],
    ['in place of which something else is due', { lapsesAt: START }, { generation: 1 }],
  ]
  for (const [what, change, object] of left) {
    t(`leaves a resource ${what} to a pass, and asks it once a minute`, async () => {
      held.set('inv-1', object)
      await put([row('inv-1', change)])
      assert.is(await sweep(), 1)
      assert.is(await sweep(), 0)
      assert.equal([await facts(), await standing(), woken], [[], ['reminder'], ['inv-1']])
      nowMs += 60_000
      assert.is(await sweep(), 1)
    })
  }

  t('only has a resource looked at where no effect is written', async () => {
    await put([looking()])
    await sweep()
    assert.equal([await facts(), await standing(), woken], [[], ['purge'], ['inv-1']])
  })

  t('forgets nothing for want of a view', async () => {
    held.clear()
    await put([row('inv-1'), looking()])
    await sweep()
    assert.equal([await facts(), await standing(), await queued()], [[], ['purge', 'reminder'], []])
  })

  t('holds for each resource what was written last, and nothing else', async () => {
    await put([row('inv-1'), looking()])
    await put([row('inv-2')], 'inv-2')
    await put([looking({ dueAt: '2027-01-01T00:00:00.000Z' })])
    assert.equal(await sql('select resource, purpose, iso_ms(due_at) as due from schedule order by resource'), [
      { resource: 'inv-1', purpose: 'purge', due: '2027-01-01T00:00:00.000Z' },
      { resource: 'inv-2', purpose: 'reminder', due: START },
    ])
    await put([])
    assert.equal(await sql('select resource from schedule'), [{ resource: 'inv-2' }])
  })

  t('gives back to the plan what it was given', async () => {
    const rows = [looking(), row('inv-1', { lapsesAt: '2026-12-20T08:00:00.000Z', generation: 7, factSeq: 3 })]
    await put(rows)
    const [found] = await sql("select scheduled as rows from observe_invoices('{inv-1}', '{demo}', '{iss-default}')")
    assert.equal(found?.rows, rows)
  })

  t('refuses a leader that was replaced', async () => {
    await put([row('inv-1')])
    await takeEpoch(pg, 'another')
    const refused = async (run: Promise<unknown>) => assert.instance(await run.catch((error) => error), StaleEpoch)
    await refused(put([]))
    await refused(schedule.turn({ claims: [], looks: [], gone: ['inv-1'] }))
    await refused(schedule.purgeTest('inv-1'))
    assert.equal(await standing(), ['reminder'])
  })

  t('has the invoices of an issuer looked at when its zone is another, and no test go for it', async () => {
    const mirror = makeMirror({ pg, epoch: () => epoch })
    for (const [name, issuer_id] of [
      ['inv-1', 'iss-default'],
      ['inv-2', 'iss-2'],
    ] as const) {
      const viewed = { kind: 'Invoice', account: 'demo', uid: name, generation: 1, observedGeneration: 1 }
      await mirror.put({ ...viewed, name, view: { issuer_id }, createdAt: START, updatedAt: START })
      held.set(name, { generation: 1 })
      const dueAt = '2027-01-01T00:00:00.000Z'
      await put([row(name, { dueAt }), looking({ dueAt })], name)
    }
    const change = (profile: object) => ({
      profile: profile as Record<string, unknown>,
      archived: undefined,
      nextNumber: undefined,
      year: { series: ['demo/iss-default/invoice/2026'], infix: '-026-' },
      at: START,
    })
    const issuers = makeIssuers({ pg })
    assert.is(await issuers.change({ account: 'demo', id: 'iss-default' }, change({ footer: 'x' })), null)
    assert.is(await sweep(), 0)
    assert.is(await issuers.change({ account: 'demo', id: 'iss-default' }, change({ timeZone: 'Asia/Tokyo' })), null)
    assert.equal([await sweep(), woken, await facts()], [1, ['inv-1'], []])
    assert.equal(await sql("select resource from schedule where purpose = 'purge' and due_at <= now()"), [])
  })

  t('decides on a request and queues its mail, once', async () => {
    const append = makeAppendFact({ pg, epoch: null })
    const ask = {
      resource: 'inv-1',
      resourceKind: 'Invoice',
      key: 'remind:a',
      kind: 'remind',
      body: {},
      state: 'pending' as const,
      at: START,
    }
    const { fact } = await append(ask)
    const mail = {
      kind: 'Invoice',
      account: 'demo',
      purpose: 'reminder:a',
      channel: 'mail',
      messageId: '<a@test>',
      payload: { n: 1 },
    }
    const verdict = { resource: 'inv-1', seq: fact.seq, state: 'accepted', at: START, outcome: { sent: true } } as const
    assert.is(await schedule.decide(verdict, mail), 'accepted')
    assert.is(await schedule.decide(verdict, mail), 'accepted')
    assert.equal(await queued(), ['reminder:a'])
    const silent = await append({ ...ask, key: 'remind:silent' })
    const unsent = { ...verdict, seq: silent.fact.seq, outcome: { sent: false } }
    assert.is(await schedule.decide(unsent, null), 'accepted')
    const second = await append({ ...ask, key: 'remind:b' })
    const refusal = { resource: 'inv-1', seq: second.fact.seq, at: START, state: 'refused', refusedCode: 'X' } as const
    assert.is(await schedule.decide(refusal, { ...mail, purpose: 'reminder:b' }), 'refused')
    assert.equal(await queued(), ['reminder:a'])
  })
})

spec('the purge of a test', (t) => {
  let database: Database
  let pg: Pg
  let ledger: Ledger
  let freeze: Leader['freeze']
  let schedule: Schedule
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    const epoch = await takeEpoch(pg, 'test')
    ledger = makeLedger({ pg, epoch: () => epoch })
    freeze = freezing({ pg, epoch: () => epoch })
    schedule = makeSchedule({ pg, epoch: () => epoch, now: () => new Date(START) })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })

  const sql = (text: string) => query(database.url, text)
  const count = async (table: string) => Number((await sql(`select count(*) as n from ${table}`))[0]?.n)
  /** Numbered, sent, paid and stamped. */
  const live = async (resource: string, test: boolean, content = resource) => {
    await ledger.claimNumber({
      resource,
      uid: resource,
      series: { id: `demo/${test}`, account: 'demo', prefix: test ? 'TEST-026-' : 'INV-026-' },
      kind: 'invoice',
      totalCents: 1,
      currency: 'EUR',
      issuedAt: START,
      payload: { test, account: 'demo' },
    })
    const bytes = Buffer.from(content)
    await freeze({
      resource,
      n: 1,
      at: START,
      gate: 'password',
      frozen: frozenInvoice({ test }),
      content: bytes,
      mail: null,
    })
    await ledger.freezeSnapshot({
      resource,
      id: 'paid',
      at: START,
      frozen: frozenInvoice({ test }),
      content: Buffer.from(`${content} PAID`),
      fact: (stored) => ({
        resource,
        resourceKind: 'Invoice',
        key: 'snapshot:paid',
        kind: 'snapshot',
        body: stored,
        state: 'accepted',
        at: START,
      }),
      mail: null,
    })
  }

  t('takes its documents, facts and bytes, and leaves its number', async () => {
    await live('inv-test', true)
    await live('inv-real', false)
    assert.is(await schedule.purgeTest('inv-test'), 2)
    assert.equal([await count('sends'), await count('snapshots'), await count('facts')], [1, 1, 1])
    assert.equal([await count('blobs'), await count('blob_chunks')], [2, 2])
    assert.is(await count('register'), 2)
    assert.is(await schedule.purgeTest('inv-test'), 0, 'again')
  })

  t('leaves bytes that something else names', async () => {
    await live('inv-test', true, 'same')
    await live('inv-real', false, 'same')
    await schedule.purgeTest('inv-test')
    assert.is(await count('blobs'), 2)
    assert.is((await ledger.observe('inv-real')).sends.length, 1)
  })

  t('touches nothing of what is no test, and the schema refuses whoever tries', async () => {
    await live('inv-real', false)
    assert.is(await schedule.purgeTest('inv-real'), 0)
    assert.equal([await count('sends'), await count('facts')], [1, 1])
    for (const table of ['sends', 'snapshots', 'facts']) {
      const tries = [
        `delete from ${table}`,
        `begin; set local bottega.purging = 'inv-real'; delete from ${table}; commit`,
      ]
      for (const text of tries) {
        const error = await sql(text).catch((caught: Error) => caught)
        assert.match(String((error as Error).message), /append-only/, text)
      }
    }
    await live('inv-test', true)
    for (const table of ['sends', 'snapshots', 'facts']) {
      const error = await sql(`delete from ${table} where resource = 'inv-test'`).catch((caught: Error) => caught)
      assert.match(String((error as Error).message), /append-only/, 'a purge alone may')
    }
  })
})
