import { execFileSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { LAYOUTS } from '../../../../crds/site/content/meta.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { materials, sampleInput } from '../../../../test/support/builders/sites/content.ts'
import { nameAlso } from '../../../../test/support/businesses/all.ts'
import { JEWEL } from '../../../../test/support/businesses/goods.ts'
import { startBrowser } from '../../../../test/support/judges/browser.ts'
import { serveSite } from '../../../../test/support/judges/sites/page.ts'
import { type BenchContext, median } from '../figure.ts'
import { openSlowLine } from './slowline.ts'

/**
 * When the largest thing above the fold is painted on a telephone with a slow line (slowline.ts) and a processor four times as slow,
 * over HTTP/2 and TLS as hosts speak. Photographs of 2400 pixels with a camera's grain are what was uploaded. The worst of all
 * layouts counts.
 */

const ROUNDS = 5
const LCP_MAX_MS = 2_000
const SLOWDOWN = 4
const PHONE = { width: 360, height: 800 }
const UPLOADED_WIDTH = 2_400
const GRAIN = 40

const largestPaint = `new Promise((done, fail) => {
  setTimeout(() => fail(new Error('nothing was painted')), 20000)
  new PerformanceObserver((list) => {
    const last = list.getEntries().at(-1)
    done({ ms: last.startTime, what: (last.element?.tagName ?? '') + ' ' + (last.url ?? '').split('/').at(-1) })
  }).observe({ type: 'largest-contentful-paint', buffered: true })
})`

type Paint = { ms: number; what: string }

/** A visitor who was never here: an empty cache and no connection each time. */
const paintOf = async (browser: Browser, baseURL: string): Promise<Paint> => {
  const context = await browser.newContext({
    baseURL,
    viewport: PHONE,
    serviceWorkers: 'block',
  })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.goto('/', { waitUntil: 'load' })
  const paint = await page.evaluate<Paint>(largestPaint)
  await context.close()
  return paint
}

/** Known to the browser, as a host's is: told to overlook errors it would connect a second time. */
const trusting = ({ cert }: { cert: Buffer }): string => {
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' })
  return `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`
}

/** Of a host that nobody knows. */
const selfSigned = (folder: string): { key: Buffer; cert: Buffer } => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name))
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost'.split(' ')
  execFileSync('openssl', [...words, '-keyout', String(key), '-out', String(cert)], { stdio: 'ignore' })
  return { key: readFileSync(String(key)), cert: readFileSync(String(cert)) }
}

export const measurePaints = async ({ figure, progress, scratch }: BenchContext): Promise<void> => {
  const own = selfSigned(scratch)
  const [browser, stuff] = await Promise.all([startBrowser([trusting(own)]), materials(UPLOADED_WIDTH, GRAIN)])
  const served = await serveSite(stuff, own)
  const line = await openSlowLine(Number(new URL(served.baseURL).port))
  const worst = { ms: 0, layout: '' }
  try {
    nameAlso(stuff.images)
    for (const layout of LAYOUTS) {
      const content = { ...JEWEL, meta: { ...JEWEL.meta, layout } }
      served.show(renderSite(sampleInput(content, stuff)).files)
      const paints: Paint[] = []
      for (let round = 0; round < ROUNDS; round++) paints.push(await paintOf(browser, `https://127.0.0.1:${line.port}`))
      const ms = median(paints.map((paint) => paint.ms))
      progress.line(`  ${layout}: ${ms.toFixed(0)} ms, ${paints[0]?.what}`)
      if (ms > worst.ms) Object.assign(worst, { ms, layout })
    }
  } finally {
    await browser.close()
    line.end()
    await served.end()
  }
  const bar = { unit: 'ms', peer: 'the bar', peerValue: LCP_MAX_MS, goal: { atMost: 1 } }
  figure({ name: `sites, largest paint on slow 4G, worst layout (${worst.layout})`, value: worst.ms, ...bar })
}
