/** Steps that tell how far an operation is, and keep what its jobs say. */
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { ActContext, Apply, StepOf } from './context.ts'

export const keepLog = async (
  context: ActContext,
  { metadata }: AppResource,
  { operation, release, step, output }: StepOf<'keepLog'>,
): Promise<Apply> => {
  const redact = await context.logs.redactFor(metadata.name, release.number)
  await context.progress.keep({ operation, release, step }, output, redact)
  return (world) => {
    if (world.job === null || world.job.state === 'absent') return world
    const { output: _kept, ...job } = world.job
    return { ...world, job }
  }
}
