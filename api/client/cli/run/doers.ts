/** What the words of a row mean (table/table.ts). */
import type { CommandContext } from '../context.ts'
import type { CommandDoer } from '../table/table.ts'
import { runDeploy, runPlan } from './deploy.ts'
import { runBoxEnv, runBoxEnvReplace, runBoxHalt, runBoxResize, runBoxShow, runBoxStart } from './devbox.ts'
import { runDownload } from './download.ts'
import { runEnvReplace, runEnvSet, runEnvUnset } from './env.ts'
import { runGeneric } from './generic.ts'
import { runKeyAdd, runKeyRemove } from './keys.ts'
import { runBoxConfig, runBoxEnvSend, runBoxKnownHosts, runBoxPorts, runBoxSsh, runBoxStop } from './login.ts'
import { runLogs, runOperation, runReadiness, runStatus } from './looks.ts'
import { runRollback } from './rollback.ts'

/** Gives an exit code: one of the client's own, or that of a program that was run. */
type Doer = (context: CommandContext) => Promise<number>

const DOERS: Readonly<Record<CommandDoer, Doer>> = {
  deploy: runDeploy,
  plan: runPlan,
  rollback: runRollback,
  logs: runLogs,
  status: runStatus,
  readiness: runReadiness,
  operation: runOperation,
  download: runDownload,
  'env-set': runEnvSet,
  'env-unset': runEnvUnset,
  'env-replace': runEnvReplace,
  'box-show': runBoxShow,
  'box-ssh': runBoxSsh,
  'box-config': runBoxConfig,
  'box-known-hosts': runBoxKnownHosts,
  'box-ports': runBoxPorts,
  'box-start': runBoxStart,
  'box-stop': runBoxStop,
  'box-halt': runBoxHalt,
  'box-resize': runBoxResize,
  'box-env': runBoxEnv,
  'box-env-replace': runBoxEnvReplace,
  'box-env-send': runBoxEnvSend,
  'key-add': runKeyAdd,
  'key-remove': runKeyRemove,
}

export const doerOf = ({ command }: Pick<CommandContext, 'command'>): Doer =>
  command.row.by === undefined ? runGeneric : DOERS[command.row.by]
