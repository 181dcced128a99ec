/** Sites as a browser has them: served as our proxy serves them, and judged by what is seen. */
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { type HeaderOptions, headersOf } from '../../../../crds/site/render/headers.ts'
import type { SiteFile } from '../../../../crds/site/render/input.ts'
import type { Blobs, Materials } from '../../builders/sites/content.ts'
import { picture } from '../browser.ts'

export type Served = {
  baseURL: string
  show(files: readonly SiteFile[], options?: HeaderOptions): void
  asked: string[]
  end(): Promise<void>
}

const bodyOf = ({ content: body }: SiteFile, blobs: Blobs): string | Uint8Array => {
  if (typeof body === 'string') return body
  const bytes = blobs.get(body.sha256)
  if (bytes === undefined) throw new Error(`there is no blob ${body.sha256}`)
  return bytes
}

/** What a host packs on its way: its encoder leaves pictures and fonts as they are. */
const PACKED = /^(text\/|image\/svg|application\/(json|xml|manifest))/

type Packed = { headers: OutgoingHttpHeaders; body: string | Uint8Array }

const EMPTY: Packed = { headers: {}, body: '' }

const packed = ({ headers, body }: Packed, { headers: asked }: IncomingMessage): Packed =>
  PACKED.test(String(headers['content-type'])) && /\bgzip\b/.test(asked['accept-encoding'] ?? '')
    ? { headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }
    : { headers, body }

/**
 * A host as ours: the files with their headers, folders by their index, packed where they are text, and the site's own page for
 * what is not there. @param secured then over HTTP/2 and TLS
 */
export const serveSite = async (
  { blobs }: Pick<Materials, 'blobs'>,
  secured?: { key: Buffer; cert: Buffer },
): Promise<Served> => {
  let byPath = new Map<string, SiteFile>()
  let headers: HeaderOptions = {}
  const asked: string[] = []
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = decodeURIComponent((request.url ?? '/').replace(/[?#].*$/, '')).slice(1)
    asked.push(path)
    const found = byPath.get(path === '' || path.endsWith('/') ? `${path}index.html` : path)
    const file = found ?? byPath.get('404.html')
    const plain = file === undefined ? EMPTY : { headers: headersOf(file, headers), body: bodyOf(file, blobs) }
    const sent = packed(plain, request)
    response.writeHead(found === undefined ? 404 : 200, sent.headers).end(sent.body)
  }
  const server: Server | Http2SecureServer =
    secured === undefined ? createServer(answer) : createSecureServer(secured, answer as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseURL: `${secured === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    show(files, options = {}) {
      headers = options
      byPath = new Map(files.map((file) => [file.path, file]))
      asked.length = 0
    },
    end: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** What is wider than the window where the page can be scrolled sideways; what scrolls in a frame of its own does not count. */
export const sticksOut = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const wide = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > clientWidth + 1)
    const names = wide.slice(0, 6).map((one) => one.tagName + '.' + one.className)
    return [scrollWidth - clientWidth + ' pixels', ...names]
  })()`)

type Drawn = { fonts: { postScriptName: string; isCustomFont: boolean; glyphCount: number }[] }

/** The fonts that draw what stands in the first element of a selector; `own` were sent with the page, others are the machine's. */
export const drawnBy = async (page: Page, selector: string): Promise<string[]> => {
  const session = await page.context().newCDPSession(page)
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { fonts } = (await session.send('CSS.getPlatformFontsForNode', { nodeId })) as Drawn
  await session.detach()
  return fonts
    .filter(({ glyphCount }) => glyphCount > 0)
    .map(({ postScriptName, isCustomFont }) => `${isCustomFont ? 'own' : 'other'} ${postScriptName}`)
}

/** All findings of axe with all its rules, each with its places. */
export const findings = async (page: Page): Promise<string[]> => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('; ')}`)
}

/** Keeps a picture where one is asked for, once the pictures on it that wait to be near are there. */
export const kept = async (page: Page, name: string): Promise<void> => {
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

const THUMBNAIL = { width: 120, height: 150 }

/** Where a page has edges, as somebody sees who sees it as a thumbnail. */
export const silhouetteOf = async (page: Page): Promise<Float64Array> =>
  edgesOf(await page.screenshot({ clip: { x: 0, y: 0, width: 1440, height: 1800 }, fullPage: true }))

/** Edges of a picture at the size of a thumbnail: 0 to 1 for each pixel, softened. */
export const edgesOf = async (picture: Buffer): Promise<Float64Array> => {
  const { width, height } = THUMBNAIL
  const grey = await sharp(picture).greyscale().resize(width, height, { fit: 'fill' }).raw().toBuffer()
  const at = (x: number, y: number) => grey[Math.min(height - 1, y) * width + Math.min(width - 1, x)] ?? 0
  const edges = Buffer.alloc(width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const steep = Math.hypot(at(x + 1, y) - at(x, y), at(x, y + 1) - at(x, y))
      edges[y * width + x] = steep > 12 ? 255 : 0
    }
  }
  const soft = await sharp(edges, { raw: { width, height, channels: 1 } })
    .blur(2)
    .greyscale()
    .raw()
    .toBuffer()
  return Float64Array.from(soft, (value) => value / 255)
}

/** How unlike two silhouettes are: 0 for the same, 1 where they have nothing in common. */
export const unlikeness = (one: Float64Array, other: Float64Array): number => {
  let [common, mine, theirs] = [0, 0, 0]
  for (const [place, value] of one.entries()) {
    const there = other[place] ?? 0
    common += value * there
    mine += value * value
    theirs += there * there
  }
  return 1 - common / Math.sqrt(mine * theirs)
}
