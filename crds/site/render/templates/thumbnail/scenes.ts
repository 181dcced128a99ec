/**
 * The seven layouts as they are seen from far away: what stands where on a sheet of 240 × 300, nothing of how it looks.
 * Source: rules/site.md#layouts.
 */
import type { Layout } from '../../../content/content.ts'

export const SHEET = { width: 240, height: 300 } as const

type Place = { x: number; y: number; w: number; h: number }
/** `lines` of a text or headline; `end` is where a last, shorter line ends, as a share of the width. */
export type SceneShape = Place & {
  is:
    | 'picture'
    | 'headline'
    | 'title'
    | 'text'
    | 'button'
    | 'band'
    | 'rail'
    | 'bar'
    | 'rule'
    | 'name'
    | 'word'
    | 'price'
  /** What it stands on. */
  on?: 'paper' | 'tint' | 'inverse' | 'fill' | 'picture'
  middle?: boolean
  lines?: number
  /** Goods are framed by the template, moods are not. */
  goods?: boolean
}

type Draw = (is: SceneShape['is'], x: number, y: number, w: number, h: number, more?: Partial<SceneShape>) => SceneShape
const at: Draw = (is, x, y, w, h, more = {}) => ({ is, x, y, w, h, ...more })

const words = (y: number, xs: readonly number[], w = 16): SceneShape[] => xs.map((x) => at('word', x, y, w, 3))

/** Goods with a name and a price under each, in rows. */
const shelf = (y: number, count: number, [x, w, gap]: readonly [number, number, number], h: number): SceneShape[] =>
  Array.from({ length: count }, (_, index) => x + index * (w + gap)).flatMap((left) => [
    at('picture', left, y, w, h, { goods: true }),
    at('text', left, y + h + 5, w * 0.7, 3, { lines: 1 }),
    at('price', left, y + h + 11, w * 0.42, 4),
  ])

const CLASSIC: readonly SceneShape[] = [
  at('name', 12, 9, 40, 8),
  ...words(11, [140, 164]),
  at('button', 188, 6, 40, 13),
  at('headline', 12, 44, 96, 46, { lines: 3 }),
  at('text', 12, 98, 92, 12, { lines: 3 }),
  at('button', 12, 117, 46, 13),
  at('picture', 122, 34, 106, 98),
  at('band', 0, 146, 240, 88, { on: 'tint' }),
  at('title', 12, 155, 66, 8),
  ...shelf(171, 3, [12, 67, 7.5], 40),
  at('title', 12, 244, 52, 8),
  at('text', 92, 245, 130, 14, { lines: 3 }),
  at('band', 0, 272, 240, 28, { on: 'inverse' }),
  ...[12, 76, 132, 188].map((x) => at('text', x, 280, 38, 10, { lines: 2, on: 'inverse' })),
]

const EDITORIAL: readonly SceneShape[] = [
  at('name', 8, 5, 36, 7),
  ...words(7, [112, 176, 200, 222], 12),
  at('rule', 0, 16, 240, 1),
  at('picture', 0, 17, 240, 96),
  at('headline', 8, 121, 200, 40, { lines: 2 }),
  at('text', 8, 167, 96, 10, { lines: 3 }),
  at('button', 150, 167, 52, 12),
  at('rule', 8, 187, 224, 1),
  at('word', 8, 195, 34, 4),
  at('picture', 62, 195, 104, 56, { goods: true }),
  at('text', 174, 197, 52, 14, { lines: 3 }),
  at('text', 62, 256, 60, 6, { lines: 1 }),
  at('rule', 8, 266, 224, 1),
  at('word', 8, 274, 34, 4),
  at('title', 62, 273, 156, 20, { lines: 2 }),
]

const SHOWCASE: readonly SceneShape[] = [
  at('name', 6, 7, 36, 8),
  ...words(9, [56, 80, 104, 128]),
  at('button', 198, 4, 36, 13),
  at('headline', 6, 26, 150, 13, { lines: 1 }),
  at('text', 6, 43, 120, 4, { lines: 1 }),
  ...[6, 100].map((x) => at('picture', x, 54, 90, 76, { goods: true })),
  at('picture', 194, 54, 46, 76, { goods: true }),
  ...[6, 100, 194].map((x) => at('text', x, 134, 34, 3, { lines: 1 })),
  at('title', 6, 149, 46, 7),
  ...shelf(160, 4, [6, 54, 4], 38),
  ...shelf(222, 4, [6, 54, 4], 38),
  at('band', 0, 284, 240, 16, { on: 'inverse' }),
  ...[6, 54, 102, 150, 198].map((x) => at('text', x, 290, 30, 3, { lines: 1, on: 'inverse' })),
]

const MONOLITH: readonly SceneShape[] = [
  at('name', 20, 10, 40, 8),
  at('word', 206, 12, 16, 3),
  at('headline', 20, 36, 196, 86, { lines: 3 }),
  at('text', 20, 132, 112, 8, { lines: 2 }),
  at('bar', 20, 160, 200, 5),
  at('title', 20, 170, 58, 9),
  at('text', 20, 184, 112, 18, { lines: 4 }),
  at('bar', 20, 213, 200, 5),
  at('title', 20, 223, 74, 9),
  at('text', 20, 237, 112, 14, { lines: 3 }),
  at('bar', 20, 262, 200, 5),
  at('title', 20, 272, 48, 9),
  at('text', 20, 286, 112, 9, { lines: 2 }),
]

const ATELIER: readonly SceneShape[] = [
  ...words(13, [28, 52]),
  at('name', 92, 9, 56, 11, { middle: true }),
  ...words(13, [172, 196]),
  at('picture', 84, 36, 72, 90),
  at('text', 162, 116, 34, 8, { lines: 2 }),
  at('headline', 50, 136, 140, 16, { lines: 1, middle: true }),
  at('text', 74, 156, 92, 7, { lines: 2, middle: true }),
  at('button', 96, 170, 48, 13, { middle: true }),
  at('title', 84, 203, 72, 8, { middle: true }),
  at('picture', 38, 218, 70, 60, { goods: true }),
  at('text', 38, 283, 44, 3, { lines: 1 }),
  at('picture', 132, 238, 70, 62, { goods: true }),
]

const row = (y: number): SceneShape[] => [
  at('rule', 76, y, 158, 1),
  at('text', 76, y + 6, 38, 3, { lines: 1 }),
  at('text', 120, y + 6, 76, 7, { lines: 2 }),
  at('price', 208, y + 6, 26, 4),
]

const SIDENAV: readonly SceneShape[] = [
  at('rail', 0, 0, 62, 300, { on: 'tint' }),
  at('name', 8, 12, 42, 8),
  ...[32, 42, 52, 62, 80, 89, 98, 107].map((y) => at('word', 8, y, y === 42 ? 40 : 30, 3)),
  at('button', 8, 122, 46, 13),
  at('headline', 76, 18, 92, 26, { lines: 2 }),
  at('text', 76, 50, 86, 8, { lines: 2 }),
  at('picture', 178, 16, 56, 48),
  at('title', 76, 80, 46, 7),
  ...[92, 112, 132, 152].flatMap(row),
  at('title', 76, 182, 60, 7),
  ...[194, 214, 234, 254, 274].flatMap(row),
]

const chapter = (y: number, picture: number, text: number): SceneShape[] => [
  at('picture', picture, y, 120, 66),
  at('title', text + 14, y + 16, 74, 9),
  at('text', text + 14, y + 31, 88, 14, { lines: 3 }),
]

const NARRATIVE: readonly SceneShape[] = [
  at('picture', 0, 0, 240, 118),
  at('bar', 0, 0, 66, 2),
  at('name', 10, 8, 34, 7, { on: 'picture' }),
  at('word', 214, 10, 16, 3, { on: 'picture' }),
  at('headline', 10, 54, 150, 38, { lines: 2, on: 'picture' }),
  at('button', 10, 98, 46, 13, { on: 'picture' }),
  ...chapter(118, 0, 120),
  ...chapter(184, 120, 0),
  ...chapter(250, 0, 120),
]

export const SCENES: Readonly<Record<Layout, readonly SceneShape[]>> = {
  classic: CLASSIC,
  editorial: EDITORIAL,
  showcase: SHOWCASE,
  monolith: MONOLITH,
  atelier: ATELIER,
  sidenav: SIDENAV,
  narrative: NARRATIVE,
}
