/** Websites with hostile content in a real browser: nothing runs, nobody is asked, and all of it stands there as text. */
import type { Browser, Page } from 'playwright-core'
import type { Schema } from '../../../crds/kernel/schema.ts'
import {
  type Content,
  content,
  type Layout,
  type SectionId,
  type Template,
} from '../../../crds/site/content/content.ts'
import { LAYOUTS, SECTIONS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { HIT, HOSTILE } from '../../support/builders/hostile.ts'
import { type Materials, materials, sampleInput } from '../../support/builders/sites/content.ts'
import { startBrowser, visit } from '../../support/judges/browser.ts'
import { filled, isAddress, isImage } from '../../support/judges/sites/fields.ts'
import { type Served, serveSite } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/**
 * Words that stand in no text of a page: attributes, what names something else, what a word nearer by stands in for, and days
 * that are none.
 */
const UNSEEN = [
  /\.(alt|currency|countdown|slug|page|description)$/,
  /^\.meta\.redirects\b|^\.(meta\.)?pages\b|^\.meta\.companyName$/,
  /^\.labels\.(sections\.text|specs|actions\.(banner|choose))$/,
  /^\.(clients\.name|hours\.exceptions\.(from|to)|contact\.address\.country)$/,
]
/** Has one action, in the words of the first. */
const UNSEEN_IN: Partial<Record<Layout, RegExp>> = { monolith: /^\.labels\.actions\.more$/ }

const hostileContent = (
  payload: string,
  look: { layout: Layout; template: Template },
  onTwoPages: boolean,
): { value: Content; shown: string[]; further: string[] } => {
  const [shown, further]: [string[], string[]] = [[], []]
  const value = filled(content as Schema, (key) => {
    if (isImage(key)) return 'asset:p1'
    if (isAddress(key)) return payload
    const marked = `[${key}] ${payload}`
    const plain = key.replace(/^\.translations/, '')
    if (![...UNSEEN, UNSEEN_IN[look.layout]].some((one) => one?.test(plain)))
      (plain === key ? shown : further).push(marked)
    return marked
  }) as Content
  const half = (rest: number): SectionId[] => SECTIONS.filter((_, place) => place % 2 === rest)
  const pages = [
    { slug: '', title: `[index] ${payload}`, sections: half(0) },
    { slug: 'more', title: `[more] ${payload}`, sections: half(1) },
  ]
  const { companyName } = value.meta
  const meta = { companyName, lang: 'en' as const, ...look, ...(onTwoPages ? { pages } : {}) }
  const everywhere = (text: Content['text'] = []) => text.map(({ page: _, ...passage }) => passage)
  const translations = (value.translations ?? []).map((one) => {
    const { text } = one as { text?: Content['text'] }
    return { ...one, text: everywhere(text), lang: 'es' as const, pages: [] }
  })
  return { value: { ...value, meta, text: everywhere(value.text), translations }, shown, further }
}

/** One payload in three meets a map of pages; one in eight the further language, and the page for what is not found. */
const split = (index: number): boolean => index % 3 === 0
const isWide = (index: number): boolean => index % 8 === 0
const pathsOf = (index: number): string[] => {
  const own = ['/', ...(split(index) ? ['/more/'] : [])]
  return isWide(index) ? [...own, ...own.map((path) => `/es${path}`), '/is-not-there'] : own
}

/** As a browser shows it: what HTML cannot hold is the mark of a letter that is missing, a colon of a spec is set as space. */
const asShown = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what the renderer makes visible
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, '\ufffd')
    .replace(/[\s:：]/g, '')

const watchForScripts = async (page: Page): Promise<{ scripts: string[]; violations(): Promise<string[]> }> => {
  const scripts: string[] = []
  const session = await page.context().newCDPSession(page)
  session.on('Debugger.scriptParsed', ({ url, embedderName }) => {
    if (url !== '' || embedderName) scripts.push(url || embedderName || '')
  })
  await session.send('Debugger.enable')
  await page.addInitScript(WATCH)
  return { scripts, violations: () => page.evaluate<string[]>('window.bottegaSeen') }
}

/** These run in the page, which has a window; our own code has none and is checked without one. */
const WATCH = `
  const seen = []
  Object.assign(window, { ${HIT}: () => seen.push('ran'), alert: () => seen.push('alert'), bottegaSeen: seen })
  document.addEventListener('securitypolicyviolation', (event) => seen.push(event.violatedDirective + ' ' + event.blockedURI))
`
type Seen = { text: string; alts: string[]; schemes: string[]; handlers: string[]; strangers: number; json: string }
const SEEN = `({
  text: document.documentElement.textContent,
  alts: [...document.images].map(({ alt }) => alt),
  schemes: [...document.links].map(({ protocol }) => protocol),
  handlers: [...document.querySelectorAll('*')]
    .flatMap((node) => node.getAttributeNames())
    .filter((name) => /^(on|style$)/.test(name)),
  strangers: document.querySelectorAll(
    'script:not([type="application/ld+json"]),iframe,object,embed,base,form:not(.write[action=""]),input:not(.stop>input,.write[action=""] input),video,math').length,
  json: document.querySelector('script')?.textContent ?? '{}',
})`

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 600_000

spec('hostile websites in a browser', (t) => {
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

  t(
    `${HOSTILE.length} payloads in every text field run nothing, ask nobody, and stand there as text`,
    async () => {
      const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      const watch = await watchForScripts(visitor.page)
      /** @returns the text of all these pages, on which nothing ran */
      const readAll = async (paths: string[], what: string, payload: string): Promise<string> => {
        let text = ''
        for (const path of paths) {
          await visitor.page.goto(path)
          const seen = await visitor.page.evaluate<Seen>(SEEN)
          text += asShown(seen.text)
          const alt = asShown(`[.hero.alt] ${payload}`)
          if (path === '/')
            assert.ok(
              seen.alts.some((one) => asShown(one).includes(alt)),
              `${what} at ${path}`,
            )
          const schemes = seen.schemes.filter((one) => !['http:', 'https:', 'mailto:', 'tel:'].includes(one))
          const found = [schemes, seen.handlers, seen.strangers, await watch.violations()]
          assert.equal(found, [[], [], 0, []], `${what} at ${path}`)
          JSON.parse(seen.json)
        }
        return text
      }
      // A font of the page before may still be on its way.
      const known = new Set<string>()
      for (const [index, [what, payload]] of HOSTILE.entries()) {
        const layout = LAYOUTS[index % LAYOUTS.length] ?? 'classic'
        const template = TEMPLATES[index % TEMPLATES.length] ?? 'studio'
        const { value, shown, further } = hostileContent(payload, { layout, template }, split(index))
        const { files } = renderSite(sampleInput(value, stuff))
        served.show(files)
        for (const { path } of files) known.add(path)
        const text = await readAll(pathsOf(index), `${what} in ${layout} ${template}`, payload)
        assert.equal(
          [...shown, ...(isWide(index) ? further : [])].filter((one) => !text.includes(asShown(one))),
          [],
          `${what} in ${layout} ${template}`,
        )
        const strange = served.asked.filter(
          (path) => !known.has(path) && !/^(|(es\/)?(more\/)?|is-not-there|favicon\.ico)$/.test(path),
        )
        assert.equal(strange, [], what)
      }
      assert.equal(visitor.outside, [])
      assert.equal(
        watch.scripts.filter((url) => url.startsWith(served.baseURL)),
        [],
      )
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t('the watch would see a script that runs', async () => {
    const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
    const watch = await watchForScripts(visitor.page)
    served.show([
      {
        path: 'index.html',
        contentType: 'text/html',
        content: `<img src=x onerror=${HIT}()><script>${HIT}()</script>`,
      },
    ])
    await visitor.page.goto('/')
    const violations = await watch.violations()
    assert.ok(
      violations.some((one) => one.startsWith('script-src')),
      JSON.stringify(violations),
    )
    await visitor.page.route('**/bare', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<script>${HIT}()</script>` }),
    )
    await visitor.page.goto('/bare')
    assert.ok((await watch.violations()).includes('ran'))
    assert.ok(watch.scripts.some((url) => url.endsWith('/bare')))
    await visitor.end()
  })
})
