/** What a section holds, whatever it is called: groups of items with words, pictures and prices. Forms know nothing else. */
import type { Html } from '../../../text/html.ts'
import type { Shot } from '../page/frame.ts'

export type Item = {
  title: string
  /** Where its title leads. */
  link?: string
  text?: string
  /** Quotes and people: what the title is, as a role. */
  role?: string
  tag?: string
  price?: string
  priceWas?: string
  shot: Shot | null
  /** Of five, when they were given. */
  stars?: number
  specs: readonly string[]
  options: readonly { name: string; values: readonly string[] }[]
  /** What it holds, one line each. */
  points: readonly string[]
  /** The one thing to do about it. */
  action: Html | null
}

export type Group = { name: string | null; items: readonly Item[] }

/** Goods are shown in true colour; a mood and a portrait may be toned by the template. */
export type PictureTone = 'goods' | 'mood' | 'portrait'

export type Matter = { tone: PictureTone; groups: readonly Group[] }

/** An item with nothing but a title. */
export const item = (title: string, more: Partial<Item> = {}): Item => ({
  title,
  shot: null,
  specs: [],
  options: [],
  points: [],
  action: null,
  ...more,
})
