import { linkVerdicts } from '../../../crds/invoice/facts/links.ts'
import { recordedOf } from '../../../crds/invoice/facts/records.ts'
import { FIRST_LINKS, INVOICE_LINKS } from '../../../crds/invoice/facts/versions.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { restorationOf } from '../../../crds/invoice/planning/recovery/restoration.ts'
import type { InvoiceResource, InvoiceStatus } from '../../../crds/invoice/schema.ts'
import type { InvoiceStep } from '../../../crds/invoice/steps.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import { SITE_LINKS } from '../../../crds/site/links.ts'
import { planSite } from '../../../crds/site/plan.ts'
import { endedLinks, linkKey, linksNow, linksOnRecord, recordedLinks } from '../../../crds/values/links.ts'
import { frozen, invoiceResource, invoiceSpec, NOW, record, sentWorld, world } from '../../support/builders/invoice.ts'
import { homed, site } from '../../support/builders/sites/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type State = 'pending' | 'accepted' | 'refused'
const fact = (seq: number, purpose: string, version: number, state: State = 'accepted') => ({
  seq,
  key: linkKey(purpose, version),
  kind: 'link',
  body: { purpose, version, by: 'demo', reason: null },
  state,
  at: NOW.toISOString(),
})
/** But for when something falls due. */
const stepsOf = (object: InvoiceResource, of: InvoiceWorld): InvoiceStep[] =>
  planInvoice(object, of, NOW).steps.filter((step) => step.do !== 'schedule')
const WITH_LINK = { linkVersions: { link: 4 } }
/** As the controller looks: what is good follows from facts, status and spec. */
const around = (object: InvoiceResource, facts: ReturnType<typeof fact>[], change: Partial<InvoiceWorld> = {}) => {
  const links = recordedLinks(INVOICE_LINKS, facts)
  return sentWorld(invoiceSpec(), {
    factSeq: facts.length,
    ...change,
    links,
    linkVersions: linksNow(INVOICE_LINKS, object, links.recorded),
  })
}

spec('which links are good', (t) => {
  t('are the first while no fact says otherwise, and then those of the highest version of their purpose', () => {
    assert.equal(linksOnRecord(INVOICE_LINKS, []), { link: 1, password: 1 })
    const facts = [fact(1, 'link', 3), fact(2, 'link', 2), fact(3, 'password', 9, 'refused'), fact(4, 'preview', 7)]
    assert.equal(linksOnRecord(INVOICE_LINKS, facts), { link: 3, password: 1 })
    assert.equal(linksOnRecord(SITE_LINKS, facts), { preview: 7, review: 1, form: 1 })
  })

  t('change with a fact that nobody has decided on yet', () => {
    const { recorded, asked } = recordedLinks(INVOICE_LINKS, [fact(5, 'password', 2, 'pending')])
    assert.equal(recorded, { link: 1, password: 2 })
    assert.equal(asked, [{ seq: 5, purpose: 'password', version: 2 }])
  })

  t('never go back: the highest of record, spec and status counts', () => {
    const recorded = { link: 3, password: 1 }
    const now = (linkVersions: object, status: object = {}) =>
      linksNow(INVOICE_LINKS, { spec: { linkVersions }, status: { linkVersions: status } }, recorded)
    assert.equal(now({ link: 2 }), { link: 3, password: 1 })
    assert.equal(now({ link: 5 }, { link: 4, password: 2 }), { link: 5, password: 2 })
  })

  t('are told by a status only where some were ended', () => {
    assert.is(endedLinks(FIRST_LINKS), undefined)
    assert.equal(endedLinks({ link: 1, password: 2 }), { password: 2 })
  })
})

spec('an invoice whose link is ended', (t) => {
  t('takes in what was asked, tells it, and shows the version', () => {
    const object = invoiceResource()
    const of = around(object, [fact(1, 'link', 2, 'pending')])
    const steps = stepsOf(object, of)
    assert.is(steps.length, 1)
    const [step] = steps
    assert.ok(step?.do === 'decide')
    const [verdict] = step.verdicts
    assert.ok(verdict?.accept)
    assert.is(verdict.event?.type, 'invoice.link_rotated')
    assert.equal(verdict.event?.data.link, { purpose: 'link', version: 2 })
    const after = around(object, [fact(1, 'link', 2)])
    assert.equal([stepsOf(object, after), planInvoice(object, after, NOW).status.linkVersions], [[], { link: 2 }])
  })

  t('is put on record, and told, where its spec asks for it; once', () => {
    const object = invoiceResource(WITH_LINK)
    const steps = stepsOf(object, around(object, []))
    assert.equal(
      steps.map((step) => step.do === 'recordLink' && [step.purpose, step.version, step.event?.type]),
      [['link', 4, 'invoice.link_rotated']],
    )
    assert.equal(stepsOf(object, around(object, [fact(1, 'link', 4)])), [])
    assert.equal(stepsOf(object, around(object, [fact(1, 'link', 6)])), [], 'a lower one does nothing')
  })

  t('can be a draft, of which nothing is told, and a voided one', () => {
    const draft = invoiceResource({ send: false, ...WITH_LINK })
    const links = recordedLinks(INVOICE_LINKS, [fact(1, 'password', 2, 'pending')])
    const of = world({ links, linkVersions: linksNow(INVOICE_LINKS, draft, links.recorded) })
    const [step] = planInvoice(draft, of, NOW).steps
    assert.ok(step?.do === 'recordLink' && step.event === null)
    const facts = planInvoice(draft, of, NOW).status
    assert.equal(
      linkVerdicts({ object: draft, world: of, facts }).map((verdict) => verdict.accept && verdict.event),
      [null],
    )
    const voided = invoiceResource({ void: true, ...WITH_LINK })
    assert.is(planInvoice(voided, around(voided, []), NOW).steps[0]?.do, 'recordLink')
  })

  const STATUS: InvoiceStatus = { observedGeneration: 1, conditions: [], phase: 'draft', linkVersions: { password: 3 } }
  t('stays so where the ledger has forgotten it: the status knows, and nobody is told again', () => {
    const object = frozen({ ...invoiceResource(), status: STATUS })
    const { status } = planInvoice(object, around(object, []), NOW)
    assert.equal(stepsOf(object, around(object, [])), [
      { do: 'recordLink', purpose: 'password', version: 3, isAsked: false, event: null },
    ])
    assert.equal(status.linkVersions, { password: 3 })
  })

  t('is given back by a reconciliation with all that the status knows', () => {
    const number = 'INV-026-0001'
    const status = {
      ...STATUS,
      phase: 'sent',
      number,
      factSeq: 2,
      url: 'https://bottega.test/i/x',
      totalCents: 144_000,
    }
    const object = frozen({ ...invoiceResource(), status })
    const side = { record: record(), sends: 1, factSeq: 1, payments: [], credits: [], resends: 0 }
    const { links } = recordedOf([fact(1, 'password', 2)])
    const plan = restorationOf(object, { ...side, links }, 'UTC')
    assert.ok('facts' in plan)
    assert.equal(
      plan.facts.filter(({ kind }) => kind === 'link').map(({ key, body }) => [key, body.version]),
      [['link:password:3', 3]],
    )
    assert.ok(plan.does.includes('its passwords of before version 3 stay ended'), plan.does.join())
  })

  t('ends the checkouts that were begun by it', () => {
    const opened = {
      id: 'cs_1',
      url: 'https://cards.test/',
      units: 144_000,
      livemode: false,
      expiresAt: '2026-11-22T12:00:00.000Z',
    }
    const facts = [
      { seq: 1, key: 'session:1', kind: 'session', body: { session: 1, amountCents: 144_000, currency: 'EUR' } },
      { seq: 2, key: 'opened:1', kind: 'opened', body: opened },
    ].map((one) => ({ ...one, state: 'accepted' as const, at: NOW.toISOString() }))
    const account = { name: 'demo', plan: 'team' as const, email: 'owner@demo.test', rails: ['stripe' as const] }
    const object = invoiceResource()
    const asks = (more: ReturnType<typeof fact>[]) => {
      const { collected } = recordedOf(facts)
      const of = around(object, more, { collected, account, processor: { livemode: false }, factSeq: 3 })
      return planInvoice(object, of, NOW).steps.flatMap((step) => (step.do === 'askProcessor' ? [step.ask.ask] : []))
    }
    assert.equal(asks([]), [])
    assert.equal(asks([fact(3, 'password', 2)]), [])
    assert.equal(asks([fact(3, 'link', 2)]), ['end'])
  })
})

spec('a site whose links are ended', (t) => {
  const facts = (object: ReturnType<typeof site>, of: ReturnType<typeof fact>[]) => {
    const links = recordedLinks(SITE_LINKS, of)
    return { ...homed(object), links, linkVersions: linksNow(SITE_LINKS, object, links.recorded) }
  }
  const siteSteps = (object: ReturnType<typeof site>, of: ReturnType<typeof fact>[]) =>
    planSite(object, facts(object, of)).steps

  t('takes in what was asked and what its spec or its status says, stalled or not, and tells what is new', () => {
    const draft = site()
    const [asked] = siteSteps(draft, [fact(1, 'review', 2, 'pending')])
    assert.ok(asked?.do === 'decide' && asked.verdict.accept && asked.verdict.event)
    assert.equal(
      [asked.verdict.event.type, asked.verdict.event.data.link],
      ['website.link_rotated', { purpose: 'review', version: 2 }],
    )
    const stalled = site({ publish: true, linkVersions: { preview: 2 } })
    const [wanted] = siteSteps(stalled, [])
    assert.ok(wanted?.do === 'recordLink' && wanted.event !== null)
    assert.equal(siteSteps(stalled, [fact(1, 'preview', 2)]), [])
    assert.equal(planSite(stalled, facts(stalled, [fact(1, 'preview', 2)])).status.linkVersions, { preview: 2 })
    const known = { ...draft, status: { observedGeneration: 1, conditions: [], linkVersions: { review: 5 } } }
    const [healed] = siteSteps(known, [])
    assert.ok(healed?.do === 'recordLink' && healed.event === null && healed.version === 5)
  })
})
