/**
 * How a secret that a receiver holds came from one that we gave. Secrets are compared as a whole only: an answer that told
 * how much of one is right would let it be guessed piece by piece.
 */

import { trimmedEnd } from '../values/trimmed.ts'
import { type FindingCode, findingOf, type WebhookFinding } from './findings.ts'
import { isSameDigest, SECRET_BYTES, SECRET_PATTERN, SECRET_PREFIX } from './signature.ts'

/** An endpoint of the account. `previous` is what a rotation replaced last, kept after `until` (ISO) to be recognised. */
export type KnownEndpoint = {
  name: string
  secret: string
  previous?: { secret: string; until: string } | null
}

/** A secret that we gave; `until` (ms) when a rotation has replaced it. */
type Held = { endpoint: KnownEndpoint; secret: string; until: number | null }

const heldOf = (endpoint: KnownEndpoint): Held[] => {
  const { secret, previous } = endpoint
  const before = previous ? [{ endpoint, secret: previous.secret, until: Date.parse(previous.until) }] : []
  return [{ endpoint, secret, until: null }, ...before]
}

export const secretsOf = (endpoints: readonly KnownEndpoint[]): string[] =>
  endpoints.flatMap(heldOf).map(({ secret }) => secret)

const textOfBytes = (secret: string, encoding: BufferEncoding): string =>
  Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64').toString(encoding)
const decoded = (text: string): string => Buffer.from(text, 'base64').toString('latin1')

const padded = (text: string): string => {
  const bare = trimmedEnd(text.replaceAll('-', '+'), '=')
  const tail = bare.startsWith(SECRET_PREFIX) ? bare.slice(SECRET_PREFIX.length) : bare
  const full = tail.replaceAll('_', '/')
  return `${SECRET_PREFIX}${full}${'='.repeat((4 - (full.length % 4)) % 4)}`
}

type Undoing = readonly [FindingCode, (text: string) => string]

/** Faults that may stand on top of any other, in the order in which they are taken off. */
const WRAPPINGS: readonly Undoing[] = [
  ['SECRET_HAS_BLANKS', (text) => text.replace(/[\s\u200b]+/gu, '')],
  ['SECRET_QUOTED', (text) => text.replace(/^(?:"(.*)"|'(.*)'|`(.*)`)$/u, '$1$2$3')],
]

const UNDOINGS: readonly Undoing[] = [
  ['SECRET_WITHOUT_PREFIX', (text) => `${SECRET_PREFIX}${text}`],
  ['SECRET_OTHER_ALPHABET', padded],
  ['SECRET_ENCODED', (text) => decoded(text).trim()],
  ['SECRET_ENCODED', (text) => decoded(text.slice(SECRET_PREFIX.length)).trim()],
  ['SECRET_DECODED', (text) => `${SECRET_PREFIX}${Buffer.from(text, 'hex').toString('base64')}`],
]

/** Faults that lose something, so that they are seen from the secret that we gave. */
const LOSSES: readonly Undoing[] = [
  ['SECRET_DECODED', (secret) => textOfBytes(secret, 'latin1')],
  ['SECRET_DECODED', (secret) => textOfBytes(secret, 'utf8')],
  ['SECRET_WRONG_CASE', (secret) => secret.toLowerCase()],
  ['SECRET_WRONG_CASE', (secret) => secret.toUpperCase()],
]

const unwrapped = (received: string): { text: string; codes: FindingCode[] } => {
  let text = received
  const codes: FindingCode[] = []
  for (const [code, undo] of WRAPPINGS) {
    const bare = undo(text)
    if (bare !== text) codes.push(code)
    text = bare
  }
  return { text, codes }
}

const among = (text: string, secrets: readonly string[]): string | null =>
  secrets.find((secret) => isSameDigest(secret, text)) ?? null

type Identity = { secret: string | null; codes: FindingCode[] }

/** Which of `secrets` it is, and what was done to it. */
const identify = (received: string, secrets: readonly string[]): Identity => {
  for (const [code, lose] of LOSSES) {
    const found = secrets.find((secret) => isSameDigest(lose(secret), received) && secret !== received)
    if (found !== undefined) return { secret: found, codes: [code] }
  }
  const { text, codes } = unwrapped(received)
  const plain = among(text, secrets)
  if (plain !== null) return { secret: plain, codes }
  for (const [code, undo] of UNDOINGS) {
    const found = among(undo(text), secrets)
    if (found !== null) return { secret: found, codes: [...codes, code] }
  }
  return { secret: null, codes: [...codes, formFault(text)] }
}

const formFault = (text: string): FindingCode => {
  if (!text.startsWith(SECRET_PREFIX)) return 'SECRET_WITHOUT_PREFIX'
  return new RegExp(SECRET_PATTERN).test(text) ? 'SECRET_UNKNOWN' : 'SECRET_MALFORMED'
}

/** Secrets that the one received may stand for, where none of ours has signed: the usual faults undone. */
export const repairedSecrets = (received: string): string[] => {
  const { text } = unwrapped(received)
  const bytes = Buffer.from(received, 'latin1')
  const encoded = bytes.length === SECRET_BYTES ? [`${SECRET_PREFIX}${bytes.toString('base64')}`] : []
  const made = [received, text, ...UNDOINGS.map(([, undo]) => undo(text)), ...encoded]
  return [...new Set(made.filter((one) => one.startsWith(SECRET_PREFIX)))]
}

/** Two secrets that we gave: the one the receiver holds, and the one that signed. */
const wrongOne = (has: Held, signed: Held): WebhookFinding => {
  if (has.endpoint !== signed.endpoint) {
    const [mine, theirs] = [JSON.stringify(has.endpoint.name), JSON.stringify(signed.endpoint.name)]
    return findingOf('SECRET_OF_ANOTHER_ENDPOINT', `It is that of ${mine}; the delivery was signed for ${theirs}.`)
  }
  return findingOf(has.until === null ? 'SECRET_TOO_NEW' : 'SECRET_ROTATED')
}

type Case = {
  received: string
  endpoints: readonly KnownEndpoint[]
  /** The secret that the delivery was signed with; null where none that can be thought of has. */
  signed: string | null
  /** When it was received, in ms. */
  at: number
  /** Whether the document's scheme is in use; libraries of Standard Webhooks take a secret without its prefix too. */
  isServiceUsed: boolean
}

/** What is wrong with the secret; nothing when it is one of the account's and the one that signed. */
export const secretFindings = ({ received, endpoints, signed, at, isServiceUsed }: Case): WebhookFinding[] => {
  const held = endpoints.flatMap(heldOf)
  const secrets = [...held.map(({ secret }) => secret), ...(signed === null ? [] : [signed])]
  const { secret, codes } = identify(received, secrets)
  const blamed = codes.filter((code) => code !== 'SECRET_WITHOUT_PREFIX' || isServiceUsed)
  const findings = blamed.map((code) => findingOf(code))
  const has = held.find((one) => one.secret === secret)
  const signer = held.find((one) => one.secret === signed)
  if (has === undefined) return findings.length > 0 ? findings : [findingOf('SECRET_UNKNOWN')]
  if (signer !== undefined && signer !== has) return [...findings, wrongOne(has, signer)]
  if (signed === null && has.until !== null && has.until < at) return [...findings, findingOf('SECRET_ROTATED')]
  return findings
}
