/** What content asks of a page: rows without a hole, pictures per collection, neighbours unlike each other, crops that keep a subject. */
import fc from 'fast-check'
import { LAYOUTS } from '../../../../crds/site/content/meta.ts'
import { besideOf } from '../../../../crds/site/render/choose/forms.ts'
import {
  CROP_MOST,
  cropOf,
  heroFormOf,
  heroRatiosOf,
  nearestRatio,
  picturedOf,
  positionOf,
  ratioOf,
} from '../../../../crds/site/render/choose/pictures.ts'
import { placedIn, rowsOf } from '../../../../crds/site/render/choose/rows.ts'
import { FORMS, OTHER } from '../../../../crds/site/render/choose/table.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0)
/** Width to height of pictures, from a column to a panorama; and of the places for them. */
const hundredths = (min: number, max: number) => fc.integer({ min, max }).map((value) => value / 100)
const ratio = hundredths(40, 300)
/** A hair, for figures that were divided. */
const HAIR = 1e-9

spec('rows of a grid', (t) => {
  const counts = fc.integer({ min: 0, max: 200 })
  const mosts = fc.integer({ min: 1, max: 6 })
  t(
    'hold every item once, none more than the most, the shorter first, and each as many as the next or one less',
    () => {
      fc.assert(
        fc.property(counts, mosts, (count, most) => {
          const rows = rowsOf(count, most)
          assert.is(sum(rows), count)
          assert.ok(rows.every((length) => length >= 1 && length <= most))
          assert.equal(
            rows,
            rows.toSorted((a, b) => a - b),
          )
          assert.ok(rows.length === 0 || Math.max(...rows) - Math.min(...rows) <= 1, `${count} by ${most}: ${rows}`)
        }),
      )
    },
  )
  t('are no more than the items need', () => {
    fc.assert(
      fc.property(counts, mosts, (count, most) => assert.is(rowsOf(count, most).length, Math.ceil(count / most))),
    )
  })
  const KNOWN: [count: number, most: number, rows: number[]][] = [
    [4, 3, [2, 2]],
    [5, 3, [2, 3]],
    [7, 3, [2, 2, 3]],
    [5, 4, [2, 3]],
    [6, 4, [3, 3]],
    [7, 4, [3, 4]],
  ]
  for (const [count, most, rows] of KNOWN)
    t(`are ${rows.join(' + ')} for ${count} by ${most}`, () => assert.equal(rowsOf(count, most), rows))
  t('place items in their order, the first of each row marked', () => {
    const places = placedIn(['a', 'b', 'c', 'd', 'e'], 3)
    assert.is(places.map(({ item }) => item).join(''), 'abcde')
    assert.equal(
      places.filter(({ first }) => first).map(({ item, length }) => `${item}${length}`),
      ['a2', 'c3'],
    )
  })
})

spec('pictures of a collection', (t) => {
  const CASES: [pictured: number, count: number, all: string][] = [
    [0, 5, 'none'],
    [5, 5, 'all'],
    [1, 1, 'all'],
    [4, 6, 'most'],
    [2, 3, 'most'],
    [3, 6, 'few'],
    [1, 2, 'few'],
    [1, 14, 'few'],
  ]
  for (const [pictured, count, expected] of CASES)
    t(`${pictured} of ${count} are ${expected}`, () => assert.is(picturedOf(pictured, count), expected))
})

spec('a neighbour', (t) => {
  const chosen = { form: 'cards', most: 3 } as const
  const CLASSIC = { section: 'products', layout: 'classic', ground: 'g-paper' } as const
  t('that is alike in form and ground makes the second take its other form, but where a layout repeats itself', () => {
    for (const layout of LAYOUTS) {
      const repeats = layout === 'monolith' || layout === 'sidenav'
      const { form } = besideOf(
        chosen,
        { section: 'products', layout, ground: 'g-paper' },
        { form: 'cards', ground: 'g-paper' },
      )
      assert.is(form, repeats ? 'cards' : 'rows', layout)
    }
  })
  t('that differs in form or in ground changes nothing, nor does none', () => {
    assert.equal(besideOf(chosen, CLASSIC, { form: 'cards', ground: 'g-tint' }), chosen)
    assert.equal(besideOf(chosen, CLASSIC, { form: 'rows', ground: 'g-paper' }), chosen)
    assert.equal(besideOf(chosen, CLASSIC, null), chosen)
  })
  t('has another form that is never its own', () => {
    for (const form of FORMS) assert.is.not(OTHER[form], form)
  })
})

spec('a crop', (t) => {
  t(
    'of a grid takes the wanted ratio when no picture loses more than two fifths by it, else one nearer to them',
    () => {
      fc.assert(
        fc.property(fc.array(ratio, { minLength: 1, maxLength: 8 }), ratio, (pictures, wanted) => {
          const place = ratioOf(pictures, wanted)
          if (pictures.every((one) => cropOf(one, wanted) <= CROP_MOST)) assert.is(place, wanted)
          else {
            const middle = pictures.toSorted((a, b) => a - b)[pictures.length >> 1] ?? 1
            assert.ok(
              [2 / 3, 0.8, 1, 1.25, 4 / 3, 1.5, 1.6].every((one) => cropOf(middle, place) <= cropOf(middle, one)),
            )
          }
        }),
      )
    },
  )
  t('of a hero never takes more than two fifths, on any window, and no more is moved than needed', () => {
    fc.assert(
      fc.property(ratio, ratio, (picture, wanted) => {
        for (const place of Object.values(heroRatiosOf(picture, wanted)))
          assert.ok(cropOf(picture, place) <= CROP_MOST + HAIR, `${picture} in ${place}`)
        if (cropOf(picture, wanted) <= CROP_MOST) assert.ok(Math.abs(nearestRatio(picture, wanted) - wanted) < HAIR)
        else assert.ok(Math.abs(cropOf(picture, nearestRatio(picture, wanted)) - CROP_MOST) < HAIR)
      }),
    )
  })
  t('makes a hero a split where it is upright in a wide place, sets in a small one, and leaves the others', () => {
    assert.is(heroFormOf({ width: 1600, height: 2400 }, 16 / 9), 'split')
    assert.is(heroFormOf({ width: 1600, height: 1067 }, 16 / 9), 'wide')
    assert.is(heroFormOf({ width: 1199, height: 800 }, 16 / 9), 'inset')
  })
  t('keeps its focal point in the middle three fifths of the frame, in any crop that is allowed', () => {
    const at = hundredths(0, 100)
    fc.assert(
      fc.property(at, at, hundredths(60, 100), (x, y, kept) => {
        const position = positionOf({ x, y })
        for (const [place, point] of [
          [position[0], x],
          [position[1], y],
        ] as const) {
          assert.ok(Number.isInteger(place) && place >= 0 && place <= 100)
          const seen = (point - (1 - kept) * (place / 100)) / kept
          const atEdge = place === 0 || place === 100
          assert.ok(atEdge || (seen >= 0.19 && seen <= 0.81), `${point} in ${kept} stands at ${seen}`)
          assert.ok(seen >= 0 - HAIR && seen <= 1 + HAIR, `${point} in ${kept} is cut off`)
        }
      }),
    )
  })
  t('of a picture without a given point stands as it stood', () =>
    assert.equal(positionOf({ x: 0.5, y: 0.4 }), [50, 34]),
  )
})
