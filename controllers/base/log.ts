/** JSON lines on stdout. Messages are constant, facts are fields, secrets are neither. */
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** Fields of these names, in any case, are never written, nor below other fields. */
const SECRET_NAMES = [
  'token',
  'password',
  'authorization',
  'cookie',
  'set-cookie',
  'secret',
  'secretKey',
  'privateKey',
  'private_key',
  'databaseUrl',
  'smtpUrl',
  'clientToken',
]
const SECRET_KEYS = new Set(SECRET_NAMES.map((name) => name.toLowerCase()))
const CENSOR_DEPTH = 4
const CENSORED = '[redacted]'
/** `postgres://user:password@host` in a text: the password goes. */
const URL_PASSWORD = /(:\/\/[^\s:/@]*):[^\s@/]*@/g
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

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !(value instanceof Error) && !Array.isArray(value)

// Not pino's own redaction: it parses its paths anew for every line and made up a third of a pass's CPU time.
const censored = (fields: Record<string, unknown>, depth = CENSOR_DEPTH): Record<string, unknown> => {
  let copy: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(fields)) {
    const hidden = SECRET_KEYS.has(key.toLowerCase()) && value !== undefined && value !== null
    const seen = hidden ? CENSORED : depth > 0 && isFields(value) ? censored(value, depth - 1) : value
    if (seen === value) continue
    copy ??= { ...fields }
    copy[key] = seen
  }
  return copy ?? fields
}

// The fields of a child pass through no formatter, but through these.
const censors = Object.fromEntries(SECRET_NAMES.map((name) => [name, () => CENSORED]))

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
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => censored(fields),
    },
    serializers: { ...censors, err: serializeError, error: serializeError },
  }
  return destination ? pino(options, destination) : pino(options)
}
