/** A site's own content in other layouts and templates. */
import type { Content } from '../../../../crds/site/content/content.ts'
import { LAYOUTS, TEMPLATES } from '../../../../crds/site/content/meta.ts'
import { choicesOf, chooses, type MadeOf, renderVariant } from '../../../../crds/site/publishing/variant.ts'
import type { SiteFile } from '../../../../crds/site/render/input.ts'
import { hanCutsOf } from '../../../../crds/site/render/site.ts'
import { sampleContent } from '../../../support/builders/sites/sample.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const plain: MadeOf = { images: {}, logo: null, fonts: {}, brand: null }
const textAt = (files: readonly SiteFile[], path: RegExp): string =>
  String(files.find((file) => path.test(file.path))?.content ?? '')
/** What its own rendering has cut, each with a sum of its own. */
const cutFor = (content: Content): MadeOf => {
  const cuts = hanCutsOf({ ...plain, content, template: content.meta.template, hostname: null })
  return {
    ...plain,
    han: Object.fromEntries(cuts.map(({ key }, at) => [key, { sha256: `${at + 1}`.padEnd(64, '0'), bytes: 9_000 }])),
  }
}

spec('variants of a site', (t) => {
  t('are every layout in every template, of a locked account in its own', () => {
    assert.is(choicesOf(null).length, LAYOUTS.length * TEMPLATES.length)
    assert.equal(
      choicesOf('harbor').map(({ layout, template }) => `${layout} ${template}`),
      LAYOUTS.map((layout) => `${layout} harbor`),
    )
    for (const template of TEMPLATES) {
      assert.ok(
        choicesOf(template).some(({ recommended }) => recommended),
        template,
      )
    }
    const choice = { layout: 'atelier', template: 'harbor' } as const
    assert.equal(chooses(choice, null), { content: { meta: { layout: 'atelier', template: 'harbor' } } })
    assert.equal(chooses(choice, 'harbor'), { content: { meta: { layout: 'atelier' } } })
  })

  t('say the same in another dress, and know no address', () => {
    const content = sampleContent('en', 'classic', 'studio')
    const files = renderVariant(content, plain, { layout: 'sidenav', template: 'clinic' })
    const page = textAt(files, /^index\.html$/)
    assert.match(page, /class="l-sidenav t-clinic/)
    assert.match(page, /Stoneware for every day, thrown by hand/)
    assert.not.match(page, /rel="canonical"/)
    assert.is(content.meta.layout, 'classic', 'what was handed in stays as it is')
  })

  t('in Chinese are set in the cuts that the site has, of the same face where the characters differ', () => {
    const content = sampleContent('zh-Hant', 'classic', 'lumen')
    const made = cutFor(content)
    const facesOf = (choice: Parameters<typeof renderVariant>[2]) =>
      [...textAt(renderVariant(content, made, choice), /\.css$/).matchAll(/font-family:"Han (\w+) TC"/g)].map(
        ([, name]) => name,
      )
    assert.equal(facesOf({ layout: 'monolith', template: 'lumen' }), ['Head', 'Text', 'Marks', 'Text', 'All'])
    // another weight of heading, and the same text
    assert.equal(facesOf({ layout: 'classic', template: 'harbor' }), ['Text', 'Marks', 'Text', 'All'])
    assert.equal(
      facesOf({ layout: 'classic', template: 'clinic' }),
      ['Text', 'Marks'],
      'labels are in the headings’ own 500',
    )
  })
})
