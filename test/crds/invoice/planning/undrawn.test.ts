import { draftOf } from '../../../../crds/invoice/document/freeze.ts'
import { revisionPreviewKey } from '../../../../crds/invoice/document/preview.ts'
import { planInvoice } from '../../../../crds/invoice/plan.ts'
import { DRAW_AGAIN_MS, digestOf, heldBack, type Undrawn } from '../../../../crds/invoice/planning/undrawn.ts'
import type { InvoiceSpec } from '../../../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import {
  invoiceResource,
  invoiceSpec,
  issuer,
  NOW,
  record,
  sentWorld,
  world,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const drawn = draftOf(invoiceSpec(), issuer(), NOW)
const after = (ms: number) => new Date(NOW.getTime() + ms)
const failed = (times: number, frozen: Parameters<typeof digestOf>[0] = drawn): Undrawn[] =>
  Array.from({ length: times }, () => ({ digest: digestOf(frozen), at: NOW.toISOString(), failed: 'TypeError' }))
const released: Undrawn = { digest: digestOf(drawn), at: NOW.toISOString(), released: true }
const ALL = DRAW_AGAIN_MS.length + 1

const plan = (change: Partial<InvoiceSpec>, seen: InvoiceWorld, now = NOW) =>
  planInvoice(invoiceResource(change), seen, now)
const doing = ({ steps }: ReturnType<typeof plan>) => steps.map((step) => step.do)
const verdict = ({ verdict: said }: ReturnType<typeof plan>) =>
  said.state === 'stalled' ? `stalled ${said.code}` : `${said.state} ${said.reason}`

spec('a document that fails whenever it is drawn', (t) => {
  t('waits longer after each try, and after the last is held back until it is released', () => {
    for (const [at, waitMs] of DRAW_AGAIN_MS.entries()) {
      const tries = failed(at + 1)
      const held = heldBack(tries, drawn, NOW)
      assert.is(held && 'afterMs' in held ? held.afterMs : null, waitMs)
      assert.is(heldBack(tries, drawn, after(waitMs)), null, 'then it is tried')
    }
    const aside = heldBack(failed(ALL), drawn, after(365 * 86_400_000))
    assert.ok(aside && 'code' in aside)
    assert.is(aside.code, 'DOCUMENT_SET_ASIDE')
    assert.match(aside.detail, `was tried ${ALL} times and cannot be drawn (TypeError)`)
  })

  t('is tried once more for each release, and what is too dear is not released by it', () => {
    assert.is(heldBack([...failed(ALL), released], drawn, NOW), null)
    const again = heldBack([...failed(ALL), released, ...failed(1)], drawn, after(86_400_000))
    assert.ok(again && 'code' in again)
    assert.match(again.detail, `tried ${ALL + 1} times`)
    const dear = { digest: digestOf(drawn), at: NOW.toISOString(), needs: 'more than 96 MiB of memory' }
    const large = heldBack([dear, dear, released], drawn, NOW)
    assert.is(large && 'code' in large && large.code, 'DOCUMENT_TOO_LARGE')
    assert.is(heldBack([dear, ...failed(1)], drawn, after(1_000)), null, 'they are counted apart')
  })

  t('holds back no document that says something else', () => {
    const other = draftOf(invoiceSpec({ terms: 'in other words' }), issuer(), NOW)
    assert.is(heldBack(failed(ALL), other, NOW), null)
  })

  t('is waited for, or Stalled with its code, whether it has a number or not', () => {
    for (const known of [{}, { record: record() }]) {
      const waited = plan({}, world({ ...known, undrawn: failed(2) }))
      assert.equal([doing(waited), verdict(waited)], [[], 'waiting NotDrawn'])
      assert.is(waited.verdict.state === 'waiting' && waited.verdict.retryAfterMs, DRAW_AGAIN_MS[1])
      const aside = plan({}, world({ ...known, undrawn: failed(ALL) }), after(86_400_000))
      assert.equal([doing(aside), verdict(aside)], [[], 'stalled DOCUMENT_SET_ASIDE'])
      assert.ok(doing(plan({}, world({ ...known, undrawn: [...failed(ALL), released] }))).length > 0)
    }
  })

  t('holds back no payment: its PAID stamp is left, and what is owed is settled', () => {
    const base = sentWorld(invoiceSpec())
    const payment = {
      ...{ id: 'one', seq: 2, amountCents: 144_000, method: 'transfer', reference: '' },
      ...{ declaredBy: 'owner' as const, receivedAt: NOW.toISOString() },
    }
    const money = world({ ...base, payments: [payment] })
    const [stamp] = plan({}, money).steps
    assert.ok(stamp?.do === 'stamp')
    const paid = plan({}, { ...money, undrawn: failed(ALL, stamp.frozen) })
    assert.equal([paid.status.phase, verdict(paid)], ['paid', 'stalled DOCUMENT_SET_ASIDE'])
  })

  t('is not asked for again where it is a preview of an edit', () => {
    const edited = invoiceSpec({ terms: 'edited' })
    const revised = draftOf(edited, issuer(), NOW)
    const base = world({ ...sentWorld(invoiceSpec()), openPreviews: [revisionPreviewKey('a')] })
    const isDrawn = (undrawn: Undrawn[]) => doing(plan({ terms: 'edited' }, { ...base, undrawn })).includes('drawDraft')
    assert.equal([isDrawn([]), isDrawn(failed(1, revised)), isDrawn(failed(ALL, revised))], [true, false, false])
  })
})
