/**
 * What the account's owner is told by mail: that a client claims a payment, and that a mail to the client failed for good.
 * Planned from what is on record alone: a claim without its mail, a failed mail without its fact. So each is told once,
 * whatever is killed in between.
 */

import { displayCents } from '../../values/money.ts'
import type { MailDelivery } from '../facts/deliveries.ts'
import type { OwnerNotice } from '../mail/owner.ts'
import type { PaymentClaim } from '../money/claim.ts'
import { orderOf } from '../order/order.ts'
import type { InvoiceResource } from '../schema.ts'
import { type InvoiceFacts, urlOf } from '../status.ts'
import type { NotifyOwnerStep } from '../steps.ts'
import type { InvoiceWorld } from '../world.ts'
import { clientDeliveries, hasFailed, ownerPurpose } from './delivery.ts'
import { eventOf, type Subject } from './subject.ts'

/** The fact that stands for a mail to the client that failed for good. */
export const undeliveredKey = (purpose: string): string => `undelivered:${purpose}`

/** Test mode mails nobody. */
const addressOf = ({ object, world }: Subject): string | null =>
  object.spec.test || !world.account ? null : world.account.email

const noticeOf = ({ world, order }: Subject) => ({
  number: world.record?.number ?? '',
  client: order.clientEmail ?? '',
  url: urlOf(world),
})

const isQueued = (world: InvoiceWorld, purpose: string): boolean =>
  world.deliveries.some((delivery) => delivery.purpose === purpose)

const claimStep = (subject: Subject, { id, amountCents, paidOn, reference }: PaymentClaim): NotifyOwnerStep[] => {
  const to = addressOf(subject)
  const purpose = ownerPurpose(`claim:${id}`)
  if (to === null || isQueued(subject.world, purpose)) return []
  const amount = displayCents(amountCents, subject.order.currency)
  const notice: OwnerNotice = { mail: 'claimed', to, ...noticeOf(subject), amount, paidOn, reference }
  return [{ do: 'notifyOwner', fact: null, mail: { purpose, notice }, giveBack: null }]
}

/** The number of the send that a mail carries; null for a mail about something else. */
const sendOf = (purpose: string): number | null => {
  const n = /^(?:invoice|receipt):(\d{1,9})$/.exec(purpose)?.[1]
  return n === undefined ? null : Number(n)
}

const failureStep = (subject: Subject, { purpose, state, lastError, attempts }: MailDelivery): NotifyOwnerStep => {
  const why = lastError ?? 'no reason was given'
  const event = eventOf('invoice.delivery_failed', subject)
  const delivery = { mail: purpose.slice(0, purpose.indexOf(':')), state, attempts }
  const to = addressOf(subject)
  return {
    do: 'notifyOwner',
    fact: {
      key: undeliveredKey(purpose),
      kind: 'undelivered',
      body: { purpose, state, error: why },
      event: { ...event, data: { ...event.data, delivery } },
    },
    mail:
      to === null
        ? null
        : {
            purpose: ownerPurpose(`undelivered:${purpose}`),
            notice: { mail: 'undelivered', to, ...noticeOf(subject), why },
          },
    giveBack: sendOf(purpose),
  }
}

export const notifyOwnerSteps = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
): NotifyOwnerStep[] => {
  const order = orderOf(object.spec, world)
  if (!world.record || !order) return []
  const subject = { object, world, facts, order }
  const untold = clientDeliveries(world).filter((one) => hasFailed(one) && !world.undelivered.includes(one.purpose))
  return [
    ...world.claims.flatMap((claim) => claimStep(subject, claim)),
    ...untold.map((delivery) => failureStep(subject, delivery)),
  ]
}
