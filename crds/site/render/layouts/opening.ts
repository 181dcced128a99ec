/** What opens a page: its headline, the words under it, and the pictures of a hero. */
import { type Html, html } from '../../../text/html.ts'
import { headlineClass } from '../choose/headline.ts'
import { type Frame, focalOf, type Shot, shotOf } from '../page/frame.ts'

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
