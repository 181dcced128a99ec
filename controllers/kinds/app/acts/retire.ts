/** Steps that take releases, or all of an app, off its host. */

import { CARRY_JOBS, carries, carryJobOf } from '../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import { dialFileOf } from '../../../../crds/app/lifecycle/route.ts'
import { liveOf } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { downJobOf, jobIdOf } from '../../../../crds/app/steps.ts'
import type { Release } from '../../../../crds/app/world.ts'
import { originOf } from '../../../../crds/kernel/desire/desire.ts'
import type { Job } from '../../../io/hosts/hosts.ts'
import type { AppRows } from '../../../store/app/operations.ts'
import { applyDecision } from '../apply.ts'
import { clearJob, takeDownJob } from '../jobs.ts'
import { type ActContext, type Apply, instantOf, rowsOf, type StepOf } from './context.ts'

const liveSealed = async ({ releases }: ActContext, app: string, rows: AppRows) => {
  const live = liveOf(rows)
  return live ? { number: live.number, sealed: await releases.open(app, live.number) } : null
}

/** Runs a job under an id that it may have had before. */
const startAnew = async ({ hosts }: ActContext, host: string, job: Job) => {
  const link = hosts.link(host)
  if ((await link.jobState(job.id)).state === 'exited') await link.dropJob(job.id)
  return link.startJob(job)
}

/** Jobs of all that was done with a release: of what made it, and of its scales. */
export const jobsOf = (
  { operations }: Pick<AppRows, 'operations'>,
  { operation, number }: Pick<Release, 'operation' | 'number'>,
): string[] => {
  const own = operations.filter(({ release }) => release === number)
  const ids = new Set([operation, ...own.map(({ id }) => id)])
  const carried = own.filter(carries).flatMap((one) => CARRY_JOBS.map((job) => carryJobOf(one, job)))
  return [...[...ids].flatMap((id) => (['images', 'start'] as const).map((step) => jobIdOf({ id }, step))), ...carried]
}

export const takeDown = async (
  context: ActContext,
  object: AppResource,
  { release, restoresBase }: StepOf<'takeDown'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const rows = await rowsOf(context, { metadata, spec })
  const live = restoresBase ? await liveSealed(context, metadata.name, rows) : null
  const id = downJobOf(originOf(metadata), release.number)
  const job = takeDownJob(object, release, { id, restoresBase, live, releases: rows.releases })
  const state = await startAnew(context, spec.hostId, job)
  return (world) => ({ ...world, retiring: { ...world.retiring, [release.number]: state } })
}

export const retire = async (
  context: ActContext,
  object: AppResource,
  { release, log }: StepOf<'retire'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  if (log !== null) await context.logs.keepLast(metadata.name, release, log)
  const link = context.hosts.link(spec.hostId)
  const made = { id: release.operation, app: metadata.name }
  // Nothing of one without a record ever reached the host.
  if (release.record !== null) {
    const jobs = jobsOf(await rowsOf(context, object), release)
    await link.dropJob(downJobOf(originOf(metadata), release.number), ...jobs)
  }
  const change = { operation: made, event: { on: 'retired' as const }, at: instantOf(context) }
  return applyDecision(await context.ledger.change(change))
}

export const clear = async (context: ActContext, object: AppResource): Promise<Apply> => {
  const { metadata, spec } = object
  const rows = await rowsOf(context, { metadata, spec })
  const facts = context.hosts.facts(spec.hostId)
  const dialFile = facts && dialFileOf(originOf(metadata), facts)
  const job = clearJob(object, { id: downJobOf(originOf(metadata), 'all'), releases: rows.releases, dialFile })
  const state = await startAnew(context, spec.hostId, job)
  return (world) => ({ ...world, job: state })
}

/** What it had on its host has gone; what was said of that goes with its rows. Of a host that is no more nothing is left. */
export const forget = async (context: ActContext, object: AppResource): Promise<Apply> => {
  const { metadata, spec } = object
  const rows = await rowsOf(context, object)
  const open = rows.releases.filter(({ retiredAt }) => retiredAt === null)
  // Whoever is killed before its rows go takes it down again, and finds nothing.
  if (context.hosts.facts(spec.hostId) && rows.releases.length > 0) {
    const jobs = open.flatMap((release) => jobsOf(rows, release))
    await context.hosts.link(spec.hostId).dropJob(downJobOf(originOf(metadata), 'all'), ...jobs)
  }
  await context.ledger.forget(metadata.name, spec.volumesOnDelete === 'keep')
  return undefined
}
