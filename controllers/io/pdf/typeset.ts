/** Sets a document on A4 pages: from blocks to marks with their places. Knows fonts only by their measures, and no PDF. */
import type { Document, DocumentFact, Stamp } from '../../../crds/invoice/document/document.ts'
import { fill } from '../../../crds/invoice/document/words/words.ts'
import type { Line } from './lines.ts'
import {
  BODY,
  type Cursor,
  type Faces,
  FINE,
  LABEL,
  LEFT,
  type Mark,
  makeCursor,
  PAGE,
  RIGHT,
  SMALL,
  STRONG,
  type Style,
  WIDTH,
} from './page.ts'

import { setTable } from './table.ts'

/** Where the right-hand column of the head begins. */
const SIDE = 330
/** A longer footer is printed once, after the text. */
const FOOT_LINES = 3

/** The size of a picture, in its own units. */
export type LogoSize = { width: number; height: number }

/** Lays the whole document out; every page gets its watermark and its foot. The logo stands above the seller. */
export const typeset = (document: Document, faces: Faces, logo?: LogoSize): Mark[][] => {
  const cursor = makeCursor(faces)
  setHead(cursor, document, logo)
  setTable(cursor, document, faces)
  setSums(cursor, document)
  setProse(cursor, document)
  const foot = cursor.lines(FINE, document.footer.text.trim(), WIDTH - 150)
  if (foot.length > FOOT_LINES) setParagraph(cursor, FINE, foot)
  setEveryPage(cursor.pages, document, faces, foot.length > FOOT_LINES ? [] : foot)
  return cursor.pages
}

const LOGO_MAX: LogoSize = { width: 170, height: 48 }

const setLogo = (cursor: Cursor, { width, height }: LogoSize): void => {
  const scale = Math.min(LOGO_MAX.width / width, LOGO_MAX.height / height)
  cursor.put({ mark: 'logo', x: LEFT, y: cursor.y, width: width * scale, height: height * scale })
  cursor.y += height * scale + 12
}

const setHead = (cursor: Cursor, { heading, seller, client, facts, due, stamps }: Document, logo?: LogoSize): void => {
  for (const { note } of stamps.filter(({ stamp }) => stamp !== 'PAID')) {
    cursor.put({ mark: 'fill', x: LEFT, y: cursor.y - 12, width: WIDTH, height: 20, ink: 'band' })
    cursor.left({ ...SMALL, ink: 'note' }, LEFT + 8, cursor.y + 1, note)
    cursor.y += 26
  }
  const top = cursor.y
  cursor.right({ weight: 'bold', size: 22, ink: 'ink' }, RIGHT, top + 17, heading.title)
  cursor.right({ ...SMALL, size: 10.5 }, RIGHT, top + 34, heading.number)
  if (logo) setLogo(cursor, logo)
  if (seller.name !== '') cursor.column({ ...STRONG, size: 13 }, seller.name, LEFT, SIDE - LEFT - 30)
  cursor.y += 3
  for (const line of seller.lines) cursor.column(SMALL, line, LEFT, SIDE - LEFT - 30)
  if (cursor.pages.length === 1) cursor.y = Math.max(cursor.y, top + 60)
  if (cursor.room() < 120) cursor.turnPage()
  cursor.rule(LEFT, WIDTH, cursor.y + 13)
  cursor.y += 26
  const [page, bottom] = [cursor.pages.length, setFacts(cursor, facts, due, cursor.y)]
  setClient(cursor, client)
  // the facts stand beside the client, so they end below it unless the client ran on to another page
  cursor.y = (cursor.pages.length === page ? Math.max(cursor.y, bottom) : cursor.y) + 24
}

const setClient = (cursor: Cursor, client: Document['client']): void => {
  const width = SIDE - LEFT - 30
  cursor.column(LABEL, client.label, LEFT, width)
  cursor.y += 2
  if (client.name !== '') cursor.column(STRONG, client.name, LEFT, width)
  for (const line of client.lines) cursor.column(SMALL, line, LEFT, width)
}

const setFacts = (cursor: Cursor, facts: DocumentFact[], due: DocumentFact, from: number): number => {
  let end = from
  for (const fact of facts) {
    setPair(cursor, fact, { x: SIDE, y: end + 8 }, [SMALL, { ...SMALL, ink: 'ink' }])
    end += 13.5
  }
  cursor.rule(SIDE, RIGHT - SIDE, end + 3)
  setPair(cursor, due, { x: SIDE, y: end + 21 }, [
    { ...STRONG, size: 9 },
    { ...STRONG, size: 13 },
  ])
  return end + 27
}

/** A label and its value at the right edge; both become smaller where they would meet. */
const setPair = (
  cursor: Cursor,
  { label, value }: DocumentFact,
  { x, y }: { x: number; y: number },
  [name, figure]: [Style, Style],
): void => {
  const scale = Math.min(1, (RIGHT - x - 8) / (cursor.measure(name, label) + cursor.measure(figure, value)))
  cursor.left({ ...name, size: name.size * scale }, x, y, label)
  cursor.right({ ...figure, size: figure.size * scale }, RIGHT, y, value)
}

// ---- what follows the table

const SUM_STEP = 17
const SUMS = SIDE - 40

const setSums = (cursor: Cursor, document: Document): void => {
  const tail = Math.min(document.sums.length, 8) * SUM_STEP + 20
  cursor.y += 10
  if (tail > cursor.room()) cursor.turnPage()
  const top = cursor.y
  const page = cursor.pages.length
  for (const sum of document.sums) setSum(cursor, sum)
  const [bottom, last] = [cursor.y, cursor.pages.length]
  // beside the sums, unless they ran on to another page
  if (last === page) cursor.y = top
  setPayment(cursor, document)
  cursor.y = (cursor.pages.length === last ? Math.max(cursor.y, bottom) : cursor.y) + 14
}

const setSum = (cursor: Cursor, sum: Document['sums'][number]): void => {
  const step = sum.strong ? SUM_STEP + 5 : SUM_STEP
  if (cursor.room() < step) cursor.turnPage()
  const figure: Style = sum.strong ? { ...STRONG, size: 10.5 } : BODY
  const name: Style = sum.strong ? figure : { ...BODY, ink: 'muted' }
  if (sum.strong) cursor.rule(SUMS, RIGHT - SUMS, cursor.y + 1, 'ink')
  setPair(cursor, sum, { x: SUMS, y: cursor.y + (sum.strong ? 15 : 12) }, [name, figure])
  cursor.y += step
}

const setPayment = (cursor: Cursor, { stamps, payment }: Document): void => {
  const paid = stamps.find(({ stamp }) => stamp === 'PAID')
  if (paid) setPaidStamp(cursor, paid)
  if (payment === null) return
  const width = SUMS - LEFT - 30
  cursor.y += 8
  cursor.column(SMALL, payment.text, LEFT, width)
  for (const { label, value } of payment.facts) cursor.column(SMALL, `${label}: ${value}`, LEFT, width)
}

const STAMP_SIZE = 19
const STAMP_TURN = 4

const setPaidStamp = (cursor: Cursor, { word }: Stamp): void => {
  if (cursor.room() < 56) cursor.turnPage()
  const style = { weight: 'bold', size: STAMP_SIZE, ink: 'paid' } as const
  const [x, y, angle] = [LEFT + 3, cursor.y + 44, (STAMP_TURN * Math.PI) / 180]
  const along = (right: number, up: number): { x: number; y: number } => ({
    x: x + right * Math.cos(angle) - up * Math.sin(angle),
    y: y - right * Math.sin(angle) - up * Math.cos(angle),
  })
  cursor.put({
    mark: 'frame',
    x,
    y,
    width: cursor.measure(style, word) + 24,
    height: 33,
    ink: 'paid',
    turn: STAMP_TURN,
  })
  cursor.put({
    mark: 'text',
    line: cursor.laid(style, word),
    size: STAMP_SIZE,
    ink: 'paid',
    ...along(12, 9.7),
    turn: STAMP_TURN,
  })
  cursor.y = y + 2
}

const setParagraph = (cursor: Cursor, style: Style, lines: Line[]): void => {
  const step = style.size * 1.42
  for (const line of lines) {
    if (cursor.room() < step) cursor.turnPage()
    cursor.set(style, LEFT, cursor.y + style.size, line)
    cursor.y += step
  }
  cursor.y += 8
}

const setProse = (cursor: Cursor, { terms }: Document): void => {
  if (terms === null) return
  if (cursor.room() < 60) cursor.turnPage()
  setParagraph(cursor, LABEL, [cursor.laid(LABEL, terms.label)])
  cursor.y -= 6
  setParagraph(cursor, SMALL, cursor.lines(SMALL, terms.text, WIDTH))
}

// ---- every page

const GHOST_SIZE_MAX = 130
const GHOST_TURN = 35

const setEveryPage = (pages: Mark[][], document: Document, faces: Faces, foot: Line[]): void => {
  const ghost = document.stamps.find(({ stamp }) => stamp !== 'PAID')
  pages.forEach((marks, index) => {
    const y = PAGE.height - 62
    const cursor = makeCursor(faces)
    if (ghost) marks.unshift(watermark(cursor, ghost.word))
    cursor.rule(LEFT, WIDTH, y)
    foot.forEach((line, at) => {
      cursor.set(FINE, LEFT, y + 13 + at * 10, line)
    })
    const page = fill(document.footer.page, { page: String(index + 1), pages: String(pages.length) })
    cursor.right(FINE, RIGHT, y + 13, page)
    cursor.right(FINE, RIGHT, y + 23, document.heading.number)
    marks.push(...(cursor.pages[0] ?? []))
  })
}

const GHOST = { weight: 'bold', size: 1000, ink: 'ghost' } as const

const watermark = (cursor: Cursor, word: string): Mark => {
  const line = cursor.laid(GHOST, word)
  const width = line.width / 1000
  const size = Math.min(GHOST_SIZE_MAX, 560 / width)
  const turn = (GHOST_TURN * Math.PI) / 180
  const half = (width * size) / 2
  const x = PAGE.width / 2 - half * Math.cos(turn) + size * 0.35 * Math.sin(turn)
  const y = PAGE.height / 2 + half * Math.sin(turn) + size * 0.35 * Math.cos(turn)
  return { mark: 'text', line, size, x, y, ink: 'ghost', turn: GHOST_TURN }
}
