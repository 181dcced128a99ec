/** Steps by which an app takes its room on the host, and what runs of it is given its budget as it is now. */
import type { Budget, ServiceLimits } from '../../../../crds/app/compose/project.ts'
import { MIB_PER_GIB } from '../../../../crds/app/compose/project.ts'
import { liveOf } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { markedLines } from '../../../../crds/app/start.ts'
import type { Release } from '../../../../crds/app/world.ts'
import { baseProjectOf } from '../jobs.ts'
import { targetHostOf } from '../observe.ts'
import { BUDGET } from '../scripts.ts'
import type { ActContext, Apply, StepOf } from './context.ts'

const DEADLINE_MS = 60_000
/** Exit code of the script for what was refused, and nothing changed. */
const REFUSED = 3

export const takeRoom = async (
  { store }: ActContext,
  { metadata, spec }: AppResource,
  { budget, limits }: StepOf<'takeRoom'>,
): Promise<Apply> => {
  const request = { app: metadata.name, account: spec.account, host: spec.hostId, wanted: budget, limits }
  const { outcome, held, others } = await store.takeRoom(request)
  const room = { held: outcome === 'refused' ? held : budget, others }
  return (world) => ({ ...world, room })
}

const linesOf = (
  { spec }: AppResource,
  { record }: Release,
  { budget, limits }: { budget: Budget; limits: Record<string, ServiceLimits> },
): string[] => {
  const base = (record?.stateful ?? []).length > 0 ? [baseProjectOf(spec.slug)] : []
  const projects = [...base, ...(record?.project ? [record.project] : [])]
  const each = Object.entries(limits).map(
    ([name, { cpuMillis, memoryBytes, pids }]) => `${name} ${cpuMillis / 1_000} ${memoryBytes} ${pids}`,
  )
  return [spec.slug, projects.join(' '), String(budget.diskGib * MIB_PER_GIB), String(each.length), ...each]
}

export const applyBudget = async (
  context: ActContext,
  object: AppResource,
  { release, budget }: StepOf<'applyBudget'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { hosts, ledger, releases, refusals } = context
  const host = targetHostOf(hosts.facts(spec.hostId))
  if (!host) return undefined
  const refuse = (detail: string): Apply => {
    refusals.note(metadata.name, { budget, detail })
    return (world) => ({ ...world, budgetRefusal: { budget, detail } })
  }
  const divided = await releases.limitsFor({ spec, host, release, budget }, metadata.name)
  if ('refused' in divided) return refuse(divided.refused)
  const lines = linesOf(object, release, { budget, limits: divided.limits })
  const { code, stdout, stderr } = await hosts.link(spec.hostId).run({ script: BUDGET, lines, deadlineMs: DEADLINE_MS })
  const said = markedLines(stdout.toString('utf8')).find(([word]) => word === 'reason')
  if (code === REFUSED) return refuse(said?.slice(1).join(' ') ?? 'it uses more')
  if (code !== 0) throw new Error(`the budget was not applied: ${said?.slice(1).join(' ') ?? stderr.slice(-300)}`)
  refusals.forget(metadata.name)
  const { limits } = divided
  await ledger.applyBudget({ app: metadata.name, release: release.number, budget, limits })
  return (world) => {
    const live = liveOf(world)
    const changed = (one: Release): Release => ({ ...one, record: { ...one.record, budget, limits } })
    return { ...world, releases: world.releases.map((one) => (one === live ? changed(one) : one)), budgetRefusal: null }
  }
}
