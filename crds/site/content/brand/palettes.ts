/** What a template brings when nothing is sent: its colours in OKLCH, and its fonts. Source: rules/site.md#templates. */
import type { Template } from '../content.ts'

export const FONT_PAIRS = [
  'hanken',
  'cormorant-jost',
  'source',
  'plex',
  'fraunces-figtree',
  'zilla-work',
  'atkinson',
  'bricolage-public',
  'red-hat',
  'archivo',
  'system',
] as const
export type FontPair = (typeof FONT_PAIRS)[number]

/** Colours as CSS writes them. `inverse` is the other ground; `inkText` when the accent fills and lines, and text stays ink. */
export type TemplateTokens = {
  accent: string
  ink: string
  paper: string
  inverse: string
  fontPair: FontPair
  inkText: boolean
}

const token = (
  paper: string,
  ink: string,
  accent: string,
  inverse: string,
  fontPair: FontPair,
  inkText = false,
): TemplateTokens => {
  const colour = (parts: string) => `oklch(${parts})`
  return { accent: colour(accent), ink: colour(ink), paper: colour(paper), inverse: colour(inverse), fontPair, inkText }
}

export const TEMPLATE_TOKENS: Record<Template, TemplateTokens> = {
  studio: token('.99 0 0', '.20 .01 30', '.58 .20 30', '.17 .005 30', 'hanken'),
  harbor: token('.965 .018 85', '.26 .06 255', '.55 .15 40', '.22 .05 255', 'source'),
  ledger: token('.985 .003 250', '.22 .02 255', '.42 .09 255', '.19 .015 255', 'plex'),
  garden: token('.975 .02 120', '.27 .05 150', '.52 .13 145', '.21 .03 155', 'fraunces-figtree'),
  craft: token('.955 .025 75', '.25 .03 50', '.53 .14 40', '.20 .02 50', 'zilla-work'),
  clinic: token('.985 .008 220', '.25 .03 240', '.52 .09 215', '.20 .02 235', 'atkinson'),
  market: token('.99 .01 95', '.20 .02 30', '.82 .16 85', '.18 .02 60', 'bricolage-public', true),
  voltage: token('.17 .012 265', '.95 .005 265', '.85 .19 130', '.97 .004 265', 'red-hat'),
  lumen: token('.975 .012 85', '.24 .015 60', '.62 .09 80', '.18 .012 70', 'cormorant-jost'),
  runway: token('1 0 0', '.12 0 0', '.12 0 0', '.10 0 0', 'archivo'),
}
