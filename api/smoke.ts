/** What `helm test` runs: every process is ready, the API describes itself, refuses strangers, and numbers a test invoice. */
import { lookup } from 'node:dns/promises'
import { EnvError, readEnv, SMOKE } from '../controllers/runtime/env.ts'

const TIMEOUT_MS = 20_000
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

/** The Service has no address of its own: its name stands for all pods. */
const everyProcessIsReady = async (metrics: string) => {
  const { hostname, port } = new URL(metrics)
  const pods = await lookup(hostname, { all: true })
  for (const { address, family } of pods) {
    const answer = await ask(`http://${family === 6 ? `[${address}]` : address}:${port}/readyz`)
    demand(answer.status === 200, `the process at ${address} is ready`, answer)
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
