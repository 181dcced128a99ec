/**
 * Tells owners what their dev instances have spent of the monthly cap: once a month for each threshold, as a fact, with its event and one
 * mail. What was spent is read off the facts, as the costs are (rules/devinstance.md#budget).
 */

import { ACCOUNT } from '../../../crds/account/kind.ts'
import { limitOf } from '../../../crds/account/quotas.ts'
import {
  type BudgetThreshold,
  budgetKey,
  percentSpent,
  thresholdsReached,
} from '../../../crds/devinstance/costs/budget.ts'
import { type BudgetNotice, budgetMail } from '../../../crds/devinstance/costs/mail.ts'
import { costSheet, type OwnerForecast, presentMonth } from '../../../crds/devinstance/costs/months.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import { DEVBOXES_PAGE } from '../../../crds/devinstance/page.ts'
import { MICRO_USD } from '../../../crds/devinstance/reserving.ts'
import { LIVES_AT_ONCE, makePast, type Past } from '../../store/devinstance/past.ts'
import type { OwnerNotification } from '../../store/ledger/ledger.ts'
import type { Context } from '../context.ts'
import type { Mails } from '../mails.ts'
import { mailTo } from '../mails.ts'

type BudgetContext = Pick<Context, 'pg' | 'now' | 'accounts' | 'ledger' | 'mailDomain' | 'publicUrl' | 'onQueued'>

/** Of all owners, a few lives at a time: between them others have their turn. */
const spentBy = async (past: Pick<Past, 'lives'>, at: string): Promise<OwnerForecast[]> => {
  const { months, since } = presentMonth(at)
  const sheet = costSheet(months, at)
  let after = ''
  for (;;) {
    const lives = await past.lives({ account: null, since, after })
    for (const { id, calls } of lives) sheet.add(id, calls)
    if (lives.length < LIVES_AT_ONCE) return sheet.forecasts()
    after = lives.at(-1)?.id ?? ''
  }
}

type Alert = OwnerForecast & { threshold: BudgetThreshold; capUsd: number; at: string }

const factOf = ({ owner, month, threshold, spentUsd, forecastUsd, capUsd, at }: Alert): OwnerNotification['fact'] => {
  const body = { owner, month, thresholdPercent: threshold, spentUsd, forecastUsd, capUsd }
  return {
    resource: owner,
    resourceKind: ACCOUNT.kind,
    key: budgetKey(month, threshold),
    kind: 'devbox-budget',
    body,
    state: 'accepted',
    at,
    event: { kind: ACCOUNT.kind, account: owner, type: 'devbox.budget_reached', data: { budget: body } },
  }
}

const mailOf = (
  { mailDomain, publicUrl }: Pick<BudgetContext, 'mailDomain' | 'publicUrl'>,
  { owner, month, threshold, spentUsd, forecastUsd, capUsd }: Alert,
  to: string,
): OwnerNotification['mail'] => {
  const purpose = `devbox-${budgetKey(month, threshold)}`
  const payload: BudgetNotice = {
    ...{ mail: 'devbox-budget', to, month, threshold, spentUsd, forecastUsd, capUsd },
    url: `${publicUrl}${DEVBOXES_PAGE}`,
  }
  const messageId = `<${owner}.${purpose.replaceAll(':', '.')}@${mailDomain}>`
  return { kind: DEVINSTANCE.kind, account: owner, purpose, messageId, payload }
}

/** Each threshold that is reached is on record once; of several at once only the highest is mailed. @returns how many were new */
export const sweepBudgets = async (context: BudgetContext): Promise<number> => {
  const { pg, now, accounts, ledger, onQueued } = context
  const at = now().toISOString()
  let told = 0
  for (const forecast of await spentBy(makePast({ pg }), at)) {
    const profile = accounts.get(forecast.owner)
    if (profile === null) continue
    const capUsd = limitOf('devbox_cost_cap_usd', profile)
    const reached = thresholdsReached(percentSpent(forecast.spentMicroUsd, capUsd * MICRO_USD))
    for (const threshold of reached) {
      const alert = { ...forecast, threshold, capUsd, at }
      const mail = threshold === reached.at(-1) ? mailOf(context, alert, profile.email) : null
      const isNew = await ledger.notifyOwner({
        resource: forecast.owner,
        at,
        fact: factOf(alert),
        mail,
        giveBack: null,
      })
      if (isNew) told += 1
    }
  }
  if (told > 0) onQueued()
  return told
}

export const DEVINSTANCE_MAILS: Mails = {
  'devbox-budget': {
    compose: (row) => {
      const notice = row.payload as BudgetNotice
      return mailTo(row, { name: '', address: notice.to }, budgetMail(notice))
    },
  },
}
