/** What there is to choose from, in words: templates, layouts, and which of them were made for each other. Source: rules/site.md#templates. */
import type { Layout, Template } from '../content.ts'
import { layoutOf, templateFor } from '../expand.ts'
import type { TradePreset } from './preset.ts'
import { PRESET_VERSION, PRESETS, type PresetId, presetOf } from './presets.ts'

export const TEMPLATE_WORDS: Readonly<Record<Template, string>> = {
  studio: 'Neutral grotesk on white, one accent.',
  harbor: 'Navy and sand, serif heads, double rules.',
  ledger: 'Sober business, tabular figures, everything on a line.',
  garden: 'Greens, soft corners, tinted fields.',
  craft: 'Warm paper, slab heads, a stitched line.',
  clinic: 'Cool, generous, very legible.',
  market: 'A bright shelf: tabs and price badges.',
  voltage: 'Dark and technical, a fine grid, mono figures.',
  lumen: 'Ivory and gold, a light serif, large images.',
  runway: 'Black and white, extreme scale, pictures that touch.',
}

export const LAYOUT_WORDS: Readonly<Record<Layout, string>> = {
  classic: 'The trusted shop front: headline left, image right, alternating bands.',
  editorial: 'A magazine: oversized headline, standfirst, an asymmetric grid.',
  showcase: 'The product is the hero: a strip, shelves, compared side by side.',
  monolith: 'One column, one voice: type, black bars, numbered sections.',
  atelier: 'A maker’s table: centred, gallery first, much air.',
  sidenav: 'A catalogue: a spine with pages and sections, rows and tables.',
  narrative: 'A story told by scrolling: full-height chapters.',
}

/** A preset of sites that are made now, with the pair that it recommends. */
export type PresetChoice = { id: PresetId; preset: TradePreset; template: Template; layout: Layout }

export const presetChoices = (): PresetChoice[] =>
  PRESETS.flatMap((id) => {
    const preset = presetOf(id, PRESET_VERSION)
    return preset === null ? [] : [{ id, preset, template: templateFor(preset), layout: layoutOf(preset) }]
  })

/** The layout that each template was drawn with; the presets' pairs are among them. */
export const LAYOUT_FOR: Readonly<Record<Template, Layout>> = {
  studio: 'monolith',
  harbor: 'editorial',
  ledger: 'classic',
  garden: 'narrative',
  craft: 'classic',
  clinic: 'sidenav',
  market: 'showcase',
  voltage: 'showcase',
  lumen: 'atelier',
  runway: 'editorial',
}

/** The template that shows a layout best. */
export const TEMPLATE_FOR: Readonly<Record<Layout, Template>> = {
  classic: 'craft',
  editorial: 'runway',
  showcase: 'voltage',
  monolith: 'studio',
  atelier: 'lumen',
  sidenav: 'clinic',
  narrative: 'garden',
}

export const isRecommended = (layout: Layout, template: Template): boolean =>
  LAYOUT_FOR[template] === layout || TEMPLATE_FOR[layout] === template
