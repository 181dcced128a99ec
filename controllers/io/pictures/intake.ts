/** Pictures that a content names by address: fetched once, through the guard, over https alone. */
import type { Egress, EgressAnswer } from '../../net/egress.ts'
import { IMAGE_BYTES_MAX } from './images.ts'

const LIMIT_MS = 20_000

export type TakenPicture = { ok: true; bytes: Buffer } | { ok: false; reason: string }
export type Intake = (address: string, signal: AbortSignal) => Promise<TakenPicture>

const refusal = (reason: string): TakenPicture => ({ ok: false, reason })

const reasonOf = ({ fault, status }: Extract<EgressAnswer, { ok: false }>): string => {
  switch (fault) {
    case 'BAD_URL':
      return 'is no plain https address'
    case 'EGRESS_REFUSED':
    case 'NO_SUCH_NAME':
      return 'does not lead to a public address'
    case 'CONNECTION_FAILED':
    case 'TLS_FAILED':
      return 'could not be fetched'
    case 'ANSWER_TOO_LARGE':
      return `is larger than ${IMAGE_BYTES_MAX} bytes`
    case 'TIMEOUT':
    case 'BROKEN_ANSWER':
      return status === null ? 'could not be fetched' : 'broke off'
    default: {
      const never: never = fault
      return never
    }
  }
}

export const makeIntake =
  ({ egress }: { egress: Pick<Egress, 'exchange'> }): Intake =>
  async (url, signal) => {
    if (!URL.canParse(url)) return refusal('is no address')
    // The development exception lets http through to loopback, but not into a published page.
    if (new URL(url).protocol !== 'https:') return refusal('is no plain https address')
    const headers = { accept: 'image/avif,image/webp,image/png,image/jpeg' }
    const answer = await egress.exchange({
      method: 'GET',
      url,
      headers,
      limitMs: LIMIT_MS,
      bytesMax: IMAGE_BYTES_MAX,
      signal,
    })
    if (answer.status !== null && answer.status !== 200) return refusal(`was answered with ${answer.status}`)
    return answer.ok ? { ok: true, bytes: answer.body } : refusal(reasonOf(answer))
  }
