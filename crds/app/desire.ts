/**
 * What the spec asks for, against what operations have taken up. A request over REST enters its operation itself and names
 * it in `asked`; whatever the spec says beyond that was written by hand (rules/app.md#desire-of-an-app).
 */
import { createHash } from 'node:crypto'
import { stalled, type Verdict } from '../kernel/plan.ts'
import { FORWARD_SECONDS, targetOf } from './lifecycle/keeping/moving/place.ts'
import type { AppResource, AppSpec } from './schema.ts'
import type { AppStep } from './steps.ts'
import type { AppIntent, AppWorld, Operation } from './world.ts'

/** Whether the resource itself vouches for it. */
export const isAsked = (operation: Operation, spec: AppSpec): boolean =>
  operation.byController || operation.n <= spec.asked

/** A request enters its operation and makes the resource ask for it within moments, or was cut off in between. */
const ASK_LAPSES_MS = 10 * 60_000

/** Operations that nothing vouches for and nobody waits for any more, or that somebody stopped: they go, and are not brought along later. */
export const lapsedSteps = (spec: AppSpec, { operations }: Pick<AppWorld, 'operations'>, now: Date): AppStep[] =>
  operations
    .filter(({ state }) => state === 'queued')
    .filter((operation) => !isAsked(operation, spec))
    .filter(({ cancelAt, createdAt }) => cancelAt !== null || now.getTime() - Date.parse(createdAt) >= ASK_LAPSES_MS)
    .map((operation) => {
      const message = 'the request for it was cut off before anything was begun; ask again'
      return { do: 'end', operation, state: 'cancelled', code: null, message, log: null }
    })

const releaseIntentOf = (spec: AppSpec): AppIntent | null => {
  if (spec.source) {
    return { kind: 'deploy', digest: spec.source.digest, envVersion: spec.envVersion ?? null, volumes: [] }
  }
  return spec.restore ? { kind: 'rollback', ...spec.restore } : null
}

const meetsRelease = (intent: AppIntent, wanted: AppIntent): boolean => {
  if (intent.kind === 'deploy' && wanted.kind === 'deploy') return intent.digest === wanted.digest
  if (intent.kind === 'rollback' && wanted.kind === 'rollback') {
    return intent.release === wanted.release && intent.env === wanted.env
  }
  return false
}

const envOf = ({ intent }: Operation): number | null =>
  intent.kind === 'deploy' || intent.kind === 'env' ? intent.envVersion : null

/** One id for what one generation of one resource asks, so that a killed pass asks for it once. */
export const idOfAsked = ({ metadata }: AppResource, intent: AppIntent, more: readonly unknown[] = []): string => {
  const text = JSON.stringify([metadata.uid, metadata.generation, intent, ...more])
  return `op-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

export const askedIn = (spec: AppSpec, { operations }: Pick<AppWorld, 'operations'>): Operation[] =>
  operations.filter((operation) => isAsked(operation, spec))

const lastReleaseIn = (asked: readonly Operation[]): Operation | undefined =>
  asked.findLast(({ kind }) => kind === 'deploy' || kind === 'rollback')

/** The spec names another release than the one that was asked for over REST last. */
export const isOverRest = (spec: AppSpec, world: Pick<AppWorld, 'operations'>): boolean => {
  const wanted = releaseIntentOf(spec)
  const last = lastReleaseIn(askedIn(spec, world))
  return wanted !== null && last !== undefined && !last.byController && !meetsRelease(last.intent, wanted)
}

/**
 * Why what the spec names is not taken up: it is older than what was asked for over REST since, so whoever applied it did not
 * know of that (rules/app.md#one-writer). An upload is as old as it was sent; an earlier release that was restored once, as that.
 */
export const manifestBehind = ({ spec }: AppResource, world: AppWorld): Verdict | null => {
  if (!isOverRest(spec, world)) return null
  const asked = askedIn(spec, world)
  const last = lastReleaseIn(asked)
  const wanted = releaseIntentOf(spec)
  if (!last || !wanted) return null
  const over = `was asked for over REST at ${last.createdAt} (${last.id})`
  const say = (detail: string) => stalled('MANIFEST_BEHIND', `MANIFEST_BEHIND: ${detail}`)
  if (wanted.kind === 'deploy') {
    const isOlder = world.uploadedAt !== null && world.uploadedAt < last.createdAt
    const sent = `/source the upload ${wanted.digest} was sent at ${world.uploadedAt}, and another release ${over}`
    return isOlder ? say(`${sent}; send it again by POST …/sources, or name a newer one`) : null
  }
  const isAgain = asked.some(({ byController, intent }) => byController && meetsRelease(intent, wanted))
  return isAgain ? say(`/restore that was restored before, and another release ${over}; take it out`) : null
}

/** The move that its spec asks for and none was made of; a spec that names where it lives asks for none. */
export const unlinkedMove = (object: AppResource, world: AppWorld): AppStep | null => {
  const { wanted, home } = world
  const last = askedIn(object.spec, world).findLast(({ kind }) => kind === 'move')
  if (wanted === home || (last && targetOf(last) === wanted)) return null
  const intent: AppIntent = { kind: 'move', host: wanted, forwardSeconds: FORWARD_SECONDS }
  return { do: 'ask', id: idOfAsked(object, intent), intent }
}

/** The step that takes up what no operation has; null when the spec says nothing new. */
export const unlinkedIntent = (object: AppResource, world: AppWorld): AppStep | null => {
  const { spec } = object
  const asked = askedIn(spec, world)
  const wanted = releaseIntentOf(spec)
  const lastRelease = lastReleaseIn(asked)
  const isNew = wanted !== null && !(lastRelease && meetsRelease(lastRelease.intent, wanted))
  if (isNew && !manifestBehind(object, world)) {
    return { do: 'ask', id: idOfAsked(object, wanted), intent: wanted }
  }
  const lastEnv = asked.findLast(({ kind }) => kind === 'deploy' || kind === 'env')
  if (spec.envVersion === undefined || (lastEnv && envOf(lastEnv) === spec.envVersion))
    return unlinkedMove(object, world)
  const intent: AppIntent = { kind: 'env', envVersion: spec.envVersion }
  return { do: 'ask', id: idOfAsked(object, intent), intent }
}
