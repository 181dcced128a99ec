/**
 * The typefaces of documents: parsed once per process, measured by table look-up, cut down to the used glyphs per
 * document. The only file that imports fontkit.
 *
 * pdfkit alone spends most of a document's time in fontkit: shaping each string through GSUB and GPOS, and decoding and
 * encoding the font's tables anew for each subset (1.4 ms for 60 glyphs). An invoice needs neither ligatures nor
 * kerning, and a TrueType subset is a concatenation of the glyphs' bytes.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as fontkit from 'fontkit'

export type FontFiles = { regular: Uint8Array; bold: Uint8Array }

/** Reads Noto Sans (OFL) out of its package. */
export const readFontFiles = (): FontFiles => {
  const { resolve } = createRequire(import.meta.url)
  const read = (file: string): Uint8Array => readFileSync(resolve(`@expo-google-fonts/noto-sans/${file}`))
  return { regular: read('400Regular/NotoSans_400Regular.ttf'), bold: read('700Bold/NotoSans_700Bold.ttf') }
}

/** Shown in place of a character that the face lacks. */
export const REPLACEMENT = '\ufffd'

export type Face = {
  name: string
  /** Whether the face has a glyph for this UTF-16 unit. */
  has(unit: number): boolean
  /** Width of a text at size 1000. Every unit of it must be in the face. */
  widthOf(text: string): number
  /** Width of one UTF-16 unit at size 1000. */
  advanceOf(unit: number): number
  /** What pdfkit takes as a parsed font. */
  embeddable: object
}

type Glyph = { id: number; advanceWidth: number; codePoints: number[]; position: object }
type Outline = { bytes: Uint8Array; components: { at: number; glyphId: number }[] }
type Tables = { view: DataView; bytes: Uint8Array; at: (tag: string) => { offset: number; length: number } }

const UNITS = 0x10000
const LONG_LOCA = 1

const tablesOf = (file: Uint8Array, font: fontkit.ParsedFont): Tables => ({
  view: new DataView(file.buffer, file.byteOffset, file.byteLength),
  bytes: file,
  at: (tag) => {
    const table = font.directory.tables[tag]
    if (table === undefined) throw new Error(`The font ${font.postscriptName} has no table ${tag}`)
    return table
  },
})

/** Parses a TrueType file with outlines in `glyf`. Throws when a table that is needed is missing. */
export const parseFace = (file: Uint8Array): Face => {
  const font = fontkit.create(file)
  const tables = tablesOf(file, font)
  const scale = 1000 / font.unitsPerEm
  const metric = metricsOf(tables)
  const glyphIds = new Uint16Array(UNITS)
  const advances = new Float64Array(UNITS)
  for (const codePoint of font.characterSet.filter((one) => one < UNITS)) {
    const { id } = font.glyphForCodePoint(codePoint)
    glyphIds[codePoint] = id
    advances[codePoint] = metric(id).advance * scale
  }
  const advanceOf = (unit: number): number => advances[unit] ?? 0
  return {
    name: font.postscriptName,
    has: (unit) => glyphIds[unit] !== 0,
    advanceOf,
    widthOf: (text) => {
      let width = 0
      for (let index = 0; index < text.length; index++) width += advances[text.charCodeAt(index)] ?? 0
      return width
    },
    embeddable: embeddableOf(font, tables, { glyphIds, advances, scale }),
  }
}

type Measures = { glyphIds: Uint16Array; advances: Float64Array; scale: number }

/** The part of fontkit's Font that pdfkit's EmbeddedFont touches, at 1000 units per em. */
const embeddableOf = (font: fontkit.ParsedFont, tables: Tables, { glyphIds, advances, scale }: Measures): object => {
  const { minX, minY, maxX, maxY } = font.bbox
  const glyphs = new Map<number, Glyph>()
  const glyphOf = (unit: number): Glyph => {
    const known = glyphs.get(unit)
    if (known !== undefined) return known
    const advanceWidth = advances[unit] ?? 0
    // pdfkit multiplies these by 1000 / unitsPerEm in place: by one, so that they can be shared
    const position = { xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0, advanceWidth }
    const made = { id: glyphIds[unit] ?? 0, advanceWidth, codePoints: [unit], position }
    glyphs.set(unit, made)
    return made
  }
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
    getGlyph: () => ({ id: 0, advanceWidth: metricsOf(tables)(0).advance * scale }),
    layout: (text: string) => {
      const run = { glyphs: [] as Glyph[], positions: [] as object[], advanceWidth: 0 }
      for (let index = 0; index < text.length; index++) {
        const glyph = glyphOf(text.charCodeAt(index))
        run.glyphs.push(glyph)
        run.positions.push(glyph.position)
        run.advanceWidth += glyph.advanceWidth
      }
      return run
    },
    createSubset: makeSubsets(tables),
  }
}

const metricsOf = ({ view, at }: Tables): ((glyphId: number) => { advance: number; bearing: number }) => {
  const long = view.getUint16(at('hhea').offset + 34)
  const { offset } = at('hmtx')
  return (glyphId) => ({
    advance: view.getUint16(offset + Math.min(glyphId, long - 1) * 4),
    bearing: view.getInt16(offset + (glyphId < long ? glyphId * 4 + 2 : long * 4 + (glyphId - long) * 2)),
  })
}

// ---- subsets (OpenType 1.9: glyf, loca, head, hhea, hmtx, maxp)

/** A composite glyph's flags. */
const WORDS = 0x1
const SCALE = 0x8
const MORE = 0x20
const XY_SCALE = 0x40
const MATRIX = 0x80

const componentsOf = (bytes: Uint8Array): Outline['components'] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const components: Outline['components'] = []
  if (bytes.length === 0 || view.getInt16(0) >= 0) return components
  let at = 10
  let flags = MORE
  while (flags & MORE) {
    flags = view.getUint16(at)
    components.push({ at: at + 2, glyphId: view.getUint16(at + 2) })
    at += 4 + (flags & WORDS ? 4 : 2)
    if (flags & SCALE) at += 2
    else if (flags & XY_SCALE) at += 4
    else if (flags & MATRIX) at += 8
  }
  return components
}

const outlinesOf = ({ view, bytes, at }: Tables): ((glyphId: number) => Outline) => {
  const long = view.getInt16(at('head').offset + 50) === LONG_LOCA
  const loca = at('loca').offset
  const glyf = at('glyf').offset
  const place = (glyphId: number): number =>
    glyf + (long ? view.getUint32(loca + glyphId * 4) : view.getUint16(loca + glyphId * 2) * 2)
  const known = new Map<number, Outline>()
  return (glyphId) => {
    const outline = known.get(glyphId)
    if (outline !== undefined) return outline
    const own = bytes.subarray(place(glyphId), place(glyphId + 1))
    const made = { bytes: own, components: componentsOf(own) }
    known.set(glyphId, made)
    return made
  }
}

/** The shape of fontkit's Subset: pdfkit asks for `includeGlyph` and `encode`. */
type Subset = { includeGlyph(glyphId: number): number; encode(): Uint8Array }

const makeSubsets = (tables: Tables): (() => Subset) => {
  const outlineOf = outlinesOf(tables)
  const metricOf = metricsOf(tables)
  const copyOf = (tag: string): Uint8Array =>
    tables.bytes.slice(tables.at(tag).offset, tables.at(tag).offset + tables.at(tag).length)
  const head = copyOf('head')
  new DataView(head.buffer).setUint32(8, 0)
  new DataView(head.buffer).setInt16(50, LONG_LOCA)

  return () => {
    const glyphIds = [0]
    const places = new Map([[0, 0]])
    const includeGlyph = (glyphId: number): number => {
      const place = places.get(glyphId)
      if (place !== undefined) return place
      places.set(glyphId, glyphIds.length)
      return glyphIds.push(glyphId) - 1
    }
    const encode = (): Uint8Array => {
      // components join the list while it is walked, as their composites ask for them
      for (let place = 0; place < glyphIds.length; place++) {
        for (const component of outlineOf(glyphIds[place] ?? 0).components) includeGlyph(component.glyphId)
      }
      const outlines = glyphIds.map(outlineOf)
      const { glyf, loca } = encodeOutlines(outlines, includeGlyph)
      const hmtx = new DataView(new ArrayBuffer(glyphIds.length * 4))
      glyphIds.forEach((glyphId, place) => {
        hmtx.setUint16(place * 4, metricOf(glyphId).advance)
        hmtx.setInt16(place * 4 + 2, metricOf(glyphId).bearing)
      })
      const [hhea, maxp] = [copyOf('hhea'), copyOf('maxp')]
      new DataView(hhea.buffer).setUint16(34, glyphIds.length)
      new DataView(maxp.buffer).setUint16(4, glyphIds.length)
      return encodeFont({ glyf, head, hhea, hmtx: new Uint8Array(hmtx.buffer), loca, maxp })
    }
    return { includeGlyph, encode }
  }
}

const padded = (length: number): number => (length + 3) & ~3

const encodeOutlines = (
  outlines: Outline[],
  placeOf: (glyphId: number) => number,
): { glyf: Uint8Array; loca: Uint8Array } => {
  const loca = new DataView(new ArrayBuffer((outlines.length + 1) * 4))
  const glyf = new Uint8Array(outlines.reduce((length, { bytes }) => length + padded(bytes.length), 0))
  const view = new DataView(glyf.buffer)
  let end = 0
  outlines.forEach(({ bytes, components }, place) => {
    loca.setUint32(place * 4, end)
    glyf.set(bytes, end)
    for (const { at, glyphId } of components) view.setUint16(end + at, placeOf(glyphId))
    end += padded(bytes.length)
  })
  loca.setUint32(outlines.length * 4, end)
  return { glyf, loca: new Uint8Array(loca.buffer) }
}

/** The table directory (tags in order), then the tables, each on a boundary of four bytes. */
const encodeFont = (tables: Record<string, Uint8Array>): Uint8Array => {
  const tags = Object.keys(tables).sort()
  const start = 12 + tags.length * 16
  const file = new Uint8Array(Object.values(tables).reduce((length, table) => length + padded(table.length), start))
  const view = new DataView(file.buffer)
  const log2 = Math.floor(Math.log2(tags.length))
  view.setUint32(0, 0x00010000)
  view.setUint16(4, tags.length)
  view.setUint16(6, 2 ** log2 * 16)
  view.setUint16(8, log2)
  view.setUint16(10, (tags.length - 2 ** log2) * 16)
  let end = start
  tags.forEach((tag, index) => {
    const table = tables[tag] ?? new Uint8Array()
    file.set(table, end)
    let sum = 0
    for (let at = end; at < end + table.length; at += 4) sum = (sum + view.getUint32(at)) >>> 0
    const entry = 12 + index * 16
    for (let letter = 0; letter < 4; letter++) view.setUint8(entry + letter, tag.charCodeAt(letter))
    view.setUint32(entry + 4, sum)
    view.setUint32(entry + 8, end)
    view.setUint32(entry + 12, table.length)
    end += padded(table.length)
  })
  return file
}
