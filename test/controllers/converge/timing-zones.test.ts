import { mkdirSync, rmSync } from 'node:fs'
import type { ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { nextDue } from '../../../controllers/store/ledger/schedule.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { addDays } from '../../../crds/values/calendar.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Life, makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, refNamed, startOneProcess } from '../../support/crash/process.ts'
import { makeMovedClock } from '../../support/doubles/movedclock.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, mailsIn, order } from '../../support/stage/invoicing.ts'
import {
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  scratchFolder,
} from '../../support/stage/stage.ts'

/**
 * Reminders and overdue across both changes of the clock in five zones, through processes that are killed on the way: each
 * exactly once, on the local day that was counted.
 */

const START = '2027-02-15T12:00:00.000Z'
/** Forward and back: at two, at half an hour, and at midnight itself. */
const CHANGES: [zone: string, days: [string, string]][] = [
  ['Europe/Berlin', ['2027-03-28', '2027-10-31']],
  ['America/New_York', ['2027-03-14', '2027-11-07']],
  ['Australia/Lord_Howe', ['2027-04-04', '2027-10-03']],
  ['Africa/Cairo', ['2027-04-30', '2027-10-28']],
  ['America/Santiago', ['2027-04-04', '2027-09-05']],
]
const STEPS = [
  ['-3', -3],
  ['0', 0],
  ['+7', 7],
  ['+14', 14],
] as const
/** Every so many instants the process dies, each time at another of its calls. */
const DEATH_EVERY = 4
const CALLS_OF_A_DEATH = [0, 3, 7, 1, 12, 5, 20, 2, 9, 30]
const END = '2028-01-01T00:00:00Z'

const folder = scratchFolder('zones')
const clock = makeMovedClock(START)
const invoices = CHANGES.flatMap(([zone, days], at) =>
  days.map((due) => {
    const ref = `zone-${at}-${due}`
    return { zone, due, issuer: `iss-zone-${at}`, ref, id: refNamed('inv', 'demo', ref) }
  }),
)

spec('reminders and overdue across both changes of the clock in five zones', (t) => {
  let namespace: Namespace
  let catcher: { port: number; stop(): Promise<void> }
  let database: Database
  let deaths = 0
  let process: OneProcess
  let life: Life

  const start = async () => {
    life = makeLife()
    const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port, now: clock.now }
    process = await startOneProcess(options, life)
    await process.operator()
  }
  const look = async () => (await process.operator()).lookAtAll()
  /** Dies on the way when it is its turn, and does the rest in its next life. */
  const pass = async (death: number | null) => {
    if (death === null) return look()
    life.endIn({
      call: CALLS_OF_A_DEATH[death % CALLS_OF_A_DEATH.length] ?? 0,
      when: death % 2 === 0 ? 'before' : 'after',
    })
    await Promise.race([look().catch(() => undefined), life.death])
    deaths += life.isDead() ? 1 : 0
    await process.end()
    await start()
    await look()
  }

  /** Reminders that are to be on record by now. */
  const remindersBy = (now: Date): number =>
    invoices
      .flatMap(({ zone, due }) => STEPS.map(([, days]) => ({ timeZone: zone, day: addDays(due, days) })))
      .map(({ timeZone, day }) => Temporal.PlainDate.from(day).toZonedDateTime({ timeZone, plainTime: '09:00' }))
      .filter(({ epochMilliseconds }) => epochMilliseconds <= now.getTime()).length

  /**
   * What one look did not come to, on a machine that has much to do, is looked at again: the clock stands still meanwhile. A pass that
   * is to be tried again in a second has nothing due in the timetable.
   */
  const allDone = async () => {
    const now = clock.now()
    const due = await query(database.url, 'select 1 from schedule where due_at <= $1', [now.toISOString()])
    const [kept] = await query(database.url, "select count(*)::int as n from facts where kind = 'reminder'")
    const isDone = due.length === 0 && Number(kept?.n) >= remindersBy(now)
    if (!isDone) await look()
    return isDone
  }

  t.before(async () => {
    ;[namespace, database] = await Promise.all([makeNamespace(), makeDatabase()])
    mkdirSync(folder, { recursive: true })
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    await kubectlFor(namespace.kubeconfig)(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team' },
    })
    for (const [at, [timeZone]] of CHANGES.entries()) {
      const profile = { legalName: 'Demo', timeZone, numberPrefix: `Z${at}` }
      const insert = 'insert into issuers (account, id, profile) values ($1, $2, $3)'
      await query(database.url, insert, ['demo', `iss-zone-${at}`, JSON.stringify(profile)])
    }
    await start()
  })
  t.after(async () => {
    await process.end()
    await catcher.stop()
    await namespace.remove()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  t(
    'lives through the year, and is killed again and again',
    async () => {
      const caller = { account: 'demo', profile: { plan: 'team' } }
      for (const { due, issuer, ref } of invoices) {
        const body = order({ due_date: due, issuer_id: issuer, external_ref: ref, client_email: `${ref}@acme.test` })
        const route = { method: 'POST', scope: { kind: 'token' } }
        const asked = { caller, body, headers: {}, route, url: '/api/invoices' } as unknown as ApiRequest
        const { status } = await createInvoice(process.api, asked)
        assert.is(status, 201, ref)
      }
      const pg = makePg({ url: database.url, max: 1 })
      let instants = 0
      for (let next = await nextDue(pg, clock.now(), new Date(END)); next; instants++) {
        clock.moveTo(new Date(next.getTime() + 1).toISOString())
        await pass(instants % DEATH_EVERY === DEATH_EVERY - 1 ? deaths : null)
        await eventually('what is due to be done', allDone)
        next = await nextDue(pg, clock.now(), new Date(END))
      }
      await pg.close()
      assert.ok(deaths >= 5, `${deaths} deaths at ${instants} instants`)
      console.log(`  ${instants} instants, ${deaths} deaths`)
    },
    { timeoutMs: 600_000 },
  )

  const facts = (id: string, kind: string) =>
    query(database.url, 'select key, iso_ms(at) as at from facts where resource = $1 and kind = $2 order by seq', [
      id,
      kind,
    ])
  const localOf = (at: unknown, zone: string) => Temporal.Instant.from(String(at)).toZonedDateTimeISO(zone)

  for (const { zone, due, id } of invoices) {
    t(`${zone}, due ${due}: four reminders at nine of their days, each mailed, and overdue once`, async () => {
      const reminders = await facts(id, 'reminder')
      assert.equal(
        reminders.map(({ key, at }) => {
          const local = localOf(at, zone)
          return [key, local.toPlainDate().toString(), local.hour, local.minute < 5]
        }),
        STEPS.map(([step, days]) => [`reminder:${step}`, addDays(due, days), 9, true]),
      )
      const [overdue, ...more] = await facts(id, 'overdue')
      assert.equal(more, [])
      const over = localOf(overdue?.at, zone)
      assert.equal([over.toPlainDate().toString(), over.hour <= 1], [addDays(due, 1), true])
      const events = "select 1 from outbox where resource = $1 and payload ->> 'type' = 'invoice.overdue'"
      assert.is((await query(database.url, events, [id])).length, 1)
    })
  }

  t('every reminder was mailed, and twice only where nobody knew whether it had arrived', async () => {
    const queued = "select message_id as id, state, unknowns::int from outbox where purpose like 'reminder:%'"
    await eventually('the mails', async () =>
      (await query(database.url, queued)).every(({ state }) => state === 'sent'),
    )
    const rows = await query(database.url, queued)
    assert.is(rows.length, invoices.length * 4)
    const caught = (await mailsIn(folder)).map(({ messageId }) => messageId)
    for (const { id, unknowns } of rows) {
      const times = caught.filter((one) => one === id).length
      assert.ok(times >= 1 && times <= 1 + Number(unknowns), `${id}: ${times} times, ${unknowns} unknown`)
    }
  })
})
