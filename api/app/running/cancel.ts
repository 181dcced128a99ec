/** Asking a run to stop. */
import { APP } from '../../../crds/app/kind.ts'
import type { AppRun } from '../../../crds/app/runs/run.ts'
import { sameOwner } from '../../command/own.ts'
import { wakeStored } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { cancelRunCommand } from './commands.ts'
import { runPath, shownRun } from './read.ts'

/** What has ended has ended: it is shown as it is. */
export const cancelRun = (
  deps: AppNeeds,
  request: ApiRequest,
  { id, app, account, endedAt }: AppRun,
): Promise<Answer> => {
  if (endedAt !== null) throw new Problem('TOO_LATE', `${id} has ended.`)
  return settle(deps, request, cancelRunCommand, {
    name: app,
    whose: sameOwner({ account }),
    resource: runPath(id),
    async act() {
      await deps.runs.cancel(id, deps.now().toISOString())
      await wakeStored(deps, APP, app)
      return { run: id }
    },
    pending: () => shownRun(deps, id),
    operation: () => ({ path: runPath(id) }),
  })
}
