/**
 * What the spec asks for, against what operations have taken up. A request over REST enters its operation itself and names
 * it in `asked`; whatever the spec says beyond that was written by hand (rules/app.md#desire-of-an-app).
 */
import { createHash } from 'node:crypto'
import type { AppResource, AppSpec } from './schema.ts'
import type { AppStep } from './steps.ts'
import type { AppIntent, AppWorld, Operation } from './world.ts'

/** Whether the resource itself vouches for it. */
export const isAsked = (operation: Operation, spec: AppSpec): boolean =>
  operation.byController || operation.n <= spec.asked

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

const envOf = ({ intent }: Operation): number | null => (intent.kind === 'rollback' ? null : intent.envVersion)

/** One id for what one generation of one resource asks, so that a killed pass asks for it once. */
const idOf = ({ metadata }: AppResource, intent: AppIntent): string => {
  const text = JSON.stringify([metadata.uid, metadata.generation, intent])
  return `op-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

/** The step that takes up what no operation has; null when the spec says nothing new. */
export const unlinkedIntent = (object: AppResource, world: AppWorld): AppStep | null => {
  const { spec } = object
  const asked = world.operations.filter((operation) => isAsked(operation, spec))
  const wanted = releaseIntentOf(spec)
  const lastRelease = asked.filter(({ kind }) => kind !== 'env').at(-1)
  if (wanted && !(lastRelease && meetsRelease(lastRelease.intent, wanted))) {
    return { do: 'ask', id: idOf(object, wanted), intent: wanted }
  }
  const lastEnv = asked.filter(({ kind }) => kind !== 'rollback').at(-1)
  if (spec.envVersion === undefined || (lastEnv && envOf(lastEnv) === spec.envVersion)) return null
  const intent: AppIntent = { kind: 'env', envVersion: spec.envVersion }
  return { do: 'ask', id: idOf(object, intent), intent }
}
