/**
 * The errors that decide behaviour. Everything else that is thrown is a fault and backs off.
 */
import type { ProblemCode } from '../../crds/kernel/problem.ts'

/** One finding of the API server about one field. `message` may quote what was sent: never log it. */
export type Cause = { field: string; reason: string; message: string }

type KubeErrorParts = { status: number; reason: string; detail?: string; causes?: Cause[]; retryAfterMs?: number }

/**
 * A refusal by the API server, or no answer from it (`status` 0: reason `ConnectionFailed`, `Timeout`, `Stalled`…).
 * The message names verb, resource, status and reason. Bodies and headers are kept out of it, for they hold what users
 * sent; `detail` and `causes` are not enumerable, so that no serializer copies them into a log line.
 */
export class KubeError extends Error {
  readonly status: number
  readonly reason: string
  declare readonly detail: string
  declare readonly causes: Cause[]
  declare readonly retryAfterMs?: number

  constructor(call: string, parts: KubeErrorParts) {
    super(`${call}: ${parts.status === 0 ? '' : `${parts.status} `}${parts.reason}`)
    this.name = 'KubeError'
    this.status = parts.status
    this.reason = parts.reason
    Object.defineProperty(this, 'detail', { value: parts.detail ?? '' })
    Object.defineProperty(this, 'causes', { value: parts.causes ?? [] })
    if (parts.retryAfterMs !== undefined) this.retryAfterMs = parts.retryAfterMs
  }
}

/** Nobody serves this kind: its definition is missing. Nothing is said of any object. */
export const isKindUnknown = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  error.status === 404 &&
  (error.reason === 'Status404' || error.detail.includes('could not find the requested resource'))

/** The object is not there (any more). */
export const isNotFound = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.status === 404 && !isKindUnknown(error)

/** Somebody wrote in between: look again. A create of a name in use is no conflict, see `isAlreadyExists`. */
export const isConflict = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists'

export const isAlreadyExists = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.status === 409 && error.reason === 'AlreadyExists'

/**
 * The API server does not let this process do that: it was given no right, or the server has just started and does not know its
 * Roles yet (it answers 403 until they are read). What was to be written is not there.
 */
export const isForbidden = (error: unknown): error is KubeError => error instanceof KubeError && error.status === 403

/** The reason of a refusal of ours: the resource lives in a namespace that is not served. It is not gone. */
export const NAMESPACE_NOT_SERVED = 'NamespaceNotServed'
export const isNamespaceNotServed = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.reason === NAMESPACE_NOT_SERVED

/** History is compacted: list again. */
export const isGone = (error: unknown): error is KubeError => error instanceof KubeError && error.status === 410

/** Thrown by `observe` or `act`: something outside must happen first. Look again after `retryAfterMs`, or when woken. */
export class Waiting extends Error {
  readonly reason: string
  declare readonly retryAfterMs?: number

  constructor(reason: string, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'Waiting'
    this.reason = reason
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

/** Thrown by `observe` or `act`: a person must act. `code` is what REST would have answered. */
export class Stalled extends Error {
  readonly code: ProblemCode
  /** ISO: then it may go on by itself, so look again. */
  declare readonly wakeAt?: string

  constructor(code: ProblemCode, message: string, wakeAt?: string) {
    super(message)
    this.name = 'Stalled'
    this.code = code
    if (wakeAt !== undefined) this.wakeAt = wakeAt
  }
}

/** Work took longer than its named limit. It may still be going on: effects are keyed, so a second one is harmless. */
export class DeadlineExceeded extends Error {
  constructor(what: string, limitMs: number) {
    super(`${what} took longer than ${limitMs} ms`)
    this.name = 'DeadlineExceeded'
  }
}

/**
 * Runs `work` under a limit. Its signal aborts at the limit and when `parent` aborts.
 * @throws DeadlineExceeded at the limit, `parent.reason` when the parent aborts
 */
export const withDeadline = async <T>(
  what: string,
  limitMs: number,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  parent.throwIfAborted()
  const control = new AbortController()
  let onAbort = () => {}
  let timer: NodeJS.Timeout | undefined
  const cut = new Promise<never>((_, reject) => {
    const stop = (reason: unknown) => {
      control.abort(reason)
      reject(reason)
    }
    timer = setTimeout(() => stop(new DeadlineExceeded(what, limitMs)), limitMs)
    onAbort = () => stop(parent.reason)
    parent.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work(control.signal), cut])
  } finally {
    clearTimeout(timer)
    parent.removeEventListener('abort', onAbort)
  }
}

/** What `work` gives, unless the signal aborts first: then nobody waits for it. @throws the signal's reason, or what work throws */
export const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** What is opening, unless the signal aborts first: one that opened after all is closed, not left behind. */
export const closedIfAborted = async <L extends { close(): unknown }>(
  opening: Promise<L>,
  signal: AbortSignal,
): Promise<L> => {
  try {
    return await unlessAborted(opening, signal)
  } catch (error) {
    void opening.then((opened) => opened.close()).catch(() => {})
    throw error
  }
}

/** A name of the error that is safe to show in a status: never its message, which may quote secrets. */
export const nameOf = (error: unknown): string => {
  if (error instanceof KubeError) return `KubeError ${error.status} ${error.reason}`
  if (!(error instanceof Error)) return 'Error'
  const code: unknown = (error as Error & { code?: unknown }).code
  const word = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? ` ${code}` : ''
  return /^[A-Za-z][A-Za-z0-9]{0,60}$/.test(error.name) ? `${error.name}${word}` : `Error${word}`
}

/** The SQLSTATE that the `fence` function raises. */
export const STALE_EPOCH_STATE = 'BT001'

/** Somebody took the lease after us. Nothing was written; the only sound answer is to stop leading. */
export class StaleEpoch extends Error {
  override name = 'StaleEpoch'
}
