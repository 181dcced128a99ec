/**
 * Asks the language model for an account, under its allowance of the day: an answer uses up a place, a failure does not
 * (rules/platform.md#language-models).
 */
import { randomBytes } from 'node:crypto'
import type { AiPool } from '../../controllers/store/invoice/ai-quota.ts'
import { aiCapDetail, limitOf, nextTurn, quotaDay } from '../../crds/account/quotas.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import { correction } from '../../crds/text/asking.ts'
import type { Caller } from '../http/caller.ts'
import { Problem } from '../http/problem.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'
import { LlmBadAnswer, LlmUnavailable, type Question, type ReadAnswer } from './llm.ts'

const MARK_BYTES = 16

export type AskingNeeds = Pick<Deps, 'llm' | 'now'> & Pick<Stores, 'allowance'>
/** Whose questions are counted together; `what` is asked for, and `rules` it has to keep. */
export type AskPool = { name: AiPool; code: ProblemCode; what: string; rules: string }
export type ModelQuestion = Omit<Question, 'correction' | 'account'>

/** What stands around the text of others. Random, so that nobody can close it and go on as somebody else. */
export const newMark = (): string => `=== ${randomBytes(MARK_BYTES).toString('hex')} ===`

const retryAfter = (seconds: number) => ({ headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) } })

const asProblem = (error: unknown, rules: string): unknown => {
  if (error instanceof LlmUnavailable) {
    return new Problem('LLM_UNAVAILABLE', error.message, retryAfter(error.retryAfterSeconds))
  }
  if (error instanceof LlmBadAnswer) {
    return new Problem('LLM_BAD_ANSWER', `What the model answered is against the rules of ${rules}, or no JSON.`)
  }
  return error
}

/** @throws Problem with the pool's code, and Retry-After until the next day */
const reserve = async (deps: AskingNeeds, { account, profile }: Caller, pool: AskPool) => {
  const now = deps.now()
  const limit = limitOf(pool.name, profile)
  const reservation = await deps.allowance.take({ account, pool: pool.name, day: quotaDay(now), limit })
  if (reservation) return reservation
  const seconds = (Date.parse(nextTurn(now)) - now.getTime()) / 1000
  throw new Problem(pool.code, `${aiCapDetail(account, pool.what, limit, now)}.`, retryAfter(seconds))
}

/** @throws Problem LLM_NOT_CONFIGURED */
export const modelOf = ({ llm }: Pick<Deps, 'llm'>): NonNullable<Deps['llm']> => {
  if (llm === null) throw new Problem('LLM_NOT_CONFIGURED', 'No language model is configured.')
  return llm
}

/** @throws Problem LLM_NOT_CONFIGURED, LLM_UNAVAILABLE, LLM_BAD_ANSWER, the pool's code, and what `read` throws */
export const askUnder = async <T>(
  deps: AskingNeeds,
  caller: Caller,
  pool: AskPool,
  question: ModelQuestion,
  read: ReadAnswer<T>,
): Promise<T> => {
  const llm = modelOf(deps)
  const reservation = await reserve(deps, caller, pool)
  let answer: T
  try {
    answer = await llm.ask({ ...question, account: caller.account, correction }, read)
  } catch (error) {
    await reservation.giveBack()
    throw asProblem(error, pool.rules)
  }
  await reservation.keep()
  return answer
}
