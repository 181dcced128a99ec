/**
 * The Invoice's hands: what is looked at, what each step does, and what is mirrored. What to do is decided in
 * crds/invoice/plan.ts; nothing is decided here.
 */

import { limitOf, nextTurn, quotaDay, sendCapDetail } from '../crds/account/quotas.ts'
import type { InvoiceFacts } from '../crds/invoice/facts.ts'
import { issuerFor } from '../crds/invoice/issuer.ts'
import { INVOICE } from '../crds/invoice/kind.ts'
import { formatNumber } from '../crds/invoice/number.ts'
import type { Payload } from '../crds/invoice/payload.ts'
import { type InvoiceResource, type InvoiceStep, planInvoice } from '../crds/invoice/plan.ts'
import { openPreviews, previewedKey } from '../crds/invoice/preview.ts'
import { DEFAULT_ISSUER } from '../crds/invoice/schema.ts'
import { shownInvoice } from '../crds/invoice/shown.ts'
import type { InvoiceView } from '../crds/invoice/view.ts'
import type { InvoiceWorld, Payment, SendRecord } from '../crds/invoice/world.ts'
import { controlOf } from './control.ts'
import type { Directory } from './directory.ts'
import type { Pdf } from './io/pdf.ts'
import type { Blobs } from './runtime/blobs.ts'
import type { Controller } from './runtime/controller.ts'
import { Stalled } from './runtime/errors.ts'
import type { FactRow } from './runtime/facts.ts'
import { type InvoiceReader, makeInvoiceReader } from './runtime/issuers.ts'
import type { Keys } from './runtime/keys.ts'
import type { Ledger } from './runtime/ledger.ts'
import { type Mirror, rowOf } from './runtime/mirror.ts'
import { DatabaseRefused } from './runtime/pg.ts'
import { makeSlots, type Slots } from './runtime/slots.ts'

export type InvoiceDeps = {
  ledger: Ledger
  mirror: Mirror
  blobs: Blobs
  read: InvoiceReader
  accounts: Directory
  keys: Keys
  slots: Slots
  pdf: Pdf
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
  now: () => Date
  /** Something is due in the outbox. */
  onQueued(): void
}

const paymentOf = ({ key, body, at }: FactRow): Payment => ({
  id: key.slice(key.indexOf(':') + 1),
  amountCents: Number(body.amountCents),
  method: String(body.method),
  reference: String(body.reference),
  declaredBy: body.declaredBy === 'gateway' ? 'gateway' : 'owner',
  receivedAt: at,
})

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
    payments: known.facts.filter((fact) => fact.kind === 'payment' && fact.state === 'accepted').map(paymentOf),
    deliveries: known.deliveries,
    openPreviews: openPreviews(known.facts),
    factSeq: known.factSeq,
    linkToken: deps.keys.linkToken(metadata.name),
    publicUrl: deps.publicUrl,
  }
}

type Step<Do extends InvoiceStep['do']> = Extract<InvoiceStep, { do: Do }>

const takePlace = async (deps: InvoiceDeps, { metadata, spec }: InvoiceResource) => {
  const { account } = spec
  const profile = deps.accounts.get(account)
  const limit = profile ? limitOf('sends_per_day', profile) : 0
  const now = deps.now()
  const outcome = await deps.slots.take({ resource: metadata.name, n: 1, account, day: quotaDay(now), limit })
  if (outcome === 'refused') {
    throw new Stalled('SEND_CAP', `SEND_CAP: ${sendCapDetail(account, limit, now)}`, nextTurn(now))
  }
  return (world: InvoiceWorld): InvoiceWorld => ({ ...world, hasPlace: true })
}

const claimNumber = async (deps: InvoiceDeps, step: Step<'claimNumber'>, { metadata, spec }: InvoiceResource) => {
  const { series, totalCents, currency, issuedAt, payload } = step
  // The register pads the sequence itself: what it is given is the number without its last part.
  const prefix = formatNumber(series.prefix, series.year, 1).slice(0, -'0001'.length)
  const claim = {
    resource: metadata.name,
    uid: metadata.uid,
    series: { id: series.id, account: spec.account, prefix },
    kind: 'invoice' as const,
    totalCents,
    currency,
    issuedAt,
    // The register allows an external_ref once per account (sql/0009).
    payload: {
      ...payload,
      account: spec.account,
      ...(spec.externalRef !== undefined && { externalRef: spec.externalRef }),
    },
  }
  const { replayed, ...claimed } = await deps.ledger.claimNumber(claim).catch((error) => {
    if (!(error instanceof DatabaseRefused)) throw error
    if (error.constraint === 'series_prefix_once') {
      const detail = `another issuer of account ${spec.account} has given numbers ${prefix}… already`
      throw new Stalled('PREFIX_TAKEN', `PREFIX_TAKEN: ${detail}; give the issuer another number_prefix`)
    }
    if (error.constraint !== 'register_reference') throw error
    const detail = `externalRef ${spec.externalRef} is another invoice already; use another, or delete this one`
    throw new Stalled('REF_PAYLOAD_MISMATCH', `REF_PAYLOAD_MISMATCH: ${detail}`)
  })
  // A replay may be of another uid, which a fresh look tells.
  if (replayed) return undefined
  return (world: InvoiceWorld): InvoiceWorld => ({
    ...world,
    record: { ...claimed, uids: [metadata.uid], claimed: payload },
  })
}

const freeze = async (deps: InvoiceDeps, step: Step<'freeze'>, { metadata }: InvoiceResource) => {
  const { n, frozen, gate, mail } = step
  const content = await deps.pdf.render(frozen)
  await deps.ledger.freeze({
    resource: metadata.name,
    n,
    at: deps.now().toISOString(),
    gate,
    frozen,
    content,
    mail: mail && {
      purpose: `${mail}:${n}`,
      channel: 'mail',
      messageId: `<${metadata.name}.${n}@${deps.mailDomain}>`,
      payload: { mail, n },
    },
  })
  if (mail) deps.onQueued()
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
    takePlace: (_step, object) => takePlace(deps, object),
    claimNumber: (step, object) => claimNumber(deps, step, object),
    adopt: async ({ uid }, { metadata }) => {
      const fact = { resource: metadata.name, key: `uid:${uid}`, kind: 'adopted', body: { uid } }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
    recordReceipt: async ({ amountCents, method, reference }, { metadata }) => {
      const body = { amountCents, method, reference, declaredBy: 'owner' }
      const fact = { resource: metadata.name, key: 'payment:receipt', kind: 'payment', body }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
    freeze: (step, object) => freeze(deps, step, object),
    drawDraft: async ({ key, draft }, { metadata }) => {
      const sha256 = await deps.blobs.put(await deps.pdf.render(draft))
      const fact = { resource: metadata.name, key: previewedKey(key), kind: 'previewed', body: { sha256 } }
      await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
    },
  },
  report: async (object, world, plan) => {
    const { spec } = object
    const view = shownInvoice(object, world, plan)
    await deps.mirror.put(rowOf(object, { kind: INVOICE, account: spec.account, view, updatedAt: view.updated_at }))
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
  make: (house) =>
    invoiceController({
      ...house,
      read: makeInvoiceReader({ pg: house.pg }),
      slots: makeSlots({ pg: house.pg }),
    }),
})
