/**
 * The Han faces of a site, cut down to the characters that it shows. What is wanted follows from content, layout and fonts
 * alone, and a cut is named by its face and its characters, so that an edit in known characters asks for no new one.
 * Source: rules/site.md#fonts, decision `hack/decisions/070`.
 */
import { createHash } from 'node:crypto'
import type { SiteLang } from '../../content/content.ts'
import type { BlobRef } from '../input.ts'
import { assetPath } from '../page/picture.ts'
import type { Pair } from './faces.ts'
import { HAN_BLOCKS, HAN_MARKS, type HanVoice, type Letters, VOICES } from './letters.ts'

export type HanLang = Extract<SiteLang, 'zh-Hant' | 'zh-Hans'>
export const isHan = (lang: SiteLang): lang is HanLang => lang === 'zh-Hant' || lang === 'zh-Hans'

/** Weights that are there to be cut from: every other costs an installation 20 MB. */
export const SERIF_WEIGHTS = [300, 600] as const
export const SANS_WEIGHTS = [400, 500, 700, 900] as const
export type HanFace = { lang: HanLang; serif: boolean; weight: number }

const TEXT_WEIGHT = 400
const STRONG_WEIGHT = 700

const nearest = (weights: readonly number[], wanted: number): number =>
  weights.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best))

const faceFor = (voice: HanVoice, lang: HanLang, { serif, hanWeight }: Pair): HanFace => {
  if (voice === 'text') return { lang, serif: false, weight: TEXT_WEIGHT }
  if (voice === 'head') return { lang, serif, weight: nearest(serif ? SERIF_WEIGHTS : SANS_WEIGHTS, hanWeight) }
  // one weight beside the text's is enough, where the headings' own is no heavier than a label may be
  const own = !serif && hanWeight <= STRONG_WEIGHT
  return { lang, serif: false, weight: own ? nearest(SANS_WEIGHTS, hanWeight) : STRONG_WEIGHT }
}

/** As its file is called: `noto-serif-tc-600`. */
export const faceName = ({ lang, serif, weight }: HanFace): string =>
  `noto-${serif ? 'serif' : 'sans'}-${lang === 'zh-Hant' ? 'tc' : 'sc'}-${weight}`

/** A face and the characters it is to be cut to, sorted, each once; `voices` speak with it. */
export type HanCut = { key: string; face: HanFace; characters: string; voices: readonly HanVoice[] }

/** More than a text in everyday Chinese ever shows: a cut of so many is over its budget, so none is made. */
export const HAN_LETTERS_MAX = 2200

const byCode = (a: string, b: string): number => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)

/** The cuts of one language; voices that share a face share a cut, and a voice that says nothing has none. */
export const cutsOf = (pair: Pair, lang: HanLang, letters: Letters): HanCut[] => {
  // who asked for the system's faces has them in Chinese too
  if (pair.head.face === null) return []
  const faces = new Map<string, { face: HanFace; voices: HanVoice[]; letters: Set<string> }>()
  for (const voice of VOICES) {
    const face = faceFor(voice, lang, pair)
    const name = faceName(face)
    const one = faces.get(name) ?? { face, voices: [], letters: new Set<string>() }
    one.voices.push(voice)
    for (const letter of letters[voice]) one.letters.add(letter)
    faces.set(name, one)
  }
  return [...faces].flatMap(([name, { face, voices, letters: own }]) => {
    if (own.size === 0 || own.size > HAN_LETTERS_MAX) return []
    const characters = [...own].sort(byCode).join('')
    const sum = createHash('sha256').update(characters).digest('hex').slice(0, 32)
    return [{ key: `${name}-${sum}`, face, characters, voices }]
  })
}

/** Bytes of all Han faces of one language. */
export const HAN_BUDGET = 300_000

export type HanFonts = {
  lang: HanLang
  fonts: Partial<Record<HanVoice, BlobRef>>
  /** What all would have weighed, where it is more than may be. */
  over: number | null
}

const weightOf = (cuts: readonly HanCut[], made: Readonly<Record<string, BlobRef>>): number =>
  cuts.reduce((sum, { key }) => sum + (made[key]?.bytes ?? 0), 0)

/** What of the cuts is sent: all within the budget, else the headings alone, else none; the system's faces stand for the rest. */
export const chosenHan = (
  lang: HanLang,
  cuts: readonly HanCut[],
  made: Readonly<Record<string, BlobRef>>,
): HanFonts => {
  const total = weightOf(cuts, made)
  const heads = cuts.filter(({ voices }) => voices.includes('head'))
  const sent = total <= HAN_BUDGET ? cuts : weightOf(heads, made) <= HAN_BUDGET ? heads : []
  const fonts = Object.fromEntries(
    sent.flatMap(({ key, voices }) => {
      const blob = made[key]
      return blob === undefined ? [] : voices.map((voice) => [voice, blob])
    }),
  )
  return { lang, fonts, over: total > HAN_BUDGET ? total : null }
}

const rangeOf = (blocks: typeof HAN_BLOCKS): string =>
  blocks
    .map(([first, last]) => {
      const [from, to] = [first, last].map((code) => code.toString(16).toUpperCase())
      return from === to ? `U+${from}` : `U+${from}-${to}`
    })
    .join(',')

const RANGE = rangeOf(HAN_BLOCKS)
const MARKS_RANGE = rangeOf(HAN_MARKS)

/** Named so that no installed font is meant. */
const familyOf = (lang: HanLang, what: string): string => `"Han ${what} ${lang === 'zh-Hant' ? 'TC' : 'SC'}"`

const rule = (family: string, weights: string, { sha256 }: BlobRef, range: string): string =>
  `@font-face{font-family:${family};font-weight:${weights};font-display:swap;` +
  `src:url("${assetPath(sha256, 'woff2').slice('assets/'.length)}") format("woff2");unicode-range:${range}}`

/** Any weight is drawn by the face that there is: Han is never thickened. */
const ANY = '100 900'

/** The rules of the faces of one language. */
export const hanRules = ({ lang, fonts: { head, strong, text } }: HanFonts): string => {
  const named = (what: string) => familyOf(lang, what)
  return [
    head && rule(named('Head'), ANY, head, RANGE) + rule(named('Head Marks'), ANY, head, MARKS_RANGE),
    text && rule(named('Text'), strong ? '100 599' : ANY, text, RANGE) + rule(named('Marks'), ANY, text, MARKS_RANGE),
    // what the bold one has no glyph for is in the other
    text && strong && rule(named('Text'), '600 900', strong, RANGE) + rule(named('All'), ANY, text, RANGE),
  ]
    .filter((one) => one !== undefined)
    .join('')
}

/** Families that stand before the Latin ones, for quotes and dashes, and behind them, best first. */
export const hanFamilies = (
  { lang, fonts: { head, strong, text } }: HanFonts,
  heads: boolean,
): { before: string[]; behind: string[] } => {
  const named = (what: string) => familyOf(lang, what)
  const plain = text ? [named('Text'), ...(strong ? [named('All')] : [])] : []
  if (heads && head) return { before: [named('Head Marks')], behind: [named('Head'), ...plain] }
  return { before: text ? [named('Marks')] : [], behind: plain }
}
