/**
 * What stops for a release and for how long: a service that keeps something runs once, so that the old one ends before the
 * new one begins (rules/app.md#hand-over).
 */
import { type DeployPlan, type ServicePlan, startMs } from '../../compose/printing/plan.ts'
import type { Project } from '../../compose/project.ts'
import type { AppSpec } from '../../schema.ts'
import type { AppIntent } from '../../world.ts'

/** Until the new one answers, when its file says nothing of its health. */
export const HAND_OVER_SECONDS = 10

/** Stateful services that stop. */
export const stopping = ({ services }: Pick<DeployPlan, 'services'>): ServicePlan[] =>
  services.filter(({ downtimeSeconds }) => downtimeSeconds > 0)

/**
 * How long the new one may take to answer. A health check that asks every half minute finds nothing out before.
 * @param stops names of the services that are started anew
 */
export const handOverSeconds = (
  { handOver }: Pick<AppSpec, 'handOver'>,
  { services }: Project,
  stops: readonly string[],
) => {
  if (handOver?.seconds !== undefined) return handOver.seconds
  const checked = services.filter(
    ({ name, health }) => stops.includes(name) && health !== null && !('disable' in health),
  )
  return Math.max(HAND_OVER_SECONDS, ...checked.map(({ health }) => Math.ceil(startMs(health) / 1_000)))
}

/** Whether whoever asked, or the owner once for all, takes a hand-over as it comes. */
export const allowsDowntime = ({ handOver }: Pick<AppSpec, 'handOver'>, { downtime }: Pick<AppIntent, 'downtime'>) =>
  downtime === true || handOver?.downtime === 'allow'

/** What a refusal says; the figures are those of the plan. */
export const sayDowntime = (plan: DeployPlan): string => {
  const names = stopping(plan).map(({ name, downtimeSeconds }) => `${name} for up to ${downtimeSeconds} s`)
  return `The release stops ${names.join(', ')}.`
}
