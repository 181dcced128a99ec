import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { renderImage } from '../../../../controllers/io/pictures/images.ts'
import { paint } from '../../../../test/support/builders/sites/content.ts'
import { standUp } from '../../invoice.ts'
import { type BenchContext, median } from '../figure.ts'

/**
 * A site with seven photographs through REST: how long until it can be looked at, and until all widths are there, beside the
 * same encodings one after the other with nothing around them. Each round has other photographs, for what was made is not
 * made again.
 */

const PHOTOS = 7
const ROUNDS = 3
const SHOWN_MAX_MS = 2_000
/** The queue leaves cores to others, and shares them with the processes that it serves. */
const WHOLE_RATIO_MAX = 1.5
const LOOK_MS = 100
const WHOLE_MAX_MS = 600_000
const [WIDTH, HEIGHT] = [1600, 1200]

type Site = { id: string; digest: string | null; preview_digest: string | null }

const album = (photos: readonly Buffer[]) => ({
  content: {
    meta: { company_name: 'Voss', lang: 'en', layout: 'classic', template: 'studio' },
    hero: { title: 'Stoneware' },
    gallery: photos.map((_photo, n) => ({ image: `asset:p${n}`, alt: `Bowl ${n}` })),
  },
  assets: Object.fromEntries(photos.map((photo, n) => [`p${n}`, photo.toString('base64')])),
})

const siteFrom = async (url: string, token: string, body?: object): Promise<{ status: number; site: Site }> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { method: 'POST' as const, body: JSON.stringify(body) }
  const reply = await request(url, { headers, ...sent })
  const { site } = (await reply.body.json()) as { site: Site }
  return { status: reply.statusCode, site }
}

const whole = async (url: string, token: string): Promise<void> => {
  const endMs = performance.now() + WHOLE_MAX_MS
  while (performance.now() < endMs) {
    if ((await siteFrom(url, token)).site.digest !== null) return
    await sleep(LOOK_MS)
  }
  throw new Error('the widths were not all there within ten minutes')
}

const alone = async (photos: readonly Buffer[]): Promise<number> => {
  const startMs = performance.now()
  for (const photo of photos) {
    const verdict = await renderImage(photo)
    if (!verdict.ok) throw new Error(verdict.reason)
  }
  return performance.now() - startMs
}

export const measurePhotos = async (context: BenchContext): Promise<void> => {
  const { figure, progress } = context
  const { stack, end } = await standUp(context)
  const rounds: { shownMs: number; wholeMs: number; aloneMs: number }[] = []
  try {
    const secret = await stack.token('demo')
    for (let round = 0; round < ROUNDS; round++) {
      const photos = await Promise.all(
        Array.from({ length: PHOTOS }, (_, n) => paint(100 + round * PHOTOS + n, WIDTH, HEIGHT)),
      )
      const startMs = performance.now()
      const made = await siteFrom(`${stack.baseUrl}/api/website/generate`, secret, album(photos))
      const shownMs = performance.now() - startMs
      if (made.status !== 201) throw new Error(`generate answered ${made.status}`)
      await whole(`${stack.baseUrl}/api/website/${made.site.id}`, secret)
      const wholeMs = performance.now() - startMs
      rounds.push({ shownMs, wholeMs, aloneMs: await alone(photos) })
    }
  } finally {
    await end()
  }
  const of = (pick: (round: (typeof rounds)[number]) => number): number => median(rounds.map(pick))
  progress.line(
    `  ${rounds.map(({ shownMs, wholeMs }) => `${shownMs.toFixed(0)}/${wholeMs.toFixed(0)} ms`).join(', ')}`,
  )
  figure({
    name: `sites, generate with ${PHOTOS} photos, until it can be looked at`,
    value: of(({ shownMs }) => shownMs),
    unit: 'ms',
    peer: 'the goal',
    peerValue: SHOWN_MAX_MS,
    goal: { atMost: 1 },
  })
  figure({
    name: `sites, generate with ${PHOTOS} photos, until all widths are there`,
    value: of(({ wholeMs }) => wholeMs),
    unit: 'ms',
    peer: 'the encodings alone',
    peerValue: of(({ aloneMs }) => aloneMs),
    goal: { atMost: WHOLE_RATIO_MAX },
  })
}
