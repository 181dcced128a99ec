/** What is served under the name of a site, held against the release that is live by the record. Pure. */
import { canonical } from '../../values/canonical.ts'
import type { WantedPage } from './look.ts'
import { STATEMENT_FORM, type Statement } from './statement.ts'

/** `unknown`: nobody answered, or time was up. */
export const FILE_STATES = ['same', 'altered', 'missing', 'unknown'] as const
export type FileState = (typeof FILE_STATES)[number]

/** `valid`: signed by this installation, and of the release that is live. */
export const STATEMENT_STATES = ['valid', 'other', 'unsigned', 'missing', 'unknown'] as const
export type StatementState = (typeof STATEMENT_STATES)[number]

/** What came of asking for one file; null when nothing did. */
export type FileAnswer = { status: number; sha256: string } | null

export const fileState = (wanted: Pick<WantedPage, 'status' | 'sha256'>, seen: FileAnswer): FileState => {
  if (seen === null) return 'unknown'
  if (seen.status === wanted.status) return seen.sha256 === wanted.sha256 ? 'same' : 'altered'
  return seen.status === 200 ? 'altered' : 'missing'
}

/** Of all: the worst that is sure, else whether anything is not. */
export const overallState = (
  states: readonly FileState[],
  statement: StatementState,
): 'same' | 'differs' | 'unknown' => {
  if (states.some((state) => state === 'altered' || state === 'missing')) return 'differs'
  if (['other', 'unsigned', 'missing'].includes(statement)) return 'differs'
  return states.includes('unknown') || statement === 'unknown' ? 'unknown' : 'same'
}

/** Of the certificate of the approval: whether what is served is what it certifies. `missing`: no approval is on record. */
export const CERTIFICATE_STATES = ['matches', 'differs', 'missing', 'unknown'] as const
export type CertificateState = (typeof CERTIFICATE_STATES)[number]

export const certificateState = (isCertified: boolean, states: readonly FileState[]): CertificateState => {
  if (!isCertified) return 'missing'
  if (states.some((state) => state === 'altered' || state === 'missing')) return 'differs'
  return states.includes('unknown') ? 'unknown' : 'matches'
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The signed half of the file that a site serves; null when it is none. */
export const jwsIn = (text: string): string | null => {
  const file = parsed(text)
  return isPlain(file) && typeof file.jws === 'string' ? file.jws : null
}

/** What was signed, once its signature was found good. @returns null where it is of another form, site or release */
export const statementIn = (
  payload: string,
  of: { site: string; hostname: string; digest: string; files: readonly { path: string; sha256: string }[] },
): Statement | null => {
  const statement = parsed(payload)
  if (!isPlain(statement) || statement.form !== STATEMENT_FORM || !Array.isArray(statement.files)) return null
  const { site, hostname, digest } = statement
  const listed = (files: readonly { path: string; sha256: string }[]) =>
    canonical(files.map(({ path, sha256 }) => [path, sha256]))
  const isOurs = canonical([site, hostname, digest]) === canonical([of.site, of.hostname, of.digest])
  const files = statement.files.filter(isPlain) as { path: string; sha256: string }[]
  return isOurs && listed(files) === listed(of.files) ? (statement as unknown as Statement) : null
}
