/** The little that we use of fontkit 2, which ships no types. */
declare module 'fontkit' {
  export type GlyphRun = {
    glyphs: { id: number; codePoints: number[] }[]
    positions: { xAdvance: number; xOffset: number; yOffset: number }[]
  }
  export type ParsedFont = {
    postscriptName: string
    unitsPerEm: number
    ascent: number
    descent: number
    lineGap: number
    capHeight: number
    xHeight: number
    italicAngle: number
    bbox: { minX: number; minY: number; maxX: number; maxY: number }
    characterSet: number[]
    directory: { tables: Record<string, { offset: number; length: number }> }
    glyphForCodePoint(codePoint: number): { id: number }
    getGlyph(id: number): { path: { toSVG(): string } }
    layout(
      text: string,
      features: Record<string, boolean> | undefined,
      script: undefined,
      language: undefined,
      direction: 'ltr' | 'rtl',
    ): GlyphRun
  }
  export function create(file: Uint8Array): ParsedFont
}
