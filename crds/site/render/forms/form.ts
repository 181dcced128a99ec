/** What a form is: one way in which a group of items stands, in any layout. Source: rules/site.md#forms. */
import { type Html, html } from '../../../text/html.ts'
import type { Item, PictureTone } from '../matter/matter.ts'
import type { Frame } from '../page/frame.ts'
import { optionsOf, priceOf, specsOf, titleOf } from '../page/parts.ts'

/** A group as a form takes it. */
export type FormGroup = {
  items: readonly Item[]
  /** Of the items' headings: one under the section's, two under a collection's. */
  level: 3 | 4
  /** The most in a row. */
  most: number
  tone: PictureTone
  /** What the items are called together, for a region that scrolls. */
  label: string
  /** Items are what somebody said. */
  quotes: boolean
}

/** `css` is written for reading, and brought along only where the form is used. */
export type SiteForm = { view(frame: Frame, group: FormGroup): Html; css: string }

export const headingOf = (item: Item, level: 3 | 4): Html | null => {
  if (item.title === '') return null
  return level === 3 ? html`<h3>${titleOf(item)}</h3>` : html`<h4>${titleOf(item)}</h4>`
}

export const textOf = ({ text }: Item): Html | null => (text === undefined ? null : html`<p class="text">${text}</p>`)

export const tagOf = ({ tag }: Item): Html | null => (tag === undefined ? null : html`<p class="tag">${tag}</p>`)

export const pointsOf = ({ points }: Item): Html | null =>
  points.length === 0 ? null : html`<ul class="points">${points.map((one) => html`<li>${one}</li>`)}</ul>`

const footOf = ({ action }: Item): Html | null => (action === null ? null : html`<div class="act">${action}</div>`)

/** All that an item says, top to bottom. */
export const wordsOf = (frame: Frame, item: Item, level: 3 | 4): Html =>
  html`<div class="cw">${tagOf(item)}<div class="ln">${headingOf(item, level)}${priceOf(frame, item)}</div>${
    item.role !== undefined && html`<p class="role">${item.role}</p>`
  }${textOf(item)}${specsOf(frame, item)}${optionsOf(frame, item)}${pointsOf(item)}${footOf(item)}</div>`

/** What is beside the name: everything but name, text and price. */
export const detailsOf = (frame: Frame, item: Item): Html =>
  html`${specsOf(frame, item)}${optionsOf(frame, item)}${pointsOf(item)}${footOf(item)}`

/** `sizes` of a picture that takes a share of a wide window, half of a middle one, and all of a phone. */
export const sizesOf = (percent: number): string =>
  `(min-width:64rem) ${percent}vw,(min-width:40rem) ${Math.max(50, percent)}vw,100vw`

/** A gallery's picture leads on, and one that nobody described still has a name. */
export const framed = (frame: Frame, item: Item, picture: Html): Html => {
  if (item.link === undefined) return picture
  const named = item.title !== '' || (item.shot?.alt ?? '') !== ''
  return named ? picture : html`${picture}<span class="vh">${frame.words.view}</span>`
}
