/**
 * How two texts differ, by lines and within them by words, as somebody reads it who knows the older one. The cost is bounded: what
 * is too unlike is shown as gone and new. The only file that imports diff (Myers, "An O(ND) difference algorithm", 1986).
 */
import { diffArrays } from 'diff'

/** Lines that are gone or new, beyond which two texts are taken for different ones. */
export const LINE_EDITS_MAX = 400
/** The same of words in one line; and how long a line may be. */
export const WORD_EDITS_MAX = 200
export const WORDS_MAX = 1_500
/** Lines that stay the same around a change. */
const CONTEXT_LINES = 1
/** Of what two lines have in common, measured in letters, so that one counts as the other changed. */
const LIKE_SHARE = 0.35

export type DiffPiece = { is: 'same' | 'gone' | 'new'; text: string }
/** `changed` is one line, word by word; `left` so many lines that stay as they are. */
export type DiffLine = DiffPiece | { is: 'changed'; pieces: DiffPiece[] } | { is: 'left'; count: number }

/** `isWhole`: the two were too unlike to be compared, or one of them is empty. */
export type TextDiff = { lines: DiffLine[]; isWhole: boolean; gone: number; added: number }

/** Words, single letters of Han, and everything else letter by letter. */
const WORD = /\p{Script=Han}|[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]/gu
const NUMBER = /^\p{N}/u
const DIVIDES = /^[.,:]$/

/** A number is one word with what divides it. */
const wordsOf = (line: string): string[] => {
  const words: string[] = []
  for (const word of line.match(WORD) ?? []) {
    const [before = '', last = ''] = words.slice(-2)
    if (NUMBER.test(word) && DIVIDES.test(last) && NUMBER.test(before)) words.splice(-2, 2, before + last + word)
    else words.push(word)
  }
  return words
}

const joined = (is: DiffPiece['is'], words: readonly string[]): DiffPiece => ({ is, text: words.join('') })
const kindOf = (part: { added?: boolean; removed?: boolean }): DiffPiece['is'] =>
  part.added ? 'new' : part.removed ? 'gone' : 'same'

/** @returns null where the two have too little in common to be one line */
const changedLine = (before: string, after: string): DiffPiece[] | null => {
  const [old, now] = [wordsOf(before), wordsOf(after)]
  if (old.length > WORDS_MAX || now.length > WORDS_MAX) return null
  const parts = diffArrays(old, now, { maxEditLength: WORD_EDITS_MAX })
  if (parts === undefined) return null
  const pieces = parts.map((part) => joined(kindOf(part), part.value))
  const common = pieces.filter(({ is, text }) => is === 'same' && text.trim() !== '')
  const shared = common.reduce((sum, { text }) => sum + text.length, 0)
  return shared < LIKE_SHARE * Math.max(before.length, after.length) ? null : pieces
}

/** Neighbours in pairs: the first that is gone with the first that came, and so on. */
const replaced = (gone: readonly string[], added: readonly string[]): DiffLine[] => {
  const lines: DiffLine[] = []
  for (let place = 0; place < Math.max(gone.length, added.length); place++) {
    const [before, after] = [gone[place], added[place]]
    const pieces = before === undefined || after === undefined ? null : changedLine(before, after)
    if (pieces !== null) lines.push({ is: 'changed', pieces })
    else {
      if (before !== undefined) lines.push({ is: 'gone', text: before })
      if (after !== undefined) lines.push({ is: 'new', text: after })
    }
  }
  return lines
}

const same = (text: string): DiffLine => ({ is: 'same', text })

/** What stays, shortened to what stands next to a change. */
const context = (lines: readonly string[], isFirst: boolean, isLast: boolean): DiffLine[] => {
  const head = isFirst ? 0 : CONTEXT_LINES
  const tail = isLast ? 0 : CONTEXT_LINES
  const count = lines.length - head - tail
  if (count <= 1) return lines.map(same)
  return [...lines.slice(0, head).map(same), { is: 'left', count }, ...lines.slice(lines.length - tail).map(same)]
}

const whole = (before: readonly string[], after: readonly string[]): TextDiff => ({
  lines: [
    ...before.map((text): DiffLine => ({ is: 'gone', text })),
    ...after.map((text): DiffLine => ({ is: 'new', text })),
  ],
  isWhole: true,
  gone: before.length,
  added: after.length,
})

type Part = { value: string[]; added: boolean; removed: boolean }
/** A part that stays; or what is gone with what came in its place. */
type Step = { stays: string[] } | { gone: string[]; added: string[] }

const stepsOf = (parts: readonly Part[]): Step[] => {
  const steps: Step[] = []
  for (const { value, added, removed } of parts) {
    const last = steps.at(-1)
    if (!added && !removed) steps.push({ stays: value })
    else {
      const open = last !== undefined && 'gone' in last ? last : { gone: [], added: [] }
      if (open !== last) steps.push(open)
      open[added ? 'added' : 'gone'].push(...value)
    }
  }
  return steps
}

const count = (steps: readonly Step[], of: 'gone' | 'added'): number =>
  steps.reduce((sum, step) => sum + ('gone' in step ? step[of].length : 0), 0)

/** Pure, and the same for the same two texts. @returns no lines where nothing differs */
export const diffText = (before: readonly string[], after: readonly string[]): TextDiff => {
  if (before.length === 0 || after.length === 0) return whole(before, after)
  const parts = diffArrays([...before], [...after], { maxEditLength: LINE_EDITS_MAX })
  if (parts === undefined) return whole(before, after)
  const steps = stepsOf(parts)
  const isSame = steps.every((step) => 'stays' in step)
  const lines = isSame
    ? []
    : steps.flatMap((step, place) =>
        'stays' in step
          ? context(step.stays, place === 0, place === steps.length - 1)
          : replaced(step.gone, step.added),
      )
  return { lines, isWhole: false, gone: count(steps, 'gone'), added: count(steps, 'added') }
}
