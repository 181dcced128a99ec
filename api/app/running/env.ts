/**
 * The env of an app: names may be read, values never. PATCH merges and restarts; PUT replaces and is stored only
 * (rules/app.md#environment).
 */

import { isPlatformName } from '../../../crds/app/compose/reading/interpolate.ts'
import { APP } from '../../../crds/app/kind.ts'
import type { AppView } from '../../../crds/app/view.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { wakeStored } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { layingReady } from '../../command/written.ts'
import { refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { askFor } from '../ask.ts'
import { envCommand } from '../commands.ts'
import { confirmedDowntime, refuseDowntime } from '../deploy.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { changeOf as releaseChange } from '../sources/rollback.ts'

export const ENV_KEYS_MAX = 500
export const ENV_VALUE_MAX = 32_768
/** Names and values together, in bytes. */
export const ENV_BYTES_MAX = 262_144
export const ENV_KEY_PATTERN = '^[A-Za-z_][A-Za-z0-9_]{0,127}$'

type Change = Record<string, string | null>
type Env = Record<string, string>

const KEY = new RegExp(ENV_KEY_PATTERN)

export const faultsOfEnv = (change: Change): Fault[] =>
  Object.entries(change).flatMap(([key, value]): Fault[] => {
    const fault = (detail: string): Fault[] => [{ code: 'BAD_ENV', pointer: `/env/${key.slice(0, 128)}`, detail }]
    if (!KEY.test(key)) return fault('The name is not one of a variable.')
    if (isPlatformName(key)) return fault('The name belongs to the platform.')
    if (value?.includes('\0')) return fault('The value holds NUL.')
    return []
  })

export const refuseLarge = (env: Env): void => {
  const bytes = Object.entries(env).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('=')), 0)
  const keys = Object.keys(env).length
  if (keys <= ENV_KEYS_MAX && bytes <= ENV_BYTES_MAX) return
  const detail = `The env has ${keys} names and ${bytes} bytes; ${ENV_KEYS_MAX} and ${ENV_BYTES_MAX} are allowed.`
  refuseFaults([{ code: 'BAD_ENV', pointer: '/env', detail }])
}

const changeOf = (request: ApiRequest): Change => {
  const { env } = request.body as { env: Change }
  refuseFaults(faultsOfEnv(env))
  // The audit keeps names.
  request.audited = { fields: Object.keys(env).map((key) => `env.${key}`) }
  return env
}

const withChange = (env: Env, change: Change): Env => {
  const left = Object.entries({ ...env, ...change }).filter((pair): pair is [string, string] => pair[1] !== null)
  const after = Object.fromEntries(left.sort(([a], [b]) => (a < b ? -1 : 1)))
  refuseLarge(after)
  return after
}

type EnvView = AppView['env']

export const getEnv = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { version, keys } = await deps.apps.envKeys(row.name)
  const env: EnvView = { stored_version: version, applied_version: row.view.env.applied_version, keys }
  return { status: 200, body: { env } }
}

export const patchEnv = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const change = changeOf(request)
  const live = await deps.apps.live(row.name)
  // Every service is given the env, and is started anew with another.
  if (live) refuseDowntime(request, row, await releaseChange(deps, row.name, live.number, false))
  return layingReady({
    lay: () => deps.apps.putEnv(row.name, (now) => withChange(now, change)),
    use: ({ version, env }) =>
      askFor(deps, request, {
        row,
        intent: { kind: 'env', envVersion: version, ...confirmedDowntime(request) },
        desire: { envVersion: version },
        more: { env: { stored_version: version, keys: Object.keys(env).sort() } },
      }),
    giveBack: async ({ version, isNew }) => isNew && deps.apps.takeBackEnv(row.name, version),
  })
}

export const putEnv = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const change = changeOf(request)
  return settle(deps, request, envCommand, {
    ...apps.commandOn(row),
    async act() {
      const { version, env } = await deps.apps.putEnv(row.name, () => withChange({}, change))
      await wakeStored(deps, APP, row.name)
      return { version, keys: Object.keys(env).sort() }
    },
    async pending({ version, keys }) {
      const env: EnvView = { stored_version: version, applied_version: row.view.env.applied_version, keys }
      return { env }
    },
  })
}
