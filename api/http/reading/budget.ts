/**
 * Bytes that are held in memory for others: bodies that arrive, what comes out of them, answers that wait for their reader.
 * The process has so many, and each party its share: an account, or the address of who has none. Who goes beyond is refused;
 * everybody else goes on.
 */
import { type Problem, tooMany, unavailable } from '../problem.ts'
import type { ByteMeter } from './take.ts'

export type ByteSettings = {
  /** Of the process, and of one account or address. */
  heldMegabytes: number
  heldMegabytesPerParty: number
}

const RETRY_SECONDS = 2

/** What one request holds. */
export type HeldBytes = {
  /** @throws Problem TOO_MANY_REQUESTS beyond the share of the party, UNAVAILABLE beyond that of the process */
  take: ByteMeter
  /** Gives all of it back. */
  end(): void
}

const MEGABYTE = 1_000_000

export const makeByteBudget = ({ heldMegabytes, heldMegabytesPerParty }: ByteSettings) => {
  const parties = new Map<string, number>()
  let all = 0

  const refusal = (bytes: number, ofParty: number): Problem | null => {
    if (ofParty + bytes > heldMegabytesPerParty * MEGABYTE) {
      const detail = `More than ${heldMegabytesPerParty} MB of yours are under way at once.`
      return tooMany(detail, RETRY_SECONDS * 1000)
    }
    return all + bytes > heldMegabytes * MEGABYTE
      ? unavailable('The service is busy', { retryAfterSeconds: RETRY_SECONDS })
      : null
  }

  const open = (party: string): HeldBytes => {
    let own = 0
    return {
      take(bytes) {
        const ofParty = parties.get(party) ?? 0
        const refused = refusal(bytes, ofParty)
        if (refused) throw refused
        parties.set(party, ofParty + bytes)
        all += bytes
        own += bytes
      },
      end() {
        const left = (parties.get(party) ?? 0) - own
        if (left > 0) parties.set(party, left)
        else parties.delete(party)
        all -= own
        own = 0
      },
    }
  }
  return { open, held: () => all }
}
