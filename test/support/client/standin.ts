import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** An API that fails as no real one can be made to: connections that break at a given byte, answers that are lost, proxies that lie. */

export type Asked = { method: string; url: string; headers: IncomingMessage['headers']; bytes: number; body: string }
export type StandInAnswer = (asked: Asked, response: ServerResponse, nth: number) => void

export type StandIn = { url: string; asked: Asked[]; end(): Promise<void> }

/**
 * @param answer told of each request once it has come whole, and how many of the same method and path came before
 * @param early may answer, or break the connection, before the body has come; true: it has
 */
export const startStandIn = async (
  answer: StandInAnswer,
  early: (request: IncomingMessage, response: ServerResponse, nth: number) => boolean = () => false,
): Promise<StandIn> => {
  const asked: Asked[] = []
  const began = new Map<string, number>()
  const server = createServer((request, response) => {
    const name = `${request.method} ${(request.url ?? '').split('?')[0]}`
    const nth = began.get(name) ?? 0
    began.set(name, nth + 1)
    request.on('error', () => undefined)
    if (early(request, response, nth)) return
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, bytes: body.length, body: body.toString('latin1') }
      asked.push(one)
      answer(one, response, nth)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no port')
  const end = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return { url: `http://127.0.0.1:${address.port}`, asked, end }
}

/** By the first of the names that is part of method and address. */
export const byPlace =
  (answers: readonly [part: string, answer: StandInAnswer][]): StandInAnswer =>
  (asked, response, nth) => {
    const place = `${asked.method} ${asked.url}`
    const found = answers.find(([part]) => place.includes(part))
    if (found) found[1](asked, response, nth)
    else response.destroy()
  }

export const answerJson = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export const answerProblem = (
  response: ServerResponse,
  status: number,
  code: string,
  more: object = {},
  headers = {},
) =>
  answerJson(response, status, { code, status, detail: `${code} it is.`, next: 'Do something else.', ...more }, headers)
