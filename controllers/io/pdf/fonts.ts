/**
 * The faces of documents: parsed once per process, measured by table look-up, shaped only where a script asks for it. The
 * only file that imports fontkit.
 *
 * pdfkit alone spends most of a document's time in fontkit: shaping each string through GSUB and GPOS, and decoding and
 * encoding the font's tables anew for each subset. Latin, Greek, Cyrillic and CJK text needs neither ligatures nor
 * kerning, and a TrueType subset is a concatenation of the glyphs' bytes.
 */
import * as fontkit from 'fontkit'
import { type Advance, advancesOf, makeSubsets, type Tables } from './subset.ts'

/** One drawn glyph: where it stands beside the pen, and how far the pen then moves. Lengths at size 1000. */
export type Glyph = { id: number; codePoints: number[]; advance: number; dx: number; dy: number }

export type Face = {
  name: string
  /** Whether its script needs shaping: joined letters, or marks that move. */
  complex: boolean
  /** The glyph of a character, 0 when the face lacks it. */
  glyphOf(codePoint: number): number
  has(codePoint: number): boolean
  /** Width of one character at size 1000; 0 when the face lacks it. */
  advanceOf(codePoint: number): number
  /** Width of a text at size 1000, character after character. */
  widthOf(text: string): number
  /** Width of one glyph at size 1000. */
  advanceOfGlyph(glyphId: number): number
  /** Letters joined and marks placed, in the order in which they are drawn from left to right. */
  shape(text: string, direction: 'ltr' | 'rtl'): Glyph[]
  /** The outline of a glyph as a path of SVG, upwards, at `unitsPerEm` of the font. */
  outlineOf(glyphId: number): { path: string; unitsPerEm: number }
  /** What pdfkit takes as a parsed font. */
  embeddable: object
}

const UNITS = 0x10000
/** No font that we use has so many glyphs. */
const UNKNOWN = 0xffff
/** Marks piled up without end stay near their line. At size 1000. */
const RISE_MAX = 1100
const SINK_MAX = 700

const tablesOf = (file: Uint8Array, font: fontkit.ParsedFont): Tables => ({
  view: new DataView(file.buffer, file.byteOffset, file.byteLength),
  bytes: file,
  at: (tag) => {
    const table = font.directory.tables[tag]
    if (table === undefined) throw new Error(`The font ${font.postscriptName} has no table ${tag}`)
    return table
  },
})

/** Character to glyph, asked of the font once per character. */
const glyphTable = (font: fontkit.ParsedFont): ((codePoint: number) => number) => {
  const plane = new Uint16Array(UNITS).fill(UNKNOWN)
  const beyond = new Map<number, number>()
  return (codePoint) => {
    const known = codePoint < UNITS ? (plane[codePoint] ?? UNKNOWN) : (beyond.get(codePoint) ?? UNKNOWN)
    if (known !== UNKNOWN) return known
    const { id } = font.glyphForCodePoint(codePoint)
    if (codePoint < UNITS) plane[codePoint] = id
    else beyond.set(codePoint, id)
    return id
  }
}

/** Marks stand where the font's outlines have them, and are not moved to their letters. */
const UNMOVED = { mark: false, mkmk: false }

/**
 * fontkit throws where a font gives a letter no place for a mark (U+0760 in Noto Sans Arabic), and a send would then fail
 * for ever.
 */
const layoutOf = (font: fontkit.ParsedFont, text: string, direction: 'ltr' | 'rtl'): fontkit.GlyphRun => {
  try {
    return font.layout(text, undefined, undefined, undefined, direction)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return font.layout(text, UNMOVED, undefined, undefined, direction)
  }
}

/** The characters that a font file has glyphs for. */
export const parseCharacters = (file: Uint8Array): number[] => fontkit.create(file).characterSet

/** Parses a TrueType file with outlines in `glyf`. Throws when a table that is needed is missing. */
export const parseFace = (file: Uint8Array, { complex = false }: { complex?: boolean } = {}): Face => {
  const font = fontkit.create(file)
  const tables = tablesOf(file, font)
  const scale = 1000 / font.unitsPerEm
  const metric = advancesOf(tables)
  const glyphOf = glyphTable(font)
  const advances = new Float64Array(UNITS).fill(-1)
  const advanceOfGlyph = (glyphId: number): number => metric(glyphId).advance * scale
  const advanceOf = (codePoint: number): number => {
    const known = advances[codePoint] ?? -1
    if (known >= 0) return known
    const glyphId = glyphOf(codePoint)
    const advance = glyphId === 0 ? 0 : advanceOfGlyph(glyphId)
    if (codePoint < UNITS) advances[codePoint] = advance
    return advance
  }
  return {
    name: font.postscriptName,
    complex,
    glyphOf,
    has: (codePoint) => glyphOf(codePoint) !== 0,
    advanceOf,
    advanceOfGlyph,
    widthOf: (text) => {
      let width = 0
      for (let index = 0; index < text.length; index++) {
        const codePoint = text.codePointAt(index) ?? 0
        if (codePoint >= UNITS) index += 1
        width += advanceOf(codePoint)
      }
      return width
    },
    shape: (text, direction) => {
      const { glyphs, positions } = layoutOf(font, text, direction)
      return glyphs.map(({ id, codePoints }, index) => {
        const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[index] ?? {}
        const dy = Math.max(-SINK_MAX, Math.min(RISE_MAX, yOffset * scale))
        return { id, codePoints, advance: xAdvance * scale, dx: xOffset * scale, dy }
      })
    },
    outlineOf: (glyphId) => ({ path: font.getGlyph(glyphId).path.toSVG(), unitsPerEm: font.unitsPerEm }),
    embeddable: embeddableOf(font, tables, metric, scale),
  }
}

/** The part of fontkit's Font that pdfkit's EmbeddedFont touches, at 1000 units per em. */
const embeddableOf = (font: fontkit.ParsedFont, tables: Tables, metric: Advance, scale: number): object => {
  const { minX, minY, maxX, maxY } = font.bbox
  return {
    postscriptName: font.postscriptName,
    unitsPerEm: 1000,
    ascent: font.ascent * scale,
    descent: font.descent * scale,
    lineGap: font.lineGap * scale,
    capHeight: font.capHeight * scale,
    xHeight: font.xHeight * scale,
    italicAngle: font.italicAngle,
    bbox: { minX: minX * scale, minY: minY * scale, maxX: maxX * scale, maxY: maxY * scale },
    post: { isFixedPitch: false },
    head: { macStyle: { italic: false } },
    getGlyph: () => ({ id: 0, advanceWidth: metric(0).advance * scale }),
    // pdfkit asks it of each font that it opens; texts are encoded in pdf.ts
    layout: () => ({ glyphs: [], positions: [], advanceWidth: 0 }),
    createSubset: makeSubsets(tables),
  }
}
