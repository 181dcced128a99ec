/**
 * Reading what a client sent: one buffer under a hard cap, strict UTF-8, one JSON value; and the query string.
 */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { nearest } from '../../crds/values/nearest.ts'
import { Problem } from './problem.ts'

/** JSON bodies (rules/platform.md#bodies). */
export const BODY_MAX_BYTES = 1_000_000
/** A body of the common size has this long to arrive, and each further megabyte so much more (3 Mbit/s). */
const BODY_MS = 30_000
const MEGABYTE_MS = 3_000
/** What the largest body that a route may declare needs; the server's own limit lies above it. */
export const BODY_LARGEST_BYTES = 100_000_000

/** How long a body of at most so many bytes may take to arrive. */
export const bodyTimeMs = (maxBytes: number): number =>
  BODY_MS + Math.max(0, (maxBytes - BODY_MAX_BYTES) / 1_000_000) * MEGABYTE_MS

/** Deeper nesting is an attack on parsers, not an invoice. */
const DEPTH_MAX = 32

/** Thrown where the client went away before its request was whole: there is nobody to answer. */
export class Aborted extends Error {
  constructor() {
    super('the client went away before its request was whole')
    this.name = 'Aborted'
  }
}

type Inflate = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** By content-encoding. zlib stops at `maxOutputLength`, so that a small bomb stays small. */
const INFLATES: Readonly<Record<string, Inflate>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

const EMPTY = Buffer.alloc(0)

const tooLarge = (maxBytes: number) =>
  new Problem('BODY_TOO_LARGE', `The body is larger than this route takes (${maxBytes} bytes).`)
const unreadable = () => new Problem('MALFORMED_JSON', 'The body could not be read.')

/** Whether a body follows the headers (RFC 9112 section 6). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const tooSlow = (timeMs: number) =>
  new Problem('REQUEST_TIMEOUT', `The body did not arrive within ${Math.round(timeMs / 1000)} seconds.`)

/** The bytes as sent. Over the cap or the time, what is left flows by unseen; who answers also closes (answer.ts). */
const readSent = (request: IncomingMessage, maxBytes: number, timeMs: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let received = 0
    const stop = () => {
      clearTimeout(timer)
      request.off('data', take).off('end', end).off('close', abort)
    }
    const refuse = (problem: Problem) => {
      stop()
      request.resume()
      reject(problem)
    }
    const timer = setTimeout(() => refuse(tooSlow(timeMs)), timeMs)
    const take = (chunk: Buffer) => {
      received += chunk.length
      if (received > maxBytes) return refuse(tooLarge(maxBytes))
      chunks.push(chunk)
    }
    const end = () => {
      stop()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, received))
    }
    const abort = () => {
      stop()
      reject(new Aborted())
    }
    if (request.destroyed) return abort()
    // A socket that breaks off is an error of the request and then its close; the close is what counts.
    request.on('error', () => undefined)
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse(tooLarge(maxBytes))
    request.on('data', take).on('end', end).on('close', abort)
  })

/**
 * Reads a body as one Buffer, inflated; the cap holds for what is sent and for what comes out of it.
 * @throws Problem BODY_TOO_LARGE and REQUEST_TIMEOUT before the rest is read, MALFORMED_JSON for an encoding that is not known or broken
 * @throws Aborted
 */
export const takeBody = async (
  request: IncomingMessage,
  maxBytes = BODY_MAX_BYTES,
  timeMs = bodyTimeMs(maxBytes),
): Promise<Buffer> => {
  if (!hasBody(request)) return EMPTY
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  const known = encoding === 'identity' || Object.hasOwn(INFLATES, encoding)
  if (!known) throw unreadable()
  const sent = await readSent(request, maxBytes, timeMs)
  const open = INFLATES[encoding]
  if (!open || sent.length === 0) return sent
  try {
    return await open(sent, { maxOutputLength: maxBytes })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : unreadable()
  }
}

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i

const depthOf = (value: unknown, left: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (left > 0 && Object.values(value).every((inner) => depthOf(inner, left - 1)))

/** The JSON value of a body. An absent body is `{}`. */
export const jsonOf = (bytes: Buffer, contentType: string | undefined): unknown => {
  if (bytes.length === 0) return {}
  if (!JSON_TYPE.test(contentType ?? '')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'This route takes application/json.')
  }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Problem('MALFORMED_JSON', 'The body is not one JSON value in UTF-8.')
  }
  if (!depthOf(value, DEPTH_MAX))
    throw new Problem('MALFORMED_JSON', `The body is nested deeper than ${DEPTH_MAX} levels.`)
  return value
}

/** What no text of the database can hold. */
export const NUL = '\0'

/** The query as a plain record; a parameter given twice or not known is refused with the nearest known name. */
export const queryOf = (url: string, known: string[]): Record<string, string> => {
  const start = url.indexOf('?')
  const query: Record<string, string> = {}
  if (start < 0) return query
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const pointer = `/${name.slice(0, 64)}`
    if (!known.includes(name)) {
      const meant = nearest(name, known)
      const detail = `There is no parameter ${JSON.stringify(name.slice(0, 64))}${meant ? `; did you mean ${meant}?` : '.'}`
      throw new Problem('UNKNOWN_PARAMETER', detail, { faults: [{ code: 'UNKNOWN_PARAMETER', pointer, detail }] })
    }
    if (name in query) throw new Problem('INVALID_FIELD', `The parameter ${name} is given twice.`)
    if (value.includes(NUL)) throw new Problem('INVALID_FIELD', `The parameter ${name} holds a NUL, which no text may.`)
    query[name] = value
  }
  return query
}
