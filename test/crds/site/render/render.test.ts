/** The renderer: what a content becomes, file by file. */
import fc from 'fast-check'
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { type Content, content, type Product } from '../../../../crds/site/content/content.ts'
import { contentOf } from '../../../../crds/site/content/expand.ts'
import { contentFaults } from '../../../../crds/site/content/faults/content.ts'
import { LANGS, LAYOUTS, TEMPLATES } from '../../../../crds/site/content/meta.ts'
import { digestOf, manifestOf } from '../../../../crds/site/render/digest.ts'
import { headersOf, siteHeaders } from '../../../../crds/site/render/headers.ts'
import type { ImageVariant, RenderedImage, SiteFile, SiteInput } from '../../../../crds/site/render/input.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { arbitraryOf } from '../../../support/builders/arbitrary.ts'
import { sampleContent } from '../../../support/builders/sites/sample.ts'
import { brokenLinks } from '../../../support/judges/sites/links.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const sha = (letter: string, index: number): string => `${letter}${index}`.padEnd(64, '0')

const imageOf = (index: number, bytes = 20_000): RenderedImage => ({
  width: 1440,
  height: 960,
  dominant: '#a0b0c0',
  variants: (['avif', 'webp', 'jpeg'] as const).flatMap((format, place) =>
    [320, 640, 960, 1440].map(
      (width): ImageVariant => ({
        format,
        width,
        height: (width * 2) / 3,
        sha256: sha('a', index * 100 + place * 10 + width / 160),
        bytes,
      }),
    ),
  ),
})

const inputOf = (value: Content, more: Partial<SiteInput> = {}): SiteInput => ({
  content: value,
  images: Object.fromEntries(
    ['hero', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'].map((key, index) => [key, imageOf(index)]),
  ),
  logo: null,
  fonts: { 'hanken-grotesk-latin-wght-normal.woff2': { sha256: sha('f', 1), bytes: 34_000 } },
  template: value.meta.template,
  brand: null,
  hostname: 'voss.example',
  ...more,
})

const filled = (value: unknown): Content => contentOf({ content: withDefaults(content, value) })
const made = (value: object): Content => filled({ meta: { companyName: 'Voss' }, ...value })
const textOf = (files: readonly SiteFile[], path: string): string => {
  const found = files.find((file) => file.path === path)?.content
  if (typeof found !== 'string') throw new Error(`there is no text at ${path}`)
  return found
}
const render = (value: object, more: Partial<SiteInput> = {}) => renderSite(inputOf(made(value), more))
const indexOf = (value: object, more: Partial<SiteInput> = {}) => textOf(render(value, more).files, 'index.html')
const codes = (warnings: readonly { code: string; pointer: string }[]) =>
  warnings.map(({ code, pointer }) => `${code} ${pointer}`)

/** Names of all attributes: the renderer quotes every value and leaves no `>` in one. */
const attributesOf = (markup: string): string[] =>
  (markup.match(/<[a-z][^>]*>/g) ?? []).flatMap((tag) =>
    [...tag.replace(/"[^"]*"/g, '').matchAll(/\s([a-z-]+)=?/g)].map(([, name = '']) => name),
  )

/** What no rule but the schema's would be chosen by chance so rarely that hardly a value were left. */
const sound = (value: Content): Content => {
  const { video, sizeGuide, hours, text, translations, ...rest } = value
  const columns = sizeGuide?.columns.length
  return {
    ...rest,
    ...(video && { video: { ...video, url: 'https://youtu.be/dQw4w9WgXcQ' } }),
    ...(sizeGuide && {
      sizeGuide: { ...sizeGuide, rows: sizeGuide.rows.filter(({ cells }) => cells.length === columns) },
    }),
    ...(hours?.note !== undefined && { hours: { note: hours.note } }),
    ...(text && { text: text.map(({ page: _page, ...passage }) => passage) }),
    ...(translations && {
      translations: translations.filter(
        ({ lang }, index) => lang !== rest.meta.lang && translations.findIndex((one) => one.lang === lang) === index,
      ),
    }),
  }
}

/** By chance a text begins with a slash: a path of the site, which the schema takes for no link. */
const address = fc.oneof(
  fc.webUrl(),
  fc.constantFrom('mailto:a@voss.example', 'tel:+4930', 'javascript:x', 'data:,x', ''),
)
const LINK_KEYS = ['link', 'url', 'mapUrl', 'booking', 'websiteUrl', 'chat']

const anyContent = arbitraryOf(content, {
  ...Object.fromEntries(LINK_KEYS.map((key) => [key, address])),
  slug: fc.constantFrom('', 'shop', 'a', 'b-2'),
  image: fc.constantFrom('asset:p1', 'asset:p2', 'asset:gone', 'javascript:x'),
}).map((value) => sound(filled(value)))

spec('any content', (t) => {
  t(
    'gives the same bytes for the same input, well-formed pages, and links that lead somewhere',
    () => {
      fc.assert(
        fc.property(anyContent, fc.constantFrom(null, 'voss.example'), (value, hostname) => {
          fc.pre(contentFaults(value).length === 0)
          const input = inputOf(value, { hostname })
          const { files } = renderSite(input)
          const again = renderSite(structuredClone(input))
          assert.equal(again.files, files)
          assert.is(digestOf(again.files), digestOf(files.toReversed()))
          assert.equal(brokenLinks(files), [])
          for (const { path, content: text } of files) {
            if (!path.endsWith('.html') || typeof text !== 'string') continue
            assert.is(text.match(/<h1[ >]/g)?.length, 1, path)
            assert.equal(text.match(/<script(?! type="application\/ld\+json">)/g), null)
            assert.equal(
              attributesOf(text).filter((name) => /^(on|style$)/.test(name)),
              [],
            )
          }
        }),
        { numRuns: 300 },
      )
    },
    { timeoutMs: 60_000 },
  )
  t('changes its digest with a byte, a path or a type, and with nothing else', () => {
    const file = { path: 'index.html', contentType: 'text/html', content: 'a' }
    const base = digestOf([file])
    assert.is(base.length, 64)
    assert.is(digestOf([{ ...file }]), base)
    for (const other of [{ content: 'b' }, { path: 'a.html' }, { contentType: 'text/plain' }]) {
      assert.is.not(digestOf([{ ...file, ...other }]), base)
    }
    assert.is.not(digestOf([file, { ...file, path: 'b' }]), base)
  })
  t('lists every file once, with its size, by path', () => {
    const { files } = render({ hero: { image: 'asset:p1' }, gallery: [{ image: 'asset:p1' }] })
    const manifest = manifestOf(files)
    const paths = manifest.map(({ path }) => path)
    assert.equal(paths, [...new Set(paths)].sort())
    for (const path of ['index.html', '404.html', 'robots.txt', 'sitemap.xml', 'favicon.svg'])
      assert.ok(paths.includes(path))
    assert.is(manifest.find(({ path }) => path === 'robots.txt')?.bytes, Buffer.byteLength(textOf(files, 'robots.txt')))
    assert.is(paths.filter((path) => path.endsWith('.avif')).length, 4)
  })
})

spec('every combination', (t) => {
  for (const layout of LAYOUTS) {
    for (const template of TEMPLATES) {
      t(`${layout} in ${template} speaks four languages without a warning or a broken link`, () => {
        const pages = LANGS.map((lang) => {
          const { files, warnings } = renderSite(inputOf(sampleContent(lang, layout, template)))
          assert.equal(warnings, [])
          assert.equal(brokenLinks(files), [])
          assert.match(textOf(files, 'index.html'), `<html lang="${lang}">`)
          return textOf(files, 'index.html')
        })
        assert.is(new Set(pages).size, LANGS.length)
      })
    }
  }
  t('differs in structure, not only in its style sheet', () => {
    const bones = LAYOUTS.map((layout) =>
      indexOf({ ...sampleContent('en', layout, 'studio') })
        .replace(/ class="[^"]*"/g, '')
        .replace(/>[^<]+</g, '><'),
    )
    assert.is(new Set(bones).size, LAYOUTS.length)
  })
})

spec('pages', (t) => {
  const hero = { title: 'Hello', lede: 'There' }
  t('stand in the order asked for, hero first and contact last', () => {
    const meta = { companyName: 'Voss', sectionOrder: ['pricing', 'products'] }
    const text = indexOf({
      meta,
      hero,
      products: [{ name: 'A' }],
      pricing: [{ name: 'B' }],
      gallery: [{ image: 'asset:p1' }],
      contact: {},
    })
    const ids = [...text.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id)
    assert.equal(ids, ['pricing', 'products', 'gallery', 'contact'])
    assert.ok(text.indexOf('<h1') < text.indexOf('id="pricing"'))
  })
  const pages = [
    { slug: '', title: 'Home', sections: ['hero', 'contact'] },
    { slug: 'shop', title: 'Shop', sections: ['products', 'contact'] },
  ]
  t('share one navigation, and mark where one is', () => {
    const { files } = render({
      meta: { companyName: 'Voss', pages },
      hero,
      products: [{ name: 'Jug' }],
      contact: { email: 'a@b.example' },
    })
    assert.match(textOf(files, 'index.html'), '<a href="./" aria-current="page">Home</a>')
    assert.match(textOf(files, 'index.html'), '<a href="shop/">Shop</a>')
    assert.match(textOf(files, 'shop/index.html'), '<a href="../shop/" aria-current="page">Shop</a>')
    assert.match(textOf(files, 'shop/index.html'), /<h1 class="st\d">Shop<\/h1>/)
  })
  t('name what the map forgets and what the content lacks', () => {
    const { warnings } = render({
      meta: { companyName: 'Voss', pages },
      hero,
      gallery: [{ image: 'asset:p1', alt: 'x' }],
      contact: {},
    })
    assert.equal(codes(warnings), ['SECTION_NOT_SHOWN /gallery', 'EMPTY_SECTION /meta/pages/1/sections/0'])
  })
  t('carry a hundred products in parts that plain links lead through', () => {
    const products: Product[] = Array.from({ length: 100 }, (_, index) => ({
      name: `Thing ${index}`,
      ...(index % 3 === 0 ? { collection: 'Third' } : {}),
    }))
    const { files } = render({ meta: { companyName: 'Voss', pages }, hero, products, contact: {} })
    const parts = files.map(({ path }) => path).filter((path) => path.startsWith('shop/'))
    assert.equal(parts, [
      'shop/index.html',
      'shop/2/index.html',
      'shop/3/index.html',
      'shop/4/index.html',
      'shop/5/index.html',
    ])
    const names = parts.flatMap((path) => [...textOf(files, path).matchAll(/>(Thing \d+)</g)].map(([, name]) => name))
    assert.is(names.length, 100)
    assert.is(new Set(names).size, 100)
    assert.equal(brokenLinks(files), [])
    assert.match(
      textOf(files, 'shop/2/index.html'),
      /rel="prev" href="..\/..\/shop\/#products".*Page 2 of 5.*rel="next" href="..\/..\/shop\/3\//,
    )
    const single = render({ products })
    assert.ok(single.files.some(({ path }) => path === 'p/5/index.html'))
    assert.equal(brokenLinks(single.files), [])
  })
})

spec('sections', (t) => {
  const empty = ['products', 'gallery', 'testimonials', 'featureRows', 'pricing']
  for (const layout of LAYOUTS) {
    for (const name of empty) {
      t(`${name} of ${layout} vanish when they are empty, and a warning says so`, () => {
        const meta = { companyName: 'Voss', layout }
        const { files, warnings } = render({ meta, [name]: [], contact: { email: 'a@b.example' } })
        const ids = [...textOf(files, 'index.html').matchAll(/<section id="(\w+)"/g)].map(([, id]) => id)
        assert.equal(ids, ['contact'])
        assert.equal(brokenLinks(files), [])
        assert.equal(codes(warnings), [`EMPTY_SECTION /${name}`])
      })
    }
    t(`a section of ${layout} that is left out is not shown`, () => {
      assert.not.match(indexOf({ meta: { companyName: 'Voss', layout }, hero: {} }), /<section id=/)
    })
    t(`one item of ${layout} has a form of its own`, () => {
      const meta = { companyName: 'Voss', layout }
      const classes = (count: number) => {
        const products = Array.from({ length: count }, (_, index) => ({ name: `Jug ${index}`, image: 'asset:p1' }))
        const [, matter = ''] = /<div class="mt">(.*)<\/section>/s.exec(indexOf({ meta, products })) ?? []
        return [...new Set([...matter.matchAll(/class="([^"]*)"/g)].map(([, found]) => found))].join('|')
      }
      assert.is.not(classes(1), classes(2))
      assert.is.not(classes(2), classes(3))
    })
  }
  t('show a price with the one before, and say so to those who only hear it', () => {
    assert.match(
      indexOf({ products: [{ name: 'Jug', price: '€68', priceWas: '€82' }] }),
      '<s><span class="vh">Before </span>€82</s> <strong><span class="vh">Price </span>€68</strong>',
    )
  })
  t('set specs with a colon as name and value, in Chinese too, and leave addresses whole', () => {
    const text = indexOf({
      products: [{ name: 'Jug', specs: ['Height: 24 cm', '容量：1.2 公升', 'Oven safe', 'https://x.example'] }],
    })
    assert.match(text, '<span class="k">Height</span> <span>24 cm</span>')
    assert.match(text, '<span class="k">容量</span> <span>1.2 公升</span>')
    assert.match(text, '<span>Oven safe</span>')
    assert.match(text, '<span>https://x.example</span>')
  })
  t('put products of a collection together under its name', () => {
    const text = indexOf({
      products: [
        { name: 'A', collection: 'X' },
        { name: 'B', collection: 'Y' },
        { name: 'C', collection: 'X' },
      ],
    })
    assert.ok(text.indexOf('>X<') < text.indexOf('>A<') && text.indexOf('>C<') < text.indexOf('>Y<'))
    assert.match(text, '<h4>A</h4>')
  })
  t('ask by chat where there is one, else by mail, else not at all', () => {
    const products = [{ name: 'Jug & Co' }]
    assert.match(
      indexOf({ products, contact: { chat: 'https://wa.me/351220' } }),
      'href="https://wa.me/351220?text=About%20Jug%20%26%20Co"',
    )
    assert.match(
      indexOf({ products, contact: { chat: 'https://line.me/ti/p/x' } }),
      /class="chat" href="https:\/\/line\.me\/ti\/p\/x" rel="noopener noreferrer">LINE</,
    )
    assert.match(indexOf({ products, contact: { email: 'a@b.example' } }), /class="ask" href="&#109;&#x61;/)
    assert.not.match(indexOf({ products }), /class="ask"/)
  })
  t('lead a tier to its address, or to the contact section under its own words', () => {
    const contact = { email: 'a@b.example' }
    assert.match(
      indexOf({ pricing: [{ name: 'One', cta: 'https://pay.example/1' }], contact }),
      'href="https://pay.example/1"',
    )
    assert.match(
      indexOf({ pricing: [{ name: 'One', cta: 'Reserve' }], contact }),
      /<a class="button" href="#contact">Reserve/,
    )
    assert.match(indexOf({ pricing: [{ name: 'One', cta: 'Reserve' }] }), '<p class="note">Reserve</p>')
  })
  t('write a mail address that harvesters of the bytes do not find', () => {
    const { files } = render({ contact: { email: 'atelier@voss.example' }, products: [{ name: 'Jug' }] })
    for (const { content: text } of files) if (typeof text === 'string') assert.not.match(text, /atelier|@voss|mailto/)
  })
})

spec('pictures', (t) => {
  t('come in every format and width, with their size, the first at once and the others when they are near', () => {
    const text = indexOf({ hero: { image: 'asset:p1', alt: 'A jug' }, gallery: [{ image: 'asset:p2', alt: 'B' }] })
    const pictures = text.match(/<picture>.*?<\/picture>/gs) ?? []
    assert.is(pictures.length, 2)
    for (const picture of pictures) {
      assert.equal(picture.match(/type="image\/\w+"/g), ['type="image/avif"', 'type="image/webp"'])
      assert.is(picture.match(/ 640w/g)?.length, 3)
      assert.match(picture, /width="1440" height="960"/)
      assert.match(picture, /sizes="[^"]+"/)
    }
    assert.match(pictures[0] ?? '', /fetchpriority="high"/)
    assert.not.match(pictures[0] ?? '', /lazy/)
    assert.match(pictures[1] ?? '', /loading="lazy"/)
  })
  t('have the line to themselves: only a page without any asks for its faces before the style sheet does', () => {
    const bare = indexOf({ hero: { headline: 'Jugs' } })
    assert.match(bare, /<link rel="preload" as="font" type="font\/woff2" href="assets\/f1/)
    const pictured = indexOf({ hero: { headline: 'Jugs', image: 'asset:p1', alt: 'A jug' } })
    assert.not.match(pictured, 'rel="preload"')
  })
  t('have their colour behind them, in the style sheet', () => {
    const { files } = render({ hero: { image: 'asset:p1', alt: 'x' } })
    assert.match(textOf(files, 'index.html'), /class="da0b0c0 o50-34"/)
    assert.match(
      textOf(files, files.find(({ path }) => path.endsWith('.css'))?.path ?? ''),
      '.da0b0c0{background-color:color-mix(in srgb,var(--paper) 70%,#a0b0c0)}',
    )
  })
  t('that nobody described, or whose bytes are not there, are named', () => {
    const { warnings } = render({
      hero: { image: 'asset:p1' },
      gallery: [{ image: 'asset:p2' }, { image: 'asset:gone' }],
      products: [{ name: 'A', image: 'asset:gone' }],
    })
    assert.equal(codes(warnings), [
      'MISSING_ALT /hero/alt',
      'MISSING_IMAGE /products/0/image',
      'MISSING_ALT /gallery/0/alt',
      'MISSING_IMAGE /gallery/1/image',
    ])
  })
})

spec('what crawlers read', (t) => {
  t('has whole addresses once the domain is known, and none before', () => {
    const value = { hero: { title: 'Hello', lede: 'A & B', image: 'asset:p1', alt: 'x' } }
    const { files } = render(value)
    assert.match(textOf(files, 'sitemap.xml'), '<loc>https://voss.example/</loc>')
    assert.match(textOf(files, 'robots.txt'), 'Sitemap: https://voss.example/sitemap.xml')
    const text = textOf(files, 'index.html')
    assert.match(text, '<link rel="canonical" href="https://voss.example/">')
    assert.match(text, /<meta property="og:image" content="https:\/\/voss\.example\/assets\/[0-9a-f]{16}\.jpg">/)
    assert.match(text, '<meta name="description" content="A &amp; B">')
    const without = render(value, { hostname: null }).files
    assert.not.ok(without.some(({ path }) => path === 'sitemap.xml'))
    assert.not.match(textOf(without, 'index.html'), /voss\.example|canonical|og:url|og:image/)
  })
  t('changes the digest with the domain, for those are live bytes', () => {
    const value = { hero: { title: 'Hello' } }
    assert.is.not(digestOf(render(value).files), digestOf(render(value, { hostname: 'other.example' }).files))
  })
  t('is valid JSON that cannot leave its script', () => {
    const text = indexOf({
      meta: { companyName: '</script><script>x()</script>\u2028<!--' },
      products: [{ name: ']]>' }],
    })
    const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text) ?? []
    assert.is(JSON.parse(json)['@graph'][0].name, '</script><script>x()</script>\u2028<!--')
    assert.not.match(json, /[<>\u2028]/)
  })
})

spec('headers', (t) => {
  const { files } = render({ hero: { title: 'Hello' } })
  t('let no script run, and nothing be fetched from elsewhere', () => {
    for (const headers of Object.values(siteHeaders(files))) {
      const policy = headers['content-security-policy'] ?? ''
      assert.match(policy, "default-src 'none'")
      assert.match(policy, "script-src 'none'")
      assert.not.match(policy, /unsafe|https?:|\*|data:/)
      assert.is(headers['x-content-type-options'], 'nosniff')
    }
  })
  t('keep assets for a year and pages for a minute', () => {
    const caches = Object.entries(siteHeaders(files)).map(([path, headers]) => [path, headers['cache-control']])
    for (const [path = '', cache] of caches) {
      assert.is(cache, path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=60', path)
    }
  })
  t('hide a preview from search engines and caches, with the very same bytes', () => {
    const [index] = files
    if (index === undefined) return assert.unreachable('a site has pages')
    const headers = headersOf(index, { noindex: true, frameAncestors: "'self'" })
    assert.match(headers['x-robots-tag'] ?? '', 'noindex')
    assert.is(headers['cache-control'], 'private, no-store')
    assert.match(headers['content-security-policy'] ?? '', "frame-ancestors 'self'")
  })
})

spec('budgets', (t) => {
  const heavy = (bytes: number) => ({ p1: imageOf(1, bytes) })
  const cases: [number, string[]][] = [
    [150_000, []],
    [150_001, ['OVER_BUDGET index.html']],
    [600_001, ['FAR_OVER_BUDGET index.html']],
  ]
  for (const [bytes, expected] of cases) {
    t(`a first picture of ${bytes} bytes: ${expected[0] ?? 'no warning'}`, () => {
      assert.equal(
        codes(render({ hero: { image: 'asset:p1', alt: 'x' } }, { images: heavy(bytes) }).warnings),
        expected,
      )
    })
  }
  t('count the elements of a page and name the culprit', () => {
    const products = Array.from({ length: 24 }, (_, index) => ({
      name: `Thing ${index}`,
      specs: Array.from({ length: 24 }, (_, line) => `Fact ${line}: yes`),
    }))
    const [warning, ...more] = render({ products }).warnings
    assert.equal(more, [])
    assert.match(warning?.detail ?? '', /the elements of the page: \d+ elements, the budget is 1500/)
  })
})
