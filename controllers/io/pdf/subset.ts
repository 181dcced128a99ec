/**
 * TrueType fonts cut down to the glyphs that a document uses: their bytes one after another under new numbers. Source:
 * OpenType 1.9, tables glyf, loca, head, hhea, hmtx, maxp.
 */

export type Tables = { view: DataView; bytes: Uint8Array; at: (tag: string) => { offset: number; length: number } }
type Outline = { bytes: Uint8Array; components: { at: number; glyphId: number }[] }

const LONG_LOCA = 1

/** Advance and left bearing of a glyph, in the font's own units. */
export type Advance = (glyphId: number) => { advance: number; bearing: number }

export const advancesOf = ({ view, at }: Tables): Advance => {
  const long = view.getUint16(at('hhea').offset + 34)
  const { offset } = at('hmtx')
  return (glyphId) => ({
    advance: view.getUint16(offset + Math.min(glyphId, long - 1) * 4),
    bearing: view.getInt16(offset + (glyphId < long ? glyphId * 4 + 2 : long * 4 + (glyphId - long) * 2)),
  })
}

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

/** The shape of fontkit's Subset. `includeGlyph` gives the place of a glyph in it; place 0 is .notdef. */
export type Subset = { includeGlyph(glyphId: number): number; encode(): Uint8Array }

export const makeSubsets = (tables: Tables): (() => Subset) => {
  const outlineOf = outlinesOf(tables)
  const metricOf = advancesOf(tables)
  // a Buffer's own slice shares its bytes, and these are written to
  const copyOf = (tag: string): Uint8Array => {
    const { offset, length } = tables.at(tag)
    return Uint8Array.from(tables.bytes.subarray(offset, offset + length))
  }
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
