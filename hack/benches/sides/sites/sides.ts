import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Content, SectionId } from '../../../../crds/site/content/content.ts'
import type { RenderedImage, SiteInput } from '../../../../crds/site/render/input.ts'
import { planPages } from '../../../../crds/site/render/page/pages.ts'
import { dominantClass, variantPath } from '../../../../crds/site/render/page/picture.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { WORDS } from '../../../../crds/site/render/words.ts'
import { sampleContent } from '../../../../test/support/builders/sites/sample.ts'

/**
 * One side of `hack/bench sites`, in a process of its own: the other side's heap is not its to collect. Waits for a message,
 * does one round, answers with its speed. Arguments: the side, a scratch folder, the peer's home, and how many sites.
 */

const SITES = Number(process.argv[5] ?? 0)

export type SitePage = { slug: string; title: string; sections: SectionId[] }

export const pages: SitePage[] = [
  { slug: '', title: 'Home', sections: ['hero', 'feature_rows', 'contact'] },
  { slug: 'shop', title: 'Shop', sections: ['products', 'contact'] },
  { slug: 'work', title: 'Work', sections: ['gallery', 'testimonials'] },
  { slug: 'prices', title: 'Prices', sections: ['pricing', 'contact'] },
]

/** A site of these pages, with a name of its own. */
export const contentOfPages = (pages: SitePage[], index: number): Content => {
  const content = sampleContent('en', 'classic', 'studio')
  return { ...content, meta: { ...content.meta, companyName: `${content.meta.companyName} ${index}`, pages } }
}

const contents: Content[] = Array.from({ length: SITES }, (_, index) => contentOfPages(pages, index))

const images: Record<string, RenderedImage> = Object.fromEntries(
  ['hero', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'].map((key, place) => [
    key,
    {
      width: 1440,
      height: 1080,
      dominant: '#a0b0c0',
      variants: (['avif', 'webp', 'jpeg'] as const).flatMap((format, kind) =>
        [320, 640, 960, 1440].map((width) => ({
          format,
          width,
          height: (width * 3) / 4,
          sha256: `${place}${kind}${width}`.padEnd(64, 'a'),
          bytes: 20_000,
        })),
      ),
    },
  ]),
)

export const inputOf = (content: Content): SiteInput => ({
  content,
  images,
  logo: null,
  fonts: {},
  template: 'studio',
  brand: null,
  hostname: 'voss.example',
})

/** Folders are made in the first round, which is not counted; every round writes every file anew, on both sides. */
const made = new Set<string>()

/** Renders every site and writes its pages side by side, as the peer does; what else a site has is rendered and left. */
const writeOurs = async (folder: string): Promise<number> => {
  const writes: Promise<void>[] = []
  for (const [index, content] of contents.entries()) {
    for (const { path, content: text } of renderSite(inputOf(content)).files) {
      if (typeof text !== 'string' || !path.endsWith('index.html')) continue
      const file = join(folder, `site-${index}`, path)
      if (!made.has(dirname(file))) mkdirSync(dirname(file), { recursive: true })
      made.add(dirname(file))
      writes.push(writeFile(file, text))
    }
  }
  await Promise.all(writes)
  return writes.length
}

/** What the peer's template reads: the pages in a list, the pictures sorted by format. */
const peerData = () => {
  const variants = (image: RenderedImage, format: string) =>
    image.variants
      .filter((variant) => variant.format === format)
      .map((variant) => ({ path: variantPath(variant), width: variant.width }))
  return {
    pages: contents.flatMap((content, index) =>
      planPages(content).map((page) => ({ ...page, site: `site-${index}`, content })),
    ),
    images: Object.fromEntries(
      Object.entries(images).map(([key, image]) => {
        const [avif, webp, jpeg] = ['avif', 'webp', 'jpeg'].map((format) => variants(image, format))
        const { width, height, dominant } = image
        return [key, { width, height, colour: dominantClass(dominant), avif, webp, jpeg, main: jpeg?.[2]?.path }]
      }),
    ),
    words: WORDS.en,
  }
}

type Eleventy = new (input: string, output: string, options: { quietMode: boolean }) => { write(): Promise<unknown> }

/** Writes with Eleventy; the number of its pages. */
const eleventyOf = async (home: string, scratch: string): Promise<(folder: string) => Promise<number>> => {
  const input = join(scratch, 'peer')
  cpSync(join(import.meta.dirname, '..', 'peers', 'eleventy', 'site'), input, { recursive: true })
  asData(join(input, '_data'), peerData())
  const entry = join(home, 'node_modules', '@11ty', 'eleventy', 'src', 'Eleventy.js')
  const { Eleventy } = (await import(pathToFileURL(entry).href)) as { Eleventy: Eleventy }
  return async (folder) => {
    await new Eleventy(input, folder, { quietMode: true }).write()
    return countPages(folder)
  }
}

/** What Hugo's template reads: one content, for the names of the sites are all that differs. Its pages are an adapter's. */
const hugoData = () => {
  const { images, words } = peerData()
  const pages = contents.flatMap((content, index) =>
    planPages(content).map(({ slug, path, title, root, sections }) => ({
      ...{ at: `site-${index}/${slug === '' ? 'home' : slug}`, on: slug, file: path, title, root, sections },
      company: content.meta.companyName,
    })),
  )
  return { pages, images, words, content: contents[0] }
}

const asData = (folder: string, data: object): void => {
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of Object.entries(data)) writeFileSync(join(folder, `${name}.json`), JSON.stringify(value))
}

const countPages = (folder: string): number =>
  readdirSync(folder, { recursive: true }).filter((path) => String(path).endsWith('index.html')).length

/** Writes with Hugo, a process each time, as it is used. It empties nothing and minifies nothing. */
const hugoOf = (home: string, scratch: string): ((folder: string) => Promise<number>) => {
  const site = join(scratch, 'hugo')
  cpSync(join(import.meta.dirname, '..', 'peers', 'hugo', 'site'), site, { recursive: true })
  asData(join(site, 'data'), hugoData())
  const words = ['--quiet', '--source', site, '--noBuildLock']
  const env = { ...process.env, HUGO_CACHEDIR: join(scratch, 'hugo-cache') }
  return async (folder) => {
    await promisify(execFile)(join(home, 'hugo', 'binaries', 'hugo'), [...words, '--destination', folder], { env })
    return countPages(folder)
  }
}

type Side = (folder: string) => Promise<number>
export type Speed = { perSecond: number; perCpuSecond: number }

const TICKS_PER_SECOND = 100

/** Processor time of this process and of those that it waited for, in µs (proc(5)). */
const cpuUs = (): number => {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  const children = Number(fields[13]) + Number(fields[14])
  return user + system + (children * 1_000_000) / TICKS_PER_SECOND
}

const measured = async (side: Side, folder: string): Promise<Speed> => {
  const [startMs, startUs] = [performance.now(), cpuUs()]
  const count = await side(folder)
  return {
    perSecond: (count * 1000) / (performance.now() - startMs),
    perCpuSecond: (count * 1_000_000) / (cpuUs() - startUs),
  }
}

/** Where a side writes. */
export const outputOf = (scratch: string, name: string): string => join(scratch, `out-${name}`)

const [name = '', scratch = '', home = ''] = process.argv.slice(2)
if (import.meta.main) {
  const sides: Record<string, () => Side | Promise<Side>> = {
    ours: () => writeOurs,
    eleventy: () => eleventyOf(home, scratch),
    hugo: () => hugoOf(home, scratch),
  }
  const side = await sides[name]?.()
  if (side === undefined) throw new Error(`no side ${name}`)
  process.on('message', async () => process.send?.(await measured(side, outputOf(scratch, name))))
  process.send?.('ready')
}
