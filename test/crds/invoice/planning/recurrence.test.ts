/** An invoice that repeats itself, by the plan alone (rules/invoice.md#recurrence). */

import { recurringOf } from '../../../../crds/invoice/facts/recurring.ts'
import type { InvoiceSpec } from '../../../../crds/invoice/schema.ts'
import type { InvoiceStep } from '../../../../crds/invoice/steps.ts'
import { viewInvoice } from '../../../../crds/invoice/view.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import { nextMonthDay } from '../../../../crds/values/calendar.ts'
import {
  invoiceResource,
  invoiceSpec,
  issuer,
  NOW,
  payment,
  planNoted,
  sentWorld,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Recurrence = NonNullable<InvoiceSpec['recurrence']>
type Fact = Parameters<typeof recurringOf>[0][number]
const monthly = (change: Partial<Recurrence> = {}): Recurrence => ({
  every: 'month',
  day: 1,
  mode: 'draft',
  paused: false,
  ...change,
})
const repeating = (step: InvoiceStep | undefined) => {
  if (step?.do !== 'repeat') throw new Error(`no repetition but ${step?.do}`)
  return step
}

/** The facts that the steps write; passes as often as there is something to do. */
const makeLife = (changes: Partial<InvoiceSpec>, start: InvoiceWorld = sentWorld()) => {
  const facts: Fact[] = []
  const made: ReturnType<typeof repeating>[] = []
  let desire = changes
  const around = (): InvoiceWorld => ({ ...start, recurring: recurringOf(facts), factSeq: facts.length })
  const write = (key: string, kind: string, body: object, at: Date) =>
    facts.push({
      seq: facts.length + 1,
      key,
      kind,
      body: body as Fact['body'],
      state: 'accepted',
      at: at.toISOString(),
    })
  return {
    made,
    set: (next: Partial<InvoiceSpec>) => {
      desire = next
    },
    at: (text: string) => {
      const now = new Date(text)
      for (let pass = 0; pass < 50; pass++) {
        const [step] = planNoted(invoiceResource(desire), around(), now).steps
        if (step?.do === 'anchor') write(`recurring:${step.n}`, 'recurring', step, now)
        else if (step?.do === 'repeat') {
          made.push(step)
          write(`period:${step.period}`, 'period', { ...step, id: step.name, held: false }, now)
        } else return
      }
      throw new Error('it never comes to rest')
    },
    next: () => viewInvoice(invoiceResource(desire), around()).recurrence?.next_on,
  }
}

spec('an invoice that repeats itself', (t) => {
  t('does so first on the next such day after now, in the zone of the issuer', () => {
    const cases: [string, number, string][] = [
      ['2026-11-21T12:00:00Z', 22, '2026-11-22'],
      ['2026-11-21T12:00:00Z', 21, '2026-12-21'],
      ['2026-11-21T12:00:00Z', 1, '2026-12-01'],
      // half past midnight of the 22nd in Madrid
      ['2026-11-21T23:30:00Z', 22, '2026-12-22'],
    ]
    for (const [now, day, next] of cases) {
      const life = makeLife({ recurrence: monthly({ day }) })
      life.at(now)
      assert.equal([life.next(), life.made], [next, []], `${now}, day ${day}`)
    }
  })

  t('takes the last day of a shorter month for 29 to 31, and comes back to the day itself', () => {
    const life = makeLife({ recurrence: monthly({ day: 31 }) })
    const days: (string | null | undefined)[] = []
    life.at('2027-10-30T12:00:00Z')
    for (let month = 0; month < 6; month++) {
      const on = life.next()
      days.push(on)
      life.at(`${on}T12:00:00Z`)
    }
    assert.equal(days, ['2027-10-31', '2027-11-30', '2027-12-31', '2028-01-31', '2028-02-29', '2028-03-31'])
    assert.is(nextMonthDay('2027-01-31', 29), '2027-02-28')
    assert.is(nextMonthDay('2027-02-28', 29), '2027-03-29')
  })

  t('makes the month at its midnight in the zone, once', () => {
    const life = makeLife({ recurrence: monthly() })
    life.at('2026-11-21T12:00:00Z')
    life.at('2026-11-30T22:59:59.999Z')
    assert.equal(life.made, [])
    life.at('2026-11-30T23:00:00.000Z')
    life.at('2026-12-15T00:00:00Z')
    assert.equal(
      life.made.map(({ period, on }) => [period, on]),
      [['2026-12', '2026-12-01']],
    )
  })

  t('makes up for months that passed while nobody looked, each by its own name', () => {
    const life = makeLife({ recurrence: monthly() })
    life.at('2026-11-21T12:00:00Z')
    life.at('2027-03-15T00:00:00Z')
    assert.equal(
      life.made.map(({ period }) => period),
      ['2026-12', '2027-01', '2027-02', '2027-03'],
    )
    assert.is(new Set(life.made.map(({ name }) => name)).size, 4)
  })

  t('gives the same name to the same month of the same invoice, whatever was asked for in between', () => {
    const name = (changes: Partial<InvoiceSpec>) => {
      const life = makeLife({ ...changes, recurrence: monthly() })
      life.at('2026-11-21T12:00:00Z')
      life.at('2026-12-01T12:00:00Z')
      return life.made[0]?.name
    }
    assert.match(name({}) ?? '', /^inv-[0-9a-f]{32}$/)
    assert.is(name({}), name({ terms: 'at once' }))
  })

  t('copies the order, not what belongs to this one alone, and keeps the distance to the due date', () => {
    const changes = { externalRef: 'october', metadata: { a: 1 }, recurrence: monthly({ mode: 'send' }) }
    const life = makeLife(changes, sentWorld(invoiceSpec(changes)))
    life.at('2026-11-21T12:00:00Z')
    life.at('2026-12-01T12:00:00Z')
    const { externalRef: _ref, recurrence: _recurrence, ...order } = invoiceSpec(changes)
    assert.equal(life.made[0]?.spec, {
      ...order,
      send: true,
      // issued on 21 November and due on 20 December: 29 days
      dueDate: '2026-12-30',
      recurrenceOf: { invoice: 'inv-october-acme', period: '2026-12', held: false },
    })
  })

  t('begins with first links, whatever was ended of its own', () => {
    const object = invoiceResource({ recurrence: monthly(), linkVersions: { link: 4 } })
    const links = { recorded: { link: 4, password: 1 }, asked: [] }
    const recurring = { anchor: { n: 1, day: 1, from: '2026-11-21' }, made: [] }
    const around = { ...sentWorld(), recurring, links, linkVersions: links.recorded }
    const plan = planNoted(object, around, new Date('2026-12-01T00:00:00Z'))
    assert.is(repeating(plan.steps[0]).spec.linkVersions, undefined)
  })

  t('is due after 14 days where there is no due date to go by', () => {
    const undated = invoiceSpec({ recurrence: monthly() })
    delete undated.dueDate
    const recurring = { anchor: { n: 1, day: 1, from: '2026-11-21' }, made: [] }
    const around = { ...sentWorld(undated), recurring }
    const plan = planNoted({ ...invoiceResource(), spec: undated }, around, new Date('2026-12-01T00:00:00Z'))
    assert.is(repeating(plan.steps[0]).spec.dueDate, '2026-12-15')
  })

  t('leaves a draft in draft mode, of a draft too', () => {
    const life = makeLife({ send: false, recurrence: monthly() }, { ...sentWorld(), record: null, sends: [] })
    life.at('2026-11-21T12:00:00Z')
    life.at('2026-12-01T12:00:00Z')
    assert.equal([life.made[0]?.spec.send, life.made[0]?.spec.dueDate], [false, '2026-12-30'])
  })

  t('ends with `until`, which counts itself', () => {
    const life = makeLife({ recurrence: monthly({ until: '2027-01-01' }) })
    life.at('2026-11-21T12:00:00Z')
    life.at('2027-06-01T12:00:00Z')
    assert.equal([life.made.map(({ on }) => on), life.next()], [['2026-12-01', '2027-01-01'], null])
  })

  t('makes none while it is paused, nor what passed meanwhile', () => {
    const life = makeLife({ recurrence: monthly() })
    life.at('2026-11-21T12:00:00Z')
    life.set({ recurrence: monthly({ paused: true }) })
    life.at('2026-11-22T12:00:00Z')
    assert.is(life.next(), null)
    life.at('2027-02-15T12:00:00Z')
    assert.equal(life.made, [])
    life.set({ recurrence: monthly() })
    life.at('2027-02-15T12:00:00Z')
    assert.is(life.next(), '2027-03-01')
  })

  t('never makes a month twice, though the day is moved within it', () => {
    const life = makeLife({ recurrence: monthly({ day: 5 }) })
    life.at('2026-11-21T12:00:00Z')
    life.at('2026-12-05T12:00:00Z')
    life.set({ recurrence: monthly({ day: 20 }) })
    life.at('2026-12-06T12:00:00Z')
    assert.equal([life.next(), life.made.length], ['2027-01-20', 1])
  })

  t('stops when it is taken away or the invoice is voided', () => {
    const life = makeLife({ recurrence: monthly() })
    life.at('2026-11-21T12:00:00Z')
    life.set({})
    life.at('2027-02-15T12:00:00Z')
    assert.equal([life.made, life.next()], [[], undefined])

    const snapshots = [
      { id: 'void', kind: 'void' as const, number: 'N', afterSends: 1, sha256: '', bytes: 1, at: NOW.toISOString() },
    ]
    const voided = makeLife({ recurrence: monthly(), void: true }, sentWorld(invoiceSpec(), { snapshots }))
    voided.at('2026-11-21T12:00:00Z')
    voided.at('2027-02-15T12:00:00Z')
    assert.equal(voided.made, [])
  })

  t('goes on when the invoice is paid', () => {
    const paid = { id: 'paid', kind: 'paid' as const, number: 'N', afterSends: 1, sha256: '', bytes: 1, at: '' }
    const payments = [payment(144_000, { id: 'p' })]
    const life = makeLife({ recurrence: monthly() }, sentWorld(invoiceSpec(), { payments, snapshots: [paid] }))
    life.at('2026-11-21T12:00:00Z')
    life.at('2026-12-01T12:00:00Z')
    assert.is(life.made.length, 1)
  })

  t('counts days by the zone of its issuer', () => {
    const kiritimati = sentWorld(invoiceSpec(), { issuer: issuer({ timeZone: 'Pacific/Kiritimati' }) })
    const life = makeLife({ recurrence: monthly() }, kiritimati)
    life.at('2026-11-21T12:00:00Z')
    life.at('2026-11-30T09:59:59Z')
    assert.equal(life.made, [])
    life.at('2026-11-30T10:00:00Z')
    assert.is(life.made.length, 1)
  })

  t('says of a draft that it was to be sent, when the cap of sends kept it back', () => {
    const held = { recurrenceOf: { invoice: 'inv-parent', period: '2026-12', held: true } }
    const { warnings, recurrence } = viewInvoice(invoiceResource({ send: false, ...held }), null)
    assert.match(warnings.join(), /daily cap of sends was reached/)
    assert.equal([recurrence?.of, recurrence?.period, recurrence?.every], ['inv-parent', '2026-12', null])
    assert.equal(viewInvoice(invoiceResource({ send: true, ...held }), null).warnings, [])
  })
})
