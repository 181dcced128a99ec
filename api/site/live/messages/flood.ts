/** How often one address writes to sites, over all of them and all replicas; the address is kept as a hash. */
import { createHash } from 'node:crypto'
import type { Pg } from '../../../../controllers/store/pg/pg.ts'
import { ADDRESS_MESSAGES, ADDRESS_WINDOW_SECONDS } from '../../../../crds/site/publishing/messages/message.ts'
import { makeSharedCounter } from '../../../http/stages/counters.ts'
import { addressKey } from '../../../http/stages/limits.ts'

export type Flood = {
  /** Counts one. @returns milliseconds until the next is free; 0 when this one is. @throws DatabaseUnavailable */
  take(ip: string): Promise<number>
}

export const makeFlood = ({ pg }: { pg: Pg }): Flood => {
  const counter = makeSharedCounter(pg, 'form', { max: ADDRESS_MESSAGES, seconds: ADDRESS_WINDOW_SECONDS })
  return {
    async take(ip) {
      const { count, leftMs } = await counter.take(createHash('sha256').update(addressKey(ip)).digest('base64url'))
      return count <= counter.max ? 0 : Math.max(1, leftMs)
    },
  }
}
