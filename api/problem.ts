/**
 * The one way a refusal leaves the house: `application/problem+json` (RFC 9457) with the documents' codes,
 * the findings with JSON pointers, and the next step (DESIGN section 5, errors).
 */
import { isConflict, KubeError } from '../controllers/runtime/errors.ts'
import { DatabaseUnavailable } from '../controllers/runtime/pg.ts'
import { type Fault, isProblemCode, PROBLEMS, type ProblemCode } from '../crds/problem.ts'
import { restPointer } from '../crds/rest.ts'
import { withoutCredentials } from './auth/tokens.ts'

type ProblemParts = { faults?: Fault[]; headers?: Record<string, string>; members?: Record<string, unknown> }

/** Thrown anywhere under a route; `server.ts` turns it into the answer. `detail` is for people and holds no secret. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly faults: Fault[]
  readonly headers: Record<string, string>
  /** Members of the answer beside the usual ones (RFC 9457 section 3.2): what the caller needs to go on. */
  readonly members: Record<string, unknown>

  constructor(code: ProblemCode, detail: string, more: ProblemParts = {}) {
    super(detail)
    this.name = 'Problem'
    this.code = code
    this.faults = more.faults ?? []
    this.headers = more.headers ?? {}
    this.members = more.members ?? {}
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}

const RETRY_AFTER = { 'retry-after': '2' }

/** As the rules of the resources say it (crds): our code, and what is wrong. */
const RULE = /\b([A-Z][A-Z_]+): (.+)$/

/** What was refused by a rule of the cluster that the door does not check, or that began to hold just now. */
const brokenRules = ({ causes }: KubeError): Fault[] =>
  causes.flatMap(({ field, message }): Fault[] => {
    const [, code = '', detail = ''] = RULE.exec(message) ?? []
    const pointer = restPointer(field.replace(/^spec(?=\.|$)/, '').replaceAll('.', '/'))
    return isProblemCode(code) ? [{ code, pointer, detail: `${detail}.` }] : []
  })

/** What anything thrown under a route is answered with; what is not ours says nothing of our insides. */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable) {
    return new Problem('UNAVAILABLE', 'The ledger cannot be reached; nothing was stored.', { headers: RETRY_AFTER })
  }
  if (error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500)) {
    const detail = 'The control plane cannot be reached; send the same request again.'
    return new Problem('UNAVAILABLE', detail, { headers: RETRY_AFTER })
  }
  if (isConflict(error)) {
    const detail = 'Others write to the same thing all the time; send the same request again.'
    return new Problem('UNAVAILABLE', detail, { headers: RETRY_AFTER })
  }
  const broken = error instanceof KubeError ? brokenRules(error) : []
  const [first] = broken
  if (first) return new Problem(first.code, first.detail, { faults: broken })
  return new Problem('INTERNAL', 'The request failed inside the service.')
}

/** The status that something thrown will be answered with. From 500 on it is not known what was done. */
export const statusOf = (error: unknown): number => asProblem(error).status

/** Refuses when there is a finding; the first one names the code of the whole answer. */
export const refuseFaults = (faults: Fault[]): void => {
  const first = faults[0]
  if (first) throw new Problem(first.code, first.detail, { faults })
}

const withoutSecrets = (fault: Fault): Fault => ({
  ...fault,
  pointer: withoutCredentials(fault.pointer),
  detail: withoutCredentials(fault.detail),
})

/** The body of the answer. `type` is a page of this service that explains the code. */
export const problemBody = (problem: Problem, requestId: string, publicUrl: string) => {
  const { status, title, next } = PROBLEMS[problem.code]
  return {
    ...problem.members,
    type: `${publicUrl}/problems/${problem.code}`,
    title,
    status,
    detail: withoutCredentials(problem.message),
    code: problem.code,
    next,
    request_id: requestId,
    ...(problem.faults.length > 0 && { errors: problem.faults.map(withoutSecrets) }),
  }
}
