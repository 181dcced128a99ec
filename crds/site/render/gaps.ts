/** What is missing from a content that can be shown all the same: each gap with its place. */
import type { Content, SectionId } from '../content/content.ts'
import { imageKey, type SiteInput, type Warning } from './input.ts'
import { holds, orderedSections, type PlannedPage } from './page/pages.ts'

type Placed = { value: string | undefined; pointer: string; described: boolean }

/** Every picture of a content with its place, in the names of the spec. */
const picturesOf = ({ hero, products = [], gallery = [], featureRows = [] }: Content): Placed[] => [
  { value: hero?.image, pointer: '/hero', described: hero?.alt !== undefined },
  ...products.map(({ image }, index) => ({ value: image, pointer: `/products/${index}`, described: true })),
  ...gallery.map(({ image, alt, caption }, index) => ({
    value: image,
    pointer: `/gallery/${index}`,
    described: (alt ?? caption) !== undefined,
  })),
  // stands beside its own words, which say the same
  ...featureRows.map(({ image }, index) => ({ value: image, pointer: `/featureRows/${index}`, described: true })),
]

/** Every image value of a content once, in the order in which they first stand. */
export const imagesOf = (content: Content): string[] => [
  ...new Set(picturesOf(content).flatMap(({ value }) => (value === undefined ? [] : [value]))),
]

/** The keys that the schema has for the sections. */
const KEYS: Partial<Record<SectionId, string>> = { feature_rows: 'featureRows' }
const pointerOf = (section: SectionId): string => `/${KEYS[section] ?? section}`

const isEmpty = ({ products, gallery, featureRows, pricing, testimonials }: Content, section: SectionId): boolean => {
  const lists = { products, gallery, feature_rows: featureRows, pricing, testimonials }
  return section !== 'hero' && section !== 'contact' && lists[section]?.length === 0
}

/** Gaps of content, pictures and pages. */
export const gapsOf = ({ content, images }: SiteInput, pages: readonly PlannedPage[]): Warning[] => {
  const pictures = picturesOf(content).flatMap(({ value, pointer, described }): Warning[] => {
    if (value === undefined) return []
    if (images[imageKey(value)] === undefined) {
      return [{ code: 'MISSING_IMAGE', pointer: `${pointer}/image`, detail: 'there are no bytes for this picture' }]
    }
    if (described) return []
    return [
      {
        code: 'MISSING_ALT',
        pointer: `${pointer}/alt`,
        detail: 'say what the picture shows, for those who do not see it',
      },
    ]
  })
  const shown = new Set(pages.flatMap(({ sections }) => sections))
  const sections = orderedSections(content).flatMap((section): Warning[] => {
    const pointer = pointerOf(section)
    if (!shown.has(section)) {
      return [{ code: 'SECTION_NOT_SHOWN', pointer, detail: 'the section stands on no page of meta.pages' }]
    }
    if (!isEmpty(content, section)) return []
    return [{ code: 'EMPTY_SECTION', pointer, detail: 'the section is empty and says so' }]
  })
  return [...pictures, ...sections, ...absentSections(content)]
}

const absentSections = (content: Content): Warning[] =>
  (content.meta.pages ?? []).flatMap(({ sections }, page) =>
    sections.flatMap((section, index): Warning[] =>
      holds(content, section)
        ? []
        : [
            {
              code: 'EMPTY_SECTION',
              pointer: `/meta/pages/${page}/sections/${index}`,
              detail: `the content has no ${section}, so the page is shown without it`,
            },
          ],
    ),
  )
