/**
 * The typefaces of templates, all of @fontsource under the OFL: how their files are called, and which face of every system
 * stands in until they are here, with the same widths and heights so that nothing jumps. Stand-ins are measured over a sentence
 * against the advance widths of Helvetica and Times. Source: rules/site.md#fonts; CSS Fonts 5.
 */
import type { FontPair } from '../../content/brand/palettes.ts'

export type Typeface = {
  family: string
  /** Package, and file name without what tells the subset and the style: `jost` of `jost-latin-wght-normal.woff2`. */
  file: string
  /** What stands between subset and style in the file's name: an axis of a variable font, or the weights of single ones. */
  cuts: readonly string[]
  /** Whether an italic is used; never for Han, which has none. */
  italic: boolean
  weights: string
  /** `font-stretch` of a font that has widths. */
  widths?: string
  /** The system's face that stands in, and what makes it as wide and as high. Percent of the em. */
  standIn: { names: readonly string[]; size: number; ascent: number; descent: number }
}

export type Pair = {
  head: { face: Typeface | null; weight: number; tracking: string; leading: number }
  body: Typeface | null
  /** Specs and index numbers, where a template sets them apart. */
  mono?: Typeface
  /** Whether heads are set in a Han serif, and how heavy. */
  serif: boolean
  hanWeight: number
}

const SANS = ['Arial', 'Liberation Sans', 'Helvetica'] as const
const SERIF = ['Times New Roman', 'Liberation Serif', 'Times'] as const

type Metrics = readonly [size: number, ascent: number, descent: number]
type More = Partial<Pick<Typeface, 'cuts' | 'italic' | 'weights' | 'widths'>>

const face = (
  family: string,
  names: readonly string[],
  [size, ascent, descent]: Metrics,
  more: More = {},
): Typeface => ({
  family,
  file: family.toLowerCase().replaceAll(' ', '-'),
  cuts: ['wght'],
  italic: false,
  weights: '100 900',
  ...more,
  standIn: { names, size, ascent, descent },
})

const HANKEN = face('Hanken Grotesk', SANS, [100.6, 99.4, 30.1])
const CORMORANT = face('Cormorant Garamond', SERIF, [96.5, 95.7, 29.7], { italic: true, weights: '300 700' })
const JOST = face('Jost', SANS, [95.4, 112.1, 39.3])
const SOURCE_SERIF = face('Source Serif 4', SERIF, [116.7, 88.8, 28.7], { weights: '200 900' })
const SOURCE_SANS = face('Source Sans 3', SANS, [88.4, 115.8, 45.2], { weights: '200 900' })
const PLEX_SERIF = face('IBM Plex Serif', SERIF, [117.6, 87.2, 23.4], { cuts: ['500'], weights: '500' })
const PLEX_SANS = face('IBM Plex Sans', SANS, [100.2, 102.3, 27.4], { weights: '100 700' })
const FRAUNCES = face('Fraunces', SERIF, [124.7, 78.4, 20.4])
const FIGTREE = face('Figtree', SANS, [98.8, 96.2, 25.3], { weights: '300 900' })
const ZILLA = face('Zilla Slab', SERIF, [105.9, 89.2, 24.2], { cuts: ['600'], weights: '600' })
const WORK = face('Work Sans', SANS, [110.2, 84.4, 22.1])
const ATKINSON = face('Atkinson Hyperlegible Next', SANS, [98.4, 100, 32.1], { weights: '200 800' })
const BRICOLAGE = face('Bricolage Grotesque', SANS, [109.7, 84.8, 24.6], { weights: '200 800' })
const PUBLIC = face('Public Sans', SANS, [100.8, 94.2, 22.3])
const RED_HAT = face('Red Hat Display', SANS, [97.8, 104.1, 31.2], { weights: '300 900' })
const RED_HAT_TEXT = face('Red Hat Text', SANS, [98.6, 103.2, 30.9], { weights: '300 700' })
const RED_HAT_MONO = face('Red Hat Mono', ['Courier New', 'Liberation Mono'], [99.2, 102.5, 30.7], {
  weights: '300 700',
})
const ARCHIVO = face('Archivo', SANS, [101.5, 86.5, 20.7], { cuts: ['wdth'], widths: '62% 125%' })

type Head = readonly [weight: number, tracking: string, leading: number]
type Han = readonly [serif: boolean, hanWeight: number]

const pair = (
  head: Typeface | null,
  [weight, tracking, leading]: Head,
  body: Typeface | null,
  [serif, hanWeight]: Han,
): Pair => ({
  head: { face: head, weight, tracking, leading },
  body,
  serif,
  hanWeight,
})

export const PAIRS: Record<FontPair, Pair> = {
  hanken: pair(HANKEN, [600, '-0.022em', 1.06], HANKEN, [false, 700]),
  'cormorant-jost': pair(CORMORANT, [400, '-0.012em', 1.06], JOST, [true, 300]),
  source: pair(SOURCE_SERIF, [600, '-0.014em', 1.1], SOURCE_SANS, [true, 600]),
  plex: pair(PLEX_SERIF, [500, '-0.012em', 1.12], PLEX_SANS, [true, 600]),
  'fraunces-figtree': pair(FRAUNCES, [500, '-0.018em', 1.08], FIGTREE, [true, 600]),
  'zilla-work': pair(ZILLA, [600, '-0.01em', 1.06], WORK, [true, 600]),
  atkinson: pair(ATKINSON, [600, '-0.012em', 1.12], ATKINSON, [false, 500]),
  'bricolage-public': pair(BRICOLAGE, [800, '-0.022em', 1.04], PUBLIC, [false, 900]),
  'red-hat': { ...pair(RED_HAT, [700, '-0.015em', 1.08], RED_HAT_TEXT, [false, 700]), mono: RED_HAT_MONO },
  archivo: pair(ARCHIVO, [800, '-0.015em', 1.02], ARCHIVO, [false, 900]),
  system: pair(null, [650, '-0.02em', 1.1], null, [false, 700]),
}

/** The faces of a pair, each once. */
export const facesOf = ({ head, body, mono }: Pair): Typeface[] => [
  ...new Set([head.face, body, mono ?? null].filter((one) => one !== null)),
]

export type FontStyle = 'normal' | 'italic'
export type FontSubset = 'latin' | 'latin-ext'

export const fontFile = ({ file }: Typeface, subset: FontSubset, cut: string, style: FontStyle): string =>
  `${file}-${subset}-${cut}-${style}.woff2`

/** The files that any pair may ask for, for the one who reads them from their packages. */
export const FONT_FILES: readonly string[] = [...new Set(Object.values(PAIRS).flatMap(facesOf))].flatMap((one) =>
  (one.italic ? (['normal', 'italic'] as const) : (['normal'] as const)).flatMap((style) =>
    one.cuts.flatMap((cut) => [fontFile(one, 'latin', cut, style), fontFile(one, 'latin-ext', cut, style)]),
  ),
)
