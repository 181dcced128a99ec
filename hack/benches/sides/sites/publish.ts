import {
  approve,
  makeSite,
  publish,
  type SitePlatform,
  startSitePlatform,
} from '../../../../test/support/stage/publishing.ts'
import { type BenchContext, median } from '../figure.ts'
import { onHostStage } from '../hoststage.ts'

/**
 * A site taken down and put back over REST, on a real host: from the request until a visitor who comes with the answer gets what was
 * asked for.
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9)
const LIMIT_MS = 1_000
const LABEL = 'bench'

type Times = { down: number; up: number }

const timesOf = async (
  platform: SitePlatform,
  id: string,
  page: (status: number) => Promise<string>,
): Promise<Times[]> => {
  const good = await page(200)
  const act = async (action: string, status: number): Promise<{ ms: number; text: string }> => {
    const startMs = performance.now()
    const reply = await platform.as('POST', `/api/website/${id}/${action}`, {})
    if (reply.status !== 200) throw new Error(`${action} answered ${reply.status}: ${reply.text}`)
    const text = await page(status)
    return { ms: performance.now() - startMs, text }
  }
  const times: Times[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const down = await act('unpublish', 410)
    const up = await act('publish', 200)
    if (up.text !== good) throw new Error('what was put back is not what was there')
    times.push({ down: down.ms, up: up.ms })
  }
  return times
}

const measure = async ({ figure, progress }: BenchContext, platform: SitePlatform): Promise<void> => {
  const { id } = await makeSite(platform)
  await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: LABEL })
  await approve(platform, id)
  await publish(platform, id)
  const page = async (wanted: number): Promise<string> => {
    const { status, text } = await platform.visit(`${LABEL}.${platform.host.baseDomain}`)
    if (status !== wanted) throw new Error(`a visitor gets ${status}, not ${wanted}`)
    return text
  }
  const step = progress.step('a site taken down and put back')
  const times = await timesOf(platform, id, page)
  step.done(`${times.length} times`)
  const limit = { unit: 'ms', peer: 'limit', peerValue: LIMIT_MS, goal: { atMost: 1 } } as const
  figure({ name: 'a site taken down', value: median(times.map(({ down }) => down)), ...limit })
  figure({ name: 'a site put back', value: median(times.map(({ up }) => up)), ...limit })
}

export const measurePublish = (context: BenchContext): Promise<void> =>
  onHostStage(context, async () => {
    const platform = await startSitePlatform()
    await measure(context, platform).finally(() => platform.end())
  })
