/**
 * One request over one connection. Files flow from the disk and are counted as they go; an answer that comes while a body is
 * still being sent is read, for it says why. Redirects are not followed: they would carry the token elsewhere.
 */
import { createReadStream } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'

/** Silence for so long ends a request; an upload is judged, and a verdict waited for, in less. */
export const SILENCE_MS = 90_000
/** Of an answer that is read whole. */
const ANSWER_MAX_BYTES = 32 * 1024 * 1024

/** A file that is sent whole, as often as need be. */
export type UploadFile = { path: string; bytes: number }

export type Sending = {
  url: URL
  method: string
  headers: Record<string, string>
  body?: string | UploadFile
  /** Told how many bytes of a file have left. */
  onSent?(bytes: number): void
  signal: AbortSignal
}

export type ClientReply = { status: number; headers: IncomingMessage['headers']; text: string }

const open = ({ url, method, headers, signal }: Sending): ClientRequest => {
  const ask = url.protocol === 'https:' ? overHttps : overHttp
  return ask(url, { method, headers, signal, timeout: SILENCE_MS })
}

const pourFile = (sent: ClientRequest, file: UploadFile, onSent: (bytes: number) => void): void => {
  let bytes = 0
  const source = createReadStream(file.path, { highWaterMark: 256 * 1024 })
  source.on('error', (error) => sent.destroy(error))
  sent.on('close', () => source.destroy())
  source.on('data', (chunk) => {
    bytes += chunk.length
    // counted once the system has taken it, so that what waits in our own memory is not told as sent
    const passes = sent.write(chunk, () => onSent(Math.min(bytes, file.bytes)))
    if (passes) return
    source.pause()
    sent.once('drain', () => source.resume())
  })
  source.on('end', () => sent.end())
}

const writeBody = (sent: ClientRequest, { body, onSent = () => undefined }: Sending): void => {
  if (body === undefined) sent.end()
  else if (typeof body === 'string') sent.end(body)
  else pourFile(sent, body, onSent)
}

/** Resolves with the head of the answer. Rejects with what broke the connection before one came. */
export const sendHead = (sending: Sending): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = open(sending)
    let isAnswered = false
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('nothing was heard'), { code: 'ETIMEDOUT' })))
    sent.on('response', (answer) => {
      isAnswered = true
      resolve(answer)
    })
    // Who answers early closes on the rest of the body: by then the answer is what counts.
    sent.on('error', (error) => {
      if (!isAnswered) reject(error)
    })
    writeBody(sent, sending)
  })

export const readWhole = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ANSWER_MAX_BYTES) throw new Error('the answer is larger than this client reads')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
