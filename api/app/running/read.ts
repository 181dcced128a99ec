/** Runs of the caller's apps, by themselves or as the commands of an operation. */
import type { AppRun, RunCause } from '../../../crds/app/runs/run.ts'
import { viewRun } from '../../../crds/app/runs/view.ts'
import { isOwn } from '../../command/own.ts'
import { Problem } from '../../http/problem.ts'
import type { ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'

/** Null where no run of the caller's has the id: it may be another operation's. */
export const ownRun = async (deps: Pick<AppNeeds, 'runs'>, { params, caller }: ApiRequest): Promise<AppRun | null> => {
  const run = await deps.runs.run(params.operationId ?? '')
  return run && isOwn(run, caller) ? run : null
}

/**
 * The run that is meant by an operation of an app: itself, or the last of its commands, of one step where that is named.
 * @throws Problem NOT_FOUND
 */
export const runOf = async (
  deps: Pick<AppNeeds, 'apps' | 'runs'>,
  { app, id, step }: { app: string; id: string; step: RunCause | undefined },
): Promise<AppRun> => {
  const run = await deps.runs.run(id)
  if (run?.app === app) return run
  const operation = await deps.apps.operation(id)
  if (operation?.app !== app) throw new Problem('NOT_FOUND', `There is no operation ${id} of this app.`)
  const found = operation.runs.filter(({ cause }) => step === undefined || cause === step).at(-1)
  const known = found && (await deps.runs.run(found.id))
  if (!known) throw new Problem('NOT_FOUND', `Operation ${id} has run no command${step ? ` as ${step}` : ''}.`)
  return known
}

export const runPath = (id: string): string => `/api/apps/operations/${id}`

/** A run as it stands now. */
export const shownRun = async (deps: Pick<AppNeeds, 'runs'>, id: string) => {
  const run = await deps.runs.run(id)
  return { operation_id: id, ...(run && { operation: viewRun(run) }) }
}
