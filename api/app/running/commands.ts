/** Asking for a run, and asking one to stop: both are decided when it has ended. */
import { APP } from '../../../crds/app/kind.ts'
import { viewRun } from '../../../crds/app/runs/view.ts'
import type { AppView } from '../../../crds/app/view.ts'
import type { Command } from '../../command/command.ts'
import type { AnsweringApp } from '../needs.ts'

type RunGoal = { run: string }

const ending = (name: string): Command<RunGoal, AppView, AnsweringApp> => ({
  name,
  kind: APP,
  judge({ run }, row) {
    if (row === undefined) return 'gone'
    return row.view.runs_ended.includes(run) ? 'decided' : 'pending'
  },
  async answer({ runs }, _asking, { run: id }) {
    const run = await runs.run(id)
    return run?.endedAt ? { status: 200, body: { operation_id: id, operation: viewRun(run) } } : null
  },
})

export const runCommand = ending('app.run')
export const cancelRunCommand = ending('app.cancel-run')
