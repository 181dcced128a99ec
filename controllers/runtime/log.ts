/** JSON lines on stdout. Messages are constant, facts are fields, secrets are neither. */
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

const SECRET_KEYS = [
  'token',
  'password',
  'authorization',
  'cookie',
  'secret',
  'secretKey',
  'privateKey',
  'databaseUrl',
  'smtpUrl',
  'clientToken',
]
const CENSORED = '[redacted]'
/** `postgres://user:password@host` in a text: the password goes. */
const URL_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s@/]*@/gi
/** Bearer tokens and our own token formats. */
const TOKENS = /\b(Bearer\s+)[\w.~+/=-]+|\b(btg|dbr|whsec)_[\w-]+/gi
const STACK_MAX = 4_000

/** Takes passwords in URLs and tokens out of a text that somebody else wrote. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(URL_PASSWORD, `$1:${CENSORED}@`)
    .replace(TOKENS, (_all, bearer: string | undefined, kind: string | undefined) =>
      bearer ? `${bearer}${CENSORED}` : `${kind}_${CENSORED}`,
    )

type ErrorFields = {
  type: string
  message: string
  stack?: string
  code?: string
  status?: number
  cause?: ErrorFields
}

const fieldsOf = (error: Error, depth: number): ErrorFields => {
  const { code, status } = error as Error & { code?: unknown; status?: unknown }
  return {
    type: error.name,
    message: withoutSecrets(error.message),
    ...(error.stack && { stack: withoutSecrets(error.stack).slice(0, STACK_MAX) }),
    ...(typeof code === 'string' && { code }),
    ...(typeof status === 'number' && { status }),
    ...(error.cause instanceof Error && depth < 3 && { cause: fieldsOf(error.cause, depth + 1) }),
  }
}

// pino's own serializer copies every enumerable property of an error: request bodies, SQL parameters, headers.
const serializeError = (error: unknown): unknown =>
  error instanceof Error ? fieldsOf(error, 0) : withoutSecrets(String(error))

const redactPaths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`])

export type LogOptions = {
  level?: string
  /** Fields of every line: the process's name. */
  base?: Record<string, unknown>
  destination?: DestinationStream
}

/** The root logger of a process. Children (`log.child({ controller })`) keep redaction and serializers. */
export const makeLog = ({ level = 'info', base = {}, destination }: LogOptions = {}): Log => {
  const options = {
    level,
    base,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError, error: serializeError },
    redact: { paths: redactPaths, censor: CENSORED },
  }
  return destination ? pino(options, destination) : pino(options)
}
