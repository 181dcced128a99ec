/**
 * Env files as Compose reads them: quotes, `export`, comments, variables in unquoted and double-quoted values (which see the
 * app's env first, then the lines above). A name without `=` takes the app's own value. Compared with Compose 2.40.
 */
import type { ComposeRule } from '../finding.ts'
import { expandTemplate, TemplateFault, type Variables } from './interpolate.ts'

export const ENV_FILE_MAX_CHARS = 65_536
const NAMES_MAX = 512

export type EnvFile =
  | { values: Map<string, string> }
  | { line: number; rule: ComposeRule; detail: string; next: string }

const LINE = /^[ \t]*(?:export[ \t]+)?([A-Za-z0-9_.-]+)[ \t]*(?:([=:])[ \t]*(.*))?$/s
const ESCAPES: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
}

type Cursor = { lines: string[]; at: number }

class LineFault extends Error {}

/** What stands between quotes, over several lines if need be; what follows the closing quote is a comment. */
const quoted = (cursor: Cursor, first: string): string => {
  const text = [first, ...cursor.lines.slice(cursor.at + 1)].join('\n')
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '\n') cursor.at++
    else if (text[at] === text[0]) return text.slice(1, at)
  }
  throw new LineFault('The quote is not closed.')
}

/** In double quotes `\$` is a dollar sign, and known escapes mean their character; any other backslash stands for itself. */
const unescaped = (text: string, variables: Variables): string => {
  const held = text.replace(/\\([\\$])/g, (whole, char: string) => (char === '$' ? '$$' : whole))
  // Backslashes that variables bring in are not escapes.
  const value = (name: string) => variables.value(name)?.replaceAll('\\', '\\\\')
  const expanded = expandTemplate(held, { ...variables, value })
  return expanded.replace(/\\([abfnrtv\\"])/g, (_, char: string) => ESCAPES[char] ?? char)
}

const valueIn = (cursor: Cursor, written: string, variables: Variables): string => {
  const text = written.trimStart()
  if (text.startsWith("'")) return quoted(cursor, text).replaceAll("\\'", "'")
  if (text.startsWith('"')) return unescaped(quoted(cursor, text), variables)
  return expandTemplate(text.replace(/\s#.*$/s, '').trim(), variables)
}

const readLine = (cursor: Cursor, values: Map<string, string>, variables: Variables): void => {
  const line = cursor.lines[cursor.at] ?? ''
  if (/^\s*(#|$)/.test(line)) return
  const [, name, separator, rest = ''] = LINE.exec(line) ?? []
  if (name === undefined) throw new LineFault('This is no NAME=value.')
  const own: Variables = { ...variables, value: (asked) => variables.value(asked) ?? values.get(asked) }
  const value = separator === undefined ? variables.value(name) : valueIn(cursor, rest, own)
  if (value !== undefined) values.set(name, value)
  if (values.size > NAMES_MAX) throw new LineFault(`There are more than ${NAMES_MAX} names.`)
}

/** The names and values of an env file, or what is wrong with which line. */
export const readEnvFile = (text: string, variables: Variables): EnvFile => {
  const plain = text.replace(/^\ufeff/, '')
  if (plain.length > ENV_FILE_MAX_CHARS || plain.includes('\0'))
    return {
      line: 1,
      rule: 'size',
      detail: 'This is no env file, or longer than 64 KiB.',
      next: 'Write lines of NAME=value.',
    }
  const cursor: Cursor = { lines: plain.split(/\r?\n/), at: 0 }
  const values = new Map<string, string>()
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.at + 1
    try {
      readLine(cursor, values, variables)
    } catch (error) {
      if (error instanceof TemplateFault) return { line, rule: error.rule, detail: error.message, next: error.next }
      if (error instanceof LineFault)
        return { line, rule: 'value', detail: error.message, next: 'Write lines of NAME=value.' }
      throw error
    }
  }
  return { values }
}
