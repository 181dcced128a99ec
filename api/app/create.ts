/** POST /api/apps: the name is reserved on its host, then the resource is written, then its controller's verdict is waited for. */

import { faultsOf } from '../../crds/app/faults.ts'
import { APP } from '../../crds/app/kind.ts'
import { budgetOf, roomFor } from '../../crds/app/lifecycle/keeping/budget.ts'
import { wantedReplicas } from '../../crds/app/lifecycle/scaling/replicas.ts'
import type { AppSpec } from '../../crds/app/schema.ts'
import type { TargetHost } from '../../crds/app/world.ts'
import { restPointer, toSpec } from '../../crds/kernel/rest.ts'
import { makeOwn, underOwnName } from '../command/make.ts'
import { namesFor } from '../command/name.ts'
import { settle } from '../command/settle.ts'
import { layingReady } from '../command/written.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { createCommand } from './commands.ts'
import { hostOf, hostsFor, refuseUnfit, reserveRoom } from './hosts.ts'
import type { AppNeeds } from './needs.ts'
import { storePassword } from './publishing/password.ts'
import { pathOf } from './read.ts'

/** Apps of one account: each takes a name, a route and networks of its host. */
export const APPS_MAX = 50

type CreateBody = { host_id?: string; password?: string }

const chooseHost = async (deps: AppNeeds, { host_id }: CreateBody, account: string): Promise<TargetHost> => {
  if (host_id !== undefined) return hostOf(deps, host_id, account)
  const hosts = await hostsFor(deps, account)
  const open = hosts.filter(({ isCordoned }) => !isCordoned)
  const found = open.find((host) => host.ready && host.baseDomain !== null) ?? open.find(({ approved }) => approved)
  if (!found) throw new Problem('NO_HOST', 'There is no approved host that takes apps of this account.')
  return found
}

/** @throws Problem APP_LIMIT */
export const refuseLimit = async (deps: AppNeeds, account: string): Promise<void> => {
  const { total } = await deps.mirror.list({ kind: APP, account }, {}, { limit: 1, offset: 0 })
  if (total >= APPS_MAX) throw new Problem('APP_LIMIT', `The account has ${total} of ${APPS_MAX} apps.`)
}

type Making = { name: string; desired: AppSpec; target: TargetHost; password: string | undefined }

const make = async (deps: AppNeeds, request: ApiRequest, { name, desired, target, password }: Making) => {
  const { account, hostId: host, slug } = desired
  const giveBack = async (isTaken: boolean) => {
    if (!isTaken) return
    await deps.apps.giveBackSlug(name)
    await deps.apps.giveBackRoom(name)
  }
  const take = async () => {
    const outcome = await deps.apps.takeSlug({ app: name, account, host, slug })
    if (outcome === 'refused') throw new Problem('SLUG_TAKEN', `${slug} is another app on ${host}.`)
    const isTaken = outcome === 'taken'
    const wanted = roomFor(budgetOf(desired.budget, target.budget), wantedReplicas(desired))
    await reserveRoom(deps, { app: name, account, host: target, wanted }).catch(async (error) => {
      await giveBack(isTaken)
      throw error
    })
    return isTaken
  }
  const write = async () => {
    const spec = { ...desired }
    if (password !== undefined) spec.passwordVersion = await storePassword(deps, name, password)
    const { object } = await makeOwn(deps, APP, { name, spec })
    return { uid: object.metadata.uid }
  }
  return settle(deps, request, createCommand, {
    name,
    whose: { account },
    resource: pathOf(name),
    pending: { app: { id: name } },
    act: () => layingReady({ lay: take, use: write, giveBack }),
  })
}

export const createApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const { password, ...body } = request.body as CreateBody & Record<string, unknown>
  const host = await chooseHost(deps, body, account)
  const passwordVersion = password === undefined ? {} : { passwordVersion: 1 }
  const spec = toSpec<AppSpec>(APP, { ...body, host_id: host.name }, { account, ...passwordVersion })
  refuseFaults(faultsOf(spec).map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
  refuseUnfit(host)
  if (host.isCordoned) throw new Problem('HOST_CORDONED', `Host ${host.name} takes no new apps.`)
  await refuseLimit(deps, account)
  return underOwnName(namesFor(deps.keys, 'app', request), (name) =>
    make(deps, request, { name, desired: spec, target: host, password }),
  )
}
