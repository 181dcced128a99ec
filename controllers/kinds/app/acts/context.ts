/** What all steps of apps share: what they work with, what they give back, and how an operation passes and ends. */

import { APP } from '../../../../crds/app/kind.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import { urlOf } from '../../../../crds/app/url.ts'
import type { AppWorld, Operation, Release } from '../../../../crds/app/world.ts'
import type { EventType, NewEvent } from '../../../../crds/kernel/event.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { AppStore } from '../../../store/app/app.ts'
import type { AppLedger, KnownRelease } from '../../../store/app/operations.ts'
import { applyEnded, applyPassed } from '../apply.ts'
import type { makeImages } from '../images.ts'
import type { Logs } from '../logs.ts'
import type { Observations } from '../observation.ts'
import { targetHostOf } from '../observe.ts'
import type { Releases } from '../release.ts'

export type ActDeps = {
  ledger: AppLedger
  store: Pick<AppStore, 'takeSlug' | 'ask'>
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
  const at = instantOf(context)
  const isFailure = state === 'failed' || state === 'unknown'
  const event = isFailure ? eventOf('app.release_failed', object, operation, context.hosts) : null
  const redact = await context.logs.redactFor(object.metadata.name, operation.release)
  const shown = redact(message)
  const log = step.log && redact(step.log).slice(-LOG_KEPT)
  const done = await context.ledger.end({ ...step, message: shown, log, event, at })
  return done ? applyEnded(operation, { state, code, message: shown }, at) : undefined
}

type Passing = { operation: Operation; step: string; known?: KnownRelease; sealed?: Buffer; message?: string }

/** Notes that an operation has passed a step, and what is known of its release by it. */
export const pass = async (context: ActContext, passing: Passing): Promise<Apply> => {
  const { operation, step, known = {}, sealed, message } = passing
  const at = instantOf(context)
  const row = { operation, step, known, sealed: sealed ?? null, message: message ?? null, at }
  const passed = await context.ledger.pass(row)
  return passed ? applyPassed(operation, known as Partial<Release>, at) : undefined
}
