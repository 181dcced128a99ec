/** What dev instances have cost and were committed to, by month, owner and state (rules/devinstance.md#costs). */
import { LIVES_AT_ONCE } from '../../../controllers/store/devinstance/past.ts'
import { type Forecast, percentSpent } from '../../../crds/devinstance/costs/budget.ts'
import {
  beginOf,
  COST_MONTHS,
  COST_MONTHS_MAX,
  type CostSheet,
  costSheet,
  monthsOf,
} from '../../../crds/devinstance/costs/months.ts'
import { MICRO_USD } from '../../../crds/devinstance/reserving.ts'
import { STATES } from '../../../crds/devinstance/schema.ts'
import { usdOf } from '../../../crds/devinstance/sizing/prices.ts'
import { belongsTo } from '../../../crds/kernel/fields.ts'
import { named } from '../../../crds/kernel/named.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import { isOwn } from '../../command/own.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { list, object, oneOf, text, whole } from '../../openapi/schemas.ts'
import { budgetOf } from '../find.ts'
import type { DevInstanceNeeds } from '../needs.ts'

/** One answer reads every fact of each of them. */
const INSTANCES_MAX = 2_000

const invalidMonths = (): Problem => {
  const detail = `from and to are months, YYYY-MM, in this order, and at most ${COST_MONTHS_MAX} of them.`
  return new Problem('INVALID_FIELD', detail, { faults: [{ code: 'INVALID_FIELD', pointer: '/from', detail }] })
}

/** Whose costs are meant; null: everybody's, for admins. @throws Problem FORBIDDEN */
const ownerAsked = ({ caller, query }: ApiRequest): string | null => {
  const { owner } = query
  if (caller.profile.role === 'admin') return owner ?? null
  if (owner !== undefined && !isOwn({ account: owner }, caller)) {
    throw new Problem(
      'FORBIDDEN',
      `What ${owner} has committed is for ${owner} and admins; leave owner out for your own.`,
    )
  }
  return caller.account
}

/** A few lives at a time: between them others have their turn. */
const addLives = async (
  { devInstances }: Pick<DevInstanceNeeds, 'devInstances'>,
  sheet: CostSheet,
  { account, since }: { account: string | null; since: string },
): Promise<void> => {
  // A name may have been another account's before.
  const isCounted = (owner: string): boolean => account === null || belongsTo({ account: owner }, account)
  let after = ''
  for (let count = 0; ; count += LIVES_AT_ONCE) {
    if (count >= INSTANCES_MAX) {
      const detail = `There are more than ${INSTANCES_MAX} instances in these months.`
      throw new Problem('COSTS_TOO_MANY', detail)
    }
    const lives = await devInstances.lives({ account, since, after })
    for (const { id, calls } of lives) sheet.add(id, calls, isCounted)
    if (lives.length < LIVES_AT_ONCE) return
    after = lives.at(-1)?.id ?? ''
  }
}

/** Of everybody's the caps are not looked up: an admin asks for one owner. */
const withCap = async (deps: DevInstanceNeeds, account: string | null, forecast: Forecast) => {
  if (account === null) return { ...forecast, capUsd: null, spentPercent: null }
  const { capMicroUsd } = await budgetOf(deps, forecast.owner)
  const spentPercent = percentSpent(BigInt(Math.round(forecast.spentUsd * MICRO_USD)), capMicroUsd)
  return { ...forecast, capUsd: usdOf(capMicroUsd), spentPercent }
}

export const getCosts = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const at = deps.now().toISOString()
  const months = monthsOf(request.query, at)
  if (!months) throw invalidMonths()
  const account = ownerAsked(request)
  const sheet = costSheet(months, at)
  await addLives(deps, sheet, { account, since: beginOf(months) })
  const { forecast, ...answer } = sheet.answer()
  return {
    status: 200,
    body: { ...answer, forecast: await Promise.all(forecast.map((one) => withCap(deps, account, one))) },
  }
}

const monthQuery = (description: string): JsonSchema => ({ ...text(description), maxLength: 7 })

export const costQuery = {
  from: monthQuery(`The first month (UTC), YYYY-MM; ${COST_MONTHS - 1} before the last when left out.`),
  to: monthQuery('The last month; the present one when left out.'),
  owner: { ...text('Of one owner; for admins, who see all when it is left out.'), maxLength: 253 },
}

const usd = (description: string): JsonSchema => ({ type: 'number', description })
const month = text('Which, YYYY-MM, in UTC.')
const owner = text('Whose.')
const state = oneOf('In which state.', STATES)
const instances = whole('How many instances; one counts once, however often it came to it.')
const spent = {
  committedUsd: usd('What was committed for that time, at the price of running.'),
  actualUsd: usd('What was spent, by what the facts say was there.'),
}
const actualPercent: JsonSchema = { type: ['integer', 'null'], description: 'Spent of committed; null: nothing was.' }

export const costAnswer = named(
  'DevboxCosts',
  object('What was committed, and what was spent of it.', {
    from: text('The first month.'),
    to: text('The last month.'),
    at: text('Until when.'),
    costs: list(
      'By month, owner and state.',
      object('One.', { month, owner, state, instances, hours: usd('How long, all together.'), ...spent }),
    ),
    totals: list('By month and owner.', object('One.', { month, owner, instances, ...spent, actualPercent })),
    months: list('By month, of all that is shown.', object('One.', { month, instances, ...spent, actualPercent })),
    forecast: list(
      'By owner, for the present month where it is shown; of everybody without the caps.',
      object('One.', {
        owner,
        month,
        spentUsd: usd('What was spent in it until now.'),
        forecastUsd: usd('What it comes to by its end if nothing changes.'),
        capUsd: { type: ['number', 'null'], description: 'The most that dev instances may cost in a month.' },
        spentPercent: { type: ['integer', 'null'], description: 'Spent of the cap; null: not looked up, or no cap.' },
      }),
    ),
    present: list(
      'As it stands now, by owner and state.',
      object('One.', {
        owner,
        state,
        instances,
        committedMonthlyUsd: usd('What they are committed to.'),
        currentMonthlyUsd: usd('What a month costs as they stand.'),
      }),
    ),
  }),
)
