/** Numbers and documents: claims out of the register, frozen sends, and what is stamped afterwards. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { InvoiceRecord } from '../../../crds/invoice/facts/ledger.ts'
import { snapshotKey } from '../../../crds/invoice/facts/records.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { formatNumber, type Series } from '../../../crds/invoice/order/number.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import { Stalled } from '../../base/errors.ts'
import type { ObservedInvoice } from '../../store/invoice/look.ts'
import type { Send } from '../../store/ledger/ledger.ts'
import { SERIES_KNOWN } from '../../store/ledger/register.ts'
import { DatabaseRefused } from '../../store/pg/pg.ts'
import { factOf, type InvoiceDeps, type InvoiceStepOf, issuerIn } from './deps.ts'
import { drawn } from './draw.ts'
import { wakeForDue } from './timing.ts'

/** The register pads the sequence itself: what it is given is the number without its last part. */
const seriesIn = (account: string, { id, prefix, year }: Series) => ({
  id,
  account,
  prefix: formatNumber(prefix, year, 1).slice(0, -'0001'.length),
})

/** A number that somebody has is given to nobody else. */
const seriesBehind = (detail: string): Stalled =>
  new Stalled(
    'LEDGER_BEHIND',
    `LEDGER_BEHIND: ${detail}: the database is older than the cluster; put back its newest copy`,
  )

/** The known highest number of a series was refused: it outlives the resource by which it is known. */
const keepKnown = async ({ behind }: InvoiceDeps, account: string, series: Series): Promise<Stalled> => {
  const { prefix } = seriesIn(account, series)
  await behind.keep(account, prefix)
  const known = formatNumber(series.prefix, series.year, behind.known(account, prefix))
  return seriesBehind(`${known} was given, and the register does not have it`)
}

/** What is being numbered, as its step was planned. */
type Numbering = { object: InvoiceResource; world: InvoiceWorld; signal: AbortSignal }

type Claim = InvoiceStepOf<'claimNumber'>

/** The world in which it has its number. */
const numberedAs =
  (claimed: Omit<InvoiceRecord, 'uids' | 'claimed'>, { payload }: Claim, uid: string) =>
  (world: InvoiceWorld): InvoiceWorld => ({ ...world, record: { ...claimed, uids: [uid], claimed: payload } })

/** Begins to draw what will be frozen, should it get the number behind the highest one that is known. */
const drawAhead = (deps: InvoiceDeps, step: Claim, { object, world, signal }: Numbering, known: number): void => {
  const { series, issuedAt } = step
  const seq = known + 1
  const likely = { number: formatNumber(series.prefix, series.year, seq), seriesId: series.id, seq, issuedAt }
  const numbered = numberedAs(likely, step, object.metadata.uid)(world)
  const sending = planInvoice(object, numbered, deps.now()).steps.find((next) => next.do === 'freeze')
  if (!sending) return
  const { account } = object.spec
  deps.ahead.begin(object.metadata.name, sending.frozen, () => deps.pdf.render(sending.frozen, { account, signal }))
}

export const claimNumber = async (deps: InvoiceDeps, step: Claim, numbering: Numbering) => {
  const { metadata, spec } = numbering.object
  const { series, totalCents, currency, issuedAt, payload } = step
  const { account } = spec
  const of = seriesIn(account, series)
  const known = deps.behind.known(account, of.prefix)
  const claim = {
    resource: metadata.name,
    uid: metadata.uid,
    series: of,
    known,
    kind: 'invoice' as const,
    totalCents,
    currency,
    issuedAt,
    // The register allows an external_ref once per account (sql/schema/002_register.sql).
    payload: {
      ...payload,
      account: spec.account,
      ...(spec.externalRef !== undefined && { externalRef: spec.externalRef }),
    },
  }
  const claiming = deps.ledger.claimNumber(claim).catch(async (error) => {
    if (!(error instanceof DatabaseRefused)) throw error
    if (error.constraint === SERIES_KNOWN) throw await keepKnown(deps, account, series)
    if (error.constraint === 'series_prefix_once') {
      const detail = `another issuer of account ${spec.account} has given numbers ${claim.series.prefix}… already`
      throw new Stalled('PREFIX_TAKEN', `PREFIX_TAKEN: ${detail}; give the issuer another number_prefix`)
    }
    if (error.constraint !== 'register_reference') throw error
    const detail = `externalRef ${spec.externalRef} is another invoice already; use another, or delete this one`
    throw new Stalled('REF_PAYLOAD_MISMATCH', `REF_PAYLOAD_MISMATCH: ${detail}`)
  })
  // once the claim is on its way: what is planned here the database need not wait for
  const drawing = deps.isCrowded() ? undefined : nextTurn().then(() => drawAhead(deps, step, numbering, known))
  const [{ replayed, ...claimed }] = await Promise.all([claiming, drawing])
  // A replay may be of another uid, which a fresh look tells.
  if (replayed) return undefined
  return numberedAs(claimed, step, metadata.uid)
}

/** @returns all that stands there of the invoice, the send with it */
export const freeze = async (
  deps: InvoiceDeps,
  step: InvoiceStepOf<'freeze'>,
  object: InvoiceResource,
  signal: AbortSignal,
): Promise<ObservedInvoice> => {
  const { metadata, spec } = object
  const { n, frozen, gate, mail, event, entry, schedule: rows } = step
  const content = await drawn(deps, object, frozen, signal)
  const send: Send = {
    resource: metadata.name,
    n,
    at: deps.now().toISOString(),
    gate,
    frozen,
    content,
    ...(event && { event }),
    entry,
    mail: mail && {
      kind: INVOICE.kind,
      account: spec.account,
      purpose: `${mail}:${n}`,
      channel: 'mail',
      messageId: `<${metadata.name}.${n}@${deps.mailDomain}>`,
      payload: { mail, n },
    },
    ...(rows && { schedule: { kind: INVOICE.kind, resource: metadata.name, rows } }),
  }
  const { seen } = await deps.freezeSend(send, { account: spec.account, issuer: issuerIn(spec) })
  if (mail || event) deps.onQueued()
  if (rows) wakeForDue(deps, rows)
  return seen
}

/** A credit note is a resource of its own in the register: `<invoice>/<credit>`. */
export const claimCredit = async (
  deps: InvoiceDeps,
  step: InvoiceStepOf<'claimCredit'>,
  { metadata, spec }: InvoiceResource,
) => {
  const { id, series, amountCents, currency, issuedAt } = step
  // A status names a credit note once it is stamped: where anything of the account is missing, one may be.
  if (deps.behind.ofAccount(spec.account)) {
    throw seriesBehind(`invoices of ${spec.account} are missing in the register, and so may be credit notes`)
  }
  const of = seriesIn(spec.account, series)
  const claim = {
    resource: `${metadata.name}/${id}`,
    uid: metadata.uid,
    series: of,
    known: deps.behind.known(spec.account, of.prefix),
    kind: 'credit_note' as const,
    totalCents: amountCents,
    currency,
    issuedAt,
    payload: { invoice: metadata.name, amountCents, currency },
  }
  const { number, issuedAt: at } = await deps.ledger.claimNumber(claim).catch(async (error) => {
    const isKnown = error instanceof DatabaseRefused && error.constraint === SERIES_KNOWN
    throw isKnown ? await keepKnown(deps, spec.account, series) : error
  })
  // Nothing that is observed tells of this number, so a replay is believed as it answers.
  const claimed = { number, issuedAt: at }
  return (world: InvoiceWorld): InvoiceWorld => ({
    ...world,
    credits: world.credits.map((credit) => (credit.id === id ? { ...credit, claimed } : credit)),
  })
}

export const stamp = async (
  deps: InvoiceDeps,
  step: InvoiceStepOf<'stamp'>,
  object: InvoiceResource,
  signal: AbortSignal,
) => {
  const { metadata, spec } = object
  const { id, kind, frozen, afterSends, order, unsent, mail, event, entry } = step
  const resource = metadata.name
  const at = deps.now().toISOString()
  const { number } = frozen
  await deps.ledger.freezeSnapshot({
    resource,
    id,
    at,
    frozen,
    content: await drawn(deps, object, frozen, signal),
    entry,
    fact: (stored) => ({
      ...factOf(metadata),
      key: snapshotKey(id),
      kind: 'snapshot',
      body: { kind, number, afterSends, order, ...(unsent && { unsent }), ...stored },
      state: 'accepted',
      at,
      ...(event && { event }),
    }),
    mail: mail && {
      kind: INVOICE.kind,
      account: spec.account,
      purpose: `${mail}:${id}`,
      channel: 'mail',
      messageId: `<${resource}.${id}@${deps.mailDomain}>`,
      payload: { mail, n: afterSends, snapshot: id },
    },
  })
  if (mail || event) deps.onQueued()
}
