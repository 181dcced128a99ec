/** What all steps of apps share: what they work with, what they give back, and how an operation passes and ends. */

import { APP } from '../../../../crds/app/kind.ts'
import type { EventNamed } from '../../../../crds/app/lifecycle/events.ts'
import { linesIn } from '../../../../crds/app/lifecycle/logs/fold.ts'
import { urlOf } from '../../../../crds/app/lifecycle/publishing/url.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import type { AppWorld, Operation } from '../../../../crds/app/world.ts'
import type { EventType, NewEvent } from '../../../../crds/kernel/event.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { AppStore } from '../../../store/app/app.ts'
import type { AppEpisodes } from '../../../store/app/episodes.ts'
import type { AppLedger } from '../../../store/app/operations.ts'
import { applyDecision } from '../apply.ts'
import type { HealthCounts } from '../health/metrics.ts'
import type { Observations } from '../health/observation.ts'
import type { makeImages } from '../images.ts'
import type { Logs } from '../logs/logs.ts'
import type { StepProgress } from '../logs/progress.ts'
import { targetHostOf } from '../observe.ts'
import type { Releases } from '../release.ts'
import type { Builds } from './builds.ts'
import type { BudgetRefusals } from './refusals.ts'

export type ActDeps = {
  ledger: AppLedger
  store: Pick<AppStore, 'takeSlug' | 'takeRoom'>
  refusals: BudgetRefusals
  builds: Builds
  releases: Releases
  logs: Logs
  hosts: Hosts
  observations: Observations
  progress: StepProgress
  episodes: AppEpisodes
  counts: HealthCounts
  now: () => Date
}

export type ActContext = ActDeps & {
  images: ReturnType<typeof makeImages>
  /** Operations whose images were all found on the host, and what it said of them. Who forgets it runs the job. */
  here: Map<string, string>
}

export type StepOf<Do extends AppStep['do']> = Extract<AppStep, { do: Do }>
/** What the answer of a step says of the world. */
export type Apply = ((world: AppWorld) => AppWorld) | undefined

/** Characters of a log that a release keeps. */
const LOG_KEPT = 8_000

/** Now, as rows keep it. */
export const instantOf = ({ now }: ActContext): string => now().toISOString()

export const rowsOf = (context: ActContext, { metadata, spec }: Pick<AppResource, 'metadata' | 'spec'>) =>
  context.ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: instantOf(context) })

/** What a preview is told with: of which app and branch it is, and until when. */
const previewFact = ({ previewOf }: AppResource['spec']): object =>
  previewOf ? { preview_of: { app: previewOf.app, ref: previewOf.ref, expires_at: previewOf.expiresAt } } : {}

/** What is told of an app: which one it is, and `more` about it. */
export const eventAbout = (type: EventType, { metadata, spec }: AppResource, hosts: Hosts, more: object): NewEvent => {
  const url = urlOf(spec, targetHostOf(hosts.facts(spec.hostId)))
  return {
    kind: APP.kind,
    account: spec.account,
    type,
    data: { app: { id: metadata.name, slug: spec.slug, url, ...previewFact(spec), ...more } },
  }
}

export const eventOf = (
  type: EventType,
  object: AppResource,
  { release, id, kind }: Pick<Operation, 'id' | 'release' | 'kind'>,
  hosts: Hosts,
): NewEvent => eventAbout(type, object, hosts, { release, operation_id: id, kind })

/** The last lines of a job's log, without what is ours to read. */
const shownTail = ({ steps }: Operation, log: string): string => {
  const isStart = steps.find(({ state }) => state === 'running')?.name === 'start'
  return linesIn(isStart ? 'start' : 'images', log)
    .join('\n')
    .slice(-LOG_KEPT)
}

/** Ends an operation, with its log as far as it may be shown. */
export const end = async (
  context: ActContext,
  object: AppResource,
  step: Omit<StepOf<'end'>, 'do'>,
): Promise<Apply> => {
  const { operation, state, code, message } = step
  // Of a release that goes on serving nothing has failed.
  const isFailure = (state === 'failed' || state === 'unknown') && operation.kind !== 'scale'
  const told = isFailure ? { told: eventOf('app.release_failed', object, operation, context.hosts) } : {}
  const redact = await context.logs.redactFor(object.metadata.name, operation.release)
  const log = step.log && shownTail(operation, redact(step.log))
  const event = { on: state, code, message: redact(message), log }
  // What runs may have been started again for it, and listen elsewhere.
  context.observations.forget(object.metadata.name)
  context.builds.noteOver(operation.id)
  return applyDecision(await context.ledger.change({ operation, event, at: instantOf(context), ...told }))
}

type Passing = { operation: Operation; sealed?: Buffer } & Pick<EventNamed<'passed'>, 'step'> &
  Partial<EventNamed<'passed'>>

/** Notes that an operation has passed a step, and what is known of its release by it. */
export const pass = async (context: ActContext, passing: Passing): Promise<Apply> => {
  const { operation, step, known = {}, sealed, message = null } = passing
  const event = { on: 'passed' as const, step, known, message }
  const decision = await context.ledger.change({ operation, event, at: instantOf(context), ...(sealed && { sealed }) })
  // The next step's job is not there yet: nobody has started it.
  return applyDecision(decision, { job: { state: 'absent' } })
}
