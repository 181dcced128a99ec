/**
 * The card processor's webhook: what is signed is recorded as a pending fact under the processor's own names, so that
 * replays and reorders meet what stands there; the controllers' plan decides (rules/invoice.md#card-collection).
 */

import type { NewFact } from '../../../controllers/store/ledger/facts.ts'
import { closedKey, reportKey } from '../../../crds/invoice/facts/collected.ts'
import { paymentKey } from '../../../crds/invoice/facts/records.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { type ProcessorEvent, processorEventOf } from '../../../crds/invoice/money/card-messages.ts'
import { isOwn, sameOwner } from '../../command/own.ts'
import { append } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { BadSignature } from '../../io/cardevents.ts'
import type { Deps, Reporting, Settling, Writing } from '../../wiring/deps.ts'
import { cardEventCommand, locationOf } from '../commands.ts'
import { refuseBehind } from '../money/money.ts'
import { bringBack } from '../money/restore.ts'

export type CardEventNeeds = Writing & Reporting & Settling & Pick<Deps, 'cards'>

/** What the processor sends is a few kilobytes. */
export const CARD_EVENT_MAX_BYTES = 256_000
const METHOD = 'card'

const RECEIVED: Answer = { status: 200, body: { received: true } }

const factOf = (event: ProcessorEvent): Pick<NewFact, 'key' | 'kind' | 'body'> => {
  switch (event.kind) {
    case 'paid': {
      const { intent, ...card } = event.card
      const body = { ...card, amountCents: null, method: METHOD, reference: intent, declaredBy: 'gateway' }
      return { key: paymentKey(intent), kind: 'payment', body }
    }
    case 'expired':
      return { key: closedKey(event.id), kind: 'closed', body: { id: event.id, how: 'expired' } }
    case 'refund': {
      const { refund, part, state, reason } = event
      return { key: reportKey(refund, state), kind: 'refund_report', body: { refund, part, state, reason } }
    }
    default:
      return event satisfies never
  }
}

const eventOf = ({ cards }: CardEventNeeds, { form, headers }: ApiRequest): ProcessorEvent | null => {
  if (!cards) throw new Problem('NOT_FOUND', 'This installation has no card processor.')
  const signature = headers['stripe-signature']
  try {
    return processorEventOf(cards.read(form ?? Buffer.alloc(0), typeof signature === 'string' ? signature : undefined))
  } catch (error) {
    if (error instanceof BadSignature) throw new Problem('BAD_SIGNATURE', 'The signature does not fit the body.')
    throw error
  }
}

/** Answers once it is on record and, within the bound of a wait, decided; a refusal is on record too. */
export const receiveCardEvent = async (deps: CardEventNeeds, request: ApiRequest): Promise<Answer> => {
  const event = eventOf(deps, request)
  if (!event) return RECEIVED
  const row = await deps.mirror.get(INVOICE, event.invoice, { because: 'signed' })
  // another installation may share the processor's account
  if (!row || (event.account !== null && !isOwn(row, { account: event.account }))) return RECEIVED
  // the processor repeats it for days: what is stored in an older copy of the ledger goes with it
  refuseBehind(row.view)
  const fact = factOf(event)
  const { name } = row
  await settle(deps, request, cardEventCommand, {
    name,
    whose: sameOwner(row),
    resource: locationOf(name),
    pending: {},
    act: () => append(deps, { kind: INVOICE, name, fact, bringBack: () => bringBack(deps, row) }),
  }).catch((error: unknown) => {
    // it comes again, and brings the invoice back
    if (!(error instanceof Problem) || error.code === 'UNAVAILABLE') throw error
  })
  return RECEIVED
}
