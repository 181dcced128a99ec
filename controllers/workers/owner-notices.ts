/**
 * What the owner of an account is told by mail about its webhooks: given up, or switched off
 * (rules/webhook.md#told-to-the-owner).
 */
import { ACCOUNT } from '../../crds/account/kind.ts'
import { WEBHOOKS_PAGE } from '../../crds/webhook/endpoint.ts'
import type { WebhookNotice } from '../../crds/webhook/mail.ts'
import type { Directory } from '../kinds/account-index.ts'
import type { Ended, EndpointAddress, Notice, WebhookDelivery } from '../store/webhook/deliveries.ts'

/** One mail a day about what is given up, however much it is: who is away for a day is not written to a thousand times. */
const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

type NoticeDeps = { accounts: Pick<Directory, 'get'>; mailDomain: string; publicUrl: string; now: () => Date }

/** @returns null where nothing is told: most attempts are followed by nothing, or by another attempt */
export const makeNotices =
  ({ accounts, mailDomain, publicUrl, now }: NoticeDeps) =>
  ({ endpoint, account }: WebhookDelivery, { url }: EndpointAddress, { state, gone, fault }: Ended): Notice | null => {
    const to = accounts.get(account)?.email
    if (state !== 'dead' || !to) return null
    const about = { to, endpoint: url, url: `${publicUrl}${WEBHOOKS_PAGE}` }
    const at = now()
    const payload: WebhookNotice = gone
      ? { mail: 'webhook-disabled', ...about, why: gone }
      : { mail: 'webhook-dead', ...about, why: fault ?? '' }
    const purpose = `${payload.mail}:${endpoint}:${gone ? at.toISOString() : dayOf(at)}`
    return {
      kind: ACCOUNT.kind,
      resource: account,
      account,
      purpose,
      messageId: `<${purpose.replaceAll(':', '.')}@${mailDomain}>`,
      payload,
    }
  }
