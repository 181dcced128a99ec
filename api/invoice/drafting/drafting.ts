/**
 * Drafts by a language model (rules/invoice.md#drafts-by-a-model). Nothing is stored, numbered or sent: the answer is a
 * draft that the caller may send to POST /api/invoices. Why the API asks the model itself: hack/decisions/015.
 */
import { randomBytes } from 'node:crypto'
import { invoiceAiDetail, limitOf, nextTurn, quotaDay } from '../../../crds/account/quotas.ts'
import {
  chatSchema,
  draftSchema,
  type InvoiceDraft,
  judgeDraft,
  proposalSchema,
  REPLY_MAX_CHARS,
} from '../../../crds/invoice/rest/drafting.ts'
import { between, chatPrompt, contractPrompt, correction, draftPrompt } from '../../../crds/invoice/rest/prompt.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { textPattern } from '../../../crds/kernel/schema.ts'
import { isCurrency } from '../../../crds/values/money.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { compileCheck } from '../../http/validate.ts'
import { LlmBadAnswer, type LlmMessage, LlmUnavailable, type Question, type Reading } from '../../io/llm.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { DraftingNeeds } from '../needs.ts'
import { contractText } from './contract.ts'

const POOL = 'invoice_ai_per_day'
const MARK_BYTES = 16
const shape = compileCheck(draftSchema)
const BLOCK = new RegExp(textPattern('block'), 'u')

type Drafted = { draft: InvoiceDraft; warnings: Fault[] }
type Talked = { reply: string; draft?: InvoiceDraft; warnings: Fault[] }

const sayFault = ({ pointer, detail }: Fault): string => `${pointer === '' ? '/' : pointer}: ${detail}`

const readDraft =
  (given: InvoiceDraft) =>
  (answer: unknown): Reading<Drafted> => {
    const judged = judgeDraft(answer, given, shape)
    return 'faults' in judged ? { why: judged.faults.map(sayFault) } : { value: judged }
  }

const readTalk = (answer: unknown): Reading<Talked> => {
  const { reply, draft } = (answer ?? {}) as { reply?: unknown; draft?: unknown }
  const isSaid =
    typeof reply === 'string' && reply.trim() !== '' && reply.length <= REPLY_MAX_CHARS && BLOCK.test(reply)
  if (!isSaid) return { why: [`/reply: 1 to ${REPLY_MAX_CHARS} characters of plain text, without control characters`] }
  if (draft === null || draft === undefined) return { value: { reply, warnings: [] } }
  const judged = judgeDraft(draft, {}, shape)
  return 'faults' in judged ? { why: judged.faults.map(sayFault) } : { value: { reply, ...judged } }
}

const retryAfter = (seconds: number) => ({ headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) } })

const asProblem = (error: unknown): unknown => {
  if (error instanceof LlmUnavailable) {
    return new Problem('LLM_UNAVAILABLE', error.message, retryAfter(error.retryAfterSeconds))
  }
  if (error instanceof LlmBadAnswer) {
    return new Problem('LLM_BAD_ANSWER', 'What the model answered is against the rules of an invoice, or no JSON.')
  }
  return error
}

/** @throws Problem INVOICE_AI_QUOTA, with Retry-After until the next day */
const reserveDraft = async (deps: DraftingNeeds, { caller }: ApiRequest) => {
  const now = deps.now()
  const { account, profile } = caller
  const limit = limitOf(POOL, profile)
  const reservation = await deps.allowance.take({ account, pool: POOL, day: quotaDay(now), limit })
  if (reservation) return reservation
  const seconds = (Date.parse(nextTurn(now)) - now.getTime()) / 1000
  throw new Problem('INVOICE_AI_QUOTA', `${invoiceAiDetail(account, limit, now)}.`, retryAfter(seconds))
}

const modelOf = ({ llm }: DraftingNeeds): NonNullable<Deps['llm']> => {
  if (llm === null) throw new Problem('LLM_NOT_CONFIGURED', 'No language model is configured.')
  return llm
}

/** Asks under the day's allowance: an answer uses up a place, a failure does not. */
const ask = async <T>(
  deps: DraftingNeeds,
  request: ApiRequest,
  question: Omit<Question, 'correction'>,
  read: (answer: unknown) => Reading<T>,
): Promise<T> => {
  const llm = modelOf(deps)
  const reservation = await reserveDraft(deps, request)
  let answer: T
  try {
    answer = await llm.ask({ ...question, correction }, read)
  } catch (error) {
    await reservation.giveBack()
    throw asProblem(error)
  }
  await reservation.keep()
  return answer
}

const today = (deps: DraftingNeeds): string => quotaDay(deps.now())

/** POST /api/invoices/draft. */
export const draftInvoice = async (deps: DraftingNeeds, request: ApiRequest): Promise<Answer> => {
  const { prompt, ...given } = request.body as { prompt: string; currency?: string; lang?: string }
  if (given.currency !== undefined && !isCurrency(given.currency)) {
    const detail = `${given.currency} is no currency of ISO 4217.`
    refuseFaults([{ code: 'INVALID_FIELD', pointer: '/currency', detail }])
  }
  const question = {
    name: 'invoice_draft',
    system: draftPrompt(today(deps), given),
    messages: [{ role: 'user' as const, content: prompt }],
    schema: proposalSchema,
  }
  return { status: 200, body: await ask(deps, request, question, readDraft(given)) }
}

/** POST /api/invoices/chat. */
export const chatInvoice = async (deps: DraftingNeeds, request: ApiRequest): Promise<Answer> => {
  const { messages } = request.body as { messages: LlmMessage[] }
  if (messages.at(-1)?.role !== 'user') {
    const detail = 'The last message is the one to be answered: its role is user.'
    refuseFaults([{ code: 'INVALID_FIELD', pointer: `/messages/${messages.length - 1}/role`, detail }])
  }
  const question = { name: 'invoice_chat', system: chatPrompt(today(deps)), messages, schema: chatSchema }
  return { status: 200, body: await ask(deps, request, question, readTalk) }
}

/** POST /api/invoices/extract-contract. The mark is random, so no contract can close it and go on as somebody else. */
export const extractContract = async (deps: DraftingNeeds, request: ApiRequest): Promise<Answer> => {
  modelOf(deps)
  const text = await contractText(deps, request)
  const mark = `=== ${randomBytes(MARK_BYTES).toString('hex')} ===`
  const question = {
    name: 'invoice_draft',
    system: `${contractPrompt(today(deps))}\nThe mark: ${mark}`,
    messages: [{ role: 'user' as const, content: between(mark, text) }],
    schema: proposalSchema,
  }
  return { status: 200, body: await ask(deps, request, question, readDraft({})) }
}
