/** What a preset is: a trade's sections, their order and names, and words that hold for everybody of that trade. */
import type { Content, Labels, SectionId, SiteLang } from '../content.ts'

/** Words of a trade in one language. `sections` stand where the caller has none, `contact` under the caller's own. */
export type PresetWords = {
  labels: Labels
  sections?: Pick<Content, 'steps' | 'faq' | 'sizeGuide'>
  contact?: { text: string }
}

export type TradePreset = {
  description: string
  /** Names of a template and a layout; what there is not yet is left to the defaults. */
  template: string
  layout: string
  order: readonly SectionId[]
  words: Readonly<Record<SiteLang, PresetWords>>
}
