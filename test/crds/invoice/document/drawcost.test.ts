import { creditSizeFaults, DRAW_UNITS_MAX, sizeFaults, specCost } from '../../../../crds/invoice/document/drawcost.ts'
import { draftOf } from '../../../../crds/invoice/document/freeze.ts'
import type { Frozen } from '../../../../crds/invoice/order/frozen.ts'
import { payloadOf } from '../../../../crds/invoice/order/payload.ts'
import { digestOf, type Undrawn } from '../../../../crds/invoice/planning/undrawn.ts'
import { type InvoiceSpec, ITEMS_MAX } from '../../../../crds/invoice/schema.ts'
import { frozenInvoice, frozenItem } from '../../../support/builders/frozen.ts'
import {
  invoiceResource,
  invoiceSpec,
  issuer,
  NOW,
  planNoted,
  record,
  sent,
  sentWorld,
  world,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const items = (count: number, description: string) =>
  Array.from({ length: count }, () => ({ description, qty: '1', unitCents: 100 }))
const unitsOf = (count: number, description: string) =>
  specCost(invoiceSpec({ items: items(count, description) })).units
const THAI = 'บริการให้คำปรึกษาสำหรับโครงการส่วนแรก '
const ARABIC = 'خدمات استشارية للمشروع الجزء الأول '
const HINDI = 'परियोजना के लिए परामर्श सेवाएँ '
const HAN = '專案第一部分的諮詢服務，包括設計與開發。'
const ENGLISH = 'Consulting services for the project, part one. '
const times = (text: string, length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

spec('the cost of drawing a document', (t) => {
  const legitimate: [string, string][] = [
    ['a line of English', times(ENGLISH, 80)],
    ['three lines of English', `${times(ENGLISH, 60)}\n${times(ENGLISH, 60)}\n${times(ENGLISH, 60)}`],
    ['all the English that fits', times(ENGLISH, 2_000)],
    ['a line of Chinese', times(HAN, 80)],
    ['a line of Arabic', times(ARABIC, 80)],
    ['a line of Thai', times(THAI, 80)],
    ['a line of Hindi', times(HINDI, 40)],
    ['English with a name in Hindi', `${times(ENGLISH, 40)}हिन्दी`],
  ]
  for (const [what, description] of legitimate) {
    t(`leaves room for ${ITEMS_MAX} items of ${what}`, () => {
      const units = unitsOf(ITEMS_MAX, description)
      assert.ok(units < DRAW_UNITS_MAX * 0.7, `${units} of ${DRAW_UNITS_MAX}`)
    })
  }

  const dear: [string, string][] = [
    ['Thai', times(THAI, 2_000)],
    ['Arabic', times(ARABIC, 2_000)],
    ['Hindi', times(HINDI, 2_000)],
    ['letters under piles of marks', times('x\u0301\u0489', 2_000)],
    ['lines of one letter', times('x\n', 2_000)],
  ]
  for (const [what, description] of dear) {
    t(`refuses 250 items of 2,000 characters of ${what}, with figures`, () => {
      const [fault] = sizeFaults(invoiceSpec({ items: items(250, description) }))
      assert.equal([fault?.code, fault?.pointer], ['DOCUMENT_TOO_LARGE', '/items'])
      assert.match(fault?.detail ?? '', /^500,\d{3} letters in [\d,]+ lines.*[\d,]+ units of drawing.* 5,000,000$/)
    })
  }

  t('goes by the dearest script of a text, because a line is shaped whole', () => {
    assert.ok(unitsOf(1, `${times(ENGLISH, 1_000)}क्षि`) > unitsOf(1, times(ENGLISH, 1_004)) * 20)
    assert.ok(unitsOf(1, `${times(ENGLISH, 1_000)}\nक्षि`) < unitsOf(1, times(ENGLISH, 1_004)) * 3)
  })

  t('counts composed letters, however they were written', () => {
    const text = times('Tiếng Việt có dấu ', 1_000)
    assert.is(unitsOf(1, text.normalize('NFD')), unitsOf(1, text.normalize('NFC')))
  })

  t('is asked of the items of a credit note too', () => {
    assert.is(creditSizeFaults(items(250, times(ARABIC, 2_000)))[0]?.code, 'DOCUMENT_TOO_LARGE')
    assert.equal(creditSizeFaults(items(ITEMS_MAX, ENGLISH)), [])
  })
})

const plan = (changes: Partial<InvoiceSpec>, around: ReturnType<typeof world>) =>
  planNoted(invoiceResource(changes), around, NOW)
const doing = ({ steps }: { steps: { do: string }[] }) => steps.map((one) => one.do)
const verdict = ({ verdict: said }: ReturnType<typeof plan>) =>
  said.state === 'stalled' ? `stalled ${said.code}` : `${said.state} ${said.reason}`
const large = { items: items(250, times(ARABIC, 2_000)) }

spec('the plan of an invoice whose document is too large', (t) => {
  t('takes neither a place nor a number', () => {
    for (const start of [world({ hasQuota: false }), world()]) {
      assert.equal([doing(plan(large, start)), verdict(plan(large, start))], [[], 'stalled DOCUMENT_TOO_LARGE'])
    }
    const draft = plan({ ...large, send: false }, world({ openPreviews: ['a'] }))
    assert.equal([doing(draft), verdict(draft)], [[], 'stalled DOCUMENT_TOO_LARGE'])
  })

  t('does not freeze it under a number that it has, and may be voided and made smaller', () => {
    const numbered = world({ record: record() })
    assert.equal([doing(plan(large, numbered)), verdict(plan(large, numbered))], [[], 'stalled DOCUMENT_TOO_LARGE'])
    assert.equal(doing(plan({}, numbered)), ['freeze'])
    assert.equal(doing(plan({ ...large, void: true }, numbered)), ['stamp'])
  })

  t('refuses to send it again, and leaves what was sent as it is', () => {
    const before = sentWorld(invoiceSpec(large))
    assert.is(verdict(plan(large, before)), 'ready Sent')
    const [step] = plan(large, world({ ...before, requests: [{ seq: 3, id: 'again', kind: 'send' }] })).steps
    const [refused] = step?.do === 'decide' ? step.verdicts : []
    assert.ok(refused && !refused.accept)
    assert.is(refused.code, 'DOCUMENT_TOO_LARGE')
  })
})

spec('a document that ran out of time', (t) => {
  const undrawn = (frozen: Parameters<typeof digestOf>[0], times: number): Undrawn[] =>
    Array.from({ length: times }, () => ({
      ...{ digest: digestOf(frozen), at: NOW.toISOString() },
      needs: 'more than 20000 ms of CPU time',
    }))
  const drawn = draftOf(invoiceSpec(), issuer(), NOW)

  t('is tried twice, then it is Stalled with its figures', () => {
    const numbered = { record: record() }
    assert.equal(doing(plan({}, world({ ...numbered, undrawn: undrawn(drawn, 1) }))), ['freeze'])
    const planned = plan({}, world({ ...numbered, undrawn: undrawn(drawn, 2) }))
    assert.equal([doing(planned), verdict(planned)], [[], 'stalled DOCUMENT_TOO_LARGE'])
    assert.match(planned.verdict.message, /was tried 2 times and needs more than 20000 ms of CPU time/)
  })

  t('takes no number when its draft was given up', () => {
    const known = world({ undrawn: undrawn(drawn, 2) })
    assert.equal([doing(plan({}, known)), verdict(plan({}, known))], [[], 'stalled DOCUMENT_TOO_LARGE'])
    assert.is(verdict(plan({ send: false }, known)), 'stalled DOCUMENT_TOO_LARGE')
  })

  t('goes on after an edit of its words', () => {
    assert.equal(doing(plan({ terms: 'shorter' }, world({ undrawn: undrawn(drawn, 2) }))), ['claimNumber'])
  })

  t('is the same document on another day, under another stamp and number, and another one with other words', () => {
    const one = frozenInvoice()
    const same: Partial<Frozen>[] = [{ issuedOn: '2027-01-01' }, { number: 'INV-027-0009' }, { voidedOn: '2027-01-01' }]
    for (const change of same) assert.is(digestOf(frozenInvoice(change)), digestOf(one), JSON.stringify(change))
    assert.is(digestOf({ ...one, number: null }), digestOf(one))
    assert.is.not(digestOf(frozenInvoice({ items: [frozenItem({ description: 'another' })] })), digestOf(one))
    assert.is.not(digestOf(frozenInvoice({ kind: 'credit_note' })), digestOf(one))
  })

  t('holds up no other document: a credit note that is given up leaves the PAID stamp to be drawn', () => {
    const credit = { id: 'cn-1', seq: 2, amountCents: 100, isWhole: false, items: null, reason: 'late', refund: false }
    const claimed = { number: 'CNINV-026-0001', issuedAt: NOW.toISOString() }
    const paid = {
      id: 'pay-1',
      seq: 3,
      amountCents: 143_900,
      method: 'bank',
      reference: '',
      declaredBy: 'owner' as const,
    }
    const books = {
      ...world({ record: record(), sends: [sent()] }),
      order: payloadOf(invoiceSpec(), 'iss-default'),
      credits: [{ ...credit, at: NOW.toISOString(), claimed }],
      payments: [{ ...paid, receivedAt: NOW.toISOString() }],
    }
    const both = plan({}, world(books))
    assert.equal(doing(both), ['stamp', 'stamp'])
    const [note] = both.steps
    assert.ok(note?.do === 'stamp' && note.kind === 'credit_note')
    const left = plan({}, world({ ...books, undrawn: undrawn(note.frozen, 2) }))
    assert.equal(doing(left), ['stamp'])
    const [stamp] = left.steps
    assert.is(stamp?.do === 'stamp' && stamp.kind, 'paid')
    assert.ok(stamp?.do === 'stamp')
    const { id, kind, frozen, afterSends } = stamp
    const kept = { id, kind, number: frozen.number, afterSends, sha256: '', bytes: 0, at: NOW.toISOString() }
    const rest = plan({}, world({ ...books, undrawn: undrawn(note.frozen, 2), snapshots: [kept] }))
    assert.equal([doing(rest), verdict(rest)], [[], 'stalled DOCUMENT_TOO_LARGE'])
    assert.match(rest.verdict.message, /the credit note CNINV-026-0001 was tried 2 times/)
  })
})
