/**
 * The daily cap of sends over REST: a place is reserved before the resource is written, and given back when the request
 * is refused. When nobody knows whether it was written the place is kept, and lapses if the resource never appears.
 * A repeat of a send finds its own place and is free (rules/invoice.md#cap-of-sends).
 */
import { KubeError } from '../../../controllers/base/errors.ts'
import { limitOf, nextTurn, quotaDay, sendCapDetail } from '../../../crds/account/quotas.ts'
import { layingReady } from '../../command/written.ts'
import { Problem } from '../../http/problem.ts'
import type { ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'

/** Refused for certain: nothing was written, or what was written stands still. */
const isRefusal = (error: unknown): boolean => {
  const status = error instanceof Problem || error instanceof KubeError ? error.status : 0
  return status >= 400 && status < 500 && status !== 429
}

/** Frees the place of a first send that was refused for certain. */
export const giveBackRefused = async (
  { sendQuota }: Pick<Deps, 'sendQuota'>,
  resource: string,
  refusal: unknown,
): Promise<void> => {
  if (isRefusal(refusal)) await sendQuota.giveBack({ resource, n: 1 })
}

/**
 * Runs `send` with a place for the first send of `resource`, and tells it whether the place is taken by this request.
 * @throws Problem SEND_CAP when the day's sends are used up, with Retry-After until the next day
 */
export const underSendCap = async <R>(
  deps: Pick<Deps, 'sendQuota' | 'now'>,
  { caller }: Pick<ApiRequest, 'caller'>,
  resource: string,
  send: (reserved: boolean) => Promise<R>,
): Promise<R> => {
  const { account, profile } = caller
  const now = deps.now()
  const limit = limitOf('sends_per_day', profile)
  const take = async () => {
    const outcome = await deps.sendQuota.take({ resource, n: 1, account, day: quotaDay(now), limit })
    if (outcome !== 'refused') return outcome === 'taken'
    const seconds = Math.max(1, Math.ceil((Date.parse(nextTurn(now)) - now.getTime()) / 1000))
    throw new Problem('SEND_CAP', `${sendCapDetail(account, limit, now)}.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
  return layingReady({
    lay: take,
    use: async (reserved) => {
      try {
        return await send(reserved)
      } catch (error) {
        if (reserved) await giveBackRefused(deps, resource, error)
        throw error
      }
    },
    giveBack: async (reserved) => reserved && deps.sendQuota.giveBack({ resource, n: 1 }),
  })
}
