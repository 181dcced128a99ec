/**
 * Font pairs: which files of @fontsource they need, and which faces of every system stand in until those are here, with the
 * same widths and heights so that nothing jumps. Chinese is set in the system's own faces: a whole Han font would be
 * megabytes. Source: rules/site.md#fonts; CSS Fonts 5.
 */
import type { FontPair } from '../content/brand.ts'
import type { SiteLang } from '../content/content.ts'
import type { BlobRef } from './input.ts'
import { assetPath } from './page/picture.ts'

type Face = {
  family: string
  /** File name without what tells the subset and the style: `jost-latin-wght-normal.woff2`. */
  file: string
  /** Whether an italic is used; never for Han, which has none. */
  italic: boolean
  weights: string
  /** The system's face that stands in, and what makes it as wide and as high. Percent of the em. */
  standIn: { names: readonly string[]; size: number; ascent: number; descent: number }
}

type Pair = {
  head: { stack: string; weight: number; tracking: string; leading: number }
  body: { stack: string }
  faces: readonly Face[]
  serif: boolean
}

const SANS = ['Arial', 'Liberation Sans', 'Helvetica'] as const
const SERIF = ['Times New Roman', 'Liberation Serif', 'Times'] as const

const HANKEN: Face = {
  family: 'Hanken Grotesk',
  file: 'hanken-grotesk',
  italic: false,
  weights: '100 900',
  standIn: { names: SANS, size: 100.6, ascent: 99.4, descent: 30.1 },
}
const CORMORANT: Face = {
  family: 'Cormorant Garamond',
  file: 'cormorant-garamond',
  italic: true,
  weights: '300 700',
  standIn: { names: SERIF, size: 96.5, ascent: 95.7, descent: 29.7 },
}
const JOST: Face = {
  family: 'Jost',
  file: 'jost',
  italic: false,
  weights: '100 900',
  standIn: { names: SANS, size: 95.4, ascent: 112.1, descent: 39.3 },
}

const stackOf = (face: Face, generic: string) => `"${face.family}","${face.family} Stand-in",${generic}`

const PAIRS: Record<FontPair, Pair> = {
  hanken: {
    head: { stack: stackOf(HANKEN, 'sans-serif'), weight: 640, tracking: '-0.022em', leading: 1.06 },
    body: { stack: stackOf(HANKEN, 'sans-serif') },
    faces: [HANKEN],
    serif: false,
  },
  'cormorant-jost': {
    head: { stack: stackOf(CORMORANT, 'serif'), weight: 400, tracking: '-0.012em', leading: 1.04 },
    body: { stack: stackOf(JOST, 'sans-serif') },
    faces: [CORMORANT, JOST],
    serif: true,
  },
  system: {
    head: { stack: 'system-ui,sans-serif', weight: 650, tracking: '-0.02em', leading: 1.1 },
    body: { stack: 'system-ui,sans-serif' },
    faces: [],
    serif: false,
  },
}

/** Faces that systems have for Han, best first. */
const HAN: Record<'zh-Hant' | 'zh-Hans', { sans: string; serif: string }> = {
  'zh-Hant': {
    sans: '"PingFang TC","Noto Sans TC","Noto Sans CJK TC","Source Han Sans TC","Microsoft JhengHei","Heiti TC"',
    serif: '"Songti TC","Noto Serif TC","Noto Serif CJK TC","Source Han Serif TC",PMingLiU',
  },
  'zh-Hans': {
    sans: '"PingFang SC","Noto Sans SC","Noto Sans CJK SC","Source Han Sans SC","Microsoft YaHei","Heiti SC"',
    serif: '"Songti SC","Noto Serif SC","Noto Serif CJK SC","Source Han Serif SC",SimSun',
  },
}

const withHan = (stack: string, lang: SiteLang, serif: boolean): string => {
  if (!isHan(lang)) return stack
  const generic = stack.slice(stack.lastIndexOf(',') + 1) || 'sans-serif'
  return `${stack.slice(0, -generic.length)}${HAN[lang][serif ? 'serif' : 'sans']},${generic}`
}

/** What @fontsource calls latin and latin-ext: the same ranges, so that a file is asked for when it is needed only. */
const LATIN_RANGE =
  'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD'
const LATIN_EXT_RANGE =
  'U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF'
const LATIN_EXT =
  /[\u0100-\u0130\u0132-\u0151\u0154-\u02ba\u02bd-\u02c5\u02c7-\u02cc\u02ce-\u02d7\u02dd-\u02ff\u1d00-\u1dbf\u1e00-\u1e9f\u1ef2-\u1eff\u2020\u20a0-\u20ab\u20ad-\u20c0\u2113\u2c60-\u2c7f\ua720-\ua7ff]/

export type UsedFont = { path: string; blob: BlobRef; preload: boolean }

export type Typography = {
  pair: Pair
  /** `--head` and `--body`. */
  head: string
  body: string
  /** Files that the site brings along. */
  fonts: readonly UsedFont[]
  rules: string
}

type Style = 'normal' | 'italic'
type Subset = 'latin' | 'latin-ext'

/** Han has no italics, and a slanted stand-in is worse than none. */
const stylesOf = (face: Face, lang: SiteLang): Style[] =>
  face.italic && !isHan(lang) ? ['normal', 'italic'] : ['normal']

export const isHan = (lang: SiteLang): lang is 'zh-Hant' | 'zh-Hans' => lang === 'zh-Hant' || lang === 'zh-Hans'

const fileOf = (face: Face, subset: Subset, style: Style): string => `${face.file}-${subset}-wght-${style}.woff2`

/** The style sheet lies beside the fonts. */
const faceRule = (face: Face, subset: Subset, style: Style, path: string): string =>
  `@font-face{font-family:"${face.family}";font-style:${style};font-weight:${face.weights};font-display:swap;` +
  `src:url("${path.slice('assets/'.length)}") format("woff2");unicode-range:${subset === 'latin' ? LATIN_RANGE : LATIN_EXT_RANGE}}`

const standInRule = ({ family, standIn }: Face): string =>
  `@font-face{font-family:"${family} Stand-in";src:${standIn.names.map((name) => `local("${name}")`).join(',')};` +
  `size-adjust:${standIn.size}%;ascent-override:${standIn.ascent}%;descent-override:${standIn.descent}%;line-gap-override:0%}`

/**
 * The typography of a site.
 * @param text all that is written on it, to tell which subsets it needs
 * @param available file name → bytes; a file that is not there is left out, and the stand-in stays
 */
export const typographyOf = (
  name: FontPair,
  lang: SiteLang,
  text: string,
  available: Readonly<Record<string, BlobRef>>,
): Typography => {
  const pair = PAIRS[name]
  const subsets = LATIN_EXT.test(text) ? (['latin', 'latin-ext'] as const) : (['latin'] as const)
  const wanted = pair.faces.flatMap((face) =>
    stylesOf(face, lang).flatMap((style) => subsets.map((subset) => ({ face, style, subset }))),
  )
  const found = wanted.flatMap(({ face, style, subset }) => {
    const blob = available[fileOf(face, subset, style)]
    if (blob === undefined) return []
    const path = assetPath(blob.sha256, 'woff2')
    const preload = style === 'normal' && subset === 'latin'
    return [{ path, blob, preload, rule: faceRule(face, subset, style, path) }]
  })
  return {
    pair,
    head: withHan(pair.head.stack, lang, pair.serif),
    body: withHan(pair.body.stack, lang, false),
    fonts: found.map(({ path, blob, preload }) => ({ path, blob, preload })),
    rules: [...found.map(({ rule }) => rule), ...pair.faces.map(standInRule)].join(''),
  }
}

/** The files that any pair may ask for, for the one who reads them from their packages. */
export const FONT_FILES: readonly string[] = [HANKEN, CORMORANT, JOST].flatMap((face) =>
  stylesOf(face, 'en').flatMap((style) => [fileOf(face, 'latin', style), fileOf(face, 'latin-ext', style)]),
)
