/** Steps about a live release that is not as it should be: noted, put right, told as well again, or left for the one before. */
import { originOn } from '../../../../crds/app/compose/printing/bridges.ts'
import { printProject } from '../../../../crds/app/compose/printing/print.ts'
import type { Mend } from '../../../../crds/app/lifecycle/health/seen.ts'
import { scaledProject } from '../../../../crds/app/lifecycle/scaling/replicas.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { pinnedProject } from '../../../../crds/app/sealed.ts'
import { keepsApart } from '../../../../crds/host/isolation.ts'
import type { NewEvent } from '../../../../crds/kernel/event.ts'
import { applyDecision } from '../apply.ts'
import { evidenceOf, sayWith } from '../health/evidence.ts'
import { lineOf } from '../jobs.ts'
import { MEND } from '../scripts.ts'
import { type ActContext, type Apply, eventAbout, eventOf, instantOf, type StepOf } from './context.ts'

/** Of all that is put right in one go: below the limit of a step. */
const MEND_DEADLINE_MS = 110_000
const MILLIS = 1_000

type Told = {
  type: 'app.unhealthy' | 'app.recovered'
  release: number
  code: string
  service: string | null
  exitCode: number | null
  detail: string
}

/** Ids, codes and figures; what a container said stands in the app alone. */
const healthEvent = ({ hosts }: ActContext, object: AppResource, told: Told): NewEvent => {
  const { type, release, code, service, exitCode, detail } = told
  return eventAbout(type, object, hosts, { release, code, service, exit_code: exitCode, detail })
}

export const noteUnhealthy = async (
  context: ActContext,
  object: AppResource,
  { release, finding, findings, instead }: StepOf<'noteUnhealthy'>,
): Promise<Apply> => {
  const { name } = object.metadata
  const { code, service } = finding
  const evidence = await evidenceOf(context, object, release, finding)
  const more = findings > 1 ? `; and ${findings - 1} more` : ''
  const detail = `${sayWith(finding, evidence)}${more}`
  const { exitCode, log } = evidence
  const told = { type: 'app.unhealthy', release: release.number, code, service, exitCode, detail } as const
  const episode = { release: release.number, code, service, exitCode, detail, log, instead: instead?.n ?? null }
  await context.episodes.begin(name, episode, healthEvent(context, object, told), instantOf(context))
  context.counts.unhealthy(object.spec.hostId, code)
  const open = await context.episodes.open(name)
  return (world) => ({ ...world, episode: open })
}

export const noteRecovered = async (
  context: ActContext,
  object: AppResource,
  { episode }: StepOf<'noteRecovered'>,
): Promise<Apply> => {
  const { n, release, code, service, exitCode, detail } = episode
  const told = { type: 'app.recovered', release, code, service, exitCode, detail } as const
  await context.episodes.end(object.metadata.name, n, healthEvent(context, object, told), instantOf(context))
  context.counts.recovered(object.spec.hostId)
  return (world) => ({ ...world, episode: null })
}

const mendLine = (mend: Mend): string => {
  const words = [mend.do, mend.project, mend.name]
  if (mend.do !== 'limit') return words.join(' ')
  const { cpuMillis, memoryBytes, pids } = mend.limits
  return [...words, cpuMillis / MILLIS, memoryBytes, pids].join(' ')
}

/** The try is counted before it is made: one that was counted and never made is followed by the next. */
export const mend = async (
  context: ActContext,
  object: AppResource,
  { release, episode, mends }: StepOf<'mend'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { hosts, releases, episodes, observations, counts } = context
  const at = instantOf(context)
  if (!(await episodes.attempt(metadata.name, episode, at))) return undefined
  const sealed = await releases.open(metadata.name, release.number)
  const { base, release: stateless } = printProject(
    scaledProject(pinnedProject(sealed), release.record),
    release.number,
    originOn(object),
  )
  const isGuarded = keepsApart(hosts.facts(spec.hostId))
  const lines = [
    ...[spec.slug, String(release.number), isGuarded ? 'guarded' : ''],
    ...[base?.project ?? '', lineOf(base), stateless?.project ?? '', lineOf(stateless)],
    ...[String(mends.length), ...mends.map(mendLine)],
  ]
  const { code } = await hosts.link(spec.hostId).run({ script: MEND, lines, deadlineMs: MEND_DEADLINE_MS })
  counts.mended(spec.hostId, code === 0 ? 'done' : 'failed')
  observations.lookAgain(metadata.name)
  const tried = { ...episode, attempts: episode.attempts + 1, attemptedAt: at }
  return (world) => ({ ...world, episode: tried, look: null })
}

/** The rows first: the route follows them, and so does the end of what was bad. */
export const returnTo = async (
  context: ActContext,
  object: AppResource,
  { from, to, findings }: StepOf<'returnTo'>,
): Promise<Apply> => {
  const [worst] = findings
  if (!worst) return undefined
  const { metadata, spec } = object
  const evidence = await evidenceOf(context, object, from, worst)
  const said = [sayWith(worst, evidence), ...findings.slice(1).map(({ detail }) => detail)].join('; ')
  const message = `release ${from.number} was bad after the switch: ${said}; release ${to.number} serves again`
  const operation = { id: from.operation, app: metadata.name }
  const event = { on: 'returned', before: to, code: 'RELEASE_FAILED', message, log: evidence.log } as const
  const decision = await context.ledger.change({
    ...{ operation, event, at: instantOf(context) },
    toldOf: (ended) => eventOf('app.release_failed', object, ended, context.hosts),
  })
  if (decision.state === 'accepted') context.counts.returned(spec.hostId)
  return applyDecision(decision, { look: null, before: null })
}
