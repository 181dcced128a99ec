/** What all steps of apps share: what they work with, what they give back, and how an operation passes and ends. */

import { APP } from '../../../../crds/app/kind.ts'
import type { EventNamed } from '../../../../crds/app/lifecycle/events.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import { urlOf } from '../../../../crds/app/url.ts'
import type { AppWorld, Operation } from '../../../../crds/app/world.ts'
import type { EventType, NewEvent } from '../../../../crds/kernel/event.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { AppStore } from '../../../store/app/app.ts'
import type { AppLedger } from '../../../store/app/operations.ts'
import { applyDecision } from '../apply.ts'
import type { makeImages } from '../images.ts'
import type { Logs } from '../logs.ts'
import type { Observations } from '../observation.ts'
import { targetHostOf } from '../observe.ts'
import type { Releases } from '../release.ts'

export type ActDeps = {
  ledger: AppLedger
  store: Pick<AppStore, 'takeSlug'>
  releases: Releases
  logs: Logs
  hosts: Hosts
  observations: Observations
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

export const eventOf = (
  type: EventType,
  { metadata, spec }: AppResource,
  operation: Operation,
  hosts: Hosts,
): NewEvent => ({
  kind: APP.kind,
  account: spec.account,
  type,
  data: {
    app: {
      id: metadata.name,
      slug: spec.slug,
      url: urlOf(spec, targetHostOf(hosts.facts(spec.hostId))),
      release: operation.release,
      operation_id: operation.id,
      kind: operation.kind,
    },
  },
})

/** Ends an operation, with its log as far as it may be shown. */
export const end = async (
  context: ActContext,
  object: AppResource,
  step: Omit<StepOf<'end'>, 'do'>,
): Promise<Apply> => {
  const { operation, state, code, message } = step
  const isFailure = state === 'failed' || state === 'unknown'
  const told = isFailure ? { told: eventOf('app.release_failed', object, operation, context.hosts) } : {}
  const redact = await context.logs.redactFor(object.metadata.name, operation.release)
  const log = step.log && redact(step.log).slice(-LOG_KEPT)
  const event = { on: state, code, message: redact(message), log }
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
