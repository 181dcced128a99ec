/** Which files a site has, and what stands on each: order of sections, the map of pages, and long lists in parts. */
import assert from 'node:assert/strict'
import {
  type Content,
  holds,
  keyOf,
  orderedSections,
  type Product,
  passagesOn,
  type SectionId,
} from '../../content/content.ts'

/** Products on one page; more are reached by plain links, so that a page stays within its budget of nodes. */
export const PRODUCTS_PER_PAGE = 24

export type PlannedPage = {
  /** Slug of the page of the map; the empty string is the index. */
  slug: string
  /** Its name in the navigation. */
  title: string
  /** Of the file, as `about/index.html`. */
  path: string
  /** Of its language, as `es/`; empty for the first language. */
  folder: string
  /** From this page back to the root, as `../`; empty for the index. */
  root: string
  sections: readonly SectionId[]
  /** Named in the foot instead of the navigation. */
  foot: boolean
  /** 1 for the page itself, 2 and more for what follows of its products. */
  part: number
  parts: number
}

/** Whether a section has nothing to show: no section, no link and no ground stand for it. */
export const isEmpty = (content: Content, section: SectionId): boolean => {
  const { sizeGuide, marquee, hours } = content
  if (section === 'size_guide') return sizeGuide?.rows.length === 0
  if (section === 'marquee') return marquee?.items.length === 0
  if (section === 'hours')
    return (hours?.weekly ?? []).length + (hours?.exceptions ?? []).length === 0 && hours?.note === undefined
  const held = content[keyOf(section)]
  return Array.isArray(held) && held.length === 0
}

const shows = (content: Content, section: SectionId): boolean => holds(content, section) && !isEmpty(content, section)

/** Running text of another page is none of this one. */
const standsOn = (content: Content, section: SectionId, slug: string): boolean =>
  shows(content, section) && (section !== 'text' || passagesOn(content, slug).length > 0)

/** The pages in the order of the navigation, then the parts that follow of each. */
export const planPages = (content: Content, folder = ''): PlannedPage[] =>
  mainPages(content).flatMap((page) => inParts(content, page, folder))

type MainPage = Pick<PlannedPage, 'slug' | 'title' | 'sections' | 'foot'>

const mainPages = (content: Content): MainPage[] => {
  const { pages, companyName } = content.meta
  if (pages === undefined)
    return [
      {
        slug: '',
        title: companyName,
        sections: orderedSections(content).filter((section) => standsOn(content, section, '')),
        foot: false,
      },
    ]
  return pages.map(({ slug, title, sections, foot = false }) => ({
    slug,
    title,
    sections: sections.filter((section) => standsOn(content, section, slug)),
    foot,
  }))
}

const inParts = (content: Content, page: MainPage, folder: string): PlannedPage[] => {
  const count = page.sections.includes('products') ? (content.products?.length ?? 0) : 0
  const parts = Math.max(1, Math.ceil(count / PRODUCTS_PER_PAGE))
  return Array.from({ length: parts }, (_, index) => {
    const part = index + 1
    const path = `${folder}${pathOf(page.slug, part)}`
    const sections = part > 1 ? (['products'] as const) : page.sections
    return { ...page, sections, path, folder, root: '../'.repeat(path.split('/').length - 1), part, parts }
  })
}

/** The file of a page, or of a part that follows: `index.html`, `p/2/index.html`, `shop/index.html`, `shop/2/index.html`. */
export const pathOf = (slug: string, part: number): string => {
  assert(/^[a-z0-9-]*$/.test(slug), 'a slug that the schema takes cannot leave its folder')
  const base = slug === '' && part > 1 ? 'p' : slug
  return [base, part > 1 ? String(part) : '', 'index.html'].filter((name) => name !== '').join('/')
}

/** The address of a page from another, without its file name: `../about/`, or `./` for the place itself. */
export const hrefOf = (from: PlannedPage, to: Pick<PlannedPage, 'path'>): string =>
  `${from.root}${to.path.replace(/index\.html$/, '')}` || './'

/** A product with its place in the content, for pointers. */
export type PlacedProduct = { product: Product; index: number }

/** The collections of the goods in the order of the page, each with how many it holds and the part of the page that it begins on. */
export const collectionList = (content: Content): { name: string; id: string; count: number; part: number }[] => {
  const counts = new Map<string | null, number>()
  for (const { collection = null } of content.products ?? []) counts.set(collection, (counts.get(collection) ?? 0) + 1)
  let place = 0
  return [...counts].flatMap(([name, count], at) => {
    const part = Math.floor(place / PRODUCTS_PER_PAGE) + 1
    place += count
    return name === null ? [] : [{ name, id: `products-${at + 1}`, count, part }]
  })
}

/** Products of one part, those of a collection together in the order in which collections first appear. */
export const collectionsOf = (content: Content, part: number): { name: string | null; products: PlacedProduct[] }[] => {
  const groups = new Map<string | null, PlacedProduct[]>()
  for (const [index, product] of (content.products ?? []).entries()) {
    const name = product.collection ?? null
    const group = groups.get(name)
    if (group) group.push({ product, index })
    else groups.set(name, [{ product, index }])
  }
  const start = (part - 1) * PRODUCTS_PER_PAGE
  let place = 0
  return [...groups]
    .map(([name, products]) => {
      const shown = products.filter((_, index) => place + index >= start && place + index < start + PRODUCTS_PER_PAGE)
      place += products.length
      return { name, products: shown }
    })
    .filter(({ products }) => products.length > 0)
}
