/** Sets the table of a document's items: columns as wide as their figures, rows over as many pages as they need. */
import type { Document, DocumentColumn } from '../../../crds/invoice/document/document.ts'
import { widthOf } from './lines.ts'
import { BODY, type Cursor, type Faces, FLOOR, LABEL, LEFT, RIGHT, TOP, WIDTH } from './page.ts'

type Grid = { columns: (DocumentColumn & { x: number; end: number })[]; scale: number; textWidth: number }
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

const setTableHead = (cursor: Cursor, { columns, scale }: Grid): void => {
  for (const column of columns) {
    if (column.numeric) cursor.right({ ...LABEL, size: LABEL.size * scale }, column.end, cursor.y + 8, column.label)
    else cursor.left(LABEL, column.x, cursor.y + 8, column.label)
  }
  cursor.rule(LEFT, WIDTH, cursor.y + 14, 'ink')
  cursor.y += 15
}

/** How far a table has come: the sum of the amounts that are on paper. */
type Table = { grid: Grid; items: Document['items']; sum: string | undefined }
const CARRY_STEP = 16

/** Room for one more line of a row, and for the sum that may have to be carried below it. */
const room = (cursor: Cursor): number => cursor.room() - CARRY_STEP

const setCarry = (cursor: Cursor, label: string, sum: string): void => {
  cursor.left({ ...BODY, ink: 'muted' }, LEFT, cursor.y + 11, label)
  cursor.right({ ...BODY, ink: 'muted' }, RIGHT, cursor.y + 11, sum)
  cursor.y += CARRY_STEP
}

const turnTablePage = (cursor: Cursor, { grid, items, sum }: Table): void => {
  if (sum !== undefined) setCarry(cursor, items.carried, sum)
  cursor.turnPage()
  setTableHead(cursor, grid)
  if (sum === undefined) return
  setCarry(cursor, items.brought, sum)
  cursor.rule(LEFT, WIDTH, cursor.y)
}

/** A row of up to a third of a page stays whole; a longer one is split between lines, and no line is lost. */
const setRow = (cursor: Cursor, table: Table, index: number): void => {
  const { grid, items } = table
  const row = items.rows[index] ?? []
  const lines = cursor.lines(BODY, row[0] ?? '', grid.textWidth)
  const height = lines.length * ROW_STEP + ROW_PAD * 2
  if (height > room(cursor) && (height < (FLOOR - TOP) / 3 || room(cursor) < ROW_STEP * 3)) turnTablePage(cursor, table)
  cursor.y += ROW_PAD
  grid.columns.slice(1).forEach((column, at) => {
    cursor.right({ ...BODY, size: BODY.size * grid.scale }, column.end, cursor.y + 9, row[at + 1] ?? '')
  })
  table.sum = items.running[index]
  for (const line of lines) {
    if (room(cursor) < ROW_STEP + ROW_PAD) turnTablePage(cursor, table)
    cursor.set(BODY, LEFT, cursor.y + 9, line)
    cursor.y += ROW_STEP
  }
  cursor.y += ROW_PAD
  cursor.rule(LEFT, WIDTH, cursor.y)
}

/** Sets the items; each further page begins with the head and the sum so far. */
export const setTable = (cursor: Cursor, { items }: Document, faces: Faces): void => {
  const table: Table = { grid: gridOf(items, faces), items, sum: undefined }
  setTableHead(cursor, table.grid)
  items.rows.forEach((_, index) => {
    setRow(cursor, table, index)
  })
}
