import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import type { Service } from '../lib/processes.ts'
import { query } from '../platform/postgres.ts'
import type { Stack } from '../platform/stack.ts'
import { standUp } from './invoice.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { ITEMS } from './sides/rawpair.ts'

/**
 * From kill -9 of the leader to the next number, with another process that stands by in a pod of its own, so that neither can see
 * whether the other lives. Each must be within the bar: the longest counts.
 */

const KILLS = Number(process.env.BENCH_KILLS ?? 20)
const BAR_S = 6
const LIMIT_MS = 60_000
const POLL_MS = 20

const poll = async <T>(what: string, look: () => Promise<T | null>): Promise<T> => {
  const endMs = performance.now() + LIMIT_MS
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (performance.now() > endMs) throw new Error(`no ${what} after ${LIMIT_MS} ms`)
    await sleep(POLL_MS)
  }
}

const leads = async (url: string): Promise<boolean> => {
  const { body } = await request(url)
  return /^bottega_epoch [1-9]/m.test(await body.text())
}

const leaderOf = ({ controllers, standby, metricsUrls, standbyMetricsUrl }: Stack): Promise<Service> =>
  poll('leader', async () => {
    if (await leads(metricsUrls.controllers)) return controllers
    return (await leads(standbyMetricsUrl)) ? standby : null
  })

/** Again under its reference, where nobody could say what became of it. */
const send = (stack: Stack, token: string, ref: string) =>
  poll('answer', async () => {
    const { statusCode, body } = await request(`${stack.baseUrl}/api/invoices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ external_ref: ref, send: true, client_name: 'ACME', client_email: 'billing@acme.test' },
        ...{ currency: 'EUR', due_date: '2027-12-20', tax_rate_bp: 2000, items: ITEMS },
      }),
    })
    const text = await body.text()
    if (statusCode >= 300 && statusCode !== 503) throw new Error(`POST answered ${statusCode}: ${text.slice(0, 300)}`)
    return statusCode === 503 ? null : text
  })

export async function bench(context: BenchContext): Promise<void> {
  const { progress, figure } = context
  const { stack, databaseUrl, end } = await standUp(context)
  const step = progress.step(`${KILLS} hand-overs`)
  try {
    const token = await stack.token('demo')
    const numbers = async () => Number((await query(databaseUrl, 'select count(*)::int as n from register'))[0]?.n)
    await stack.standby.start()
    const took: number[] = []
    for (let n = 0; n < KILLS; n += 1) {
      await send(stack, token, `before-${n}`)
      const before = await numbers()
      const leader = await leaderOf(stack)
      const startMs = performance.now()
      await leader.kill()
      const answered = send(stack, token, `after-${n}`)
      await poll('number', async () => ((await numbers()) > before ? true : null))
      took.push((performance.now() - startMs) / 1000)
      await answered
      await leader.start()
    }
    step.done(`median ${median(took).toFixed(1)} s`)
    const bar = { unit: 's', peer: 'the bar', peerValue: BAR_S, goal: { atMost: 1 } }
    figure({ name: `kill -9 of the leader to the next number, longest of ${KILLS}`, value: Math.max(...took), ...bar })
  } finally {
    await end()
  }
}
