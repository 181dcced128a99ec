/** The judge of all pages here: what keeps somebody out is found, on a page alone and beside a frame. */
import type { Browser } from 'playwright-core'
import { barriers, startBrowser, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'

const GOOD = '<label>Name <input></label><p>Said.</p>'
const PLANTED: Record<string, { main: string; found: RegExp }> = {
  'a field without a label': { main: '<input>', found: /^label: / },
  'a picture without words': { main: '<img src="data:,">', found: /^image-alt: / },
  'a text that is hardly to be seen': { main: '<p style="color:#ccc">Said.</p>', found: /^color-contrast: / },
  'a button without a name': { main: '<button></button>', found: /^button-name: / },
}
/** What may run no script is left out, and is judged as a page. */
const FRAMES: Record<string, string> = {
  alone: '',
  'beside a frame': `<iframe title="more" srcdoc="${GOOD.replaceAll('"', '&quot;')}"></iframe>`,
  'beside a frame that runs no script': '<iframe title="more" sandbox="" srcdoc="<p>Said.</p>"></iframe>',
}
const documentOf = (main: string): string =>
  `<!doctype html><html lang="en"><head><title>Page</title></head><body><main><h1>Page</h1>${main}</main></body></html>`

spec('a page that keeps somebody out', (t) => {
  let browser: Browser
  t.before(
    async () => {
      browser = await startBrowser()
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => browser?.close())

  const judged = async (main: string): Promise<string[]> => {
    const { page, end } = await visit(browser, { baseURL: 'http://127.0.0.1', javaScriptEnabled: true })
    await page.setContent(documentOf(main))
    const found = await barriers(page)
    await end()
    return found
  }

  for (const [where, frame] of Object.entries(FRAMES)) {
    t(`is told from one that does not, ${where}`, async () => assert.equal(await judged(GOOD + frame), []))
    for (const [what, { main, found }] of Object.entries(PLANTED))
      t(`is found by ${what}, ${where}`, async () => {
        const [first = '', ...more] = await judged(main + frame)
        assert.match(first, found)
        assert.equal(more, [])
      })
  }
  t('is found within a frame', async () => {
    const [first = ''] = await judged('<iframe title="more" srcdoc="<!doctype html><html lang=en><input>"></iframe>')
    assert.match(first, /^label: /)
  })
})
