/** Deciding on what was reported, and taking quota under the cap of sends. */
import { limitOf, nextTurn, quotaDay, sendCapDetail } from '../../../crds/account/quotas.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import { LINK_FACT, type LinkBody, linkKey } from '../../../crds/values/links.ts'
import { Stalled } from '../../base/errors.ts'
import { factOf, type InvoiceDeps, type InvoiceStepOf } from './deps.ts'

/** The place of the n-th send under the account's cap of today. */
export const quotaFor = async (deps: InvoiceDeps, { metadata, spec: { account } }: InvoiceResource, n: number) => {
  const profile = deps.accounts.get(account)
  const limit = profile ? limitOf('sends_per_day', profile) : 0
  const now = deps.now()
  const outcome = await deps.sendQuota.take({ resource: metadata.name, n, account, day: quotaDay(now), limit })
  return { outcome, detail: sendCapDetail(account, limit, now), wakeAt: nextTurn(now) }
}

export const reserveSend = async (deps: InvoiceDeps, object: InvoiceResource) => {
  const { outcome, detail, wakeAt } = await quotaFor(deps, object, 1)
  if (outcome === 'refused') throw new Stalled('SEND_CAP', `SEND_CAP: ${detail}`, wakeAt)
  return (world: InvoiceWorld): InvoiceWorld => ({ ...world, hasQuota: true })
}

/** All verdicts of one plan stand in one transaction: they were reached together. */
export const decide = async (
  deps: InvoiceDeps,
  { verdicts }: InvoiceStepOf<'decide'>,
  { metadata }: InvoiceResource,
) => {
  const at = deps.now().toISOString()
  await Promise.all(
    verdicts.map((verdict) => {
      const base = { resource: metadata.name, seq: verdict.seq, at }
      if (!verdict.accept) {
        const { code: refusedCode, detail } = verdict
        return deps.ledger.decideFact({ ...base, state: 'refused', refusedCode, outcome: { detail } })
      }
      const { outcome, event } = verdict
      return deps.ledger.decideFact({
        ...base,
        state: 'accepted',
        ...(outcome && { outcome }),
        ...(event && { event }),
      })
    }),
  )
  if (verdicts.some((verdict) => verdict.accept && verdict.event)) deps.onQueued()
}

/** The key makes it once, whoever else records it meanwhile. */
export const recordLink = async (
  deps: InvoiceDeps,
  { purpose, version, isAsked, event }: InvoiceStepOf<'recordLink'>,
  { metadata }: InvoiceResource,
) => {
  const body: LinkBody = { purpose, version, by: null, reason: isAsked ? null : 'restored' }
  const fact = { ...factOf(metadata), key: linkKey(purpose, version), kind: LINK_FACT, body }
  await deps.ledger.appendFact({
    ...fact,
    state: 'accepted',
    at: deps.now().toISOString(),
    ...(event && { event }),
  })
  if (event) deps.onQueued()
}

/** The place first: a repeat after a crash finds it held. */
export const takeResend = async (deps: InvoiceDeps, step: InvoiceStepOf<'takeResend'>, object: InvoiceResource) => {
  const { seq, n, isFree } = step
  const quota = isFree ? null : await quotaFor(deps, object, n)
  const base = { resource: object.metadata.name, seq, at: deps.now().toISOString() }
  await deps.ledger.decideFact(
    quota?.outcome === 'refused'
      ? { ...base, state: 'refused', refusedCode: 'SEND_CAP', outcome: { detail: quota.detail } }
      : { ...base, state: 'accepted' },
  )
}
