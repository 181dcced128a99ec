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

type Taken = { clockMs: number; cpuMs: number }

const render = (round: number): Taken => {
  // each has a name of its own: nothing of the round before is used again
  const input = inputOf(contentOfPages(EIGHT, round))
  const [startMs, before] = [performance.now(), process.cpuUsage()]
  const { files } = renderSite(input)
  const { user, system } = process.cpuUsage(before)
  const taken = { clockMs: performance.now() - startMs, cpuMs: (user + system) / 1_000 }
  const pages = files.filter(({ path }) => path.endsWith('index.html')).length
  if (pages !== EIGHT.length) throw new Error(`a site of ${EIGHT.length} pages has ${pages}`)
  return taken
}

export const measureEight = async ({ figure }: BenchContext): Promise<void> => {
  const rounds = Array.from({ length: WARM_ROUNDS + ROUNDS }, (_, round) => render(round)).slice(WARM_ROUNDS)
  const limit = { unit: 'ms', peer: 'limit', peerValue: LIMIT_MS, goal: { atMost: 1 } } as const
  const name = `sites, one of ${EIGHT.length} pages`
  figure({ name, value: median(rounds.map(({ clockMs }) => clockMs)), ...limit })
  figure({ name: `${name}, of processor time`, value: median(rounds.map(({ cpuMs }) => cpuMs)), ...limit })
}
