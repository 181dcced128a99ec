/**
 * Drafts by a language model (rules/invoice.md#drafts-by-a-model). Nothing is stored, numbered or sent: the answer is a
 * draft that the caller may send to POST /api/invoices. Why the API asks the model itself: hack/decisions/015.
 */
import { quotaDay } from '../../../crds/account/quotas.ts'
import {
  chatSchema,
  draftSchema,
  type InvoiceDraft,
  judgeDraft,
  proposalSchema,
  REPLY_MAX_CHARS,
} from '../../../crds/invoice/rest/drafting.ts'
import { chatPrompt, contractPrompt, draftPrompt } from '../../../crds/invoice/rest/prompt.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { textPattern } from '../../../crds/kernel/schema.ts'
import { between } from '../../../crds/text/asking.ts'
import { isCurrency } from '../../../crds/values/money.ts'
import { refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { compileCheck } from '../../http/validate.ts'
import { type AskPool, askUnder, type ModelQuestion, modelOf, newMark } from '../../io/asking.ts'
import type { LlmMessage, Reading } from '../../io/llm.ts'
import type { DraftingNeeds } from '../needs.ts'
import { contractText } from './contract.ts'

const POOL: AskPool = {
  name: 'invoice_ai_per_day',
  code: 'INVOICE_AI_QUOTA',
  what: 'a draft of an invoice',
  rules: 'an invoice',
}
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

const ask = <T>(
  deps: DraftingNeeds,
  request: ApiRequest,
  question: ModelQuestion,
  read: (answer: unknown) => Reading<T>,
) => askUnder(deps, request.caller, POOL, question, read)

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
  const mark = newMark()
  const question = {
    name: 'invoice_draft',
    system: `${contractPrompt(today(deps))}\nThe mark: ${mark}`,
    messages: [{ role: 'user' as const, content: between(mark, text) }],
    schema: proposalSchema,
  }
  return { status: 200, body: await ask(deps, request, question, readDraft({})) }
}
