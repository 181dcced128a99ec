import { withDefaults } from '../../../crds/kernel/schema.ts'
import type { BrandTokens } from '../../../crds/site/content/brand/brand.ts'
import { content } from '../../../crds/site/content/content.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'
import { inRest } from '../../../crds/site/content/faults/gaps.ts'
import { type IconFile, type RenderedImage, WARNING_CODES, type WarningCode } from '../../../crds/site/render/input.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const sha = (letter: string): string => letter.repeat(64)
const image: RenderedImage = {
  width: 640,
  height: 480,
  dominant: '#888888',
  variants: [{ format: 'jpeg', width: 640, height: 480, sha256: sha('a'), bytes: 20_000 }],
}

type Made = { brand?: BrandTokens; icons?: IconFile[]; logo?: RenderedImage; images?: Record<string, RenderedImage> }

const rendered = (sections: object, { brand, icons, logo, images }: Made = {}) => {
  const value = contentOf({ content: withDefaults(content, { meta: { companyName: 'Voss Clay' }, ...sections }) })
  return renderSite({
    content: value,
    images: images ?? { p1: image },
    logo: logo ?? null,
    ...(icons && { icons }),
    fonts: {},
    template: value.meta.template,
    brand: brand ?? null,
    hostname: null,
  })
}

const specs = Array.from({ length: 24 }, (_, n) => `Fact ${n}: yes`)
const options = Array.from({ length: 8 }, (_, n) => ({ name: `Choice ${n}`, values: specs }))
const shelf = (item: object) => ({ products: Array.from({ length: 24 }, (_, n) => ({ name: `Thing ${n}`, ...item })) })
const elsewhere = { meta: { companyName: 'Voss', pages: [{ slug: '', title: 'Home', sections: ['hero'] }] } }

/** Where each is found, as REST tells it. */
const RAISED: Record<WarningCode, [sections: object, pointer: string, made?: Made]> = {
  MISSING_ALT: [{ hero: { image: 'asset:p1' } }, '/content/hero/alt'],
  MISSING_IMAGE: [
    { featureRows: [{ title: 'Kiln', text: 'Hot', image: 'asset:none' }] },
    '/content/feature_rows/0/image',
  ],
  EMPTY_SECTION: [{ featureRows: [] }, '/content/feature_rows'],
  SECTION_NOT_SHOWN: [
    { ...elsewhere, hero: { title: 'A' }, sizeGuide: { columns: ['a'], rows: [{ cells: ['b'] }] } },
    '/content/size_guide',
  ],
  CONTRAST_CLAMPED: [{}, '/brand_tokens/accent', { brand: { accent: '#ffff88' } as BrandTokens }],
  OVER_BUDGET: [shelf({ specs }), 'index.html'],
  FAR_OVER_BUDGET: [shelf({ specs, options }), 'index.html'],
}

spec('the warnings of a site', (t) => {
  for (const code of WARNING_CODES) {
    const [sections, pointer, made] = RAISED[code]
    t(`${code} is raised, at ${pointer} of a request`, () => {
      const found = rendered(sections, made).warnings.filter((one) => one.code === code)
      assert.ok(
        found.map(inRest).some((one) => one.pointer === pointer),
        JSON.stringify(found),
      )
    })
  }
  t('none is raised by a site that lacks nothing', () => {
    assert.equal(rendered({ hero: { title: 'Bowls', image: 'asset:p1', alt: 'A bowl' } }).warnings, [])
  })
})

spec('the icon of a site', (t) => {
  const icons = [32, 48, 180].map((size): IconFile => ({ size, sha256: sha(String(size)[0] ?? ''), bytes: 900 }))
  const linksIn = (made: Made): string[] => {
    const page = rendered({ hero: { title: 'Bowls' } }, made).files.find(({ path }) => path === 'index.html')?.content
    return [...String(page).matchAll(/<link rel="(?:icon|apple-touch-icon)"[^>]*>/g)].map(([link]) => link)
  }
  const [small, middle, touch] = icons.map(({ sha256 }) => `assets/${sha256.slice(0, 16)}.png`)
  const pngs = [
    `<link rel="icon" type="image/png" sizes="32x32" href="${small}">`,
    `<link rel="icon" type="image/png" sizes="48x48" href="${middle}">`,
    `<link rel="apple-touch-icon" href="${touch}">`,
  ]

  t('is there as PNGs named by their bytes, and as an SVG where it is made of initials', () => {
    assert.equal(linksIn({ icons }), [...pngs, '<link rel="icon" type="image/svg+xml" sizes="any" href="favicon.svg">'])
    const paths = rendered({}, { icons }).files.map(({ path }) => path)
    for (const path of [small, middle, touch, 'favicon.svg']) assert.ok(paths.includes(path ?? ''), path)
  })
  t('is the logo where there is one', () => {
    assert.equal(linksIn({ icons, logo: image }), pngs)
    assert.equal(linksIn({ logo: image }), [`<link rel="icon" type="image/jpeg" href="assets/${'a'.repeat(16)}.jpg">`])
  })
})
