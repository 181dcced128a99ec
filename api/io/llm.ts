/**
 * A language model behind an endpoint of the operator's choice that speaks OpenAI's chat completions with JSON-schema
 * answers. It gets text, or pictures, and gives one JSON value; no tool is ever offered, and nothing but the text of its answer is read.
 *
 * Bounded in every direction: one deadline over all tries, so many tries, so many bytes of an answer, so many calls at once.
 * Redirects are not followed: the key goes to the address that the operator wrote down and to no other.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../controllers/base/log.ts'

const TRIES_MAX = 3
const ANSWER_MAX_BYTES = 1_000_000
/** Of one process; each holds a socket and up to a megabyte. */
const CALLS_MAX = 32
/** Of one account: whoever asks much leaves places for the others. */
const CALLS_PER_ACCOUNT_MAX = 4
const PAUSE_MS = 500
/** An endpoint that asks for more than this is away: the caller gets an error, and does not hang on. */
const PAUSE_MAX_MS = 5_000
const RETRY_AFTER_DEFAULT_SECONDS = 10
const RETRY_AFTER_MAX_SECONDS = 3600
/** How long calls under way may go on once the process leaves; below the 25 s of the whole stop. */
const LEAVE_MS = 10_000
const REASONS_MAX = 10
const SHOWN_ANSWER_CHARS = 20_000

export type LlmSettings = { url: string; model: string; key: string | undefined; timeoutMs: number }

/** A picture is a data URI: the endpoint fetches nothing for us. */
export type LlmPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }
export type LlmMessage = { role: 'user' | 'assistant'; content: string | readonly LlmPart[] }

export type Question = {
  /** Who asks: the calls of one account at once are bounded. */
  account: string
  /** Names the schema; letters, digits, - and _. */
  name: string
  system: string
  messages: readonly LlmMessage[]
  /** In the strict form (crds/kernel/strict.ts). */
  schema: object
  /** What to say after an answer that was not usable. */
  correction(why: readonly string[]): string
}

/** What the reader of an answer makes of it; `why` goes back to the model. */
export type Reading<T> = { value: T } | { why: string[] }
export type ReadAnswer<T> = (answer: unknown) => Reading<T> | Promise<Reading<T>>

/** The endpoint did not answer: away, slow, busy, or not as it is configured. */
export class LlmUnavailable extends Error {
  readonly retryAfterSeconds: number
  constructor(detail: string, retryAfterSeconds = RETRY_AFTER_DEFAULT_SECONDS) {
    super(detail)
    this.name = 'LlmUnavailable'
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The model answered, but never with anything usable. `why` is of the last answer. */
export class LlmBadAnswer extends Error {
  readonly why: readonly string[]
  constructor(why: readonly string[]) {
    super('the model gave no usable answer')
    this.name = 'LlmBadAnswer'
    this.why = why
  }
}

export type Llm = {
  /** Asks until `read` takes an answer. @throws LlmUnavailable, LlmBadAnswer, and what `read` throws */
  ask<T>(question: Question, read: ReadAnswer<T>): Promise<T>
  /** Takes no more questions, and soon ends those that are under way. */
  leave(): void
}

/** A try that failed; `again` when another may do better. */
class TryFailed extends Error {
  readonly again: boolean
  readonly retryAfterSeconds: number | undefined
  constructor(reason: string, again: boolean, retryAfterSeconds?: number) {
    super(reason)
    this.name = 'TryFailed'
    this.again = again
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const retryAfterOf = (headers: Headers): number | undefined => {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return seconds >= 0 ? Math.min(Math.ceil(seconds), RETRY_AFTER_MAX_SECONDS) : undefined
}

/** The whole body as text, unless it is too long. */
const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_MAX_BYTES) throw new TryFailed('the answer is too long', false)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const parsed = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

type Completion = { choices?: { message?: { content?: unknown }; finish_reason?: unknown }[] }

/** The text of the first choice. Calls of tools, refusals and whatever else stands beside it are not looked at. */
const contentOf = (text: string): { content: string; isWhole: boolean } => {
  const body = parsed(text)?.value as Completion | null | undefined
  const choice = Array.isArray(body?.choices) ? body.choices[0] : undefined
  const content = choice?.message?.content
  if (choice === undefined) throw new TryFailed('the answer is no chat completion', true)
  return { content: typeof content === 'string' ? content : '', isWhole: choice.finish_reason !== 'length' }
}

const FENCE = '```'

/** Models without support for schemas like to put JSON into a fence. */
const unfenced = (content: string): string => {
  const text = content.trim()
  const head = /^```(?:json)?\s*\n/.exec(text)?.[0]
  if (head === undefined || !text.endsWith(FENCE) || text.length < head.length + FENCE.length) return content
  return text.slice(head.length, -FENCE.length).replace(/\n$/, '')
}

const readAnswer = async <T>(
  answer: { content: string; isWhole: boolean },
  read: ReadAnswer<T>,
): Promise<Reading<T>> => {
  if (!answer.isWhole) return { why: ['it was cut off: be shorter'] }
  const value = parsed(unfenced(answer.content))
  return value === undefined ? { why: ['it is not JSON'] } : read(value.value)
}

const bodyOf = (model: string, { name, system, schema }: Question, messages: readonly LlmMessage[]): string =>
  // No temperature and no cap of tokens: newer models refuse the one, and name the other differently.
  JSON.stringify({
    model,
    messages: [{ role: 'system', content: system }, ...messages],
    response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } },
  })

type LlmState = LlmSettings & {
  log: Pick<Log, 'warn'>
  leaving: AbortController
  isLeaving: boolean
  /** Questions that are asked now, by account. */
  underWay: Map<string, number>
}

const post = async ({ url, key }: LlmState, body: string, signal: AbortSignal): Promise<string> => {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body,
    signal,
  })
  if (response.status === 200) return readText(response)
  await response.body?.cancel()
  const again = response.status === 429 || response.status >= 500
  throw new TryFailed(`answered ${response.status}`, again, retryAfterOf(response.headers))
}

/** An endpoint that takes text alone refuses a picture as a wrong request. */
const refusesPictures = (error: TryFailed, { messages }: Question): boolean =>
  /^answered 4(00|13|15|22)$/.test(error.message) && messages.some(({ content }) => typeof content !== 'string')

/** One try over the wire. @throws TryFailed, or LlmUnavailable once there is no time left */
const tryOnce = async (state: LlmState, question: Question, body: string, signal: AbortSignal) => {
  try {
    return contentOf(await post(state, body, signal))
  } catch (error) {
    if (signal.aborted)
      throw new LlmUnavailable(`The language model did not answer within ${state.timeoutMs / 1000} seconds.`)
    if (error instanceof TryFailed && refusesPictures(error, question))
      throw new LlmUnavailable('The language model takes no pictures, or none that are so large.')
    if (error instanceof TryFailed) throw error
    // The cause may quote the address; its name does not.
    throw new TryFailed(`cannot be reached: ${error instanceof Error ? error.name : 'unknown'}`, true)
  }
}

/** Waits before another try, or says why there is none. */
const pauseAfter = async ({ log }: LlmState, error: unknown, tries: number, signal: AbortSignal): Promise<void> => {
  if (!(error instanceof TryFailed)) throw error
  log.warn({ reason: error.message, tries }, 'the language model failed')
  const pauseMs = error.retryAfterSeconds === undefined ? PAUSE_MS * tries : error.retryAfterSeconds * 1000
  if (!error.again || tries === TRIES_MAX || pauseMs > PAUSE_MAX_MS) {
    throw new LlmUnavailable('The language model cannot be reached right now.', error.retryAfterSeconds)
  }
  await sleep(pauseMs, undefined, { signal }).catch(() => {
    throw new LlmUnavailable('The language model cannot be reached right now.', error.retryAfterSeconds)
  })
}

const askWithin = async <T>(
  state: LlmState,
  question: Question,
  read: ReadAnswer<T>,
  signal: AbortSignal,
): Promise<T> => {
  let messages = question.messages
  let why: string[] = []
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    try {
      const answer = await tryOnce(state, question, bodyOf(state.model, question, messages), signal)
      const reading = await readAnswer(answer, read)
      if ('value' in reading) return reading.value
      why = reading.why.slice(0, REASONS_MAX)
      const said: LlmMessage = {
        role: 'assistant',
        content: answer.content.slice(0, SHOWN_ANSWER_CHARS) || '(nothing)',
      }
      messages = [...question.messages, said, { role: 'user', content: question.correction(why) }]
    } catch (error) {
      await pauseAfter(state, error, tries, signal)
    }
  }
  throw new LlmBadAnswer(why)
}

/** Takes a place among the calls under way. @returns what gives it back @throws LlmUnavailable */
const enter = ({ isLeaving, underWay }: LlmState, account: string): (() => void) => {
  if (isLeaving) throw new LlmUnavailable('This process is about to end.', 1)
  const own = underWay.get(account) ?? 0
  const all = [...underWay.values()].reduce((sum, calls) => sum + calls, 0)
  if (own >= CALLS_PER_ACCOUNT_MAX) {
    throw new LlmUnavailable(
      `${CALLS_PER_ACCOUNT_MAX} questions of yours are under way; ask again once one is answered.`,
      2,
    )
  }
  if (all >= CALLS_MAX) throw new LlmUnavailable('Too many questions are under way.', 2)
  underWay.set(account, own + 1)
  return () => {
    const left = (underWay.get(account) ?? 1) - 1
    if (left > 0) underWay.set(account, left)
    else underWay.delete(account)
  }
}

export const makeLlm = (settings: LlmSettings, { log }: { log: Pick<Log, 'warn'> }): Llm => {
  const state: LlmState = {
    ...settings,
    log,
    leaving: new AbortController(),
    isLeaving: false,
    underWay: new Map(),
  }
  return {
    async ask(question, read) {
      const leave = enter(state, question.account)
      try {
        const signal = AbortSignal.any([AbortSignal.timeout(state.timeoutMs), state.leaving.signal])
        return await askWithin(state, question, read, signal)
      } finally {
        leave()
      }
    },
    leave() {
      state.isLeaving = true
      setTimeout(() => state.leaving.abort(), LEAVE_MS).unref()
    },
  }
}
