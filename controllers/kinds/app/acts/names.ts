/** Domains that the spec of an app names: claimed, and given back (rules/app.md#domains). */
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppNames } from '../../../store/app/publishing/names.ts'
import type { Apply, StepOf } from './context.ts'

export type NamesDeps = {
  names: Pick<AppNames, 'claim'>
  releaseNames(app: string, keep: readonly string[]): Promise<void>
}

/** What came of it is read again: a claim that another holder of the account was quicker with stands as taken. */
export const claimNames = async (
  { names }: NamesDeps,
  { metadata, spec }: AppResource,
  step: StepOf<'claimNames'>,
): Promise<Apply> => {
  await names.claim(metadata.name, spec.account, step.names, 'settle')
  return undefined
}

export const releaseNames = async (
  { releaseNames }: NamesDeps,
  { metadata }: AppResource,
  { keep }: StepOf<'releaseNames'>,
): Promise<Apply> => {
  await releaseNames(metadata.name, keep)
  return undefined
}
