/** Bytes that come in pieces, kept until they are whole. Whoever sends may send each byte by itself: no object is kept for each. */

/** So many small pieces become one. */
const LOOSE_MAX = 256
/** Larger ones are worth their object. */
const SMALL_BYTES = 4_096

export type Chunks = {
  add(chunk: Buffer): void
  /** All of them; the piece itself where there is but one. */
  joined(): Buffer
}

export const makeChunks = (): Chunks => {
  const kept: Buffer[] = []
  let [loose, looseBytes] = [0, 0]
  const settle = (): void => {
    if (looseBytes < LOOSE_MAX * SMALL_BYTES) kept.push(Buffer.concat(kept.splice(-loose), looseBytes))
    loose = 0
    looseBytes = 0
  }
  return {
    add(chunk) {
      kept.push(chunk)
      loose += 1
      looseBytes += chunk.length
      if (loose === LOOSE_MAX) settle()
    },
    joined: () => (kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept)),
  }
}
