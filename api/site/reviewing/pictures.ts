/**
 * Every page of a site as it was approved and as it was submitted, side by side at three widths: frames of the very bytes, without
 * scripts and in an origin of their own, drawn smaller by the style sheet (hack/decisions/067).
 */
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import type { ComparedPage } from './compare.ts'
import { mark, type Tab, tabs } from './desk.ts'

export const WIDTHS = [1440, 768, 360] as const
export type Width = (typeof WIDTHS)[number]
const DEVICES: Record<Width, string> = { 1440: 'Desktop', 768: 'Tablet', 360: 'Phone' }

/** What is looked at: a page by its path, at one width or all, held against what. */
export type LookedAt = { page: string; width: Width | null; against: 'approved' | 'round' }

export type SideBySide = {
  /** Path of the page of the review. */
  path: string
  looked: LookedAt
  pages: readonly ComparedPage[]
  /** Paths of the frozen previews, with a slash at their end. `before` null: there is nothing to compare with. */
  previews: { before: string | null; after: string }
  /** What stands on the left, as `approved on …`. */
  baseWords: string
}

export const addressOf = (path: string, { page, width, against }: LookedAt): string => {
  const query = new URLSearchParams({
    ...(page !== '/' && { page }),
    ...(width !== null && { width: String(width) }),
    ...(against !== 'approved' && { against }),
  })
  return `${path}${query.size > 0 ? `?${query}` : ''}`
}

const STATES: Record<ComparedPage['state'], string> = { same: 'the same', changed: 'changed', new: 'new', gone: 'gone' }

export const pageTabs = ({ path, looked, pages }: Omit<SideBySide, 'previews' | 'baseWords'>, place: string): Html =>
  tabs(
    'Page',
    pages.map(
      (one): Tab => ({
        href: `${addressOf(path, { ...looked, page: one.path })}#${place}`,
        words: html`${one.path} ${mark(one.state, STATES[one.state])}`,
        isCurrent: one.path === looked.page,
      }),
    ),
  )

const widthTabs = ({ path, looked }: SideBySide): Html => {
  const tab = (width: Width | null, words: string): Tab => ({
    href: `${addressOf(path, { ...looked, width })}#pictures`,
    words,
    isCurrent: looked.width === width,
  })
  return tabs('Width', [tab(null, 'All three'), ...WIDTHS.map((width) => tab(width, `${DEVICES[width]}, ${width}`))])
}

/** `file` of the site, below the frozen preview; a folder by its slash, as visitors ask for it. */
const shot = (preview: string, page: ComparedPage, width: Width, words: string): Html => {
  const source = `${preview}${page.path.slice(1)}`
  const title = `${page.path} at ${width} pixels, ${words}`
  return html`<figure><figcaption>${words} <a href="${safeUrl(source)}" target="_blank" rel="noopener noreferrer">Open at full size</a></figcaption>
<div class="shot w${width}"><iframe src="${safeUrl(source)}" title="${title}" sandbox="" loading="lazy" referrerpolicy="no-referrer"></iframe></div></figure>`
}

const none = (words: string): Html =>
  html`<figure><figcaption>${words}</figcaption><div class="none">There is no such page.</div></figure>`

const pair = ({ previews, baseWords }: SideBySide, page: ComparedPage, width: Width): Html => {
  const { before, after } = previews
  return html`<div class="pair"><p>${DEVICES[width]}, ${width} pixels</p>
${before !== null && (page.state === 'new' ? none(baseWords) : shot(before, page, width, baseWords))}
${page.state === 'gone' ? none('Submitted') : shot(after, page, width, 'Submitted')}</div>`
}

/** @returns the section, with the tabs that choose what is looked at */
export const pictures = (
  facts: SideBySide,
  page: ComparedPage,
): Html => html`<section id="pictures" aria-labelledby="pictures-title"><h2 id="pictures-title">Side by side</h2>
${pageTabs(facts, 'pictures')}
${widthTabs(facts)}
${facts.previews.before === null && html`<p>There is nothing to hold it against: all of it is new.</p>`}
${(facts.looked.width === null ? WIDTHS : [facts.looked.width]).map((width) => pair(facts, page, width))}
<p class="hint">Each picture is the page itself, the very bytes, in a window of that size: scroll in it to see the rest. Nothing in it runs.</p></section>`
