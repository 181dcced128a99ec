/**
 * The environment of a dev instance: vendor keys and a token of the repository, sealed as soon as they arrive. No answer
 * but `reveal` shows a value, and that only to the owner (rules/devinstance.md#environment).
 */
import { ENV_BYTES_MAX, type Said } from '../../crds/devinstance/protocol.ts'
import type { Fault } from '../../crds/kernel/problem.ts'
import { isOwn } from '../command/own.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { byOf, callDevInstance, callKey } from './call.ts'
import { envCommand } from './commands.ts'
import { changeable, devInstances } from './find.ts'
import type { DevInstanceNeeds } from './needs.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

const faultsOf = (env: Record<string, string>): Fault[] => {
  const bytes = Buffer.byteLength(JSON.stringify(env))
  const bad = Object.keys(env).filter((name) => !NAME.test(name))
  return [
    ...bad.map((name) => ({
      code: 'INVALID_FIELD' as const,
      pointer: `/env/${name.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1')}`,
      detail: 'A name holds letters, digits and _, begins with no digit, and has at most 128 characters.',
    })),
    ...(bytes > ENV_BYTES_MAX
      ? [{ code: 'INVALID_FIELD' as const, pointer: '/env', detail: `${bytes} bytes, at most ${ENV_BYTES_MAX}` }]
      : []),
  ]
}

const namesOf = (env: Record<string, string>): string[] => Object.keys(env).sort()

export const putEnv = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { id } = stored
  const { env } = request.body as { env: Record<string, string> }
  refuseFaults(faultsOf(env))
  const key = callKey('env', request)
  const said: Said['env'] = { key, keys: namesOf(env) }
  return callDevInstance(deps, request, stored, {
    trigger: 'env',
    said,
    key,
    command: envCommand,
    kept: said,
    // Before the fact that makes it the present one; a repeat seals the same values again.
    store: () => deps.devInstances.putEnv(id, key, deps.vault.seal(id, env)),
  })
}

export const revealEnv = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const { id, owner, box: instance } = await devInstances.find(deps, request)
  if (!isOwn({ account: owner }, request.caller)) {
    throw new Problem('FORBIDDEN', `Only the owner of ${id} may see its environment.`)
  }
  const keys = instance.env?.keys ?? []
  if (request.audited) request.audited.fields = keys.map((name) => `env.${name}`)
  const sealed = instance.env && (await deps.devInstances.env(id, instance.env.key))
  const env = sealed ? deps.vault.open(id, sealed) : {}
  // On record before anything is shown.
  const at = deps.now().toISOString()
  await deps.devInstances.note(id, { kind: 'env.revealed', at, by: byOf(request), data: { keys } })
  return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: { env } }
}
