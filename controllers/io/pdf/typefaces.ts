/**
 * Which face draws which character: Noto Sans for Latin, Greek and Cyrillic, its sisters for the other scripts, all under
 * the OFL and read whole out of their packages. A family is read and parsed when the first of its characters is met.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { DocumentLang } from '../../../crds/invoice/order/frozen.ts'
import { type Face, parseFace } from './fonts.ts'
import type { Chain } from './lines.ts'
import type { Faces, Weight } from './page.ts'

export const FAMILIES = [
  'NotoSans',
  'NotoSansArabic',
  'NotoSansHebrew',
  'NotoSansThai',
  'NotoSansSC',
  'NotoSansTC',
  'NotoSansKR',
] as const
export type Family = (typeof FAMILIES)[number]

export const WEIGHTS = ['regular', 'bold'] as const satisfies readonly Weight[]
const FILES: Record<Weight, string> = { regular: '400Regular', bold: '700Bold' }
const PACKAGES: Record<Family, string> = {
  NotoSans: 'noto-sans',
  NotoSansArabic: 'noto-sans-arabic',
  NotoSansHebrew: 'noto-sans-hebrew',
  NotoSansThai: 'noto-sans-thai',
  NotoSansSC: 'noto-sans-sc',
  NotoSansTC: 'noto-sans-tc',
  NotoSansKR: 'noto-sans-kr',
}
/** Joined letters, or marks that stand over letters. */
const COMPLEX: ReadonlySet<Family> = new Set(['NotoSansArabic', 'NotoSansHebrew', 'NotoSansThai'])

/** The file of a family out of its package. Up to 10 MB. */
export const readFontFile = (family: Family, weight: Weight): Uint8Array => {
  const { resolve } = createRequire(import.meta.url)
  const folder = FILES[weight]
  return readFileSync(resolve(`@expo-google-fonts/${PACKAGES[family]}/${folder}/${family}_${folder}.ttf`))
}

/** A family that draws the Han characters of one language writes those of the others too, in its own manner. */
const HAN: Record<DocumentLang, readonly Family[]> = {
  en: ['NotoSansSC', 'NotoSansTC', 'NotoSansKR'],
  es: ['NotoSansSC', 'NotoSansTC', 'NotoSansKR'],
  'zh-Hans': ['NotoSansSC', 'NotoSansTC', 'NotoSansKR'],
  'zh-Hant': ['NotoSansTC', 'NotoSansSC', 'NotoSansKR'],
}

const HANGUL = /[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]/
const ARABIC = /[\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufeff]/
const HEBREW = /[\u0590-\u05ff\ufb1d-\ufb4f]/
const THAI = /[\u0e00-\u0e7f]/
/** Symbols and signs, kana, Han, wide forms. */
const EAST_ASIAN =
  /[\u2000-\u2bff\u2e80-\ua4cf\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uffef\u{1f100}-\u{1f2ff}\u{20000}-\u{3ffff}]/u

/** The families that may have a character which Noto Sans lacks, best first. */
const candidates = (codePoint: number, lang: DocumentLang): readonly Family[] => {
  const char = String.fromCodePoint(codePoint)
  if (HANGUL.test(char)) return ['NotoSansKR']
  if (EAST_ASIAN.test(char)) return HAN[lang]
  if (ARABIC.test(char)) return ['NotoSansArabic']
  if (HEBREW.test(char)) return ['NotoSansHebrew']
  if (THAI.test(char)) return ['NotoSansThai']
  return []
}

const makeChain = (open: (family: Family) => Face, lang: DocumentLang): Chain => {
  const base = open('NotoSans')
  const others = new Map<number, Face | null>()
  return {
    base,
    faceOf: (codePoint) => {
      if (base.has(codePoint)) return base
      const known = others.get(codePoint)
      if (known !== undefined) return known
      const found = candidates(codePoint, lang).find((family) => open(family).has(codePoint))
      const face = found === undefined ? null : open(found)
      others.set(codePoint, face)
      return face
    },
  }
}

/** The faces of documents by their language. Keep what it gives: parsed fonts are its whole worth. */
export const makeTypefaces = (read: typeof readFontFile = readFontFile): ((lang: DocumentLang) => Faces) => {
  const opened = new Map<string, Face>()
  const opener =
    (weight: Weight) =>
    (family: Family): Face => {
      const key = `${family} ${weight}`
      const face = opened.get(key) ?? parseFace(read(family, weight), { complex: COMPLEX.has(family) })
      opened.set(key, face)
      return face
    }
  const made = new Map<DocumentLang, Faces>()
  return (lang) => {
    const faces = made.get(lang) ?? {
      regular: makeChain(opener('regular'), lang),
      bold: makeChain(opener('bold'), lang),
    }
    made.set(lang, faces)
    return faces
  }
}
