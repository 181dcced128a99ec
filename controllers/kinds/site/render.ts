/** Pictures and pages of a site: converted and rendered once, stored by their sha256. */
import type { Content } from '../../../crds/site/content/content.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'
import { siteManifest } from '../../../crds/site/publishing/manifest.ts'
import { type RenderRequest, sourcesOf } from '../../../crds/site/publishing/rendering.ts'
import type { MadeOf } from '../../../crds/site/publishing/variant.ts'
import { digestOf } from '../../../crds/site/render/digest.ts'
import type { BlobRef, RenderedImage, SiteFile, SiteInput } from '../../../crds/site/render/input.ts'
import { hanCutsOf, renderSite } from '../../../crds/site/render/site.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import { Stalled } from '../../base/errors.ts'
import type { SiteDeps } from './deps.ts'

const refuse = (source: string, reason: string): never => {
  throw new Stalled('INVALID_FIELD', `INVALID_FIELD: the picture ${source.slice(0, 200)} ${reason}`)
}

const bytesOf = async (deps: SiteDeps, source: string, signal: AbortSignal): Promise<Buffer> => {
  if (/^https:/.test(source)) {
    const taken = await deps.media.intake(source, signal)
    return taken.ok ? taken.bytes : refuse(source, taken.reason)
  }
  return (await deps.blobs.get(source)) ?? refuse(source, 'is not stored; upload it again')
}

/** @throws Stalled for what is no picture that may be shown */
export const takePicture = async (deps: SiteDeps, source: string, signal: AbortSignal): Promise<void> => {
  const verdict = await deps.media.renderImage(await bytesOf(deps, source, signal))
  if (!verdict.ok) return refuse(source, verdict.reason)
  await deps.blobs.putAll(verdict.blobs.map(({ bytes }) => Buffer.from(bytes)))
  await deps.rows.putPicture(source, verdict.image)
}

/** The fonts' bytes are the same for all sites: stored by the first pass of a process that needs them. */
export const makeFontCache = (
  deps: Pick<SiteDeps, 'blobs' | 'media' | 'rows'>,
): (() => Promise<Record<string, BlobRef>>) => {
  let cached: Record<string, BlobRef> | undefined
  return async () => {
    if (cached) return cached
    const fonts = deps.media.webfonts()
    const stored = await deps.blobs.has(fonts.map(({ sha256 }) => sha256))
    await deps.blobs.putAll(fonts.filter(({ sha256 }) => !stored.has(sha256)).map(({ bytes }) => Buffer.from(bytes)))
    const refs = fonts.map(({ file, sha256, bytes }) => ({ name: file, sha256, bytes: bytes.byteLength }))
    await deps.rows.putFonts(refs)
    cached = Object.fromEntries(refs.map(({ name, sha256, bytes }) => [name, { sha256, bytes }]))
    return cached
  }
}

/** The Han faces of a site. What was cut once is known by its name, whichever site asked for it. */
const hanFonts = async (deps: SiteDeps, input: SiteInput, account: string): Promise<Record<string, BlobRef>> => {
  const cuts = hanCutsOf(input)
  if (cuts.length === 0) return {}
  const known = await deps.rows.fonts(cuts.map(({ key }) => key))
  const missing = cuts.filter(({ key }) => !known.has(key))
  const made = await Promise.all(
    missing.map(async (cut) => {
      const bytes = Buffer.from(await deps.media.cutHan(cut, { account }))
      return { name: cut.key, sha256: await deps.blobs.put(bytes), bytes: bytes.length }
    }),
  )
  if (made.length > 0) await deps.rows.putFonts(made)
  return Object.fromEntries([...known, ...made.map(({ name, ...blob }) => [name, blob] as const)])
}

const inputOf = (
  request: RenderRequest,
  content: Content,
  { images, fonts }: { images: Map<string, RenderedImage>; fonts: Record<string, BlobRef> },
): SiteInput => {
  const { pictures, logo, template, brand, hostname } = request
  const shown = Object.entries(pictures).flatMap(([key, source]) => {
    const image = images.get(source)
    return image ? [[key, image] as const] : []
  })
  return {
    content,
    images: Object.fromEntries(shown),
    logo: logo === null ? null : (images.get(logo) ?? null),
    fonts,
    template,
    brand,
    hostname,
  }
}

const textsOf = (files: readonly SiteFile[]): Buffer[] =>
  files.flatMap(({ content }) => (typeof content === 'string' ? [Buffer.from(content, 'utf8')] : []))

/** Renders with and without the hostname: the second digest is what an approval carries over to another name (review.ts). */
export const renderPages = async (
  deps: SiteDeps,
  fontCache: () => Promise<Record<string, BlobRef>>,
  request: RenderRequest,
  { metadata, spec }: SiteResource,
): Promise<void> => {
  const [images, fonts] = await Promise.all([deps.rows.pictures(sourcesOf(request)), fontCache()])
  const content = contentOf(spec)
  const plain = inputOf(request, content, { images, fonts })
  const input = { ...plain, han: await hanFonts(deps, plain, spec.account) }
  const { files, warnings } = renderSite(input)
  const neutral = digestOf(request.hostname === null ? files : renderSite({ ...input, hostname: null }).files)
  const { images: shown, logo, brand, han } = input
  const made: MadeOf = { images: shown, logo, brand, fonts, han }
  const manifest = siteManifest(content, files, await deps.blobs.put(Buffer.from(JSON.stringify(made), 'utf8')))
  const stored = Buffer.from(JSON.stringify(manifest), 'utf8')
  const sums = await deps.blobs.putAll([stored, ...textsOf(files)])
  await deps.rows.putRendering(metadata.name, {
    input: request.input,
    digest: digestOf(files),
    neutral,
    name: request.name,
    hostname: request.hostname,
    template: request.template,
    manifest: sums[0] ?? '',
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    warnings,
  })
}
