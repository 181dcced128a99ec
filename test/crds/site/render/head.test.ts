/** What search engines and networks read of a site: data that is valid, a description a page, and each language of it. */
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { content as contentSchema } from '../../../../crds/site/content/content.ts'
import { contentOf } from '../../../../crds/site/content/expand.ts'
import { priceAmount } from '../../../../crds/site/content/price.ts'
import { notFoundAt, siteManifest } from '../../../../crds/site/publishing/manifest.ts'
import { siteHandlers } from '../../../../crds/site/publishing/route.ts'
import { siteHeaders } from '../../../../crds/site/render/headers.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Node = Record<string, unknown>

const rendered = (value: object) => {
  const content = contentOf({ content: withDefaults(contentSchema, value) })
  const input = {
    content,
    images: {},
    logo: null,
    fonts: {},
    template: 'studio',
    brand: null,
    hostname: 'voss.example',
  } as const
  const { files } = renderSite(input)
  const textAt = (path: string): string => String(files.find((file) => file.path === path)?.content ?? '')
  const graphAt = (path: string): Node[] => {
    const [, json = '{"@graph":[]}'] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(textAt(path)) ?? []
    return JSON.parse(json)['@graph']
  }
  return { content, files, textAt, graphAt }
}
const typed = (graph: Node[], type: string): Node | undefined => graph.find((node) => node['@type'] === type)

const pages = [
  { slug: '', title: 'Home', sections: ['hero', 'contact'] },
  { slug: 'jugs', title: 'Jugs', sections: ['products', 'contact'] },
  { slug: 'about', title: 'About', sections: ['testimonials'], description: 'Who we are.' },
]
const value = {
  meta: { companyName: 'Voss', lang: 'en', pages },
  hero: { title: 'Stoneware', lede: 'Made to be used.' },
  products: [
    { name: 'Jug', price: '€1,068.50', text: 'Salt glazed.', link: 'https://shop.example/jug' },
    { name: 'Bowl', price: 'from €20' },
  ],
  testimonials: [{ quote: 'Good.' }],
  contact: {
    email: 'a@voss.example',
    phone: '+351 22 000 00 00',
    address: { street: 'Rua do Almada 1', postalCode: '4050', locality: 'Porto', country: 'PT' },
  },
  hours: {
    weekly: [{ days: ['mon', 'tue'], opens: '09:00', closes: '24:00' }, { days: ['sun'] }],
    exceptions: [{ from: '2026-12-24' }],
  },
  translations: [
    {
      lang: 'es',
      hero: { title: 'Gres', lede: 'Hecho para usarse.' },
      pages: [
        { title: 'Inicio' },
        { title: 'Jarras' },
        { title: 'Quiénes somos', description: 'Quiénes somos y desde cuándo.' },
      ],
      products: [{ name: 'Jarra' }, { name: 'Cuenco', price: 'desde 20 €' }],
    },
  ],
}

spec('data for search engines', (t) => {
  const { graphAt, textAt } = rendered(value)
  t('a company with an address is a place with its hours, and tells no mail address', () => {
    const place = typed(graphAt('index.html'), 'LocalBusiness') ?? {}
    assert.equal([place.telephone, (place.address as Node).addressLocality], ['+351 22 000 00 00', 'Porto'])
    assert.equal(place.openingHoursSpecification, [
      {
        '@type': 'OpeningHoursSpecification',
        dayOfWeek: ['https://schema.org/Monday', 'https://schema.org/Tuesday'],
        opens: '09:00',
        closes: '23:59',
      },
      {
        '@type': 'OpeningHoursSpecification',
        dayOfWeek: ['https://schema.org/Sunday'],
        opens: '00:00',
        closes: '00:00',
      },
    ])
    assert.not.match(JSON.stringify(graphAt('index.html')), 'a@voss')
  })
  t('a company without a place is an organisation', () => {
    const { graphAt: graph } = rendered({ meta: { companyName: 'Voss' }, hero: {} })
    assert.ok(typed(graph('index.html'), 'Organization'))
  })
  t('goods are offered at a price where it is one, on the page that shows them', () => {
    const list = typed(graphAt('jugs/index.html'), 'ItemList') ?? {}
    const items = (list.itemListElement as Node[]).map(({ item }) => item as Node)
    const offer = { '@type': 'Offer', price: '1068.50', priceCurrency: 'EUR' }
    assert.equal(items, [
      { '@type': 'Product', name: 'Jug', description: 'Salt glazed.', url: 'https://shop.example/jug', offers: offer },
      { '@type': 'Product', name: 'Bowl' },
    ])
    assert.is(typed(graphAt('index.html'), 'ItemList'), undefined)
  })
  t('a page behind the index says the way to it', () => {
    const crumbs = typed(graphAt('es/jugs/index.html'), 'BreadcrumbList') ?? {}
    assert.equal(
      (crumbs.itemListElement as Node[]).map(({ name, item }) => [name, item]),
      [
        ['Inicio', 'https://voss.example/es/'],
        ['Jarras', 'https://voss.example/es/jugs/'],
      ],
    )
  })
  t('each page has a title, a description and a shared card of its own', () => {
    const cases: [string, string, string][] = [
      ['index.html', 'Voss – Stoneware', 'Made to be used.'],
      ['jugs/index.html', 'Jugs – Voss', 'Jugs: Jug · Bowl'],
      ['about/index.html', 'About – Voss', 'Who we are.'],
      ['es/index.html', 'Voss – Gres', 'Hecho para usarse.'],
      ['es/jugs/index.html', 'Jarras – Voss', 'Jarras: Jarra · Cuenco'],
      ['es/about/index.html', 'Quiénes somos – Voss', 'Quiénes somos y desde cuándo.'],
    ]
    for (const [path, title, description] of cases) {
      const text = textAt(path)
      assert.match(text, `<title>${title}</title>`)
      assert.match(text, `<meta name="description" content="${description}">`)
      assert.match(text, `<meta property="og:description" content="${description}">`)
    }
  })
})

spec('two languages of one site', (t) => {
  const { content, files, textAt } = rendered(value)
  t('name each other on every page, and in the map', () => {
    for (const path of ['jugs/index.html', 'es/jugs/index.html']) {
      const links = [...textAt(path).matchAll(/<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">/g)]
      assert.equal(
        links.map(([, lang, href]) => [lang, href]),
        [
          ['en', 'https://voss.example/jugs/'],
          ['x-default', 'https://voss.example/jugs/'],
          ['es', 'https://voss.example/es/jugs/'],
        ],
      )
    }
    assert.match(textAt('sitemap.xml'), '<loc>https://voss.example/es/about/</loc>')
  })
  t('lead to the same page of each other, and stay in their own', () => {
    assert.match(textAt('jugs/index.html'), '<a href="../es/jugs/" lang="es" hreflang="es">Español</a>')
    assert.match(textAt('es/jugs/index.html'), '<a href="../../jugs/" lang="en" hreflang="en">English</a>')
    assert.match(textAt('es/jugs/index.html'), 'href="../../es/about/"')
    assert.match(textAt('es/jugs/index.html'), '<html lang="es">')
    assert.match(textAt('es/jugs/index.html'), /<link rel="stylesheet" href="\.\.\/\.\.\/assets\//)
  })
  t('have each their own page for what is not found, on the host and in the preview', () => {
    const manifest = siteManifest(content, files)
    assert.equal(
      ['es/gone', 'gone', 'fr/gone'].map((path) => notFoundAt(manifest, path)),
      ['es/404.html', '404.html', '404.html'],
    )
    assert.match(textAt('es/404.html'), '<a href="/es/">')
    const policies = siteHeaders(files)
    assert.is(policies['es/404.html']?.['content-security-policy'], policies['404.html']?.['content-security-policy'])
    const [own, rest] = [...JSON.stringify(siteHandlers('/srv/one', manifest)).matchAll(/"uri":"(\/[^"]*404.html)"/g)]
    assert.equal([own?.[1], rest?.[1]], ['/es/404.html', '/404.html'])
  })
  t('have their style sheet named before each page, to whoever speaks HTTP/2, and before nothing else', () => {
    const manifest = siteManifest(content, files)
    const text = JSON.stringify(siteHandlers('/srv/one', manifest))
    assert.match(text, '"path":["*/"],"protocol":"http/2+"')
    assert.match(text, '"status_code":"103","headers":{"Link":["{file./srv/one/current/early-hints.txt}"]}')
    const sheet = files.find(({ contentType }) => contentType.startsWith('text/css'))?.path
    assert.is(textAt('early-hints.txt'), `</${sheet}>; rel=preload; as=style\n`)
    // a release of before has no such file
    const bare = { ...manifest, files: manifest.files.filter(({ path }) => path !== 'early-hints.txt') }
    assert.not.match(JSON.stringify(siteHandlers('/srv/one', bare)), '"103"')
  })
  t(
    'are served by the same route whatever pages they have, so that the proxy is left alone when another edition is published',
    () => {
      const routeOf = (value: typeof content) => siteHandlers('/srv/one', siteManifest(value, rendered(value).files))
      const other = {
        ...content,
        hero: { ...content.hero, title: 'Another edition', lede: 'Of other words.' },
        meta: {
          ...content.meta,
          pages: [...(content.meta.pages ?? []), { slug: 'prices', title: 'Prices', sections: ['pricing' as const] }],
        },
        pricing: [{ name: 'One evening', price: '45 €', features: ['Clay'] }],
      }
      const sheetOf = (value: typeof content) =>
        rendered(value).files.find(({ contentType }) => contentType.startsWith('text/css'))?.path
      assert.is.not(sheetOf(other), sheetOf(content), 'their style sheets differ')
      assert.equal(routeOf(other), routeOf(content))
    },
  )
  t('a site of one language names none', () => {
    const { textAt: at } = rendered({ meta: { companyName: 'Voss' }, hero: {} })
    assert.not.match(at('index.html'), /hreflang/)
  })
})

spec('a price', (t) => {
  const cases: [string, string, string | undefined, string | null][] = [
    ['€68', 'en', undefined, '68 EUR'],
    ['68 €', 'es', undefined, '68 EUR'],
    ['1.280,50 €', 'es', undefined, '1280.50 EUR'],
    ['€1,280', 'en', undefined, '1280 EUR'],
    ['48 EUR', 'en', undefined, '48 EUR'],
    ['CHF 1’200', 'en', undefined, '1200 CHF'],
    ['NT$1,280', 'zh-Hant', undefined, '1280 TWD'],
    ['¥3,999', 'zh-Hans', undefined, '3999 CNY'],
    ['¥3,999', 'en', undefined, null],
    ['$40', 'en', undefined, null],
    ['$40', 'en', 'USD', '40 USD'],
    ['from €20', 'en', undefined, null],
    ['€20–30', 'en', undefined, null],
    ['€20 / h', 'en', undefined, null],
    ['on request', 'en', undefined, null],
    ['1.2.3 €', 'en', undefined, null],
  ]
  for (const [price, lang, given, expected] of cases) {
    t(`${price} in ${lang}${given ? ` with ${given}` : ''} is ${expected ?? 'no offer'}`, () => {
      const found = priceAmount(price, lang as 'en', given)
      assert.is(found && `${found.amount} ${found.currency}`, expected)
    })
  }
})
