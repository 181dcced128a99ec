/** Reading what a client sent: one buffer, under the cap of its route and the meter of whoever sends it. */
import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { makeChunks } from '../../../controllers/net/chunks.ts'
import { Problem } from '../problem.ts'

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

/** Thrown where the client went away before its request was whole: there is nobody to answer. */
export class Aborted extends Error {
  constructor() {
    super('the client went away before its request was whole')
    this.name = 'Aborted'
  }
}

/** By content-encoding. */
const INFLATES: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Told of bytes as they come, sent or inflated. @throws Problem when they are too many to be held now */
export type ByteMeter = (bytes: number) => void
const unmetered: ByteMeter = () => undefined

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
const readSent = (request: IncomingMessage, maxBytes: number, timeMs: number, meter: ByteMeter): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0)
    const chunks = makeChunks(Math.min(declared, maxBytes))
    let received = 0
    const stop = () => {
      clearTimeout(timer)
      request.off('data', take).off('end', end).off('close', abort)
    }
    const refuse = (problem: unknown) => {
      stop()
      request.resume()
      reject(problem)
    }
    const timer = setTimeout(() => refuse(tooSlow(timeMs)), timeMs)
    const take = (chunk: Buffer) => {
      received += chunk.length
      if (received > maxBytes) return refuse(tooLarge(maxBytes))
      try {
        meter(chunk.length)
      } catch (error) {
        return refuse(error)
      }
      chunks.add(chunk)
    }
    const end = () => {
      stop()
      resolve(chunks.joined())
    }
    const abort = () => {
      stop()
      reject(new Aborted())
    }
    if (request.destroyed) return abort()
    // A socket that breaks off is an error of the request and then its close; the close is what counts.
    request.on('error', () => undefined)
    if (declared > maxBytes) return refuse(tooLarge(maxBytes))
    request.on('data', take).on('end', end).on('close', abort)
  })

/** What comes out is counted while it comes: a small bomb stays small. */
const inflated = async (sent: Buffer, open: () => Transform, maxBytes: number, meter: ByteMeter): Promise<Buffer> => {
  const stream = open()
  stream.end(sent)
  const chunks = makeChunks()
  let length = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) throw tooLarge(maxBytes)
      meter(chunk.length)
      chunks.add(chunk)
    }
  } catch (error) {
    throw error instanceof Problem ? error : unreadable()
  }
  return chunks.joined()
}

export type TakeOptions = { maxBytes?: number | undefined; timeMs?: number; meter?: ByteMeter | undefined }

/**
 * Reads a body as one Buffer, inflated; the cap holds for what is sent and for what comes out of it.
 * @throws Problem BODY_TOO_LARGE and REQUEST_TIMEOUT before the rest is read, MALFORMED_JSON for an encoding that is not known or
 *   broken, and what the meter throws
 * @throws Aborted
 */
export const takeBody = async (request: IncomingMessage, options: TakeOptions = {}): Promise<Buffer> => {
  const { maxBytes = BODY_MAX_BYTES, timeMs = bodyTimeMs(maxBytes), meter = unmetered } = options
  if (!hasBody(request)) return EMPTY
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  const known = encoding === 'identity' || Object.hasOwn(INFLATES, encoding)
  if (!known) throw unreadable()
  const sent = await readSent(request, maxBytes, timeMs, meter)
  const open = INFLATES[encoding]
  return open && sent.length > 0 ? inflated(sent, open, maxBytes, meter) : sent
}
