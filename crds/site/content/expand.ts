/**
 * The caller's content over its preset and the defaults. Pure, and done wherever a content is read, so that kubectl and REST mean
 * the same by `preset`; what is kept is what the caller sent, and which version of the preset it stands on.
 * Source: rules/site.md#presets, decision `hack/decisions/060`.
 */
import {
  type Content,
  keyOf,
  type Layout,
  type SectionId,
  type SentContent,
  type SiteLang,
  type Template,
} from './content.ts'
import { LAYOUTS, SECTIONS, TEMPLATES } from './meta.ts'
import type { PresetWords, TradePreset } from './presets/preset.ts'
import { PRESET_VERSION, type PresetId, presetOf } from './presets/presets.ts'

export const DEFAULT_LAYOUT: Layout = 'classic'
export const DEFAULT_TEMPLATE: Template = 'studio'

/** The part of a site's spec that its content follows from. */
export type WrittenSite = { content: SentContent; preset?: PresetId | undefined; presetVersion?: number | undefined }

const presetUnder = ({ preset, presetVersion = PRESET_VERSION }: WrittenSite): TradePreset | null =>
  preset === undefined ? null : presetOf(preset, presetVersion)

/** What a preset recommends, of what there is. */
export const layoutOf = ({ layout }: TradePreset): Layout => LAYOUTS.find((one) => one === layout) ?? DEFAULT_LAYOUT
export const templateFor = ({ template }: TradePreset): Template =>
  TEMPLATES.find((one) => one === template) ?? DEFAULT_TEMPLATE

/** Sections that the preset brings and the caller neither has nor leaves out. */
const broughtBy = (words: PresetWords, sent: SentContent): [string, unknown][] => {
  const left = new Set<string>((sent.meta.leftOut ?? []).map((section) => keyOf(section)))
  return Object.entries(words.sections ?? {}).filter(([key]) => !Reflect.has(sent, key) && !left.has(key))
}

/** The sections whose words are the preset's own and nobody's yet. */
export const sampleSections = (written: WrittenSite): SectionId[] => {
  const words = presetUnder(written)?.words[written.content.meta.lang]
  if (words === undefined) return []
  const brought = new Set(broughtBy(words, written.content).map(([key]) => key))
  return SECTIONS.filter((section) => brought.has(keyOf(section)))
}

const labelsOver = ({ labels }: PresetWords, own: Content['labels']): NonNullable<Content['labels']> => ({
  ...labels,
  ...own,
  sections: { ...labels.sections, ...own?.sections },
  actions: { ...labels.actions, ...own?.actions },
})

type Words = Pick<SentContent, 'labels' | 'contact'>

/** Words of the preset under those of one language. @param base the content in the first language */
const wordsUnder = (preset: TradePreset, lang: SiteLang, own: Words, base: SentContent): Record<string, unknown> => {
  const words = preset.words[lang]
  const brought = Object.fromEntries(broughtBy(words, base).filter(([key]) => !Reflect.has(own, key)))
  return {
    ...own,
    ...brought,
    labels: labelsOver(words, own.labels),
    ...(words.contact && base.contact !== undefined && { contact: { ...words.contact, ...own.contact } }),
  }
}

/** The whole content of a site. The same site gives the same content for ever, whatever presets there are by then. */
export const contentOf = (written: WrittenSite): Content => {
  const { content } = written
  const preset = presetUnder(written)
  const recommended = preset
    ? { layout: layoutOf(preset), template: templateFor(preset), sectionOrder: [...preset.order] }
    : { layout: DEFAULT_LAYOUT, template: DEFAULT_TEMPLATE }
  const meta: Content['meta'] = { ...recommended, ...content.meta }
  if (preset === null) return { ...content, meta }
  const translations = content.translations?.map((one) => wordsUnder(preset, one.lang, one as Words, content))
  const expanded = wordsUnder(preset, content.meta.lang, content, content)
  return { ...expanded, ...(translations && { translations }), meta } as Content
}
