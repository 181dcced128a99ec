/** What stands around the sections in every layout: names, links, the menu, the columns of a footer. */
import { type Html, html } from '../../../text/html.ts'
import { headlineClass, lengthOf } from '../choose/headline.ts'
import { hoursOf } from '../matter/place.ts'
import {
  canContact,
  chatName,
  contactHref,
  type Frame,
  focalOf,
  navItems,
  outward,
  type Shot,
  shotOf,
  UNNAMED,
} from '../page/frame.ts'
import { hrefOf } from '../page/pages.ts'
import { languageLinks, mailLink, otherWays } from '../page/parts.ts'

/** Characters of all links that fit one line at 768 and at 1440. */
const FITS_MIDDLE = 48
const FITS_WIDE = 72

/** Where links stand in the bar: `fit-m` from 768, `fit-w` on wide windows; a menu elsewhere. */
export const fitOf = (frame: Frame, taken = 0): string => {
  const items = navItems(frame)
  const length = items.reduce((sum, { title }) => sum + lengthOf(title) + 2, taken)
  if (items.length === 0) return ''
  return length <= FITS_MIDDLE ? ' fit-m fit-w' : length <= FITS_WIDE ? ' fit-w' : ''
}

const linksOf = (frame: Frame): Html[] =>
  navItems(frame).map(
    ({ href, title, current }) => html`<li><a href="${href}"${current && html` aria-current="page"`}>${title}</a></li>`,
  )

export const links = (frame: Frame): Html | null => {
  const list = linksOf(frame)
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

/** The menu of phones: a details element in the flow, so that a jump leaves it behind. */
export const menu = (frame: Frame): Html | null => {
  const items = linksOf(frame)
  const action = primary(frame)
  if (items.length === 0 && action === null) return null
  const under = frame.pages.length > 1 ? sectionLinks(frame) : []
  const shown = under.length >= SECTIONS_LEAST && under.length <= SECTIONS_MOST
  return html`<details class="menu"><summary><span class="mo">${frame.signs.menu}</span><span class="mc">${frame.signs.close}</span></summary><div class="panel"><nav aria-label="${frame.signs.menu}"><ul>${items}</ul>${
    shown &&
    html`<ul class="under">${under.map(({ href, title }) => html`<li><a href="${href}">${title}</a></li>`)}</ul>`
  }</nav>${action}</div></details>`
}

export const headlineText = ({ content }: Frame): string => content.hero?.title ?? content.meta.companyName

export const headline = (frame: Frame, top = frame.layout.grid.top): Html => {
  const text = headlineText(frame)
  return html`<h1 class="${headlineClass(text, top)}">${text}</h1>`
}

export const lede = ({ content }: Frame): Html | null =>
  content.hero?.lede === undefined ? null : html`<p class="lede">${content.hero.lede}</p>`

/** All pictures of the hero that are there, the first one first. */
export const heroShots = (frame: Frame): Shot[] =>
  [
    heroShot(frame),
    ...(frame.content.hero?.images ?? []).map(({ image, alt = '', focus }) =>
      shotOf(frame, image, alt, focalOf(focus)),
    ),
  ].filter((shot) => shot !== null)

/** Several pictures of a hero as one block of three at most; null where there are fewer than two. */
export const heroSet = (frame: Frame, ratio: number): Html | null => {
  const shots = heroShots(frame).slice(0, 3)
  if (shots.length < 2) return null
  return html`<div class="set n${shots.length}">${shots.map((shot) => frame.shot(shot, { sizes: '(min-width:48rem) 40vw,50vw', ratio, as: 'mood' }) ?? html``)}</div>`
}

export const heroShot = (frame: Frame): Shot | null =>
  shotOf(frame, frame.content.hero?.image, frame.content.hero?.alt ?? '', focalOf(frame.content.hero?.focus))

/** The title of a page, sized by its length, a step under a headline. */
export const pageTitle = ({ page, words, layout }: Frame, top = layout.grid.top - 1): Html =>
  html`<h1 class="${headlineClass(page.title, Math.max(3, top))}">${page.title}</h1>${
    page.part > 1 && html`<p class="lede">${words.pageOf(page.part, page.parts)}</p>`
  }`

/** At most this many facts stand by a headline. */
const CHIPS_MOST = 4

export const facts = ({ content }: Frame, skip = 0): Html | null => {
  const list = (content.hero?.chips ?? []).slice(skip, skip + CHIPS_MOST)
  return list.length === 0 ? null : html`<ul class="chips">${list.map((chip) => html`<li>${chip}</li>`)}</ul>`
}

/** Where, when, who and how: columns of a footer, each a name and lines. */
export const footColumns = (frame: Frame): Html => {
  const { content, words, signs } = frame
  const { email } = content.contact ?? {}
  const nav = navItems(frame)
  const hours = content.hours === undefined ? [] : hoursOf(content.hours, signs).slice(0, HOURS_MOST)
  return html`<div class="fcols"><div><p class="who">${content.meta.companyName}</p>${
    email !== undefined && html`<p>${mailLink(email)}</p>`
  }</div>${
    hours.length > 0 &&
    html`<dl><dt>${words.sections.hours}</dt>${hours.map(({ title, lines }) => html`<dd>${title} ${lines.join(' · ')}</dd>`)}</dl>`
  }${
    nav.length > 1 &&
    html`<nav aria-label="${signs.index}"><dl><dt>${words.navigation}</dt>${nav.map(
      ({ href, title, current }) =>
        html`<dd><a href="${href}"${current && html` aria-current="page"`}>${title}</a></dd>`,
    )}</dl></nav>`
  }${waysInColumns(frame)}</div>`
}

/** From so many ways to get in touch on, two share a column: a footer of eight columns is read by nobody. */
const WAYS_ALONE = 4

const waysInColumns = (frame: Frame): Html[] => {
  const ways = otherWays(frame).map(
    ({ name, links: list }) => html`<dt>${name}</dt>${list.map((link) => html`<dd>${link}</dd>`)}`,
  )
  const size = ways.length < WAYS_ALONE ? 1 : 2
  return ways.flatMap((_, at) => (at % size === 0 ? [html`<dl>${ways.slice(at, at + size)}</dl>`] : []))
}

/** Lines of hours that a footer has room for. */
const HOURS_MOST = 7

/** Pages that stand in the foot, what the law asks for, and the other languages. */
export const legalLinks = (frame: Frame): Html[] => {
  const { page, pages, content } = frame
  const own = pages.filter(({ foot }) => foot).map((one) => html`<a href="${hrefOf(page, one)}">${one.title}</a>`)
  const documents = (content.legal?.links ?? []).map(({ label, url }) => outward(url, label))
  return [...own, ...documents, ...languageLinks(frame)]
}

/** The same for a foot that names the company already. */
export const legalWords = (frame: Frame): Html[] => {
  const { legal, meta } = frame.content
  const name = legal?.name === undefined || legal.name === meta.companyName ? [] : [legal.name]
  return [...[...name, ...(legal?.lines ?? [])].map((line) => html`<span>${line}</span>`), ...legalLinks(frame)]
}

export const legalLine = (frame: Frame): Html => {
  const { legal, meta } = frame.content
  const lines = (legal?.lines ?? []).map((line) => html`<span>${line}</span>`)
  return html`<p class="legal"><span>${legal?.name ?? meta.companyName}</span>${lines}${legalLinks(frame)}<a href="#top">${frame.words.top}</a></p>`
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

/** The page after this one, as its title leads on; null on the last and on a site of one page. */
export const nextPage = (frame: Frame): { href: string; title: string } | null => {
  const { page, pages } = frame
  const at = pages.findIndex(({ slug }) => slug === page.slug)
  const next = at < 0 ? undefined : pages[at + 1]
  return next === undefined ? null : { href: hrefOf(page, next), title: next.title }
}

/** The bar at a phone's foot, opaque, with the action and the chat; on a wide window the chat alone, at its edge. */
export const dock = (frame: Frame): Html | null => {
  const chat = frame.content.contact?.chat
  if (chat === undefined) return null
  const { words } = frame
  return html`<aside class="dock" aria-label="${words.chat}">${primary(frame)}${outward(chat, chatName(chat, words), 'chat')}</aside>`
}
