/** Sets a document on A4 pages: from blocks to marks with their places. Knows fonts only by their measures, and no PDF. */
import type { Document, Fact, Stamp } from '../../crds/invoice/document.ts'
import { fill } from '../../crds/invoice/words.ts'
import type { Line } from './lines.ts'
import {
  BODY,
  type Faces,
  FINE,
  LABEL,
  LEFT,
  type Mark,
  makePen,
  PAGE,
  type Pen,
  RIGHT,
  SMALL,
  STRONG,
  type Style,
  WIDTH,
} from './pen.ts'

import { setTable } from './table.ts'

/** Where the right-hand column of the head begins. */
const SIDE = 330
/** A longer footer is printed once, after the text. */
const FOOT_LINES = 3

/** The size of a picture, in its own units. */
export type Size = { width: number; height: number }

/** Lays the whole document out; every page gets its watermark and its foot. The logo stands above the seller. */
export const typeset = (document: Document, faces: Faces, logo?: Size): Mark[][] => {
  const pen = makePen(faces)
  setHead(pen, document, logo)
  setTable(pen, document, faces)
  setSums(pen, document)
  setProse(pen, document)
  const foot = pen.lines(FINE, document.footer.text.trim(), WIDTH - 150)
  if (foot.length > FOOT_LINES) setParagraph(pen, FINE, foot)
  setEveryPage(pen.pages, document, faces, foot.length > FOOT_LINES ? [] : foot)
  return pen.pages
}

const LOGO_MAX: Size = { width: 170, height: 48 }

const setLogo = (pen: Pen, { width, height }: Size): void => {
  const scale = Math.min(LOGO_MAX.width / width, LOGO_MAX.height / height)
  pen.put({ mark: 'logo', x: LEFT, y: pen.y, width: width * scale, height: height * scale })
  pen.y += height * scale + 12
}

const setHead = (pen: Pen, { heading, seller, client, facts, due, stamps }: Document, logo?: Size): void => {
  for (const { note } of stamps.filter(({ stamp }) => stamp !== 'PAID')) {
    pen.put({ mark: 'fill', x: LEFT, y: pen.y - 12, width: WIDTH, height: 20, ink: 'band' })
    pen.left({ ...SMALL, ink: 'note' }, LEFT + 8, pen.y + 1, note)
    pen.y += 26
  }
  const top = pen.y
  pen.right({ weight: 'bold', size: 22, ink: 'ink' }, RIGHT, top + 17, heading.title)
  pen.right({ ...SMALL, size: 10.5 }, RIGHT, top + 34, heading.number)
  if (logo) setLogo(pen, logo)
  if (seller.name !== '') pen.column({ ...STRONG, size: 13 }, seller.name, LEFT, SIDE - LEFT - 30)
  pen.y += 3
  for (const line of seller.lines) pen.column(SMALL, line, LEFT, SIDE - LEFT - 30)
  if (pen.pages.length === 1) pen.y = Math.max(pen.y, top + 60)
  if (pen.room() < 120) pen.turnPage()
  pen.rule(LEFT, WIDTH, pen.y + 13)
  pen.y += 26
  const [page, bottom] = [pen.pages.length, setFacts(pen, facts, due, pen.y)]
  setClient(pen, client)
  // the facts stand beside the client, so they end below it unless the client ran on to another page
  pen.y = (pen.pages.length === page ? Math.max(pen.y, bottom) : pen.y) + 24
}

const setClient = (pen: Pen, client: Document['client']): void => {
  const width = SIDE - LEFT - 30
  pen.column(LABEL, client.label, LEFT, width)
  pen.y += 2
  if (client.name !== '') pen.column(STRONG, client.name, LEFT, width)
  for (const line of client.lines) pen.column(SMALL, line, LEFT, width)
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
  const [bottom, last] = [pen.y, pen.pages.length]
  // beside the sums, unless they ran on to another page
  if (last === page) pen.y = top
  setPayment(pen, document)
  pen.y = (pen.pages.length === last ? Math.max(pen.y, bottom) : pen.y) + 14
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
  const width = SUMS - LEFT - 30
  pen.y += 8
  pen.column(SMALL, payment.text, LEFT, width)
  for (const { label, value } of payment.facts) pen.column(SMALL, `${label}: ${value}`, LEFT, width)
}

const STAMP_SIZE = 19
const STAMP_TURN = 4

const setPaidStamp = (pen: Pen, { word }: Stamp): void => {
  if (pen.room() < 56) pen.turnPage()
  const style = { weight: 'bold', size: STAMP_SIZE, ink: 'paid' } as const
  const [x, y, angle] = [LEFT + 3, pen.y + 44, (STAMP_TURN * Math.PI) / 180]
  const along = (right: number, up: number): { x: number; y: number } => ({
    x: x + right * Math.cos(angle) - up * Math.sin(angle),
    y: y - right * Math.sin(angle) - up * Math.cos(angle),
  })
  pen.put({ mark: 'frame', x, y, width: pen.measure(style, word) + 24, height: 33, ink: 'paid', turn: STAMP_TURN })
  pen.put({
    mark: 'text',
    line: pen.laid(style, word),
    size: STAMP_SIZE,
    ink: 'paid',
    ...along(12, 9.7),
    turn: STAMP_TURN,
  })
  pen.y = y + 2
}

const setParagraph = (pen: Pen, style: Style, lines: Line[]): void => {
  const step = style.size * 1.42
  for (const line of lines) {
    if (pen.room() < step) pen.turnPage()
    pen.set(style, LEFT, pen.y + style.size, line)
    pen.y += step
  }
  pen.y += 8
}

const setProse = (pen: Pen, { terms }: Document): void => {
  if (terms === null) return
  if (pen.room() < 60) pen.turnPage()
  setParagraph(pen, LABEL, [pen.laid(LABEL, terms.label)])
  pen.y -= 6
  setParagraph(pen, SMALL, pen.lines(SMALL, terms.text, WIDTH))
}

// ---- every page

const GHOST_SIZE_MAX = 130
const GHOST_TURN = 35

const setEveryPage = (pages: Mark[][], document: Document, faces: Faces, foot: Line[]): void => {
  const ghost = document.stamps.find(({ stamp }) => stamp !== 'PAID')
  pages.forEach((marks, index) => {
    const y = PAGE.height - 62
    const pen = makePen(faces)
    if (ghost) marks.unshift(watermark(pen, ghost.word))
    pen.rule(LEFT, WIDTH, y)
    foot.forEach((line, at) => {
      pen.set(FINE, LEFT, y + 13 + at * 10, line)
    })
    const page = fill(document.footer.page, { page: String(index + 1), pages: String(pages.length) })
    pen.right(FINE, RIGHT, y + 13, page)
    pen.right(FINE, RIGHT, y + 23, document.heading.number)
    marks.push(...(pen.pages[0] ?? []))
  })
}

const GHOST = { weight: 'bold', size: 1000, ink: 'ghost' } as const

const watermark = (pen: Pen, word: string): Mark => {
  const line = pen.laid(GHOST, word)
  const width = line.width / 1000
  const size = Math.min(GHOST_SIZE_MAX, 560 / width)
  const turn = (GHOST_TURN * Math.PI) / 180
  const half = (width * size) / 2
  const x = PAGE.width / 2 - half * Math.cos(turn) + size * 0.35 * Math.sin(turn)
  const y = PAGE.height / 2 + half * Math.sin(turn) + size * 0.35 * Math.cos(turn)
  return { mark: 'text', line, size, x, y, ink: 'ghost', turn: GHOST_TURN }
}
