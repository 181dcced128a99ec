/**
 * From marks to page content operators (ISO 32000-2, Annex A) and to the glyphs that each font must carry. pdfkit has turned
 * the y axis downwards, so text is turned back up.
 */
import type { Face, Glyph } from './fonts.ts'
import type { Line, Piece } from './lines.ts'
import type { Ink, Mark } from './page.ts'
import type { Subset } from './subset.ts'

/** What we use of pdfkit's embedded font: glyphs are noted in its subset, their widths and characters in its lists. */
export type OpenedFont = { id: string; subset: Subset; widths: number[]; unicode: number[][]; ref(): unknown }

/** A font within one document; `codes` remembers the code of each character that was drawn by its own glyph. */
type Font = { opened: OpenedFont; face: Face; codes: Map<number, string> }
export type Fonts = (face: Face) => Font

/** The fonts of one document, opened as they are met. */
export const makeFonts = (open: (face: Face) => OpenedFont): Fonts => {
  const fonts = new Map<Face, Font>()
  return (face) => {
    const known = fonts.get(face)
    if (known !== undefined) return known
    const font = { opened: open(face), face, codes: new Map<number, string>() }
    fonts.set(face, font)
    return font
  }
}

/** Red, green, blue from 0 to 1. */
const INKS: Record<Ink, string> = {
  ink: '0.09 0.11 0.14',
  muted: '0.33 0.37 0.42',
  rule: '0.84 0.86 0.88',
  ghost: '0.93 0.94 0.95',
  paid: '0.09 0.47 0.31',
  note: '0.42 0.29 0',
  band: '1 0.96 0.84',
}

const points = (number: number): string => String(Math.round(number * 100) / 100)

/** A matrix for things that stand upright, turned counter-clockwise by so many degrees. */
const turned = (degrees: number): string => {
  if (degrees === 0) return '1 0 0 -1'
  const angle = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)].map((one) => String(Math.round(one * 1e5) / 1e5))
  return `${cos} -${sin} -${sin} -${cos}`
}

/** The code of a glyph in the subset, four hex digits; the first to use it says which characters it stands for. */
const codeOf = ({ opened, face }: Font, glyphId: number, codePoints: number[]): string => {
  const place = opened.subset.includeGlyph(glyphId)
  opened.widths[place] ??= face.advanceOfGlyph(glyphId)
  opened.unicode[place] ??= codePoints
  return place.toString(16).padStart(4, '0')
}

const codesOf = (font: Font, text: string): string => {
  let answer = ''
  for (let index = 0; index < text.length; index++) {
    const codePoint = text.codePointAt(index) ?? 0
    if (codePoint > 0xffff) index += 1
    let code = font.codes.get(codePoint)
    if (code === undefined) {
      code = codeOf(font, font.face.glyphOf(codePoint), [codePoint])
      font.codes.set(codePoint, code)
    }
    answer += code
  }
  return answer
}

/** Shaped glyphs: each is put at its own place, then the pen goes on by what the shaping says. Lengths at size 1000. */
const showGlyphs = (font: Font, glyphs: Glyph[], size: number): string => {
  let [out, array, rise, slip] = ['', '', 0, 0]
  const flush = (): void => {
    if (array !== '') out += `[${array}] TJ\n`
    array = ''
  }
  for (const { id, codePoints, advance, dx, dy } of glyphs) {
    if (dy !== rise) {
      flush()
      rise = dy
      out += `${points((dy * size) / 1000)} Ts\n`
    }
    const move = points(slip - dx)
    array += `${move === '0' ? '' : `${move} `}<${codeOf(font, id, codePoints)}>`
    slip = font.face.advanceOfGlyph(id) + dx - advance
  }
  if (points(slip) !== '0') array += points(slip)
  flush()
  return rise === 0 ? out : `${out}0 Ts\n`
}

const utf16 = (text: string): string => Buffer.from(`\ufeff${text}`, 'utf16le').swap16().toString('hex')

/** What was shaped says in words what it shows, in the order of reading, for those who copy or listen. */
const show = (font: Font, { text, glyphs }: Piece, size: number): string =>
  glyphs === null
    ? `<${codesOf(font, text)}> Tj\n`
    : `/Span <</ActualText <${utf16(text)}>>> BDC\n${showGlyphs(font, glyphs, size)}EMC\n`

type Writing = { fonts: Fonts; used: Set<OpenedFont>; style: string; logo: string | undefined }

const textOf = (writing: Writing, line: Line, size: number): string =>
  line.pieces
    .map((piece) => {
      const font = writing.fonts(piece.face)
      writing.used.add(font.opened)
      const next = `/${font.opened.id} ${points(size)} Tf\n`
      const style = next === writing.style ? '' : next
      writing.style = next
      return style + show(font, piece, size)
    })
    .join('')

const operatorOf = (mark: Mark, writing: Writing): string => {
  const [x, y] = [points(mark.x), points(mark.y)]
  switch (mark.mark) {
    case 'text':
      return `BT ${turned(mark.turn ?? 0)} ${x} ${y} Tm ${textOf(writing, mark.line, mark.size)}ET\n`
    case 'fill':
      return `${x} ${y} ${points(mark.width)} ${points(mark.height)} re f\n`
    case 'frame':
      return `q ${turned(mark.turn)} ${x} ${y} cm 1.8 w 0 0 ${points(mark.width)} ${points(mark.height)} re S Q\n`
    case 'logo':
      return `q ${points(mark.width)} 0 0 -${points(mark.height)} ${x} ${points(mark.y + mark.height)} cm /${writing.logo} Do Q\n`
    default:
      return mark satisfies never
  }
}

/** The operators of one page, and the fonts that they name. `logo` is the name of the picture. */
export const operatorsOf = (
  marks: Mark[],
  fonts: Fonts,
  logo?: string,
): { operators: string; used: Set<OpenedFont> } => {
  const writing: Writing = { fonts, used: new Set(), style: '', logo }
  let [operators, ink] = ['', '']
  for (const mark of marks) {
    if (mark.mark !== 'logo' && INKS[mark.ink] !== ink) {
      ink = INKS[mark.ink]
      operators += `${ink} rg ${ink} RG\n`
    }
    operators += operatorOf(mark, writing)
  }
  return { operators, used: writing.used }
}
