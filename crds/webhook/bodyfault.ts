/** How a body that arrived came from the body that was sent. */
import { isDeepStrictEqual } from '../values/compare.ts'
import { type FindingCode, findingOf, type WebhookFinding } from './findings.ts'

/** What `make` gives; null when it throws: the texts here are anybody's. */
const attempt = <T>(make: () => T): T | null => {
  try {
    return make()
  } catch {
    return null
  }
}

const parsed = (text: string): unknown => attempt(() => JSON.parse(text)) ?? undefined
const bytesAs = (text: string, label: 'utf-8' | 'windows-1252'): string =>
  new TextDecoder(label, { ignoreBOM: true }).decode(Buffer.from(text))
const NOT_ASCII = /\P{ASCII}/gu
const formDecoded = (text: string): string | null => attempt(() => decodeURIComponent(text.replaceAll('+', ' ')))
const uriDecoded = (text: string): string | null => attempt(() => decodeURIComponent(text))

/** Readings of UTF-8 by those who take it for something else. */
const MISREADINGS: readonly ((sent: string) => string)[] = [
  (sent) => Buffer.from(sent).toString('latin1'),
  (sent) => bytesAs(sent, 'windows-1252'),
  (sent) => Buffer.from(sent, 'latin1').toString('utf8'),
  (sent) => Buffer.from(sent).toString('ascii'),
  ...['?', '\ufffd', ''].flatMap((mark) => [
    (sent: string) => sent.replace(NOT_ASCII, mark),
    (sent: string) => sent.replace(NOT_ASCII, (char) => mark.repeat(char.length)),
    (sent: string) => sent.replace(NOT_ASCII, (char) => mark.repeat(Buffer.byteLength(char))),
  ]),
]

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const isOfAnotherEvent = (got: unknown, sent: unknown): boolean =>
  typeof fieldOf(got, 'id') === 'string' &&
  ['id', 'sequence'].every((name) => fieldOf(got, name) !== fieldOf(sent, name))

type Question = readonly [FindingCode, (got: string, sent: string) => boolean]

/** The first that fits names the fault. */
const QUESTIONS: readonly Question[] = [
  ['BODY_EMPTY', (got) => got === ''],
  ['BODY_OBJECT_TEXT', (got) => got.trim() === '[object Object]'],
  ['BODY_BOM', (got, sent) => got.startsWith('\ufeff') && got.slice(1).trimEnd() === sent],
  ['BODY_TRAILING_NEWLINE', (got, sent) => got.trimEnd() === sent],
  ['BODY_TRUNCATED', (got, sent) => sent.startsWith(got.trimEnd())],
  ['BODY_URL_DECODED', (got, sent) => [formDecoded(sent), uriDecoded(sent), sent.replaceAll('+', ' ')].includes(got)],
  ['BODY_URL_ENCODED', (got, sent) => [formDecoded(got), uriDecoded(got)].includes(sent)],
  ['BODY_CHARSET', (got, sent) => MISREADINGS.some((misread) => misread(sent) === got)],
  ['BODY_ENCODED_TWICE', (got, sent) => parsed(got) === sent],
  ['BODY_REFORMATTED', (got, sent) => parsed(got) !== undefined && isDeepStrictEqual(parsed(got), parsed(sent))],
  ['BODY_OF_ANOTHER_EVENT', (got, sent) => isOfAnotherEvent(parsed(got), parsed(sent))],
]

const differsAt = (got: string, sent: string): string => {
  const [a, b] = [Buffer.from(got), Buffer.from(sent)]
  const at = a.findIndex((byte, place) => byte !== b[place])
  return `It has ${a.length} bytes in place of ${b.length}, and differs from byte ${at < 0 ? a.length : at} on.`
}

/** @param got differs from `sent` */
export const bodyFinding = (got: string, sent: string): WebhookFinding => {
  const code = QUESTIONS.find(([, fits]) => fits(got, sent))?.[0]
  return code === undefined ? findingOf('BODY_CHANGED', differsAt(got, sent)) : findingOf(code)
}

/**
 * What may have been sent where the event is not known: the body with the usual faults undone. A signature then tells which
 * of them it was.
 */
export const repairedBodies = (got: string): string[] => {
  const undone = [
    got.trim(),
    attempt(() => JSON.stringify(JSON.parse(got.trim()))),
    Buffer.from(got, 'latin1').toString('utf8'),
    formDecoded(got),
    uriDecoded(got),
    parsed(got),
  ]
  return [...new Set(undone.filter((text) => typeof text === 'string' && text !== got && text !== ''))] as string[]
}
