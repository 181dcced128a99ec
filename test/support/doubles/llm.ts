/** A language model that says what it is told to, over real HTTP, in OpenAI's words. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = { url: string; headers: IncomingMessage['headers']; body: AskedBody }
type AskedBody = {
  model: string
  messages: { role: string; content: string }[]
  response_format: { json_schema: { schema: object; strict: boolean } }
  tools?: unknown
}
/** Answers one request, or leaves it open. */
export type Reply = (asked: Asked, response: ServerResponse) => void

/** A good answer: the value as the content of the first choice, with `more` beside it in the message. */
export const says =
  (value: unknown, more: object = {}, finish = 'stop'): Reply =>
  (_, response) => {
    const content = typeof value === 'string' ? value : JSON.stringify(value)
    const choice = { index: 0, message: { role: 'assistant', content, ...more }, finish_reason: finish }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', choices: [choice] }))
  }

/** A status, with headers and a body of any kind. */
export const refuses =
  (status: number, headers: Record<string, string> = {}, body = 'no'): Reply =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

/** Never says anything. */
export const hangs: Reply = () => {}

/** Sends a blank every 20 ms, for ever. */
export const drips: Reply = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(timer))
}

/** Says more than anybody would read. */
export const floods =
  (bytes: number): Reply =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(65_536, 'x')
    const write = (left: number): void => {
      if (left <= 0) response.end()
      else if (!response.destroyed) response.write(chunk, () => write(left - chunk.length))
    }
    write(bytes)
  }

export const breaks: Reply = (_, response) => response.destroy()

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

export const startLlm = async () => {
  const asked: Asked[] = []
  let script: Reply[] = []
  const server = createServer(async (request, response) => {
    const one: Asked = { url: request.url ?? '', headers: request.headers, body: JSON.parse(await textOf(request)) }
    asked.push(one)
    const reply = script.length > 1 ? script.shift() : script[0]
    if (reply) reply(one, response)
    else refuses(500)(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    /** As BOTTEGA_LLM_URL takes it. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Every request since `will`. */
    asked,
    /** One reply for each request to come; the last stays. */
    will(...replies: Reply[]) {
      script = replies
      asked.length = 0
    },
    end: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
export type StandInLlm = Awaited<ReturnType<typeof startLlm>>
