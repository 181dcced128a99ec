/** Layouts in templates as drawings: told apart as the layouts are, safe to show anywhere, and the same each time. */
import sharp from 'sharp'
import type { Layout, Template } from '../../../../crds/site/content/content.ts'
import { LAYOUTS, TEMPLATES } from '../../../../crds/site/content/meta.ts'
import { presetChoices } from '../../../../crds/site/content/presets/choices.ts'
import { SCENES, SHEET } from '../../../../crds/site/render/templates/thumbnail/scenes.ts'
import { thumbnailOf } from '../../../../crds/site/render/templates/thumbnail/thumbnail.ts'
import { edgesOf, unlikeness } from '../../../support/judges/sites/page.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const all = LAYOUTS.flatMap((layout) => TEMPLATES.map((template) => ({ layout, template })))

spec('drawings of layouts in templates', (t) => {
  t('differ more between layouts than within one, whatever the template', async () => {
    const seen: { layout: Layout; template: Template; edges: Float64Array }[] = []
    for (const one of all) {
      const picture = await sharp(Buffer.from(thumbnailOf(one.layout, one.template)))
        .png()
        .toBuffer()
      seen.push({ ...one, edges: await edgesOf(picture) })
    }
    const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length
    const between = (mine: Layout, theirs: Layout) =>
      mean(
        seen.flatMap((one) =>
          one.layout !== mine
            ? []
            : seen
                .filter((other) => other !== one && other.layout === theirs)
                .map((other) => unlikeness(one.edges, other.edges)),
        ),
      )
    for (const mine of LAYOUTS) {
      const row = LAYOUTS.map((theirs) => ({ theirs, value: between(mine, theirs) }))
      const own = row.find(({ theirs }) => theirs === mine)?.value ?? 1
      const words = row.map(({ theirs, value }) => `${theirs} ${value.toFixed(2)}`).join(', ')
      assert.ok(
        row.every(({ theirs, value }) => theirs === mine || value > own),
        `${mine}: ${words}`,
      )
    }
  })

  t('are another drawing for each pair, and the same one each time', () => {
    assert.is(new Set(all.map(({ layout, template }) => thumbnailOf(layout, template))).size, all.length)
    assert.is(thumbnailOf('classic', 'craft'), thumbnailOf('classic', 'craft'))
    assert.is.not(thumbnailOf('classic', 'craft', { accent: '#0050ff' }), thumbnailOf('classic', 'craft'))
  })

  t('hold no script, no style, nothing from elsewhere, and say what they are', () => {
    for (const { layout, template } of all) {
      const drawing = thumbnailOf(layout, template)
      assert.match(drawing, new RegExp(`^<svg [^>]*><title>${layout}, ${template}</title>`))
      assert.not.match(
        drawing.replace('http://www.w3.org/2000/svg', ''),
        /script|style|href|url\(|https?:|\son\w+=|NaN|undefined/,
      )
      assert.ok(drawing.length < 12_000, `${layout} ${template}: ${drawing.length}`)
    }
  })

  t('keep within their sheet', () => {
    for (const layout of LAYOUTS) {
      for (const { x, y, w, h, is } of SCENES[layout]) {
        assert.ok(x >= 0 && y >= 0 && x + w <= SHEET.width && y + h <= SHEET.height + 20, `${layout} ${is} ${x} ${y}`)
      }
    }
  })

  t('are there for the pair of every preset', () => {
    const pairs = presetChoices().map(({ id, layout, template }) => `${id}: ${template} ${layout}`)
    assert.equal(pairs, [
      'agent: ledger classic',
      'electronics: voltage showcase',
      'jewelry: lumen atelier',
      'fashion: runway editorial',
      'restaurant: craft classic',
      'studio: studio monolith',
      'shop: market showcase',
      'practice: clinic sidenav',
    ])
  })
})
