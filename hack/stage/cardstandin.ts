import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Stripe from 'stripe'
import {
  type CardFields,
  type CardState,
  idOf,
  makeCardState,
  pageOf,
  Refused,
  type StandInRefund,
  type StandInSession,
} from './cardstate.ts'

/**
 * A stand-in for the card processor with state, which its own mock does not have: checkout sessions, their page, refunds,
 * and messages signed by the processor's library. It speaks as much of the real API as Bottega uses, and refuses the rest.
 */
export type CardStandInOptions = {
  port?: number
  secretKey: string
  webhookSecret: string
  /** Where signed messages go. */
  webhookUrl(): string
  /** The processor's own mock: every request is shown to it first, and what it refuses is refused. */
  validator?: string
  log?(line: string): void
}

type Delivered = { id: string; type: string; status: number }

export type CardStandIn = {
  apiBase: string
  sessions: Map<string, StandInSession>
  refunds: Map<string, StandInRefund>
  /** Every request of the API, as `POST /v1/refunds`. */
  requests: string[]
  /** Messages that were sent, in order, with the answer's status. */
  delivered: Delivered[]
  /** What is to be answered instead, until it is taken away. */
  trouble: { when(request: string): boolean; status: number; code: string; after?: boolean } | null
  /** What a refund comes to at first. */
  refundStatus: 'succeeded' | 'pending'
  /** Whether messages go out by themselves. */
  isSilent: boolean
  /** Pays like a visitor who submits the form. @returns the status of the answer */
  pay(id: string): Promise<number>
  /** Sends a signed message about an object. @returns the status of the answer */
  notify(
    type: string,
    object: CardFields,
    more?: { id?: string; livemode?: boolean; at?: number; account?: string },
  ): Promise<number>
  stop(): Promise<void>
}

const BODY_MAX = 1_000_000
/** The processor tries for days; this one for as long as somebody may be restarting something. */
const RETRY_MS = [500, 2_000, 5_000, 15_000]

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_MAX) throw new Refused(413, 'too_large', 'too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

type Reply = { status: number; body: CardFields }

type Running = {
  options: CardStandInOptions
  /** The first answers under each idempotency key, with the digest of what was asked. */
  kept: Map<string, Reply & { digest: string }>
  leaving: AbortController
  state: CardState
  standIn: CardStandIn
}

const send = async ({ options, leaving }: Running, payload: string): Promise<number> => {
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: options.webhookSecret })
  const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': header }
  const answer = await fetch(options.webhookUrl(), { method: 'POST', headers, body: payload, signal: leaving.signal })
  await answer.body?.cancel()
  return answer.status
}

const deliver = async (running: Running, type: string, payload: string): Promise<number> => {
  let status = 0
  for (const waitMs of [0, ...RETRY_MS]) {
    await sleep(waitMs, undefined, { signal: running.leaving.signal })
    status = await send(running, payload).catch(() => 0)
    running.options.log?.(`${type} ${status}`)
    if (status >= 200 && status < 300) break
  }
  running.standIn.delivered.push({ id: String(JSON.parse(payload).id), type, status })
  return status
}

const notify = (running: Running, ...[type, object, more = {}]: Parameters<CardStandIn['notify']>): Promise<number> => {
  const { id = idOf('evt'), livemode = false, at, account } = more
  const created = at ?? Math.floor(Date.now() / 1000)
  const event = { id, object: 'event', type, created, livemode, data: { object }, ...(account && { account }) }
  return deliver(running, type, JSON.stringify(event))
}

/** What the processor's own mock says of a request: it knows what is well formed. */
const validate = async ({ options }: Running, method: string, path: string, body: string): Promise<void> => {
  if (options.validator === undefined) return
  const answer = await fetch(`${options.validator}${path}`, {
    method,
    headers: { authorization: 'Bearer sk_test_123', 'content-type': 'application/x-www-form-urlencoded' },
    ...(method === 'POST' && { body }),
  })
  const text = await answer.text()
  if (answer.status >= 400) throw new Refused(answer.status, 'not_well_formed', text)
}

const refuse = ({ status, code }: { status: number; code: string }): never => {
  throw new Refused(status, code, 'trouble')
}

/** The first answer under a key is the answer to each repeat. */
const once = ({ kept }: Running, key: string | string[] | undefined, digest: string, run: () => CardFields): Reply => {
  const before = key === undefined ? undefined : kept.get(String(key))
  if (before && before.digest !== digest) throw new Refused(400, 'idempotency_error', 'used with other parameters')
  const answer = before ?? { digest, status: 200, body: { ...run() } }
  if (key !== undefined) kept.set(String(key), answer)
  return answer
}

/** @param query of the address; a POST has a form in place of it */
const answerApi = async (
  running: Running,
  request: IncomingMessage,
  { path, query }: { path: string; query: string },
): Promise<Reply> => {
  const { standIn, options, state } = running
  const { method = 'GET', headers } = request
  const body = await read(request)
  const asked = `${method} ${path}`
  standIn.requests.push(asked)
  if (headers.authorization !== `Bearer ${options.secretKey}`) throw new Refused(401, '', 'Invalid API Key provided')
  await validate(running, method, query === '' ? path : `${path}?${query}`, body)
  const trouble = standIn.trouble?.when(asked) ? standIn.trouble : null
  if (trouble && !trouble.after) refuse(trouble)
  const digest = createHash('sha256').update(`${path}\n${body}`).digest('hex')
  const key = method === 'POST' ? headers['idempotency-key'] : undefined
  const answer = once(running, key, digest, () =>
    state.perform(method, path, new URLSearchParams(method === 'POST' ? body : query)),
  )
  if (trouble) refuse(trouble)
  return answer
}

/** A visitor's page: its form completes the session, sends the message, and leads back. */
const answerPage = async (
  running: Running,
  { method }: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<void> => {
  const { state, standIn } = running
  const session = state.found(id)
  const html = { 'content-type': 'text/html; charset=utf-8' }
  if (method !== 'POST') return void response.writeHead(200, html).end(pageOf(session))
  if (!state.complete(session)) return void response.writeHead(410, html).end(pageOf(session))
  if (!standIn.isSilent) await notify(running, 'checkout.session.completed', { ...session })
  response.writeHead(303, { location: session.success_url }).end()
}

const failureOf = (error: unknown): Reply => {
  const { status = 500, code = '', message } = error as Partial<Refused> & Error
  const type = code === 'idempotency_error' ? code : status >= 500 ? 'api_error' : 'invalid_request_error'
  return { status, body: { error: { type, ...(code && { code }), message } } }
}

const serve = async (running: Running, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  const page = /^\/pay\/([^/]+)$/.exec(path)?.[1]
  const json = ({ status, body }: Reply) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  try {
    if (path === '/healthz') json({ status: 200, body: {} })
    else if (page !== undefined) await answerPage(running, request, response, page)
    else json(await answerApi(running, request, { path, query }))
  } catch (error) {
    json(failureOf(error))
  }
}

const pay = async ({ state }: Running, id: string): Promise<number> => {
  const answer = await fetch(state.found(id).url, { method: 'POST', redirect: 'manual' })
  await answer.body?.cancel()
  return answer.status
}

/** Listens on loopback, on any free port unless one is given. */
export const startCardStandIn = async (options: CardStandInOptions): Promise<CardStandIn> => {
  const leaving = new AbortController()
  const state = makeCardState({
    apiBase: () => standIn.apiBase,
    refundStatus: () => standIn.refundStatus,
    announce: (type, object) => {
      if (!standIn.isSilent) void notify(running, type, { ...object }).catch(() => {})
    },
  })
  const server = createServer((request, response) => void serve(running, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const standIn: CardStandIn = {
    apiBase: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions: state.sessions,
    refunds: state.refunds,
    requests: [],
    delivered: [],
    trouble: null,
    refundStatus: 'succeeded',
    isSilent: false,
    pay: (id) => pay(running, id),
    notify: (...message) => notify(running, ...message),
    stop: async () => {
      leaving.abort()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const running: Running = { options, kept: new Map(), leaving, state, standIn }
  return standIn
}
