/** Who may see and change a dev instance (rules/devinstance.md#who-sees-an-instance), and how one is shown. */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { limitOf } from '../../crds/account/quotas.ts'
import type { AccountView } from '../../crds/account/view.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { MICRO_USD } from '../../crds/devinstance/reserving.ts'
import { devInstanceDetail, type ShownDevInstance, type StoredDevInstance } from '../../crds/devinstance/view.ts'
import { accountRowOf, sameOwner, type Whose } from '../command/own.ts'
import { Problem } from '../http/problem.ts'
import type { ApiRequest } from '../http/route.ts'
import type { FindingInstance } from './needs.ts'

const missing = (id: string): Problem => new Problem('NOT_FOUND', `There is no dev instance ${id}.`)

/** The row as it can be shown; undefined before it was entered and after it was deleted. */
export const shownOf = (row: MirrorRow<StoredDevInstance> | undefined): ShownDevInstance | undefined => {
  const stored = row?.view
  return stored?.box && stored.box.deletedAt === null ? { ...stored, box: stored.box } : undefined
}

const isAdmin = ({ caller }: ApiRequest): boolean => caller.profile.role === 'admin'

const isTeamMember = ({ caller }: ApiRequest, { box: instance }: ShownDevInstance): boolean =>
  instance.teams.some((team) => caller.profile.teams.includes(team))

/** Whatever is looked at after that is the same owner's. */
export const ownerOf = ({ owner }: Pick<ShownDevInstance, 'owner'>): Whose => sameOwner({ account: owner })

/** What the caller may look at. Everything else is not there at all. @throws Problem NOT_FOUND */
export const visible = async (deps: FindingInstance, request: ApiRequest): Promise<ShownDevInstance> => {
  const id = request.params.id ?? ''
  const stored = shownOf(await deps.mirror.get(DEVINSTANCE, id, { because: 'shared' }))
  if (!stored) throw missing(id)
  const mayLook = stored.owner === request.caller.account || isAdmin(request) || isTeamMember(request, stored)
  if (!mayLook) throw missing(id)
  return stored
}

/** What the caller may change: the owner and admins. @throws Problem NOT_FOUND, FORBIDDEN for who may only look */
export const changeable = async (deps: FindingInstance, request: ApiRequest): Promise<ShownDevInstance> => {
  const stored = await visible(deps, request)
  if (stored.owner !== request.caller.account && !isAdmin(request)) {
    throw new Problem('FORBIDDEN', `${stored.id} is shared with your team to look at; its owner may change it.`)
  }
  // Who acts on another's instance does so in the owner's audit too.
  if (request.audited) request.audited.account = stored.owner
  return stored
}

/** The instance with what depends on the moment. */
export const detailOf = async (deps: FindingInstance, stored: ShownDevInstance) => {
  const [lastReport, events] = await Promise.all([
    deps.devInstances.lastReport(stored.id),
    deps.devInstances.history(stored.id),
  ])
  const seen = lastReport && { receivedAt: lastReport.at, ...lastReport.body }
  return devInstanceDetail(stored, { at: deps.now().toISOString(), lastReport: seen, events })
}

/** What an account is committed to and may commit, micro-USD a month; as its resource says now. */
export const budgetOf = async (deps: FindingInstance, account: string, known?: AccountView) => {
  const [row, committedMicroUsd] = await Promise.all([
    accountRowOf(deps, account),
    deps.devInstances.committed(account),
  ])
  const profile = row?.view ?? known
  const capMicroUsd = (profile ? limitOf('devbox_cost_cap_usd', profile) : 0) * MICRO_USD
  return { committedMicroUsd, capMicroUsd }
}
