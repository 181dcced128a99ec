/**
 * The one way a refusal leaves the house: `application/problem+json` (RFC 9457) with the documents' codes,
 * the findings with JSON pointers, and the next step (DESIGN section 5, errors).
 */
import { type Fault, PROBLEMS, type ProblemCode } from '../crds/problem.ts'

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

/** Refuses when there is a finding; the first one names the code of the whole answer. */
export const refuseFaults = (faults: Fault[]): void => {
  const first = faults[0]
  if (first) throw new Problem(first.code, first.detail, { faults })
}

/** The body of the answer. `type` is a page of this service that explains the code. */
export const problemBody = (problem: Problem, requestId: string, publicUrl: string) => {
  const { status, title, next } = PROBLEMS[problem.code]
  return {
    type: `${publicUrl}/problems/${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    next,
    request_id: requestId,
    ...(problem.faults.length > 0 && { errors: problem.faults }),
  }
}
