/**
 * The one form of a refusal: `application/problem+json` (RFC 9457) with the documents' codes,
 * the findings with JSON pointers, and the next step (rules/platform.md#errors).
 */

import {
  isConflict,
  isForbidden,
  isKindUnknown,
  isNamespaceNotServed,
  isNotFound,
  KubeError,
} from '../../controllers/base/errors.ts'
import { isPlaneAway } from '../../controllers/store/pg/away.ts'
import { DatabaseRefused, DatabaseUnavailable } from '../../controllers/store/pg/pg.ts'
import { type Fault, isProblemCode, PROBLEMS, type ProblemCode } from '../../crds/kernel/problem.ts'
import { restPointer } from '../../crds/kernel/rest.ts'
import { startOfRun, withoutCredentials } from '../auth/credentials.ts'

type ProblemParts = {
  faults?: Fault[]
  headers?: Record<string, string>
  members?: Record<string, unknown>
  /** In place of what is usually done about the code. */
  next?: string
}

/** Thrown anywhere under a route; `server.ts` turns it into the answer. `detail` is for people and holds no secret. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly faults: Fault[]
  readonly headers: Record<string, string>
  /** Members of the answer beside the usual ones (RFC 9457 section 3.2): what the caller needs to go on. */
  readonly members: Record<string, unknown>
  readonly next: string

  constructor(code: ProblemCode, detail: string, more: ProblemParts = {}) {
    super(detail)
    this.name = 'Problem'
    this.code = code
    this.faults = more.faults ?? []
    this.headers = more.headers ?? {}
    this.members = more.members ?? {}
    this.next = more.next ?? PROBLEMS[code].next
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}

/** What became of what was asked, as far as anybody knows (rules/platform.md#stored-or-not). */
export type Stored = 'not_stored' | 'stored' | 'unknown'

const STORED_WORDS: Record<Stored, string> = {
  not_stored: 'Nothing of this request was stored.',
  stored: 'This request is stored and will be decided on: look there, and do not repeat it.',
  unknown:
    'It is not known whether this request was stored: look there first; under the same Idempotency-Key a repeat is the same request.',
}

/**
 * The refusal of requests that come while a part is away. What became of the request is said where it is answered, unless it
 * is known better here.
 * @param what is wrong, without a full stop
 * @param more.location where to look
 */
export const unavailable = (
  what: string,
  {
    outcome,
    location,
    retryAfterSeconds = 2,
  }: { outcome?: Stored; location?: string; retryAfterSeconds?: number } = {},
): Problem => {
  const headers = { 'retry-after': String(retryAfterSeconds), ...(location !== undefined && { location }) }
  return new Problem('UNAVAILABLE', `${what}.`, { headers, ...(outcome && { members: { outcome } }) })
}

/** Whole seconds of a time to come back, at least one. */
export const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

/** A limit is passed; it is free again after `retryMs`. */
export const tooMany = (detail: string, retryMs: number): Problem =>
  new Problem('TOO_MANY_REQUESTS', detail, { headers: { 'retry-after': String(secondsOf(retryMs)) } })

/** What is known of the request that failed. @param lookAt where it can be seen */
export type Failed = { isRead: boolean; outcome: Stored; lookAt: string | undefined }

/**
 * The one place that says of each failure of ours (5xx) what became of what was asked: stored, not stored, or unknown, and
 * then where to look.
 */
export const withOutcome = (problem: Problem, { isRead, outcome: known, lookAt }: Failed): Problem => {
  if (problem.status < 500) return problem
  const { code, message, faults, members } = problem
  const outcome = isRead ? 'not_stored' : ((members.outcome as Stored | undefined) ?? known)
  const { location = lookAt, ...headers } = problem.headers
  const isThere = outcome !== 'not_stored' && location !== undefined
  return new Problem(code, isRead ? message : `${message} ${STORED_WORDS[outcome]}`, {
    faults,
    headers: { ...headers, ...(isThere && { location }) },
    members: { ...members, outcome },
  })
}

/** As the rules of the resources say it (crds): our code, and what is wrong. */
const RULE = /\b([A-Z][A-Z_]+): (.+)/
const LINE_END = /[\n\r\u2028\u2029]/

/** What was refused by a rule of the cluster that the door does not check, or that began to hold just now. */
const brokenRules = ({ causes }: KubeError): Fault[] =>
  causes.flatMap(({ field, message }): Fault[] => {
    const [, code = '', detail = ''] = RULE.exec(message.split(LINE_END).at(-1) ?? '') ?? []
    const pointer = restPointer(field.replace(/^spec(?=\.|$)/, '').replaceAll('.', '/'))
    return isProblemCode(code) ? [{ code, pointer, detail: `${detail}.` }] : []
  })

/** PostgreSQL's character_not_in_repertoire and untranslatable_character: its texts hold no NUL, and a handler has let one through. */
const NO_TEXT = /^(22021|22P05)$/

/** What anything thrown under a route is answered with; what is not ours says nothing of our insides. */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable) return unavailable('The ledger cannot be reached')
  if (isPlaneAway(error)) return unavailable('The control plane cannot be reached')
  if (isKindUnknown(error)) {
    return new Problem('KIND_UNKNOWN', 'The cluster does not know this kind of resource: its definition is missing.', {
      headers: { 'retry-after': '60' },
    })
  }
  if (isNamespaceNotServed(error))
    return new Problem('NAMESPACE_NOT_SERVED', 'It lives in a namespace that is not served. Nothing of it was deleted.')
  if (isConflict(error)) return unavailable('Others write to the same thing all the time')
  if (isNotFound(error)) return new Problem('NOT_FOUND', 'It was deleted meanwhile.')
  const broken = error instanceof KubeError ? brokenRules(error) : []
  const [first] = broken
  if (first) return new Problem(first.code, first.detail, { faults: broken })
  if (isForbidden(error)) return unavailable('The control plane does not let this service do that')
  if (error instanceof DatabaseRefused && NO_TEXT.test(error.state))
    return new Problem('INVALID_FIELD', 'A text of the request holds a NUL, which no text may.')
  return new Problem('INTERNAL', 'The request failed inside the service.')
}

/** The status that something thrown will be answered with. From 500 on it is not known what was done. */
export const statusOf = (error: unknown): number => asProblem(error).status

/** Refuses when there is a finding; the first one names the code of the whole answer. */
export const refuseFaults = (faults: Fault[]): void => {
  const first = faults[0]
  if (first) throw new Problem(first.code, first.detail, { faults })
}

/** What is longer repeats what was sent; nobody reads it, and a megabyte of it takes 40 ms to be looked through. */
const SAID_MAX_CHARS = 4_000

/** As it may be shown to whoever asked. */
const said = (text: string): string => {
  if (text.length <= SAID_MAX_CHARS) return withoutCredentials(text)
  return `${withoutCredentials(text.slice(0, startOfRun(text, SAID_MAX_CHARS)))}…`
}

const faultSaid = (fault: Fault): Fault => ({ ...fault, pointer: said(fault.pointer), detail: said(fault.detail) })

/** The body of the answer. `type` is a page of this service that explains the code. */
export const problemBody = (problem: Problem, requestId: string, publicUrl: string) => {
  const { status, title } = PROBLEMS[problem.code]
  return {
    ...problem.members,
    type: `${publicUrl}/problems/${problem.code}`,
    title,
    status,
    detail: said(problem.message),
    code: problem.code,
    next: problem.next,
    request_id: requestId,
    ...(problem.faults.length > 0 && { errors: problem.faults.map(faultSaid) }),
  }
}
