import type { InvoiceRecord, Payment, SendRecord } from '../../../../crds/invoice/facts/ledger.ts'
import type { InvoiceSpec } from '../../../../crds/invoice/schema.ts'
import type { InvoicePlan, InvoiceStep } from '../../../../crds/invoice/steps.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import {
  invoiceResource,
  invoiceSpec,
  issuer,
  NOW,
  payment,
  planNoted,
  record,
  sent,
  sentWorld,
  totalCentsOf,
  world,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000)
const doing = (plan: InvoicePlan) => plan.steps.map((step) => step.do)
const verdict = (plan: InvoicePlan) => {
  const { verdict } = plan
  return verdict.state === 'stalled' ? `stalled ${verdict.code}` : `${verdict.state} ${verdict.reason}`
}
const plan = (changes: Partial<InvoiceSpec>, around: InvoiceWorld, now = NOW) =>
  planNoted(invoiceResource(changes), around, now)
const step = <K extends InvoiceStep['do']>(planned: InvoicePlan, kind: K): Extract<InvoiceStep, { do: K }> => {
  const found = planned.steps.find((one): one is Extract<InvoiceStep, { do: K }> => one.do === kind)
  if (!found) throw new Error(`no step ${kind} in ${doing(planned)}`)
  return found
}

/** Does what the steps say to a world in memory: enough to see that plans come to rest. */
const done = (around: InvoiceWorld, planned: InvoiceStep): InvoiceWorld => {
  switch (planned.do) {
    case 'claimNumber': {
      const { payload, issuedAt, series } = planned
      const made: InvoiceRecord = {
        number: `${series.prefix}-026-0001`,
        seriesId: series.id,
        seq: 1,
        issuedAt,
        uids: ['uid-1'],
        claimed: payload,
      }
      return { ...around, record: around.record ?? made }
    }
    case 'adopt':
      return around.record
        ? { ...around, record: { ...around.record, uids: [...around.record.uids, planned.uid] } }
        : around
    case 'recordReceipt': {
      const made: Payment = {
        ...planned,
        id: 'receipt',
        seq: 1,
        declaredBy: 'owner',
        receivedAt: later(1).toISOString(),
      }
      return { ...around, payments: around.payments.length > 0 ? around.payments : [made] }
    }
    case 'freeze': {
      const made: SendRecord = {
        n: planned.n,
        at: NOW.toISOString(),
        gate: planned.gate,
        sha256: '',
        bytes: 0,
        frozen: planned.frozen,
      }
      return {
        ...around,
        sends: around.sends.some((one) => one.n === planned.n) ? around.sends : [...around.sends, made],
      }
    }
    case 'reserveSend':
      return { ...around, hasQuota: true }
    case 'drawDraft':
      return { ...around, openPreviews: around.openPreviews.filter((key) => key !== planned.key) }
    case 'decide':
    case 'takeResend':
    case 'claimCredit':
    case 'askProcessor':
    case 'recordLink':
      throw new Error(`${planned.do} is looked at in links.test.ts`)
    case 'stamp':
    case 'notifyOwner':
      throw new Error(`${planned.do} is looked at in invoice-books.test.ts`)
    case 'remind':
    case 'anchor':
    case 'repeat':
    case 'schedule':
    case 'purge':
      throw new Error(`${planned.do} is looked at in reminders.test.ts and recurrence.test.ts`)
    default: {
      const never: never = planned
      throw new Error(String(never))
    }
  }
}

/** Passes until rest; after each single step the plan is made anew, as after a crash. */
const settle = (changes: Partial<InvoiceSpec>, start: InvoiceWorld, crashing: boolean) => {
  let around = start
  for (let pass = 0; pass < 20; pass++) {
    const planned = plan(changes, around, later(pass / 100))
    if (planned.steps.length === 0) return { around, planned }
    for (const one of crashing ? planned.steps.slice(0, 1) : planned.steps) around = done(around, one)
  }
  throw new Error('the plan never comes to rest')
}

spec('the plan of an invoice', (t) => {
  t('leaves a draft without a number', () => {
    const planned = plan({ send: false }, world())
    assert.equal([doing(planned), verdict(planned)], [[], 'ready Draft'])
    assert.equal(
      [planned.status.phase, planned.status.number, planned.status.total],
      ['draft', undefined, '1,440.00 EUR'],
    )
    assert.is(planned.status.url, undefined)
  })

  t('draws a draft that was asked for, stamped with no number, and rests then', () => {
    const planned = plan({ send: false }, world({ openPreviews: ['a'] }))
    const { key, draft } = step(planned, 'drawDraft')
    assert.equal(
      [key, draft.number, draft.paid, draft.issuedOn, draft.totalCents],
      ['a', null, null, '2026-11-21', 144_000],
    )
    const { planned: rest } = settle({ send: false }, world({ openPreviews: ['a', 'b'] }), true)
    assert.equal([doing(rest), verdict(rest)], [[], 'ready Draft'])
  })

  t('draws no draft of an account without an issuer', () => {
    assert.equal(doing(plan({ send: false }, world({ openPreviews: ['a'], issuer: null }))), [])
  })

  t('takes a place under the cap of sends before the number, but for a test and where one is held', () => {
    assert.equal(doing(plan({}, world({ hasQuota: false }))), ['reserveSend'])
    assert.equal(doing(plan({ test: true }, world({ hasQuota: false }))), ['claimNumber'])
    assert.equal(doing(plan({ send: false }, world({ hasQuota: false }))), [])
    const numbered = world({ hasQuota: false, record: record() })
    assert.equal(doing(plan({}, numbered)), ['freeze'])
  })

  t('claims a number first, and nothing beside it', () => {
    const planned = plan({}, world())
    assert.equal(doing(planned), ['claimNumber'])
    const claim = step(planned, 'claimNumber')
    assert.equal(claim.series, { id: 'demo/iss-default/invoice/2026', prefix: 'INV', year: 2026 })
    assert.equal([claim.totalCents, claim.currency, claim.issuedAt], [144_000, 'EUR', NOW.toISOString()])
    assert.equal(claim.payload, {
      totalCents: 144_000,
      currency: 'EUR',
      clientEmail: 'billing@acme.test',
      issuerId: 'iss-default',
      test: false,
      send: true,
    })
  })

  t('takes the year of the number from the zone of the issuer', () => {
    const planned = plan({}, world(), new Date('2026-12-31T23:30:00Z'))
    assert.is(step(planned, 'claimNumber').series.year, 2027)
  })

  t('freezes once the number is there, with everything that stands on the document', () => {
    const planned = plan({ terms: '30 days' }, world({ record: record() }))
    assert.equal(doing(planned), ['freeze'])
    const { frozen, n, gate, mail } = step(planned, 'freeze')
    assert.equal([n, gate, mail], [1, 'password', 'invoice'])
    assert.equal(
      [frozen.number, frozen.issuedOn, frozen.dueDate, frozen.totalCents],
      ['INV-026-0001', '2026-11-21', '2026-12-20', 144_000],
    )
    assert.equal(
      [frozen.seller.legalName, frozen.client.email, frozen.terms, frozen.paid],
      ['Demo Studio SL', 'billing@acme.test', '30 days', null],
    )
    assert.equal(frozen.items, [
      { description: 'October retainer', qty: '1.5', unitCents: 80_000, taxRateBp: 2000, amountCents: 120_000 },
    ])
  })

  t('is ready once it is frozen, and says what and when is due', () => {
    const planned = plan({}, sentWorld())
    assert.equal([doing(planned), verdict(planned)], [[], 'ready Sent'])
    assert.is(planned.verdict.message, 'INV-026-0001 sent, 1,440.00 EUR due 2026-12-20')
    assert.equal(planned.status, {
      factSeq: 0,
      number: 'INV-026-0001',
      issuedOn: '2026-11-21',
      url: 'https://bottega.test/i/token',
      phase: 'sent',
      total: '1,440.00 EUR',
      totalCents: 144_000,
      currency: 'EUR',
      issuerId: 'iss-default',
      paidCents: 0,
      creditedCents: 0,
      balanceCents: 144_000,
    })
  })

  t('never shows a verdict of readiness with a step', () => {
    for (const around of [world(), world({ record: record() })]) assert.is.not(plan({}, around).verdict.state, 'ready')
  })

  t('is overdue when the due date has passed in the zone of the issuer', () => {
    const planned = plan({}, sentWorld(), new Date('2026-12-20T23:00:00Z'))
    assert.equal([verdict(planned), planned.status.phase], ['ready Overdue', 'overdue'])
  })

  t('is not overdue on the due date itself', () => {
    assert.is(plan({}, sentWorld(), new Date('2026-12-20T22:59:59Z')).status.phase, 'sent')
  })

  t('counts no due date as never overdue', () => {
    const undated = invoiceSpec()
    delete undated.dueDate
    const planned = planNoted({ ...invoiceResource(), spec: undated }, sentWorld(undated), later(1000))
    assert.is(planned.status.phase, 'sent')
  })

  t('waits for its account, and looks again', () => {
    const planned = plan({}, world({ account: null }))
    assert.is(verdict(planned), 'waiting AccountMissing')
    assert.is(planned.verdict.state === 'waiting' && (planned.verdict.retryAfterMs ?? 0) > 0, true)
  })

  const stops: [string, Partial<InvoiceSpec>, InvoiceWorld, string][] = [
    ['items are missing', { items: [] }, world(), 'NO_ITEMS'],
    ['the total is zero', { discountCents: 120_000 }, world(), 'ZERO_TOTAL'],
    ['the issuer is unknown', { issuerId: 'iss-nobody' }, world({ issuer: null }), 'BAD_ISSUER'],
    ['metadata is nested', { metadata: { a: {} } }, world(), 'BAD_METADATA'],
    ['paid comes without send', { send: false, paid: { method: 'x', reference: '' } }, world(), 'PAID_REQUIRES_SEND'],
    ['a sent one loses its items', { items: [] }, sentWorld(), 'NO_ITEMS'],
  ]
  for (const [name, changes, around, code] of stops) {
    t(`stalls when ${name}, with the code of REST as first word`, () => {
      const planned = plan(changes, around)
      assert.equal([doing(planned), verdict(planned)], [[], `stalled ${code}`])
      assert.ok(planned.verdict.message.startsWith(`${code}: `), planned.verdict.message)
    })
  }

  t('keeps number and amounts on show while a sent one is faulty', () => {
    const { status } = plan({ items: [] }, sentWorld())
    assert.equal([status.number, status.phase, status.totalCents], ['INV-026-0001', 'sent', 144_000])
  })

  t('stalls when the issuer of a numbered one changes', () => {
    const planned = plan({ issuerId: 'iss-2' }, sentWorld(invoiceSpec(), { issuer: issuer({ id: 'iss-2' }) }))
    assert.is(verdict(planned), 'stalled LOCKED_NUMBERED')
  })

  t('keeps the number and the last document when a sent, unpaid one is edited', () => {
    const planned = plan({ discountCents: 20_000 }, sentWorld())
    assert.equal([doing(planned), verdict(planned), planned.status.number], [[], 'ready Sent', 'INV-026-0001'])
    assert.is(planned.status.totalCents, 144_000, 'it is owed as it was sent')
  })

  t('freezes again when another send is asked for', () => {
    const planned = plan({ discountCents: 20_000 }, sentWorld(invoiceSpec(), { resends: 1 }))
    const again = step(planned, 'freeze')
    assert.equal([again.n, again.frozen.totalCents, again.frozen.number], [2, 120_000, 'INV-026-0001'])
  })

  t('takes no mail when there is nobody to write to, and none in test mode', () => {
    const nobody = invoiceSpec()
    delete nobody.clientEmail
    const silent = planNoted({ ...invoiceResource(), spec: nobody }, world({ record: record(nobody) }), NOW)
    assert.is(step(silent, 'freeze').mail, null)
    const test = plan({ test: true }, world({ record: record(invoiceSpec({ test: true })) }))
    assert.is(step(test, 'freeze').mail, null)
  })

  t('numbers a test invoice in the TEST series', () => {
    const { series } = step(plan({ test: true }, world()), 'claimNumber')
    assert.equal([series.prefix, series.id], ['TEST', 'demo/TEST/invoice/2026'])
  })

  t('shows the gate of the client', () => {
    assert.is(step(plan({}, world({ record: record(), clientIsAccount: true })), 'freeze').gate, 'account')
  })
})

spec('receipt mode', (t) => {
  const paid = { method: 'transfer', reference: 'ref-1' }

  t('records the receipt and freezes a paid document in one pass', () => {
    const planned = plan({ paid }, world({ record: record(invoiceSpec({ paid })) }))
    assert.equal(doing(planned), ['recordReceipt', 'freeze'])
    assert.is(step(planned, 'recordReceipt').amountCents, 144_000)
    const { frozen, mail } = step(planned, 'freeze')
    assert.equal([mail, frozen.paid], ['receipt', { amountCents: 144_000, ...paid, on: '2026-11-21' }])
  })

  t('of a part sends an invoice and is partial', () => {
    const part = { ...paid, amountCents: 44_000 }
    const { around, planned } = settle({ paid: part }, world(), false)
    assert.equal(
      [verdict(planned), planned.status.phase, planned.status.balanceCents],
      ['ready Partial', 'partial', 100_000],
    )
    assert.is(planned.verdict.message, 'INV-026-0001 partial, 1,440.00 EUR, 1,000.00 EUR left due 2026-12-20')
    assert.is(around.sends[0]?.frozen?.paid?.amountCents, 44_000)
    const overdue = plan({ paid: part }, around, later(60))
    assert.is(overdue.status.phase, 'overdue')
  })

  t('of a part mails the invoice, of the whole the receipt', () => {
    const part = { ...paid, amountCents: 143_999 }
    assert.is(step(plan({ paid: part }, world({ record: record() })), 'freeze').mail, 'invoice')
    assert.is(step(plan({ paid }, world({ record: record() })), 'freeze').mail, 'receipt')
  })

  t('is paid at rest, and stays paid after the due date', () => {
    const { around, planned } = settle({ paid }, world(), false)
    assert.equal([verdict(planned), planned.verdict.message], ['ready Paid', 'INV-026-0001 paid, 1,440.00 EUR'])
    assert.is(plan({ paid }, around, later(60)).status.phase, 'paid')
  })

  t('freezes the same document whichever step the process died after', () => {
    for (const changes of [{ paid }, { paid: { ...paid, amountCents: 1 } }, {}]) {
      const whole = settle(changes, world(), false)
      const torn = settle(changes, world(), true)
      assert.equal(torn.around.sends[0]?.frozen, whole.around.sends[0]?.frozen)
      assert.equal(torn.around.payments.length, whole.around.payments.length)
      assert.equal(torn.planned.verdict, whole.planned.verdict)
    }
  })
})

spec('an invoice that was deleted and comes again', (t) => {
  const again = (changes: Partial<InvoiceSpec>, around: InvoiceWorld) =>
    planNoted(invoiceResource(changes, 'uid-2'), around, NOW)

  t('is adopted when it is the same order', () => {
    const planned = again({}, sentWorld())
    assert.equal(planned.steps, [{ do: 'adopt', uid: 'uid-2' }])
  })

  t('then has its number back, and no second document or mail', () => {
    const planned = again({}, sentWorld(invoiceSpec(), { record: record(invoiceSpec(), { uids: ['uid-1', 'uid-2'] }) }))
    assert.equal([doing(planned), planned.status.number], [[], 'INV-026-0001'])
  })

  t('is adopted as it was last sent, after an edit', () => {
    const edited = invoiceSpec({ discountCents: 20_000 })
    assert.equal(
      doing(again({ discountCents: 20_000 }, sentWorld(invoiceSpec(), { sends: [sent(), sent(edited, 2)] }))),
      ['adopt'],
    )
  })

  const others: [string, Partial<InvoiceSpec>, string][] = [
    ['another total', { discountCents: 1 }, '/totalCents'],
    ['another recipient', { clientEmail: 'other@acme.test' }, '/clientEmail'],
    ['another currency', { currency: 'USD' }, '/currency'],
    ['test mode', { test: true }, '/test'],
    ['no send', { send: false }, '/send'],
  ]
  for (const [name, changes, pointer] of others) {
    t(`stalls with REF_PAYLOAD_MISMATCH and shows no number when it has ${name}`, () => {
      const planned = again(changes, sentWorld())
      assert.equal(
        [doing(planned), verdict(planned), planned.status.number],
        [[], 'stalled REF_PAYLOAD_MISMATCH', undefined],
      )
      assert.ok(planned.verdict.message.includes(pointer), planned.verdict.message)
      assert.is(planned.status.paidCents, 0)
    })
  }
})

spec('an invoice that money came in for', (t) => {
  const total = totalCentsOf(invoiceSpec())
  const withPayment = (amountCents: number) =>
    sentWorld(invoiceSpec(), { payments: [payment(amountCents, { id: 'pay-1' })] })

  t('stalls with LOCKED_PAID when it is edited after it was paid, and shows what was frozen', () => {
    const planned = plan({ discountCents: 1 }, withPayment(total))
    assert.equal(
      [verdict(planned), planned.status.totalCents, planned.status.phase],
      ['stalled LOCKED_PAID', total, 'paid'],
    )
    assert.ok(planned.verdict.message.startsWith('LOCKED_PAID: INV-026-0001 is paid and was edited at /totalCents'))
  })

  t('stalls with LOCKED_PARTIAL when a part was paid', () => {
    assert.is(verdict(plan({ currency: 'USD' }, withPayment(1))), 'stalled LOCKED_PARTIAL')
  })

  t('stalls with the lock, not with the fault, when the edit is faulty', () => {
    assert.is(verdict(plan({ items: [] }, withPayment(total))), 'stalled LOCKED_PAID')
  })

  t('is at rest once it is stamped, while its spec is what was frozen', () => {
    assert.equal(doing(plan({}, withPayment(total))), ['stamp'])
    const snapshot = { number: 'INV-026-0001', afterSends: 1, sha256: 'a'.repeat(64), bytes: 1, at: NOW.toISOString() }
    const stamped = { ...withPayment(total), snapshots: [{ id: 'paid', kind: 'paid' as const, ...snapshot }] }
    assert.is(verdict(plan({}, stamped)), 'ready Paid')
  })
})
