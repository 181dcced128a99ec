/** Pieces that all layouts set: each the same thought, whatever grid it stands in. */
import { type Html, html, veiled } from '../../../text/html.ts'
import type { Product, SectionId, Tier } from '../../content/content.ts'
import type { Item } from '../matter/matter.ts'
import { addressOf, telOf } from '../matter/place.ts'
import { LANG_NAMES } from '../words.ts'
import {
  askAddress,
  canContact,
  chatName,
  contactHref,
  type Frame,
  homeHref,
  mailPath,
  outward,
  shortUrl,
} from './frame.ts'
import { hrefOf, pathOf } from './pages.ts'
import { plainVariants, variantPath } from './picture.ts'

export const brandLink = (frame: Frame): Html => {
  const name = frame.content.meta.companyName
  const logo = frame.logo
  const image = logo && plainVariants(logo)[0]
  const shown =
    logo && image
      ? html`<img class="logo" src="${frame.page.root}${variantPath(image)}" width="${logo.width}" height="${logo.height}" alt="${name}">`
      : name
  return html`<a class="brand" href="${homeHref(frame)}">${shown}</a>`
}

/** The call to action: to the contact section, and beside it to what there is to see. */
export const actions = (frame: Frame): Html | null => {
  const { words, page, pages } = frame
  const { hero } = frame.content
  const contact = canContact(frame.content) ? contactHref(frame) : null
  const first = words.heroAction ?? words.getInTouch
  const seen = (['products', 'gallery', 'pricing'] as const).find((section) =>
    pages.some(({ sections }) => sections.includes(section)),
  )
  const target = pages.find(({ sections }) => seen !== undefined && sections.includes(seen))
  const there = target && (page.slug === target.slug ? '' : hrefOf(page, target))
  const leading =
    hero?.link !== undefined
      ? outward(hero.link, first, 'button')
      : contact !== null && html`<a class="button" href="${contact}">${first}</a>`
  if (leading === false && seen === undefined) return null
  return html`<p class="actions">${leading}${
    seen !== undefined &&
    html`<a class="${leading === false ? 'button' : 'more'}" href="${there ?? ''}#${seen}">${words.moreAction ?? words.see[seen]}</a>`
  }</p>`
}

/** The same page in each language of the site, called by its own name; none where there is one language. */
export const languageLinks = ({ page, languages }: Frame): Html[] => {
  if (languages.length < 2) return []
  const own = page.path.slice(page.folder.length).replace(/index\.html$/, '')
  return languages.map(({ lang, folder }) => {
    const current = folder === page.folder && html` aria-current="true"`
    return html`<a href="${`${page.root}${folder}${own}` || './'}" lang="${lang}" hreflang="${lang}"${current}>${LANG_NAMES[lang]}</a>`
  })
}

export const chips = (list: readonly string[] | undefined): Html | null =>
  list === undefined || list.length === 0
    ? null
    : html`<ul class="chips">${list.map((chip) => html`<li>${chip}</li>`)}</ul>`

/** The heading of a section, which its region is named by. */
export const heading = (frame: Frame, section: Exclude<SectionId, 'hero'>): Html =>
  html`<h2 id="${section}-title">${frame.words.sections[section]}</h2>`

const PRICE_SHORT = 14

/** Unbroken; a long one stands on a line of its own. */
export const priceOf = ({ words }: Frame, { price, priceWas }: Pick<Item, 'price' | 'priceWas'>): Html | null => {
  if (price === undefined && priceWas === undefined) return null
  const was = priceWas !== undefined && html`<s><span class="vh">${words.priceWas} </span>${priceWas}</s> `
  const now =
    price !== undefined &&
    html`<strong>${priceWas !== undefined && html`<span class="vh">${words.priceNow} </span>`}${price}</strong>`
  return html`<p class="price${(price?.length ?? 0) > PRICE_SHORT && ' long'}">${was}${now}</p>`
}

/** `Weight: 2 kg` is a name and a value; a line without a colon is a value alone. */
const factOf = (line: string): Html => {
  const [, name, value] = /^([^:：]{1,40})[:：]\s*(.+)$/s.exec(line) ?? []
  if (name === undefined || value === undefined || value.startsWith('//')) return html`<li><span>${line}</span></li>`
  return html`<li><span class="k">${name}</span> <span>${value}</span></li>`
}

/** Facts that are seen at once; the rest is folded away. One more than these is shown, for a fold is not shorter than a line. */
const SPECS_SEEN = 3

export const specsOf = ({ words, signs }: Frame, { specs, title }: Item): Html | null => {
  if (specs.length === 0) return null
  const seen = specs.length > SPECS_SEEN + 1 ? specs.slice(0, SPECS_SEEN) : specs
  const rest = specs.slice(seen.length)
  const list = html`<ul class="specs" aria-label="${words.specs}">${seen.map(factOf)}</ul>`
  if (rest.length === 0) return list
  return html`${list}<details class="fold"><summary>${signs.moreFacts}<span class="vh">: ${title}</span></summary><ul class="specs" aria-label="${signs.moreFacts}">${rest.map(factOf)}</ul></details>`
}

export const optionsOf = ({ words }: Frame, { options }: Item): Html | null => {
  if (options.length === 0) return null
  const rows = options.map(
    ({ name, values }) =>
      html`<li><span class="k">${name}</span> <span class="values">${values.map((value) => html`<span>${value}</span> `)}</span></li>`,
  )
  return html`<ul class="options" aria-label="${words.options}">${rows}</ul>`
}

export const askLink = (frame: Frame, product: Product): Html | null => {
  const address = askAddress(frame, product)
  if (address === null) return null
  const label = html`${frame.words.ask}<span class="vh">: ${product.name}</span>`
  return address.mail
    ? html`<a class="ask" href="${veiled(address.href)}">${label}</a>`
    : outward(address.href, label, 'ask')
}

export const titleOf = ({ title, link }: Item): Html | string => (link === undefined ? title : outward(link, title))

export const quoteOf = ({ text = '', title, role, stars }: Item): Html =>
  html`<figure class="quote">${stars !== undefined && html`<p class="stars" role="img" aria-label="${stars}/5">${'★'.repeat(stars)}</p>`}<blockquote><p>${text}</p></blockquote>${
    title !== '' &&
    html`<figcaption><span class="by">${title}</span>${role !== undefined && html` <span class="role">${role}</span>`}</figcaption>`
  }</figure>`

const ADDRESS = /^(https?:\/\/|mailto:|tel:)\S+$/i

/** `cta` is the words of a button, or the address that a button leads to. */
export const tierAction = (frame: Frame, { cta, name, link }: Tier): Html | null => {
  const named = (label: string) => html`${label}<span class="vh">: ${name}</span>`
  if (link !== undefined) return outward(link, named(cta ?? frame.words.choose), 'button')
  if (cta !== undefined && ADDRESS.test(cta)) return outward(cta, named(frame.words.choose), 'button')
  const contact = canContact(frame.content) ? contactHref(frame) : null
  if (contact === null) return cta === undefined ? null : html`<p class="note">${cta}</p>`
  return html`<a class="button" href="${contact}">${named(cta ?? frame.words.choose)}</a>`
}

/** Previous and next part of a long list, by plain links. */
export const pager = ({ page, words }: Frame): Html | null => {
  if (page.parts < 2) return null
  const to = (part: number, label: string, rel: string) =>
    part >= 1 &&
    part <= page.parts &&
    html`<a rel="${rel}" href="${hrefOf(page, { path: `${page.folder}${pathOf(page.slug, part)}` })}#products">${label}</a>`
  return html`<nav class="pager" aria-label="${words.pages}">${to(page.part - 1, words.previous, 'prev')}<span>${words.pageOf(page.part, page.parts)}</span>${to(page.part + 1, words.next, 'next')}</nav>`
}

/** Where a long address may break: after the sign in its middle and before a dot, never within a word. */
const breakable = (email: string): Html[] =>
  email.split(/(?<=@)|(?=\.)/).map((piece, at) => (at === 0 ? veiled(piece) : html`<wbr>${veiled(piece)}`))

/** The mail address, which browsers read and simple harvesters do not. */
export const mailLink = (email: string, className = ''): Html =>
  html`<a${className !== '' && html` class="${className}"`} href="${veiled(`mailto:${mailPath(email)}`)}">${breakable(email)}</a>`

export const phoneLink = (phone: string): Html => html`<a href="${telOf(phone)}">${phone}</a>`

/** Every way to get in touch but the mail address: a name, and its links. */
export const otherWays = ({ content, words, signs }: Frame): { name: string; links: Html[] }[] => {
  const { websiteUrl, chat, phone, booking, mapUrl, social = [] } = content.contact ?? {}
  const address = addressOf(content)
  const map = mapUrl === undefined ? [] : [outward(mapUrl, signs.map)]
  const lines =
    address.length === 0 ? [] : [html`<address>${address.map((line) => html`<span>${line}</span>`)}</address>`]
  const ways = [
    { name: signs.phone, links: phone === undefined ? [] : [phoneLink(phone)] },
    { name: signs.address, links: [...lines, ...map] },
    {
      name: signs.book,
      links: booking === undefined ? [] : [outward(booking, content.labels?.actions?.book ?? signs.book)],
    },
    { name: words.chat, links: chat === undefined ? [] : [outward(chat, chatName(chat, words))] },
    { name: words.website, links: websiteUrl === undefined ? [] : [outward(websiteUrl, shortUrl(websiteUrl))] },
    { name: words.elsewhere, links: social.map(({ platform, url }) => outward(url, platform)) },
  ]
  return ways.filter(({ links }) => links.length > 0)
}
