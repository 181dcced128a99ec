import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { waitFor } from '../lib/processes.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'
import { paths, readEnvironment, root, type UpEnvironment } from '../lib/state.ts'
import { type Rotating, removeOld, rotateKey } from '../platform/rotation.ts'

const usage = 'Usage: hack/rotate-key [--remove-old | --status | --root | --retire-root ID]'
const restartMs = 120_000

/** Changes the server key of the platform of this checkout, which has to be up (hack/docs/keys.md). */
async function main(): Promise<number> {
  const asked = readArguments()
  const environment = running()
  if (asked.status) return setup(environment, [])
  if (asked.root) return setup(environment, ['--root'])
  if (asked['retire-root'] !== undefined) return setup(environment, ['--retire-root', asked['retire-root']])
  const rotating: Rotating = {
    databaseUrl: environment.databaseUrl,
    keyFile: paths.secretKey,
    restart: async () => {
      await restarted('operatorPid')
      await restarted('apiPid')
    },
    say: (line) => console.log(line),
  }
  if (asked['remove-old']) await removeOld(rotating)
  else {
    await rotateKey(rotating)
    console.log('The old key opens still; hack/rotate-key --remove-old takes it away.')
  }
  return 0
}

function readArguments() {
  try {
    const flag = { type: 'boolean', default: false } as const
    return parseArgs({
      options: { 'remove-old': flag, status: flag, root: flag, 'retire-root': { type: 'string' } },
    }).values
  } catch (error) {
    throw new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
}

function running(): UpEnvironment {
  const environment = readEnvironment()
  if (environment === null) throw new CommandRefusal('Nothing runs: start hack/up first.')
  return environment
}

/** Ends a process; its supervisor starts it again, and writes down the new one once it is ready. */
async function restarted(name: 'operatorPid' | 'apiPid'): Promise<void> {
  const before = running()[name]
  process.kill(before, 'SIGTERM')
  const isAnother = async () => running()[name] !== before && running()[name] !== 0
  await waitFor('the process to be up again', isAnother, { timeoutMs: restartMs })
}

function setup({ databaseUrl }: UpEnvironment, args: readonly string[]): number {
  const all = ['--disable-warning=ExperimentalWarning', join(root, 'controllers', 'setup.ts'), 'keys', ...args]
  const env = { ...process.env, BOTTEGA_DATABASE_URL: databaseUrl, BOTTEGA_SECRET_KEY_FILE: paths.secretKey }
  return spawnSync(process.execPath, all, { stdio: 'inherit', env }).status ?? 1
}

await runCommand(main)
