/** Pictures and pages of a site: converted and rendered once, stored by their sha256. */
import { brandOf } from '../../../crds/site/content/brand/brand.ts'
import type { Content } from '../../../crds/site/content/content.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'
import { siteManifest } from '../../../crds/site/publishing/manifest.ts'
import type { MakeStep } from '../../../crds/site/publishing/pictures.ts'
import { type RenderRequest, sourcesOf } from '../../../crds/site/publishing/rendering.ts'
import type { MadeOf } from '../../../crds/site/publishing/variant.ts'
import { digestOf } from '../../../crds/site/render/digest.ts'
import type { BlobRef, IconFile, RenderedImage, SiteFile, SiteInput } from '../../../crds/site/render/input.ts'
import { iconSketch } from '../../../crds/site/render/page/extras.ts'
import { plainVariants } from '../../../crds/site/render/page/picture.ts'
import { hanCutsOf, renderSite } from '../../../crds/site/render/site.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import type { PictureAsker } from '../../io/pictures/queue.ts'
import type { KeptPicture } from '../../store/site/pictures.ts'
import type { SiteDeps } from './deps.ts'

/** What a site asks for now: a verdict on its pictures is one on this. */
export const askerOf = ({ metadata, spec }: SiteResource): PictureAsker => ({
  site: metadata.name,
  account: spec.account,
  life: `${metadata.uid}/${metadata.generation}`,
})

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
  { images, fonts }: { images: ReadonlyMap<string, RenderedImage>; fonts: Record<string, BlobRef> },
): SiteInput => {
  const { pictures, logo, template, brand, hostname, form } = request
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
    form,
  }
}

/** From the logo, else from the initials; stored. */
const iconsOf = async (
  { media, blobs }: SiteDeps,
  { content, template, brand: tokens, logo }: SiteInput,
): Promise<IconFile[]> => {
  const brand = brandOf(template, tokens)
  const largest = logo === null ? undefined : plainVariants(logo).at(-1)
  const bytes = largest && (await blobs.get(largest.sha256))
  const drawn = await media.drawIcons(
    bytes ? { logo: bytes, paper: brand.palette.paper } : { ...iconSketch(content, brand), lang: content.meta.lang },
  )
  await blobs.putAll(drawn.map(({ blob }) => Buffer.from(blob.bytes)))
  return drawn.map(({ size, blob }) => ({ size, sha256: blob.sha256, bytes: blob.bytes.byteLength }))
}

const textsOf = (files: readonly SiteFile[]): Buffer[] =>
  files.flatMap(({ content }) => (typeof content === 'string' ? [Buffer.from(content, 'utf8')] : []))

/** In one width where there is one that was made first; else in all. */
const imagesFor = (kept: ReadonlyMap<string, KeptPicture>, isFirst: boolean): Map<string, RenderedImage> =>
  new Map(
    [...kept].flatMap(([source, { quick, image }]) => {
      const shown = isFirst ? (quick ?? image) : image
      return shown === null ? [] : [[source, shown]]
    }),
  )

/**
 * Renders with and without the hostname and the address of the form, which are the platform's part: the second digest is what an
 * approval carries over to another name (review.ts).
 */
export const renderPages = async (
  deps: SiteDeps,
  fontCache: () => Promise<Record<string, BlobRef>>,
  { request, isFirst }: Extract<MakeStep, { do: 'render' }>,
  { metadata, spec }: SiteResource,
): Promise<void> => {
  const [kept, fonts] = await Promise.all([deps.pictureRows.kept(sourcesOf(request)), fontCache()])
  const images = imagesFor(kept, isFirst)
  const content = contentOf(spec)
  const undrawn = inputOf(request, content, { images, fonts })
  const [icons, han] = await Promise.all([iconsOf(deps, undrawn), hanFonts(deps, undrawn, spec.account)])
  const input = { ...undrawn, icons, han }
  const { files, warnings } = renderSite(input)
  const isNeutral = request.hostname === null && request.form === null
  const neutral = digestOf(isNeutral ? files : renderSite({ ...input, hostname: null, form: null }).files)
  const { images: shown, logo, brand } = input
  const of: MadeOf = { images: shown, logo, brand, fonts, han, icons }
  const made = await deps.blobs.put(Buffer.from(JSON.stringify(of), 'utf8'))
  const manifest = siteManifest(content, files, { form: request.form, made })
  const stored = Buffer.from(JSON.stringify(manifest), 'utf8')
  const sums = await deps.blobs.putAll([stored, ...textsOf(files)])
  const rendering = {
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
  }
  await deps.rows.putRendering(metadata.name, rendering, isFirst)
}
