/** Which pictures are shown, in what ratio, and around which point. Source: rules/site.md#pictures. */

/** All have one; most, and those are pictured while the rest is a list; a few, of which one is shown; none. */
export type Pictured = 'all' | 'most' | 'few' | 'none'

const MOST = 2 / 3

export const picturedOf = (pictured: number, count: number): Pictured => {
  if (pictured === 0) return 'none'
  if (pictured === count) return 'all'
  return pictured >= 2 && pictured / count >= MOST ? 'most' : 'few'
}

/** Ratios that grids are set in. */
const LADDER = [2 / 3, 0.8, 1, 1.25, 4 / 3, 1.5, 1.6] as const
/** The most of a picture that a crop may take. */
export const CROP_MOST = 0.4

/** The share of a picture that is lost when it fills a place of another ratio; 0 to 1. */
export const cropOf = (picture: number, place: number): number => 1 - Math.min(picture / place, place / picture)

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 1

/** The wanted ratio, or the nearest to the pictures' own where it would take too much of one. */
export const ratioOf = (pictures: readonly number[], wanted: number): number => {
  if (pictures.every((one) => cropOf(one, wanted) <= CROP_MOST)) return wanted
  const own = middle(pictures)
  return LADDER.reduce<number>((best, one) => (cropOf(own, one) < cropOf(own, best) ? one : best), LADDER[0])
}

/** The wanted ratio, or the nearest that takes no more of the picture than a crop may. */
export const nearestRatio = (picture: number, wanted: number): number =>
  Math.min(picture / (1 - CROP_MOST), Math.max(picture * (1 - CROP_MOST), wanted))

/** Under this many pixels in width a picture is not stretched over a whole screen. */
const WIDE_ENOUGH = 1200
/** A picture is never shown wider than this many times its own width. */
export const LARGEST = 1.25

/** How the only picture of a hero stands: over the whole width, set in, or beside the words. */
export type HeroForm = 'wide' | 'inset' | 'split'

/** @param place width to height of the widest place that the layout has for it */
export const heroFormOf = ({ width, height }: { width: number; height: number }, place: number): HeroForm => {
  const own = width / height
  if (own < place && cropOf(own, place) > CROP_MOST) return 'split'
  return width < WIDE_ENOUGH ? 'inset' : 'wide'
}

/** A hero on a phone is 4:5 or 3:2, whichever takes less of it; 3:2 on a window of the middle. */
const [PHONE_TALL, PHONE_FLAT] = [0.8, 1.5] as const

export type HeroRatios = { phone: number; middle: number; wide: number }

/** @param wide that of the layout */
export const heroRatiosOf = (picture: number, wide: number, phone?: number): HeroRatios => {
  const nearer = cropOf(picture, PHONE_TALL) < cropOf(picture, PHONE_FLAT) ? PHONE_TALL : PHONE_FLAT
  return {
    phone: nearestRatio(picture, phone ?? nearer),
    middle: nearestRatio(picture, PHONE_FLAT),
    wide: nearestRatio(picture, wide),
  }
}

/** No card is wider than this. */
const WIDEST = 1.8

/** The ratio of a shorter row, so that rows keep their height; the grid's own where that would take too much. */
export const rowRatio = (pictures: readonly number[], base: number, most: number, length: number): number => {
  const wide = Math.min(WIDEST, (base * most) / length)
  return length >= most || wide < base || pictures.some((one) => cropOf(one, wide) > CROP_MOST) ? base : wide
}

/** From 0 to 1, from the left and from the top. */
export type Focal = { x: number; y: number }
export const FOCAL: Focal = { x: 0.5, y: 0.4 }
export const FOCAL_PORTRAIT: Focal = { x: 0.5, y: 0.33 }

/** How much farther a crop moves than its focal point, so that the point stays in the middle of the frame. */
const PULL = 1.6

/** `object-position` in whole percent: moved so far that the point stays in the frame's middle 60 % in any allowed crop. */
export const positionOf = ({ x, y }: Focal): readonly [number, number] => {
  const place = (at: number) => Math.round(100 * Math.min(1, Math.max(0, 0.5 + (at - 0.5) * PULL)))
  return [place(x), place(y)]
}
