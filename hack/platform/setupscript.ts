import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { CommandRefusal } from '../lib/refusal.ts'
import { paths, readEnvironment, root } from '../lib/state.ts'

/**
 * Runs `controllers/setup.ts WORK` with the arguments of this command on the platform of this checkout, which has to be up: it serves
 * reads whatever is wrong with it.
 * @returns its exit code
 */
export function runSetup(work: string): number {
  const environment = readEnvironment()
  if (environment === null)
    throw new CommandRefusal('Nothing runs: start hack/up first. It comes up on data that does not fit together, too.')
  const { databaseUrl, kubeconfig, namespace } = environment
  const args = ['--disable-warning=ExperimentalWarning', join(root, 'controllers', 'setup.ts'), work]
  const { status } = spawnSync(process.execPath, [...args, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      KUBECONFIG: kubeconfig,
      BOTTEGA_DATABASE_URL: databaseUrl,
      BOTTEGA_NAMESPACE: namespace,
      BOTTEGA_SECRET_KEY_FILE: paths.secretKey,
    },
  })
  return status ?? 1
}
