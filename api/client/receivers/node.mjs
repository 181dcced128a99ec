#!/usr/bin/env node
/**
 * Receives events in Node 20 or later. One file, no dependency: take `verify`, or all of it.
 *
 *   WEBHOOK_SECRET=whsec_… node node.mjs                                      listens on PORT (8787)
 *   WEBHOOK_SECRET=whsec_… node node.mjs check HEADERS BODY [UNIX_SECONDS]    judges a request that was saved in two files
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const TOLERANCE_SECONDS = 300
const BODY_MAX_BYTES = 1_000_000
const nowSeconds = () => Math.floor(Date.now() / 1000)

const isSame = (one, other) => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
const isRecent = (t, now) => /^\d{1,16}$/.test(t) && Math.abs(now - Number(t)) <= TOLERANCE_SECONDS

/** X-Service-Signature. `body` is the Buffer that came in, before anything parses it; `secret` is the whole `whsec_…`. */
export const verify = (secret, header, body, now = nowSeconds()) => {
  const pieces = header.split(',').map((piece) => piece.split('='))
  const t = pieces.find(([name]) => name === 't')?.[1] ?? ''
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
  // while a secret is being replaced there are two v1: any of them will do
  const isSigned = pieces.some(([name, value = '']) => name === 'v1' && isSame(value, expected))
  return isSigned && isRecent(t, now)
}

/**
 * The same for Standard Webhooks, keyed by the bytes that the secret stands for. The package standardwebhooks of npm does it
 * in one line: new Webhook(secret).verify(body.toString(), headers)
 */
export const verifyStandard = (secret, headers, body, now = nowSeconds()) => {
  const { 'webhook-id': id = '', 'webhook-timestamp': t = '', 'webhook-signature': signatures = '' } = headers
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${t}.`).update(body).digest('base64')}`
  return signatures.split(' ').some((one) => isSame(one, expected)) && isRecent(t, now)
}

const bodyOf = async (request) => {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_MAX_BYTES) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const listen = (secret) => {
  const seen = new Set() // of yours: a unique column
  const receive = async (request, response) => {
    const body = await bodyOf(request)
    if (!verify(secret, request.headers['x-service-signature'] ?? '', body)) return response.writeHead(400).end()
    const { id, type, sequence } = JSON.parse(body)
    // answer soon, work later; an event may come twice, and a later one before an earlier one
    if (!seen.has(id)) console.log(`event ${sequence} ${type} ${id}`)
    seen.add(id)
    return response.writeHead(204).end()
  }
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy())
  })
  server.listen(Number(process.env.PORT ?? 8787), '127.0.0.1', () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`)
  })
}

/** A file of `Name: value` lines. */
const headersOf = (file) =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )

const check = (secret, [headersFile, bodyFile, now = nowSeconds()]) => {
  const [headers, body] = [headersOf(headersFile), readFileSync(bodyFile)]
  const service = verify(secret, headers['x-service-signature'] ?? '', body, Number(now))
  const standard = verifyStandard(secret, headers, body, Number(now))
  console.log(`service ${service ? 'valid' : 'invalid'}\nstandard ${standard ? 'valid' : 'invalid'}`)
  process.exitCode = service && standard ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [mode, ...files] = process.argv.slice(2)
  const secret = process.env.WEBHOOK_SECRET ?? ''
  if (secret === '') throw new Error('WEBHOOK_SECRET is not set')
  if (mode === 'check') check(secret, files)
  else listen(secret)
}
