/**
 * One request on its way to an answer. It passes through stages in a fixed order (pipeline.ts); each adds what it found
 * out, may refuse by throwing a Problem, and hands on by calling `next`.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from './caller.ts'
import type { ByteMeter } from './reading/take.ts'
import type { Answer, Audited, RouteHead } from './route.ts'

export type Exchange = {
  route: RouteHead
  /** As sent: HEAD is served by a GET route. */
  method: string
  /** Path with the query, as sent. */
  url: string
  params: Record<string, string>
  headers: IncomingHttpHeaders
  /** Address of the peer. */
  ip: string
  requestId: string
  /** Nobody is there any more who could be answered. */
  isGone(): boolean
  /** Reads the body once, under the route's cap. @throws Problem BODY_TOO_LARGE */
  bytes(): Promise<Buffer>
  /** Told of the bytes of the body as they come. */
  meter?: ByteMeter
  /** Called once, when the whole body is there. @throws Problem when there is no place for it */
  onArrival?: () => void
  /** Headers for whatever will be answered, refusals included (RateLimit). */
  answerHeaders: Record<string, string>
  /** Set by the stage that authenticates; absent on public routes without a credential. */
  caller?: Caller
  /** Set by the stage that keeps Idempotency-Keys: names this use of the key, the same for each retry (idempotency.ts). */
  idempotencyKey?: string
  /** Set by the stage that writes the audit; a handler may say more than the request shows. */
  audited?: Audited
  /** Set by the stage that checks the shape. */
  query: Record<string, string>
  body: unknown
  form: Buffer | undefined
}

export type Stage = (exchange: Exchange, next: () => Promise<Answer>) => Promise<Answer>

/** The stages as one, the first outermost. */
export const compose =
  (stages: readonly Stage[]): Stage =>
  (exchange, last) => {
    const from = (index: number): Promise<Answer> => {
      const stage = stages[index]
      return stage ? stage(exchange, () => from(index + 1)) : last()
    }
    return from(0)
  }
