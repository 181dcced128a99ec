/**
 * The commands of a release, as runs of its operation. What comes before it is a step: the release goes on when it has ended
 * well, and ends with it. What comes after it has a release that is live already, and undoes nothing.
 */
import type { AppStep } from '../steps.ts'
import type { AppWorld, Operation, Release } from '../world.ts'
import { type AppRun, ATTEMPTS_MAX, type RunCause, releaseRun } from './run.ts'
import type { ReleaseCommands } from './schema.ts'
import type { RunStep } from './steps.ts'

/** What a spec has run with a deploy or a change of the env; a rollback is to depend on nothing that is not proven. */
export const commandsFor = (commands: ReleaseCommands | undefined, kind: Operation['kind']): ReleaseCommands | null => {
  const isAny = commands?.preRelease !== undefined || commands?.postRelease !== undefined
  return isAny && (kind === 'deploy' || kind === 'env') ? (commands as ReleaseCommands) : null
}

const lastRun = ({ runs: { runs } }: AppWorld, { id }: Pick<Operation, 'id'>, cause: RunCause): AppRun | undefined =>
  runs
    .filter((run) => run.operation === id && run.cause === cause)
    .sort((a, b) => a.attempt - b.attempt)
    .at(-1)

/** Nobody knows how it ended, and it may run twice. */
const isToRepeat = ({ state, repeatable, attempt }: AppRun): boolean =>
  state === 'unknown' && repeatable && attempt < ATTEMPTS_MAX

type PreRelease = { operation: Operation; release: Release }

/** @returns nothing while it waits or runs */
export const preReleaseSteps = (world: AppWorld, { operation, release }: PreRelease): AppStep[] => {
  const command = operation.commands?.preRelease
  const passed: AppStep = { do: 'passPreRelease', operation, message: null }
  if (!command) return [passed]
  const run = lastRun(world, operation, 'pre_release')
  const asked = (attempt: number): AppStep[] => [
    { do: 'askRun', run: releaseRun({ operation, release: release.number, attempt }, 'pre_release', command) },
  ]
  if (!run) return asked(1)
  if (isToRepeat(run)) return asked(run.attempt + 1)
  switch (run.state) {
    case 'queued':
    case 'running':
      return []
    case 'succeeded':
      return [{ ...passed, message: run.message }]
    default: {
      const message = run.message ?? 'the command before the release did not end well'
      return [{ do: 'end', operation, state: 'failed', code: run.code ?? 'COMMAND_FAILED', message, log: run.tail }]
    }
  }
}

const operationOf = ({ operations, releases }: AppWorld): { operation: Operation; release: Release } | null => {
  const release = releases.find(({ state }) => state === 'live')
  const operation = operations.find(({ id, state }) => id === release?.operation && state === 'succeeded')
  return release && operation ? { operation, release } : null
}

export const postReleaseSteps = (world: AppWorld): RunStep[] => {
  const found = operationOf(world)
  const command = found?.operation.commands?.postRelease
  if (!found || !command) return []
  const { operation, release } = found
  const run = lastRun(world, operation, 'post_release')
  if (run && !isToRepeat(run)) return []
  const attempt = (run?.attempt ?? 0) + 1
  return [{ do: 'askRun', run: releaseRun({ operation, release: release.number, attempt }, 'post_release', command) }]
}

/** How the live release's own command ended badly; null where it did not, or has not ended. */
export const failedPostRelease = (world: AppWorld): AppRun | null => {
  const found = operationOf(world)
  const run = found && lastRun(world, found.operation, 'post_release')
  return run && ['failed', 'unknown', 'cancelled'].includes(run.state) && !isToRepeat(run) ? run : null
}
