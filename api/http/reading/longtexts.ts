/**
 * Long texts of a body stay the bytes that were sent while the rest of it becomes values, and are read piece by piece: one text of
 * fifteen megabytes held up everybody for 50 ms where each of its signs is an escape.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'

/** Where a text stands, with its quotes; `end` is behind the last one. */
export type LongText = { start: number; end: number }

/** `rest`: the body in which a word stands for each long text; `textOf` gives the bytes of that text with its quotes. */
export type Lifted = { rest: Buffer; textOf(value: string): Buffer | null }

/** @param texts in their order; none is a name of a member */
export const lift = (bytes: Buffer, texts: readonly LongText[]): Lifted => {
  // nobody can write it who has not seen it
  const mark = `${randomUUID()} `
  const starts = [0, ...texts.map(({ end }) => end)]
  const parts = texts.flatMap(({ start }, n) => [bytes.subarray(starts[n], start), Buffer.from(`"${mark}${n}"`)])
  const textOf = (value: string): Buffer | null => {
    const text = value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : undefined
    return text ? bytes.subarray(text.start, text.end) : null
  }
  return { rest: Buffer.concat([...parts, bytes.subarray(starts.at(-1))]), textOf }
}

export const BACKSLASH = 0x5c
/** Of the longest escape, `\u0041`. */
const ESCAPE_BYTES = 6
/** Bytes of one character in UTF-8 behind its first. */
const FOLLOWING_MAX = 3
const isFollowing = (byte: number | undefined): boolean => byte !== undefined && byte >> 6 === 0b10

/** The last place up to `at` that is within no escape and no character. @param start where one begins, a piece before `at` */
const cutUpTo = (bytes: Buffer, start: number, at: number): number => {
  const from = at - ESCAPE_BYTES + 1
  const last = bytes.subarray(from, at).lastIndexOf(BACKSLASH)
  if (last < 0) {
    let cut = at
    while (at - cut < FOLLOWING_MAX && isFollowing(bytes[cut])) cut--
    return cut
  }
  const end = from + last + 1
  let run = end - 1
  while (run > start && bytes[run - 1] === BACKSLASH) run--
  // nothing but backslashes from the start: each two are one
  return run > start ? run : end - ((end - start) % 2)
}

const PIECE_BYTES = 1_000_000

/** Not one decoder for all: after a fault it would go on in the middle of a character. */
const decoded = (bytes: Buffer, ignoreBOM: boolean): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes)

/**
 * The text that a JSON string stands for (RFC 8259 section 7). Others are served between two pieces of it.
 * @param quoted its bytes with its quotes @throws SyntaxError, TypeError for what is none, or no UTF-8
 */
export const readText = async (quoted: Buffer): Promise<string> => {
  const inner = quoted.subarray(1, -1)
  const pieces: string[] = []
  for (let at = 0; at < inner.length; ) {
    const end = at + PIECE_BYTES >= inner.length ? inner.length : cutUpTo(inner, at, at + PIECE_BYTES)
    pieces.push(JSON.parse(`"${decoded(inner.subarray(at, end), true)}"`) as string)
    at = end
    if (pieces.length > 1 || at < inner.length) await turn()
  }
  return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('')
}

type Place = { set(text: string): void; text: Buffer }

/** Where in a value texts are missing. */
const placesIn = (value: object, { textOf }: Lifted): Place[] => {
  const places: Place[] = []
  const walk = (holder: object): void => {
    for (const key of Object.keys(holder)) {
      const held: unknown = Reflect.get(holder, key)
      if (typeof held === 'object' && held !== null) walk(held)
      const text = typeof held === 'string' ? textOf(held) : null
      if (text) places.push({ text, set: (said) => void Reflect.set(holder, key, said) })
    }
  }
  walk(value)
  return places
}

const TURN_BYTES = 100_000

/**
 * The value of a body, its long texts read one after the other. A mark before it (RFC 8259 section 8.1) is passed over.
 * @param texts as they stand in it; none is a name of a member @throws SyntaxError, TypeError
 */
export const parseApart = async (bytes: Buffer, texts: readonly LongText[]): Promise<unknown> => {
  const lifted = lift(bytes, texts)
  const rest = decoded(lifted.rest, false)
  await turn()
  const body = { value: JSON.parse(rest) as unknown }
  await turn()
  let read = 0
  for (const { set, text } of placesIn(body, lifted)) {
    set(await readText(text))
    read += text.length
    if (read < TURN_BYTES) continue
    read = 0
    await turn()
  }
  return body.value
}
