import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import PostalMime, { type Email } from 'postal-mime'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { asList } from '../../../hack/platform/kubectl.ts'
import { applyPlatform, writeServiceKubeconfig } from '../../../hack/platform/platform.ts'
import { apiUrlOf, type Postgres } from '../../../hack/platform/postgres.ts'
import { createStack, type Stack } from '../../../hack/platform/stack.ts'
import { noteExchange, plantToken } from '../canaries/answers.ts'
import { keepLogs, keepMails, keepMetrics } from '../canaries/collect.ts'
import { plantSealed, plantSettings } from '../canaries/platform.ts'
import { undocumented } from '../judges/answers/contract.ts'
import { patience } from '../runner/patience.ts'
import {
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  type Owned,
  ownPostgres,
  scratchFolder,
  serviceKubeconfig,
} from './stage.ts'

/** The whole platform for one test file: real processes, a durable PostgreSQL (they refuse any other), a namespace. */
export type Platform = Stack & {
  postgres: Owned<Postgres>
  database: Database
  /** As its processes have them. */
  keys: Keys
  namespace: Namespace
  /** Of its processes, each as itself. */
  kubeconfigs: { api: string; controllers: string }
  /** A full-access token of the account `demo`. */
  owner: string
  kubectl: (args: string[], input?: unknown) => Promise<string>
  end(): Promise<void>
}

const account = (namespace: string, name: string, email: string) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Account',
  metadata: { name, namespace },
  spec: { email, name: `${name} Studio`, plan: 'team' },
})

/**
 * `plane`: a control plane of the test's own, in place of the shared one. `kubeconfigs`: other ways to the shared one.
 * `through`: gives the way of the processes to the database, by a proxy; the test's own way is the direct one.
 * `dataFolder`: where PostgreSQL keeps its data, in place of a scratch folder; it goes with the platform.
 */
export type Given = {
  env?: Record<string, string>
  plane?: ControlPlane
  kubeconfigs?: { api: string; controllers: string }
  through?: (url: string) => Promise<string>
  apiPort?: number
  dataFolder?: string
}

/** Our objects on a bare control plane, and the kubeconfigs of the two processes. */
async function openPlane(plane: ControlPlane, folder: string) {
  const kubectl = kubectlFor(plane.kubeconfig)
  await applyPlatform(kubectl)
  const kubeconfigs = { api: join(folder, 'api.kubeconfig'), controllers: join(folder, 'controllers.kubeconfig') }
  await writeServiceKubeconfig(kubectl, 'api', kubeconfigs.api)
  await writeServiceKubeconfig(kubectl, 'controllers', kubeconfigs.controllers)
  return kubeconfigs
}

/** What its processes are given, as secrets of the run. */
const plantGiven = (stack: Stack, env: Record<string, string>, kubeconfigs: { api: string; controllers: string }) => {
  const { BOTTEGA_DATABASE_URL: url = '' } = env
  plantSettings({
    ...env,
    BOTTEGA_API_DATABASE_URL: apiUrlOf(url),
    BOTTEGA_SECRET_KEY: stack.secretKey,
    BOTTEGA_SMTP_URL: stack.smtpUrl,
    KUBECONFIG: kubeconfigs.api,
  })
  plantSettings({ KUBECONFIG: kubeconfigs.controllers })
}

/** Accounts `demo` (owner@demo.test) and `other` (other@demo.test) exist. */
export async function startPlatform(given: Given = {}): Promise<Platform> {
  const folder = scratchFolder('stack')
  const kubeconfigs = given.plane
    ? await openPlane(given.plane, folder)
    : (given.kubeconfigs ?? { api: serviceKubeconfig('api'), controllers: serviceKubeconfig('controllers') })
  const [postgres, namespace] = await Promise.all([
    ownPostgres(given.dataFolder),
    makeNamespace(given.plane?.kubeconfig),
  ])
  const database = await makeDatabase(postgres.url)
  const kubectl = kubectlFor(namespace.kubeconfig)
  const demo = account(namespace.name, 'demo', 'owner@demo.test')
  const other = account(namespace.name, 'other', 'other@demo.test')
  await kubectl(['apply', '-f', '-'], asList([demo, other]))
  const stack = await createStack({
    folder,
    owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
    namespace: namespace.name,
    databaseUrl: (await given.through?.(database.url)) ?? database.url,
    kubeconfigs,
    ...(given.env && { env: given.env }),
    ...(given.apiPort !== undefined && { apiPort: given.apiPort }),
  })
  await stack.start()
  const token = async (account: string) => plantToken(await stack.token(account))
  plantGiven(stack, { ...given.env, BOTTEGA_DATABASE_URL: database.url }, kubeconfigs)
  const end = async () => {
    await keepMetrics(stack.metricsUrls)
    await stack.stop()
    await plantSealed(database.url, stack.openKeys)
    keepLogs(folder)
    await keepMails(stack.mailDir)
    await namespace.remove()
    await postgres.end()
    rmSync(folder, { recursive: true, force: true })
  }
  const inNamespace = (args: string[], input?: unknown) => kubectl([...args, '-n', namespace.name], input)
  const [owner, second] = [await token('demo'), await token('other')]
  // A token answers once its account has been seen by the controllers.
  for (const one of [owner, second]) {
    const look = async () => (await call(stack.baseUrl, one, 'GET', '/api/invoices')).status === 200
    await eventually('the accounts', look)
  }
  const keys = await stack.openKeys()
  return { ...stack, token, keys, postgres, database, namespace, kubeconfigs, owner, kubectl: inNamespace, end }
}

export type Reply = { status: number; headers: Headers; text: string; json: Json }
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, field by field
export type Json = any

/** One call; the body goes as JSON unless it is text or bytes already. Throws when the answer is not as the OpenAPI documents describe it. */
export async function call(
  base: string,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const raw = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(`${base}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    signal: AbortSignal.timeout(40_000),
  })
  const text = await response.text()
  const contentType = response.headers.get('content-type') ?? ''
  const json = /[/+]json/.test(contentType) && text !== '' ? JSON.parse(text) : null
  const { status } = response
  noteExchange({ path, body, answer: { status, text, cookies: response.headers.getSetCookie() } })
  const wrong = undocumented(method, path, { status, contentType, json })
  if (wrong) throw new Error(wrong)
  return { status, headers: response.headers, text, json }
}

export const order = (change: Record<string, unknown> = {}) => ({
  send: true,
  client_name: 'ACME',
  client_email: 'billing@acme.test',
  currency: 'EUR',
  due_date: '2027-12-20',
  tax_rate_bp: 2000,
  items: [{ description: 'October retainer', qty: 1.5, unit_cents: 80_000 }],
  ...change,
})

/** Every mail that was caught, oldest first. */
export async function mailsIn(dir: string): Promise<Email[]> {
  const files = readdirSync(dir).filter((name) => name.endsWith('.eml'))
  return Promise.all(files.sort().map((name) => PostalMime.parse(readFileSync(join(dir, name)))))
}

const PAUSE_MIN_MS = 50
const PAUSE_MAX_MS = 500

/**
 * Polls until `look` gives something, or fails saying what was waited for. Who waits long looks seldom: a look costs processor.
 * @param givenMs that are ample on a quiet machine
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  givenMs = 60_000,
): Promise<T> {
  const withinMs = patience(givenMs)
  const beganMs = performance.now()
  for (;;) {
    const lookedMs = performance.now()
    const found = await look()
    if (found) return found
    const nowMs = performance.now()
    if (nowMs - beganMs > withinMs) throw new Error(`waited ${withinMs} ms for ${what}`)
    await sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, nowMs - lookedMs, (nowMs - beganMs) / 20)))
  }
}

const VERDICT_MS = 240_000

/** What a request came to that was answered 202 with an operation, as if it had been waited for. @param read as who sent it */
export const asWaitedFor = async (reply: Reply, read: (path: string) => Promise<Reply>): Promise<Reply> => {
  const place = reply.headers.get('location') ?? ''
  if (reply.status !== 202 || !place.startsWith('/api/operations/')) return reply
  const look = async () => {
    const { operation } = (await read(place)).json
    return operation.state !== 'pending' && operation
  }
  const { status, result, problem } = await eventually('the verdict', look, VERDICT_MS)
  const json = problem ?? result
  return { ...reply, status: status ?? problem.status, json, text: JSON.stringify(json) }
}
