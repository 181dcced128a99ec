/** Who may see and change a dev instance (rules/devinstance.md#who-sees-an-instance), and how one is shown. */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { limitOf } from '../../crds/account/quotas.ts'
import type { AccountView } from '../../crds/account/view.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { MICRO_USD } from '../../crds/devinstance/reserving.ts'
import { usdOf } from '../../crds/devinstance/sizing/prices.ts'
import {
  devInstanceDetail,
  devInstanceItem,
  type ShownDevInstance,
  type StoredDevInstance,
  tombstoneOf,
} from '../../crds/devinstance/view.ts'
import type { Asking } from '../command/command.ts'
import { accountRowOf, isOwn, sameOwner, type Whose } from '../command/own.ts'
import { makeResources } from '../command/resource.ts'
import { Problem } from '../http/problem.ts'
import type { ApiRequest } from '../http/route.ts'
import { openingKeys, shownKeys } from './machine/keys.ts'
import type { FindingInstance } from './needs.ts'

export const pathOf = (id: string): string => `/api/devboxes/${id}`

/** The row as it can be shown; undefined before it was entered and after it was deleted. */
export const shownOf = (row: MirrorRow<StoredDevInstance> | undefined): ShownDevInstance | undefined => {
  const stored = row?.view
  return stored?.box && stored.box.deletedAt === null ? { ...stored, box: stored.box } : undefined
}

const isAdmin = ({ caller }: Asking): boolean => caller.profile.role === 'admin'

const isTeamMember = ({ caller }: Asking, { box: instance }: ShownDevInstance): boolean =>
  instance.teams.some((team) => caller.profile.teams.includes(team))

/** What is kept of one that was deleted is its owner's and admins' to know (rules/devinstance.md#tombstones). */
export const deletedOf = async (
  deps: Pick<FindingInstance, 'devInstances'>,
  request: Pick<ApiRequest, 'params' | 'caller'>,
): Promise<ShownDevInstance | undefined> => {
  const kept = await deps.devInstances.tombstone(request.params.id ?? '')
  return kept && (isOwned(kept, request) || isAdmin(request)) ? tombstoneOf(kept) : undefined
}

/** Whatever is looked at after that is the same owner's. */
export const ownerOf = ({ owner }: Pick<ShownDevInstance, 'owner'>): Whose => sameOwner({ account: owner })

const isOwned = ({ owner }: Pick<ShownDevInstance, 'owner'>, { caller }: Pick<Asking, 'caller'>): boolean =>
  isOwn({ account: owner }, caller)

/** Everything that the caller may not look at is not there at all. */
const visibleOf = (row: MirrorRow<StoredDevInstance>, asking: Asking): ShownDevInstance | undefined => {
  const stored = shownOf(row)
  const mayLook = stored && (isOwned(stored, asking) || isAdmin(asking) || isTeamMember(asking, stored))
  return mayLook ? stored : undefined
}

/** What the caller may change: the owner and admins. @throws Problem NOT_FOUND, FORBIDDEN for who may only look */
export const changeable = async (deps: FindingInstance, request: ApiRequest): Promise<ShownDevInstance> => {
  const stored = await devInstances.find(deps, request)
  if (!isOwned(stored, request) && !isAdmin(request)) {
    throw new Problem('FORBIDDEN', `${stored.id} is shared with your team to look at; its owner may change it.`)
  }
  // Who acts on another's instance does so in the owner's audit too.
  if (request.audited) request.audited.account = stored.owner
  return stored
}

/** Of what something may have happened to: what may be changed, or is kept of one that was deleted. @throws as `changeable` */
export const reportable = async (deps: FindingInstance, request: ApiRequest): Promise<ShownDevInstance> => {
  try {
    return await changeable(deps, request)
  } catch (error) {
    const isAway = error instanceof Problem && error.code === 'NOT_FOUND'
    const kept = isAway ? await deletedOf(deps, request) : undefined
    if (kept === undefined) throw error
    if (request.audited) request.audited.account = kept.owner
    return kept
  }
}

/** The instance with what depends on the moment. */
export const detailOf = async (deps: FindingInstance, stored: ShownDevInstance) => {
  const [lastReport, events, keys] = await Promise.all([
    deps.devInstances.lastReport(stored.id),
    deps.devInstances.history(stored.id),
    openingKeys(deps, stored),
  ])
  const seen = lastReport && { receivedAt: lastReport.at, ...lastReport.body }
  const detail = devInstanceDetail(stored, { at: deps.now().toISOString(), lastReport: seen, events })
  return { ...detail, authorizedKeys: shownKeys(keys, lastReport) }
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

export const devInstances = makeResources<StoredDevInstance, ShownDevInstance, FindingInstance>({
  kind: DEVINSTANCE,
  noun: 'dev instance',
  one: 'devbox',
  many: 'devboxes',
  pathOf,
  whose: () => ({ because: 'shared' }),
  seen: visibleOf,
  show: detailOf,
  async list(deps, { caller }, page) {
    const { account, profile } = caller
    const seen = { account, teams: profile.teams, isAdmin: profile.role === 'admin' }
    const [{ rows, total }, budget] = await Promise.all([
      deps.devInstances.list(seen, page),
      budgetOf(deps, account, profile),
    ])
    const at = deps.now().toISOString()
    const items = rows.flatMap((row) => {
      const stored = shownOf(row)
      return stored ? [devInstanceItem(stored, at)] : []
    })
    const more = { committedMonthlyUsd: usdOf(budget.committedMicroUsd), capMonthlyUsd: usdOf(budget.capMicroUsd) }
    return { items, total, more }
  },
})
