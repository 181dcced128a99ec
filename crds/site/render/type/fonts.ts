/**
 * The typography of a site: which files of its font pair it needs, and the rules that name them. Chinese is set in faces cut down
 * to the site's own characters (han.ts), before the system's. Source: rules/site.md#fonts; CSS Fonts 5.
 */
import type { FontPair } from '../../content/brand/brand.ts'
import type { SiteLang } from '../../content/content.ts'
import type { BlobRef } from '../input.ts'
import { assetPath } from '../page/picture.ts'
import { type FontStyle, type FontSubset, facesOf, fontFile, PAIRS, type Pair, type Typeface } from './faces.ts'
import { type HanFonts, type HanLang, hanFamilies, hanRules, isHan } from './han.ts'

/** Faces that systems have for Han, best first. */
const HAN: Record<HanLang, { sans: string; serif: string }> = {
  'zh-Hant': {
    sans: '"PingFang TC","Noto Sans TC","Noto Sans CJK TC","Source Han Sans TC","Microsoft JhengHei","Heiti TC"',
    serif: '"Songti TC","Noto Serif TC","Noto Serif CJK TC","Source Han Serif TC",PMingLiU',
  },
  'zh-Hans': {
    sans: '"PingFang SC","Noto Sans SC","Noto Sans CJK SC","Source Han Sans SC","Microsoft YaHei","Heiti SC"',
    serif: '"Songti SC","Noto Serif SC","Noto Serif CJK SC","Source Han Serif SC",SimSun',
  },
}

type Stacked = { face: Typeface | null; generic: string; serif: boolean; heads: boolean }

/** The pair's own face, in Chinese between what Han draws itself and its faces, then the system's. */
const stackOf = ({ face, generic, serif, heads }: Stacked, lang: SiteLang, han: HanFonts | undefined): string => {
  const own = face === null ? ['system-ui'] : [`"${face.family}"`, `"${face.family} Stand-in"`]
  const { before, behind } = han === undefined ? { before: [], behind: [] } : hanFamilies(han, heads)
  const system = isHan(lang) ? [HAN[lang][serif ? 'serif' : 'sans']] : []
  return [...before, ...own, ...behind, ...system, generic].join(',')
}

/** What @fontsource calls latin and latin-ext: the same ranges, so that a file is asked for when it is needed only. */
const LATIN_RANGE =
  'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD'
const LATIN_EXT_RANGE =
  'U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF'
const LATIN_EXT =
  /[\u0100-\u0130\u0132-\u0151\u0154-\u02ba\u02bd-\u02c5\u02c7-\u02cc\u02ce-\u02d7\u02dd-\u02ff\u1d00-\u1dbf\u1e00-\u1e9f\u1ef2-\u1eff\u2020\u20a0-\u20ab\u20ad-\u20c0\u2113\u2c60-\u2c7f\ua720-\ua7ff]/

export type UsedFont = { path: string; blob: BlobRef }

/** `--head`, `--body` and `--mono` of one language, and what its pages ask for at once. */
export type Stacks = { lang: SiteLang; head: string; body: string; mono: string; preloads: readonly string[] }

export type Typography = {
  pair: Pair
  /** Of each language, the first one first. */
  stacks: readonly [Stacks, ...Stacks[]]
  /** Files that the site brings along. */
  fonts: readonly UsedFont[]
  /** Of those, what visitors of one language may load at most, without Han. */
  bytes: number
  rules: string
}

/** Han has no italics, and a slanted stand-in is worse than none. */
const stylesOf = (face: Typeface, langs: readonly SiteLang[]): FontStyle[] =>
  face.italic && !langs.every(isHan) ? ['normal', 'italic'] : ['normal']

/** The style sheet lies beside the fonts. */
const faceRule = (face: Typeface, subset: FontSubset, style: FontStyle, path: string): string =>
  `@font-face{font-family:"${face.family}";font-style:${style};font-weight:${face.weights};font-display:swap;` +
  (face.widths === undefined ? '' : `font-stretch:${face.widths};`) +
  `src:url("${path.slice('assets/'.length)}") format("woff2");unicode-range:${subset === 'latin' ? LATIN_RANGE : LATIN_EXT_RANGE}}`

const standInRule = ({ family, standIn }: Typeface): string =>
  `@font-face{font-family:"${family} Stand-in";src:${standIn.names.map((name) => `local("${name}")`).join(',')};` +
  `size-adjust:${standIn.size}%;ascent-override:${standIn.ascent}%;descent-override:${standIn.descent}%;line-gap-override:0%}`

type Wanted = { face: Typeface; style: FontStyle; subset: FontSubset; cut: string }

const wantedOf = (pair: Pair, langs: readonly SiteLang[], subsets: readonly FontSubset[]): Wanted[] =>
  facesOf(pair).flatMap((face) =>
    stylesOf(face, langs).flatMap((style) =>
      subsets.flatMap((subset) => face.cuts.map((cut) => ({ face, style, subset, cut }))),
    ),
  )

type Preloaded = { path: string; preload: boolean }

const stacksOf = (pair: Pair, lang: SiteLang, latin: readonly Preloaded[], han: HanFonts | undefined): Stacks => {
  const { head, body, mono, serif } = pair
  const headed = han?.fonts.head
  const stack = (one: Stacked) => stackOf(one, lang, han)
  const plain = { serif: false, heads: false }
  return {
    lang,
    head: stack({ face: head.face, generic: serif ? 'serif' : 'sans-serif', serif, heads: true }),
    body: stack({ face: body, generic: 'sans-serif', ...plain }),
    mono: stack({ face: mono ?? body, generic: mono === undefined ? 'sans-serif' : 'monospace', ...plain }),
    preloads: [
      ...latin.filter(({ preload }) => preload).map(({ path }) => path),
      ...(headed === undefined ? [] : [assetPath(headed.sha256, 'woff2')]),
    ],
  }
}

const hanFilesOf = ({ fonts }: HanFonts): UsedFont[] => {
  const blobs = new Map(Object.values(fonts).map((blob) => [blob.sha256, blob]))
  return [...blobs.values()].map((blob) => ({ path: assetPath(blob.sha256, 'woff2'), blob }))
}

export type TypographyInput = {
  pair: FontPair
  /** The first one first. */
  langs: readonly [SiteLang, ...SiteLang[]]
  /** All that is written on it, to tell which Latin subsets it needs. */
  text: string
  /** File name → bytes; a file that is not there is left out, and the stand-in stays. */
  available: Readonly<Record<string, BlobRef>>
  han: readonly HanFonts[]
}

/** The typography of a site, in all its languages. */
export const typographyOf = ({ pair: name, langs, text, available, han }: TypographyInput): Typography => {
  const pair = PAIRS[name]
  const subsets = LATIN_EXT.test(text) ? (['latin', 'latin-ext'] as const) : (['latin'] as const)
  const found = wantedOf(pair, langs, subsets).flatMap(({ face, style, subset, cut }) => {
    const blob = available[fontFile(face, subset, cut, style)]
    if (blob === undefined) return []
    const path = assetPath(blob.sha256, 'woff2')
    const preload = style === 'normal' && subset === 'latin' && face !== pair.mono
    return [{ path, blob, preload, rule: faceRule(face, subset, style, path) }]
  })
  const [first, ...others] = langs
  const stacks = (lang: SiteLang) =>
    stacksOf(
      pair,
      lang,
      found,
      han.find((one) => one.lang === lang),
    )
  return {
    pair,
    stacks: [stacks(first), ...others.map(stacks)],
    fonts: [...found.map(({ path, blob }) => ({ path, blob })), ...han.flatMap(hanFilesOf)],
    bytes: found.reduce((sum, { blob }) => sum + blob.bytes, 0),
    rules: [...found.map(({ rule }) => rule), ...facesOf(pair).map(standInRule), ...han.map(hanRules)].join(''),
  }
}
