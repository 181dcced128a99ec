/** On which page of a site something stands, by its pointer in the content. */
import type { Content } from '../content/content.ts'
import { planPages } from '../render/page/pages.ts'

/** @returns the path of the file, as `about/index.html`; null where it stands on no page, or on all */
export const pageOfPointer = (content: Content, pointer: string): string | null => {
  if (pointer.endsWith('.html')) return pointer.replace(/^\//, '')
  const [, root, section = '', key, index] = pointer.split('/')
  if (root !== 'content') return null
  const pages = planPages(content)
  if (section === 'meta' && key === 'pages') {
    const slug = content.meta.pages?.[Number(index)]?.slug
    return pages.find((page) => page.slug === slug)?.path ?? null
  }
  return pages.find(({ sections }) => sections.some((one) => one === section))?.path ?? null
}
