/** The port that people who run the platform look at: alive, ready, metrics. Never open to clients. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { withDeadline } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from './metrics.ts'

const CHECK_LIMIT_MS = 2_000

/** False, a text (what is wrong, in one line) or a rejection: not ready. With a note it is ready all the same. */
type CheckResult = boolean | string | { note: string }
export type PortCheck = () => CheckResult | Promise<CheckResult>

export type OpsOptions = {
  listen: { host: string; port: number }
  metrics: Pick<Metrics, 'render'>
  /** By name: `database`, `cache`. */
  checks: Record<string, PortCheck>
  /** What is wrong and no reason to be not ready, in one line each; null where nothing is. */
  notes?: Record<string, () => string | null>
  log?: Log
}

export type Ops = {
  port: number
  /** From now on not ready, whatever the checks say: the first thing that a stop does. */
  leave(): void
  stop(): Promise<void>
}

type Page = { status: number; contentType: string; body: string }

const TEXT = 'text/plain; charset=utf-8'

const passes = async (check: PortCheck): Promise<CheckResult> => {
  try {
    return await withDeadline('check', CHECK_LIMIT_MS, new AbortController().signal, async () => check())
  } catch {
    return false
  }
}

const readiness = async (
  { checks, notes = {} }: Pick<OpsOptions, 'checks' | 'notes'>,
  leaving: boolean,
): Promise<Page> => {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, ok: await passes(check) })),
  )
  const all = [...(leaving ? [{ name: 'stopping', ok: false }] : []), ...results]
  const ok = all.every((result) => result.ok === true || typeof result.ok === 'object')
  const lineOf = ({ name, ok: fine }: (typeof all)[number]) => {
    if (typeof fine === 'object') return `ok ${name} ${fine.note}`
    return typeof fine === 'string' ? `failed ${name} ${fine}` : `${fine ? 'ok' : 'failed'} ${name}`
  }
  const noted = Object.entries(notes).flatMap(([name, note]) => {
    const text = note()
    return text === null ? [] : [`noted ${name} ${text}`]
  })
  const body = `${[...all.map(lineOf), ...noted].join('\n')}\n`
  return { status: ok ? 200 : 503, contentType: TEXT, body }
}

const send = (response: ServerResponse, { status, contentType, body }: Page) => {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body)
}

/** Listens before it returns. @throws when the port is taken */
export const makeOps = async ({ listen, metrics, checks, notes = {}, log }: OpsOptions): Promise<Ops> => {
  let leaving = false

  const pageOf = async (path: string, accept: string | undefined): Promise<Page> => {
    switch (path) {
      case '/healthz':
        // Answering at all says that the event loop turns.
        return { status: 200, contentType: TEXT, body: 'ok\n' }
      case '/readyz':
        return readiness({ checks, notes }, leaving)
      case '/metrics':
        return { status: 200, ...(await metrics.render(accept)) }
      default:
        return { status: 404, contentType: TEXT, body: 'There are /healthz, /readyz and /metrics.\n' }
    }
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    pageOf(path, request.headers.accept).then(
      (page) => send(response, page),
      (error) => {
        log?.error({ err: error, path }, 'ops page failed')
        send(response, { status: 500, contentType: TEXT, body: 'failed\n' })
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    leave: () => {
      leaving = true
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
