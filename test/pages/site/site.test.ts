/** Websites in a real browser: nobody is kept out, nothing sticks out, no page is too heavy, no layout is mistaken for another. */
import type { Browser, Page } from 'playwright-core'
import type { Schema } from '../../../crds/kernel/schema.ts'
import { type Content, content, type Layout, type SiteLang, type Template } from '../../../crds/site/content/content.ts'
import { LANGS, LAYOUTS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import type { SiteFile, SiteInput } from '../../../crds/site/render/input.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput, withHan } from '../../support/builders/sites/content.ts'
import { sampleContent } from '../../support/builders/sites/sample.ts'
import { BUSINESSES, nameAlso } from '../../support/businesses/all.ts'
import { AUDIO, GRILL, JEWEL } from '../../support/businesses/goods.ts'
import { startBrowser, visit } from '../../support/judges/browser.ts'
import { filled, isAddress, isImage } from '../../support/judges/sites/fields.ts'
import {
  drawnBy,
  findings,
  kept,
  type Served,
  serveSite,
  silhouetteOf,
  sticksOut,
  unlikeness,
} from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 300_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const WIDTHS = [360, 768, 1440]
/** In a plain run a quarter of the combinations, each layout in each template once, in each language. */
const LANGS_A_PLAIN_RUN = 4

type Combination = { layout: Layout; template: Template; lang: SiteLang; business: Content; n: number }
const COMBINATIONS: Combination[] = LAYOUTS.flatMap((layout, row) =>
  TEMPLATES.flatMap((template, column) =>
    LANGS.flatMap((lang, third) => {
      const isSampled = (row + column + third) % LANGS_A_PLAIN_RUN === 0
      const all = BUSINESSES[lang]
      const business = all[(row + column) % all.length]
      return business && (isFull || isSampled) ? [{ layout, template, lang, business, n: row + column }] : []
    }),
  ),
)

const dressed = ({ business, layout, template }: Pick<Combination, 'business' | 'layout' | 'template'>): Content => ({
  ...business,
  meta: { ...business.meta, layout, template },
})

/** The pages of a site, its home first: files are listed by their path. */
const pathsOf = (files: readonly SiteFile[]): string[] => {
  const paths = files.filter(({ path }) => path.endsWith('index.html')).map(({ path }) => path.slice(0, -10))
  return ['', ...paths.filter((path) => path !== '')]
}

/** In a plain run the first page and the last. */
const judgedByAxe = (paths: string[]): string[] => (isFull ? paths : ['', ...paths.slice(-1)])

spec('websites in a browser', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  t.before(async () => {
    ;[browser, stuff] = await Promise.all([startBrowser(), materials()])
    nameAlso(stuff.images)
    served = await serveSite(stuff)
  })
  t.after(async () => {
    await browser?.close()
    await served?.end()
  })
  const inputOf = (value: Content): SiteInput => sampleInput(value, stuff)

  /** The pages at one width: each of them, with axe on some, where it is looked at closely, else the home page alone. */
  const judgedAt = async (page: Page, paths: string[], isClose: boolean, named: string): Promise<void> => {
    const byAxe = isClose ? judgedByAxe(paths) : []
    for (const path of isClose ? paths : ['']) {
      await page.goto(`/${path}`)
      await page.evaluate('document.fonts.ready')
      assert.equal(await sticksOut(page), [], `${named} /${path}`)
      if (byAxe.includes(path)) assert.equal(await findings(page), [], `${named} /${path}`)
    }
  }

  /** One combination at all widths; in a plain run the further pages at one of them, and axe there on the first and the last. */
  const judged = async (page: Page, one: Combination): Promise<void> => {
    const named = `${one.layout} ${one.template} ${one.lang}`
    const { files, warnings } = renderSite(await withHan(inputOf(dressed(one)), stuff))
    const heavy = warnings.filter(({ code }) => code === 'FAR_OVER_BUDGET' || code === 'OVER_BUDGET')
    assert.equal(heavy, [], named)
    served.show(files)
    const paths = pathsOf(files)
    const closely = isFull ? WIDTHS : [WIDTHS[one.n % WIDTHS.length] ?? 360]
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      const isClose = closely.includes(width)
      await judgedAt(page, paths, isClose, `${named} at ${width}`)
      if (isClose) await kept(page, `site-${one.layout}-${one.template}-${one.lang}-${width}`)
    }
  }

  /** Of each page; in a plain run at one width. */
  const staysWithin = async (page: Page, one: Combination): Promise<void> => {
    const { files } = renderSite(inputOf(dressed(one)))
    served.show(files)
    const paths = pathsOf(files)
    for (const width of isFull ? WIDTHS : [WIDTHS[(one.n + 1) % WIDTHS.length] ?? 360]) {
      await page.setViewportSize({ width, height: 900 })
      for (const path of paths) {
        await page.goto(`/${path}`)
        assert.equal(await sticksOut(page), [], `${one.layout} ${one.template} ${one.lang} /${path} at ${width}`)
      }
    }
  }

  for (const layout of LAYOUTS)
    t(
      `${layout} in its templates and languages: no barrier by axe, nothing asked of others, nothing that sticks out or is too heavy`,
      async () => {
        const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
        for (const one of COMBINATIONS.filter((each) => each.layout === layout)) await judged(visitor.page, one)
        assert.equal(visitor.outside, [])
        await visitor.end()
      },
      { timeoutMs: 4 * TIMEOUT_MS },
    )

  for (const layout of LAYOUTS)
    t(
      `${layout} stays within its page before its faces have come, too, on a slow line or where they are refused`,
      async () => {
        const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
        await page.route('**/*.woff2', (route) => route.abort())
        for (const one of COMBINATIONS.filter((each) => each.layout === layout)) await staysWithin(page, one)
        await end()
      },
      { timeoutMs: 4 * TIMEOUT_MS },
    )

  t(
    'a layout is told from the others by its silhouette, whatever the template',
    async () => {
      const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      await visitor.page.setViewportSize({ width: 1440, height: 900 })
      const seen: { layout: Layout; template: Template; business: Content; edges: Float64Array }[] = []
      for (const business of [GRILL, JEWEL, AUDIO]) {
        for (const layout of LAYOUTS) {
          for (const template of ['studio', 'craft', 'voltage'] as const) {
            served.show(renderSite(inputOf(dressed({ business, layout, template }))).files)
            await visitor.page.goto('/')
            seen.push({ layout, template, business, edges: await silhouetteOf(visitor.page) })
          }
        }
      }
      await visitor.end()
      const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length
      const between = (mine: Layout, theirs: Layout): number =>
        mean(
          seen.flatMap((one) =>
            one.layout !== mine
              ? []
              : seen
                  .filter((other) => other !== one && other.layout === theirs && other.business === one.business)
                  .map((other) => unlikeness(one.edges, other.edges)),
          ),
        )
      const table = LAYOUTS.map((mine) => LAYOUTS.map((theirs) => between(mine, theirs)))
      for (const [place, row] of table.entries()) {
        const own = row[place] ?? 1
        const others = row.filter((_, at) => at !== place)
        const words = row.map((value, at) => `${LAYOUTS[at]} ${value.toFixed(2)}`).join(', ')
        assert.ok(own < Math.min(...others), `${LAYOUTS[place]}: ${words}`)
      }
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t('Chinese is drawn by the faces that the site brings along, each language by its own', async () => {
    const value = sampleContent('zh-Hant', 'classic', 'lumen')
    const content = {
      ...value,
      translations: [{ lang: 'zh-Hans' as const, hero: { title: '每天都想拿起来用的器皿' } }],
    }
    served.show(renderSite(await withHan(inputOf(content), stuff)).files)
    const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
    for (const [path, forms] of [
      ['/', 'TC'],
      ['/zh-hans/', 'SC'],
    ] as const) {
      await visitor.page.goto(path)
      await visitor.page.evaluate('document.fonts.ready')
      const seen: string[] = []
      for (const place of ['h1', '.lede', '.by']) seen.push(...(await drawnBy(visitor.page, place)))
      assert.equal(seen, [`own NotoSerif${forms}-Light`, `own NotoSans${forms}-Regular`, `own NotoSans${forms}-Bold`])
    }
    assert.equal(visitor.outside, [])
    await visitor.end()
  })

  t(
    'colours that clash are clamped until axe has nothing to say, on dark and on grey paper',
    async () => {
      for (const brand of [
        { accent: '#ffe000', ink: '#777777', paper: '#101418' },
        { accent: '#ff00ff', ink: '#808080', paper: '#8a8a8a' },
      ]) {
        for (const layout of LAYOUTS) {
          served.show(renderSite({ ...inputOf(sampleContent('en', layout, 'lumen')), brand }).files)
          const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
          await visitor.page.goto('/')
          assert.equal(await findings(visitor.page), [], `${layout} ${brand.paper}`)
          await kept(visitor.page, `site-${layout}-${brand.paper.slice(1)}`)
          await visitor.end()
        }
      }
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t(
    'long words and long prices stay within the narrowest phone',
    async () => {
      const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
      const value = filled(content as Schema, (key) => {
        if (isImage(key)) return 'asset:p1'
        if (isAddress(key)) return `https://${long}.example/${long}`
        return key.endsWith('.price') ? `${long} 1,234,567,890.00` : `${long} ${long}`
      }) as Content
      const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      for (const [row, layout] of LAYOUTS.entries()) {
        for (const template of TEMPLATES.filter((_, column) => isFull || (row + column) % 3 === 0)) {
          const meta = { companyName: long, lang: 'en' as const, layout, template }
          served.show(renderSite(inputOf({ ...value, translations: [], meta })).files)
          await visitor.page.goto('/')
          for (const width of [320, 700, 1100]) {
            await visitor.page.setViewportSize({ width, height: 900 })
            assert.equal(await sticksOut(visitor.page), [], `${layout} ${template} ${width}`)
            await kept(visitor.page, `site-long-${layout}-${template}-${width}`)
          }
        }
      }
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )
})
