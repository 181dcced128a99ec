/** The mail to an owner whose dev instances have spent a part of the monthly cap (rules/devinstance.md#budget). */
import type { MailParts } from '../../text/mail.ts'
import { noticeMail } from '../../text/notice.ts'
import type { BudgetThreshold } from './budget.ts'

/** What is queued, so that a repeat says the same. USD with two decimals; `url` the page with the instances. */
export type BudgetNotice = {
  mail: 'devbox-budget'
  to: string
  month: string
  threshold: BudgetThreshold
  spentUsd: number
  forecastUsd: number
  capUsd: number
  url: string
}

const usd = (amount: number): string => `${amount.toFixed(2)} USD`

const comes = ({ forecastUsd, capUsd }: BudgetNotice): string =>
  forecastUsd > capUsd
    ? `As they stand now, the month comes to ${usd(forecastUsd)}, which is more than the cap.`
    : `As they stand now, the month comes to ${usd(forecastUsd)}.`

/** Pure: the same notice gives the same mail. */
export const budgetMail = (notice: BudgetNotice): MailParts => {
  const { month, threshold, spentUsd, capUsd, url } = notice
  return noticeMail({
    subject: `Your dev instances have spent ${threshold} % of the cap of ${month}`,
    lead: [
      `Your dev instances have spent ${usd(spentUsd)} in ${month}: ${threshold} % or more of the ${usd(capUsd)} that they may cost in a month.`,
      comes(notice),
      'Nothing is stopped because of it: the cap bounds what can be reserved. An instance that is stopped costs its disk and its address, one that is terminated nothing.',
      'This mail comes once a month for 50, 80 and 100 % each.',
    ],
    label: 'Your dev instances, with what each costs',
    words: 'Look at the dev instances',
    url,
  })
}
