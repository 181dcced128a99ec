/**
 * Which Han characters a page shows, and in which voice: read out of the markup that the renderer wrote, where every `<` begins a
 * tag and no attribute holds a `>`. Source: rules/site.md#fonts.
 */

export const VOICES = ['head', 'strong', 'text'] as const
export type HanVoice = (typeof VOICES)[number]

/** Characters of each voice. Those of a heading stand in `text` as well, so that a face is never asked for what it lacks. */
export type Letters = Record<HanVoice, Set<string>>

export const noLetters = (): Letters => ({ head: new Set(), strong: new Set(), text: new Set() })

/** What a Han face draws: first and last character. Quotes, dash and dots are Han's own there, which Latin faces have narrow. */
export const HAN_MARKS: readonly (readonly [number, number])[] = [
  [0x2014, 0x2014],
  [0x201c, 0x201d],
  [0x2026, 0x2026],
]
export const HAN_BLOCKS: readonly (readonly [number, number])[] = [
  [0x2460, 0x24ff],
  [0x25a0, 0x25cf],
  [0x2e80, 0x9fff],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe1f],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
  [0x20000, 0x323af],
]

const isIn = (code: number, blocks: typeof HAN_BLOCKS): boolean =>
  blocks.some(([first, last]) => code >= first && code <= last)

/** Letters of Latin scripts are most of what there is to ask about. */
const LEAST = 0x2014

export const isHanLetter = (letter: string): boolean => {
  const code = letter.codePointAt(0) ?? 0
  return code >= LEAST && (isIn(code, HAN_BLOCKS) || isIn(code, HAN_MARKS))
}

/** What is set in the head face, and what is set bold; a test holds both against the style sheets. */
export const HEAD_TAGS: ReadonlySet<string> = new Set(['h1', 'h2', 'h3', 'h4', 'blockquote', 'th'])
export const HEAD_CLASSES: ReadonlySet<string> = new Set([
  'big',
  'blank',
  'brand',
  'go',
  'mail',
  'names',
  'run',
  'to',
  'who',
])
export const STRONG_TAGS: ReadonlySet<string> = new Set(['label', 'strong', 'summary', 'nav', 'dt', 'th'])
export const STRONG_CLASSES: ReadonlySet<string> = new Set(['button', 'by', 'chat', 'more', 'tag', 'tel', 'toindex'])

const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

const CLASS = ' class="'

const classesOf = (tag: string): string[] => {
  const at = tag.indexOf(CLASS)
  if (at < 0) return []
  const start = at + CLASS.length
  return tag.slice(start, tag.indexOf('"', start)).split(' ')
}

const nameOf = (tag: string): string => {
  const space = tag.indexOf(' ')
  return space < 0 ? tag : tag.slice(0, space)
}

type Open = { head: boolean; strong: boolean }

const opened = (tag: string, name: string, around: Open): Open => {
  const classes = classesOf(tag)
  return {
    head: around.head || HEAD_TAGS.has(name) || classes.some((one) => HEAD_CLASSES.has(one)),
    strong: around.strong || STRONG_TAGS.has(name) || classes.some((one) => STRONG_CLASSES.has(one)),
  }
}

const note = (letters: Letters, text: string, { head, strong }: Open): void => {
  for (const letter of text) {
    if (!isHanLetter(letter)) continue
    letters.text.add(letter)
    if (head) letters.head.add(letter)
    if (strong) letters.strong.add(letter)
  }
}

/** Adds what a page shows. @param markup of a body that the renderer wrote */
export const addLetters = (letters: Letters, markup: string): void => {
  const around: Open[] = [{ head: false, strong: false }]
  for (let at = 0; at < markup.length; ) {
    const start = markup.indexOf('<', at)
    const here = around.at(-1) ?? { head: false, strong: false }
    note(letters, markup.slice(at, start < 0 ? markup.length : start), here)
    const end = start < 0 ? -1 : markup.indexOf('>', start)
    if (end < 0) return
    const tag = markup.slice(start + 1, end)
    if (tag.startsWith('/')) around.pop()
    else {
      const name = nameOf(tag)
      if (!VOID.has(name)) around.push(opened(tag, name, here))
    }
    at = end + 1
  }
}
