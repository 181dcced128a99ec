/** The content model: what it takes, what it refuses, and with which code. */
import { restSchema } from '../../../../crds/kernel/rest.ts'
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { type Content, content } from '../../../../crds/site/content/content.ts'
import { contentFaults } from '../../../../crds/site/content/faults/content.ts'
import { SECTIONS } from '../../../../crds/site/content/meta.ts'
import { testAjv } from '../../../support/judges/schemafits.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

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
  pricing: [{ name: 'One', price: '€45', features: ['Tea'], cta: 'Reserve', tag: 'Loved', text: 'For two' }],
  services: [{ name: 'Firing', text: 'Yours.', price: '€5', image: 'asset:a', focus: { x: 0, y: 100 } }],
  team: [{ name: 'Inês', role: 'Thrower', text: 'Since 1978.', image: 'asset:a', alt: 'A', link: 'https://a.example' }],
  steps: [{ title: 'Dug', text: 'By hand.' }],
  video: { url: 'https://youtu.be/dQw4w9WgXcQ', title: 'A firing', image: 'asset:a', alt: 'A kiln' },
  clients: [{ name: 'MUDE', image: 'asset:a', link: 'https://mude.example' }],
  badges: [{ label: 'Guild of potters', link: 'https://guild.example' }],
  cta_banner: { title: 'Come', text: 'By boat.', label: 'Start', link: 'https://me.example/ref?a=1', image: 'asset:a' },
  announcement: { text: 'Sale', link: 'https://a.example', countdown: '2026-12-24T18:00:00+01:00' },
  marquee: { items: ['Clay', 'Fire'] },
  size_guide: { columns: ['Size', 'cm'], rows: [{ cells: ['S', '12'] }], note: 'Across.' },
  image_hover: 'swap',
  products_layout: 'carousel',
  services_layout: 'list',
  team_layout: 'grid',
  text: [{ title: 'Imprint', text: 'A.\n\nB.' }],
  faq: [{ question: 'Why?', answer: 'Because.' }],
  hours: {
    weekly: [{ days: ['mon', 'tue'], opens: '09:00', closes: '24:00', note: 'By the bell' }, { days: ['sun'] }],
    exceptions: [{ from: '2026-12-24', to: '2026-12-26', note: 'Christmas' }],
    note: 'And by appointment',
  },
  labels: { sections: { products: 'Pots', cta_banner: 'Go' }, actions: { hero: 'Come', send: 'Off' }, specs: 'Facts' },
  legal: { name: 'Voss Lda', lines: ['NIF 1'], links: [{ label: 'Privacy', url: 'https://voss.example/p' }] },
  translations: [{ lang: 'en', company_name: 'Voss', hero: { lede: 'Clay.' }, products: [{ name: 'Jug' }, {}] }],
  contact: {
    phone: '+351 22 000 00 00',
    address: { street: 'Rua do Almada 1', postal_code: '4050', locality: 'Porto', country: 'PT' },
    map_url: 'https://maps.example/voss',
    booking: 'https://book.example/voss',
    form: true,
    text: 'Write.',
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
    ['blog', [], 'a section that is not known'],
    ['translations.0.products.0.image', 'asset:a', 'another picture in another language'],
    ['translations.0.blog', [], 'a section that is not known in another language'],
    ['announcement.countdown', '2026-12-24', 'a day where an instant is meant'],
    ['hours.weekly.0.opens', '25:00', 'an hour that no day has'],
    ['hours.weekly.0.days', ['monday'], 'a day by another name'],
    ['cta_banner', { title: 'Come' }, 'a banner that leads nowhere'],
    ['video.url', 'javascript:alert(1)', 'a video that is a script'],
    ['services.0.focus', { x: 101, y: 0 }, 'a point beside the picture'],
    ['contact.phone', 'call me', 'a phone number in words'],
    ['contact.address.country', 'Portugal', 'a country by its name'],
    ['image_hover', 'spin', 'a hover that there is not'],
    ['team_layout', 'pile', 'a layout of people that there is not'],
    ['hero.headline', 'x', 'a field that is not known'],
    ['products.0.priceWas', '€1', 'a name that is not of REST'],
    ['meta.company_name', '', 'an empty name'],
    ['meta.lang', 'zh', 'a language that the site does not speak'],
    ['meta.layout', 'brochure', 'a layout that is not known'],
    ['meta.template', 'jungle', 'a template that is not known'],
    ['meta.section_order', ['blog'], 'a section that is not known'],
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

spec('what a section says of itself', (t) => {
  const cases: [string, object, string[]][] = [
    ['a video of YouTube', { video: { url: 'https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=1' } }, []],
    ['a video of Vimeo that is not listed', { video: { url: 'https://vimeo.com/123456789/abcdef0123' } }, []],
    ['a video of another house', { video: { url: 'https://videos.example/1' } }, ['BAD_VIDEO_URL /video/url']],
    [
      'a house that only looks like YouTube',
      { video: { url: 'https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ' } },
      ['BAD_VIDEO_URL /video/url'],
    ],
    ['a channel, which is no video', { video: { url: 'https://www.youtube.com/@voss' } }, ['BAD_VIDEO_URL /video/url']],
    [
      'a video over a plain connection',
      { video: { url: 'http://youtu.be/dQw4w9WgXcQ' } },
      ['BAD_VIDEO_URL /video/url'],
    ],
    [
      'a line of sizes with a cell too few',
      { sizeGuide: { columns: ['A', 'B'], rows: [{ cells: ['1', '2'] }, { cells: ['1'] }] } },
      ['INVALID_FIELD /sizeGuide/rows/1/cells'],
    ],
    [
      'a day that opens and never closes',
      { hours: { weekly: [{ days: ['mon'], opens: '09:00' }] } },
      ['INVALID_FIELD /hours/weekly/0/closes'],
    ],
    [
      'holidays that end before they begin',
      { hours: { exceptions: [{ from: '2026-12-24', to: '2026-12-01' }] } },
      ['INVALID_FIELD /hours/exceptions/0/to'],
    ],
    ['a passage on no page', { text: [{ text: 'A', page: 'imprint' }] }, ['BAD_PAGES /text/0/page']],
    ['the first language again', { translations: [{ lang: 'en' }] }, ['BAD_LANG /translations/0/lang']],
    ['a language twice', { translations: [{ lang: 'es' }, { lang: 'es' }] }, ['BAD_LANG /translations/1/lang']],
    [
      'a page in the folder of a language',
      { meta: { companyName: 'V', pages: [page('', 'hero'), page('es', 'hero')] }, translations: [{ lang: 'es' }] },
      ['BAD_PAGES /meta/pages/1/slug'],
    ],
  ]
  for (const [what, more, expected] of cases) {
    t(`takes or refuses ${what}`, () => {
      const faults = contentFaults(withDefaults<Content>(content, { meta: { companyName: 'V' }, ...more }))
      assert.equal(
        faults.map(({ code, pointer }) => `${code} ${pointer}`),
        expected,
      )
    })
  }
})
