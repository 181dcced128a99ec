/**
 * The stage for `Idempotency-Key`: on every POST, PUT and PATCH behind a credential, for 24 hours per account and route
 * (rules/platform.md#idempotency). It stands after the checks of scope and shape, so a request that they refuse takes no key.
 *
 * What is kept: every answer below 400. A 202 is kept as what it says: where its verdict will stand. A retry is answered with
 * that verdict, a refusal too, once it is there, and with the same 202 until then. A refusal (4xx), at once or as the verdict of
 * a 202, means that nothing was done, so the key is free for a corrected request. After a failure (5xx) or a crash the same
 * request runs again, with the same `exchange.idempotencyKey`, by which handlers name their effects.
 * DELETE is its own repeat; the header is ignored there.
 */
import { createHash, createHmac } from 'node:crypto'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { Sealer } from '../../../controllers/base/seal.ts'
import {
  aboutAnswer,
  type KeyBook,
  type KeyRef,
  type ReservedKey,
  type Run,
} from '../../../controllers/store/request/idempotency.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { canonical } from '../../../crds/values/canonical.ts'
import type { Caller } from '../caller.ts'
import type { Exchange, Stage } from '../exchange.ts'
import { Problem, statusOf } from '../problem.ts'
import type { Answer, RouteHead } from '../route.ts'

/** Methods that take the header. */
const KEYED_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
/** Visible ASCII, 1 to 255. */
export const KEY_PATTERN = '^[\\x21-\\x7e]{1,255}$'
const KEY = new RegExp(KEY_PATTERN)
const RETRY_AFTER_SECONDS = '2'
const REPLAYED = { 'idempotency-replayed': 'true' }
/** A cookie belongs to the exchange in which it was set. */
const NOT_REPLAYED: ReadonlySet<string> = new Set(['set-cookie'])

export type Idempotency = {
  book: KeyBook
  sealer: Sealer
  /** Keyed, so that a copy of the database does not betray whether a guessed body was sent. */
  fingerprint(text: string | Buffer): Buffer
}

export const makeIdempotency = (deps: { book: KeyBook; keys: Pick<Keys, 'lastingKey' | 'sealer'> }): Idempotency => {
  const key = deps.keys.lastingKey('idempotency-fingerprint')
  return {
    book: deps.book,
    sealer: deps.keys.sealer('idempotency'),
    fingerprint: (text) => createHmac('sha256', key).update(text).digest(),
  }
}

/**
 * What two requests share when they ask for the same: address, rights and body. The rights, because an answer that a
 * full-access token got must not be replayed to one that could not have asked for it.
 */
const fingerprintOf = ({ fingerprint }: Idempotency, exchange: Exchange, { scopes }: Caller): Buffer => {
  const rights = scopes === null ? 'full' : [...scopes].sort().join()
  const body = exchange.route.body ? canonical(exchange.body) : (exchange.form ?? Buffer.alloc(0))
  return fingerprint(`${exchange.url}\n${rights}\n${fingerprint(body).toString('hex')}`)
}

/** Names this use of the key: the same for each retry, another one once the key has lapsed. 64 hex digits. */
const effectKeyOf = ({ account, route, key }: KeyRef, firstUsedAt: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['idempotency', account, route, key, firstUsedAt]))
    .digest('hex')

type Kept = { status: number; headers?: Record<string, string>; body?: unknown; base64?: string; operation?: string }

const sealAnswer = (
  { sealer }: Idempotency,
  of: KeyRef,
  { status, headers, body, bytes, operation }: Answer,
): Buffer => {
  const lasting = Object.entries(headers ?? {}).filter(([name]) => !NOT_REPLAYED.has(name.toLowerCase()))
  const kept: Kept = {
    status,
    headers: Object.fromEntries(lasting),
    body,
    ...(bytes && { base64: bytes.toString('base64') }),
    ...(operation !== undefined && { operation }),
  }
  return sealer.seal(Buffer.from(JSON.stringify(kept), 'utf8'), aboutAnswer(of))
}

const openAnswer = ({ sealer }: Idempotency, of: KeyRef, sealed: Buffer): Answer => {
  const { status, headers, body, base64, operation }: Kept = JSON.parse(
    sealer.open(sealed, aboutAnswer(of)).toString('utf8'),
  )
  return {
    status,
    headers: { ...headers, ...REPLAYED },
    ...(body !== undefined && { body }),
    ...(base64 !== undefined && { bytes: Buffer.from(base64, 'base64') }),
    ...(operation !== undefined && { operation }),
  }
}

const mismatch = ({ key, route }: KeyRef, firstUsedAt: string): Problem =>
  new Problem(
    'IDEMPOTENCY_MISMATCH',
    `The key ${key} was first used for ${route} at ${firstUsedAt}, with another request.`,
  )

const inFlight = ({ key, route }: KeyRef, firstUsedAt: string): Problem =>
  new Problem(
    'IDEMPOTENCY_IN_FLIGHT',
    `${route} under the key ${key}, first sent at ${firstUsedAt}, is still running.`,
    {
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    },
  )

/** Runs the handler and keeps how it ended. */
const runOnce = async (keeper: Idempotency, of: KeyRef, run: Run, next: () => Promise<Answer>): Promise<Answer> => {
  // The outcome is known already: that it cannot be kept must not hide it. The lease ends, then the same request runs
  // again and meets its own effects.
  const keep = (outcome: Parameters<Run['end']>[0]) => run.end(outcome).catch(() => {})
  let answer: Answer
  try {
    answer = await next()
  } catch (error) {
    await keep({ state: statusOf(error) < 500 ? 'refused' : 'failed' })
    throw error
  }
  if (answer.status < 400) await keep({ state: 'answered', sealed: sealAnswer(keeper, of, answer) })
  else await keep({ state: answer.status < 500 ? 'refused' : 'failed' })
  return answer
}

/** Whether a route takes the header. */
export const isKeyed = ({ method, scope, looks }: Pick<RouteHead, 'method' | 'scope' | 'looks'>): boolean =>
  KEYED_METHODS.has(method) && scope.kind !== 'public' && !looks

/** Whose keys they are: those of an account, or of one dev instance that reports. */
const holderOf = ({ account, by }: Caller): string => (by.kind === 'report' ? `${account}/${by.id}` : account)

/** How an operation ended, as its caller would have been answered; null while it is pending. @throws Problem as it was refused */
export type OutcomeOf = (id: string, caller: Caller) => Promise<Answer | null>

/** What was answered before, or what has become of it since. @throws Problem as it was refused since */
const replay = async (kept: Answer, caller: Caller, outcomeOf: OutcomeOf): Promise<Answer> => {
  const ended = kept.operation === undefined ? null : await outcomeOf(kept.operation, caller)
  return ended === null ? kept : { ...ended, headers: { ...ended.headers, ...REPLAYED } }
}

/** Of an operation that may have been done, or that the caller may not read: they are no refusal of the request. */
const NO_REFUSALS: readonly ProblemCode[] = ['OUTCOME_UNKNOWN', 'FORBIDDEN']

/** Whether what was answered 202 has been refused since. */
const wasRefused = async ({ operation }: Answer, caller: Caller, outcomeOf: OutcomeOf): Promise<boolean> => {
  if (operation === undefined) return false
  try {
    await outcomeOf(operation, caller)
    return false
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return !NO_REFUSALS.includes(error.code)
    throw error
  }
}

type Reserving = { of: KeyRef; fingerprint: Buffer; caller: Caller; outcomeOf: OutcomeOf }

/** A key whose request was refused after its 202 is as free as one that was refused at once. */
const reserve = async (
  keeper: Idempotency,
  { of, fingerprint, caller, outcomeOf }: Reserving,
): Promise<ReservedKey> => {
  const { book } = keeper
  const reserved = await book.reserve(of, fingerprint)
  if (reserved.outcome !== 'mismatch' || reserved.sealed === null) return reserved
  if (!(await wasRefused(openAnswer(keeper, of, reserved.sealed), caller, outcomeOf))) return reserved
  await book.free(of, reserved.sealed)
  return book.reserve(of, fingerprint)
}

/** @throws Problem BAD_IDEMPOTENCY_KEY, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_FLIGHT */
export const makeIdempotencyStage =
  ({ idempotency, outcomeOf }: { idempotency: Idempotency; outcomeOf: OutcomeOf }): Stage =>
  async (exchange, next) => {
    const { route, caller, headers } = exchange
    const key = headers['idempotency-key']
    if (key === undefined || !caller || !isKeyed(route)) return next()
    if (typeof key !== 'string' || !KEY.test(key)) {
      throw new Problem('BAD_IDEMPOTENCY_KEY', 'Idempotency-Key takes 1 to 255 visible ASCII characters, once.')
    }
    const of: KeyRef = { account: holderOf(caller), route: `${route.method} ${route.path}`, key }
    const fingerprint = fingerprintOf(idempotency, exchange, caller)
    const reserved = await reserve(idempotency, { of, fingerprint, caller, outcomeOf })
    switch (reserved.outcome) {
      case 'run':
        exchange.idempotencyKey = effectKeyOf(of, reserved.firstUsedAt)
        return runOnce(idempotency, of, reserved.run, next)
      case 'replay':
        return replay(openAnswer(idempotency, of, reserved.sealed), caller, outcomeOf)
      case 'mismatch':
        throw mismatch(of, reserved.firstUsedAt)
      case 'in_flight':
        throw inFlight(of, reserved.firstUsedAt)
      default:
        return reserved satisfies never
    }
  }
