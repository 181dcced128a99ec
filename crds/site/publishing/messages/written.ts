/**
 * What a visitor wrote into a contact form, and what is wrong with it. It is a stranger's: it becomes text of one line or of
 * many, without what turns, hides or breaks (rules/site.md#messages).
 */
import { EMAIL_MAX, EMAIL_PATTERN } from '../../../kernel/schema.ts'

export const WRITTEN_FIELDS = ['name', 'email', 'phone', 'message'] as const
export type WrittenField = (typeof WRITTEN_FIELDS)[number]
/** `phone` is empty when it was left out. */
export type WrittenWords = Record<WrittenField, string>

/** Left empty by whoever sees the page. */
export const TRAP_FIELD = 'website'
/** The file of the page that the form stands on. */
export const PAGE_FIELD = 'page'
/** When the platform's own page asked, sealed. */
export const STAMP_FIELD = 'stamp'

/** In UTF-16 units, as browsers count. */
export const WRITTEN_MAX: Record<WrittenField, number> = { name: 100, email: EMAIL_MAX, phone: 40, message: 3_000 }
/** Of the posted form: a message in Han is nine bytes a sign when it is encoded. */
export const FORM_BODY_MAX_BYTES = 32_768
export const PAGE_PATH_MAX = 200

/** Turns the direction of what follows, or is seen by nobody: marks of bidi, spaces of no width, tags. Joiners stay: scripts and emoji need them. */
const HIDDEN =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
/** All controls but the line feed. */
const CONTROLS = /[^\P{Cc}\n]/gu
const BREAKS = /\r\n?|[\u2028\u2029\u0085]/g
const LINES_KEPT = 2

const plain = (text: string): string =>
  text.toWellFormed().replace(BREAKS, '\n').replace(CONTROLS, ' ').replace(HIDDEN, '').normalize('NFC')

const oneLine = (text: string): string => plain(text).replace(/\s+/gu, ' ').trim()

/** No more empty lines than one in a row. */
const manyLines = (text: string): string => {
  const lines = plain(text)
    .split('\n')
    .map((line) => line.trimEnd())
  let empty = 0
  return lines
    .filter((line) => {
      empty = line === '' ? empty + 1 : 0
      return empty < LINES_KEPT
    })
    .join('\n')
    .trim()
}

export type PostedForm = { written: WrittenWords; page: string; stamp: string; isTrapped: boolean }

/** Every field once: the first of its name. @param form as a browser encodes it; bytes that are no UTF-8 become U+FFFD */
export const postedForm = (form: Uint8Array): PostedForm => {
  const fields = new URLSearchParams(new TextDecoder().decode(form))
  const of = (name: string) => fields.get(name) ?? ''
  return {
    written: {
      name: oneLine(of('name')),
      email: oneLine(of('email')),
      phone: oneLine(of('phone')),
      message: manyLines(of('message')),
    },
    page: of(PAGE_FIELD).slice(0, PAGE_PATH_MAX),
    stamp: of(STAMP_FIELD),
    isTrapped: of(TRAP_FIELD) !== '',
  }
}

const EMAIL = new RegExp(EMAIL_PATTERN, 'u')
const PHONE = /^[+]?[0-9(][0-9 ()./-]{3,38}$/

const isGood: Record<WrittenField, (text: string) => boolean> = {
  name: (text) => text !== '',
  email: (text) => EMAIL.test(text),
  phone: (text) => text === '' || PHONE.test(text),
  message: (text) => text !== '',
}

/** In the order of the form. */
export const writtenFaults = (written: WrittenWords): WrittenField[] =>
  WRITTEN_FIELDS.filter((field) => written[field].length > WRITTEN_MAX[field] || !isGood[field](written[field]))

/** With more links than this a message is kept and not mailed. */
export const LINKS_MAX = 2
const LINK = /https?:\/\/|\bwww\.|\[url|<a\s/gi

export const linksIn = ({ name, message }: WrittenWords): number => `${name}\n${message}`.match(LINK)?.length ?? 0

/** Advertisers write with links; people with a few. What is held stands in the list of messages and is not mailed. */
export const isHeld = (written: WrittenWords): boolean => linksIn(written) > LINKS_MAX
