/**
 * The one way a refusal leaves the house: `application/problem+json` (RFC 9457) with the documents' codes,
 * the findings with JSON pointers, and the next step (DESIGN section 5, errors).
 */
import { KubeError } from '../controllers/runtime/errors.ts'
import { DatabaseUnavailable } from '../controllers/runtime/pg.ts'
import { type Fault, PROBLEMS, type ProblemCode } from '../crds/problem.ts'
import { withoutCredentials } from './tokens.ts'

/** Thrown anywhere under a route; `server.ts` turns it into the answer. `detail` is for people and holds no secret. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly faults: Fault[]
  readonly headers: Record<string, string>

  constructor(code: ProblemCode, detail: string, more: { faults?: Fault[]; headers?: Record<string, string> } = {}) {
    super(detail)
    this.name = 'Problem'
    this.code = code
    this.faults = more.faults ?? []
    this.headers = more.headers ?? {}
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}

/** The status that something thrown will be answered with. From 500 on it is not known what was done. */
export const statusOf = (error: unknown): number => {
  if (error instanceof Problem) return error.status
  return error instanceof DatabaseUnavailable || error instanceof KubeError ? 503 : 500
}

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
