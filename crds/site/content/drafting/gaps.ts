/** What a source does not say and a visitor will look for. */
import { contentWarnings } from '../faults/gaps.ts'
import { type Draft, type DraftWarning, draftContent } from './proposal.ts'

const gap = (code: string, pointer: string, detail: string): DraftWarning => ({
  code,
  pointer,
  detail,
  severity: 'low',
})

const PRICED = ['products', 'services', 'pricing'] as const

/** Gaps of a draft. Pointers are into it. */
export const draftGaps = (draft: Draft): DraftWarning[] => {
  const content = draftContent(draft)
  const { contact, hours, hero, gallery = [] } = content
  const unpriced = PRICED.flatMap((section): DraftWarning[] => {
    const items = content[section] ?? []
    const missing = items.filter(({ price }) => price === undefined).length
    if (missing === 0) return []
    return [gap('MISSING_PRICE', `/${section}`, `${missing} of ${items.length} ${section} have no price in the source`)]
  })
  const undescribed = gallery.flatMap(({ alt, caption }, index): DraftWarning[] =>
    (alt ?? caption) === undefined
      ? [gap('MISSING_ALT', `/gallery/${index}/alt`, 'say what the picture shows, for those who do not see it')]
      : [],
  )
  return [
    ...(contact?.email === undefined
      ? [gap('MISSING_EMAIL', '/contact/email', 'the source names no mail address')]
      : []),
    ...(contact?.phone === undefined
      ? [gap('MISSING_PHONE', '/contact/phone', 'the source names no phone number')]
      : []),
    ...(contact?.address === undefined
      ? [gap('MISSING_ADDRESS', '/contact/address', 'the source names no address')]
      : []),
    ...(hours === undefined ? [gap('MISSING_HOURS', '/hours', 'the source does not say when one is open')] : []),
    ...(hero?.lede === undefined
      ? [gap('MISSING_LEDE', '/hero/lede', 'there is no sentence that says what this is')]
      : []),
    ...unpriced,
    ...undescribed,
    ...contentWarnings({ content }).map(
      (one): DraftWarning => ({
        ...one,
        pointer: one.pointer.replace(/^\/content/, ''),
        severity: 'low',
      }),
    ),
  ]
}
