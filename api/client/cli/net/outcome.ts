/** How a command ends: exit codes that scripts rely on, and the two ways of ending that are thrown. */

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  timedOut: 3,
  notAuthorised: 4,
  refused: 5,
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A refusal as the API says it (RFC 9457); what is not one, as a page of some proxy, is made into one. */
export type ApiRefusal = {
  status: number
  code: string
  title?: string
  detail?: string
  next?: string
  request_id?: string
  errors?: readonly { code?: string; pointer?: string; detail?: string; next?: string }[]
}

/** Codes that say: this may not run here. They are rules of the installation, and no fault of a request. */
export const POLICY_CODES: readonly string[] = [
  'COMPOSE_REFUSED',
  'UNSAFE_PATH',
  'ROOT_REFUSED',
  'ARCH_MISMATCH',
  'HOST_NOT_APPROVED',
  'HOST_NOT_ISOLATED',
  'VOLUMES_AT_RISK',
  'APP_LIMIT',
  'APP_STORAGE',
  'BUDGET_REFUSED',
  'DISK_EXCEEDED',
  'DOWNTIME_NOT_CONFIRMED',
  'FIELD_IN_MANIFEST',
  'HOST_FULL',
  'MANIFEST_BEHIND',
  'BACKUP_TOO_LARGE',
  'RESTORE_NOT_CONFIRMED',
  'CAP_EXCEEDED',
  'WORK_AT_RISK',
]
/** What the client itself does not do, whatever the server says: nobody is logged in to that is not known. */
const OWN_POLICY_CODES: readonly string[] = ['NO_HOST_KEYS', 'HOST_KEY_MISMATCH', 'UNSAFE_ANSWER']
const CREDENTIAL_CODES: readonly string[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'CAPABILITY_REQUIRED', 'ROLE_REQUIRED']

/** @param code of a refused request or of an operation that failed */
export const exitCodeFor = (code: string | null | undefined, status = 0): ExitCode => {
  if (CREDENTIAL_CODES.includes(code ?? '') || status === 401 || status === 403) return EXIT.notAuthorised
  return [...POLICY_CODES, ...OWN_POLICY_CODES].includes(code ?? '') ? EXIT.refused : EXIT.failed
}

/** Said to whoever typed the command; nothing was sent. */
export class UsageFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageFault'
  }
}

/** The API refused. */
export class RefusedByApi extends Error {
  readonly refusal: ApiRefusal
  constructor(refusal: ApiRefusal) {
    super(refusal.detail ?? refusal.title ?? refusal.code)
    this.name = 'RefusedByApi'
    this.refusal = refusal
  }
}

/** The time that was given is up, or nobody answers; what was begun goes on without us. */
export class GaveUp extends Error {
  readonly exitCode: ExitCode
  /** @param exitCode `timedOut` for a wait that ran out */
  constructor(message: string, exitCode: ExitCode) {
    super(message)
    this.name = 'GaveUp'
    this.exitCode = exitCode
  }
}
