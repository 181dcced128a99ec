/** The paper, the type and the cursor: how a document's page is measured out, in points, origin at the top left. */
import { NEWLINE } from '../../../crds/text/drawn.ts'
import { type Chain, type Line, lineOf, shown, widthOf, wrap } from './lines.ts'

export type Weight = 'regular' | 'bold'
export type Faces = Record<Weight, Chain>
export type Ink = 'ink' | 'muted' | 'rule' | 'ghost' | 'paid' | 'note' | 'band'

/** `y` of a text is its baseline, of a frame its foot. `turn` is in degrees (0 to 90), counter-clockwise round (x, y). */
export type Mark =
  | { mark: 'text'; line: Line; size: number; x: number; y: number; ink: Ink; turn?: number }
  | { mark: 'fill'; x: number; y: number; width: number; height: number; ink: Ink }
  | { mark: 'frame'; x: number; y: number; width: number; height: number; ink: Ink; turn: number }
  | { mark: 'logo'; x: number; y: number; width: number; height: number }

export const PAGE = { width: 595.28, height: 841.89 }
export const LEFT = 48
export const RIGHT = PAGE.width - 48
export const WIDTH = RIGHT - LEFT
export const TOP = 48
export const FLOOR = PAGE.height - 78
export const BODY = { weight: 'regular', size: 9, ink: 'ink' } as const
export const SMALL = { weight: 'regular', size: 8.5, ink: 'muted' } as const
export const LABEL = { weight: 'bold', size: 7.5, ink: 'muted' } as const
export const STRONG = { weight: 'bold', size: 10, ink: 'ink' } as const
export const FINE = { weight: 'regular', size: 7.5, ink: 'muted' } as const

export type Style = { weight: Weight; size: number; ink: Ink }

/** A cursor that knows its page and how far down it has come, which is `y`. */
export const makeCursor = (faces: Faces) => {
  const pages: Mark[][] = [[]]
  const put = (mark: Mark): void => void pages.at(-1)?.push(mark)
  const measure = ({ weight, size }: Style, text: string): number => (widthOf(faces[weight], text) * size) / 1000
  const set = ({ size, ink }: Style, x: number, baseline: number, line: Line): void =>
    put({ mark: 'text', line, size, ink, x, y: baseline })
  const laid = ({ weight }: Style, text: string): Line =>
    lineOf(faces[weight], shown(faces[weight], text.split(NEWLINE).join(' ')))
  const left = (style: Style, x: number, baseline: number, text: string): void =>
    set(style, x, baseline, laid(style, text))
  const right = (style: Style, end: number, baseline: number, text: string): void => {
    const line = laid(style, text)
    set(style, end - (line.width * style.size) / 1000, baseline, line)
  }
  const turnPage = (): void => {
    pages.push([])
    cursor.y = TOP
  }
  const cursor = {
    pages,
    // a value, and no accessor: V8 makes a shape for each object with accessors of its own, and keeps it until all is looked through
    y: TOP,
    put,
    measure,
    laid,
    set,
    left,
    right,
    room: (): number => FLOOR - cursor.y,
    turnPage,
    rule: (x: number, width: number, at: number, ink: Ink = 'rule') =>
      put({ mark: 'fill', x, y: at, width, height: ink === 'rule' ? 0.5 : 0.9, ink }),
    lines: (style: Style, text: string, width: number) => wrap(faces[style.weight], style.size, text, width),
    /** Writes wrapped text in a column from where the cursor stands; goes on at the top of the next page if it must. */
    column: (style: Style, text: string, x: number, width: number): void => {
      const step = style.size * 1.38
      for (const line of wrap(faces[style.weight], style.size, text, width)) {
        if (FLOOR - cursor.y < step) turnPage()
        set(style, x, cursor.y + style.size * 1.08, line)
        cursor.y += step
      }
    },
  }
  return cursor
}
export type Cursor = ReturnType<typeof makeCursor>
