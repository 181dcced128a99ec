/**
 * The Invoice's hands: what is looked at, what each step does, and what is mirrored. What to do is decided in
 * crds/invoice/plan.ts; nothing is decided here.
 */

import { RECEIPT } from '../../../crds/invoice/document/freeze.ts'
import { openPreviews, previewedKey } from '../../../crds/invoice/document/preview.ts'
import { paymentKey, recordedOf } from '../../../crds/invoice/facts/records.ts'
import { recurringOf } from '../../../crds/invoice/facts/recurring.ts'
import { chasingOf } from '../../../crds/invoice/facts/reminded.ts'
import { INVOICE_LINKS } from '../../../crds/invoice/facts/versions.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { issuerFor } from '../../../crds/invoice/order/issuer.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { behindBy, onRecordOf } from '../../../crds/invoice/planning/recovery/behind.ts'
import { undrawnOf } from '../../../crds/invoice/planning/undrawn.ts'
import { type ShownInvoice, shownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import type { InvoiceFacts } from '../../../crds/invoice/status.ts'
import type { InvoiceStep } from '../../../crds/invoice/steps.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import { linksNow } from '../../../crds/values/links.ts'
import { RENDERER_LIMITS } from '../../io/pdf/renderer.ts'
import type { Controller } from '../../runtime/contract.ts'
import { makeCardRequests } from '../../store/invoice/card-requests.ts'
import { makeFreezeSend, makeInvoiceReader, type ObservedInvoice } from '../../store/invoice/look.ts'
import { makeSendQuota } from '../../store/invoice/send-quota.ts'
import { makeAskDeletion } from '../../store/ledger/desires.ts'
import { makePutOffDrawing } from '../../store/ledger/quarantine.ts'
import { rowOf } from '../../store/mirror.ts'
import { controlOf } from '../kind-controller.ts'
import { makeAhead } from './ahead.ts'
import { askProcessor, followsRails } from './collect.ts'
import { bringBackInvoice } from './comeback.ts'
import { decide, recordLink, reserveSend, takeResend } from './decide.ts'
import { factOf, type InvoiceDeps, issuerIn } from './deps.ts'
import { claimCredit, claimNumber, freeze, stamp } from './documents.ts'
import { drawn } from './draw.ts'
import { withLogos } from './logo.ts'
import { INVOICE_MAILS } from './mails.ts'
import { notifyOwner } from './notify.ts'
import { archiveDue } from './retention.ts'
import { anchor, purge, remind, repeat, schedule } from './timing.ts'

/** The world, of what stands in PostgreSQL. */
const worldOf = (deps: InvoiceDeps, object: InvoiceResource, known: ObservedInvoice): InvoiceWorld => {
  const { metadata, spec } = object
  const account = deps.accounts.get(spec.account)
  const issuer = issuerIn(spec)
  const recorded = recordedOf(known.facts)
  const linkVersions = linksNow(INVOICE_LINKS, object, recorded.links.recorded)
  return {
    account,
    issuer: account && issuerFor(account, issuer, known.issuer, known.record !== null),
    clientIsAccount: spec.clientEmail !== undefined && deps.accounts.hasEmail(spec.clientEmail),
    record: known.record,
    hasQuota: known.hasPlace,
    sends: known.sends,
    ...recorded,
    chasing: chasingOf(known.facts),
    recurring: recurringOf(known.facts),
    scheduled: known.scheduled,
    deliveries: known.deliveries,
    openPreviews: openPreviews(known.facts),
    undrawn: undrawnOf(known.facts),
    processor: deps.processor,
    factSeq: known.factSeq,
    linkVersions,
    linkToken: deps.keys.linkToken(metadata.name, linkVersions.link),
    publicUrl: deps.publicUrl,
    mailDomain: deps.mailDomain,
  }
}

const observe = async (deps: InvoiceDeps, object: InvoiceResource): Promise<InvoiceWorld> => {
  const { metadata, spec } = object
  return worldOf(
    deps,
    object,
    await deps.read({ resource: metadata.name, account: spec.account, issuer: issuerIn(spec) }),
  )
}

const isStranger = ({ metadata }: InvoiceResource, { record }: InvoiceWorld): boolean =>
  record !== null && !record.uids.includes(metadata.uid)

const mirrored = (object: InvoiceResource, view: ShownInvoice) => ({
  ...rowOf(object, { kind: INVOICE, account: object.spec.account, view, updatedAt: view.updated_at }),
  createdAt: view.created_at,
})

/** The last view of an invoice whose resource is no more is served on. */
const keep = async ({ mirror }: InvoiceDeps, name: string): Promise<void> => {
  const row = await mirror.get(INVOICE, name)
  if (row && !row.archived) await mirror.archive(INVOICE.kind, name, true)
}

/** A test invoice that was deleted is gone; any other numbered one is still served, from the last view of it. */
const forget = async (deps: InvoiceDeps, name: string) => {
  deps.behind.forget(name)
  deps.suspects.delete(name)
  const row = await deps.mirror.get(INVOICE, name)
  if (!row) return
  const view = row.view
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
    reserveSend: (_step, object) => reserveSend(deps, object),
    takeResend: (step, object) => takeResend(deps, step, object),
    claimNumber: (step, object, signal, world) => claimNumber(deps, step, { object, world, signal }),
    adopt: async ({ uid }, { metadata }) => {
      const before = (await deps.mirror.get(INVOICE, metadata.name))?.view
      const body = { uid, ...(before && { createdAt: before.created_at, version: before.version }) }
      const fact = { ...factOf(metadata), key: `uid:${uid}`, kind: 'adopted', body }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
    recordReceipt: async ({ amountCents, method, reference }, { metadata }) => {
      const body = { amountCents, method, reference, declaredBy: 'owner' }
      const fact = { ...factOf(metadata), key: paymentKey(RECEIPT), kind: 'payment', body }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
    recordLink: (step, object) => recordLink(deps, step, object),
    freeze: async (step, object, signal) => ({
      looked: worldOf(deps, object, await freeze(deps, step, object, signal)),
    }),
    claimCredit: (step, object) => claimCredit(deps, step, object),
    stamp: (step, object, signal) => stamp(deps, step, object, signal),
    askProcessor: (step, object) => askProcessor(deps, step, object),
    notifyOwner: (step, object) => notifyOwner(deps, step, object),
    remind: (step, object) => remind(deps, step, object),
    anchor: (step, object) => anchor(deps, step, object),
    repeat: (step, object) => repeat(deps, step, object),
    schedule: (step, object) => schedule(deps, step, object),
    purge: (_step, object) => purge(deps, object),
    drawDraft: async ({ key, draft }, object, signal) => {
      const sha256 = await deps.blobs.put(await drawn(deps, object, draft, signal))
      const fact = { ...factOf(object.metadata), key: previewedKey(key), kind: 'previewed', body: { sha256 } }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
  },
  report: async (object, world, plan) => {
    const of = { name: object.metadata.name, account: object.spec.account }
    deps.behind.note(of, behindBy(object, onRecordOf(world)) !== null)
    // Under the name of an invoice that is on record: what is served of that one is kept, and this one has no number.
    if (isStranger(object, world)) return keep(deps, object.metadata.name)
    await deps.mirror.put(mirrored(object, shownInvoice(object, world, plan)))
  },
  show: async (object, world, plan) => {
    if (!isStranger(object, world)) await deps.mirror.show(mirrored(object, shownInvoice(object, world, plan)))
  },
  forget: (key) => forget(deps, key.slice(key.indexOf('/') + 1)),
})

/** Passes at once. Most of a pass is waiting for a commit that others share, so many cost little and batch well. */
const CONCURRENCY = 64
/** Load: from here on a pass is slowed by the others anyway, and a short wait for company spares them all work. */
const UNDER_LOAD = { from: 6, ms: 60 }
/** Documents are drawn one after another: under load a send waits so long for those behind it, to share its commit. */
const SEND_GATHER_MS = 8
/** A document waits for its turn, is drawn and is stored within one step. */
const ACT_LIMIT_MS = RENDERER_LIMITS.waitMaxMs + RENDERER_LIMITS.wallMaxMs + 30_000

export const invoiceControl = controlOf({
  kind: INVOICE,
  hasOwnLives: true,
  goesOnWithout: true,
  concurrency: CONCURRENCY,
  batchedStart: UNDER_LOAD,
  actLimitMs: ACT_LIMIT_MS,
  sweep: ({ pg, kube, held, retentionDays, now }) =>
    archiveDue({ pg, kube, invoices: held(INVOICE), retentionDays, now }),
  make: (context) =>
    invoiceController({
      ...context,
      pdf: withLogos(context),
      suspects: new Set(),
      putOffDrawing: makePutOffDrawing(context),
      ahead: makeAhead(),
      isCrowded: () => context.gatherMs(SEND_GATHER_MS) > 0,
      deletions: makeAskDeletion(context),
      read: makeInvoiceReader(context),
      freezeSend: makeFreezeSend({ ...context, gatherMs: () => context.gatherMs(SEND_GATHER_MS) }),
      sendQuota: makeSendQuota({ pg: context.pg }),
      requestCard: makeCardRequests(context),
      processor: context.cards && { livemode: context.cards.livemode },
    }),
  mails: INVOICE_MAILS,
  bringBack: bringBackInvoice,
  follows: [followsRails],
})
