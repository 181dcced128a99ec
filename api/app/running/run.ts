/** POST …/run: one command in a container of its own, in the release that is live (rules/app.md#one-off-commands). */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { APP } from '../../../crds/app/kind.ts'
import { faultsOfCommand } from '../../../crds/app/runs/faults.ts'
import { type NewRun, RUNS_OPEN_MAX } from '../../../crds/app/runs/run.ts'
import { TIMEOUT_SECONDS } from '../../../crds/app/runs/schema.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { nameFor } from '../../command/name.ts'
import { wakeStored } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { runCommand } from './commands.ts'
import { faultsOfEnv, refuseLarge } from './env.ts'
import { runPath, shownRun } from './read.ts'

type RunBody = { service: string; command: string[]; env?: Record<string, string>; timeout_seconds?: number }

const refuse = async (deps: AppNeeds, row: MirrorRow<AppView>, { service, command, env = {} }: RunBody) => {
  const live = await deps.apps.live(row.name)
  if (!live) throw new Problem('NOT_RELEASED', 'Nothing of this app runs yet.')
  const services = live.record?.services ?? []
  const detail = `Release ${live.number} has the services ${services.join(', ')}.`
  const unknown = services.includes(service) ? [] : [{ code: 'INVALID_FIELD' as const, pointer: '/service', detail }]
  refuseFaults([...unknown, ...faultsOfCommand(command, '/command'), ...faultsOfEnv(env)])
  refuseLarge(env)
}

const newRun = (row: MirrorRow<AppView>, id: string, body: RunBody): NewRun => ({
  id,
  app: row.name,
  account: row.account,
  cause: 'asked',
  service: body.service,
  command: body.command,
  timeoutSeconds: body.timeout_seconds ?? TIMEOUT_SECONDS,
  repeatable: false,
  envKeys: Object.keys(body.env ?? {}).sort(),
  operation: null,
  attempt: 1,
  schedule: null,
  dueAt: null,
  release: null,
  skipped: null,
})

export const runInApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const body = request.body as RunBody
  const { env = {}, ...rest } = body
  // The command itself stands in the run, for whoever may read that.
  const keys = Object.keys(env).map((key) => `env.${key}`)
  request.audited = { fields: [...Object.keys(rest), ...keys] }
  await refuse(deps, row, body)
  const id = nameFor('op', request)
  request.audited.resource = runPath(id)
  return settle(deps, request, runCommand, {
    ...apps.commandOn(row),
    async act() {
      const { outcome } = await deps.runs.ask(newRun(row, id, body), env, deps.now().toISOString())
      if (outcome === 'full') {
        throw new Problem('QUEUE_FULL', `${RUNS_OPEN_MAX} commands of ${row.name} wait or run already.`)
      }
      if (outcome === 'mismatch') {
        throw new Problem('IDEMPOTENCY_MISMATCH', 'The key was used for an operation of another app.')
      }
      await wakeStored(deps, APP, row.name)
      return { run: id }
    },
    pending: () => shownRun(deps, id),
    operation: () => ({ id, path: runPath(id) }),
  })
}
