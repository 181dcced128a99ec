import { recordedOf } from '../../../../crds/invoice/facts/records.ts'
import { planInvoice } from '../../../../crds/invoice/plan.ts'
import { behindBy, onRecordOf } from '../../../../crds/invoice/planning/recovery/behind.ts'
import { quietly } from '../../../../crds/invoice/planning/recovery/quiet.ts'
import {
  type LedgerSide,
  type Restoration,
  restorationOf,
} from '../../../../crds/invoice/planning/recovery/restoration.ts'
import { planSeries, type SeriesInput } from '../../../../crds/invoice/planning/recovery/series.ts'
import { regained, type Unnumbered } from '../../../../crds/invoice/planning/recovery/unnumbered.ts'
import type { InvoiceResource, InvoiceStatus } from '../../../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import { frozenInvoice } from '../../../support/builders/frozen.ts'
import {
  frozen,
  invoiceResource,
  invoiceSpec,
  NOW,
  record,
  sentWorld,
  world,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** As it was when 40.00 of it had been paid and 4.00 credited. */
const STATUS: InvoiceStatus = {
  observedGeneration: 1,
  factSeq: 5,
  phase: 'partial',
  number: 'INV-026-0444',
  issuerId: 'iss-default',
  issuedOn: '2026-11-20',
  url: 'https://bottega.test/i/token',
  total: '1,440.00 EUR',
  totalCents: 144_000,
  currency: 'EUR',
  paidCents: 4_000,
  creditedCents: 400,
  creditNotes: [{ id: 'cn-1', number: 'CNINV-026-0007', amountCents: 400 }],
  conditions: [],
}
const { links } = recordedOf([])
const NOTHING: LedgerSide = { record: null, sends: 0, factSeq: 0, payments: [], credits: [], resends: 0, links }
const seen = (status: Partial<InvoiceStatus> = {}, change = {}): InvoiceResource =>
  frozen({ ...invoiceResource(change), status: { ...STATUS, ...status } })
const restored = (object: InvoiceResource, side: Partial<LedgerSide> = {}): Restoration => {
  const found = restorationOf(object, { ...NOTHING, ...side }, 'Pacific/Auckland')
  if ('blocked' in found) throw new Error(found.blocked)
  return found
}
const why = (object: InvoiceResource, side: Partial<LedgerSide> = {}): string => {
  const found = restorationOf(object, { ...NOTHING, ...side }, 'UTC')
  return 'blocked' in found ? found.blocked : ''
}
/** What the ledger has once it was given that back. */
const afterwards = ({ facts, leastSeq }: Restoration) => {
  const rows = facts.map((fact, at) => ({
    ...fact,
    seq: leastSeq + at,
    state: 'accepted' as const,
    at: NOW.toISOString(),
  }))
  const claimed = record(invoiceSpec(), { number: 'INV-026-0444', seq: 444 })
  return world({ ...recordedOf(rows), record: claimed, factSeq: rows.at(-1)?.seq ?? 0 })
}

spec('an invoice that is given back to the ledger', (t) => {
  t('has its number, its credit note, and the day on which it was issued in the zone of its issuer', () => {
    const { entries } = restored(seen())
    assert.equal(
      entries.map(({ series, prefix, seq, resource, kind, totalCents }) => [
        series,
        prefix,
        seq,
        resource,
        kind,
        totalCents,
      ]),
      [
        ['demo/iss-default/invoice/2026', 'INV-026-', 444, 'inv-october-acme', 'invoice', 144_000],
        ['demo/iss-default/credit_note/2026', 'CNINV-026-', 7, 'inv-october-acme/cn-1', 'credit_note', 400],
      ],
    )
    assert.is(entries[0]?.issuedAt, '2026-11-19T23:00:00.000Z', 'noon in Auckland')
  })

  t('is behind no more, owes the same, and mails and tells nobody while its document is drawn anew', () => {
    const object = seen()
    const around = afterwards(restored(object))
    assert.is(behindBy(object, onRecordOf(around)), null)
    const plan = planInvoice(object, around, NOW)
    const [freeze] = plan.steps
    if (freeze?.do !== 'freeze') throw new Error(`it does ${freeze?.do}`)
    assert.equal([freeze.n, freeze.mail, freeze.event, freeze.frozen.number], [1, null, null, 'INV-026-0444'])
    assert.equal([plan.status.paidCents, plan.status.creditedCents], [4_000, 400])
  })

  t('is sent as often as it was, and whatever is sent after that is mailed', () => {
    const around = afterwards(restored(seen({ sends: 2 })))
    assert.is(around.resends, 1)
    const [freeze] = planInvoice(seen({ sends: 2 }), around, NOW).steps
    if (freeze?.do !== 'freeze') throw new Error(`it does ${freeze?.do}`)
    const mails = quietly(
      [1, 2, 3].map((n) => ({ ...freeze, n, mail: 'invoice' as const })),
      around,
    ).map((step) => 'mail' in step && step.mail)
    assert.equal(mails, [null, null, 'invoice'])
  })

  t('takes nothing back that is on record, and no payment twice', () => {
    const known = restored(seen(), {
      record: { number: 'INV-026-0444', uids: ['uid-1'] },
      sends: 1,
      factSeq: 3,
      payments: [
        { id: 'p', seq: 1, amountCents: 4_000, method: 'm', reference: '', declaredBy: 'owner', receivedAt: '' },
      ],
    })
    assert.equal(
      known.entries.map(({ kind }) => kind),
      ['credit_note'],
    )
    assert.equal(
      known.facts.map(({ kind }) => kind),
      ['restored', 'credit'],
    )
    assert.is(known.leastSeq, 5)
    const stranger = restored(seen(), { record: { number: 'INV-026-0444', uids: ['uid-0'] } })
    assert.ok(
      stranger.facts.some(({ key }) => key === 'uid:uid-1'),
      'its present uid',
    )
  })

  /** Its send was in the copy; at 09:00 of the due date it was reminded of, which the copy does not know. */
  const givenBack = (at: string, more: Partial<InvoiceWorld> = {}): InvoiceWorld =>
    sentWorld(invoiceSpec({ dueDate: '2026-12-20' }), {
      ...recordedOf([
        {
          ...{ seq: 5, key: 'restored:5', kind: 'restored', state: 'accepted', at },
          body: { sends: 1, phase: 'sent', notes: [] },
        },
      ]),
      factSeq: 5,
      ...more,
    })
  const planned = (around: InvoiceWorld, at: string) =>
    planInvoice(frozen(invoiceResource({ dueDate: '2026-12-20' })), around, new Date(at)).steps
  const scheduled = (around: InvoiceWorld, at: string) =>
    planned(around, at).flatMap((step) =>
      step.do === 'schedule' ? step.rows.map(({ purpose, dueAt }) => [purpose, dueAt]) : [],
    )

  t('is not reminded of again, nor told to be overdue: what fell due before it was given back counts as given', () => {
    const around = givenBack('2026-12-20T15:00:00.000Z')
    assert.equal(scheduled(around, '2026-12-20T15:05:00.000Z'), [
      ['reminder', '2026-12-27T08:00:00.000Z'],
      ['overdue', '2026-12-20T23:00:00.000Z'],
    ])
    const late = givenBack('2026-12-21T15:00:00.000Z')
    assert.equal(scheduled(late, '2026-12-21T15:05:00.000Z'), [['reminder', '2026-12-27T08:00:00.000Z']])
  })

  t('mails no reminder that was asked for before: it may have gone out; one that is asked for since goes out', () => {
    const asked = [
      { seq: 3, id: 'a' },
      { seq: 6, id: 'b' },
    ]
    const chasing = { given: [], asked, overdue: [] }
    const around = givenBack('2026-12-20T15:00:00.000Z', { chasing, factSeq: 6 })
    const steps = planned(around, '2026-12-20T15:05:00.000Z').flatMap((step) => (step.do === 'remind' ? [step] : []))
    assert.equal(
      steps.map((step) => [step.seq, step.accept && step.outcome.sent, step.accept && step.mail !== null]),
      [
        [3, false, false],
        [6, true, true],
      ],
    )
    assert.match(JSON.stringify(steps[0]), 'it may have gone out')
  })

  t('is left to a person where the spec is not what was sent, or two have one number', () => {
    assert.match(why(seen({ totalCents: 1 })), 'set the spec back')
    assert.match(why(seen(), { record: { number: 'INV-026-0445', uids: [] } }), 'INV-026-0445')
  })
})

spec('a register that goes on', (t) => {
  const id = 'demo/iss-default/invoice/2026'
  const entry = (seq: number, resource = `inv-${seq}`) => ({
    ...restored(seen({ number: `INV-026-0${seq}` })).entries[0],
    resource,
  })
  const planned = (change: Partial<SeriesInput>) =>
    planSeries({
      series: [{ id, account: 'demo', prefix: 'INV-026-', last: 443 }],
      entries: [],
      held: new Set(),
      known: [],
      reserve: new Map(),
      ...change,
    })
  const words = (change: Partial<SeriesInput>) =>
    planned(change).series.flatMap(({ entries }) => entries.map(({ seq, entry: word }) => `${seq} ${word}`))
  const entries = [entry(446), entry(444)] as SeriesInput['entries']

  t('names each number that is known, and sets the others aside', () => {
    assert.equal(words({ entries }), ['444 restored', '445 lost', '446 restored'])
    const known = [{ account: 'demo', prefix: 'INV-026-', seq: 445 }]
    assert.equal(words({ known }), ['444 lost', '445 lost'])
    assert.equal(words({ reserve: new Map([[id, 444]]) }), ['444 lost'])
    assert.equal(words({ known: [{ account: 'other', prefix: 'INV-026-', seq: 500 }] }), [])
    assert.equal(words({ reserve: new Map([[id, 443]]) }), [])
  })

  t('begins at 1 where it is not there at all', () => {
    assert.equal(words({ entries, held: new Set(['inv-446']) }), ['444 restored'])
    assert.equal(words({ series: [], entries: [{ ...entry(444), seq: 2 }] as SeriesInput['entries'] }), [
      '1 lost',
      '2 restored',
    ])
  })

  t('is left to a person where two claim one number', () => {
    const twice = [entry(444), entry(444, 'inv-b')] as SeriesInput['entries']
    assert.match(planned({ entries: twice }).blocked.join(), 'two resources')
    assert.match(planned({ entries: [entry(443)] as SeriesInput['entries'] }).blocked.join(), 'INV-026-0443')
    assert.match(planned({ reserve: new Map([['x/y/invoice/2026', 2]]) }).blocked.join(), 'x/y/invoice/2026')
  })
})

spec('a document that has no number in the register', (t) => {
  const drawn = frozenInvoice({ number: 'INV-026-0444', totalCents: 144_000, issuedOn: '2026-11-20' })
  const document = {
    ...{ invoice: 'inv-one', uid: 'u-1', issuerId: 'iss-default', externalRef: 'order-1' },
    ...{ issuedAt: NOW.toISOString(), frozen: drawn },
  }
  const found: Unnumbered = { resource: 'inv-one', series: 'demo/iss-default/invoice/2026', account: 'demo', document }

  t('gives its entry back, as it was claimed', () => {
    const entry = regained(found)
    assert.ok(!('blocked' in entry))
    const { series, account, prefix, seq, resource, uid, kind, totalCents } = entry
    assert.equal(
      [series, account, prefix, seq, resource, uid, kind, totalCents],
      [found.series, 'demo', 'INV-026-', 444, 'inv-one', 'u-1', 'invoice', 144_000],
    )
    const { account: whose, externalRef, issuerId, totalCents: claimed } = entry.claimed
    assert.equal([whose, externalRef, issuerId, claimed], ['demo', 'order-1', 'iss-default', 144_000])
  })

  t('has a credit note name its invoice, and a series that is not there by its issuer and year', () => {
    const note = { ...drawn, kind: 'credit_note' as const, number: 'CNINV-026-0007', totalCents: 400 }
    const entry = regained({
      ...found,
      resource: 'inv-one/cn-1',
      series: null,
      document: { ...document, frozen: note },
    })
    assert.ok(!('blocked' in entry))
    assert.equal([entry.series, entry.seq, entry.resource], ['demo/iss-default/credit_note/2026', 7, 'inv-one/cn-1'])
    assert.equal(entry.claimed, { invoice: 'inv-one', amountCents: 400, currency: note.currency })
  })

  t('is for a person where nobody knows whose it is, or in which series', () => {
    const nobodys = regained({ ...found, account: null })
    const nowhere = regained({ ...found, series: null, document: { ...document, issuerId: null } })
    for (const [one, why] of [
      [nobodys, 'nobody knows whose it is'],
      [nowhere, 'its series is not there'],
    ] as const) {
      assert.ok('blocked' in one)
      assert.match(one.blocked, `inv-one (INV-026-0444): ${why}`)
    }
  })
})
