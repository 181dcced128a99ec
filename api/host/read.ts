/** Who sees which hosts: owners their own, holders of the capability those of the platform, administrators all. */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { HOST } from '../../crds/host/kind.ts'
import { type HostView, withoutWayIn } from '../../crds/host/view.ts'
import { belongsTo, CLASSES_FOR_ALL, PLATFORM } from '../../crds/kernel/fields.ts'
import { isOwn, type Whose } from '../command/own.ts'
import { makeResources } from '../command/resource.ts'
import type { Caller } from '../http/caller.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { HostNeeds } from './needs.ts'

export const isAdmin = ({ profile }: Caller): boolean => profile.role === 'admin'

/** Those of others are an administrator's to change. */
export const whoseHost = ({ caller }: Pick<ApiRequest, 'caller'>): Whose =>
  isAdmin(caller) ? { because: 'role' } : { account: caller.account }

export const pathOf = (id: string): string => `/api/apps/hosts/${id}`

/** As the caller may see it: how to get in is for who runs it. */
export const shown = (caller: Caller, account: string, view: HostView): Partial<HostView> =>
  isOwn({ account }, caller) || isAdmin(caller) ? view : withoutWayIn(view)

const isForAll = ({ account, view }: MirrorRow<HostView>): boolean =>
  belongsTo({ account }, PLATFORM) && CLASSES_FOR_ALL.includes(view.class)

/** Those that the caller may use. */
export const hosts = makeResources<HostView, MirrorRow<HostView>, HostNeeds>({
  kind: HOST,
  noun: 'host',
  one: 'host',
  many: 'hosts',
  pathOf,
  whose: () => ({ because: 'shared' }),
  seen: (row, { caller }) => (isOwn(row, caller) || isAdmin(caller) || isForAll(row) ? row : undefined),
  show: (_deps, { account, view }, { caller }) => shown(caller, account, view),
  async list(deps, { caller }, page) {
    const { hosts: found, total } = await deps.hosts.list(isAdmin(caller) ? null : caller.account, page)
    return { items: found.map(({ account, view }) => shown(caller, account, view)), total }
  },
  pending: ({ name: id }) => ({ id }),
})

/** A host that the caller runs. @throws Problem NOT_FOUND for any other */
export const ownRow = async (deps: HostNeeds, request: ApiRequest): Promise<MirrorRow<HostView>> => {
  const row = await hosts.find(deps, request)
  if (!isOwn(row, request.caller) && !isAdmin(request.caller)) {
    throw new Problem('NOT_FOUND', `There is no host ${row.name}.`)
  }
  return row
}

const minus = (all: number, used: number): number => Math.max(0, all - used)

/** GET …/:id: the host, and what its apps have taken of it; figures of all apps together. What lives there is for who runs it. */
export const getHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await hosts.find(deps, request)
  const { name, view } = row
  const { status, body } = await hosts.get(deps, request)
  const { apps, used: all } = await deps.apps.rooms(name, null)
  const used = { cpu_millis: all.cpuMillis, memory_mib: all.memoryMib, disk_gib: all.diskGib }
  const { capacity } = view
  const free = capacity && {
    cpu_millis: minus(capacity.cpu_millis, used.cpu_millis),
    memory_mib: minus(capacity.memory_mib, used.memory_mib),
    disk_gib: minus(capacity.disk_gib, used.disk_gib),
  }
  const isRunByCaller = isOwn(row, request.caller) || isAdmin(request.caller)
  const lives = isRunByCaller ? await deps.hosts.living(name) : null
  return { status, body: { ...(body as object), room: { apps, used, free }, lives } }
}
