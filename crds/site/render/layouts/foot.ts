/** The foot of a page: where, when, who and how, what the law asks for, and what comes next. */
import { type Html, html } from '../../../text/html.ts'
import { hourLinesOf } from '../matter/place.ts'
import { type Frame, navItems, outward } from '../page/frame.ts'
import { hrefOf } from '../page/pages.ts'
import { languageLinks, mailLink, otherWays } from '../page/parts.ts'

/** Where, when, who and how: columns of a footer, each a name and lines. */
export const footColumns = (frame: Frame): Html => {
  const { content, words, signs } = frame
  const { email } = content.contact ?? {}
  const nav = navItems(frame)
  const hours = hourLinesOf(content, signs)
  return html`<div class="fcols"><div><p class="who">${content.meta.companyName}</p>${
    email !== undefined && html`<p>${mailLink(email)}</p>`
  }</div>${
    hours.length > 0 && html`<dl><dt>${words.sections.hours}</dt>${hours.map((line) => html`<dd>${line}</dd>`)}</dl>`
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

/** The hours of a foot that has no columns, each a line of its own. */
export const hourSpans = ({ content, signs }: Frame): Html[] =>
  hourLinesOf(content, signs).map((line) => html`<span>${line}</span>`)

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

/** The page after this one, as its title leads on; null on the last and on a site of one page. */
export const nextPage = (frame: Frame): { href: string; title: string } | null => {
  const { page, pages } = frame
  const at = pages.findIndex(({ slug }) => slug === page.slug)
  const next = at < 0 ? undefined : pages[at + 1]
  return next === undefined ? null : { href: hrefOf(page, next), title: next.title }
}
