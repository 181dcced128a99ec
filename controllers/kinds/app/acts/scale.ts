/** Steps of a scale, and those by which replicas leave, or end what is open on them. */
import { originOn } from '../../../../crds/app/compose/printing/bridges.ts'
import { printProject } from '../../../../crds/app/compose/printing/print.ts'
import { partsOf } from '../../../../crds/app/lifecycle/health/parts.ts'
import { listenersOf, scaledProject } from '../../../../crds/app/lifecycle/scaling/replicas.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { pinnedProject } from '../../../../crds/app/sealed.ts'
import { jobIdOf } from '../../../../crds/app/steps.ts'
import type { Operation } from '../../../../crds/app/world.ts'
import { applyDecision } from '../apply.ts'
import { CUT, LEAVE } from '../scripts.ts'
import { type ActContext, type Apply, instantOf, type StepOf } from './context.ts'

/** Each of eight has ten seconds to end. */
const LEAVE_DEADLINE_MS = 110_000

export const beginScale = async (context: ActContext, { operation }: StepOf<'beginScale'>): Promise<Apply> => {
  const change = { operation, event: { on: 'scaling' as const }, at: instantOf(context) }
  // Its job is not there yet, as far as anybody knows: whoever starts it finds one that is.
  return applyDecision(await context.ledger.change(change), { job: { state: 'absent' } })
}

export const grown = async (context: ActContext, step: StepOf<'grown'>): Promise<Apply> => {
  const { operation, address, leaving, message } = step
  const event = { on: 'grown' as const, address, leaving, message }
  return applyDecision(await context.ledger.change({ operation, event, at: instantOf(context) }))
}

/** Nobody asks any more how it started what it added. */
const dropJob = async ({ hosts }: ActContext, host: string, operation: Operation): Promise<void> =>
  hosts.link(host).dropJob(jobIdOf(operation, 'start'))

export const scaled = async (
  context: ActContext,
  object: AppResource,
  { operation, release, replicas }: StepOf<'scaled'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const sealed = await context.releases.open(metadata.name, release.number)
  const project = scaledProject(pinnedProject(sealed), release.record, replicas)
  const parts = partsOf(printProject(project, release.number, originOn(object)), project, release.number)
  const change = { operation, event: { on: 'scaled' as const, replicas, parts }, at: instantOf(context) }
  const decision = await context.ledger.change(change)
  // What was seen was as many as ran before.
  context.observations.forget(metadata.name)
  await dropJob(context, spec.hostId, operation)
  return applyDecision(decision, { look: null })
}

export const dropReplicas = async (
  { hosts, ledger, observations, now }: ActContext,
  { metadata, spec }: AppResource,
  { release, names }: StepOf<'dropReplicas'>,
): Promise<Apply> => {
  const lines = [release.record?.project ?? '', names.join(' ')]
  const run = { script: LEAVE, lines, deadlineMs: LEAVE_DEADLINE_MS }
  const { code, stderr } = await hosts.link(spec.hostId).run(run)
  if (code !== 0) throw new Error(`${names.join(', ')} did not leave: ${stderr.slice(-300)}`)
  observations.lookAgain(metadata.name)
  const operation = { id: release.operation, app: metadata.name }
  const event = { on: 'left' as const, names }
  return applyDecision(await ledger.change({ operation, event, at: now().toISOString() }), { look: null })
}

/** Where it was done before, nobody is on them any more. */
export const cutStreams = async (
  { hosts, observations }: ActContext,
  { metadata, spec }: AppResource,
  { release }: StepOf<'cutStreams'>,
): Promise<Apply> => {
  const lines = [release.record?.project ?? '', listenersOf(release.record, release.number).join(' ')]
  const run = { script: CUT, lines, deadlineMs: LEAVE_DEADLINE_MS }
  const { code, stderr } = await hosts.link(spec.hostId).run(run)
  if (code !== 0) throw new Error(`release ${release.number} was not started anew: ${stderr.slice(-300)}`)
  observations.lookAgain(metadata.name)
  return (world) => ({ ...world, before: null, requests: null })
}
