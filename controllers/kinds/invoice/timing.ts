/** What happens by itself: reminders that somebody asks for, the schedule, repetition, and the end of a test. */

import { randomUUID } from 'node:crypto'
import { anchorKey, periodKey } from '../../../crds/invoice/facts/recurring.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { withAnchor, withPeriod } from '../../../crds/invoice/planning/recurrence.ts'
import type { InvoiceResource, InvoiceSpec } from '../../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import { belongsTo, freshName } from '../../../crds/kernel/fields.ts'
import { GROUP, type Resource, VERSION } from '../../../crds/kernel/object.ts'
import type { Scheduled } from '../../../crds/kernel/schedule.ts'
import { isAlreadyExists, isNotFound, Stalled, Waiting } from '../../base/errors.ts'
import { lostResource } from '../kept.ts'
import { quotaFor } from './decide.ts'
import { factOf, type InvoiceDeps, type InvoiceStepOf } from './deps.ts'

/** The verdict and its mail stand in one transaction. */
export const remind = async (deps: InvoiceDeps, step: InvoiceStepOf<'remind'>, { metadata }: InvoiceResource) => {
  const base = { resource: metadata.name, seq: step.seq, at: deps.now().toISOString() }
  if (!step.accept) {
    const { code: refusedCode, detail } = step
    await deps.schedule.decide({ ...base, state: 'refused', refusedCode, outcome: { detail } }, null)
    return
  }
  await deps.schedule.decide({ ...base, state: 'accepted', outcome: step.outcome }, step.mail ?? null)
  if (step.mail) deps.onQueued()
}

/** What is due by now is not left to the next look at the schedule. */
export const wakeForDue = (deps: InvoiceDeps, rows: readonly Scheduled[]): void => {
  const now = deps.now().getTime()
  if (rows.some(({ dueAt }) => Date.parse(dueAt) <= now)) deps.onScheduled()
}

export const schedule = async (
  deps: InvoiceDeps,
  { rows }: InvoiceStepOf<'schedule'>,
  { metadata }: InvoiceResource,
) => {
  await deps.schedule.put({ kind: INVOICE.kind, resource: metadata.name, rows })
  wakeForDue(deps, rows)
  return (world: InvoiceWorld): InvoiceWorld => ({ ...world, scheduled: rows })
}

export const anchor = async (
  deps: InvoiceDeps,
  { n, day, from }: InvoiceStepOf<'anchor'>,
  { metadata }: InvoiceResource,
) => {
  const fact = { ...factOf(metadata), key: anchorKey(n), kind: 'recurring', body: { n, day, from } }
  const { fact: stands } = await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
  return (world: InvoiceWorld): InvoiceWorld =>
    withAnchor({ ...world, factSeq: Math.max(world.factSeq, stands.seq) }, { n, day, from })
}

/** A place for the send of a child that is to be sent; its number is 1, as of every first send. */
const hasQuota = async (deps: InvoiceDeps, child: InvoiceResource): Promise<boolean> =>
  child.spec.test || (await quotaFor(deps, child, 1)).outcome !== 'refused'

/**
 * The place first, then the resource, then the fact: after a crash the same name finds what stands there. Without a place it
 * is left as a draft, which says why.
 */
export const repeat = async (deps: InvoiceDeps, step: InvoiceStepOf<'repeat'>, { metadata }: InvoiceResource) => {
  const { period, on, spec } = step
  const child = await childUnder(deps, { namespace: metadata.namespace, name: step.name, spec })
  const { name } = child.metadata
  const held = child.spec.recurrenceOf?.held ?? false
  const body = { period, on, id: name, held }
  const fact = { ...factOf(metadata), key: periodKey(period), kind: 'period', body }
  const { fact: stands } = await deps.ledger.appendFact({
    ...fact,
    state: 'accepted',
    at: deps.now().toISOString(),
  })
  return (world: InvoiceWorld): InvoiceWorld =>
    withPeriod({ ...world, factSeq: Math.max(world.factSeq, stands.seq) }, { period, on, id: name, held })
}

type Child = { namespace: string; name: string; spec: InvoiceSpec }

/** In the cluster, or kept of one that was lost: that has its number already, or will have. */
const there = (deps: InvoiceDeps, { namespace, name }: Child): Promise<Resource<InvoiceSpec> | null> =>
  deps.kube.get<Resource<InvoiceSpec>>(INVOICE, { namespace, name }).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error
    const kept = await deps.desires.stored({ kind: INVOICE.kind, name })
    return kept && (lostResource(kept, namespace) as unknown as Resource<InvoiceSpec>)
  })

/** There is no definition, or no namespace, to make it in: it begins in the rows alone, and is made when the cluster is. */
const makeInRows = async (deps: InvoiceDeps, { namespace, name, spec }: Child): Promise<Resource<InvoiceSpec>> => {
  const of = { kind: INVOICE.kind, name, uid: randomUUID(), generation: 1, account: spec.account }
  const createdAt = deps.now().toISOString()
  const asked = { labels: {}, annotations: {}, spec }
  await deps.desires.keep({ ...of, createdAt, desire: asked })
  deps.wake(INVOICE.kind, name)
  const kept = { ...of, ...asked, origin: of.uid, createdAt }
  return lostResource(kept, namespace) as unknown as Resource<InvoiceSpec>
}

/** Under a name that another account has taken there is no child of ours: ours has one that nobody else could have known. */
const childUnder = async (deps: InvoiceDeps, child: Child): Promise<Resource<InvoiceSpec>> => {
  const found = (await there(deps, child)) ?? (await makeChild(deps, child))
  if (belongsTo(found.spec, child.spec.account)) return found
  const own = { ...child, name: freshName('inv', deps.keys.resourceName(`child ${child.spec.account} ${child.name}`)) }
  const second = (await there(deps, own)) ?? (await makeChild(deps, own))
  if (belongsTo(second.spec, child.spec.account)) return second
  throw new Stalled('NAME_TAKEN', `NAME_TAKEN: the name ${own.name} is in use`)
}

const makeChild = async (deps: InvoiceDeps, { namespace, name, spec }: Child): Promise<Resource<InvoiceSpec>> => {
  const made = { apiVersion: `${GROUP}/${VERSION}`, kind: INVOICE.kind, metadata: { name, namespace }, spec }
  const isHeld = spec.send && !(await hasQuota(deps, made as InvoiceResource))
  const { recurrenceOf } = spec
  const child = isHeld && recurrenceOf ? { ...spec, send: false, recurrenceOf: { ...recurrenceOf, held: true } } : spec
  try {
    return await deps.kube.create<Resource<InvoiceSpec>>(INVOICE, { ...made, spec: child })
  } catch (error) {
    if (isNotFound(error)) return makeInRows(deps, { namespace, name, spec: child })
    if (!isAlreadyExists(error)) throw error
    return deps.kube.get<Resource<InvoiceSpec>>(INVOICE, { namespace, name })
  }
}

/** The ledger first: once the resource is gone nobody asks for it again. */
export const purge = async (deps: InvoiceDeps, { metadata }: InvoiceResource): Promise<never> => {
  const { namespace, name, uid } = metadata
  await deps.schedule.purgeTest(name)
  await deps.deletions.ask(INVOICE.kind, [{ name, uid }])
  await deps.kube.delete(INVOICE, { namespace, name }, { uid }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  throw new Waiting('Purging', 'test invoices are kept for 30 days')
}
