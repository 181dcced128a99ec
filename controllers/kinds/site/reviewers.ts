/** Who is told of a review by mail: reviewers that something waits, the owner what was decided. */

import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { belongsTo } from '../../../crds/kernel/fields.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'
import { noticeKey, readFacts } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import type { SaidDecision } from '../../../crds/site/publishing/asked.ts'
import type { ReviewDecidedMail, ReviewWaitsMail } from '../../../crds/site/reviewing/mail.ts'
import { REVIEWERS_TOLD_MAX, stageAt } from '../../../crds/site/reviewing/notices.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import type { DueNotice } from '../../../crds/site/world.ts'
import type { QueuedMail } from '../../store/ledger/ledger.ts'
import { makeWaitingReviews } from '../../store/site/reviews.ts'
import type { Context } from '../context.ts'
import type { SiteDeps } from './deps.ts'

const mailIdOf = ({ mailDomain }: Pick<SiteDeps, 'mailDomain'>, site: string, purpose: string): string =>
  `<${site}.${purpose.replace(/[^A-Za-z0-9-]+/g, '.')}@${mailDomain}>`

const companyOf = ({ spec }: SiteResource): string => contentOf(spec).meta.companyName

/** In the transaction of the decision; null where the owner has no address. */
export const decisionMail = (
  deps: Pick<SiteDeps, 'accounts' | 'mailDomain'>,
  object: SiteResource,
  seq: number,
  { decision, note }: SaidDecision,
): QueuedMail | null => {
  const { metadata, spec } = object
  const to = deps.accounts.get(spec.account)?.email
  if (!to) return null
  const payload: ReviewDecidedMail = {
    ...{ mail: 'review-decided', to, site: metadata.name, company: companyOf(object) },
    ...{ decision, note },
  }
  const purpose = `review-decided:${seq}`
  const messageId = mailIdOf(deps, metadata.name, purpose)
  return { kind: SITE.kind, account: spec.account, purpose, channel: 'mail', messageId, payload }
}

/** Each by a row of its own under a name that is taken once, then the fact: whoever dies between says nothing twice. */
export const tellReviewers = async (deps: SiteDeps, notice: DueNotice, object: SiteResource): Promise<void> => {
  const { metadata, spec } = object
  const { submission, stage, since } = notice
  const at = deps.now().toISOString()
  const row = await deps.rows.observe(metadata.name, spec.account)
  const { submissions } = readFacts(originOf(metadata), row.facts ?? [], () => null)
  const round = 1 + submissions.findIndex(({ seq }) => seq === submission)
  const by = submissions.find(({ seq }) => seq === submission)?.by ?? null
  const told = deps.accounts
    .reviewers()
    .filter(({ key }) => !belongsTo(spec, key) && key !== by)
    .slice(0, REVIEWERS_TOLD_MAX)
  for (const { key, email } of told) {
    const about = { to: email, site: metadata.name, company: companyOf(object), account: spec.account }
    const payload: ReviewWaitsMail = { mail: 'review-waits', ...about, stage, since, round }
    const purpose = `review-waits:${submission}:${stage}:${key}`
    const mail = {
      ...{ kind: SITE.kind, account: key, purpose, payload },
      messageId: mailIdOf(deps, metadata.name, purpose),
    }
    await deps.ledger.notifyOwner({ resource: metadata.name, at, fact: null, mail, giveBack: null })
  }
  const key = noticeKey(originOf(metadata), notice)
  const fact = { resource: metadata.name, resourceKind: SITE.kind, key, kind: 'notice', body: { submission, stage } }
  await deps.ledger.appendFact({ ...fact, state: 'accepted', at })
  deps.onQueued()
}

export type ReminderSweep = Pick<Context, 'pg' | 'now' | 'wake'>

/** Has those sites looked at whose reviewers are due a reminder. @returns how many */
export const sweepReminders = async ({ pg, now, wake }: ReminderSweep): Promise<number> => {
  const at = now()
  const due = (await makeWaitingReviews({ pg }).waiting()).filter(({ since, stage }) => stageAt(since, at) > stage)
  for (const { site } of due) wake(SITE.kind, site)
  return due.length
}
