/**
 * Mails to the owner of an account about one of its endpoints: events were given up, or it was switched off
 * (rules/webhook.md#told-to-the-owner).
 */
import type { MailParts } from '../text/mail.ts'
import { noticeMail, oneLine } from '../text/notice.ts'

/**
 * What is queued, so that a repeat says the same. `endpoint` is the address that is delivered to, `url` the page to look at,
 * `why` the last error, or what it answered; `count` how many deliveries were given up this day so far, when that is known.
 */
export type WebhookNotice = { to: string; endpoint: string; url: string; why: string } & (
  | { mail: 'webhook-dead'; count?: number }
  | { mail: 'webhook-disabled' }
)

const WHY_MAX = 300
const ADDRESS_MAX = 200

const shortened = (text: string, max: number): string => {
  const letters = [...oneLine(text)]
  return letters.length <= max ? letters.join('') : `${letters.slice(0, max - 1).join('')}…`
}

/** Without its query, which is where receivers keep keys of their own. */
const shownAddress = (endpoint: string): string => {
  if (!URL.canParse(endpoint)) return shortened(endpoint, ADDRESS_MAX)
  const { origin, pathname, search } = new URL(endpoint)
  return shortened(`${origin}${pathname}${search === '' ? '' : '?…'}`, ADDRESS_MAX)
}

const hostOf = (endpoint: string): string => (URL.canParse(endpoint) ? new URL(endpoint).host : 'your endpoint')

const because = (why: string): string[] => (oneLine(why) === '' ? [] : [`The last error: ${shortened(why, WHY_MAX)}`])

const CATCH_UP =
  'Nothing is lost: GET /api/events?after=… gives every event after the last sequence that you have, in order.'

const deadSaid = (notice: WebhookNotice & { mail: 'webhook-dead' }): { subject: string; lead: string[] } => {
  const { endpoint, why, count = 1 } = notice
  const number = count === 1 ? 'An event' : `${count} events`
  const they = count === 1 ? 'it is' : 'they are'
  return {
    subject: `${number} could not be delivered to ${shortened(hostOf(endpoint), ADDRESS_MAX)}`,
    lead: [
      `${number} could not be delivered to ${shownAddress(endpoint)}: the last attempt failed, and ${they} not tried again.`,
      ...because(why),
      'Once the receiver answers with a status of 2xx, send again what it missed: on the page below, or with POST /api/webhooks/:id/redeliver for all events after a sequence.',
      CATCH_UP,
      'This mail comes once a day at most for one endpoint, however many events follow.',
    ],
  }
}

const disabledSaid = ({ endpoint, why }: WebhookNotice): { subject: string; lead: string[] } => ({
  subject: `The webhook endpoint at ${shortened(hostOf(endpoint), ADDRESS_MAX)} was switched off`,
  lead: [
    `Nothing is delivered to ${shownAddress(endpoint)} any more: ${shortened(why, WHY_MAX) || 'it answered 410 Gone'}, which asks us to stop.`,
    'If it is to go on, switch it on again: on the page below, or with PATCH /api/webhooks/:id and {"status": "enabled"}. Then send again what it missed with POST /api/webhooks/:id/redeliver.',
    CATCH_UP,
  ],
})

const saidOf = (notice: WebhookNotice): { subject: string; lead: string[] } => {
  switch (notice.mail) {
    case 'webhook-dead':
      return deadSaid(notice)
    case 'webhook-disabled':
      return disabledSaid(notice)
    default:
      return notice satisfies never
  }
}

/** Pure: the same notice gives the same mail. */
export const webhookMail = (notice: WebhookNotice): MailParts =>
  noticeMail({
    ...saidOf(notice),
    label: 'Your webhooks and their deliveries',
    words: 'Look at the deliveries',
    url: notice.url,
  })
