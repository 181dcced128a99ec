/** What search engines and those who share a link read: title, description, languages, Open Graph, and data of schema.org. */
import { type Html, html } from '../../../text/html.ts'
import { type Content, keyOf } from '../../content/content.ts'
import { contentIn, langFolder, langsOf } from '../../content/languages.ts'
import { imageOf, type RenderedImage, type SiteInput } from '../input.ts'
import type { Frame } from './frame.ts'
import { absolute, linkedData } from './linked-data.ts'
import { type PlannedPage, planPages } from './pages.ts'
import { plainVariants, variantPath } from './picture.ts'

const SHOWN_MAX = 160
/** What networks show beside a link is at least this wide. */
const SHARED_WIDTH = 1200

/** The beginning of a text, cut between words where there are spaces. */
export const beginningOf = (text: string, length: number): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  const letters = [...line]
  if (letters.length <= length) return line
  const cut = letters.slice(0, length - 1).join('')
  const space = cut.lastIndexOf(' ')
  return `${space > cut.length / 2 ? cut.slice(0, space) : cut}…`
}

export const titleOf = (
  content: Content,
  page: PlannedPage,
  pageOf: (part: number, parts: number) => string,
): string => {
  const company = content.meta.companyName
  const part = page.part > 1 ? ` (${pageOf(page.part, page.parts)})` : ''
  if (page.slug !== '') return `${page.title}${part} – ${company}`
  const headline = content.hero?.title
  return headline === undefined || headline === company ? `${company}${part}` : `${company} – ${headline}${part}`
}

/** The names of what stands in a section, or its first words; undefined where it has neither. */
const wordsIn = (value: unknown): string | undefined => {
  if (!Array.isArray(value)) return undefined
  const names = value.flatMap((item: Record<string, unknown>) => {
    const name = item.name ?? item.title ?? item.question ?? item.caption
    return typeof name === 'string' ? [name] : []
  })
  if (names.length > 0) return names.join(' · ')
  const [first] = value as { text?: string; quote?: string }[]
  return first?.text ?? first?.quote
}

/** Each page has its own: what the caller wrote, else what stands on it. */
export const descriptionOf = (content: Content, page: PlannedPage): string => {
  const { meta, hero } = content
  const own = meta.pages?.find(({ slug }) => slug === page.slug)?.description
  const general = meta.description ?? hero?.lede ?? meta.companyName
  if (own !== undefined && page.part === 1) return beginningOf(own, SHOWN_MAX)
  if (page.slug === '' && page.part === 1) return beginningOf(general, SHOWN_MAX)
  const words = page.sections.map((section) => wordsIn(content[keyOf(section)])).find((found) => found !== undefined)
  return beginningOf(words === undefined ? general : `${page.title}: ${words}`, SHOWN_MAX)
}

/** The first picture of the page, else of the site. */
const sharedImage = ({ content, images }: SiteInput, page: PlannedPage): RenderedImage | undefined => {
  const lists: Record<string, (string | undefined)[]> = {
    hero: [content.hero?.image],
    products: (content.products ?? []).map(({ image }) => image),
    gallery: (content.gallery ?? []).map(({ image }) => image),
    services: (content.services ?? []).map(({ image }) => image),
    team: (content.team ?? []).map(({ image }) => image),
  }
  const values = [...page.sections.flatMap((section) => lists[section] ?? []), ...Object.values(lists).flat()]
  for (const value of values) {
    const image = value === undefined ? undefined : imageOf(images, value)
    if (image !== undefined && plainVariants(image).length > 0) return image
  }
  return undefined
}

/** The same page in each language of the site; none where it has one language. */
const alternates = ({ hostname }: SiteInput, { page, languages }: Frame): Html[] => {
  const own = page.path.slice(page.folder.length)
  if (languages.length < 2) return []
  return languages.flatMap(({ lang, folder }, index) => {
    const href = absolute(hostname, `${folder}${own}`)
    if (href === null) return []
    const link = html`<link rel="alternate" hreflang="${lang}" href="${href}">\n`
    return index > 0 ? [link] : [link, html`<link rel="alternate" hreflang="x-default" href="${href}">\n`]
  })
}

/** `<title>`, description, canonical address, languages, Open Graph, and data for schema.org. */
export const headOf = (input: SiteInput, frame: Frame): Html => {
  const { page, words } = frame
  const { content, hostname } = input
  const title = titleOf(content, page, words.pageOf)
  const description = descriptionOf(content, page)
  const url = absolute(hostname, page.path)
  const shared = sharedImage(input, page)
  const variants = shared === undefined ? [] : plainVariants(shared)
  const variant = variants.find(({ width }) => width >= SHARED_WIDTH) ?? variants.at(-1)
  const picture = variant && absolute(hostname, variantPath(variant))
  return html`<title>${title}</title>
<meta name="description" content="${description}">
${url !== null && html`<link rel="canonical" href="${url}">\n`}${alternates(input, frame)}<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:site_name" content="${content.meta.companyName}">
<meta property="og:locale" content="${words.locale}">
${url !== null && html`<meta property="og:url" content="${url}">\n`}${
  variant !== undefined &&
  typeof picture === 'string' &&
  html`<meta property="og:image" content="${picture}">
<meta property="og:image:width" content="${variant.width}">
<meta property="og:image:height" content="${variant.height}">
`
}<meta name="twitter:card" content="${typeof picture === 'string' ? 'summary_large_image' : 'summary'}">
${linkedData(input, page)}`
}

/** `sitemap.xml`; null while no domain is chosen, for its addresses have to be whole. */
export const sitemapOf = ({ content, hostname }: SiteInput): string | null => {
  if (hostname === null) return null
  const pages = langsOf(content).flatMap((lang, index) =>
    planPages(contentIn(content, lang), index === 0 ? '' : `${langFolder(lang)}/`),
  )
  const urls = pages.map(({ path }) => `<url><loc>${absolute(hostname, path)}</loc></url>\n`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`
}

export const robotsOf = ({ hostname }: SiteInput): string => {
  const sitemap = absolute(hostname, 'sitemap.xml')
  return `User-agent: *\nAllow: /\n${sitemap === null ? '' : `\nSitemap: ${sitemap}\n`}`
}
