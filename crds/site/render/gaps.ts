/** What is missing from a content that can be shown all the same: each gap with its place. */
import { type Content, holds, keyOf, orderedSections, type SectionId } from '../content/content.ts'
import { imageOf, type SiteInput, type Warning } from './input.ts'
import { isEmpty, type PlannedPage } from './page/pages.ts'

type Placed = { value: string | undefined; pointer: string; described: boolean }

/** Every picture of a content with its place, in the names of the spec. What stands beside its own words is described by them. */
const picturesOf = (content: Content): Placed[] => {
  const { hero, gallery = [], video, ctaBanner } = content
  const named = (
    key: 'products' | 'services' | 'featureRows' | 'steps' | 'testimonials' | 'clients' | 'team' | 'badges',
  ) => (content[key] ?? []).map(({ image }, index) => ({ value: image, pointer: `/${key}/${index}`, described: true }))
  const seconds = (content.products ?? []).map(({ secondImage }, index) => ({
    value: secondImage,
    pointer: `/products/${index}`,
    described: true,
  }))
  return [
    { value: hero?.image, pointer: '/hero', described: hero?.alt !== undefined },
    ...(hero?.images ?? []).map(({ image, alt }, index) => ({
      value: image,
      pointer: `/hero/images/${index}`,
      described: alt !== undefined,
    })),
    ...named('products'),
    ...seconds,
    ...gallery.map(({ image, alt, caption }, index) => ({
      value: image,
      pointer: `/gallery/${index}`,
      described: (alt ?? caption) !== undefined,
    })),
    ...(['featureRows', 'services', 'steps', 'testimonials', 'clients', 'team', 'badges'] as const).flatMap(named),
    { value: video?.image, pointer: '/video', described: (video?.alt ?? video?.title) !== undefined },
    { value: ctaBanner?.image, pointer: '/ctaBanner', described: true },
  ]
}

/** Every image value of a content once, in the order in which they first stand. */
export const imagesOf = (content: Content): string[] => [
  ...new Set(picturesOf(content).flatMap(({ value }) => (value === undefined ? [] : [value]))),
]

/** Gaps of content, pictures and pages. */
export const gapsOf = ({ content, images }: SiteInput, pages: readonly PlannedPage[]): Warning[] => {
  const pictures = picturesOf(content).flatMap(({ value, pointer, described }): Warning[] => {
    if (value === undefined) return []
    if (imageOf(images, value) === undefined) {
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
  const shown = new Set<SectionId>(pages.flatMap(({ sections }) => sections))
  const sections = orderedSections(content).flatMap((section): Warning[] => {
    const pointer = `/${keyOf(section)}`
    if (isEmpty(content, section))
      return [{ code: 'EMPTY_SECTION', pointer, detail: 'the section is empty and is not shown' }]
    if (!shown.has(section)) {
      return [{ code: 'SECTION_NOT_SHOWN', pointer, detail: 'the section stands on no page of meta.pages' }]
    }
    return []
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
