/** Files on their way to a host, counted as they are taken. */
import { Readable } from 'node:stream'
import type { RemoteBody } from '../../../io/hosts/hosts.ts'

/** What is handed over at once: a channel takes about as much before it makes us wait. */
const PIECE_BYTES = 128 * 1024
/** What is sent sooner needs no words. */
const TELL_EVERY_MS = 2_000

/**
 * @param tell told how many bytes the host has taken, every other second; a failure of it is nobody's concern but the log's reader's
 * @returns the body, and the way to wait until all was told
 */
export const counted = (
  bytes: Buffer,
  tell: (sent: number) => Promise<void>,
): { body: RemoteBody; told(): Promise<void> } => {
  let toldMs = performance.now()
  let telling: Promise<void> = Promise.resolve()
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      if (performance.now() - toldMs >= TELL_EVERY_MS) {
        toldMs = performance.now()
        telling = telling.then(() => tell(at)).catch(() => {})
      }
      yield bytes.subarray(at, at + PIECE_BYTES)
    }
  }
  return {
    body: { stream: Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES }), bytes: bytes.length },
    told: () => telling,
  }
}
