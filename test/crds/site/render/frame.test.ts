/** What stands around the sections of a site, in every layout: header, menu and footer. */
import type { Content, Layout } from '../../../../crds/site/content/content.ts'
import { LAYOUTS } from '../../../../crds/site/content/meta.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { GRILL } from '../../../support/businesses/goods.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const pagesOf = (content: Content): Map<string, string> => {
  const { files } = renderSite({
    ...{ content, images: {}, logo: null, fonts: {}, template: content.meta.template },
    ...{ brand: null, hostname: 'grill.example' },
  })
  return new Map(
    files.flatMap(({ path, content: body }) =>
      path.endsWith('.html') && typeof body === 'string' ? [[path, body] as const] : [],
    ),
  )
}

const PAGES = [
  { slug: '', title: 'Casa', sections: ['hero' as const, 'products' as const, 'pricing' as const] },
  { slug: 'opiniones', title: 'Opiniones', sections: ['testimonials' as const] },
  { slug: 'nosotros', title: 'Nosotros', sections: ['badges' as const, 'hours' as const, 'contact' as const] },
  { slug: 'privacidad', title: 'Privacidad', sections: ['text' as const], foot: true },
]
const grill = (layout: Layout, more: Partial<Content> = {}): Content => ({
  ...GRILL,
  text: [{ text: 'No guardamos nada.', page: 'privacidad' }],
  ...more,
  meta: { ...GRILL.meta, layout, pages: PAGES },
})

/** The words of an element, as a visitor reads them. */
const wordsIn = (html: string, from: RegExp, to: string): string => {
  const start = html.search(from)
  const end = html.indexOf(to, start)
  return start < 0 || end < 0
    ? ''
    : html
        .slice(start, end)
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
}

spec('the footer of a site', (t) => {
  const WANTED: [what: string, words: string[]][] = [
    ['the address', ['Barrio Ergoien 12', '20180 Oiartzun']],
    ['the hours', ['jue–sáb 13:00–16:00', '20:30–23:00', 'dom 13:00–16:30', 'lun–mié Cerrado', 'Cerramos en agosto']],
    ['what the law asks for', ['Etxeberri Hostelería S.L.', 'NIF B-00000000', 'Aviso legal', 'Privacidad']],
    ['where else the company is', ['Instagram']],
    ['how it is reached', ['+34 943 000 000', 'WhatsApp']],
  ]
  for (const layout of LAYOUTS)
    t(`of ${layout} says where, when, who and how, on every page`, () => {
      for (const [path, html] of pagesOf(grill(layout))) {
        if (path === '404.html') continue
        const words = wordsIn(html, /<footer /, '</footer>')
        for (const [what, wanted] of WANTED)
          assert.equal(
            wanted.filter((one) => !words.includes(one)),
            [],
            `${what} at ${path}`,
          )
      }
    })
  t('has no line for hours where there are none', () => {
    for (const layout of LAYOUTS) {
      const { hours: _, ...rest } = grill(layout)
      for (const html of pagesOf(rest).values())
        assert.not.match(wordsIn(html, /<footer /, '</footer>'), /Horario|Cerrado/)
    }
  })
})
