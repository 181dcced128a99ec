/** When the client is reminded and when an invoice is overdue, by the plan alone (rules/invoice.md#reminders). */

import { recordedOf } from '../../../../crds/invoice/facts/records.ts'
import { chasingOf } from '../../../../crds/invoice/facts/reminded.ts'
import { reminderMail } from '../../../../crds/invoice/mail/reminder.ts'
import { LANGS } from '../../../../crds/invoice/order/frozen.ts'
import { planInvoice } from '../../../../crds/invoice/plan.ts'
import type { InvoiceSpec } from '../../../../crds/invoice/schema.ts'
import type { InvoicePlan } from '../../../../crds/invoice/steps.ts'
import { viewInvoice } from '../../../../crds/invoice/view.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import type { Scheduled } from '../../../../crds/kernel/schedule.ts'
import { frozenInvoice } from '../../../support/builders/frozen.ts'
import {
  invoiceResource,
  invoiceSpec,
  issuer,
  NOW,
  payment,
  sentWorld,
  world,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const DUE = '2026-12-20'
const rowsOf = (plan: InvoicePlan): Scheduled[] | null => {
  for (const step of plan.steps) {
    if (step.do === 'schedule') return step.rows
    if (step.do === 'freeze' && step.schedule) return step.schedule
  }
  return null
}
const planned = (changes: Partial<InvoiceSpec> = {}, around: InvoiceWorld = sentWorld(), now = NOW) =>
  planInvoice(invoiceResource(changes), around, now)
const rows = (changes: Partial<InvoiceSpec> = {}, around?: InvoiceWorld, now?: Date) =>
  rowsOf(planned(changes, around, now)) ?? []
const next = (changes: Partial<InvoiceSpec> = {}, around?: InvoiceWorld, now?: Date) =>
  rows(changes, around, now).find(({ purpose }) => purpose === 'reminder')
const stepOf = (row: Scheduled | undefined) => row?.effect?.fact.body.step

type Fact = Parameters<typeof chasingOf>[0][number]
/** What the sweep would write: the fact of a row that was claimed. */
const claimed = ({ effect }: Scheduled, at: string, seq: number): Fact => ({
  seq,
  key: effect?.fact.key ?? '',
  kind: effect?.fact.kind ?? '',
  body: effect?.fact.body ?? {},
  state: 'accepted',
  at,
})

/** Lives through time from due instant to due instant, as the sweep does, and gives what was claimed when. */
const liveThrough = (changes: Partial<InvoiceSpec>, start: InvoiceWorld, from: Date) => {
  const facts: Fact[] = []
  const told: { key: string; at: string }[] = []
  let now = from
  for (let hop = 0; hop < 20; hop++) {
    const around = { ...start, chasing: chasingOf(facts), factSeq: facts.length }
    const due = rows(changes, around, now).toSorted((a, b) => a.dueAt.localeCompare(b.dueAt))[0]
    if (!due) return told
    now = new Date(Math.max(now.getTime(), Date.parse(due.dueAt)))
    told.push({ key: due.effect?.fact.key ?? '', at: now.toISOString() })
    facts.push(claimed(due, now.toISOString(), facts.length + 1))
  }
  throw new Error('time never ends')
}

spec('reminders of an invoice', (t) => {
  t('are part of the send itself, so that a plain send is one commit', () => {
    const numbered = world({ ...sentWorld(), sends: [] })
    const plan = planned({}, numbered)
    assert.equal(
      plan.steps.map((step) => step.do),
      ['freeze'],
    )
    assert.equal(rowsOf(plan), rows({}, sentWorld()))
  })

  t('are at rest once they are noted down, and written anew only when something else is due', () => {
    const scheduled = rows()
    assert.is(scheduled.length, 2)
    assert.equal(planned({}, sentWorld(invoiceSpec(), { scheduled })).verdict.state, 'ready')
    const later = { dueDate: '2026-12-21' }
    assert.ok(rowsOf(planned(later, sentWorld(invoiceSpec(later), { scheduled }))))
    assert.is(planned(later, sentWorld(invoiceSpec(), { scheduled })).verdict.state, 'ready', 'not sent yet')
    assert.ok(rowsOf(planned({}, sentWorld(invoiceSpec(), { scheduled, factSeq: 3 }))), 'something was recorded')
  })

  t(
    'come three days before the due date, on it, and 7 and 14 days after it, at nine; and it is overdue after it',
    () => {
      assert.equal(liveThrough({}, sentWorld(), NOW), [
        { key: 'reminder:-3', at: '2026-12-17T08:00:00.000Z' },
        { key: 'reminder:0', at: '2026-12-20T08:00:00.000Z' },
        { key: `overdue:${DUE}`, at: '2026-12-20T23:00:00.000Z' },
        { key: 'reminder:+7', at: '2026-12-27T08:00:00.000Z' },
        { key: 'reminder:+14', at: '2027-01-03T08:00:00.000Z' },
      ])
    },
  )

  t('are skipped where they are dated before the send', () => {
    const on = (at: string) => {
      const around = sentWorld()
      return { ...around, sends: around.sends.map((one) => ({ ...one, at })) }
    }
    assert.is(stepOf(next({}, on('2026-12-17T07:59:59.999Z'), new Date('2026-12-17T07:59:59.999Z'))), '-3')
    assert.is(stepOf(next({}, on('2026-12-17T08:00:00.001Z'), new Date('2026-12-17T08:00:00.001Z'))), '0')
    const late = on('2027-01-04T00:00:00Z')
    assert.is(next({}, late, new Date('2027-01-04T00:00:00Z')), undefined)
  })

  t('that were missed are made up for by the newest alone, and lapse when the next is due', () => {
    const at = (text: string) => next({}, sentWorld(), new Date(text))
    assert.equal(
      [stepOf(at('2026-12-20T07:59:59Z')), at('2026-12-20T07:59:59Z')?.lapsesAt],
      ['-3', '2026-12-20T08:00:00.000Z'],
    )
    assert.is(stepOf(at('2026-12-28T00:00:00Z')), '+7')
    assert.equal([stepOf(at('2027-06-01T00:00:00Z')), at('2027-06-01T00:00:00Z')?.lapsesAt], ['+14', null])
  })

  t('move with the due date that was sent when they were not given, and none is given twice', () => {
    const given = (steps: string[]) => {
      const facts = steps.map((step, index) => ({
        seq: index + 1,
        key: `reminder:${step}`,
        kind: 'reminder',
        body: { step, to: 'billing@acme.test', emailed: true },
        state: 'accepted' as const,
        at: NOW.toISOString(),
      }))
      return (sentFor: Partial<InvoiceSpec>) =>
        sentWorld(invoiceSpec(sentFor), { chasing: chasingOf(facts), factSeq: facts.length })
    }
    const later = { dueDate: '2027-02-01' }
    const moved = next(later, given(['-3'])(later))
    assert.equal([stepOf(moved), moved?.dueAt], ['0', '2027-02-01T08:00:00.000Z'])
    assert.is(next(later, given(['-3', '0', '+7', '+14'])(later)), undefined)
    assert.is(next(later, given(['-3'])({}))?.dueAt, '2026-12-20T08:00:00.000Z', 'an edit that was not sent moves none')
  })

  const total = 144_000
  const stops: [string, Partial<InvoiceSpec>, InvoiceWorld, purposes: string[]][] = [
    [
      'when they are switched off, but not that it is overdue',
      { reminders: { enabled: false } },
      sentWorld(),
      ['overdue'],
    ],
    [
      'when the invoice is paid',
      {},
      sentWorld(invoiceSpec(), {
        payments: [payment(total, { id: 'p', seq: 1 })],
        snapshots: [
          { id: 'paid', kind: 'paid', number: 'N', afterSends: 1, sha256: '', bytes: 1, at: NOW.toISOString() },
        ],
      }),
      [],
    ],
    [
      'when it is voided',
      { void: true },
      sentWorld(invoiceSpec(), {
        snapshots: [
          { id: 'void', kind: 'void', number: 'N', afterSends: 1, sha256: '', bytes: 1, at: NOW.toISOString() },
        ],
      }),
      [],
    ],
    [
      'when it is fully credited',
      {},
      sentWorld(invoiceSpec(), {
        credits: [
          {
            id: 'c',
            seq: 1,
            amountCents: total,
            isWhole: true,
            refund: false,
            items: null,
            reason: '',
            at: NOW.toISOString(),
          },
        ],
        snapshots: [
          { id: 'c', kind: 'credit_note', number: 'N', afterSends: 1, sha256: '', bytes: 1, at: NOW.toISOString() },
        ],
      }),
      [],
    ],
    [
      'but not when a part of it is paid',
      {},
      sentWorld(invoiceSpec(), { payments: [payment(1, { id: 'p' })] }),
      ['reminder', 'overdue'],
    ],
  ]
  for (const [when, changes, around, purposes] of stops) {
    t(`stop ${when}`, () => {
      const standing: Scheduled = { purpose: 'x', dueAt: '', lapsesAt: null, effect: null, generation: 1, factSeq: 0 }
      assert.equal(
        rows(changes, { ...around, scheduled: [standing] }).map(({ purpose }) => purpose),
        purposes,
      )
    })
  }

  t('go to nobody where there is no address or no due date', () => {
    const bare = invoiceSpec()
    delete bare.clientEmail
    const nobody = planInvoice({ ...invoiceResource(), spec: bare }, sentWorld(bare), NOW)
    assert.equal(
      rowsOf(nobody)?.map(({ purpose }) => purpose),
      ['overdue'],
    )
    const undated = invoiceSpec()
    delete undated.dueDate
    assert.is(rowsOf(planInvoice({ ...invoiceResource(), spec: undated }, sentWorld(undated), NOW)), null)
  })

  t('are kept back in test mode, and a test goes 30 days after it was first looked at', () => {
    const test = { test: true }
    const noted = rows(test, sentWorld(invoiceSpec(test)))
    assert.equal(
      noted.map(({ purpose, effect }) => [purpose, effect?.mail, effect?.fact.body.emailed]),
      [
        ['reminder', undefined, false],
        ['overdue', undefined, undefined],
        ['purge', undefined, undefined],
      ],
    )
    assert.is(noted[2]?.dueAt, '2026-12-21T12:00:00.000Z')
    const later = new Date('2026-12-21T12:00:00Z')
    const last = planned(test, sentWorld(invoiceSpec(test), { scheduled: noted }), later)
    assert.equal(
      last.steps.map((step) => step.do),
      ['purge'],
    )
  })

  t('know no instant after the year 9999, where nothing can be noted down', () => {
    const late = { dueDate: '9999-12-31' }
    const west = sentWorld(invoiceSpec(late), { issuer: issuer({ timeZone: 'America/New_York' }) })
    const all = { ...west, chasing: chasingOf([claimed(rows(late, west)[0] as Scheduled, NOW.toISOString(), 1)]) }
    assert.equal(
      rows(late, all).map(({ purpose, effect }) => [purpose, effect?.fact.body.step]),
      [['reminder', '0']],
    )
    const given = [{ step: '0' as const, at: NOW.toISOString(), to: 'x', emailed: true }]
    assert.equal(rows(late, { ...west, chasing: { given, asked: [], overdue: [] } }), [])
  })
})

spec('time zones', (t) => {
  const cases: [zone: string, dueDate: string, sent: string, reminders: string[], overdue: string][] = [
    // forward on 28 March, back on 31 October 2027
    ['Europe/Berlin', '2027-03-28', '2027-03-01', ['03-25T08', '03-28T07', '04-04T07', '04-11T07'], '2027-03-28T22:00'],
    ['Europe/Berlin', '2027-10-31', '2027-10-01', ['10-28T07', '10-31T08', '11-07T08', '11-14T08'], '2027-10-31T23:00'],
    // forward on 14 March, back on 7 November 2027
    [
      'America/New_York',
      '2027-03-14',
      '2027-03-01',
      ['03-11T14', '03-14T13', '03-21T13', '03-28T13'],
      '2027-03-15T04:00',
    ],
    [
      'America/New_York',
      '2027-11-07',
      '2027-10-01',
      ['11-04T13', '11-07T14', '11-14T14', '11-21T14'],
      '2027-11-08T05:00',
    ],
  ]
  for (const [zone, dueDate, sentOn, reminders, overdue] of cases) {
    t(`${zone}, due ${dueDate}: each at nine of its own day`, () => {
      const around = sentWorld(invoiceSpec({ dueDate }), { issuer: issuer({ timeZone: zone }) })
      const at = new Date(`${sentOn}T10:00:00Z`)
      const start = { ...around, sends: around.sends.map((one) => ({ ...one, at: at.toISOString() })) }
      const told = liveThrough({ dueDate }, start, at)
      assert.equal(
        told.filter(({ key }) => key.startsWith('reminder')).map(({ at: on }) => on),
        reminders.map((text) => `2027-${text}:00:00.000Z`),
      )
      assert.equal(
        told.filter(({ key }) => key.startsWith('overdue')).map(({ at: on }) => on),
        [`${overdue}:00.000Z`],
      )
    })
  }

  /** The clock of the zone says what the tables of the time zones say: at nine, on the day that was counted. */
  const hard: [zone: string, year: number, month: number][] = [
    ['Australia/Lord_Howe', 2027, 4], // half an hour
    ['Australia/Lord_Howe', 2027, 10],
    ['Africa/Cairo', 2027, 4], // at midnight
    ['Africa/Cairo', 2027, 10],
    ['America/Sao_Paulo', 2017, 10], // a midnight that never was
    ['Pacific/Apia', 2011, 12], // a day that never was
    ['Asia/Kolkata', 2027, 3],
  ]
  for (const [zone, year, month] of hard) {
    t(`${zone}, each due date of ${year}-${month}: on the local day that was counted, once`, () => {
      const length = new Date(Date.UTC(year, month, 0)).getUTCDate()
      for (let day = 1; day <= length; day++) {
        const due = Temporal.PlainDate.from({ year, month, day })
        const dueDate = due.toString()
        const around = sentWorld(invoiceSpec({ dueDate }), { issuer: issuer({ timeZone: zone }) })
        const at = new Date(Date.UTC(year, month - 2, 1))
        const start = { ...around, sends: around.sends.map((one) => ({ ...one, at: at.toISOString() })) }
        const told = liveThrough({ dueDate }, start, at)
        const local = told.map(({ key, at: on }) => {
          const zoned = Temporal.Instant.from(on).toZonedDateTimeISO(zone)
          return [key, zoned.toPlainDate().toString(), zoned.toPlainTime().toString({ smallestUnit: 'minute' })]
        })
        const counted = (days: number) => {
          const plain = due.add({ days }).toString()
          // the day that Samoa left out is the day after it
          return zone === 'Pacific/Apia' && plain === '2011-12-30' ? '2011-12-31' : plain
        }
        const given = local.filter(([key]) => key?.startsWith('reminder'))
        assert.equal(
          given,
          [
            ['reminder:-3', counted(-3), '09:00'],
            ['reminder:0', counted(0), '09:00'],
            ['reminder:+7', counted(7), '09:00'],
            ['reminder:+14', counted(14), '09:00'],
          ],
          dueDate,
        )
        const [over, ...more] = told.filter(({ key }) => key.startsWith('overdue'))
        assert.equal(more, [], 'told once')
        const before = Temporal.Instant.from(over?.at ?? '').subtract({ milliseconds: 1 })
        const dayBefore = before.toZonedDateTimeISO(zone).toPlainDate().toString()
        const isLeftOut = zone === 'Pacific/Apia' && dueDate === '2011-12-30'
        assert.is(dayBefore, isLeftOut ? '2011-12-29' : dueDate, 'the first instant after the due date')
      }
    })
  }
})

spec('a reminder that somebody asks for', (t) => {
  const asked = (around: InvoiceWorld, ids = ['rem-1'], changes: Partial<InvoiceSpec> = {}) => {
    const requests = ids.map((id, index) => ({ seq: around.factSeq + index + 1, id }))
    const asking = { ...around, chasing: { ...around.chasing, asked: requests } }
    return planned(changes, asking).steps.filter((step) => step.do === 'remind')
  }
  const outcomes = (steps: ReturnType<typeof asked>) =>
    steps.map((step) => (step.accept ? (step.outcome.reason ?? 'sent') : step.code))

  t('is given, with a mail that says what is left, and no second one on that day', () => {
    const steps = asked(sentWorld(), ['rem-1', 'rem-2'])
    assert.equal(outcomes(steps), ['sent', 'one reminder a day: the client was reminded on 2026-11-21 already'])
    const [first] = steps
    assert.equal(first?.accept && first.mail, {
      kind: 'Invoice',
      account: 'demo',
      purpose: 'reminder:rem-1',
      channel: 'mail',
      messageId: '<inv-october-acme.reminder.rem-1@bottega.test>',
      payload: { mail: 'reminder', n: 1, tone: 'before', dueDate: DUE, balanceCents: 144_000 },
    })
  })

  t('counts days by the clock of the issuer, and reminders that went out by themselves', () => {
    const given = (at: string) =>
      sentWorld(invoiceSpec(), {
        chasing: { given: [{ step: '-3', at, to: 'x', emailed: true }], asked: [], overdue: [] },
      })
    assert.equal(outcomes(asked(given('2026-11-20T22:59:59Z'))), ['sent'])
    assert.match(outcomes(asked(given('2026-11-20T23:00:00Z')))[0] ?? '', /one reminder a day/)
  })

  const bare = invoiceSpec()
  delete bare.clientEmail
  const refused: [string, InvoiceWorld, Partial<InvoiceSpec>, RegExp][] = [
    ['a draft', world(), { send: false }, /^NOT_PAYABLE$/],
    [
      'a voided one',
      sentWorld(invoiceSpec(), {
        snapshots: [
          { id: 'void', kind: 'void', number: 'N', afterSends: 1, sha256: '', bytes: 1, at: NOW.toISOString() },
        ],
      }),
      { void: true },
      /^NOT_PAYABLE$/,
    ],
    ['a test', sentWorld(invoiceSpec({ test: true })), { test: true }, /test invoice sends no mail/],
    ['one that was sent to nobody', sentWorld(bare), {}, /no client_email/],
  ]
  for (const [what, around, changes, said] of refused) {
    t(`is not given of ${what}, and says why`, () => {
      assert.match(outcomes(asked(around, ['rem-1'], changes))[0] ?? '', said)
    })
  }
})

spec('the mail of a reminder', (t) => {
  const URL = 'https://pay.example.test/i/abcdefghijklmnopqrstuv'
  for (const lang of LANGS) {
    for (const tone of ['before', 'due', 'after', 'open'] as const) {
      t(`says what is left to pay and holds the link and no password: ${tone}, ${lang}`, () => {
        const frozen = frozenInvoice({ lang })
        const facts = { frozen, url: URL, gate: 'password', tone, dueDate: DUE, balanceCents: 44_000 } as const
        const made = reminderMail(facts)
        for (const said of ['INV-026-0001', '440.00 EUR', 'Demo Studio SL', URL]) {
          assert.ok(made.text.includes(said), said)
          assert.ok(made.html.includes(said), said)
        }
        assert.ok(made.subject.includes('INV-026-0001'))
        assert.not.match(made.subject + made.text + made.html, /\{\w+\}|undefined|null/)
        assert.not.ok(made.text.includes('\n    '), 'a password stands indented')
      })
    }
  }
  t('has a subject for each tone', () => {
    const subjects = (['before', 'due', 'after'] as const).map(
      (tone) =>
        reminderMail({ frozen: frozenInvoice(), url: URL, gate: null, tone, dueDate: DUE, balanceCents: 1 }).subject,
    )
    assert.equal(subjects, [
      'Reminder: invoice INV-026-0001 from Demo Studio SL, 0.01 EUR due 20 December 2026',
      'Reminder: invoice INV-026-0001 from Demo Studio SL, 0.01 EUR due today',
      'Overdue: invoice INV-026-0001 from Demo Studio SL, 0.01 EUR due since 20 December 2026',
    ])
  })
})

spec('the view of reminders', (t) => {
  t('shows whether they are on, the next day, and those given', () => {
    const scheduled = rows()
    const given = [{ step: '-3' as const, at: '2026-12-17T08:00:00Z', to: 'billing@acme.test', emailed: true }]
    const around = sentWorld(invoiceSpec(), { scheduled, chasing: { given, asked: [], overdue: [] } })
    assert.equal(viewInvoice(invoiceResource(), around).reminders, {
      enabled: true,
      next_on: '2026-12-17',
      sent: [{ ...given[0], at: '2026-12-17T08:00:00.000Z' }],
    })
    assert.equal(viewInvoice(invoiceResource({ reminders: { enabled: false } }), null).reminders, {
      enabled: false,
      next_on: null,
      sent: [],
    })
  })
  t('is no request about money', () => {
    const fact = { seq: 1, key: 'remind:x', kind: 'remind', body: {}, state: 'pending' as const, at: NOW.toISOString() }
    assert.equal(recordedOf([fact]).requests, [])
    assert.equal(chasingOf([fact]).asked, [{ seq: 1, id: 'x' }])
  })
})
