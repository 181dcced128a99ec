/** What every section sees: the content, the page it stands on, the words around it, and the pictures. */
import { type Html, html, safeUrl } from '../../../text/html.ts'
import type { Content, Product, SectionId, SiteLang } from '../../content/content.ts'
import { FOCAL, type Focal, heroRatiosOf, LARGEST, positionOf } from '../choose/pictures.ts'
import { imageOf, type RenderedImage, type SiteInput } from '../input.ts'
import type { LayoutFigures } from '../layouts/figures.ts'
import type { Signs } from '../signs.ts'
import type { SiteWords } from '../words.ts'
import { hoverClass } from './hover.ts'
import { heroClass, type PageLedger, positionClass, ratioClass } from './ledger.ts'
import { absolute } from './linked-data.ts'
import { hrefOf, type PlannedPage } from './pages.ts'
import { pictureOf } from './picture.ts'

/** `folder` is that of its pages, as `es/`; empty for the first. */
export type Language = { lang: SiteLang; folder: string }

/** A picture of the content, and where its subject is. `second`: another picture of the same, which it may give way to. */
export type Shot = { value: string; alt: string; focal?: Focal; second?: string }

export type ShotView = {
  /** Of the picture's place, as CSS has it in `sizes`. */
  sizes: string
  /** Width to height of its place; the picture's own when left out. */
  ratio?: number
  /** The only picture of a hero: on smaller windows it has ratios of its own; `phone` where the layout has one. */
  hero?: { phone?: number }
  /** Further classes of the place. */
  as?: string
}

export type Frame = {
  content: Content
  words: SiteWords
  signs: Signs
  page: PlannedPage
  /** The pages of the navigation. */
  pages: readonly PlannedPage[]
  /** The languages of the site, its first one first. */
  languages: readonly Language[]
  layout: LayoutFigures
  /** Width to height that the template sets goods in. */
  ratio: number
  logo: RenderedImage | null
  /** Of this page, whole; null while no domain is chosen. */
  address: string | null
  /** Where the contact form posts to; null where that is left open. */
  form: string | null
  ledger: PageLedger
  /** Origins that this page shows a frame of. */
  framed: Set<string>
  /** The bytes of a content value; null when none was given or they are not there. */
  image(value: string | undefined): RenderedImage | null
  /** A picture in its place; null when there is nothing to show. */
  shot(shot: Shot | null, view: ShotView): Html | null
  /** Of what was drawn so far. */
  showsPicture(): boolean
}

type Around = Pick<Frame, 'words' | 'signs' | 'page' | 'pages' | 'languages' | 'layout' | 'ratio' | 'ledger'>

export const frameOf = ({ content, images, logo, hostname, form = null }: SiteInput, around: Around): Frame => {
  let pictures = 0
  const image = (value: string | undefined) => (value === undefined ? null : (imageOf(images, value) ?? null))
  /** The picture that another gives way to. */
  const overOf = (value: string | undefined, sizes: string): Html | null => {
    const shown = image(value)
    if (shown === null) return null
    const { ledger, page } = around
    const position = positionClass(ledger, positionOf(FOCAL))
    return pictureOf(shown, { alt: '', sizes, root: page.root, eager: false, position })
  }
  return {
    ...around,
    content,
    logo,
    address: absolute(hostname, around.page.path),
    form,
    framed: new Set(),
    image,
    shot: (shot, { sizes, ratio, hero, as = '' }) => {
      const shown = image(shot?.value)
      if (shot === null || shown === null) return null
      pictures += 1
      const {
        ledger,
        page: { root },
      } = around
      const position = positionClass(ledger, positionOf(shot.focal ?? FOCAL))
      const picture = pictureOf(shown, { alt: shot.alt, sizes, root, eager: pictures === 1, position })
      if (picture === null) return null
      const own = shown.width / shown.height
      const place =
        hero === undefined
          ? ratioClass(ledger, ratio ?? own)
          : `one ${heroClass(ledger, own, heroRatiosOf(own, ratio ?? own, hero.phone), Math.round(shown.width * LARGEST))}`
      const wanted = as === 'goods' ? content.imageHover : undefined
      const over = wanted === 'swap' ? overOf(shot.second, sizes) : null
      const hover = hoverClass(ledger, wanted, over !== null)
      return html`<div class="${['im', place, as, hover].filter((name) => name !== '').join(' ')}">${picture}${over && html`<span class="over">${over}</span>`}</div>`
    },
    showsPicture: () => pictures > 0,
  }
}

/** The picture of a value when its bytes are there. */
export const shotOf = (frame: Frame, value: string | undefined, alt: string, focal?: Focal): Shot | null =>
  value === undefined || frame.image(value) === null ? null : { value, alt, ...(focal !== undefined && { focal }) }

/** Percent of a content → 0 to 1. */
export const focalOf = (focus: { x: number; y: number } | undefined): Focal | undefined =>
  focus === undefined ? undefined : { x: focus.x / 100, y: focus.y / 100 }

/** Width to height of each picture that is there. */
export const ratiosOf = (frame: Frame, shots: readonly (Shot | null)[]): number[] =>
  shots.flatMap((shot) => {
    const image = frame.image(shot?.value)
    return image === null ? [] : [image.width / image.height]
  })

/** What can be asked by: is there any way to get in touch? */
export const canContact = ({ contact }: Content): boolean =>
  contact !== undefined &&
  (contact.form === true ||
    (contact.email ??
      contact.phone ??
      contact.booking ??
      contact.address?.street ??
      contact.chat ??
      contact.websiteUrl ??
      contact.social?.[0]?.url) !== undefined)

/** The contact section, on this page or on the first that has it; null when there is none. */
export const contactHref = ({ page, pages }: Frame): string | null => {
  if (page.part === 1 && page.sections.includes('contact')) return '#contact'
  const target = pages.find(({ sections }) => sections.includes('contact'))
  return target === undefined ? null : `${hrefOf(page, target)}#contact`
}

export type NavItem = { href: string; title: string; current: boolean }

/** Sections that no link leads to: they are passed on the way. */
export const UNNAMED: readonly SectionId[] = ['badges', 'marquee', 'cta_banner', 'video']

/** The pages of the site; on a site of one page, its sections. */
export const navItems = ({ page, pages, words }: Frame): NavItem[] => {
  const [only] = pages
  if (pages.length > 1 || only === undefined) {
    return pages
      .filter(({ foot }) => !foot)
      .map((one) => ({ href: hrefOf(page, one), title: one.title, current: one.slug === page.slug }))
  }
  const base = page.part === 1 ? '' : hrefOf(page, only)
  return only.sections.flatMap((section) =>
    section === 'hero' || section === 'contact' || UNNAMED.includes(section)
      ? []
      : [{ href: `${base}#${section}`, title: words.sections[section], current: false }],
  )
}

export const homeHref = ({ page }: Frame): string => `${page.root}${page.folder}` || './'

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
