import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Stack } from '../platform/stack.ts'
import { standUp } from './invoice.ts'
import { cpuSecondsOf } from './sides/cpu.ts'
import type { BenchContext } from './sides/figure.ts'
import { type AskedUrl, askBeside, pacing, standBack, type Timed } from './sides/hostile/asker.ts'
import { type Belongings, makeBelongings } from './sides/hostile/belongings.ts'
import { begunBodies, type CrowdTarget, packedBodies, slowReaders } from './sides/hostile/crowds.ts'
import { DEAR, type DearEnd, sendDear } from './sides/hostile/dear.ts'
import { type WorstInput, worstInputs } from './sides/hostile/worstinputs.ts'
import { ITEMS } from './sides/rawpair.ts'

/**
 * One account sends the worst bodies it can make to every route, ten a second; another account asks for its own meanwhile, and a
 * kubelet whether the process lives. Then one address fills the process with bodies that swell, bodies that never come and
 * answers that nobody reads. Before that, documents of a megabyte that are dear to draw. With BENCH_COSTS the bodies are sent one after the other first, and the dearest are named.
 */

const PER_SECOND = 10
const BAR = { accountMs: 100, healthMs: 50, crowdedMs: 200, residentMb: 400, dearS: 20, sendS: 2 }
const DEAR_ROUNDS = 5
const CROWD = { packed: 40, begun: 2_000, readers: 300 }
const CROWD_MS = 20_000
const DEAREST = 30
const LONGEST = 5

const quantile = (took: readonly number[], share: number): number => {
  const sorted = took.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

const tookOf = (asked: readonly Timed[]): number[] => asked.map(({ tookMs }) => tookMs)

type Place = {
  stack: Stack
  pids: Awaited<ReturnType<typeof standUp>>['pids']
  attacker: Agent
  ask: { account: AskedUrl; health: AskedUrl }
  bad: string
  belongings: Belongings
}

const open = async (context: BenchContext) => {
  // the limits of production, which the stack of a test does without
  const limits = { BOTTEGA_CONCURRENCY_PER_ADDRESS: '500' }
  const { stack, kubectl, pids, end } = await standUp(context, limits)
  const attacker = new Agent({ connections: 64 })
  const good = await stack.token('demo')
  const ask = {
    account: { url: `${stack.baseUrl}/api/account`, headers: { authorization: `Bearer ${good}` } },
    health: { url: stack.metricsUrls.api.replace('/metrics', '/healthz') },
  }
  const bad = await stack.token('free')
  const belongings = await makeBelongings({ baseUrl: stack.baseUrl, token: bad, account: 'free', kubectl })
  const place: Place = { stack, pids, attacker, ask, bad, belongings }
  const close = async () => {
    await attacker.close()
    await end()
  }
  return { place, close }
}

/** @returns the status of the answer; 0 where the socket was closed over the body, as for one that is too large */
const send = async ({ stack, attacker, bad }: Place, { method, path, headers, body }: WorstInput): Promise<number> => {
  try {
    const { statusCode, body: answer } = await request(`${stack.baseUrl}${path}`, {
      method: method as 'POST',
      dispatcher: attacker,
      headers: { authorization: `Bearer ${bad}`, prefer: 'respond-async', ...headers },
      body: body(),
    })
    await answer.dump()
    return statusCode
  } catch (error) {
    if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String((error as { code?: string }).code))) return 0
    throw error
  }
}

/** The number of the leadership, as its holder tells it. */
const epochOf = async ({ stack }: Place): Promise<number> => {
  const page = await (await request(stack.metricsUrls.controllers)).body.text()
  const line = page.split('\n').find((one) => one.startsWith('bottega_epoch'))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** One after the other: CPU time of the api for each. */
const nameDearest = async ({ progress }: BenchContext, place: Place, inputs: readonly WorstInput[]): Promise<void> => {
  const cpuMs = () => (cpuSecondsOf(place.pids()).api ?? 0) * 1000
  const costs: { input: WorstInput; ms: number }[] = []
  for (const input of inputs) {
    const before = cpuMs()
    await send(place, input)
    costs.push({ input, ms: cpuMs() - before })
  }
  for (const { input, ms } of costs.sort((a, b) => b.ms - a.ms).slice(0, DEAREST))
    progress.line(`  ${ms.toFixed(0)} ms of CPU: ${input.method} ${input.path}, ${input.what}`)
}

const measureBodies = async ({ progress, figure }: BenchContext, place: Place, inputs: readonly WorstInput[]) => {
  const step = progress.step(`${inputs.length} bodies, ${PER_SECOND} a second`)
  const giveWay = standBack()
  const [endAccounts, endHealths] = [askBeside(place.ask.account), askBeside(place.ask.health)]
  giveWay()
  const startMs = Date.now()
  const sent = inputs.map(async (input, n) => {
    await sleep((n * 1000) / PER_SECOND)
    if (n % 100 === 0) step.update(`${n} of ${inputs.length}`, n / inputs.length)
    const status = await send(place, input)
    if (status === 500) progress.line(`  500: ${input.method} ${input.path}, ${input.what}`)
    return status
  })
  const statuses = new Map<number, number>()
  for (const status of await Promise.all(sent)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const [accounts, healths] = [await endAccounts(), await endHealths()]
  step.done([...statuses].map(([status, count]) => `${count} × ${status}`).join(', '))
  for (const [name, asked] of Object.entries({ accounts, healths }))
    for (const { atMs, tookMs } of asked.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, LONGEST)) {
      const near = inputs[Math.max(0, Math.floor(((atMs - startMs) * PER_SECOND) / 1000))]
      progress.line(`  ${name}: ${tookMs.toFixed(0)} ms, about ${near?.method} ${near?.path}, ${near?.what}`)
    }
  const bar = { unit: 'ms', peer: 'the bar', goal: { atMost: 1 } }
  const p99 = { value: quantile(tookOf(accounts), 0.99), peerValue: BAR.accountMs }
  figure({ name: "worst bodies: another's GET /api/account, p99", ...p99, ...bar })
  figure({
    name: 'worst bodies: /healthz, longest',
    value: quantile(tookOf(healths), 1),
    peerValue: BAR.healthMs,
    ...bar,
  })
}

const residentMb = (pid: number | null): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

const measureCrowd = async ({ progress, figure }: BenchContext, place: Place): Promise<void> => {
  const step = progress.step(`${CROWD.packed} packed, ${CROWD.begun} begun, ${CROWD.readers} who do not read`)
  const target: CrowdTarget = { port: Number(new URL(place.stack.baseUrl).port), token: place.bad }
  const before = residentMb(place.stack.api.pid())
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, residentMb(place.stack.api.pid()))
  }, 50)
  const endAccounts = askBeside(place.ask.account)
  const sockets: Socket[] = (
    await Promise.all([
      begunBodies(CROWD.begun, target),
      slowReaders(CROWD.readers, target),
      packedBodies(CROWD.packed, target),
    ])
  ).flat()
  await sleep(CROWD_MS)
  const accounts = await endAccounts()
  clearInterval(watching)
  for (const socket of sockets) socket.destroy()
  step.done(`${before.toFixed(0)} MB before`)
  const goal = { atMost: 1 }
  const p99 = { unit: 'ms', value: quantile(tookOf(accounts), 0.99), peerValue: BAR.crowdedMs }
  figure({ name: "a crowd: another's GET /api/account, p99", peer: 'the bar', goal, ...p99 })
  figure({
    name: 'a crowd: memory of the api',
    value: most,
    unit: 'MB',
    peer: 'the bar',
    peerValue: BAR.residentMb,
    goal,
  })
}

const SEND_EVERY_MS = 100

/** One account has the dearest documents drawn, one behind the other; another sends small ones meanwhile. */
const measureDocuments = async ({ progress, figure }: BenchContext, place: Place): Promise<void> => {
  const { stack } = place
  const step = progress.step(`${DEAR_ROUNDS} rounds of dear documents`)
  const other = await stack.token('other')
  const body = JSON.stringify({
    ...{ send: true, client_name: 'ACME', client_email: 'billing@acme.test', currency: 'EUR', due_date: '2027-12-20' },
    items: ITEMS,
  })
  const good = await stack.token('demo')
  const send = async () => {
    const headers = { authorization: `Bearer ${good}`, 'content-type': 'application/json' }
    const answer = await request(`${stack.baseUrl}/api/invoices`, { method: 'POST', headers, body })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`POST answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  }
  for (let warm = 0; warm < 20; warm += 1) await send()
  const endSends = pacing(send, SEND_EVERY_MS)
  const ends: DearEnd[] = []
  for (let n = 0; n < DEAR_ROUNDS; n += 1) for (const dear of DEAR) ends.push(await sendDear(stack, other, dear, n))
  const sends = tookOf(await endSends())
  step.done(`${sends.length} small ones meanwhile`)
  for (const { what, settled, seconds, isSeen, isGone } of ends)
    progress.line(
      `  ${what}: ${settled} after ${seconds.toFixed(1)} s${isSeen && isGone ? '' : ', not seen or not gone'}`,
    )
  if (!ends.every(({ isSeen, isGone }) => isSeen && isGone)) throw new Error('an owner could not see or end an invoice')
  const bar = { peer: 'the bar', goal: { atMost: 1 } }
  const longest = Math.max(...ends.map(({ seconds }) => seconds))
  const p99 = quantile(sends, 0.99) / 1000
  figure({ name: 'a dear invoice, drawn or refused, longest', value: longest, unit: 's', peerValue: BAR.dearS, ...bar })
  figure({ name: "dear invoices: another's send, p99", value: p99, unit: 's', peerValue: BAR.sendS, ...bar })
}

export async function bench(context: BenchContext): Promise<void> {
  const { place, close } = await open(context)
  try {
    const { url, headers = {} } = place.ask.account
    for (let warm = 0; warm < 50; warm += 1) await (await request(url, { headers })).body.dump()
    const inputs = worstInputs(place.belongings)
    const led = await epochOf(place)
    if (led === 0) throw new Error('nobody leads, so nobody can lose the lease')
    if (process.env.BENCH_COSTS) await nameDearest(context, place, inputs)
    await measureDocuments(context, place)
    await measureBodies(context, place, inputs)
    await measureCrowd(context, place)
    const lost = (await epochOf(place)) - led
    const bar = { unit: 'times', peer: 'the bar', peerValue: 1, goal: { atMost: 0 } }
    context.figure({ name: 'the leader lost its lease', value: lost, ...bar })
  } finally {
    await close()
  }
}
