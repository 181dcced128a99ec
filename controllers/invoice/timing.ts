/** What happens by itself: reminders that somebody asks for, the schedule, repetition, and the end of a test. */
import { INVOICE } from '../../crds/invoice/kind.ts'
import type { InvoiceResource } from '../../crds/invoice/plan.ts'
import { anchorKey, periodKey, withAnchor, withPeriod } from '../../crds/invoice/recurrence.ts'
import type { InvoiceSpec } from '../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../crds/invoice/world.ts'
import type { Resource } from '../../crds/object.ts'
import { GROUP, VERSION } from '../../crds/object.ts'
import { isAlreadyExists, isNotFound, Waiting } from '../runtime/errors.ts'
import { placeOf } from './decide.ts'
import type { InvoiceDeps, Step } from './deps.ts'

/** The verdict and its mail stand in one transaction. */
export const remind = async (deps: InvoiceDeps, step: Step<'remind'>, { metadata }: InvoiceResource) => {
  const base = { resource: metadata.name, seq: step.seq, at: deps.now().toISOString() }
  if (!step.accept) {
    const { code: refusedCode, detail } = step
    await deps.schedule.decide({ ...base, state: 'refused', refusedCode, outcome: { detail } }, null)
    return
  }
  await deps.schedule.decide({ ...base, state: 'accepted', outcome: step.outcome }, step.mail ?? null)
  if (step.mail) deps.onQueued()
}

export const schedule = async (deps: InvoiceDeps, { rows }: Step<'schedule'>, { metadata }: InvoiceResource) => {
  await deps.schedule.put({ kind: INVOICE.kind, resource: metadata.name, rows })
  const now = deps.now().getTime()
  if (rows.some(({ dueAt }) => Date.parse(dueAt) <= now)) deps.onScheduled()
  return (world: InvoiceWorld): InvoiceWorld => ({ ...world, scheduled: rows })
}

export const anchor = async (deps: InvoiceDeps, { n, day, from }: Step<'anchor'>, { metadata }: InvoiceResource) => {
  const fact = { resource: metadata.name, key: anchorKey(n), kind: 'recurring', body: { n, day, from } }
  const { fact: stands } = await deps.ledger.appendFact({ ...fact, state: 'accepted', at: deps.now().toISOString() })
  return (world: InvoiceWorld): InvoiceWorld =>
    withAnchor({ ...world, factSeq: Math.max(world.factSeq, stands.seq) }, { n, day, from })
}

/** A place for the send of a child that is to be sent; its number is 1, as of every first send. */
const hasPlace = async (deps: InvoiceDeps, child: InvoiceResource): Promise<boolean> =>
  child.spec.test || (await placeOf(deps, child, 1)).outcome !== 'refused'

/**
 * The place first, then the resource, then the fact: after a crash the same name finds what stands there. Without a place it
 * is left as a draft, which says why.
 */
export const repeat = async (deps: InvoiceDeps, step: Step<'repeat'>, { metadata }: InvoiceResource) => {
  const { period, on, name, spec } = step
  const { namespace } = metadata
  const known = await deps.kube.get<Resource<InvoiceSpec>>(INVOICE, { namespace, name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    return null
  })
  const child = known ?? (await makeChild(deps, { namespace, name, spec }))
  const held = child.spec.recurrenceOf?.held ?? false
  const body = { period, on, id: name, held }
  const fact = { resource: metadata.name, key: periodKey(period), kind: 'period', body }
  const { fact: stands } = await deps.ledger.appendFact({
    ...fact,
    state: 'accepted',
    at: deps.now().toISOString(),
  })
  return (world: InvoiceWorld): InvoiceWorld =>
    withPeriod({ ...world, factSeq: Math.max(world.factSeq, stands.seq) }, { period, on, id: name, held })
}

type Child = { namespace: string; name: string; spec: InvoiceSpec }

const makeChild = async (deps: InvoiceDeps, { namespace, name, spec }: Child): Promise<Resource<InvoiceSpec>> => {
  const made = { apiVersion: `${GROUP}/${VERSION}`, kind: INVOICE.kind, metadata: { name, namespace }, spec }
  const isHeld = spec.send && !(await hasPlace(deps, made as InvoiceResource))
  const { recurrenceOf } = spec
  const child = isHeld && recurrenceOf ? { ...spec, send: false, recurrenceOf: { ...recurrenceOf, held: true } } : spec
  try {
    return await deps.kube.create<Resource<InvoiceSpec>>(INVOICE, { ...made, spec: child })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return deps.kube.get<Resource<InvoiceSpec>>(INVOICE, { namespace, name })
  }
}

/** The ledger first: once the resource is gone nobody asks for it again. */
export const purge = async (deps: InvoiceDeps, { metadata }: InvoiceResource): Promise<never> => {
  const { namespace, name, uid } = metadata
  await deps.schedule.purgeTest(name)
  await deps.kube.delete(INVOICE, { namespace, name }, { uid }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  throw new Waiting('Purging', 'test invoices are kept for 30 days')
}
