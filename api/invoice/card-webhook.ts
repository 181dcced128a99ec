/**
 * The card processor's webhook: what is signed is recorded as a pending fact under the processor's own names, so that
 * replays and reorders meet what stands there; the controllers' plan decides (spec/1 "Optional card collection").
 */

import { BadSignature } from '../../controllers/runtime/cardevents.ts'
import type { NewFact } from '../../controllers/runtime/facts.ts'
import { type CardNews, cardNewsOf } from '../../crds/invoice/cardnews.ts'
import { closedKey, reportKey } from '../../crds/invoice/collected.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { paymentKey } from '../../crds/invoice/records.ts'
import type { Deps } from '../deps.ts'
import { report } from '../fact.ts'
import { Problem } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'
import { bringBack } from './comeback.ts'

/** What the processor sends is a few kilobytes. */
export const CARD_EVENT_MAX_BYTES = 256_000
const METHOD = 'card'

const RECEIVED: Answer = { status: 200, body: { received: true } }

const factOf = (news: CardNews): Pick<NewFact, 'key' | 'kind' | 'body'> => {
  switch (news.news) {
    case 'paid': {
      const { intent, ...card } = news.card
      const body = { ...card, amountCents: null, method: METHOD, reference: intent, declaredBy: 'gateway' }
      return { key: paymentKey(intent), kind: 'payment', body }
    }
    case 'expired':
      return { key: closedKey(news.id), kind: 'closed', body: { id: news.id, how: 'expired' } }
    case 'refund': {
      const { refund, part, state, reason } = news
      return { key: reportKey(refund, state), kind: 'refund_report', body: { refund, part, state, reason } }
    }
    default:
      return news satisfies never
  }
}

const newsOf = ({ cards }: Deps, { form, headers }: ApiRequest): CardNews | null => {
  if (!cards) throw new Problem('NOT_FOUND', 'This installation has no card processor.')
  const signature = headers['stripe-signature']
  try {
    return cardNewsOf(cards.read(form ?? Buffer.alloc(0), typeof signature === 'string' ? signature : undefined))
  } catch (error) {
    if (error instanceof BadSignature) throw new Problem('BAD_SIGNATURE', 'The signature does not fit the body.')
    throw error
  }
}

/** Answers once it is on record and, within the bound of a wait, decided; a refusal is on record too. */
export const receiveCardEvent = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const news = newsOf(deps, request)
  if (!news) return RECEIVED
  const row = await deps.mirror.get(INVOICE.kind, news.invoice)
  // another installation may share the processor's account
  if (!row || (news.account !== null && news.account !== row.account)) return RECEIVED
  const fact = factOf(news)
  const back = () => bringBack(deps, row)
  await report(deps, { kind: INVOICE, name: row.name, fact, isAsync: false, bringBack: back }).catch(
    (error: unknown) => {
      if (!(error instanceof Problem)) throw error
    },
  )
  return RECEIVED
}
