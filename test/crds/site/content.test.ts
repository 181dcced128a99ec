/** The content model: what it takes, what it refuses, and with which code. */
import { restSchema } from '../../../crds/kernel/rest.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { type Content, content, SECTIONS } from '../../../crds/site/content/content.ts'
import { contentFaults } from '../../../crds/site/content/content-faults.ts'
import { testAjv } from '../../support/judges/schemafits.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const fits = testAjv().compile(restSchema(content))

const whole = {
  meta: { company_name: 'Voss', lang: 'es', layout: 'editorial', section_order: ['hero', 'gallery'] },
  hero: { lede: 'Stoneware.', chips: ['Since 1978'] },
  products: [
    {
      name: 'Jug',
      image: 'asset:jug',
      price: '€68',
      price_was: '€82',
      link: 'https://shop.example/jug',
      specs: ['Height: 24 cm'],
      options: [{ name: 'Glaze', values: ['Salt'] }],
      tag: 'New',
      collection: 'Table',
    },
  ],
  gallery: [{ image: 'https://cdn.example/a.jpg', link: 'https://voss.example/', caption: 'A', alt: 'B' }],
  testimonials: [{ quote: 'Good.', name: 'Inês', role: 'Porto' }],
  feature_rows: [{ title: 'Clay', text: 'Dug.\nRested.', image: 'data:image/png;base64,AAAA' }],
  pricing: [{ name: 'One', price: '€45', features: ['Tea'], cta: 'Reserve' }],
  contact: {
    email: 'a@voss.example',
    website_url: 'https://voss.example/',
    chat: 'tel:+351220000000',
    social: [{ platform: 'Instagram', url: 'https://instagram.example/voss' }],
  },
}

/** A place in the content, and what is put there. */
const at = (path: string, value: unknown): unknown => {
  const made = structuredClone(whole)
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let node: object = made
  for (const key of keys) node = Reflect.get(node, key)
  Reflect.set(node, last, value)
  return made
}

spec('the shape of the content', (t) => {
  t('takes every section with every field', () => assert.ok(fits(whole), JSON.stringify(fits.errors)))
  t('takes a name alone', () => assert.ok(fits({ meta: { company_name: '山' } })))
  t('takes sections that are empty', () => {
    assert.ok(fits({ meta: { company_name: 'A' }, hero: {}, products: [], gallery: [], contact: {} }))
  })
  const refused: [string, unknown, string][] = [
    ['video', { url: 'https://youtu.be/x' }, 'a section of a later version'],
    ['hero.headline', 'x', 'a field that is not known'],
    ['products.0.priceWas', '€1', 'a name that is not of REST'],
    ['meta.company_name', '', 'an empty name'],
    ['meta.lang', 'zh', 'a language that the site does not speak'],
    ['meta.layout', 'atelier', 'a layout of a later version'],
    ['meta.template', 'voltage', 'a template of a later version'],
    ['meta.section_order', ['team'], 'a section that is not known'],
    ['meta.pages', [], 'no pages'],
    ['meta.pages', [{ slug: '../x', title: 'A', sections: ['hero'] }], 'a slug that leaves its folder'],
    ['meta.pages', [{ slug: 'A', title: 'A', sections: ['hero'] }], 'a slug in capitals'],
    ['meta.pages', [{ slug: 'a-', title: 'A', sections: ['hero'] }], 'a slug that ends in a dash'],
    ['meta.pages', [{ slug: '', title: 'A', sections: [] }], 'a page with nothing on it'],
    ['meta.pages', Array.from({ length: 9 }, () => ({ slug: '', title: 'A', sections: ['hero'] })), 'nine pages'],
    ['products.0.link', 'javascript:alert(1)', 'a link that is a script'],
    ['products.0.link', ' https://x.example', 'a link that begins with a space'],
    ['products.0.link', '/about', 'a link without a scheme'],
    ['products.0.link', 'https://x.example/"onclick=', 'a link with a quote in it'],
    ['contact.chat', 'data:text/html,x', 'a chat that is data'],
    ['contact.email', 'a@b.example\nBcc: c@d.example', 'a mail address of two lines'],
    ['hero.image', 'data:image/svg+xml;base64,AAAA', 'a picture that may hold a script'],
    ['hero.image', 'http://x.example/a.jpg', 'a picture over a plain connection'],
    ['hero.image', 'asset:../a', 'an asset that is a path'],
    ['hero.title', 'two\nlines', 'a headline of two lines'],
    ['hero.lede', 'turned \u202e round', 'a mark that turns the direction of writing'],
    ['products', Array.from({ length: 201 }, () => ({ name: 'A' })), 'two hundred and one products'],
  ]
  for (const [path, value, what] of refused) t(`refuses ${what} at ${path}`, () => assert.not.ok(fits(at(path, value))))
})

const made = (meta: Partial<Content['meta']>): Content =>
  withDefaults(content, { meta: { companyName: 'Voss', ...meta }, hero: {}, products: [], contact: {} })
const page = (slug: string, ...sections: (typeof SECTIONS)[number][]) => ({ slug, title: 'A', sections })

spec('order and pages', (t) => {
  const cases: [string, Partial<Content['meta']>, string[]][] = [
    ['no order and no pages', {}, []],
    ['every section once, as it usually stands', { sectionOrder: [...SECTIONS] }, []],
    ['a few sections, the others follow', { sectionOrder: ['pricing', 'products'] }, []],
    ['contact alone', { sectionOrder: ['contact'] }, []],
    ['a section twice', { sectionOrder: ['gallery', 'gallery'] }, ['BAD_SECTION_ORDER /meta/sectionOrder/1']],
    ['hero in second place', { sectionOrder: ['gallery', 'hero'] }, ['BAD_SECTION_ORDER /meta/sectionOrder/1']],
    ['contact before another', { sectionOrder: ['contact', 'gallery'] }, ['BAD_SECTION_ORDER /meta/sectionOrder/0']],
    [
      'hero last and contact first',
      { sectionOrder: ['contact', 'hero'] },
      ['BAD_SECTION_ORDER /meta/sectionOrder/0', 'BAD_SECTION_ORDER /meta/sectionOrder/1'],
    ],
    ['an index and a shop', { pages: [page('', 'hero', 'contact'), page('shop', 'products', 'contact')] }, []],
    ['no index', { pages: [page('shop', 'products')] }, ['BAD_PAGES /meta/pages']],
    ['a slug twice', { pages: [page('', 'hero'), page('', 'products')] }, ['BAD_PAGES /meta/pages/1/slug']],
    [
      'a slug of the site itself',
      { pages: [page('', 'hero'), page('assets', 'products')] },
      ['BAD_PAGES /meta/pages/1/slug'],
    ],
    ['hero below on a page', { pages: [page('', 'products', 'hero')] }, ['BAD_PAGES /meta/pages/0/sections/1']],
    [
      'contact in the middle of a page',
      { pages: [page('', 'contact', 'products')] },
      ['BAD_PAGES /meta/pages/0/sections/0'],
    ],
    [
      'a section twice on a page',
      { pages: [page('', 'products', 'products')] },
      ['BAD_PAGES /meta/pages/0/sections/1'],
    ],
  ]
  for (const [what, meta, expected] of cases) {
    t(`${what}: ${expected.length === 0 ? 'taken' : expected.join(', ')}`, () => {
      assert.equal(
        contentFaults(made(meta)).map(({ code, pointer }) => `${code} ${pointer}`),
        expected,
      )
    })
  }
  t('points from where the content stands', () => {
    const [fault] = contentFaults(made({ sectionOrder: ['gallery', 'hero'] }), '/content')
    assert.is(fault?.pointer, '/content/meta/sectionOrder/1')
  })
})
