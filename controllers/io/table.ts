/** Sets the table of a document's items: columns as wide as their figures, rows over as many pages as they need. */
import type { Column, Document } from '../../crds/invoice/document.ts'
import { widthOf } from './lines.ts'
import { BODY, type Faces, FLOOR, LABEL, LEFT, type Pen, RIGHT, TOP, WIDTH } from './pen.ts'

type Grid = { columns: (Column & { x: number; end: number })[]; scale: number; textWidth: number }
const GAP = 14
const ROW_STEP = 12.4
const ROW_PAD = 5.5
const DESCRIPTION_MIN = 170

/** Columns of figures are as wide as their widest figure; when that starves the text, the figures become smaller. */
const gridOf = ({ columns, rows }: Document['items'], faces: Faces): Grid => {
  const widest = columns.slice(1).map((column, index) => {
    const label = (widthOf(faces.bold, column.label) * LABEL.size) / 1000
    const figures = rows.map((row) => widthOf(faces.regular, row[index + 1] ?? ''))
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

/** How far a table has come: the sum of the amounts that are on paper. */
type Table = { grid: Grid; items: Document['items']; sum: string | undefined }
const CARRY_STEP = 16

/** Room for one more line of a row, and for the sum that may have to be carried below it. */
const room = (pen: Pen): number => pen.room() - CARRY_STEP

const setCarry = (pen: Pen, label: string, sum: string): void => {
  pen.left({ ...BODY, ink: 'muted' }, LEFT, pen.y + 11, label)
  pen.right({ ...BODY, ink: 'muted' }, RIGHT, pen.y + 11, sum)
  pen.y += CARRY_STEP
}

const turnTablePage = (pen: Pen, { grid, items, sum }: Table): void => {
  if (sum !== undefined) setCarry(pen, items.carried, sum)
  pen.turnPage()
  setTableHead(pen, grid)
  if (sum === undefined) return
  setCarry(pen, items.brought, sum)
  pen.rule(LEFT, WIDTH, pen.y)
}

/** A row of up to a third of a page stays whole; a longer one is split between lines, and no line is lost. */
const setRow = (pen: Pen, table: Table, index: number): void => {
  const { grid, items } = table
  const row = items.rows[index] ?? []
  const lines = pen.lines(BODY, row[0] ?? '', grid.textWidth)
  const height = lines.length * ROW_STEP + ROW_PAD * 2
  if (height > room(pen) && (height < (FLOOR - TOP) / 3 || room(pen) < ROW_STEP * 3)) turnTablePage(pen, table)
  pen.y += ROW_PAD
  grid.columns.slice(1).forEach((column, at) => {
    pen.right({ ...BODY, size: BODY.size * grid.scale }, column.end, pen.y + 9, row[at + 1] ?? '')
  })
  table.sum = items.running[index]
  for (const line of lines) {
    if (room(pen) < ROW_STEP + ROW_PAD) turnTablePage(pen, table)
    pen.set(BODY, LEFT, pen.y + 9, line)
    pen.y += ROW_STEP
  }
  pen.y += ROW_PAD
  pen.rule(LEFT, WIDTH, pen.y)
}

/** Sets the items; each further page begins with the head and the sum so far. */
export const setTable = (pen: Pen, { items }: Document, faces: Faces): void => {
  const table: Table = { grid: gridOf(items, faces), items, sum: undefined }
  setTableHead(pen, table.grid)
  items.rows.forEach((_, index) => {
    setRow(pen, table, index)
  })
}
