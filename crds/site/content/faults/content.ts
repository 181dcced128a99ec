/**
 * The rules of the content model that no schema says: order of sections and the map of pages. Pointers are in the names of
 * the spec, from the content down. Source: rules/site.md#order-and-pages.
 */
import type { Fault, ProblemCode } from '../../../kernel/problem.ts'
import type { SectionId, SentContent } from '../content.ts'
import { PAGES_MAX } from '../meta.ts'
import { redirectFaults } from '../redirects.ts'
import { sectionValueFaults } from './section.ts'

/** Folders and files of the site itself, which no page may be called. */
export const RESERVED_SLUGS = ['assets', 'p', '404', 'index'] as const

const fault = (code: ProblemCode, pointer: string, detail: string): Fault => ({ code, pointer, detail })

/**
 * Every fault of a content that has the shape of the schema.
 * @param at pointer of the content itself, as `/content`
 */
export const contentFaults = (value: SentContent, at = ''): Fault[] =>
  [...orderFaults(value), ...pageFaults(value), ...ledFaults(value), ...sectionValueFaults(value)].map((one) => ({
    ...one,
    pointer: `${at}${one.pointer}`,
  }))

/** hero may only stand first and contact only last; none twice. */
const sectionFaults = (sections: readonly SectionId[], code: ProblemCode, at: string): Fault[] =>
  sections.flatMap((section, index) => {
    const pointer = `${at}/${index}`
    if (sections.indexOf(section) < index) return [fault(code, pointer, `${section} is named twice`)]
    if (section === 'hero' && index > 0) return [fault(code, pointer, 'hero may only stand first')]
    if (section === 'contact' && index < sections.length - 1) {
      return [fault(code, pointer, 'contact may only stand last')]
    }
    return []
  })

const orderFaults = ({ meta }: SentContent): Fault[] =>
  sectionFaults(meta.sectionOrder ?? [], 'BAD_SECTION_ORDER', '/meta/sectionOrder')

const ledFaults = ({ meta }: SentContent): Fault[] =>
  redirectFaults(meta.redirects ?? [], { slugs: meta.pages?.map(({ slug }) => slug) ?? [], at: '/meta/redirects' })

const pageFaults = ({ meta }: SentContent): Fault[] => {
  const { pages } = meta
  if (pages === undefined) return []
  const slugs = pages.map(({ slug }) => slug)
  const faults = pages.flatMap(({ slug, sections }, index): Fault[] => {
    const at = `/meta/pages/${index}`
    const twice = slugs.indexOf(slug) < index
    return [
      ...(twice ? [fault('BAD_PAGES', `${at}/slug`, `${JSON.stringify(slug)} is the slug of two pages`)] : []),
      ...(RESERVED_SLUGS.some((name) => name === slug)
        ? [fault('BAD_PAGES', `${at}/slug`, `${slug} is a name that the site itself needs`)]
        : []),
      ...sectionFaults(sections, 'BAD_PAGES', `${at}/sections`),
    ]
  })
  if (pages.length > PAGES_MAX) faults.push(fault('BAD_PAGES', '/meta/pages', `at most ${PAGES_MAX} pages`))
  if (!slugs.includes('')) {
    faults.push(fault('BAD_PAGES', '/meta/pages', 'one page needs the empty slug: it is the index'))
  }
  return faults
}
