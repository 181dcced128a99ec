/** Pieces that both layouts set: each the same thought, whatever grid it stands in. */
import { type Html, html, veiled } from '../../../text/html.ts'
import type { Product, SectionId, Testimonial, Tier } from '../../content/content.ts'
import {
  askAddress,
  canContact,
  chatName,
  contactHref,
  type Frame,
  homeHref,
  mailPath,
  navItems,
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

export const navigation = (frame: Frame): Html | null => {
  const items = navItems(frame)
  if (items.length === 0) return null
  const links = items.map(
    ({ href, title, current }) => html`<li><a href="${href}"${current && html` aria-current="page"`}>${title}</a></li>`,
  )
  return html`<nav aria-label="${frame.words.navigation}"><ul>${links}</ul></nav>`
}

/** The call to action: to the contact section, and beside it to what there is to see. */
export const actions = (frame: Frame): Html | null => {
  const { words, page, pages } = frame
  const contact = canContact(frame.content) ? contactHref(frame) : null
  const seen = (['products', 'gallery', 'pricing'] as const).find((section) =>
    pages.some(({ sections }) => sections.includes(section)),
  )
  const target = pages.find(({ sections }) => seen !== undefined && sections.includes(seen))
  const there = target && (page.slug === target.slug ? '' : hrefOf(page, target))
  if (contact === null && seen === undefined) return null
  return html`<p class="actions">${contact !== null && html`<a class="button" href="${contact}">${words.getInTouch}</a>`}${
    seen !== undefined &&
    html`<a class="${contact === null ? 'button' : 'more'}" href="${there ?? ''}#${seen}">${words.see[seen]}</a>`
  }</p>`
}

export const chips = (list: readonly string[] | undefined): Html | null =>
  list === undefined || list.length === 0
    ? null
    : html`<ul class="chips">${list.map((chip) => html`<li>${chip}</li>`)}</ul>`

/** What stands where a list is empty: a line of its own and, where one can ask, the way to do so. */
export const emptyNote = (frame: Frame): Html => {
  const contact = canContact(frame.content) ? contactHref(frame) : null
  return html`<p class="empty">${frame.words.empty}${
    contact !== null && html` <a href="${contact}">${frame.words.getInTouch}</a>`
  }</p>`
}

/** The heading of a section, which its region is named by. */
export const heading = (frame: Frame, section: Exclude<SectionId, 'hero'>): Html =>
  html`<h2 id="${section}-title">${frame.words.sections[section]}</h2>`

export const priceOf = ({ words }: Frame, { price, priceWas }: Product): Html | null => {
  if (price === undefined && priceWas === undefined) return null
  const was = priceWas !== undefined && html`<s><span class="vh">${words.priceWas} </span>${priceWas}</s> `
  const now =
    price !== undefined &&
    html`<strong>${priceWas !== undefined && html`<span class="vh">${words.priceNow} </span>`}${price}</strong>`
  return html`<p class="price">${was}${now}</p>`
}

/** `Weight: 2 kg` is a name and a value; a line without a colon is a value alone. */
export const specsOf = ({ words }: Frame, { specs = [] }: Product): Html | null => {
  if (specs.length === 0) return null
  const lines = specs.map((line) => {
    const [, name, value] = /^([^:：]{1,40})[:：]\s*(.+)$/s.exec(line) ?? []
    if (name === undefined || value === undefined || value.startsWith('//')) return html`<li><span>${line}</span></li>`
    return html`<li><span class="k">${name}</span> <span>${value}</span></li>`
  })
  return html`<ul class="specs" aria-label="${words.specs}">${lines}</ul>`
}

export const optionsOf = ({ words }: Frame, { options = [] }: Product): Html | null => {
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

export const productName = ({ name, link }: Product): Html | string => (link === undefined ? name : outward(link, name))

/** Stands where a product has no picture and its neighbours have one. */
export const initialOf = (name: string): Html =>
  html`<span class="initial" aria-hidden="true">${firstLetter(name)}</span>`

export const firstLetter = (text: string): string => ([...text.trim()][0] ?? '').toUpperCase()

export const quoteOf = ({ quote, name, role }: Testimonial): Html => {
  const by = name ?? role
  const caption =
    by !== undefined &&
    html`<figcaption><span class="by">${by}</span>${name !== undefined && role !== undefined && html` <span class="role">${role}</span>`}</figcaption>`
  return html`<figure class="quote"><blockquote><p>${quote}</p></blockquote>${caption}</figure>`
}

const ADDRESS = /^(https?:\/\/|mailto:|tel:)\S+$/i

/** `cta` is the words of a button, or the address that a button leads to. */
export const tierAction = (frame: Frame, { cta, name }: Tier): Html | null => {
  const named = (label: string) => html`${label}<span class="vh">: ${name}</span>`
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
    html`<a rel="${rel}" href="${hrefOf(page, { path: pathOf(page.slug, part) })}#products">${label}</a>`
  return html`<nav class="pager" aria-label="${words.pages}">${to(page.part - 1, words.previous, 'prev')}<span>${words.pageOf(page.part, page.parts)}</span>${to(page.part + 1, words.next, 'next')}</nav>`
}

/** The mail address, which browsers read and simple harvesters do not. */
export const mailLink = (email: string, className = ''): Html =>
  html`<a${className !== '' && html` class="${className}"`} href="${veiled(`mailto:${mailPath(email)}`)}">${veiled(email)}</a>`

/** Every way to get in touch but the mail address: a name, and its links. */
export const otherWays = ({ content, words }: Frame): { name: string; links: Html[] }[] => {
  const { websiteUrl, chat, social = [] } = content.contact ?? {}
  const ways = [
    { name: words.chat, links: chat === undefined ? [] : [outward(chat, chatName(chat, words))] },
    { name: words.website, links: websiteUrl === undefined ? [] : [outward(websiteUrl, shortUrl(websiteUrl))] },
    { name: words.elsewhere, links: social.map(({ platform, url }) => outward(url, platform)) },
  ]
  return ways.filter(({ links }) => links.length > 0)
}

/** The chat's button, which stays in sight. A plain link: nothing of the network is loaded. */
export const chatButton = ({ content, words }: Frame): Html | null => {
  const chat = content.contact?.chat
  if (chat === undefined) return null
  return html`<aside aria-label="${words.chat}">${outward(chat, chatName(chat, words), 'chat')}</aside>`
}
