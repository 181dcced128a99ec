/** What every section sees: the content, the page it stands on, the words around it, and the pictures. */
import { type Html, html, safeUrl } from '../../../text/html.ts'
import type { Content, Product } from '../../content/content.ts'
import { imageKey, type RenderedImage, type SiteInput } from '../input.ts'
import type { SiteWords } from '../words.ts'
import { hrefOf, type PlannedPage } from './pages.ts'
import { pictureOf } from './picture.ts'

export type Frame = {
  content: Content
  words: SiteWords
  page: PlannedPage
  /** The pages of the navigation. */
  pages: readonly PlannedPage[]
  logo: RenderedImage | null
  /** The picture of a content value; null when none was given or its bytes are not there. */
  picture(value: string | undefined, shown: { alt: string; sizes: string }): Html | null
}

export const frameOf = (
  input: SiteInput,
  words: SiteWords,
  page: PlannedPage,
  pages: readonly PlannedPage[],
): Frame => {
  let pictures = 0
  return {
    content: input.content,
    words,
    page,
    pages,
    logo: input.logo,
    picture: (value, shown) => {
      const image = value === undefined ? undefined : input.images[imageKey(value)]
      if (image === undefined) return null
      pictures += 1
      return pictureOf(image, { ...shown, root: page.root, eager: pictures === 1 })
    },
  }
}

/** What can be asked by: is there any way to get in touch? */
export const canContact = ({ contact }: Content): boolean =>
  contact !== undefined &&
  (contact.email ?? contact.chat ?? contact.websiteUrl ?? contact.social?.[0]?.url) !== undefined

/** The contact section, on this page or on the first that has it; null when there is none. */
export const contactHref = ({ page, pages }: Frame): string | null => {
  if (page.part === 1 && page.sections.includes('contact')) return '#contact'
  const target = pages.find(({ sections }) => sections.includes('contact'))
  return target === undefined ? null : `${hrefOf(page, target)}#contact`
}

export type NavItem = { href: string; title: string; current: boolean }

/** The pages of the site; on a site of one page, its sections. */
export const navItems = ({ page, pages, words }: Frame): NavItem[] => {
  const [only] = pages
  if (pages.length > 1 || only === undefined) {
    return pages.map((one) => ({ href: hrefOf(page, one), title: one.title, current: one.slug === page.slug }))
  }
  const base = page.part === 1 ? '' : hrefOf(page, only)
  return only.sections.flatMap((section) =>
    section === 'hero' || section === 'contact'
      ? []
      : [{ href: `${base}#${section}`, title: words.sections[section], current: false }],
  )
}

export const homeHref = ({ page }: Frame): string => page.root || './'

const CHATS: [RegExp, string][] = [
  [/^https?:\/\/(wa\.me|api\.whatsapp\.com|chat\.whatsapp\.com)\//i, 'WhatsApp'],
  [/^https?:\/\/(line\.me|lin\.ee)\//i, 'LINE'],
  [/^https?:\/\/(t\.me|telegram\.me)\//i, 'Telegram'],
  [/^https?:\/\/(m\.me|www\.messenger\.com)\//i, 'Messenger'],
  [/^https?:\/\/signal\.me\//i, 'Signal'],
  [/^https?:\/\/(u\.wechat\.com|weixin\.qq\.com)\//i, 'WeChat'],
]

/** The name of a chat's network, or our word for one. */
export const chatName = (url: string, words: SiteWords): string =>
  CHATS.find(([pattern]) => pattern.test(url))?.[1] ?? words.chat

/** WhatsApp takes the first message as a parameter; the others open at the same place. */
const TAKES_TEXT = /^https:\/\/wa\.me\/[0-9]+$/

/** Where one asks about a product: the chat, else a mail with its name as subject; null when there is neither. */
export const askAddress = ({ content, words }: Frame, product: Product): { href: string; mail: boolean } | null => {
  const { chat, email } = content.contact ?? {}
  const subject = encodeURIComponent(words.askSubject(product.name).toWellFormed())
  if (chat !== undefined) {
    const href = safeUrl(TAKES_TEXT.test(chat) ? `${chat}?text=${subject}` : chat)
    return { href, mail: false }
  }
  return email === undefined ? null : { href: `mailto:${mailPath(email)}?subject=${subject}`, mail: true }
}

/** An address of RFC 6068: what could end it or add a header is encoded. */
export const mailPath = (email: string): string => encodeURIComponent(email.toWellFormed()).replaceAll('%40', '@')

/** A link that leaves the site tells the other side nothing of where it was. */
export const outward = (href: string, content: Html | string, className = ''): Html =>
  html`<a${className !== '' && html` class="${className}"`} href="${safeUrl(href)}" rel="noopener noreferrer">${content}</a>`

/** An address as people write it. */
export const shortUrl = (url: string): string =>
  url.replace(/^(https?:\/\/(www\.)?|mailto:|tel:)/i, '').replace(/\/$/, '')

/** One, few or many, for the form of a list. */
export const countClass = (count: number): string => {
  if (count === 1) return 'one'
  return count <= 3 ? 'few' : 'many'
}
