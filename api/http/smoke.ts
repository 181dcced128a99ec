/** What `helm test` runs: every process is ready, the API describes itself, refuses strangers, and numbers a test invoice. */
import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvError, readEnv, SMOKE } from '../../controllers/base/env.ts'

const TIMEOUT_MS = 20_000
/** Longer than a pod takes to end. */
const SETTLED_MS = 60_000
const POLL_MS = 1_000
/** The same each time, so that every further test is answered with the same invoice. */
const EXTERNAL_REF = 'helm-test'

type Answer = { status: number; body: Record<string, unknown> }

const ask = async (url: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, body: isJson ? JSON.parse(text) : { text } }
}

const demand = (holds: boolean, sentence: string, answer: Answer) => {
  if (!holds) throw new Error(`${sentence}, but the answer was ${answer.status} ${JSON.stringify(answer.body)}`)
  console.log(`ok ${sentence}`)
}

/** Addresses and answers of the processes that are not ready. The Service has no address of its own: its name stands for all pods. */
const unready = async (metrics: string): Promise<string[]> => {
  const { hostname, port } = new URL(metrics)
  const pods = await lookup(hostname, { all: true })
  const looks = pods.map(async ({ address, family }) => {
    const answer = await ask(`http://${family === 6 ? `[${address}]` : address}:${port}/readyz`).catch(String)
    const isReady = typeof answer !== 'string' && answer.status === 200
    return isReady ? [] : [`${address}: ${typeof answer === 'string' ? answer : answer.body.text}`]
  })
  const found = (await Promise.all(looks)).flat()
  if (found.length === 0) console.log(`ok all ${pods.length} processes are ready`)
  return found
}

/** Right after an upgrade the pods of before are still there, and on their way out: they are waited for. */
const everyProcessIsReady = async (metrics: string) => {
  const endAt = performance.now() + SETTLED_MS
  for (let left = await unready(metrics); left.length > 0; left = await unready(metrics)) {
    if (performance.now() > endAt) throw new Error(`Not every process is ready: ${left.join('; ')}`)
    await sleep(POLL_MS)
  }
}

const apiIsThere = async (url: string) => {
  const described = await ask(`${url}/api/openapi-invoices.json`)
  demand(described.status === 200 && 'paths' in described.body, 'the API describes itself', described)
  const refused = await ask(`${url}/api/account`)
  demand(refused.status === 401 && 'code' in refused.body, 'the API refuses a stranger', refused)
}

const testInvoiceIsNumbered = async (url: string, token: string) => {
  const invoice = {
    external_ref: EXTERNAL_REF,
    test: true,
    send: true,
    client_name: 'Helm',
    client_email: 'helm@bottega.test',
    items: [{ description: 'helm test', qty: 1, unit_cents: 100 }],
  }
  const answer = await ask(`${url}/api/invoices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(invoice),
  })
  demand(/^TEST-/.test(String(answer.body.number)), `a test invoice is numbered`, answer)
}

const main = async () => {
  const { url, metrics, token } = readEnv(SMOKE, process.env)
  await everyProcessIsReady(metrics)
  await apiIsThere(url)
  if (token !== undefined) await testInvoiceIsNumbered(url, token)
}

main().catch((error) => {
  console.error(error instanceof EnvError ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
