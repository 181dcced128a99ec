import { renderSite } from '../../../../crds/site/render/site.ts'
import { type BenchContext, median } from '../figure.ts'
import { contentOfPages, inputOf, type SitePage } from './sides.ts'

/** One site of eight pages, as a pass renders it: from its content to the bytes of all its files. */

const WARM_ROUNDS = 20
const ROUNDS = 101
const LIMIT_MS = 10

const EIGHT: SitePage[] = [
  { slug: '', title: 'Home', sections: ['hero', 'feature_rows', 'testimonials'] },
  { slug: 'shop', title: 'Shop', sections: ['products', 'contact'] },
  { slug: 'work', title: 'Work', sections: ['gallery', 'testimonials'] },
  { slug: 'prices', title: 'Prices', sections: ['pricing', 'contact'] },
  { slug: 'about', title: 'About', sections: ['feature_rows', 'testimonials'] },
  { slug: 'pieces', title: 'Pieces', sections: ['products', 'gallery'] },
  { slug: 'visit', title: 'Visit', sections: ['feature_rows', 'contact'] },
  { slug: 'offers', title: 'Offers', sections: ['pricing', 'products'] },
]

export const measureEight = async ({ figure }: BenchContext): Promise<void> => {
  const times: number[] = []
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    // each has a name of its own: nothing of the round before is used again
    const input = inputOf(contentOfPages(EIGHT, round))
    const startMs = performance.now()
    const { files } = renderSite(input)
    if (round >= WARM_ROUNDS) times.push(performance.now() - startMs)
    const pages = files.filter(({ path }) => path.endsWith('index.html')).length
    if (pages !== EIGHT.length) throw new Error(`a site of ${EIGHT.length} pages has ${pages}`)
  }
  figure({
    name: `sites, one of ${EIGHT.length} pages, rendered`,
    value: median(times),
    unit: 'ms',
    peer: 'limit',
    peerValue: LIMIT_MS,
    goal: { atMost: 1 },
  })
}
