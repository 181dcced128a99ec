/** Two or three pictures as one block that cuts none of them by more than a crop may take. Source: rules/site.md#layouts. */
import { LARGEST } from './pictures.ts'

/** Side by side; one beside two that stand one on the other; one across, the others beneath. */
export const SET_FORMS = ['row', 'tall', 'over'] as const
export type SetForm = (typeof SET_FORMS)[number]

/** Pixels. */
export type PictureSize = { width: number; height: number }

/** Where a block is to stand in one window. */
export type SetPlace = {
  /** Width to height that the layout has room for. */
  ratio: number
  widthPx: number
  /** Taken where the pictures do not speak for another. */
  prefer: SetForm
  /** The first one stands in the middle of a row, and larger. */
  centred?: boolean
  /** It has to fill its place, so that each picture gives what a crop may take. */
  fills?: boolean
}

/** A block: its ratio and between which it may be bent, its columns and rows in hundredths, and the most pixels it is wide. */
export type SetPlan = {
  form: SetForm
  centred: boolean
  ratio: number
  least: number
  most: number
  columns: readonly number[]
  rows: readonly number[]
  mostPx: number
  /** Of the block's width, what each picture is shown at. */
  shares: readonly number[]
}

/**
 * By how much all ratios of a block are bent together: what a crop may take is 0.6 to 1.67, less what the gaps between pictures and
 * the mats of a template take from their places.
 */
const BENT = { easily: [0.78, 1.28], most: [0.68, 1.48] } as const
/** Between two pictures, as a share of the block's width; on a phone it is most. */
const GAP = 0.032
/** A middle one is so much larger than those at its sides. */
const [MIDDLE, SIDE] = [1.12, 0.94] as const
/** A place that is smaller than this share of the block is a sliver, and one of fewer pixels a side is lost in its mat. */
const SLIVER = 1 / 9
const SMALLEST_PX = 72
/** In the logarithm of a ratio, as what being the layout's own counts for. */
const SMALL_COSTS = 1.5
/** No screen is filled that is wider. */
const WIDEST_PX = 2560
const PREFERRED = 0.3
/** A block that could only be shown at less than this share of its place is none. */
const SMALL = 0.5

/** A picture's place, as shares of the block's width and height. */
type Part = { width: number; height: number }
type Shape = { ratio: number; columns: number[]; rows: number[]; parts: Part[] }

const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0)
const hundredths = (list: readonly number[]): number[] => {
  const total = sum(list)
  return list.map((one) => Math.round((1000 * one) / total))
}

const shapeOf = (form: SetForm, own: readonly number[]): Shape => {
  const [first = 1, ...rest] = own
  const flat = rest.map((one) => 1 / one)
  if (form === 'row') {
    const ratio = sum(own)
    return { ratio, columns: [...own], rows: [1], parts: own.map((one) => ({ width: one / ratio, height: 1 })) }
  }
  if (form === 'tall') {
    const column = 1 / sum(flat)
    const ratio = first + column
    const beside = flat.map((one) => ({ width: column / ratio, height: one * column }))
    return { ratio, columns: [first, column], rows: flat, parts: [{ width: first / ratio, height: 1 }, ...beside] }
  }
  const beneath = sum(rest)
  const ratio = 1 / (1 / first + 1 / beneath)
  const under = rest.map((one) => ({ width: one / beneath, height: ratio / beneath }))
  return {
    ratio,
    columns: rest,
    rows: [1 / first, 1 / beneath],
    parts: [{ width: 1, height: ratio / first }, ...under],
  }
}

/** The same with the first of a row in its middle. */
const centredIn = ({ columns: [first = 1, second = 1, third = 1], ...shape }: Shape): Shape => ({
  ...shape,
  columns: [second, first, third],
})

/** The block in one form. @param bends by which each picture's own ratio is bent already */
const planIn = (form: SetForm, pictures: readonly PictureSize[], place: SetPlace): SetPlan & { cost: number } => {
  const centred = place.centred === true && form === 'row' && pictures.length === 3
  const bends = pictures.map((_, at) => (centred ? (at === 0 ? MIDDLE : SIDE) : 1))
  const shape = shapeOf(
    form,
    pictures.map(({ width, height }, at) => (width / height) * (bends[at] ?? 1)),
  )
  const [from, to] = BENT.most
  const least = (shape.ratio * from) / Math.min(...bends)
  const bent = (shape.ratio * to) / Math.max(...bends)
  // a gap between two rows takes of their height what a flat block has least of
  const most = shape.rows.length === 1 ? bent : bent / (1 + bent * GAP)
  const [low, high] = place.fills === true ? [least, most] : BENT.easily.map((bend) => shape.ratio * bend)
  const ratio = Math.min(most, high ?? most, Math.max(low ?? least, place.ratio))
  // a picture that is cut is drawn larger than its place
  const drawn = shape.parts.map(({ width, height }, at) => {
    const { width: own = 1, height: tall = 1 } = pictures[at] ?? {}
    return Math.max(width, (height / ratio) * (own / tall))
  })
  const limits = drawn.map((share, at) => (LARGEST * (pictures[at]?.width ?? 0)) / share)
  const mostPx = Math.floor(Math.min(WIDEST_PX, ...limits))
  // bent to be taller than here, a block of that width would enlarge a picture by its height
  const tallest = shape.parts.map(({ height }, at) => (height * mostPx) / (LARGEST * (pictures[at]?.height ?? 1)))
  const heightPx = place.widthPx / ratio
  const small = [
    shape.parts.some(({ width, height }) => width * height < SLIVER),
    shape.parts.some(({ width, height }) => Math.min(width * place.widthPx, height * heightPx) < SMALLEST_PX),
  ].filter((one) => one)
  return {
    form,
    centred,
    ratio,
    least: Math.min(ratio, Math.max(least, ...tallest)),
    most,
    columns: hundredths((centred ? centredIn(shape) : shape).columns),
    rows: hundredths(shape.rows),
    mostPx,
    shares: drawn,
    cost:
      Math.abs(Math.log(place.ratio / shape.ratio)) +
      small.length * SMALL_COSTS -
      (form === place.prefer ? PREFERRED : 0),
  }
}

/** How two or three pictures stand in a place; null where they are too small for it. */
export const setOf = (pictures: readonly PictureSize[], place: SetPlace): SetPlan | null => {
  const forms = SET_FORMS.filter((form) => pictures.length > 2 || form !== 'tall')
  const plans = forms
    .map((form) => planIn(form, pictures, place))
    .filter(({ mostPx }) => mostPx >= place.widthPx * SMALL)
    .sort((a, b) => a.cost - b.cost)
  const [best] = plans
  if (best === undefined) return null
  const { cost: _, ...plan } = best
  return plan
}
