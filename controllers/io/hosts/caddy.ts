/**
 * Caddy's admin API over a stream: one request on each, because every change restarts the endpoint and cuts what is kept
 * open. Source: rules/host.md#the-proxy.
 */
import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import { Waiting } from '../../base/errors.ts'

const ANSWER_LIMIT_MS = 10_000
const ANSWER_BYTES_MAX = 32 * 1024 * 1024

/** How soon a pass asks again when the endpoint stays away. */
const AWAY_RETRY_MS = 5_000

/** The endpoint was restarted under the call: it may have been carried out. Read again, then decide. */
export class AdminReset extends Waiting {
  constructor(detail: string) {
    super('ProxyUnreachable', `the admin endpoint of the host's proxy does not answer: ${detail}`, AWAY_RETRY_MS)
    this.name = 'AdminReset'
  }
}

/** The endpoint refused. The message is Caddy's own about a configuration that we made. */
export class AdminRefused extends Error {
  override name = 'AdminRefused'
  readonly status: number
  constructor(call: string, status: number, message: string) {
    super(`${call}: ${status} ${message}`)
    this.status = status
  }
}

export type AdminAnswer = { status: number; etag: string; text: string }
export type AdminCall = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  body?: unknown
  ifMatch?: string
}

/** What http calls on a socket and a channel of SSH does not have. */
const asSocket = (stream: Duplex): Duplex => {
  const nothing = () => stream
  return Object.assign(stream, {
    setTimeout: nothing,
    setNoDelay: nothing,
    setKeepAlive: nothing,
    ref: nothing,
    unref: nothing,
  })
}

/**
 * One call. Refusals are answers here, with their status.
 * @throws AdminReset when the stream ended before the answer did
 */
export const callAdmin = (stream: Duplex, { method, path, body, ifMatch }: AdminCall): Promise<AdminAnswer> =>
  new Promise((resolve, reject) => {
    const reset = () => reject(new AdminReset(`${method} ${path} was cut off`))
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const sent = request({
      method,
      path,
      // the names that the endpoint accepts on loopback, whatever its port
      headers: {
        host: 'localhost:2019',
        ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      createConnection: () => asSocket(stream) as never,
    })
    const timer = setTimeout(() => stream.destroy(), ANSWER_LIMIT_MS)
    stream.on('error', reset)
    sent.on('error', reset)
    sent.on('close', () => {
      clearTimeout(timer)
      reset()
      stream.destroy()
    })
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= ANSWER_BYTES_MAX) chunks.push(chunk)
        else stream.destroy()
      })
      response.on('error', reset)
      response.on('end', () => {
        const { etag = '' } = response.headers
        resolve({ status: response.statusCode ?? 0, etag, text: Buffer.concat(chunks).toString() })
      })
    })
    sent.end(payload)
  })
