/** What search engines and those who share a link read: title, description, Open Graph, and data of schema.org. */
import { type Html, html, jsonScript } from '../../../text/html.ts'
import type { Content } from '../../content/content.ts'
import { imageKey, type RenderedImage, type SiteInput } from '../input.ts'
import type { Frame } from './frame.ts'
import { type PlannedPage, planPages } from './pages.ts'
import { plainVariants, variantPath } from './picture.ts'

const DESCRIPTION_MAX = 160
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

/** `https://shop.example/about/`; null while no domain is chosen. */
export const absolute = (hostname: string | null, path: string): string | null =>
  hostname === null ? null : `https://${hostname}/${path.replace(/index\.html$/, '')}`

const sharedImage = ({ content, images }: SiteInput): RenderedImage | undefined => {
  const values = [
    content.hero?.image,
    ...(content.products ?? []).map(({ image }) => image),
    ...(content.gallery ?? []).map(({ image }) => image),
  ]
  for (const value of values) {
    const image = value === undefined ? undefined : images[imageKey(value)]
    if (image !== undefined && plainVariants(image).length > 0) return image
  }
  return undefined
}

/** `<title>`, description, canonical address, Open Graph, and on the index the company for schema.org. */
export const headOf = (input: SiteInput, { page, words }: Frame): Html => {
  const { content, hostname } = input
  const title = titleOf(content, page, words.pageOf)
  const description = beginningOf(content.hero?.lede ?? content.meta.companyName, DESCRIPTION_MAX)
  const url = absolute(hostname, page.path)
  const shared = sharedImage(input)
  const variants = shared === undefined ? [] : plainVariants(shared)
  const variant = variants.find(({ width }) => width >= SHARED_WIDTH) ?? variants.at(-1)
  const picture = variant && absolute(hostname, variantPath(variant))
  return html`<title>${title}</title>
<meta name="description" content="${description}">
${url !== null && html`<link rel="canonical" href="${url}">\n`}<meta property="og:type" content="website">
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

/** No mail address stands here: it would be the one place where harvesters read it. */
const linkedData = (input: SiteInput, page: PlannedPage): Html | null => {
  if (page.slug !== '' || page.part > 1) return null
  const { content, hostname, logo } = input
  const { companyName, lang } = content.meta
  const url = absolute(hostname, '')
  const logoVariant = logo === null ? undefined : plainVariants(logo).at(-1)
  const logoUrl = logoVariant === undefined ? null : absolute(hostname, variantPath(logoVariant))
  const profiles = [content.contact?.websiteUrl, ...(content.contact?.social ?? []).map((one) => one.url)]
  const sameAs = profiles.filter((profile) => profile !== undefined && /^https?:\/\//i.test(profile))
  const organization = {
    '@type': 'Organization',
    name: companyName,
    ...(url === null ? {} : { url }),
    ...(logoUrl === null ? {} : { logo: logoUrl }),
    ...(sameAs.length > 0 ? { sameAs } : {}),
  }
  const site = { '@type': 'WebSite', name: companyName, inLanguage: lang, ...(url === null ? {} : { url }) }
  const graph = { '@context': 'https://schema.org', '@graph': [organization, site, ...productList(content)] }
  return html`<script type="application/ld+json">${jsonScript(graph)}</script>\n`
}

const productList = ({ products = [] }: Content): object[] =>
  products.length === 0
    ? []
    : [
        {
          '@type': 'ItemList',
          itemListElement: products.map(({ name, link }, index) => ({
            '@type': 'ListItem',
            position: index + 1,
            name,
            ...(link !== undefined && /^https?:\/\//i.test(link) ? { url: link } : {}),
          })),
        },
      ]

/** `sitemap.xml`; null while no domain is chosen, for its addresses have to be whole. */
export const sitemapOf = ({ content, hostname }: SiteInput): string | null => {
  if (hostname === null) return null
  const urls = planPages(content).map(({ path }) => `<url><loc>${absolute(hostname, path)}</loc></url>\n`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`
}

export const robotsOf = ({ hostname }: SiteInput): string => {
  const sitemap = absolute(hostname, 'sitemap.xml')
  return `User-agent: *\nAllow: /\n${sitemap === null ? '' : `\nSitemap: ${sitemap}\n`}`
}
