import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Content, SectionId } from '../../crds/site/content.ts'
import type { RenderedImage, SiteInput } from '../../crds/site/render/input.ts'
import { planPages } from '../../crds/site/render/pages.ts'
import { dominantClass, variantPath } from '../../crds/site/render/picture.ts'
import { renderSite } from '../../crds/site/render/site.ts'
import { WORDS } from '../../crds/site/render/words.ts'
import { sampleContent } from '../../test/support/samplesite.ts'
import { type BenchContext, median } from '../lib/figure.ts'
import { ensurePeer } from '../lib/peer.ts'

/**
 * Pages per second from one content to files on disk, beside Eleventy with a Nunjucks template that writes the same elements.
 * Both in this process, warm, in alternating rounds, medians. Ours also writes each site's style sheet, icon, sitemap and page
 * for what is not found; they are not counted. Source of the goal: SITES.md, research/sites-apps.md 1b.
 */

const ROUNDS = 5
const SITES = 60
const RATIO_MIN = 4

const pages: { slug: string; title: string; sections: SectionId[] }[] = [
  { slug: '', title: 'Home', sections: ['hero', 'feature_rows', 'contact'] },
  { slug: 'shop', title: 'Shop', sections: ['products', 'contact'] },
  { slug: 'work', title: 'Work', sections: ['gallery', 'testimonials'] },
  { slug: 'prices', title: 'Prices', sections: ['pricing', 'contact'] },
]

/** Sixty sites of four pages, each with words of its own. */
const contents: Content[] = Array.from({ length: SITES }, (_, index) => {
  const content = sampleContent('en', 'classic', 'studio')
  return { ...content, meta: { ...content.meta, companyName: `${content.meta.companyName} ${index}`, pages } }
})

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

const inputOf = (content: Content): SiteInput => ({
  content,
  images,
  logo: null,
  fonts: {},
  template: 'studio',
  brand: null,
  hostname: 'voss.example',
})

/** Renders and writes every site; the number of its pages. */
const writeOurs = (folder: string): number => {
  let count = 0
  for (const [index, content] of contents.entries()) {
    for (const { path, content: text } of renderSite(inputOf(content)).files) {
      if (typeof text !== 'string') continue
      const file = join(folder, `site-${index}`, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      if (path.endsWith('index.html')) count += 1
    }
  }
  return count
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
const peerOf = async (home: string, scratch: string): Promise<(folder: string) => Promise<number>> => {
  const input = join(scratch, 'peer')
  cpSync(join(import.meta.dirname, 'peers', 'eleventy', 'site'), input, { recursive: true })
  mkdirSync(join(input, '_data'))
  for (const [name, value] of Object.entries(peerData())) {
    writeFileSync(join(input, '_data', `${name}.json`), JSON.stringify(value))
  }
  const entry = join(home, 'node_modules', '@11ty', 'eleventy', 'src', 'Eleventy.js')
  const { Eleventy } = (await import(pathToFileURL(entry).href)) as { Eleventy: Eleventy }
  return async (folder) => {
    await new Eleventy(input, folder, { quietMode: true }).write()
    return readdirSync(folder, { recursive: true }).filter((path) => String(path).endsWith('index.html')).length
  }
}

type Side = (folder: string) => number | Promise<number>

const pagesPerSecond = async (side: Side, folder: string): Promise<number> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const startMs = performance.now()
  const count = await side(folder)
  return (count * 1000) / (performance.now() - startMs)
}

export async function bench({ figure, progress, scratch }: BenchContext): Promise<void> {
  const home = await ensurePeer('eleventy', { progress })
  const peer = await peerOf(home, scratch)
  const folders = { ours: join(scratch, 'ours'), peer: join(scratch, 'eleventy') }
  const rounds: { ours: number[]; peer: number[] } = { ours: [], peer: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    const ours = await pagesPerSecond(writeOurs, folders.ours)
    const theirs = await pagesPerSecond(peer, folders.peer)
    // the first round warms the code up
    if (round === 0) continue
    rounds.ours.push(ours)
    rounds.peer.push(theirs)
  }
  const sizeOf = (folder: string) => readFileSync(join(folder, 'site-7', 'shop', 'index.html')).length
  progress.line(`  a shop page: ${sizeOf(folders.ours)} bytes, from Eleventy ${sizeOf(folders.peer)} bytes`)
  figure({
    name: `sites, ${SITES} of ${pages.length} pages`,
    value: median(rounds.ours),
    unit: 'pages/s',
    peer: 'Eleventy 3.1.2 with Nunjucks',
    peerValue: median(rounds.peer),
    goal: { atLeast: RATIO_MIN },
  })
}
