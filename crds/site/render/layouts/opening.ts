/** What opens a page: its headline, the words under it, and the pictures of a hero. */
import { type Html, html } from '../../../text/html.ts'
import { headlineClass, headlineOf, lengthOf } from '../choose/headline.ts'
import { type HeroForm, heroFormOf } from '../choose/pictures.ts'
import { type PictureSize, type SetPlace, setOf } from '../choose/sets.ts'
import { type Frame, focalOf, type Shot, shotOf } from '../page/frame.ts'
import { type SetPlans, setClass } from '../page/ledger.ts'
import { SIZES } from '../type/scale.ts'

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
    ownShot(frame),
    ...(frame.content.hero?.images ?? []).map(({ image, alt = '', focus }) =>
      shotOf(frame, image, alt, focalOf(focus)),
    ),
  ].filter((shot) => shot !== null)

/** Pictures that stand together at most. */
const TOGETHER_MOST = 3

/** Where a layout has its pictures together, by the window. */
export type SetPlaces = { phone: SetPlace; middle: SetPlace; wide: SetPlace }
export type HeroSet = { shots: readonly Shot[]; plans: SetPlans; places: SetPlaces }

const sizesOfShots = (frame: Frame, shots: readonly Shot[]): PictureSize[] =>
  shots.flatMap(({ value }) => {
    const image = frame.image(value)
    return image === null ? [] : [image]
  })

/** Two or three pictures of a hero as one block; null where there are fewer, or only ones that are too small for it. */
export const heroSetOf = (frame: Frame, places: SetPlaces): HeroSet | null => {
  const all = heroShots(frame)
  for (let count = Math.min(TOGETHER_MOST, all.length); count >= 2; count -= 1) {
    const shots = all.slice(0, count)
    const sizes = sizesOfShots(frame, shots)
    const phone = setOf(sizes, places.phone)
    const middle = setOf(sizes, places.middle)
    const wide = setOf(sizes, places.wide)
    if (phone !== null && middle !== null && wide !== null) return { shots, plans: { phone, middle, wide }, places }
  }
  return null
}

const DESK_PX = 1440
const MIDDLE_PX = 768

export const drawSet = (frame: Frame, { shots, plans, places }: HeroSet): Html => {
  const sizes = sizesOfShots(frame, shots)
  const wanted = Math.round(places.wide.ratio * 100)
  const name = `k${sizes.map(({ width, height }) => `${width}x${height}`).join('-')}-${wanted}`
  const percent = (share: number, placePx: number, windowPx: number) =>
    Math.min(100, Math.round((100 * share * placePx) / windowPx))
  const pictures = shots.map((shot, at) => {
    const [wide = 1, middle = 1, phone = 1] = [plans.wide, plans.middle, plans.phone].map(({ shares }) => shares[at])
    const seen = [
      `(min-width:64rem) ${percent(wide, places.wide.widthPx, DESK_PX)}vw`,
      `(min-width:48rem) ${percent(middle, places.middle.widthPx, MIDDLE_PX)}vw`,
      `${percent(phone, 1, 1)}vw`,
    ]
    return frame.shot(shot, { sizes: seen.join(','), as: 'mood' }) ?? html``
  })
  return html`<div class="set ${setClass(frame.ledger, name, shots.length, plans)}">${pictures}</div>`
}

export const heroSet = (frame: Frame, places: SetPlaces): Html | null => {
  const set = heroSetOf(frame, places)
  return set === null ? null : drawSet(frame, set)
}

const ownShot = (frame: Frame): Shot | null =>
  shotOf(frame, frame.content.hero?.image, frame.content.hero?.alt ?? '', focalOf(frame.content.hero?.focus))

/** The picture of a hero that has one, or that leads the others. */
export const heroShot = (frame: Frame): Shot | null => heroShots(frame)[0] ?? null

/** How the only picture of a hero stands; null where there is none. @param place the ratio of the layout's widest place */
export const heroForm = (frame: Frame, place: number): HeroForm | null => {
  const image = frame.image(heroShot(frame)?.value)
  return image === null ? null : heroFormOf(image, place)
}

/** Of a letter in running text, as a share of its size. */
const LETTER = 0.52

/** About how high headline, lede and action stand in columns of these pixels. @param at 0 on a phone, 1 on a desk */
export const wordsHeight = (frame: Frame, columns: { title: number; text: number }, at: 0 | 1): number => {
  const title = headlineText(frame)
  const text = frame.content.hero?.lede ?? ''
  const lines = (long: string, sizePx: number, columnPx: number) =>
    Math.ceil((lengthOf(long) * LETTER * sizePx) / columnPx)
  const size = SIZES[headlineOf(title, frame.layout.grid.top).step]?.[at] ?? 0
  const body = SIZES[1]?.[at] ?? 0
  return lines(title, size, columns.title) * size * 1.1 + lines(text, body, columns.text) * body * 1.4 + ACTION_PX
}

/** An action with the gaps around it; a header and what else stands on the first screen of a phone. */
const ACTION_PX = 130
const [PHONE_PX, PHONE_TAKEN_PX] = [800, 112]
const PHONE_COLUMN = { title: 304, text: 304 }

/** Whether a picture of this height above the words would push the action out of the first screen of a phone. */
export const pushesOut = (frame: Frame, picturePx: number): boolean =>
  PHONE_TAKEN_PX + picturePx + wordsHeight(frame, PHONE_COLUMN, 0) > PHONE_PX

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
