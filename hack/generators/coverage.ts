import { parseCharacters } from '../../controllers/io/pdf/fonts.ts'
import { FAMILIES, makeTypefaces, readFontFile, WEIGHTS } from '../../controllers/io/pdf/typefaces.ts'

/** The characters that the faces of documents draw, as text for crds, which reads no files (crds/text/drawn.ts). */

const LINE_CHARS = 110
const HEAD = `/**
 * The characters that the faces of documents draw. Made by hack/generate from the font files; do not edit.
 * Pairs in base 36, parted by blanks: how far the next run begins behind the last one's end, and how many follow its first.
 */
export const COVERAGE =
`

/** Runs of neighbours, as the file says above. @param codePoints ascending */
export const runsText = (codePoints: readonly number[]): string => {
  const words: string[] = []
  let [end, from] = [0, codePoints[0] ?? 0]
  codePoints.forEach((codePoint, index) => {
    if (codePoints[index + 1] === codePoint + 1) return
    words.push(`${(from - end).toString(36)} ${(codePoint - from).toString(36)}`)
    end = codePoint
    from = codePoints[index + 1] ?? 0
  })
  return words.join(' ')
}

/** The characters that documents can show in either weight, ascending; the same in every language. */
export const drawnCharacters = (): number[] => {
  const known = new Set(FAMILIES.flatMap((family) => parseCharacters(readFontFile(family, 'regular'))))
  const faces = makeTypefaces()('en')
  const isDrawn = (codePoint: number) => WEIGHTS.every((weight) => faces[weight].faceOf(codePoint) !== null)
  return [...known].filter(isDrawn).sort((a, b) => a - b)
}

/** The file's text, as Biome would format it. */
export const coverageModule = (): string => {
  const lines = runsText(drawnCharacters()).match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  return `${HEAD}${lines.map((line) => `  '${line}'`).join(' +\n')}\n`
}
