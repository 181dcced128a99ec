import { request } from 'undici'
import type { Stack } from '../../../platform/stack.ts'

/** Invoices of a megabyte in letters that are dear to draw, as one account would send them, one behind the other. */

const ITEMS_MAX = 500
const LETTERS_MAX = 2_000

/** As many items as fit into so many bytes; no two documents alike, so that nothing drawn before serves. */
const bodyOf = (word: string, bytes: number, n: number): string => {
  const description = word.repeat(Math.floor(LETTERS_MAX / word.length))
  const items = Math.min(ITEMS_MAX, Math.floor(bytes / (Buffer.byteLength(description) + 80)))
  return JSON.stringify({
    ...{
      send: true,
      client_name: `Dear ${n}`,
      client_email: 'dear@acme.test',
      currency: 'EUR',
      due_date: '2027-12-20',
    },
    items: Array.from({ length: items }, () => ({ description, qty: 1, unit_cents: 100 })),
  })
}

const [THAI, ARABIC] = ['ค่าบริการที่ปรึกษา ', 'خدمات استشارية ']

/** A megabyte of each, and as much of each as is drawn. */
export const DEAR = [
  { what: 'Thai, 0.99 MB', word: THAI, bytes: 990_000 },
  { what: 'Arabic, 0.99 MB', word: ARABIC, bytes: 990_000 },
  { what: 'Thai, 0.8 MB', word: THAI, bytes: 800_000 },
  { what: 'Arabic, 0.24 MB', word: ARABIC, bytes: 240_000 },
] as const
export type Dear = (typeof DEAR)[number]

export type DearEnd = { what: string; settled: string; seconds: number; isSeen: boolean; isGone: boolean }

type Answer = { status: number; body: Record<string, unknown> & { invoice?: { id: string; status: string } } }

const asking =
  ({ baseUrl }: Stack, token: string) =>
  async (method: 'GET' | 'POST' | 'DELETE', path: string, text?: string): Promise<Answer> => {
    const { statusCode, body } = await request(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(text && { 'content-type': 'application/json' }) },
      ...(text && { body: text }),
    })
    const answer = await body.text()
    return { status: statusCode, body: answer === '' ? {} : JSON.parse(answer) }
  }

/**
 * Sends one and waits until it is drawn or refused; then its owner looks at it and has it gone: a draft is deleted, what was
 * sent is voided.
 */
export const sendDear = async (
  stack: Stack,
  token: string,
  { what, word, bytes }: Dear,
  n: number,
): Promise<DearEnd> => {
  const ask = asking(stack, token)
  const startMs = performance.now()
  let answer = await ask('POST', '/api/invoices', bodyOf(word, bytes, n))
  const id = answer.body.invoice?.id
  const seconds = () => (performance.now() - startMs) / 1000
  if (id === undefined) {
    const code = String((answer.body as { code?: string }).code)
    return { what, settled: `${answer.status} ${code}`, seconds: seconds(), isSeen: true, isGone: true }
  }
  while (answer.body.invoice?.status !== 'sent' && seconds() < 60) answer = await ask('GET', `/api/invoices/${id}`)
  const took = seconds()
  const gone = await ask('POST', `/api/invoices/${id}/void`, JSON.stringify({ reason: 'too long' }))
  return {
    ...{ what, settled: answer.body.invoice?.status ?? String(answer.status), seconds: took },
    ...{ isSeen: answer.status === 200 || answer.status === 201, isGone: gone.status < 300 },
  }
}
