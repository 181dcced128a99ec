/** The little that we use of fontkit 2, which ships no types. */
declare module 'fontkit' {
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
  }
  export function create(file: Uint8Array): ParsedFont
}
