/** Websites in a real browser: hostile content runs nothing, nobody is kept out, nothing sticks out. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { isObject, type Schema } from '../../crds/kernel/schema.ts'
import {
  type Content,
  content,
  LAYOUTS,
  type Layout,
  TEMPLATES,
  type Template,
} from '../../crds/site/content/content.ts'
import { headersOf } from '../../crds/site/render/headers.ts'
import type { SiteFile, SiteInput } from '../../crds/site/render/input.ts'
import { renderSite } from '../../crds/site/render/site.ts'
import { HIT, HOSTILE } from '../support/builders/hostile.ts'
import { sampleContent } from '../support/builders/samplesite.ts'
import { type Blobs, type Materials, materials, sampleInput } from '../support/builders/sitecontent.ts'
import { picture, startBrowser, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'

type Served = { baseURL: string; show(files: readonly SiteFile[]): void; asked: string[]; end(): Promise<void> }

const bodyOf = ({ content: body }: SiteFile, blobs: Blobs): string | Uint8Array => {
  if (typeof body === 'string') return body
  const bytes = blobs.get(body.sha256)
  if (bytes === undefined) throw new Error(`there is no blob ${body.sha256}`)
  return bytes
}

/** A host as ours: the files with their headers, folders by their index, and the site's own page for what is not there. */
const serve = async ({ blobs }: Materials): Promise<Served> => {
  let byPath = new Map<string, SiteFile>()
  const asked: string[] = []
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').replace(/[?#].*$/, '')).slice(1)
    asked.push(path)
    const found = byPath.get(path === '' || path.endsWith('/') ? `${path}index.html` : path)
    const file = found ?? byPath.get('404.html')
    response.writeHead(found === undefined ? 404 : 200, file === undefined ? {} : headersOf(file))
    response.end(file === undefined ? '' : bodyOf(file, blobs))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    show(files) {
      byPath = new Map(files.map((file) => [file.path, file]))
      asked.length = 0
    },
    end: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** A value that fills every field of a schema; texts are told their own name, so that each can be found again. */
const filled = (schema: Schema, text: (key: string) => string, key = ''): unknown => {
  switch (schema.type) {
    case 'string':
      return schema.enum?.[0] ?? text(key)
    case 'array':
      return [filled(schema.items, text, key)]
    case 'object':
      if (!isObject(schema)) return {}
      return Object.fromEntries(
        Object.entries(schema.properties).map(([name, child]) => [name, filled(child, text, `${key}.${name}`)]),
      )
    case 'integer':
    case 'boolean':
    case 'map':
      throw new Error(`the content has a ${schema.type} at ${key}: say what stands there`)
    default: {
      const never: never = schema
      throw new Error(String(never))
    }
  }
}

/** Fields that are no words: addresses and pictures take the payload bare, for a mark in front would make it harmless. */
const ADDRESSES = /\.(link|websiteUrl|chat|url|image)$/

const hostileContent = (
  payload: string,
  layout: Layout,
  template: Template,
  onTwoPages: boolean,
): { value: Content; shown: string[] } => {
  const shown: string[] = []
  const value = filled(content, (key) => {
    if (ADDRESSES.test(key)) return key.endsWith('.image') ? 'asset:p1' : payload
    const marked = `[${key}] ${payload}`
    // an alternative text stands in an attribute, which is looked at apart
    if (!key.endsWith('.alt')) shown.push(marked)
    return marked
  }) as Content
  const { companyName } = value.meta
  const pages = [
    { slug: '', title: `[index] ${payload}`, sections: ['hero' as const, 'gallery' as const, 'contact' as const] },
    {
      slug: 'more',
      title: `[more] ${payload}`,
      sections: ['products', 'feature_rows', 'pricing', 'testimonials'] as ('products' | 'feature_rows')[],
    },
  ]
  const meta = { companyName, lang: 'en' as const, layout, template, ...(onTwoPages ? { pages } : {}) }
  return { value: { ...value, meta }, shown: shown.filter((one) => !one.startsWith('[.meta.pages')) }
}

/** One payload in three meets a map of pages, whose titles hold it too; one in eight the page for what is not found. */
const split = (index: number): boolean => index % 3 === 0
const pathsOf = (index: number): string[] => [
  '/',
  ...(split(index) ? ['/more/'] : []),
  ...(index % 8 === 0 ? ['/is-not-there'] : []),
]

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
    'script:not([type="application/ld+json"]),iframe,object,embed,base,form,input,video,math').length,
  json: document.querySelector('script')?.textContent ?? '{}',
})`

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 300_000

spec('websites in a browser', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  t.before(async () => {
    ;[browser, stuff] = await Promise.all([startBrowser(), materials()])
    served = await serve(stuff)
  })
  t.after(async () => {
    await browser?.close()
    await served?.end()
  })
  const inputOf = (value: Content): SiteInput => sampleInput(value, stuff)

  t(
    `${HOSTILE.length} payloads in every text field run nothing, ask nobody, and stand there as text`,
    async () => {
      const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      const watch = await watchForScripts(visitor.page)
      // A font of the page before may still be on its way.
      const known = new Set<string>()
      for (const [index, [what, payload]] of HOSTILE.entries()) {
        const layout = LAYOUTS[index % 2] ?? 'classic'
        const template = TEMPLATES[(index >> 1) % 2] ?? 'studio'
        const { value, shown } = hostileContent(payload, layout, template, split(index))
        const { files } = renderSite(inputOf(value))
        served.show(files)
        for (const { path } of files) known.add(path)
        let text = ''
        for (const path of pathsOf(index)) {
          await visitor.page.goto(path)
          const seen = await visitor.page.evaluate<Seen>(SEEN)
          text += asShown(seen.text)
          if (path === '/')
            assert.ok(
              seen.alts.some((alt) => asShown(alt).includes(asShown(`[.hero.alt] ${payload}`))),
              what,
            )
          assert.equal(
            seen.schemes.filter((scheme) => !['http:', 'https:', 'mailto:', 'tel:'].includes(scheme)),
            [],
            what,
          )
          assert.equal(seen.handlers, [], what)
          assert.is(seen.strangers, 0, what)
          JSON.parse(seen.json)
          assert.equal(await watch.violations(), [], `${what} at ${path}`)
        }
        assert.equal(
          shown.filter((one) => !text.includes(asShown(one))),
          [],
          what,
        )
        const strange = served.asked.filter(
          (path) => !known.has(path) && !['', 'more/', 'is-not-there', 'favicon.ico'].includes(path),
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

  for (const layout of LAYOUTS) {
    for (const template of TEMPLATES) {
      for (const lang of ['en', 'zh-Hant'] as const) {
        t(
          `${layout} in ${template}, ${lang}: no barrier by axe, nothing asked of others, nothing that sticks out`,
          async () => {
            served.show(renderSite(inputOf(sampleContent(lang, layout, template))).files)
            const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
            for (const width of [390, 1440]) {
              await visitor.page.setViewportSize({ width, height: 900 })
              await visitor.page.goto('/')
              assert.equal(await findings(visitor.page), [], `${width} pixels`)
              assert.is(await sticksOut(visitor.page), 0)
              await kept(visitor.page, `site-${layout}-${template}-${lang}-${width}`)
            }
            assert.equal(visitor.outside, [])
            await visitor.end()
          },
          { timeoutMs: TIMEOUT_MS },
        )
      }
    }
  }

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
          assert.equal(await findings(visitor.page), [])
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
      const value = filled(content, (key) => {
        if (key.endsWith('.image')) return 'asset:p1'
        if (ADDRESSES.test(key)) return `https://${long}.example/${long}`
        return key.endsWith('.price') ? `${long} 1,234,567,890.00` : `${long} ${long}`
      }) as Content
      const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      for (const layout of LAYOUTS) {
        for (const template of TEMPLATES) {
          const meta = { companyName: long, lang: 'en' as const, layout, template }
          served.show(renderSite(inputOf({ ...value, meta })).files)
          await visitor.page.goto('/')
          for (const width of [320, 700, 1100]) {
            await visitor.page.setViewportSize({ width, height: 900 })
            assert.is(await sticksOut(visitor.page), 0, `${layout} ${template} ${width}`)
            await kept(visitor.page, `site-long-${layout}-${template}-${width}`)
          }
        }
      }
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )
})

/** Pixels that the page is wider than its window. */
const sticksOut = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** All findings of axe with all its rules, each with its places. */
const findings = async (page: Page): Promise<string[]> => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('; ')}`)
}

/** Keeps a picture where one is asked for, once the pictures on it that wait to be near are there. */
const kept = async (page: Page, name: string): Promise<void> => {
  if (process.env.BOTTEGA_TEST_PICTURES === undefined) return
  await page.evaluate(`(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 600) {
      window.scrollTo(0, y)
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    window.scrollTo(0, 0)
  })()`)
  await picture(page, name)
}
