/** Secrets out of texts that are kept or shown: logs, reasons (rules/app.md#logs-without-secrets). */
import { trimmedEnd } from '../../values/trimmed.ts'

/** A shorter value would be found in every second word. */
const SECRET_MIN = 4
const SHOWN = '[redacted]'
/** Words that many env values are, and that tell nothing: stages, levels of a log, who runs databases. */
const PLAIN =
  /^(?:true|false|null|none|\d{1,5}|production|development|staging|test|debug|info|warn|warning|error|postgres|root|utc|utf-8|localhost|https?:\/\/localhost(?::\d+)?)$/i
/** Folders of words, and lists of them, as a PATH is. */
const FOLDERS = /^(?::?\/[a-z][a-z._-]{0,11}){1,12}$/

const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value, 'utf8')
  const lines = value.split('\n').filter((line) => line.length >= SECRET_MIN)
  return [
    value,
    ...lines,
    trimmedEnd(bytes.toString('base64'), '='),
    bytes.toString('base64url'),
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
  ]
}

/** @returns a function that blackens each of these values, plain or encoded, the longest first */
export const makeRedact = (values: Iterable<string>): ((text: string) => string) => {
  const secrets = [...values].filter(
    (value) => value.length >= SECRET_MIN && !PLAIN.test(value) && !FOLDERS.test(value),
  )
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form.length >= SECRET_MIN)
  forms.sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((left, form) => left.replaceAll(form, SHOWN), text)
}
