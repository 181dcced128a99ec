/** Two and three pictures of a hero as one block: whatever they are, none is cut beyond the bound, and none is drawn too large. */
import fc from 'fast-check'
import { CROP_MOST, cropOf, LARGEST } from '../../../../crds/site/render/choose/pictures.ts'
import {
  type PictureSize,
  SET_FORMS,
  type SetPlace,
  type SetPlan,
  setOf,
} from '../../../../crds/site/render/choose/sets.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const pixels = fc.integer({ min: 500, max: 3000 })
/** From a column to a panorama. */
const picture: fc.Arbitrary<PictureSize> = fc
  .tuple(pixels, fc.integer({ min: 50, max: 220 }))
  .map(([width, hundredths]) => ({ width, height: Math.round((100 * width) / hundredths) }))
const several = fc.array(picture, { minLength: 2, maxLength: 3 })
const place: fc.Arbitrary<SetPlace> = fc.record({
  ratio: fc.integer({ min: 90, max: 420 }).map((hundredths) => hundredths / 100),
  widthPx: fc.integer({ min: 300, max: 1440 }),
  prefer: fc.constantFrom(...SET_FORMS),
  centred: fc.boolean(),
  fills: fc.boolean(),
})
/** Between the pictures, as a share of the block's width. */
const GAP = 0.032
const HAIR = 0.005

const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0)

/** Where a grid of these tracks has each picture, as a browser lays it out in a block of this width and ratio. */
const placesIn = (
  { form, columns, rows, centred }: SetPlan,
  count: number,
  width: number,
  ratio: number,
): PictureSize[] => {
  const gap = GAP * width
  const of = (tracks: readonly number[], whole: number) => {
    const left = whole - gap * (tracks.length - 1)
    return tracks.map((one) => (left * one) / sum(tracks))
  }
  const [across, down] = [of(columns, width), of(rows, width / ratio)]
  const whole = (list: number[]) => sum(list) + gap * (list.length - 1)
  const at = (column: number, row: number): PictureSize => ({ width: across[column] ?? 0, height: down[row] ?? 0 })
  if (form === 'row' && centred) return [at(1, 0), at(0, 0), at(2, 0)]
  if (form === 'row') return columns.map((_, column) => at(column, 0))
  if (form === 'tall') return [{ width: across[0] ?? 0, height: whole(down) }, at(1, 0), at(1, 1)]
  return [{ width: whole(across), height: down[0] ?? 0 }, at(0, 1), at(1, 1)].slice(0, count)
}

/** The share of each picture that is lost in its place, and how many times its own size it is drawn. */
const inPlaces =
  (measure: (own: PictureSize, shown: PictureSize) => number) =>
  (pictures: readonly PictureSize[], places: readonly PictureSize[]) =>
    pictures.flatMap((own, at) => {
      const shown = places[at]
      return shown === undefined ? [] : [measure(own, shown)]
    })
const lostIn = inPlaces((own, shown) => cropOf(own.width / own.height, shown.width / shown.height))
const drawnIn = inPlaces((own, shown) => Math.max(shown.width / own.width, shown.height / own.height))

spec('several pictures of a hero', (t) => {
  t(
    'lose at most two fifths each, wherever their block may be bent to, and none is drawn larger than 1.25 times',
    () => {
      fc.assert(
        fc.property(several, place, (pictures, where) => {
          const plan = setOf(pictures, where)
          if (plan === null) return
          const bends = where.fills ? [plan.least, plan.ratio, plan.most] : [plan.ratio]
          for (const ratio of bends) {
            const width = Math.min(where.widthPx, plan.mostPx)
            const places = placesIn(plan, pictures.length, width, ratio)
            assert.is(places.length, pictures.length)
            const named = `${plan.form} at ${ratio}: ${JSON.stringify(pictures)}`
            assert.ok(Math.max(...lostIn(pictures, places)) <= CROP_MOST + HAIR, named)
            assert.ok(Math.max(...drawnIn(pictures, places)) <= LARGEST + HAIR, named)
          }
        }),
        { numRuns: 2000 },
      )
    },
  )
  t('stand in no place that is a sliver where another form has none', () => {
    const three = [
      { width: 1300, height: 1300 },
      { width: 1600, height: 900 },
      { width: 900, height: 1350 },
    ]
    assert.is(setOf(three, { ratio: 1.25, widthPx: 568, prefer: 'tall' })?.form, 'row')
  })
  t('take the form that their shapes and the place ask for', () => {
    const [photo, tall] = [
      { width: 1500, height: 1000 },
      { width: 900, height: 1350 },
    ]
    const formIn = (pictures: PictureSize[], ratio: number, prefer: SetPlace['prefer']) =>
      setOf(pictures, { ratio, widthPx: 600, prefer })?.form
    assert.is(formIn([tall, photo, photo], 1.25, 'tall'), 'tall')
    assert.is(formIn([photo, photo, photo], 4, 'row'), 'row')
    assert.is(formIn([photo, photo, photo], 1.1, 'over'), 'over')
    assert.is(formIn([tall, tall], 1.25, 'tall'), 'row')
    assert.is(formIn([photo, photo], 0.9, 'row'), 'over')
  })
  t('are none where they would be smaller than half of their place', () => {
    const tiny = { width: 120, height: 90 }
    assert.is(setOf([tiny, tiny], { ratio: 2, widthPx: 1440, prefer: 'row' }), null)
  })
})
