/** Reads the headers of a delivery as a receiver got them, and says what is wrong with their form. */
import type { FindingCode } from './findings.ts'
import { ID_HEADER, SERVICE_HEADER, STANDARD_HEADER, TIMESTAMP_HEADER } from './signature.ts'

export type Scheme = 'service' | 'standard'

/**
 * One scheme as it came in. `id` is '' for the document's, which signs none. `digests` are in the form in which they are
 * compared; `strict` are those that a receiver would find, `loose` also those whose form is wrong and can be guessed.
 */
export type Signature = {
  scheme: Scheme
  id: string
  t: string
  strict: string[]
  loose: string[]
  faults: FindingCode[]
}

const DIGITS = /^\d{1,16}$/

/** @param value a digest in hex; null when its form is right */
const hexFault = (value: string): FindingCode | null => {
  if (/[^0-9a-f]/i.test(value)) return 'V1_NOT_HEX'
  if (value.length !== 64) return 'V1_WRONG_LENGTH'
  return /[A-F]/.test(value) ? 'V1_UPPERCASE_HEX' : null
}

const base64Fault = (value: string): FindingCode | null => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return 'WEBHOOK_V1_NOT_BASE64'
  return value.length === 44 ? null : 'WEBHOOK_V1_WRONG_LENGTH'
}

/** `name=text` or `name,text`; null for a piece that has no such mark. */
type Piece = { name: string; text: string; hasBlanks: boolean } | null

const pieceOf = (piece: string, mark: '=' | ','): Piece => {
  const at = piece.indexOf(mark)
  if (at < 0) return null
  const [name, text] = [piece.slice(0, at), piece.slice(at + 1)]
  return { name: name.trim(), text: text.trim(), hasBlanks: name !== name.trim() || text !== text.trim() }
}

type Digests = { strict: string[]; loose: string[]; faults: FindingCode[] }
type Words = {
  none: FindingCode
  upper: FindingCode
  malformed: FindingCode
  faultOf: (digest: string) => FindingCode | null
}
const SERVICE_WORDS: Words = {
  none: 'V1_MISSING',
  upper: 'V1_WRONG_CASE',
  malformed: 'SERVICE_HEADER_MALFORMED',
  faultOf: hexFault,
}
const STANDARD_WORDS: Words = {
  none: 'WEBHOOK_V1_MISSING',
  upper: 'WEBHOOK_V1_WRONG_CASE',
  malformed: 'WEBHOOK_SIGNATURE_MALFORMED',
  faultOf: base64Fault,
}

/** Further versions are left alone, as receivers leave them. */
const digestsOf = (pieces: readonly Piece[], { none, upper, malformed, faultOf }: Words): Digests => {
  const whole = pieces.filter((piece) => piece !== null)
  const exact = whole.filter(({ name }) => name === 'v1')
  const shouted = whole.filter(({ name }) => name === 'V1')
  const strict = exact.filter(({ hasBlanks }) => !hasBlanks).map(({ text }) => text)
  const loose = [...exact, ...shouted].map(({ text }) => text)
  const faults = loose.map(faultOf).filter((fault) => fault !== null)
  const isCut = whole.length < pieces.length
  if (shouted.length > 0) faults.push(upper)
  if (isCut) faults.push(malformed)
  if (loose.length === 0 && !isCut) faults.push(none)
  return { strict, loose, faults }
}

const serviceOf = (value: string): Signature => {
  const pieces = value.split(',').map((piece) => pieceOf(piece, '='))
  const { strict, loose, faults } = digestsOf(pieces, SERVICE_WORDS)
  const t = pieces.find((piece) => piece?.name === 't')?.text
  if (pieces.some((piece) => piece?.hasBlanks)) faults.push('SERVICE_HEADER_HAS_BLANKS')
  if (t === undefined) faults.push('T_MISSING')
  else if (!DIGITS.test(t)) faults.push('T_NOT_A_NUMBER')
  return { scheme: 'service', id: '', t: t ?? '', strict, loose: loose.map((hex) => hex.toLowerCase()), faults }
}

type Named = { id: string | undefined; t: string | undefined }

const standardOf = (value: string, { id, t }: Named): Signature => {
  const { strict, loose, faults } = digestsOf(
    value.split(/\s+/).map((piece) => pieceOf(piece, ',')),
    STANDARD_WORDS,
  )
  if (!id) faults.push('WEBHOOK_ID_MISSING')
  if (!t) faults.push('WEBHOOK_TIMESTAMP_MISSING')
  else if (!DIGITS.test(t)) faults.push('WEBHOOK_TIMESTAMP_NOT_A_NUMBER')
  return { scheme: 'standard', id: id ?? '', t: t ?? '', strict, loose, faults }
}

type Headers = Readonly<Record<string, string>>

const headerOf = (headers: Headers, name: string): string | undefined =>
  Object.entries(headers)
    .find(([key]) => key.trim().toLowerCase() === name)?.[1]
    .trim()

/** The schemes that are there; a scheme is when its signature is. */
export const signaturesOf = (headers: Headers): Signature[] => {
  const service = headerOf(headers, SERVICE_HEADER)
  const standard = headerOf(headers, STANDARD_HEADER)
  const named = { id: headerOf(headers, ID_HEADER), t: headerOf(headers, TIMESTAMP_HEADER) }
  return [...(service ? [serviceOf(service)] : []), ...(standard ? [standardOf(standard, named)] : [])]
}

const EVENT_ID = /evt_[0-9a-f]{32}/

/**
 * The ids of events that a delivery may be of, the likeliest first: as its header says, and as its body says. At most two;
 * whoever asks looks for them in the account's own events only.
 */
export const eventIdsOf = ({ headers, body }: { headers: Headers; body: string }): string[] => {
  const found = [headerOf(headers, ID_HEADER) ?? '', body].flatMap((text) => EVENT_ID.exec(text)?.[0] ?? [])
  return [...new Set(found)]
}
