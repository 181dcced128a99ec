/** A desk of a reviewer without a platform: two versions of a site as they are stored, their previews as the API serves them, and a page over both. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { framingAnswer } from '../../../../api/http/pages.ts'
import { previewHeaders } from '../../../../api/site/preview.ts'
import { type Comparison, compare, compareWords } from '../../../../api/site/reviewing/compare.ts'
import { REVIEW_SHEET } from '../../../../api/site/reviewing/review-style.ts'
import { sha256Of } from '../../../../controllers/store/blobs.ts'
import type { KeptRendering } from '../../../../controllers/store/site/sites.ts'
import type { Content } from '../../../../crds/site/content/content.ts'
import { fileAt, headersAt, type SiteManifest, siteManifest } from '../../../../crds/site/publishing/manifest.ts'
import { digestOf } from '../../../../crds/site/render/digest.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import type { TextDiff } from '../../../../crds/text/difference.ts'
import { type Materials, sampleInput } from '../../builders/sites/content.ts'

export type Desk = {
  baseURL: string
  /** Keeps a version. @returns its digest */
  keep(content: Content): string
  previewOf(digest: string): string
  manifestOf(digest: string): SiteManifest
  compare(before: string | null, after: string): Promise<Comparison>
  words(before: string | null, after: string, file: string): Promise<TextDiff>
  show(html: string): void
  end(): Promise<void>
}

export const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const startDesk = async (stuff: Materials): Promise<Desk> => {
  const blobs = new Map<string, Buffer>([...stuff.blobs].map(([sha256, bytes]) => [sha256, Buffer.from(bytes)]))
  const kept = new Map<string, { manifest: SiteManifest; rendering: KeptRendering }>()
  let html = ''
  const store = (text: string): string => {
    const bytes = Buffer.from(text)
    blobs.set(sha256Of(bytes), bytes)
    return sha256Of(bytes)
  }
  const stores = {
    blobs: { get: async (sha256: string) => blobs.get(sha256) ?? null },
    sites: { rendering: async (_site: string, digest: string) => kept.get(digest)?.rendering ?? null },
  } as unknown as Parameters<typeof compare>[0]
  const previewed = (path: string) => {
    const [, root, digest = '', ...rest] = path.split('/')
    const manifest = root === 'preview' ? kept.get(digest)?.manifest : undefined
    const asked = rest.join('/')
    const file = manifest && fileAt(manifest, asked === '' || asked.endsWith('/') ? `${asked}index.html` : asked)
    return manifest && file ? { manifest, file } : null
  }
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    const found = previewed(path)
    if (found !== null) {
      const { manifest, file } = found
      response
        .writeHead(200, previewHeaders(headersAt(manifest, 'preview', file.path), file.contentType))
        .end(blobs.get(file.sha256))
    } else if (path === REVIEW_SHEET.path) response.writeHead(200, { 'content-type': 'text/css' }).end(REVIEW_SHEET.css)
    else response.writeHead(path === '/review/token' ? 200 : 404, framingAnswer(200, '').headers).end(html)
  })
  return {
    baseURL: await listening(server),
    keep(content) {
      const { files, warnings } = renderSite(sampleInput(content, stuff))
      for (const { content: body } of files) if (typeof body === 'string') store(body)
      const digest = digestOf(files)
      const manifest = siteManifest(content, files)
      const rendering = { digest, manifest: store(JSON.stringify(manifest)), warnings } as unknown as KeptRendering
      kept.set(digest, { manifest, rendering })
      return digest
    },
    previewOf: (digest) => `/preview/${digest}/`,
    manifestOf(digest) {
      const found = kept.get(digest)
      if (!found) throw new Error('nothing was kept under that digest')
      return found.manifest
    },
    async compare(before, after) {
      const found = await compare(stores, 'site-4f2', { before, after })
      if (!found) throw new Error('nothing was kept under that digest')
      return found
    },
    words: (before, after, file) => compareWords(stores, 'site-4f2', { before, after, file }),
    show: (page) => {
      html = page
    },
    end: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
