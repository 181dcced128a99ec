/** What search engines read of a page, in the words of schema.org. No mail address stands here: harvesters would read it. */
import { type Html, html, jsonScript } from '../../../text/html.ts'
import type { Content, Day, Hours, Product } from '../../content/content.ts'
import { priceAmount } from '../../content/price.ts'
import { imageKey, type SiteInput } from '../input.ts'
import { collectionsOf, type PlannedPage } from './pages.ts'
import { plainVariants, variantPath } from './picture.ts'

/** `https://shop.example/about/`; null while no domain is chosen. */
export const absolute = (hostname: string | null, path: string): string | null =>
  hostname === null ? null : `https://${hostname}/${path.replace(/index\.html$/, '')}`

const isWeb = (address: string | undefined): address is string => address !== undefined && /^https?:\/\//i.test(address)

const DAY_NAMES: Record<Day, string> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
}

/** Closed all day is from midnight to midnight; the end of a day is its last minute. */
const span = (opens = '00:00', closes = '00:00') => ({ opens, closes: closes === '24:00' ? '23:59' : closes })

const hoursOf = ({ weekly = [], exceptions = [] }: Hours = {}): object => ({
  ...(weekly.length > 0 && {
    openingHoursSpecification: weekly.map(({ days, opens, closes }) => ({
      '@type': 'OpeningHoursSpecification',
      dayOfWeek: days.map((day) => `https://schema.org/${DAY_NAMES[day]}`),
      ...span(opens, closes),
    })),
  }),
  ...(exceptions.length > 0 && {
    specialOpeningHoursSpecification: exceptions.map(({ from, to, opens, closes }) => ({
      '@type': 'OpeningHoursSpecification',
      validFrom: from,
      validThrough: to ?? from,
      ...span(opens, closes),
    })),
  }),
})

const addressOf = ({ address }: NonNullable<Content['contact']> = {}): object => {
  if (address === undefined) return {}
  const { street, more, postalCode, locality, region, country } = address
  return {
    address: {
      '@type': 'PostalAddress',
      streetAddress: more === undefined ? street : `${street}, ${more}`,
      addressLocality: locality,
      ...(postalCode !== undefined && { postalCode }),
      ...(region !== undefined && { addressRegion: region }),
      ...(country !== undefined && { addressCountry: country }),
    },
  }
}

/** A company that says where or when it is found is a place one can go to. */
const companyOf = ({ content, hostname, logo }: SiteInput): object => {
  const { contact, hours, legal, meta } = content
  const url = absolute(hostname, '')
  const variant = logo === null ? undefined : plainVariants(logo).at(-1)
  const logoUrl = variant === undefined ? null : absolute(hostname, variantPath(variant))
  const sameAs = [contact?.websiteUrl, ...(contact?.social ?? []).map((one) => one.url)].filter(isWeb)
  const isPlace = contact?.address !== undefined || (hours?.weekly ?? []).length > 0
  return {
    '@type': isPlace ? 'LocalBusiness' : 'Organization',
    name: meta.companyName,
    ...(legal?.name !== undefined && { legalName: legal.name }),
    ...(meta.description !== undefined && { description: meta.description }),
    ...(url !== null && { url }),
    ...(logoUrl !== null && { logo: logoUrl }),
    ...(contact?.phone !== undefined && { telephone: contact.phone }),
    ...addressOf(contact),
    ...(isPlace && isWeb(contact?.mapUrl) && { hasMap: contact.mapUrl }),
    ...(isPlace && hoursOf(hours)),
    ...(sameAs.length > 0 && { sameAs }),
  }
}

const productOf = ({ content, hostname, images }: SiteInput, { name, text, image, price, link }: Product): object => {
  const { lang, currency } = content.meta
  const amount = price === undefined ? null : priceAmount(price, lang, currency)
  const shown = image === undefined ? undefined : images[imageKey(image)]
  const variant = shown && plainVariants(shown).at(-1)
  const picture = variant ? absolute(hostname, variantPath(variant)) : null
  return {
    '@type': 'Product',
    name,
    ...(text !== undefined && { description: text }),
    ...(picture !== null && { image: picture }),
    ...(isWeb(link) && { url: link }),
    ...(amount && { offers: { '@type': 'Offer', price: amount.amount, priceCurrency: amount.currency } }),
  }
}

/** Those that stand on this page. */
const productList = (input: SiteInput, page: PlannedPage): object[] => {
  if (!page.sections.includes('products')) return []
  const products = collectionsOf(input.content, page.part).flatMap((group) => group.products)
  if (products.length === 0) return []
  const itemListElement = products.map(({ product }, index) => ({
    '@type': 'ListItem',
    position: index + 1,
    item: productOf(input, product),
  }))
  return [{ '@type': 'ItemList', itemListElement }]
}

/** From the index to a page behind it; only whole addresses say where. */
const crumbs = ({ content, hostname }: SiteInput, page: PlannedPage): object[] => {
  const [home, here] = [absolute(hostname, page.folder), absolute(hostname, page.path)]
  if (home === null || here === null || page.slug === '') return []
  const first = content.meta.pages?.find(({ slug }) => slug === '')?.title ?? content.meta.companyName
  const itemListElement = [
    { '@type': 'ListItem', position: 1, name: first, item: home },
    { '@type': 'ListItem', position: 2, name: page.title, item: here },
  ]
  return [{ '@type': 'BreadcrumbList', itemListElement }]
}

const siteOf = ({ content, hostname }: SiteInput, page: PlannedPage): object => {
  const url = absolute(hostname, page.folder)
  const { companyName, lang } = content.meta
  return { '@type': 'WebSite', name: companyName, inLanguage: lang, ...(url !== null && { url }) }
}

/** The company and the site on the index, the way to a page behind it, and what is sold on a page; null where there is nothing. */
export const linkedData = (input: SiteInput, page: PlannedPage): Html | null => {
  const isIndex = page.slug === '' && page.part === 1
  const graph = [
    ...(isIndex ? [companyOf(input), siteOf(input, page)] : []),
    ...crumbs(input, page),
    ...productList(input, page),
  ]
  if (graph.length === 0) return null
  const data = { '@context': 'https://schema.org', '@graph': graph }
  return html`<script type="application/ld+json">${jsonScript(data)}</script>\n`
}
