import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { ensureTools } from '../lib/tools.ts'
import { controlPlaneTools } from '../lib/tooltable.ts'
import { startControlPlane } from '../platform/controlplane.ts'
import { createKubectl } from '../platform/kubectl.ts'
import { applyNamespace, applyPlatform, createDemoAccounts, writeServiceKubeconfig } from '../platform/platform.ts'
import { apiUrlOf, query, startPostgres } from '../platform/postgres.ts'
import { createStack, type Stack } from '../platform/stack.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { ITEMS, RAW_NAMESPACE, rawClient, rawPair } from './sides/rawpair.ts'
import { type Cost, costUnderLoad, load, middle } from './sides/underload.ts'

/**
 * Sent invoices through REST (number, snapshot and mail included) beside a raw create + status patch of the same object
 * by a bare keep-alive client, on the same API server in the same run.
 */

const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
/** The machine's speed moves within seconds, so the two sides take turns: raw pairs before, between and after. */
const TURNS = 10
const RAW_SECONDS = 4
const CALLERS = 32
/** Until what a send runs is compiled: a platform that has run for a while is measured, not one that has just begun. */
const WARM_SECONDS = 20
const IDLE_CALLS = 100
/** What goes on behind an answer, its mail too, has come to its end. */
const IDLE_MS = 200

const BODY = JSON.stringify({
  send: true,
  client_name: 'ACME',
  client_email: 'billing@acme.test',
  currency: 'EUR',
  due_date: '2027-12-20',
  tax_rate_bp: 2000,
  items: ITEMS,
})

const timed = async (call: () => Promise<void>): Promise<number> => {
  const startMs = performance.now()
  await call()
  return performance.now() - startMs
}

/** One by one and in turn, for the machine's speed moves: the median of each. */
const p50 = async (
  calls: number,
  [one, other]: [() => Promise<void>, () => Promise<void>],
): Promise<[number, number]> => {
  const times: [number[], number[]] = [[], []]
  for (let n = 0; n < calls; n++) {
    times[0].push(await timed(one))
    await sleep(IDLE_MS)
    times[1].push(await timed(other))
    await sleep(IDLE_MS)
  }
  return [median(times[0]), median(times[1])]
}

const counted = async (url: string, name: string): Promise<number> => {
  const { body } = await request(url)
  const lines = (await body.text()).split('\n').filter((line) => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Writes to the API server that one process has made. */
const written = async (url: string): Promise<number> => {
  const { body } = await request(url)
  const lines = (await body.text()).split('\n')
  return lines
    .filter((line) => /^rest_client_requests_total\{.*method="(POST|PATCH|PUT|DELETE)"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** The real parts, durable as in production. */
/** @param env settings of both processes, over those of a stack */
export const standUp = async ({ scratch, progress }: BenchContext, env: Record<string, string> = {}) => {
  const owner = `bench-${process.pid}`
  const tools = await ensureTools(controlPlaneTools, { progress })
  const step = progress.step('control plane, PostgreSQL, platform')
  const [plane, postgres] = await Promise.all([
    startControlPlane({ stateDir: join(scratch, 'cp'), tools, owner, durable: true }),
    startPostgres({ dataDir: join(scratch, 'pg'), owner, durable: true }),
  ])
  const kubectl = createKubectl(tools.path('kubectl'), plane.kubeconfig)
  await applyPlatform(kubectl)
  await createDemoAccounts(kubectl)
  const granted = JSON.stringify({ spec: { limits: { sendsPerDay: 1_000_000 } } })
  await kubectl(['patch', 'account.bottega.dev/demo', '-n', 'default', '--type=merge', '-p', granted])
  await applyNamespace(kubectl, RAW_NAMESPACE)
  const kubeconfigs = { api: join(scratch, 'api.kubeconfig'), controllers: join(scratch, 'controllers.kubeconfig') }
  await writeServiceKubeconfig(kubectl, 'api', kubeconfigs.api)
  await writeServiceKubeconfig(kubectl, 'controllers', kubeconfigs.controllers)
  await migrate(postgres.url, { apiUrl: apiUrlOf(postgres.url) })
  const stack = await createStack({
    folder: scratch,
    owner,
    namespace: 'default',
    databaseUrl: postgres.url,
    kubeconfigs,
    env,
    discardsMails: true,
  })
  await stack.start()
  step.done()
  const pids = () => ({
    etcd: plane.processes.etcd.pid(),
    apiserver: plane.processes.apiserver.pid(),
    postgres: postgres.pid(),
    api: stack.api.pid(),
    controllers: stack.controllers.pid(),
    mail: stack.mail.pid(),
    client: process.pid,
  })
  const end = async () => {
    await stack.stop()
    await Promise.all([plane.stop(), postgres.stop()])
  }
  const commits = async () => {
    const [row] = await query(
      postgres.url,
      'select xact_commit::int as n from pg_stat_database where datname = current_database()',
    )
    return Number(row?.n)
  }
  return { stack, kubectl, databaseUrl: postgres.url, kubeconfigs, pids, commits, end }
}

const sender = (stack: Stack, token: string) => {
  const agent = new Agent({ connections: CALLERS })
  const post = async () => {
    const { statusCode, body } = await request(`${stack.baseUrl}/api/invoices`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: BODY,
    })
    const text = await body.text()
    if (statusCode !== 201) throw new Error(`POST answered ${statusCode}: ${text.slice(0, 300)}`)
  }
  return { post, close: () => agent.close() }
}

const mailsOf = (stack: Stack): Promise<number> =>
  counted(stack.metricsUrls.controllers, 'bottega_mail_attempts_total{outcome="sent"}')

const mailsDone = async (stack: Stack, wanted: number) => {
  const endMs = performance.now() + 60_000
  while (performance.now() < endMs) {
    if ((await mailsOf(stack)) >= wanted) return
    await sleep(50)
  }
  throw new Error('the mails did not all go out within a minute')
}

type Sides = {
  stack: Stack
  pids: Awaited<ReturnType<typeof standUp>>['pids']
  commits: () => Promise<number>
  raw: () => Promise<void>
  send: () => Promise<void>
  /** Invoices sent so far. */
  sent: () => number
}

/** Turns of sending, each between two turns of raw pairs; commits and writes per invoice over all of them. */
const measureTurns = async ({ stack, pids, commits, raw, send, sent }: Sides) => {
  const writes = async () => (await written(stack.metricsUrls.api)) + (await written(stack.metricsUrls.controllers))
  const [writesBefore, sentBefore, commitsBefore] = [await writes(), sent(), await commits()]
  let pairs = 0
  const pair = async () => {
    await raw()
    pairs++
  }
  const rawTurn = () =>
    costUnderLoad({ pids, callers: CALLERS, seconds: RAW_SECONDS, call: pair, done: async () => pairs })
  const sending = { pids, callers: CALLERS, seconds: SECONDS / TURNS, call: send }
  // The mails belong to the work: what counts is an invoice whose mail is out.
  const turn = async () => {
    const cost = await costUnderLoad({ ...sending, done: () => mailsOf(stack) })
    await mailsDone(stack, sent())
    return cost
  }
  const raws = [await rawTurn()]
  const turns: Cost[] = []
  for (let n = 0; n < TURNS; n++) {
    turns.push(await turn())
    raws.push(await rawTurn())
  }
  await sleep(1_500) // the statistics of PostgreSQL lag by a second
  const invoices = sent() - sentBefore
  return {
    turns,
    raws,
    commitsEach: ((await commits()) - commitsBefore) / invoices,
    writesEach: ((await writes()) - writesBefore) / invoices,
  }
}

type Measured = Awaited<ReturnType<typeof measureTurns>> & { idleMs: number; rawIdleMs: number }

const report = ({ progress, figure }: BenchContext, measured: Measured) => {
  const { turns, raws, commitsEach, writesEach, idleMs, rawIdleMs } = measured
  progress.line(
    `  per invoice: ${commitsEach.toFixed(1)} transactions, ${writesEach.toFixed(2)} writes to the API server (leases included)`,
  )
  // Each turn beside the raw pairs just before and just after it.
  const ratios = turns.map(({ rate }, turn) => (2 * rate) / ((raws[turn]?.rate ?? 0) + (raws[turn + 1]?.rate ?? 0)))
  progress.line(`  turn by turn: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} ×`)
  const [ours, theirs] = [middle(turns), middle(raws)]
  const peer = 'raw create + status patch'
  const share = ({ each }: Cost) =>
    Object.entries(each)
      .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
      .join(', ')
  progress.line(`  CPU ms per raw pair: ${share(theirs)}`)
  progress.line(`  CPU ms per invoice: ${share(ours)}`)
  const sustained = `invoices sent through REST, ${SECONDS} s, ${CALLERS} callers`
  const idle = 'idle create-to-answer p50'
  const cpu = 'CPU per invoice, all processes'
  figure({ name: sustained, value: ours.rate, unit: '/s', peer, peerValue: theirs.rate, goal: { atLeast: 0.45 } })
  figure({ name: idle, value: idleMs, unit: 'ms', peer, peerValue: rawIdleMs, goal: { atMost: 2.5 } })
  figure({ name: cpu, value: ours.cpuMs, unit: 'ms', peer, peerValue: theirs.cpuMs, goal: { atMost: 2.2 } })
}

export const bench = async (context: BenchContext) => {
  const { stack, kubeconfigs, pids, commits, end } = await standUp(context)
  const api = rawClient(kubeconfigs.api, CALLERS)
  const controllers = rawClient(kubeconfigs.controllers, CALLERS)
  const raw = rawPair(api, controllers)
  const { post, close } = sender(stack, await stack.token('demo'))
  let sent = 0
  const send = async () => {
    await post()
    sent++
  }
  try {
    await load(CALLERS, 3, raw)
    await load(CALLERS, WARM_SECONDS, send)
    await mailsDone(stack, sent)

    const [rawIdleMs, idleMs] = await p50(IDLE_CALLS, [raw, send])
    await mailsDone(stack, sent)
    const measured = await measureTurns({ stack, pids, commits, raw, send, sent: () => sent })
    report(context, { ...measured, idleMs, rawIdleMs })
  } finally {
    await close()
    await api.close()
    await controllers.close()
    await end()
  }
}
