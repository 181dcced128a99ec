/** "Why did my check fail": a delivery as a receiver got it, held against what was sent (CONTRACT section 4, Webhooks). */
import { bodyOf } from '../../crds/event.ts'
import { ID_HEADER } from '../../crds/webhook/signature.ts'
import { judge, type Received } from '../../crds/webhook/verify.ts'
import type { Deps } from '../deps.ts'
import type { Answer, ApiRequest } from '../route.ts'

/** Header names as they came, in any case. */
const headerOf = (headers: Readonly<Record<string, string>>, wanted: string): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1]

/** Looks, and stores nothing. */
export const verifyDelivery = async (deps: Deps, { caller: { account }, body }: ApiRequest): Promise<Answer> => {
  const received = body as Received
  const id = headerOf(received.headers, ID_HEADER)?.trim()
  const [event, held] = await Promise.all([
    id === undefined || id.includes('\0') ? null : deps.endpoints.event(account, id),
    deps.endpoints.secrets(account),
  ])
  const endpoints = held.map(({ url, secret, previous, previousUntil }) => ({
    name: url,
    secret,
    previous: previous !== null && previousUntil !== null ? { secret: previous, until: previousUntil } : null,
  }))
  const known = { now: deps.now(), event: event && { id: event.id, body: bodyOf(event) }, endpoints }
  return { status: 200, body: { ...judge(received, known) } }
}
