/** Who sees which hosts: owners their own, holders of the capability those of the platform, administrators all. */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { HOST } from '../../crds/host/kind.ts'
import { type HostView, PLATFORM, withoutWayIn } from '../../crds/host/view.ts'
import type { Whose } from '../command/own.ts'
import type { Caller } from '../http/caller.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { HostNeeds } from './needs.ts'

const LIMIT_DEFAULT = 50

export const isAdmin = ({ profile }: Caller): boolean => profile.role === 'admin'

/** Those of others are an administrator's to change. */
export const whoseHost = ({ caller }: Pick<ApiRequest, 'caller'>): Whose =>
  isAdmin(caller) ? { because: 'role' } : { account: caller.account }

export const pathOf = (id: string): string => `/api/apps/hosts/${id}`

const missing = (id: string): Problem => new Problem('NOT_FOUND', `There is no host ${id}.`)

/** As the caller may see it: how to get in is for who runs it. */
export const shown = (caller: Caller, account: string, view: HostView): Partial<HostView> =>
  account === caller.account || isAdmin(caller) ? view : withoutWayIn(view)

const isForAll = ({ account, view }: MirrorRow<HostView>): boolean =>
  account === PLATFORM && ['shared', 'platform'].includes(view.class)

/** A host that the caller may use. @throws Problem NOT_FOUND, also for another account's */
const seenRow = async (deps: HostNeeds, { params, caller }: ApiRequest): Promise<MirrorRow<HostView>> => {
  const id = params.id ?? ''
  const row = await deps.mirror.get(HOST, id, { because: 'shared' })
  if (!row || !(row.account === caller.account || isAdmin(caller) || isForAll(row))) throw missing(id)
  return row
}

/** A host that the caller runs. @throws Problem NOT_FOUND for any other */
export const ownRow = async (deps: HostNeeds, request: ApiRequest): Promise<MirrorRow<HostView>> => {
  const row = await seenRow(deps, request)
  if (row.account !== request.caller.account && !isAdmin(request.caller)) throw missing(row.name)
  return row
}

export const getHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const { account, view } = await seenRow(deps, request)
  return { status: 200, body: { host: shown(request.caller, account, view) } }
}

export const listHosts = async (deps: HostNeeds, { caller, query }: ApiRequest): Promise<Answer> => {
  const page = { limit: Number(query.limit ?? LIMIT_DEFAULT), offset: Number(query.offset ?? 0) }
  const { hosts, total } = await deps.hosts.list(isAdmin(caller) ? null : caller.account, page)
  const all = hosts.map(({ account, view }) => shown(caller, account, view))
  return { status: 200, body: { hosts: all, total, ...page } }
}
