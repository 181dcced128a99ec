/** The page of one's dev instances. It shows what GET /api/devboxes and its costs show, for a browser. */

import { LIVES_AT_ONCE } from '../../../controllers/store/devinstance/past.ts'
import { costSheet, presentMonth } from '../../../crds/devinstance/costs/months.ts'
import { DEVBOXES_PAGE, keptAwakeBy } from '../../../crds/devinstance/page.ts'
import { usdOf } from '../../../crds/devinstance/sizing/prices.ts'
import { isOwn } from '../../command/own.ts'
import { decidesOnSites } from '../../http/caller.ts'
import { pageAnswer } from '../../http/pages.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Route } from '../../wiring/route.ts'
import { budgetOf, detailOf, shownOf } from '../find.ts'
import type { DevInstanceNeeds } from '../needs.ts'
import { boxesPage, type ShownBox, type ShownCost } from './page-html.ts'

/** Each is looked at by itself. */
const SHOWN_MAX = 20
const EVENTS_SHOWN = 8

type Detail = Awaited<ReturnType<typeof detailOf>>

/** What each of an account's instances has spent in the present month, and comes to. */
const costsOf = async (
  { devInstances }: Pick<DevInstanceNeeds, 'devInstances'>,
  { account, at }: { account: string; at: string },
): Promise<Map<string, NonNullable<ShownCost>>> => {
  const { months, since } = presentMonth(at)
  const costs = new Map<string, NonNullable<ShownCost>>()
  for (let after = ''; ; ) {
    const lives = await devInstances.lives({ account, since, after })
    for (const { id, calls } of lives) {
      const sheet = costSheet(months, at)
      sheet.add(id, calls, (owner) => isOwn({ account: owner }, { account }))
      const [forecast] = sheet.forecasts()
      if (forecast) costs.set(id, forecast)
    }
    if (lives.length < LIVES_AT_ONCE) return costs
    after = lives.at(-1)?.id ?? ''
  }
}

const stoppedBecause = ({ events }: Detail): string => {
  const reason = events.find(({ kind }) => kind === 'stopping')?.data.reason
  return typeof reason === 'string' ? `it stopped itself: ${reason}.` : 'it was turned off.'
}

/** Why it is on, or is not. */
const whyOf = (detail: Detail): string => {
  const { state, machine, policy, lastReport } = detail
  if (machine?.is === 'down') return stoppedBecause(detail)
  if (state !== 'ready' && state !== 'running') return 'its provisioner has the next step.'
  const sources = keptAwakeBy(lastReport)
  if (sources === undefined) return 'it has not reported yet.'
  const idle = `it stops itself after ${policy.idleMinutes} minutes without use.`
  return sources.length === 0 ? `nobody uses it; ${idle}` : `kept awake by ${sources.join(', ')}; ${idle}`
}

const shownBox = (detail: Detail, cost: ShownCost): ShownBox => ({
  id: detail.id,
  name: detail.name,
  owner: detail.owner,
  state: detail.state,
  why: whyOf(detail),
  isDown: detail.machine?.is === 'down',
  size: `${detail.sizeClass}, ${detail.instanceType}, ${detail.diskGb} GB`,
  address: detail.publicIp,
  hostKeys: detail.hostKeys,
  runningMonthlyUsd: detail.price.runningMonthlyUsd,
  stoppedMonthlyUsd: detail.price.stoppedMonthlyUsd,
  cost,
  conditions: detail.conditions,
  events: detail.events.slice(0, EVENTS_SHOWN),
  keys: detail.authorizedKeys.keys,
  onMachine: detail.authorizedKeys.onMachine,
})

const showBoxes = async (deps: DevInstanceNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const { account, profile } = caller
  const at = deps.now().toISOString()
  const seen = { account, teams: profile.teams, isAdmin: profile.role === 'admin' }
  const [{ rows, total }, budget, costs] = await Promise.all([
    deps.devInstances.list(seen, { limit: SHOWN_MAX, offset: 0 }),
    budgetOf(deps, account, profile),
    costsOf(deps, { account, at }),
  ])
  const stored = rows.flatMap((row) => shownOf(row) ?? [])
  const details = await Promise.all(stored.map((one) => detailOf(deps, one)))
  const page = boxesPage({
    email: profile.email,
    isReviewer: decidesOnSites(caller),
    month: at.slice(0, 7),
    capUsd: usdOf(budget.capMicroUsd),
    committedUsd: usdOf(budget.committedMicroUsd),
    boxes: details.map((detail) => shownBox(detail, costs.get(detail.id) ?? null)),
    total,
  })
  return pageAnswer(200, page)
}

export const devboxesPageRoutes: Route<DevInstanceNeeds>[] = [
  {
    hidden: true,
    scope: { kind: 'session' },
    method: 'GET',
    path: DEVBOXES_PAGE,
    summary: 'Your dev instances',
    handle: showBoxes,
  },
]
