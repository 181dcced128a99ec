/** Pages as a visitor gets them, through the TLS port of the host and not by what the proxy says of itself. */
import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { AdminReset } from '../caddy.ts'

const LIMIT_MS = 15_000
const BODY_MAX_BYTES = 4 * 1024 * 1024

/** One page as it was answered. */
export type ServedPage = { path: string; status: number; sha256: string }

/**
 * `none`: nobody answers with a certificate for the name, or not to the end. `tookMs`: for all pages, from the first request on, and there once
 * something was asked.
 */
export type Served =
  | { state: 'none'; detail: string; tookMs?: number }
  | { state: 'answered'; pages: ServedPage[]; tookMs: number }

/**
 * Certificates are looked at for the name and its time, not for who signed them: that a CA of the host's own is trusted by
 * visitors is measured elsewhere (io/certificates.ts).
 */
const secure = (stream: Duplex, hostname: string): Promise<{ socket: Duplex } | { detail: string }> =>
  new Promise((resolve) => {
    const socket = connect({
      socket: stream,
      servername: hostname,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    })
    const fail = (detail: string) => {
      socket.destroy()
      resolve({ detail })
    }
    socket.once('error', (error: Error & { code?: string }) => fail(error.code ?? 'TLS_FAILED'))
    socket.once('close', () => fail('CLOSED'))
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      if (certificate?.checkHost(hostname) === undefined) return fail('OTHER_NAME')
      if (certificate.validToDate.getTime() <= Date.now()) return fail('EXPIRED')
      resolve({ socket })
    })
  })

const get = (agent: Agent, hostname: string, path: string): Promise<ServedPage> =>
  new Promise((resolve, reject) => {
    const headers = { host: hostname, 'accept-encoding': 'identity', 'user-agent': 'bottega-verify' }
    const call = request({ path, headers, agent }, (response) => {
      const hash = createHash('sha256')
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > BODY_MAX_BYTES) response.destroy()
        else hash.update(chunk)
      })
      response.on('error', reject)
      response.on('end', () => resolve({ path, status: response.statusCode ?? 0, sha256: hash.digest('hex') }))
    })
    call.on('error', reject)
    call.end()
  })

/** One request after the other over the one connection. */
const getAll = async (socket: Duplex, hostname: string, paths: readonly string[]): Promise<ServedPage[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = () => socket
  try {
    const pages: ServedPage[] = []
    for (const path of paths) pages.push(await get(agent, hostname, path))
    return pages
  } finally {
    agent.destroy()
  }
}

/** @param open a stream to where the host serves TLS  @returns what a visitor sees; never throws for what the host answers */
export const lookAt = async (
  open: () => Promise<Duplex>,
  hostname: string,
  paths: readonly string[],
  limitMs = LIMIT_MS,
): Promise<Served> => {
  const stream = await open().catch((error) => {
    if (error instanceof AdminReset) return null
    throw error
  })
  if (stream === null) return { state: 'none', detail: 'NOBODY_LISTENS' }
  const timer = setTimeout(() => stream.destroy(new Error('the look took too long')), limitMs)
  try {
    const secured = await secure(stream, hostname)
    if ('detail' in secured) return { state: 'none', detail: secured.detail }
    const beganMs = performance.now()
    return await getAll(secured.socket, hostname, paths).then(
      (pages) => ({ state: 'answered', pages, tookMs: performance.now() - beganMs }) as const,
      () => ({ state: 'none', detail: 'CUT', tookMs: performance.now() - beganMs }) as const,
    )
  } finally {
    clearTimeout(timer)
    stream.destroy()
  }
}

/** Whatever its body. `status` is null where nobody answered, and `detail` says why; `tookMs` is null where nothing was asked. */
export type Visited = { status: number; tookMs: number } | { status: null; detail: string; tookMs: number | null }

/** One page. */
export const visit = async (
  open: () => Promise<Duplex>,
  { hostname, path, limitMs }: { hostname: string; path: string; limitMs: number },
): Promise<Visited> => {
  const served = await lookAt(open, hostname, [path], limitMs)
  if (served.state === 'none') return { status: null, detail: served.detail, tookMs: served.tookMs ?? null }
  const [page] = served.pages
  return page ? { status: page.status, tookMs: served.tookMs } : { status: null, detail: 'CUT', tookMs: served.tookMs }
}
