/**
 * The brand of a site: a template's palette and fonts with an account's own tokens laid over them, and everything derived
 * from accent, ink and paper in OKLCH, so that any colours that are sent give a page that can be read.
 * Source: rules/site.md#brand-tokens; WCAG 2.2, 1.4.3 and 1.4.11. The only file that imports culori.
 */
import assert from 'node:assert/strict'
import { clampChroma, converter, displayable, formatHex, parse, wcagContrast } from 'culori'
import type { Fault } from '../../../kernel/problem.ts'
import type { Infer, ObjectSchema } from '../../../kernel/schema.ts'
import type { Template } from '../content.ts'
import { FONT_PAIRS, TEMPLATE_TOKENS, type TemplateTokens } from './palettes.ts'

export { FONT_PAIRS, type FontPair } from './palettes.ts'

export const COLOUR_MAX = 64

/** Body text aims at this ratio … */
const TEXT_AIM = 7
/** … and nothing that is read falls below this one. */
const TEXT_LEAST = 4.5
/** Edges of controls. */
const EDGE_LEAST = 3

const colour = {
  type: 'string',
  minLength: 3,
  maxLength: COLOUR_MAX,
  'x-text': 'line',
  'x-code': 'BAD_TOKENS',
} as const

/** The body of PUT /api/website/brand-tokens. */
export const brandTokens = {
  type: 'object',
  description: 'Colours and fonts of an account, clamped so that everything can be read.',
  properties: {
    accent: { ...colour, description: 'Links, buttons and small marks.' },
    ink: { ...colour, description: 'Text.' },
    paper: { ...colour, description: 'The ground that text stands on.' },
    fontPair: {
      type: 'string',
      description: 'A font pair of GET /templates.',
      enum: FONT_PAIRS,
      'x-code': 'BAD_TOKENS',
    },
  },
} as const satisfies ObjectSchema

export type BrandTokens = Infer<typeof brandTokens>

/** A token that was moved. Colours are `#rrggbb`; `ratio` is the contrast that is reached, by WCAG. */
export type Clamped = { token: 'accent' | 'ink'; from: string; to: string; ratio: number; reason: string }

/**
 * All colours of a page, `#rrggbb`. The one accent has four roles: `fill` is the brand, untouched; `onFill` is read on it;
 * `accent` is the brand as text; `accentLine` as a line that means something.
 */
export type Palette = {
  fill: string
  onFill: string
  /** The edge of a filled control: the fill itself, or ink where the fill hardly stands off its ground. */
  fillEdge: string
  accent: string
  accentLine: string
  ink: string
  paper: string
  /** Bands beside the paper. */
  tint: string
  /** Behind pictures. */
  plate: string
  /** Quiet text. */
  muted: string
  /** Hairlines, which carry no meaning. */
  line: string
  /** Edges of controls. */
  edge: string
  /** The other ground, and what is read on it. */
  inverse: string
  onInverse: string
  mutedInverse: string
  accentInverse: string
  lineInverse: string
  fillEdgeInverse: string
}

export type Brand = { tokens: Required<BrandTokens>; palette: Palette; clamped: Clamped[] }

const toOklch = converter('oklch')

/** A grey has no hue; 0 stands for it. */
type Oklch = { l: number; c: number; h: number }

const oklchOf = (hex: string): Oklch => {
  const { l = 0, c = 0, h = 0 } = toOklch(hex) ?? {}
  return { l, c, h }
}

/** Brought into sRGB by giving up chroma, which keeps lightness and hue. */
const hexOf = (colour: Oklch): string => {
  const hex = formatHex(clampChroma({ mode: 'oklch', ...colour }, 'oklch'))
  assert(hex !== undefined, 'every colour of OKLCH has a form in sRGB')
  return hex
}

/** `#rrggbb` of an opaque CSS colour, brought into sRGB; null for anything else. */
export const hexOfColour = (text: string): string | null => {
  const parsed = parse(text.trim())
  if (parsed === undefined || (parsed.alpha ?? 1) < 1) return null
  // a colour of the screen stays as it is, to the last bit
  if (displayable(parsed)) return formatHex(parsed) ?? null
  const { l, c, h = 0 } = toOklch(parsed)
  return Number.isFinite(l) && Number.isFinite(c) ? hexOf({ l, c, h }) : null
}

/** Tokens that are no colours. Pointers are in the names of the tokens. */
export const brandFaults = (tokens: BrandTokens): Fault[] =>
  (['accent', 'ink', 'paper'] as const).flatMap((token) => {
    const text = tokens[token]
    if (text === undefined || hexOfColour(text) !== null) return []
    const detail = `${JSON.stringify(text)} is no opaque CSS colour`
    return [{ code: 'BAD_TOKENS', pointer: `/${token}`, detail }]
  })

const contrastOn = (grounds: readonly string[], text: string): number =>
  Math.min(...grounds.map((ground) => wcagContrast(ground, text)))

const mix = (from: string, to: string, share: number): string => {
  const [a, b] = [oklchOf(from), oklchOf(to)]
  // a grey has no hue of its own and takes that of the other
  const h = a.c < b.c ? b.h : a.h
  return hexOf({ l: a.l + (b.l - a.l) * share, c: a.c + (b.c - a.c) * share, h })
}

/** Steps between a colour and black or white; fine enough that no step is seen. */
const STEPS = 64

/** The nearest lightness at which a colour reaches the ratio on all grounds; black or white when none does. */
const readable = (colour: string, grounds: readonly string[], ratio: number): string => {
  if (contrastOn(grounds, colour) >= ratio) return colour
  const { l, c, h } = oklchOf(colour)
  const end = contrastOn(grounds, '#000000') >= contrastOn(grounds, '#ffffff') ? 0 : 1
  for (let step = 1; step < STEPS; step++) {
    const candidate = hexOf({ l: l + ((end - l) * step) / STEPS, c, h })
    if (contrastOn(grounds, candidate) >= ratio) return candidate
  }
  return end === 0 ? '#000000' : '#ffffff'
}

/** How far grounds stand off the paper, in lightness: a band, what is behind pictures, the other ground. */
const STEPS_LIGHT = { tint: -0.026, plate: -0.05 } as const
const STEPS_DARK = { tint: 0.035, plate: 0.07, inverse: 0.105 } as const
/** The other ground of a light paper when an account brings colours of its own. */
const INVERSE = { l: 0.2, most: 0.04 } as const

type Grounds = Pick<Palette, 'paper' | 'tint' | 'plate' | 'inverse'>

/** A ground of one family with the paper; the paper itself where text would not reach its ratio on both. */
const groundOf = (paper: string, step: number): string => {
  const { l, c, h } = oklchOf(paper)
  const ground = hexOf({ l: l + step, c, h })
  const best = Math.max(contrastOn([paper, ground], '#000000'), contrastOn([paper, ground], '#ffffff'))
  return best >= TEXT_LEAST ? ground : paper
}

const isDark = (paper: string): boolean => oklchOf(paper).l < 0.5

/** On dark paper the other ground is a step lighter and never white: a bright band would glare. */
const groundsOf = (paper: string, ink: string, other: string | null): Grounds => {
  const dark = isDark(paper)
  const steps = dark ? STEPS_DARK : STEPS_LIGHT
  const { c, h } = oklchOf(ink)
  const inverse = dark
    ? groundOf(paper, STEPS_DARK.inverse)
    : (other ?? hexOf({ l: INVERSE.l, c: Math.min(c, INVERSE.most), h }))
  const tint = groundOf(paper, steps.tint)
  // both beside the paper: what is read on one is read on all three
  const plate = groundOf(paper, steps.plate)
  const all = Math.max(contrastOn([paper, tint, plate], '#000000'), contrastOn([paper, tint, plate], '#ffffff'))
  return { paper, tint, plate: all >= TEXT_LEAST ? plate : tint, inverse }
}

/** Ink or paper on the fill, else black or white, one of which is always read: the fill never moves. */
const onFillOf = (fill: string, ink: string, paper: string): string => {
  const wanted = [paper, ink].toSorted((a, b) => wcagContrast(fill, b) - wcagContrast(fill, a))
  const found = wanted.find((text) => wcagContrast(fill, text) >= TEXT_LEAST)
  return found ?? (wcagContrast(fill, '#000000') >= wcagContrast(fill, '#ffffff') ? '#000000' : '#ffffff')
}

const floor2 = (ratio: number): number => Math.floor(ratio * 100) / 100

const askedOf = (base: TemplateTokens, tokens: BrandTokens | null) => {
  const asked = (token: 'accent' | 'ink' | 'paper') => {
    const hex = hexOfColour(tokens?.[token] ?? base[token]) ?? hexOfColour(base[token])
    assert(hex !== null, 'the colours of templates are colours')
    return hex
  }
  return { accent: asked('accent'), ink: asked('ink'), paper: asked('paper') }
}

const movedOf = (token: Clamped['token'], from: string, to: string, beside: readonly string[]): Clamped[] => {
  if (from === to) return []
  const [ratio, had] = [floor2(contrastOn(beside, to)), floor2(contrastOn(beside, from))]
  const aim = token === 'ink' ? TEXT_AIM : TEXT_LEAST
  const reached = ratio >= aim ? '' : `; ${ratio} is the most that this paper allows`
  const kept = token === 'accent' ? '; buttons keep it' : ''
  const reason = `${token} on ${beside[0]} had a contrast of ${had}, and ${aim} is needed to read it${reached}${kept}`
  return [{ token, from, to, ratio, reason }]
}

const paletteOf = (
  asked: { accent: string; ink: string; paper: string },
  inverseAsked: string | null,
  quietText: boolean,
): Palette => {
  const grounds = groundsOf(asked.paper, asked.ink, inverseAsked)
  const { paper, tint, plate, inverse } = grounds
  const beside = [paper, tint, plate]
  const ink = readable(asked.ink, beside, TEXT_AIM)
  const fill = asked.accent
  const onInverse = readable(isDark(paper) ? ink : mix(paper, '#ffffff', 0.1), [inverse], TEXT_AIM)
  return {
    ...grounds,
    fill,
    onFill: onFillOf(fill, ink, paper),
    fillEdge: contrastOn(beside, fill) >= EDGE_LEAST ? fill : ink,
    accent: quietText ? ink : readable(fill, beside, TEXT_LEAST),
    accentLine: readable(fill, beside, EDGE_LEAST),
    ink,
    muted: readable(mix(ink, paper, 0.32), beside, TEXT_LEAST),
    line: mix(paper, ink, 0.14),
    edge: readable(mix(ink, paper, 0.5), beside, EDGE_LEAST),
    onInverse,
    mutedInverse: readable(mix(onInverse, inverse, 0.28), [inverse], TEXT_LEAST),
    accentInverse: quietText ? onInverse : readable(fill, [inverse], TEXT_LEAST),
    lineInverse: mix(inverse, onInverse, 0.2),
    fillEdgeInverse: wcagContrast(inverse, fill) >= EDGE_LEAST ? fill : onInverse,
  }
}

/** Finding what can be read is dear, and all sites of an account have the same brand. */
const known = new Map<string, Brand>()
const KNOWN_MAX = 128

/**
 * The template's tokens with those of an account laid over them, clamped. The tokens have passed `brandFaults`; one that is no
 * colour is left out. Only what an account sent is told as clamped: a template knows its own colours.
 */
export const brandOf = (template: Template, tokens: BrandTokens | null): Brand => {
  const key = JSON.stringify([template, tokens?.accent, tokens?.ink, tokens?.paper, tokens?.fontPair])
  const before = known.get(key)
  if (before !== undefined) return before
  const made = brandMade(template, tokens)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(key, made)
  return made
}

const brandMade = (template: Template, tokens: BrandTokens | null): Brand => {
  const base = TEMPLATE_TOKENS[template]
  const asked = askedOf(base, tokens)
  const own = (['accent', 'ink', 'paper'] as const).some((token) => tokens?.[token] !== undefined)
  const ground = tokens?.ink === undefined && tokens?.paper === undefined ? hexOfColour(base.inverse) : null
  const palette = paletteOf(asked, ground, base.inkText && tokens?.accent === undefined)
  const beside = [palette.paper, palette.tint, palette.plate]
  const clamped = own
    ? [
        ...(palette.accent === palette.ink ? [] : movedOf('accent', asked.accent, palette.accent, beside)),
        ...movedOf('ink', asked.ink, palette.ink, beside),
      ]
    : []
  const { accent, ink, paper } = palette
  return {
    tokens: { accent: own ? accent : palette.fill, ink, paper, fontPair: tokens?.fontPair ?? base.fontPair },
    palette,
    clamped,
  }
}
