/** Forms of few words as a real browser has them: hours, badges, sizes and passages, in every layout, on three windows. */
import type { Browser, Page } from 'playwright-core'
import type { Content, Layout, Template } from '../../../crds/site/content/content.ts'
import { LAYOUTS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput, withHan } from '../../support/builders/sites/content.ts'
import { startBrowser, visit } from '../../support/judges/browser.ts'
import { findings, kept, type Served, serveSite, sticksOut } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 600_000
const WIDTHS = [360, 768, 1440] as const

type Sections = Partial<Omit<Content, 'meta'>>
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const
const labels = (...list: string[]) => list.map((label) => ({ label }))
const HEADS = ['Size', 'Chest cm', 'Waist cm', 'Hips cm', 'Inside leg', 'Sleeve', 'Neck', 'EU', 'UK']

/** Each with the forms that it asks for. */
const CONTENTS: readonly { forms: readonly string[]; sections: Sections }[] = [
  {
    forms: ['seals', 'spoken', 'measures', 'prose'],
    sections: {
      badges: labels('Guide 2026', 'Guild of Potters', 'Fair to its makers since 2014', 'Kilometre zero', 'B').map(
        (one, at) => ({ ...one, image: `asset:p${at + 1}` }),
      ),
      hours: {
        weekly: [{ days: [...WEEKDAYS], opens: '09:00', closes: '18:00' }, { days: ['sat', 'sun'] }],
        note: 'Also by appointment',
      },
      sizeGuide: {
        columns: HEADS.slice(0, 5),
        rows: [{ cells: ['One', '112', '71', '62', '48'] }, { cells: ['Two', '120', '74', '64', '51'] }],
        note: 'Laid flat.',
      },
      text: [{ text: 'We make a thing once, and mend it as often as it breaks.' }],
      ctaBanner: { title: 'See the kiln', text: 'Saturdays.', link: 'https://x.example/', image: 'asset:p3' },
    },
  },
  {
    forms: ['proofs', 'week', 'stacked', 'prose'],
    sections: {
      badges: labels(
        'Registered with the Chamber of Commerce of Porto since 1978',
        'Liability insured up to two million euros',
        'No commission from any insurer',
        'Answers within a day',
      ),
      hours: {
        weekly: [
          { days: ['thu', 'fri', 'sat'], opens: '13:00', closes: '16:00' },
          { days: ['thu', 'fri', 'sat'], opens: '20:30', closes: '23:00', note: 'Kitchen until 22:30' },
          { days: ['wed'], opens: '19:30', closes: '23:00' },
          { days: ['mon', 'tue'] },
        ],
        exceptions: [{ from: '2026-12-24', to: '2026-12-26', note: 'Christmas' }],
      },
      sizeGuide: {
        columns: HEADS,
        rows: ['XS', 'S', 'M', 'L'].map((size, at) => ({
          cells: [size, ...HEADS.slice(1).map((_, column) => `${60 + 4 * at + column}`)],
        })),
      },
      text: [
        { title: 'Clay', text: 'It rests for a winter before it is thrown.' },
        { title: 'Fire', text: 'Twice, and nobody opens the kiln before it is cold.' },
      ],
    },
  },
]

const siteOf = (layout: Layout, template: Template, sections: Sections, lang: Content['meta']['lang']): Content => ({
  meta: {
    companyName: 'Voss',
    lang,
    layout,
    template,
    sectionOrder: ['badges', 'hours', 'size_guide', 'text', 'cta_banner'],
  },
  hero: { title: 'Stoneware for every day', lede: 'Thrown by hand.' },
  ...sections,
  contact: { email: 'atelier@voss.example' },
})

/** Of each day, where its hours begin, in pixels from the edge of the table; one for each cell that holds some. */
const STARTS = `[...document.querySelectorAll('.week tr')].map((row) => [
  row.querySelector('th').textContent,
  ...[...row.querySelectorAll('td span')].map((one) => Math.round(one.getBoundingClientRect().left - row.getBoundingClientRect().left)),
])`
/** What a letter box is: a picture's element that is larger than the picture is drawn in it. */
const BOXED = `[...document.querySelectorAll('.seals img')].filter((one) => {
  const { width, height } = one.getBoundingClientRect()
  return Math.abs(width / height - one.getAttribute('width') / one.getAttribute('height')) > 0.05
}).length`
/** How a table of sizes stands, what the first figure is called where it is a block, and whether it is moved sideways. */
const DISPLAY = `getComputedStyle(document.querySelector('.stack')).display`
const HEAD = `getComputedStyle(document.querySelector('.stack td'), '::before').content`
const SCROLLS = `document.querySelector('.scroll').scrollWidth > document.querySelector('.scroll').clientWidth`
/** Lines of seals, by where they begin; a lone one among several is an orphan. */
const SEALS = `Object.values(Object.groupBy([...document.querySelectorAll('.seals li')], (one) => Math.round(one.getBoundingClientRect().top))).map((row) => row.length)`

const ROWS: [count: number, width: number, rows: number[]][] = [
  [4, 768, [2, 2]],
  [7, 768, [2, 2, 2, 1]],
  [5, 768, [3, 2]],
  [4, 1440, [4]],
  [7, 1440, [3, 4]],
]

const PAIRS = LAYOUTS.flatMap((layout, row) =>
  CONTENTS.map((one, at) => ({
    ...one,
    layout,
    template: TEMPLATES[(3 * row + at * 7) % TEMPLATES.length] ?? 'studio',
    lang: (['en', 'zh-Hant', 'es', 'zh-Hans'] as const)[(row + at) % 4] ?? 'en',
  })),
)

spec('forms that content decides', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  t.before(async () => {
    ;[browser, stuff] = await Promise.all([startBrowser(), materials()])
    served = await serveSite(stuff)
  })
  t.after(async () => {
    await browser?.close()
    await served?.end()
  })

  const lookAt = async (page: Page, width: number, named: string): Promise<void> => {
    await page.setViewportSize({ width, height: 900 })
    await page.goto('/')
    await page.evaluate('document.fonts.ready')
    assert.equal(await sticksOut(page), [], named)
    assert.equal(await findings(page), [], named)
    assert.is(await page.evaluate(BOXED), 0, `${named}: letter boxes`)
    await kept(page, `forms-${named.replace(/\W+/g, '-')}`)
  }

  for (const { layout, template, lang, forms, sections } of PAIRS)
    t(
      `${forms.join(', ')} of ${layout} in ${template}, ${lang}: no barrier by axe, nothing sticks out, no letter box`,
      async () => {
        const { files, warnings } = renderSite(
          await withHan(sampleInput(siteOf(layout, template, sections, lang), stuff), stuff),
        )
        assert.equal(
          warnings.filter(({ code }) => code.endsWith('OVER_BUDGET')),
          [],
        )
        served.show(files)
        const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
        for (const width of WIDTHS) await lookAt(page, width, `${layout} ${template} ${lang} ${forms[0]} at ${width}`)
        for (const form of forms) assert.ok((await page.locator(`.f-${form}`).count()) > 0, form)
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )

  t(
    'hours before a pause begin under each other, those after it too, and a day that opens late stands under the later ones',
    async () => {
      const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      for (const layout of LAYOUTS) {
        served.show(renderSite(sampleInput(siteOf(layout, 'studio', CONTENTS[1]?.sections ?? {}, 'en'), stuff)).files)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          await page.goto('/')
          const rows = await page.evaluate<[string, ...number[]][]>(STARTS)
          const thursday = rows.find(([day]) => day === 'Thu')?.slice(1) ?? []
          assert.is(thursday.length, 2)
          const lines = ['Fri', 'Sat', 'Wed'].map((name) => rows.find(([day]) => day === name)?.slice(1))
          assert.equal(lines, [thursday, thursday, thursday.slice(1)], `${layout} at ${width}`)
        }
      }
      await end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t(
    'a wide table is blocks on a phone, each figure under its head, and a table again on paper and on a desk',
    async () => {
      const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true, width: 360 })
      for (const layout of LAYOUTS) {
        served.show(renderSite(sampleInput(siteOf(layout, 'studio', CONTENTS[1]?.sections ?? {}, 'en'), stuff)).files)
        await page.goto('/')
        await page.emulateMedia({ media: 'screen' })
        const display = () => page.evaluate<string>(DISPLAY)
        await page.setViewportSize({ width: 360, height: 800 })
        assert.equal([await display(), await page.evaluate(SCROLLS)], ['block', false], layout)
        assert.is(await page.evaluate(HEAD), '"Chest cm"')
        await page.emulateMedia({ media: 'print' })
        assert.is(await display(), 'table', `${layout} on paper`)
        await page.emulateMedia({ media: 'screen' })
        await page.setViewportSize({ width: 1440, height: 900 })
        assert.is(await display(), 'table', `${layout} on a desk`)
      }
      await end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t(
    'seals stand in rows of which the shorter is the first, and none hangs alone under three',
    async () => {
      const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      for (const layout of LAYOUTS.filter((one) => one !== 'monolith')) {
        for (const [count, width, rows] of ROWS) {
          const badges = Array.from({ length: count }, (_, at) => ({ label: `Prize ${at}`, image: 'asset:p1' }))
          served.show(renderSite(sampleInput(siteOf(layout, 'studio', { badges }, 'en'), stuff)).files)
          await page.setViewportSize({ width, height: 900 })
          await page.goto('/')
          assert.equal(await page.evaluate<number[]>(SEALS), rows, `${count} in ${layout} at ${width}`)
        }
      }
      await end()
    },
    { timeoutMs: TIMEOUT_MS },
  )
})
