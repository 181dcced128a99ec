/** Logins of an account for registries: written, listed without their passwords, removed (rules/app.md#registries). */
import type { RegistryRow } from '../../../../controllers/store/app/registries.ts'
import { registryNamed } from '../../../../crds/app/sources/registries.ts'
import { Problem, refuseFaults } from '../../../http/problem.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import type { AppNeeds } from '../../needs.ts'

export const REGISTRIES_MAX = 20

const view = ({ host, username, updatedAt }: RegistryRow) => ({ host, username, updated_at: updatedAt })

/** @throws Problem BAD_REGISTRY */
const hostOf = ({ params }: ApiRequest): string => {
  const written = params.host ?? ''
  const host = registryNamed(written)
  if (host !== null) return host
  const detail = `${JSON.stringify(written.slice(0, 80))} is no registry that everybody can reach.`
  throw new Problem('BAD_REGISTRY', detail, { faults: [{ code: 'BAD_REGISTRY', pointer: '/host', detail }] })
}

export const listRegistries = async (deps: AppNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const registries = await deps.registries.list(caller.account)
  return { status: 200, body: { registries: registries.map(view), total: registries.length } }
}

export const putRegistry = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const host = hostOf(request)
  const { username, password } = request.body as { username: string; password: string }
  request.audited = { fields: [`registry.${host}`] }
  if (username.includes(':')) {
    refuseFaults([{ code: 'BAD_REGISTRY', pointer: '/username', detail: 'A name of a user holds no colon.' }])
  }
  const { account } = request.caller
  const known = await deps.registries.list(account)
  if (known.length >= REGISTRIES_MAX && known.every((one) => one.host !== host)) {
    throw new Problem(
      'REGISTRY_LIMIT',
      `The account has logins for ${known.length} registries, at most ${REGISTRIES_MAX}.`,
    )
  }
  return { status: 200, body: { registry: view(await deps.registries.put(account, { host, username, password })) } }
}

export const deleteRegistry = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const host = hostOf(request)
  request.audited = { fields: [`registry.${host}`] }
  const wasThere = await deps.registries.remove(request.caller.account, host)
  if (!wasThere) throw new Problem('NOT_FOUND', `There is no login for ${host}.`)
  return { status: 204 }
}
