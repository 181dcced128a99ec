/** A text in its sentences. Each keeps the white space behind it, so that together they are the text. */

const ENDS = '.!?…'
/** Of texts without spaces: these end a sentence whatever follows. */
const UNSPACED_ENDS = '。！？'
const CLOSING = '"”’\')）」』»'
const SPACE = /\s/u

/** The first place from `at` on where none of these stands. */
const behind = (text: string, at: number, is: (unit: string) => boolean): number => {
  let end = at
  while (end < text.length && is(text[end] ?? '')) end++
  return end
}
const isMark = (unit: string): boolean => (ENDS + UNSPACED_ENDS + CLOSING).includes(unit)
const isSpace = (unit: string): boolean => SPACE.test(unit)

/** Where the sentence that may end at this place does end, behind its white space; -1 where it goes on. */
const endAt = (text: string, at: number): number => {
  const unit = text[at] ?? ''
  if (unit === '\n') return behind(text, at, isSpace)
  if (!ENDS.includes(unit) && !UNSPACED_ENDS.includes(unit)) return -1
  const end = behind(text, at + 1, isMark)
  // a point within a number, an address or an abbreviation
  if (ENDS.includes(unit) && end < text.length && !isSpace(text[end] ?? '')) return -1
  return behind(text, end, isSpace)
}

export const sentencesOf = (text: string): string[] => {
  const sentences: string[] = []
  let [from, at] = [0, 0]
  while (at < text.length) {
    const end = endAt(text, at)
    if (end >= 0 && text.slice(from, end).trim() !== '') {
      sentences.push(text.slice(from, end))
      from = end
    }
    at = Math.max(at + 1, end)
  }
  if (text.slice(from).trim() !== '') sentences.push(text.slice(from))
  return sentences
}
