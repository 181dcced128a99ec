import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { ensurePackages } from '../../../hack/lib/apt.ts'

/** A real Chromium, which talks to this machine only. One for a test file; a context of its own for each visitor. */

/** The shell is Chromium without its own windows and their pages, which nobody sees here and each visitor would pay for. */
const shell = '/usr/bin/chromium-headless-shell'
const places = [shell, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const features = ['OptimizationHints', 'MediaRouter', 'Translate', 'CertificateTransparencyComponentUpdater']
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-first-run',
  '--no-pings',
  '--metrics-recording-only',
  '--proxy-server=direct://',
  `--disable-features=${features.join(',')}`,
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
]
const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']

/**
 * Of CHROMIUM when that is set; else one is installed where there is none. @param more flags @throws Refusal that says how to get
 * one
 */
export const startBrowser = (more: readonly string[] = []): Promise<Browser> => {
  if (process.env.CHROMIUM === undefined)
    ensurePackages([{ name: 'chromium-headless-shell', files: places }], { what: 'A test of pages' })
  const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place))
  const env = { ...process.env, DBUS_SESSION_BUS_ADDRESS: 'disabled:' } as Record<string, string>
  return chromium.launch({ ...(executablePath !== undefined && { executablePath }), args: [...flags, ...more], env })
}

export type Visitor = { page: Page; context: BrowserContext; outside: string[]; end(): Promise<void> }
/** `moves`: wants motion, which the others are spared. `touch`: has a finger and no pointer. */
export type VisitorOptions = {
  baseURL: string
  javaScriptEnabled?: boolean
  dark?: boolean
  width?: number
  moves?: boolean
  touch?: boolean
}

/** `outside` collects what a page asked of other hosts; it is refused. */
export const visit = async (browser: Browser, options: VisitorOptions): Promise<Visitor> => {
  const { baseURL, javaScriptEnabled = false, dark = false, width = 1000, moves = false, touch = false } = options
  const context = await browser.newContext({
    baseURL,
    javaScriptEnabled,
    serviceWorkers: 'block',
    reducedMotion: moves ? 'no-preference' : 'reduce',
    hasTouch: touch,
    isMobile: touch,
    colorScheme: dark ? 'dark' : 'light',
    viewport: { width, height: 900 },
  })
  const outside: string[] = []
  await context.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => {
      outside.push(route.request().url())
      return route.abort()
    },
  )
  return { page: await context.newPage(), context, outside, end: () => context.close() }
}

/**
 * Findings of axe that keep somebody out: serious and critical, each with the places. axe needs scripts to look; the policy of our
 * pages refuses the page's own. Into a frame in which no script may run nobody can look: its page is to be judged by itself.
 */
export const barriers = async (page: Page): Promise<string[]> => {
  const axe = new AxeBuilder({ page }).withTags(tags).exclude('iframe[sandbox=""]')
  // what axe finds in frames it puts together on a page of its own, which takes a process: where there are none, it is spared
  const { violations } = await axe.setLegacyMode(page.frames().length === 1).analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(' ')).join('; ')})`)
}

/** Keeps a picture of the page where BOTTEGA_TEST_PICTURES says, for a person to look at. */
export const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.BOTTEGA_TEST_PICTURES
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
