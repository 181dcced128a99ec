import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { standUp } from './invoice.ts'
import { cpuSecondsOf } from './sides/cpu.ts'
import type { BenchContext } from './sides/figure.ts'
import { type WorstInput, worstInputs } from './sides/worstinputs.ts'

/**
 * One account sends the worst bodies it can make to every route, ten a second; another account asks for its own meanwhile, and a
 * kubelet whether the processes live.
 */

const PER_SECOND = 10
const SIZES = [60_000, 900_000]
const BAR = { accountMs: 100, healthMs: 50 }
const ASK_EVERY_MS = 25

type Asked = { atMs: number; tookMs: number }

/** Asks again and again, never more than one at a time. */
const asking = (work: () => Promise<void>) => {
  const asked: Asked[] = []
  let isOn = true
  const run = async () => {
    while (isOn) {
      const atMs = performance.now()
      await work()
      const tookMs = performance.now() - atMs
      asked.push({ atMs, tookMs })
      await sleep(Math.max(0, ASK_EVERY_MS - tookMs))
    }
  }
  const running = run()
  const stop = async () => {
    isOn = false
    await running
    return asked
  }
  return { asked, stop }
}

const quantile = (asked: readonly Asked[], share: number): number => {
  const sorted = asked.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export async function bench(context: BenchContext): Promise<void> {
  const { progress, figure } = context
  const inputs = worstInputs(SIZES)
  const { stack, pids, end } = await standUp(context)
  const attacker = new Agent({ connections: 64 })
  const others = new Agent({ connections: 4 })
  const [bad, good] = [await stack.token('free'), await stack.token('demo')]
  const ask = (url: string, token?: string) => async () => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { body } = await request(url, { dispatcher: others, headers })
    await body.dump()
  }
  const statuses = new Map<number, number>()
  const send = async ({ method, path, body }: WorstInput) => {
    const { statusCode, body: answer } = await request(`${stack.baseUrl}${path}`, {
      method: method as 'POST',
      dispatcher: attacker,
      headers: { authorization: `Bearer ${bad}`, 'content-type': 'application/json' },
      body,
    })
    await answer.dump()
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  const step = progress.step(`${inputs.length} bodies, ${PER_SECOND} a second`)
  try {
    for (let warm = 0; warm < 50; warm += 1) await ask(`${stack.baseUrl}/api/account`, good)()
    const costs: { input: WorstInput; ms: number }[] = []
    if (process.env.BENCH_COSTS) {
      for (const input of inputs) {
        const before = cpuSecondsOf(pids()).api ?? 0
        await send(input)
        costs.push({ input, ms: ((cpuSecondsOf(pids()).api ?? 0) - before) * 1000 })
      }
      for (const { input, ms } of costs.sort((a, b) => b.ms - a.ms).slice(0, 60))
        progress.line(`${ms.toFixed(0)} ms ${input.method} ${input.path} ${input.what}`)
    }
    const account = asking(ask(`${stack.baseUrl}/api/account`, good))
    const health = asking(ask(stack.metricsUrls.api.replace('/metrics', '/healthz')))
    const under: Promise<void>[] = []
    const startMs = performance.now()
    for (const [n, input] of inputs.entries()) {
      await sleep(Math.max(0, startMs + (n * 1000) / PER_SECOND - performance.now()))
      under.push(send(input))
      if (n % 50 === 0) step.update(`${n} of ${inputs.length}`, n / inputs.length)
    }
    await Promise.all(under)
    const [accounts, healths] = [await account.stop(), await health.stop()]
    step.done([...statuses].map(([status, count]) => `${count} × ${status}`).join(', '))
    for (const { atMs, tookMs } of [...accounts].sort((a, b) => b.tookMs - a.tookMs).slice(0, 12)) {
      const n = Math.floor(((atMs - startMs) * PER_SECOND) / 1000)
      const near = inputs.slice(Math.max(0, n), n + 2).map(({ method, path, what }) => `${method} ${path} ${what}`)
      progress.line(`  ${tookMs.toFixed(0)} ms about ${near.join(' | ')}`)
    }
    const bar = { unit: 'ms', peer: 'the bar', goal: { atMost: 1 } }
    figure({
      name: "another's GET /api/account, p99",
      value: quantile(accounts, 0.99),
      peerValue: BAR.accountMs,
      ...bar,
    })
    figure({ name: '/healthz, longest', value: quantile(healths, 1), peerValue: BAR.healthMs, ...bar })
  } finally {
    await Promise.all([attacker.close(), others.close()])
    await end()
  }
}
