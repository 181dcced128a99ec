/**
 * The Invoice's hands: what is looked at, what each step does, and what is mirrored. What to do is decided in
 * crds/invoice/plan.ts; nothing is decided here.
 */

import type { InvoiceFacts } from '../crds/invoice/facts.ts'
import { RECEIPT } from '../crds/invoice/freeze.ts'
import { issuerFor } from '../crds/invoice/issuer.ts'
import { INVOICE } from '../crds/invoice/kind.ts'
import type { Payload } from '../crds/invoice/payload.ts'
import { type InvoiceResource, type InvoiceStep, planInvoice } from '../crds/invoice/plan.ts'
import { openPreviews, previewedKey } from '../crds/invoice/preview.ts'
import { paymentKey, recordedOf } from '../crds/invoice/records.ts'
import { recurringOf } from '../crds/invoice/recurrence.ts'
import { chasingOf } from '../crds/invoice/reminders.ts'
import { DEFAULT_ISSUER } from '../crds/invoice/schema.ts'
import { shownInvoice } from '../crds/invoice/shown.ts'
import type { InvoiceView } from '../crds/invoice/view.ts'
import type { InvoiceWorld, SendRecord } from '../crds/invoice/world.ts'
import { controlOf } from './control.ts'
import { askProcessor, followsRails } from './invoice/collect.ts'
import { decide, takePlace, takeResend } from './invoice/decide.ts'
import type { InvoiceDeps } from './invoice/deps.ts'
import { withLogos } from './invoice/logo.ts'
import { claimCredit, claimNumber, freeze, stamp } from './invoice/papers.ts'
import { archiveDue } from './invoice/retention.ts'
import { tell } from './invoice/tell.ts'
import { anchor, purge, remind, repeat, schedule } from './invoice/timing.ts'
import { makeCardAsks } from './runtime/cardasks.ts'
import type { Controller } from './runtime/controller.ts'
import { makeInvoiceReader } from './runtime/issuers.ts'
import { rowOf } from './runtime/mirror.ts'
import { makeSlots } from './runtime/slots.ts'

const observe = async (deps: InvoiceDeps, { metadata, spec }: InvoiceResource): Promise<InvoiceWorld> => {
  const account = deps.accounts.get(spec.account)
  const issuer = spec.issuerId ?? DEFAULT_ISSUER
  const known = await deps.read({ resource: metadata.name, account: spec.account, issuer })
  return {
    account,
    issuer: account && issuerFor(account, issuer, known.issuer, known.record !== null),
    clientIsAccount: spec.clientEmail !== undefined && deps.accounts.hasEmail(spec.clientEmail),
    record: known.record && { ...known.record, claimed: known.record.claimed as Payload },
    hasPlace: known.hasPlace,
    sends: known.sends as SendRecord[],
    ...recordedOf(known.facts),
    chasing: chasingOf(known.facts),
    recurring: recurringOf(known.facts),
    scheduled: known.scheduled,
    deliveries: known.deliveries,
    openPreviews: openPreviews(known.facts),
    processor: deps.processor,
    factSeq: known.factSeq,
    linkToken: deps.keys.linkToken(metadata.name),
    publicUrl: deps.publicUrl,
    mailDomain: deps.mailDomain,
  }
}

/** The last view of an invoice whose resource is no more is served on. */
const keep = async ({ mirror }: InvoiceDeps, name: string): Promise<void> => {
  const row = await mirror.get(INVOICE.kind, name)
  if (row && !row.archived) await mirror.archive(INVOICE.kind, name, true)
}

/** A test invoice that was deleted is gone; any other numbered one is still served, from the last view of it. */
const forget = async (deps: InvoiceDeps, name: string) => {
  const row = await deps.mirror.get('Invoice', name)
  if (!row) return
  const view = row.view as InvoiceView
  if (view.number !== null && !view.test) await deps.mirror.archive('Invoice', name, true)
  else await deps.mirror.remove('Invoice', name)
}

export const invoiceController = (
  deps: InvoiceDeps,
): Controller<InvoiceResource, InvoiceFacts, InvoiceWorld, InvoiceStep> => ({
  kind: INVOICE,
  observe: (object) => observe(deps, object),
  plan: planInvoice,
  act: {
    decide: (step, object) => decide(deps, step, object),
    takePlace: (_step, object) => takePlace(deps, object),
    takeResend: (step, object) => takeResend(deps, step, object),
    claimNumber: (step, object) => claimNumber(deps, step, object),
    adopt: async ({ uid }, { metadata }) => {
      const before = (await deps.mirror.get(INVOICE.kind, metadata.name))?.view as InvoiceView | undefined
      const body = { uid, ...(before && { createdAt: before.created_at, version: before.version }) }
      const fact = { resource: metadata.name, key: `uid:${uid}`, kind: 'adopted', body }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
    recordReceipt: async ({ amountCents, method, reference }, { metadata }) => {
      const body = { amountCents, method, reference, declaredBy: 'owner' }
      const fact = { resource: metadata.name, key: paymentKey(RECEIPT), kind: 'payment', body }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
    freeze: (step, object) => freeze(deps, step, object),
    claimCredit: (step, object) => claimCredit(deps, step, object),
    stamp: (step, object) => stamp(deps, step, object),
    askProcessor: (step, object) => askProcessor(deps, step, object),
    tell: (step, object) => tell(deps, step, object),
    remind: (step, object) => remind(deps, step, object),
    anchor: (step, object) => anchor(deps, step, object),
    repeat: (step, object) => repeat(deps, step, object),
    schedule: (step, object) => schedule(deps, step, object),
    purge: (_step, object) => purge(deps, object),
    drawDraft: async ({ key, draft }, { metadata }) => {
      const sha256 = await deps.blobs.put(await deps.pdf.render(draft))
      const fact = { resource: metadata.name, key: previewedKey(key), kind: 'previewed', body: { sha256 } }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
  },
  report: async (object, world, plan) => {
    const { spec, metadata } = object
    // Under the name of an invoice that is on record: what is served of that one is kept, and this one has no number.
    if (world.record && !world.record.uids.includes(metadata.uid)) return keep(deps, metadata.name)
    const view = shownInvoice(object, world, plan)
    const row = rowOf(object, { kind: INVOICE, account: spec.account, view, updatedAt: view.updated_at })
    await deps.mirror.put({ ...row, createdAt: view.created_at })
  },
  forget: (key) => forget(deps, key.slice(key.indexOf('/') + 1)),
})

/** Passes at once. Most of a pass is waiting for a commit that others share, so many cost little and batch well. */
const CONCURRENCY = 64
/** A crowd: from here on a pass is slowed by the others anyway, and a short wait for company spares them all work. */
const CROWD = { from: 6, ms: 60 }

export const invoiceControl = controlOf({
  kind: INVOICE,
  concurrency: CONCURRENCY,
  wave: CROWD,
  sweep: ({ pg, kube, held, retentionDays, now }) =>
    archiveDue({ pg, kube, invoices: held(INVOICE), retentionDays, now }),
  make: (house) =>
    invoiceController({
      ...house,
      pdf: withLogos(house),
      read: makeInvoiceReader({ pg: house.pg }),
      slots: makeSlots({ pg: house.pg }),
      cardAsks: makeCardAsks(house),
      processor: house.cards && { livemode: house.cards.livemode },
    }),
  follows: [followsRails],
})
