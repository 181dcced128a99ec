/** What deserves a look in a content before it is rendered; and where a finding stands, in the names of REST. */
import { toSnake } from '../../../kernel/rest.ts'
import { keyOf } from '../content.ts'
import { contentOf, sampleSections, type WrittenSite } from '../expand.ts'

export type ContentWarning = {
  code: 'SAMPLE_TEXT' | 'DUPLICATE_SLUG' | 'COUNTDOWN_PAST'
  pointer: string
  detail: string
}

/** Slugs that are one to whoever types them, as `about-us` and `aboutus`. */
const slugWarnings = (written: WrittenSite): ContentWarning[] => {
  const slugs = (contentOf(written).meta.pages ?? []).map(({ slug }) => slug.replaceAll('-', ''))
  return slugs.flatMap((slug, index): ContentWarning[] => {
    const before = slugs.indexOf(slug)
    if (before === index) return []
    const detail = `differs from the slug of page ${before + 1} by dashes alone: visitors will take one for the other`
    return [{ code: 'DUPLICATE_SLUG', pointer: `/content/meta/pages/${index}/slug`, detail }]
  })
}

/** The line of an announcement is approved bytes, and no page knows the time: it stays until somebody takes it away. */
export const pastWarnings = ({ content }: WrittenSite, now: Date): ContentWarning[] => {
  const { countdown } = content.announcement ?? {}
  // a day that is none is a fault, told elsewhere
  if (countdown === undefined || !(Date.parse(countdown) < now.getTime())) return []
  const detail = `${countdown} is past: take the announcement away, or give it another instant`
  return [{ code: 'COUNTDOWN_PAST', pointer: '/content/announcement/countdown', detail }]
}

/** Warnings that follow from the content alone, in the names of REST. */
export const contentWarnings = (written: WrittenSite): ContentWarning[] => [
  ...sampleSections(written).map(
    (section): ContentWarning => ({
      code: 'SAMPLE_TEXT',
      pointer: `/content/${toSnake(keyOf(section))}`,
      detail: 'these are the words of the preset; send your own, or take the section away',
    }),
  ),
  ...slugWarnings(written),
]

/** A finding of the renderer with its pointer from the root of a request; one about a file keeps the file's name. */
export const inRest = <W extends { pointer: string }>(warning: W): W => {
  const { pointer } = warning
  if (!pointer.startsWith('/')) return warning
  if (pointer.startsWith('/brand/')) return { ...warning, pointer: pointer.replace('/brand/', '/brand_tokens/') }
  return { ...warning, pointer: `/content${toSnake(pointer)}` }
}
