/** What stands above the sections in every layout: names, links, languages, the menu, and the bar at a phone's foot. */
import { type Html, html, veiled } from '../../../text/html.ts'
import type { Layout } from '../../content/content.ts'
import { lengthOf } from '../choose/headline.ts'
import { hourLinesOf, telOf } from '../matter/place.ts'
import { canContact, chatName, contactHref, type Frame, mailPath, navItems, outward, UNNAMED } from '../page/frame.ts'
import { collectionList, hrefOf, pathOf } from '../page/pages.ts'
import { languageLinks, phoneLink } from '../page/parts.ts'
import { LANG_NAMES } from '../words.ts'

/** Characters of all links that fit one line at 768 and at 1440. */
const FITS_MIDDLE = 48
const FITS_WIDE = 72

/** Where links stand in the bar: `fit-m` from 768, `fit-w` on wide windows; a menu elsewhere. */
export const fitOf = (frame: Frame, taken = 0): string => {
  const items = navItems(frame)
  const length = items.reduce((sum, { title }) => sum + lengthOf(title) + 2, taken + languagesLength(frame))
  if (items.length === 0) return ''
  return length <= FITS_MIDDLE ? ' fit-m fit-w' : length <= FITS_WIDE ? ' fit-w' : ''
}

type BarLink = { href: string; title: string; current?: boolean; count?: number }

/** The collections of the goods, wherever their page is. */
export const collectionLinks = ({ content, page, pages }: Frame): BarLink[] => {
  const goods = pages.find(({ sections }) => sections.includes('products'))
  if (goods === undefined) return []
  return collectionList(content).map(({ name, id, count, part }) => {
    const path = `${goods.folder}${pathOf(goods.slug, part)}`
    return { href: `${path === page.path ? '' : hrefOf(page, { path })}#${id}`, title: name, count }
  })
}

/** As many as fit one line of a wide window. */
export const fitting = (list: readonly BarLink[]): BarLink[] => {
  let length = 0
  return list.filter(({ title }) => {
    length += lengthOf(title) + 2
    return length <= FITS_WIDE
  })
}

const languagesLength = ({ languages }: Frame): number =>
  languages.length < 2 ? 0 : languages.reduce((sum, { lang }) => sum + lengthOf(LANG_NAMES[lang]) + 2, 0)

/** The languages of the site, each in its own, at the end of a header or in the menu; null where there is one. */
export const languages = (frame: Frame): Html | null => {
  const list = languageLinks(frame)
  return list.length === 0
    ? null
    : html`<ul class="langs" aria-label="${frame.signs.languages}">${list.map((link) => html`<li>${link}</li>`)}</ul>`
}

const linesOf = (list: readonly BarLink[]): Html[] =>
  list.map(
    ({ href, title, current = false, count }) =>
      html`<li><a href="${href}"${current && html` aria-current="page"`}>${title}${count !== undefined && html` <span class="n">${count}</span>`}</a></li>`,
  )

export const links = (frame: Frame, own: readonly BarLink[] = navItems(frame)): Html | null => {
  const list = linesOf(own)
  return list.length === 0
    ? null
    : html`<nav class="links" aria-label="${frame.words.navigation}"><ul>${list}</ul></nav>`
}

/** Sections of this page that a heading leads to. */
export const sectionLinks = ({ page, words }: Frame): { href: string; title: string }[] =>
  page.part > 1
    ? []
    : page.sections.flatMap((section) =>
        section === 'hero' || UNNAMED.includes(section)
          ? []
          : [{ href: `#${section}`, title: words.sections[section] }],
      )

const SECTIONS_LEAST = 2
const SECTIONS_MOST = 6

/** The one filled action, to the contact section; null where one cannot ask or stands there already. */
export const primary = (frame: Frame): Html | null => {
  const href = canContact(frame.content) ? contactHref(frame) : null
  return href === null ? null : html`<a class="button" href="${href}">${frame.words.getInTouch}</a>`
}

/** Phone and hours, as who is on the way reads them. */
const menuFacts = ({ content, signs }: Frame): Html => {
  const { phone } = content.contact ?? {}
  const hours = hourLinesOf(content, signs)
  return html`${phone !== undefined && html`<p class="tel"><span>${signs.phone}</span> ${phoneLink(phone)}</p>`}${
    hours.length > 0 &&
    html`<ul class="hrs" aria-label="${signs.hours}">${hours.map((line) => html`<li>${line}</li>`)}</ul>`
  }`
}

/** The menu of phones: a details element in the flow, so that a jump leaves it behind. */
export const menu = (frame: Frame, goods: readonly BarLink[] = []): Html | null => {
  const items = linesOf(navItems(frame))
  const action = primary(frame)
  const tongues = languages(frame)
  if (items.length === 0 && action === null && tongues === null) return null
  const under = frame.pages.length > 1 ? sectionLinks(frame) : []
  const shown = under.length >= SECTIONS_LEAST && under.length <= SECTIONS_MOST
  return html`<details class="menu"><summary><span class="mo">${frame.signs.menu}</span>${goods.length > 0 && html`<span class="mw">${frame.signs.more}</span>`}<span class="mc">${frame.signs.close}</span></summary><div class="panel"><nav aria-label="${frame.signs.menu}">${goods.length > 0 && html`<ul class="goods">${linesOf(goods)}</ul>`}<ul>${items}</ul>${
    shown &&
    html`<ul class="under">${under.map(({ href, title }) => html`<li><a href="${href}">${title}</a></li>`)}</ul>`
  }</nav>${tongues}${menuFacts(frame)}${action}</div></details>`
}

/** A line above every header; it never sticks. */
export const announcement = ({ content, signs }: Frame): Html | null => {
  const line = content.announcement
  if (line === undefined) return null
  const [date = ''] = line.countdown?.split('T') ?? []
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  const until =
    date === '' ? null : html` <time datetime="${line.countdown ?? ''}">${signs.date(year, month, day)}</time>`
  return html`<aside class="announce"><p>${line.link === undefined ? line.text : outward(line.link, line.text)}${until}</p></aside>`
}

/** Where goods are sold one can ask and call on a phone whatever way there is: by chat, else by mail. */
const shopWays = ({ content, words, signs }: Frame): Html[] => {
  const { chat, email, phone } = content.contact ?? {}
  const asked =
    chat !== undefined
      ? outward(chat, chatName(chat, words), 'chat')
      : email !== undefined &&
        html`<a class="button" href="${veiled(`mailto:${mailPath(email)}`)}">${words.getInTouch}</a>`
  const call = phone !== undefined && html`<a class="call" href="${telOf(phone)}">${signs.call}</a>`
  return [asked, call].filter((one) => one !== false)
}

/** Layouts whose bar at the foot sells. */
const SELLING: readonly Layout[] = ['showcase']

/** The bar at a phone's foot, opaque, with the action and the chat; on a wide window the chat alone, at its edge. */
export const dock = (frame: Frame): Html | null => {
  const { words, content, layout } = frame
  const chat = content.contact?.chat
  const ways = SELLING.includes(layout.name) ? shopWays(frame) : []
  if (chat === undefined && ways.length === 0) return null
  const pair =
    chat !== undefined && ways.length < 2
      ? html`${primary(frame)}${outward(chat, chatName(chat, words), 'chat')}`
      : html`${ways}`
  return html`<aside class="dock" aria-label="${chat === undefined ? words.getInTouch : words.chat}">${pair}</aside>`
}
