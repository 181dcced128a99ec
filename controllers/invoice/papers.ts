/** Numbers and documents: claims out of the register, frozen sends, and what is stamped afterwards. */
import { formatNumber, type Series } from '../../crds/invoice/number.ts'
import type { InvoiceResource } from '../../crds/invoice/plan.ts'
import { snapshotKey } from '../../crds/invoice/records.ts'
import type { InvoiceWorld } from '../../crds/invoice/world.ts'
import { Stalled } from '../runtime/errors.ts'
import { DatabaseRefused } from '../runtime/pg.ts'
import type { InvoiceDeps, Step } from './deps.ts'

/** The register pads the sequence itself: what it is given is the number without its last part. */
const seriesIn = (account: string, { id, prefix, year }: Series) => ({
  id,
  account,
  prefix: formatNumber(prefix, year, 1).slice(0, -'0001'.length),
})

export const claimNumber = async (
  deps: InvoiceDeps,
  step: Step<'claimNumber'>,
  { metadata, spec }: InvoiceResource,
) => {
  const { series, totalCents, currency, issuedAt, payload } = step
  const claim = {
    resource: metadata.name,
    uid: metadata.uid,
    series: seriesIn(spec.account, series),
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
      const detail = `another issuer of account ${spec.account} has given numbers ${claim.series.prefix}… already`
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

export const freeze = async (deps: InvoiceDeps, step: Step<'freeze'>, { metadata }: InvoiceResource) => {
  const { n, frozen, gate, mail, event } = step
  const content = await deps.pdf.render(frozen)
  await deps.ledger.freeze({
    resource: metadata.name,
    n,
    at: deps.now().toISOString(),
    gate,
    frozen,
    content,
    event,
    mail: mail && {
      purpose: `${mail}:${n}`,
      channel: 'mail',
      messageId: `<${metadata.name}.${n}@${deps.mailDomain}>`,
      payload: { mail, n },
    },
  })
  deps.onQueued()
}

/** A credit note is a resource of its own in the register: `<invoice>/<credit>`. */
export const claimCredit = async (
  deps: InvoiceDeps,
  step: Step<'claimCredit'>,
  { metadata, spec }: InvoiceResource,
) => {
  const { id, series, amountCents, currency, issuedAt } = step
  const { number, issuedAt: at } = await deps.ledger.claimNumber({
    resource: `${metadata.name}/${id}`,
    uid: metadata.uid,
    series: seriesIn(spec.account, series),
    kind: 'credit_note',
    totalCents: amountCents,
    currency,
    issuedAt,
    payload: { invoice: metadata.name, amountCents, currency },
  })
  // Nothing that is observed tells of this number, so a replay is believed as it answers.
  const claimed = { number, issuedAt: at }
  return (world: InvoiceWorld): InvoiceWorld => ({
    ...world,
    credits: world.credits.map((credit) => (credit.id === id ? { ...credit, claimed } : credit)),
  })
}

export const stamp = async (deps: InvoiceDeps, step: Step<'stamp'>, { metadata }: InvoiceResource) => {
  const { id, kind, frozen, afterSends, order, mail, event } = step
  const resource = metadata.name
  const at = deps.now().toISOString()
  const { number } = frozen
  await deps.ledger.freezeSnapshot({
    resource,
    id,
    at,
    frozen,
    content: await deps.pdf.render(frozen),
    fact: (stored) => ({
      resource,
      key: snapshotKey(id),
      kind: 'snapshot',
      body: { kind, number, afterSends, order, ...stored },
      state: 'accepted',
      at,
      ...(event && { event }),
    }),
    mail: mail && {
      purpose: `${mail}:${id}`,
      channel: 'mail',
      messageId: `<${resource}.${id}@${deps.mailDomain}>`,
      payload: { mail, n: afterSends, snapshot: id },
    },
  })
  if (mail || event) deps.onQueued()
}
