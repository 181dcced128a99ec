/** Bytes that come in pieces, kept until they are whole. Whoever sends may send each byte by itself: no object is kept for each. */

/** So many small pieces become one. */
const LOOSE_MAX = 256
/** Larger ones are worth their object. */
const SMALL_BYTES = 4_096
/**
 * From here on pieces are copied as they come, into room that grows: to join fifteen megabytes at their end holds up everybody for 10 ms,
 * and holds them twice.
 */
const LARGE_BYTES = 1_048_576
/** Room is never more than this many times what came: what a caller only declares costs nothing. */
const GROWTH = 4
const GROWTH_UNDECLARED = 2

export type Chunks = {
  add(chunk: Buffer): void
  /** All of them; the piece itself where there is but one. */
  joined(): Buffer
}

/** Few pieces, the small ones joined as they become many. */
const makePieces = () => {
  const kept: Buffer[] = []
  let [loose, looseBytes] = [0, 0]
  const settle = (): void => {
    if (looseBytes < LOOSE_MAX * SMALL_BYTES) kept.push(Buffer.concat(kept.splice(-loose), looseBytes))
    loose = 0
    looseBytes = 0
  }
  return {
    add(chunk: Buffer): void {
      kept.push(chunk)
      loose += 1
      looseBytes += chunk.length
      if (loose === LOOSE_MAX) settle()
    },
    all: (): readonly Buffer[] => kept,
    drop: (): void => {
      kept.length = 0
    },
  }
}

/** @param declaredBytes what the sender says will come; they may say anything */
export const makeChunks = (declaredBytes = 0): Chunks => {
  const pieces = makePieces()
  let room: Buffer | null = null
  let bytes = 0

  /** Room for so many bytes, with what came before in it. */
  const roomFor = (needed: number): Buffer => {
    if (room && room.length >= needed) return room
    const size = declaredBytes >= needed ? Math.min(declaredBytes, needed * GROWTH) : needed * GROWTH_UNDECLARED
    const larger = Buffer.allocUnsafeSlow(size)
    let at = 0
    for (const piece of room ? [room.subarray(0, bytes)] : pieces.all()) at += piece.copy(larger, at)
    pieces.drop()
    room = larger
    return larger
  }

  return {
    add(chunk) {
      const needed = bytes + chunk.length
      if (needed > LARGE_BYTES) chunk.copy(roomFor(needed), bytes)
      else pieces.add(chunk)
      bytes = needed
    },
    joined: () => {
      if (room) return room.subarray(0, bytes)
      const all = pieces.all()
      return all.length === 1 && all[0] ? all[0] : Buffer.concat(all)
    },
  }
}
