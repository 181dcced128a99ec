/**
 * The brand of a site: a template's palette and fonts with an account's own tokens laid over them, and everything derived
 * from accent, ink and paper in OKLCH, so that any colours that are sent give a page that can be read.
 * Source: rules/site.md#brand-tokens; WCAG 2.2, 1.4.3 and 1.4.11. The only file that imports culori.
 */
import assert from 'node:assert/strict'
import { clampChroma, converter, displayable, formatHex, parse, wcagContrast } from 'culori'
import type { Fault } from '../../kernel/problem.ts'
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'
import type { Template } from './content.ts'

export const COLOUR_MAX = 64
export const FONT_PAIRS = ['hanken', 'cormorant-jost', 'system'] as const

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
export type FontPair = (typeof FONT_PAIRS)[number]

/** A token that was moved. Colours are `#rrggbb`; `ratio` is the contrast that is reached, by WCAG. */
export type Clamped = { token: 'accent' | 'ink'; from: string; to: string; ratio: number; reason: string }

/** All colours of a page, `#rrggbb`. */
export type Palette = {
  accent: string
  ink: string
  paper: string
  /** Bands beside the paper. */
  tint: string
  /** Quiet text. */
  muted: string
  /** Hairlines, which carry no meaning. */
  line: string
  /** Edges of controls. */
  edge: string
}

export type Brand = { tokens: Required<BrandTokens>; palette: Palette; clamped: Clamped[] }

/** What a template brings when nothing is sent. */
const TEMPLATE_TOKENS: Record<Template, Required<BrandTokens>> = {
  studio: { accent: '#c8321a', ink: '#16181d', paper: '#ffffff', fontPair: 'hanken' },
  lumen: { accent: '#8a6520', ink: '#2b2520', paper: '#fbf7ee', fontPair: 'cormorant-jost' },
}

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

/** How far the bands stand off the paper, in lightness. */
const TINT_STEP = 0.028

/**
 * The band's ground: towards the text, so that both grounds are of one family. On a paper of middle grey, where text barely
 * reaches its ratio, the band is the paper itself.
 */
const tintOf = (paper: string): string => {
  const { l, c, h } = oklchOf(paper)
  const tint = hexOf({ l: l > 0.5 ? l - TINT_STEP : l + TINT_STEP, c, h })
  const best = Math.max(contrastOn([paper, tint], '#000000'), contrastOn([paper, tint], '#ffffff'))
  return best >= TEXT_LEAST ? tint : paper
}

const floor2 = (ratio: number): number => Math.floor(ratio * 100) / 100

/**
 * The template's tokens with those of an account laid over them, clamped. The tokens have passed `brandFaults`; one that is no
 * colour is left out.
 */
export const brandOf = (template: Template, tokens: BrandTokens | null): Brand => {
  const base = TEMPLATE_TOKENS[template]
  const asked = (token: 'accent' | 'ink' | 'paper') => hexOfColour(tokens?.[token] ?? base[token]) ?? base[token]
  const paper = asked('paper')
  const tint = tintOf(paper)
  const grounds = [paper, tint]
  const ink = readable(asked('ink'), grounds, TEXT_AIM)
  const accent = readable(asked('accent'), grounds, TEXT_LEAST)
  const clamped = (['accent', 'ink'] as const).flatMap((token): Clamped[] => {
    const [from, to] = [asked(token), token === 'accent' ? accent : ink]
    if (from === to) return []
    const ratio = floor2(contrastOn(grounds, to))
    const aim = token === 'ink' ? TEXT_AIM : TEXT_LEAST
    const had = floor2(contrastOn(grounds, from))
    const reached = ratio >= aim ? '' : `; ${ratio} is the most that this paper allows`
    const reason = `${token} on ${paper} had a contrast of ${had}, and ${aim} is needed to read it${reached}`
    return [{ token, from, to, ratio, reason }]
  })
  const palette: Palette = {
    accent,
    ink,
    paper,
    tint,
    muted: readable(mix(ink, paper, 0.32), grounds, TEXT_LEAST),
    line: mix(paper, ink, 0.14),
    edge: readable(mix(ink, paper, 0.5), grounds, EDGE_LEAST),
  }
  return { tokens: { accent, ink, paper, fontPair: tokens?.fontPair ?? base.fontPair }, palette, clamped }
}
