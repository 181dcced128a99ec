/**
 * Reading what a client sent: one buffer under a hard cap, strict UTF-8, one JSON value; and the query string.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type Request, type Response } from 'express'
import { Problem } from './problem.ts'
import { nearest } from './validate.ts'

/** JSON bodies (CONTRACT section 4). */
export const BODY_MAX_BYTES = 1_000_000
/** Deeper nesting is an attack on parsers, not an invoice. */
const DEPTH_MAX = 32

const readRaw = express.raw({ type: () => true, limit: BODY_MAX_BYTES })

/** Reads any body as one Buffer. Rejects over the cap, before the rest is read. */
export const takeBody = (request: IncomingMessage, response: ServerResponse): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    readRaw(request as Request, response as Response, (error?: unknown) => {
      if (error) return reject(error)
      const { body } = request as Request
      resolve(Buffer.isBuffer(body) ? body : Buffer.alloc(0))
    })
  })

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
    query[name] = value
  }
  return query
}
