/**
 * Sets a document on A4 pages: from blocks to marks with coordinates in points, origin at the top left. Knows fonts
 * only by their measures and no PDF at all.
 */
import type { Column, Document, Fact, Stamp } from '../../crds/invoice/document.ts'
import { fill } from '../../crds/invoice/words.ts'
import type { Face } from './fonts.ts'
import { shown, wrap } from './lines.ts'

export type Weight = 'regular' | 'bold'
export type Faces = Record<Weight, Face>
export type Ink = 'ink' | 'muted' | 'rule' | 'ghost' | 'paid' | 'note' | 'band'

/** `y` of a text is its baseline, of a frame its foot. `turn` is in degrees (0 to 90), counter-clockwise round (x, y). */
export type Mark =
  | { mark: 'text'; weight: Weight; size: number; x: number; y: number; text: string; ink: Ink; turn?: number }
  | { mark: 'fill'; x: number; y: number; width: number; height: number; ink: Ink }
  | { mark: 'frame'; x: number; y: number; width: number; height: number; ink: Ink; turn: number }

export const PAGE = { width: 595.28, height: 841.89 }
const LEFT = 48
const RIGHT = PAGE.width - 48
const WIDTH = RIGHT - LEFT
const TOP = 48
const FLOOR = PAGE.height - 78
const SIDE = 330
const FOOT_LINES = 3
const BODY = { weight: 'regular', size: 9, ink: 'ink' } as const
const SMALL = { weight: 'regular', size: 8.5, ink: 'muted' } as const
const LABEL = { weight: 'bold', size: 7.5, ink: 'muted' } as const
const STRONG = { weight: 'bold', size: 10, ink: 'ink' } as const
const FINE = { weight: 'regular', size: 7.5, ink: 'muted' } as const

type Style = { weight: Weight; size: number; ink: Ink }
type Spot = { x: number; y: number; width: number }

/** A pen that knows its page and how far down it has come. */
const makePen = (faces: Faces) => {
  const pages: Mark[][] = [[]]
  let y = TOP
  const put = (mark: Mark): void => void pages.at(-1)?.push(mark)
  const measure = ({ weight, size }: Style, text: string): number =>
    (faces[weight].widthOf(shown(faces[weight], text)) * size) / 1000
  const left = (style: Style, x: number, baseline: number, text: string): void =>
    put({ mark: 'text', ...style, x, y: baseline, text: shown(faces[style.weight], text) })
  const right = (style: Style, end: number, baseline: number, text: string): void =>
    left(style, end - measure(style, text), baseline, text)
  return {
    pages,
    put,
    measure,
    left,
    right,
    get y() {
      return y
    },
    set y(next: number) {
      y = next
    },
    room: () => FLOOR - y,
    turnPage: () => {
      pages.push([])
      y = TOP
    },
    rule: (x: number, width: number, at: number, ink: Ink = 'rule') =>
      put({ mark: 'fill', x, y: at, width, height: ink === 'rule' ? 0.5 : 0.9, ink }),
    lines: (style: Style, text: string, width: number) => wrap(faces[style.weight], style.size, text, width),
    /** Writes wrapped text and gives the y below it; for what is known to be short. */
    column: (style: Style, text: string, { x, y: from, width }: Spot): number => {
      const step = style.size * 1.38
      const lines = wrap(faces[style.weight], style.size, text, width)
      lines.forEach((line, index) => {
        left(style, x, from + step * (index + 0.78), line)
      })
      return from + step * lines.length
    },
  }
}
type Pen = ReturnType<typeof makePen>

/** Lays the whole document out; every page gets its watermark and its foot. */
export const typeset = (document: Document, faces: Faces): Mark[][] => {
  const pen = makePen(faces)
  setHead(pen, document)
  setTable(pen, document, faces)
  setSums(pen, document)
  setProse(pen, document)
  const foot = pen.lines(FINE, document.footer.text.trim(), WIDTH - 150)
  if (foot.length > FOOT_LINES) setParagraph(pen, FINE, foot)
  setEveryPage(pen.pages, document, faces, foot.length > FOOT_LINES ? [] : foot)
  return pen.pages
}

const setHead = (pen: Pen, { heading, seller, client, facts, due, stamps }: Document): void => {
  for (const { note } of stamps.filter(({ stamp }) => stamp !== 'PAID')) {
    pen.put({ mark: 'fill', x: LEFT, y: pen.y - 12, width: WIDTH, height: 20, ink: 'band' })
    pen.left({ ...SMALL, ink: 'note' }, LEFT + 8, pen.y + 1, note)
    pen.y += 26
  }
  const top = pen.y
  pen.right({ weight: 'bold', size: 22, ink: 'ink' }, RIGHT, top + 17, heading.title)
  pen.right({ ...SMALL, size: 10.5 }, RIGHT, top + 34, heading.number)
  const spot = { x: LEFT, width: SIDE - LEFT - 30 }
  let end = top
  for (const line of pen.lines({ ...STRONG, size: 13 }, seller.name, spot.width)) {
    end = pen.column({ ...STRONG, size: 13 }, line, { ...spot, y: end })
  }
  end += 3
  for (const line of seller.lines) end = pen.column(SMALL, line, { ...spot, y: end })
  const middle = Math.max(end, top + 60) + 26
  pen.rule(LEFT, WIDTH, middle - 13)
  const clientEnd = setClient(pen, client, { ...spot, y: middle })
  pen.y = Math.max(clientEnd, setFacts(pen, facts, due, middle)) + 24
}

const setClient = (pen: Pen, client: Document['client'], spot: Spot): number => {
  let end = pen.column(LABEL, client.label, spot) + 2
  if (client.name !== '') end = pen.column(STRONG, client.name, { ...spot, y: end })
  for (const line of client.lines) end = pen.column(SMALL, line, { ...spot, y: end })
  return end
}

const setFacts = (pen: Pen, facts: Fact[], due: Fact, from: number): number => {
  let end = from
  for (const fact of facts) {
    setPair(pen, fact, { x: SIDE, y: end + 8 }, [SMALL, { ...SMALL, ink: 'ink' }])
    end += 13.5
  }
  pen.rule(SIDE, RIGHT - SIDE, end + 3)
  setPair(pen, due, { x: SIDE, y: end + 21 }, [
    { ...STRONG, size: 9 },
    { ...STRONG, size: 13 },
  ])
  return end + 27
}

/** A label and its value at the right edge; both become smaller where they would meet. */
const setPair = (
  pen: Pen,
  { label, value }: Fact,
  { x, y }: { x: number; y: number },
  [name, figure]: [Style, Style],
): void => {
  const scale = Math.min(1, (RIGHT - x - 8) / (pen.measure(name, label) + pen.measure(figure, value)))
  pen.left({ ...name, size: name.size * scale }, x, y, label)
  pen.right({ ...figure, size: figure.size * scale }, RIGHT, y, value)
}

// ---- the table

type Grid = { columns: (Column & { x: number; end: number })[]; scale: number; textWidth: number }
const GAP = 14
const ROW_STEP = 12.4
const ROW_PAD = 5.5
const DESCRIPTION_MIN = 170

/** Columns of figures are as wide as their widest figure; when that starves the text, the figures become smaller. */
const gridOf = ({ columns, rows }: Document['items'], faces: Faces): Grid => {
  const widest = columns.slice(1).map((column, index) => {
    const label = (faces.bold.widthOf(shown(faces.bold, column.label)) * LABEL.size) / 1000
    const figures = rows.map((row) => faces.regular.widthOf(shown(faces.regular, row[index + 1] ?? '')))
    return Math.max(label, (figures.reduce((a, b) => Math.max(a, b), 0) * BODY.size) / 1000)
  })
  const free = WIDTH - DESCRIPTION_MIN - GAP * widest.length
  const scale = Math.min(1, free / widest.reduce((sum, width) => sum + width, 0))
  let end = RIGHT
  const figures = columns.slice(1).map((column, index) => ({ ...column, width: (widest[index] ?? 0) * scale }))
  const placed = figures.reverse().map((column) => {
    const x = end - column.width
    const cell = { ...column, x, end }
    end = x - GAP
    return cell
  })
  const first = columns.slice(0, 1).map((column) => ({ ...column, x: LEFT, end }))
  return { columns: [...first, ...placed.reverse()], scale, textWidth: end - LEFT }
}

const setTableHead = (pen: Pen, { columns, scale }: Grid): void => {
  for (const column of columns) {
    if (column.numeric) pen.right({ ...LABEL, size: LABEL.size * scale }, column.end, pen.y + 8, column.label)
    else pen.left(LABEL, column.x, pen.y + 8, column.label)
  }
  pen.rule(LEFT, WIDTH, pen.y + 14, 'ink')
  pen.y += 15
}

/** A row of up to a third of a page stays whole; a longer one is split between lines, and no line is lost. */
const setRow = (pen: Pen, grid: Grid, row: string[]): void => {
  const lines = pen.lines(BODY, row[0] ?? '', grid.textWidth)
  const height = lines.length * ROW_STEP + ROW_PAD * 2
  if (height > pen.room() && (height < (FLOOR - TOP) / 3 || pen.room() < ROW_STEP * 3)) turnTablePage(pen, grid)
  pen.y += ROW_PAD
  grid.columns.slice(1).forEach((column, index) => {
    pen.right({ ...BODY, size: BODY.size * grid.scale }, column.end, pen.y + 9, row[index + 1] ?? '')
  })
  for (const line of lines) {
    if (pen.room() < ROW_STEP + ROW_PAD) turnTablePage(pen, grid)
    pen.left(BODY, LEFT, pen.y + 9, line)
    pen.y += ROW_STEP
  }
  pen.y += ROW_PAD
  pen.rule(LEFT, WIDTH, pen.y)
}

const turnTablePage = (pen: Pen, grid: Grid): void => {
  pen.turnPage()
  setTableHead(pen, grid)
}

const setTable = (pen: Pen, { items }: Document, faces: Faces): void => {
  const grid = gridOf(items, faces)
  setTableHead(pen, grid)
  for (const row of items.rows) setRow(pen, grid, row)
}

// ---- what follows the table

const SUM_STEP = 17
const SUMS = SIDE - 40

const setSums = (pen: Pen, document: Document): void => {
  const tail = Math.min(document.sums.length, 8) * SUM_STEP + 20
  pen.y += 10
  if (tail > pen.room()) pen.turnPage()
  const top = pen.y
  const page = pen.pages.length
  for (const sum of document.sums) setSum(pen, sum)
  const bottom = pen.y
  // beside the sums, unless they ran on to another page
  if (pen.pages.length === page) pen.y = top
  setPayment(pen, document)
  pen.y = Math.max(pen.y, bottom) + 14
}

const setSum = (pen: Pen, sum: Document['sums'][number]): void => {
  const step = sum.strong ? SUM_STEP + 5 : SUM_STEP
  if (pen.room() < step) pen.turnPage()
  const figure: Style = sum.strong ? { ...STRONG, size: 10.5 } : BODY
  const name: Style = sum.strong ? figure : { ...BODY, ink: 'muted' }
  if (sum.strong) pen.rule(SUMS, RIGHT - SUMS, pen.y + 1, 'ink')
  setPair(pen, sum, { x: SUMS, y: pen.y + (sum.strong ? 15 : 12) }, [name, figure])
  pen.y += step
}

const setPayment = (pen: Pen, { stamps, payment }: Document): void => {
  const paid = stamps.find(({ stamp }) => stamp === 'PAID')
  if (paid) setPaidStamp(pen, paid)
  if (payment === null) return
  const spot = { x: LEFT, width: SUMS - LEFT - 30 }
  pen.y = pen.column(SMALL, payment.text, { ...spot, y: pen.y + 8 })
  for (const { label, value } of payment.facts) pen.y = pen.column(SMALL, `${label}: ${value}`, { ...spot, y: pen.y })
}

const STAMP_SIZE = 19
const STAMP_TURN = 4

const setPaidStamp = (pen: Pen, { word }: Stamp): void => {
  const style = { weight: 'bold', size: STAMP_SIZE, ink: 'paid' } as const
  const [x, y, angle] = [LEFT + 3, pen.y + 44, (STAMP_TURN * Math.PI) / 180]
  const along = (right: number, up: number): { x: number; y: number } => ({
    x: x + right * Math.cos(angle) - up * Math.sin(angle),
    y: y - right * Math.sin(angle) - up * Math.cos(angle),
  })
  pen.put({ mark: 'frame', x, y, width: pen.measure(style, word) + 24, height: 33, ink: 'paid', turn: STAMP_TURN })
  pen.put({ mark: 'text', ...style, ...along(12, 9.7), text: word, turn: STAMP_TURN })
  pen.y = y + 2
}

const setParagraph = (pen: Pen, style: Style, lines: string[]): void => {
  const step = style.size * 1.42
  for (const line of lines) {
    if (pen.room() < step) pen.turnPage()
    pen.left(style, LEFT, pen.y + style.size, line)
    pen.y += step
  }
  pen.y += 8
}

const setProse = (pen: Pen, { terms }: Document): void => {
  if (terms === null) return
  if (pen.room() < 60) pen.turnPage()
  setParagraph(pen, LABEL, [terms.label])
  pen.y -= 6
  setParagraph(pen, SMALL, pen.lines(SMALL, terms.text, WIDTH))
}

// ---- every page

const GHOST_SIZE_MAX = 130
const GHOST_TURN = 35

const setEveryPage = (pages: Mark[][], document: Document, faces: Faces, foot: string[]): void => {
  const ghost = document.stamps.find(({ stamp }) => stamp !== 'PAID')
  pages.forEach((marks, index) => {
    if (ghost) marks.unshift(watermark(ghost.word, faces))
    const y = PAGE.height - 62
    const pen = makePen(faces)
    pen.rule(LEFT, WIDTH, y)
    foot.forEach((line, at) => {
      pen.left(FINE, LEFT, y + 13 + at * 10, line)
    })
    const page = fill(document.footer.page, { page: String(index + 1), pages: String(pages.length) })
    pen.right(FINE, RIGHT, y + 13, page)
    pen.right(FINE, RIGHT, y + 23, document.heading.number)
    marks.push(...(pen.pages[0] ?? []))
  })
}

const watermark = (word: string, faces: Faces): Mark => {
  const width = faces.bold.widthOf(word) / 1000
  const size = Math.min(GHOST_SIZE_MAX, 560 / width)
  const turn = (GHOST_TURN * Math.PI) / 180
  const half = (width * size) / 2
  const x = PAGE.width / 2 - half * Math.cos(turn) + size * 0.35 * Math.sin(turn)
  const y = PAGE.height / 2 + half * Math.sin(turn) + size * 0.35 * Math.cos(turn)
  return { mark: 'text', weight: 'bold', size, x, y, text: word, ink: 'ghost', turn: GHOST_TURN }
}
