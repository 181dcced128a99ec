/** "Resources and their fields": every field of the generate payload and of the content model, as a page shows it. */
import { TEMPLATES } from '../../../../crds/site/content/meta.ts'
import { paint } from '../../../support/builders/sites/content.ts'
import { assert } from '../../../support/runner/spec.ts'
import { eventually } from '../../../support/stage/invoicing.ts'
import { siteContent } from '../../../support/stage/publishing.ts'
import { SECTION_CLAUSES } from './sections.ts'
import { type Clause, specContent, type Walk } from './walk.ts'

const part = 'Resources and their fields'
/** As the document lists them. */
const LAYOUTS = ['classic', 'editorial', 'showcase', 'monolith', 'atelier', 'sidenav', 'narrative']
const CHROME = {
  'zh-Hant': '跳到主要內容',
  'zh-Hans': '跳到主要内容',
  en: 'Skip to the content',
  es: 'Ir al contenido',
}
const PRESETS = ['agent', 'electronics', 'jewelry', 'fashion']

/** As it is for good: with all widths of its pictures. */
const pageOf = async (
  w: Walk,
  content: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<string> => {
  const made = await w.make({ content: siteContent(content), ...more })
  await eventually('its pictures', async () => (await w.site(made.id)).digest !== null)
  return w.page(made)
}

export const PAYLOAD: Clause[] = [
  {
    part,
    says: 'external_ref is the partner key: a repeat returns the existing site with replayed true, and sites are mutable through update',
    rules: ['the-site'],
    over: 'both',
    async walk(w) {
      const body = { content: siteContent(), external_ref: 'doc-ref' }
      const first = await w.sure('POST', '/api/website/generate', body)
      const again = await w.sure('POST', '/api/website/generate', {
        ...body,
        content: siteContent({ hero: { title: 'Other' } }),
      })
      assert.equal([first.replayed, again.replayed, again.site.id], [false, true, first.site.id])
      assert.is(again.site.content.hero.title, 'Stoneware for every day')
      const { site } = await w.sure('POST', `/api/website/${first.site.id}/update`, {
        content: { hero: { title: 'Changed' } },
      })
      assert.match(await w.page(site), /Changed/)

      await w.apply('doc-ref-2', { account: w.account, externalRef: 'doc-ref-2', content: specContent() })
      await eventually('REST to know it', async () => (await w.ask('GET', '/api/website/doc-ref-2')).status === 200)
      const known = await w.sure('POST', '/api/website/generate', { ...body, external_ref: 'doc-ref-2' })
      assert.equal([known.replayed, known.site.id], [true, 'doc-ref-2'])
      await w.patch('wsite', 'doc-ref-2', { content: { hero: { title: 'Changed by kubectl' } } })
      await eventually('its page', async () => (await w.page(await w.site('doc-ref-2'))).includes('Changed by kubectl'))
    },
  },
  {
    part,
    says: 'The chrome of a site speaks zh-Hant, zh-Hans, en and es',
    rules: ['languages'],
    over: 'both',
    async walk(w) {
      for (const [lang, words] of Object.entries(CHROME)) {
        assert.ok((await pageOf(w, { meta: { company_name: 'V', lang } })).includes(words), lang)
      }
      const content = { meta: { companyName: 'V', lang: 'fr' } }
      assert.match(
        (await w.denial('doc-french', { account: w.account, content })) ?? 'it was taken',
        /content\.meta\.lang/,
      )
    },
  },
  {
    part,
    says: "A preset, one of agent, electronics, jewelry, fashion, is expanded under the caller's values",
    rules: ['presets'],
    over: 'both',
    async walk(w) {
      for (const preset of PRESETS) {
        const site = await w.make({
          content: { meta: { company_name: 'Own' }, hero: { title: 'My own title' } },
          preset,
        })
        const page = await w.page(site)
        assert.equal([site.preset, page.includes('My own title')], [preset, true])
        assert.match(page, /<section /)
      }
      await w.apply('doc-preset', {
        account: w.account,
        preset: 'jewelry',
        content: { meta: { companyName: 'Gold' }, hero: {} },
      })
      await eventually('the preset of kubectl', async () => {
        const reply = await w.ask('GET', '/api/website/doc-preset')
        return reply.status === 200 && reply.json.site.preset === 'jewelry' && reply.json.site.digest !== null
      })
    },
  },
  {
    part,
    says: 'assets holds a logo and other pictures as base64, which the content names',
    rules: ['pictures'],
    over: 'REST',
    async walk(w) {
      const [logo, p1] = await Promise.all([paint(1, 300, 120), paint(2, 1200, 800)])
      const assets = { logo: logo.toString('base64'), p1: p1.toString('base64') }
      const page = await pageOf(w, { products: [{ name: 'Jug', image: 'asset:p1' }] }, { assets })
      assert.match(page, /<img class="logo" src="assets\//)
      assert.match(page, /<source [^>]*srcset="assets\/[^"]+ \d+w/)
    },
  },
  ...SECTION_CLAUSES,
  {
    part,
    says: 'A video is of YouTube or Vimeo only, and a facade that is contacted by a click',
    rules: ['video'],
    over: 'both',
    async walk(w) {
      for (const url of ['https://www.youtube.com/watch?v=dQw4w9WgXcQ', 'https://vimeo.com/76979871']) {
        await w.eachWay({ content: siteContent({ video: { url } }) }, async (site, way) => {
          const page = await w.page(site)
          assert.match(page, /<section id="video"/, way)
          // the frame holds our own words until a visitor follows its link
          assert.match(page, /<iframe [^>]*srcdoc="/, way)
          assert.not.match(page, /<iframe [^>]*\ssrc=|<video/, way)
        })
      }
      const content = siteContent({ video: { url: 'https://videos.test/1' } })
      await w.refuses(400, 'BAD_VIDEO_URL', 'POST', '/api/website/generate', { content })
    },
  },
  {
    part,
    says: 'image_hover, services_layout, products_layout and team_layout are words beside their sections',
    rules: ['content'],
    over: 'both',
    async walk(w) {
      const words = { image_hover: 'zoom', services_layout: 'list', products_layout: 'carousel', team_layout: 'grid' }
      await w.eachWay({ content: siteContent(words) }, async ({ content }, way) => {
        for (const [word, value] of Object.entries(words)) assert.is(content[word], value, way)
      })
    },
  },
  {
    part,
    says: 'meta.layout is one of seven, composes with every template, and is never locked',
    rules: ['layouts', 'templates', 'type-scale', 'budgets'],
    over: 'both',
    async walk(w) {
      const { layouts, templates } = await w.sure('GET', '/templates')
      assert.equal(
        layouts.map(({ id }: { id: string }) => id),
        LAYOUTS,
      )
      assert.equal(
        templates.map(({ id }: { id: string }) => id),
        [...TEMPLATES],
      )
      for (const [at, layout] of LAYOUTS.entries()) {
        const template = TEMPLATES[(at * 3) % TEMPLATES.length]
        const content = siteContent({ meta: { company_name: 'V', layout, template } })
        await w.eachWay({ content }, async (site, way) => {
          assert.match(await w.page(site), new RegExp(`class="l-${layout} t-${template}`), way)
          assert.equal(
            site.warnings.filter(({ code }: { code: string }) => code.endsWith('_BUDGET')),
            [],
          )
        })
      }
    },
  },
  {
    part,
    says: 'meta.section_order reorders sections; hero and contact are pinned',
    rules: ['order-and-pages'],
    over: 'both',
    async walk(w) {
      const meta = { company_name: 'V', section_order: ['badges', 'products'] }
      const page = await pageOf(w, { meta, badges: [{ label: 'One' }] })
      const order = [...page.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id)
      assert.equal([order.indexOf('badges') < order.indexOf('products'), order.at(-1)], [true, 'contact'])
      for (const section_order of [
        ['products', 'hero'],
        ['contact', 'products'],
        ['products', 'products'],
        ['nothing'],
      ]) {
        const content = siteContent({ meta: { company_name: 'V', section_order } })
        await w.refuses(400, 'BAD_SECTION_ORDER', 'POST', '/api/website/generate', { content })
      }
      const content = specContent({ meta: { companyName: 'V', sectionOrder: ['contact', 'products'] } })
      await w.apply('doc-order', { account: w.account, content })
      await w.stalled('doc-order', 'BAD_SECTION_ORDER')
    },
  },
  {
    part,
    says: 'meta.pages is at most 8 pages with slug, title and sections, the empty slug the index: one static file each, with shared navigation',
    rules: ['order-and-pages', 'rendering'],
    over: 'both',
    async walk(w) {
      const pages = ['', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((slug) => ({
        slug,
        title: `Page ${slug}`,
        sections: ['products', 'contact'],
      }))
      await w.eachWay({ content: siteContent({ meta: { company_name: 'V', pages } }) }, async (site, way) => {
        for (const { slug } of pages) {
          const page = await w.page(site, slug === '' ? '' : `${slug}/`)
          for (const { title } of pages) assert.ok(page.includes(`${title}<`), `${way}: ${slug} leads to ${title}`)
        }
      })
      const wrong = [
        [...pages, { slug: 'i', title: 'I', sections: ['products'] }],
        pages.slice(1),
        [pages[0], pages[0]],
      ]
      for (const some of wrong) {
        const content = siteContent({ meta: { company_name: 'V', pages: some } })
        await w.refuses(400, 'BAD_PAGES', 'POST', '/api/website/generate', { content })
      }
    },
  },
  {
    part,
    says: "The agent preset is a referral card: each agent's link goes in cta_banner.link",
    rules: ['presets'],
    over: 'both',
    async walk(w) {
      const link = 'https://partner.test/?agent=42'
      const content = { meta: { company_name: 'Ana' }, hero: {}, cta_banner: { title: 'Start', link } }
      await w.eachWay({ content, preset: 'agent' }, async (site, way) =>
        assert.ok((await w.page(site)).includes(link), way),
      )
    },
  },
]
