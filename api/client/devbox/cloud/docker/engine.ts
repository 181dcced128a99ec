/** Docker's Engine API over its socket: one call, one answer, and what it says when it fails in our words. */
import { request } from 'node:http'
import { CloudFault, type CloudFaultSort } from '../driver.ts'

export type EngineCall = { method: 'GET' | 'POST' | 'DELETE'; path: string; query?: Query; body?: object }
type Query = Readonly<Record<string, string>>

export type Engine = {
  /** The answer, as it came. @throws CloudFault */
  text(call: EngineCall): Promise<string>
  /** The answer, which is JSON. @throws CloudFault */
  json<T>(call: EngineCall): Promise<T>
}

/** Docker has no codes, so what is to be told apart is told by its words. */
const BY_WORDS: readonly (readonly [RegExp, CloudFaultSort, string])[] = [
  // more of them than the machine has
  [/range of CPUs/i, 'capacity', 'InsufficientCpu'],
  [/pool overlaps/i, 'busy', 'SubnetTaken'],
  [/has active endpoints/i, 'busy', 'InUse'],
  [/already exists in network/i, 'busy', 'AlreadyAssociated'],
  // somebody else has called it so since it was looked at
  [/same name as its current name/i, 'busy', 'AlreadyNamed'],
]

const BY_STATUS: Readonly<Record<number, CloudFaultSort>> = { 404: 'missing', 409: 'busy', 503: 'busy' }

const refusedBy = (status: number, text: string): CloudFault => {
  const message = wordsOf(text)
  const [, sort, code] = BY_WORDS.find(([words]) => words.test(message)) ?? []
  if (sort && code) return new CloudFault(sort, code, message)
  const other = status >= 500 ? 'unknown' : 'refused'
  return new CloudFault(BY_STATUS[status] ?? other, `Docker${status}`, message)
}

const wordsOf = (text: string): string => {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message ?? text)
  } catch {
    return text
  }
}

/** What came no further than the socket. Whether it was done is not known. */
const unanswered = (error: NodeJS.ErrnoException): CloudFault => {
  const sort = error.code === 'EACCES' || error.code === 'EPERM' ? 'denied' : 'unknown'
  return new CloudFault(sort, error.code ?? 'NoAnswer', `Docker does not answer: ${error.message}`)
}

const addressOf = (path: string, query: Query = {}): string => {
  const asked = new URLSearchParams(query).toString()
  return asked === '' ? path : `${path}?${asked}`
}

export const openEngine = ({ socketPath, timeoutMs }: { socketPath: string; timeoutMs: number }): Engine => {
  const text = ({ method, path, query, body }: EngineCall): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = body === undefined ? undefined : JSON.stringify(body)
      const headers = sent === undefined ? {} : { 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(timeoutMs)
      const asked = request({ socketPath, method, path: addressOf(path, query), headers, signal, agent: false })
      asked.on('error', (error) => reject(unanswered(error)))
      asked.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', (error) => reject(unanswered(error)))
        response.on('end', () => {
          const { statusCode: status = 0 } = response
          const answer = Buffer.concat(chunks).toString('utf8')
          // 304: it was so already
          if (status < 400) resolve(answer)
          else reject(refusedBy(status, answer))
        })
      })
      asked.end(sent)
    })
  return { text, json: async (call) => JSON.parse(await text(call)) }
}
