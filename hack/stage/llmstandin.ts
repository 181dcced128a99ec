import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { amountsOf, mailOf, tokensOf } from '../../crds/site/content/drafting/facts.ts'
import { type DraftedSite, draftFromText, draftOfPhotos } from './llmrules.ts'

/**
 * A language model that follows simple rules: it speaks OpenAI's chat completions, reads the source between its marks, and writes what
 * stands there, with quotes. The same question has the same answer.
 */

export type LlmStandIn = { url: string; stop(): Promise<void> }
export type LlmStandInOptions = { port: number; log?(line: string): void }

type Part = { type: string; text?: string }
type Asked = {
  messages?: { role: string; content: string | Part[] }[]
  response_format?: { json_schema?: { name?: string } }
}

const bodyMaxBytes = 20_000_000

async function readBody(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > bodyMaxBytes) throw new Error('the question is too long')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Asked
}

/** What stands between two lines of the mark; all of it where there is none. */
function sourceIn(text: string): string {
  const mark = /^=== [0-9a-f]+ ===$/m.exec(text)?.[0]
  if (mark === undefined) return text
  return text.split(mark)[1]?.trim() ?? text
}

const hundredths = 100

/** An invoice of what the first amount pays for. */
function invoiceOf(text: string): object {
  const amount = amountsOf(text).find(({ currency }) => currency !== undefined)
  const currency = { $: 'USD', GBP: 'GBP' }[amount?.currency ?? ''] ?? 'EUR'
  const email = tokensOf(text).find((one) => mailOf(one) !== null)
  const description = text.split('\n')[0]?.slice(0, 200) || 'Services'
  return {
    client_name: /\bfor ([A-Z]\w+)/.exec(text)?.[1] ?? null,
    client_email: email ?? null,
    currency,
    items: [{ description, qty: 1, unit_cents: Math.round((amount?.value ?? 0) * hundredths) }],
  }
}

function answerTo({ messages = [], response_format }: Asked): DraftedSite | object {
  const name = response_format?.json_schema?.name
  const system = messages.find(({ role }) => role === 'system')?.content
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  if (name === 'site_draft') {
    if (typeof said !== 'string') return draftOfPhotos(said.filter(({ type }) => type === 'image_url').length)
    const lang = /Write in the language (\S+)\./.exec(typeof system === 'string' ? system : '')?.[1]
    return draftFromText(sourceIn(said), lang)
  }
  const draft = invoiceOf(sourceIn(typeof said === 'string' ? said : ''))
  return name === 'invoice_chat' ? { reply: 'Here is the invoice.', draft } : draft
}

/** @param options.port 0 for any */
export async function startLlmStandIn({ port, log = () => {} }: LlmStandInOptions): Promise<LlmStandIn> {
  const server = createServer(async (request, response): Promise<void> => {
    response.setHeader('content-type', 'application/json')
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(request.url === '/healthz' ? 200 : 404).end('{}')
      return
    }
    try {
      const asked = await readBody(request)
      const content = JSON.stringify(answerTo(asked))
      log(`${asked.response_format?.json_schema?.name ?? 'a question'}: ${content.length} characters`)
      const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }
      response.end(JSON.stringify({ id: 'chatcmpl-stand-in', object: 'chat.completion', choices: [choice] }))
    } catch (error) {
      log(`refused: ${String(error)}`)
      response.writeHead(400).end('{}')
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
