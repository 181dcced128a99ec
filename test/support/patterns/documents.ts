/** Patterns of what is no TypeScript: definitions, served documents, schemas of charts, SQL. */
import { parseAllDocuments } from 'yaml'
import type { Collected, Pattern } from './collect.ts'

/** RE2 writes a code point in a way of its own. */
const asJavaScript = (source: string): string => source.replace(/\\x\{([0-9A-F]{1,6})\}/g, '\\u{$1}')

const isText = (value: unknown): value is string => typeof value === 'string'

/** What one word of a schema brings. */
const ofWord = (where: string, name: string, value: unknown): Collected => {
  const sources =
    name === 'patternProperties' ? Object.keys(value ?? {}) : name === 'pattern' && isText(value) ? [value] : []
  const isRule = name === 'rule' && isText(value) && value.includes('.matches(')
  return {
    patterns: sources.map((source) => ({ where, source: asJavaScript(source), flags: 'u' })),
    hidden: isRule ? [`${where} has a pattern in a rule`] : [],
  }
}

const ofSchema = (path: string, node: unknown): Collected => {
  const all: Collected = { patterns: [], hidden: [] }
  const look = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, child] of Object.entries(value)) {
      const { patterns, hidden } = ofWord(`${path} ${pointer}/${name}`, name, child)
      all.patterns.push(...patterns)
      all.hidden.push(...hidden)
      look(child, `${pointer}/${name}`)
    }
  }
  look(node, '')
  return all
}

const ofSql = (path: string, text: string): Collected => {
  const patterns = [...text.matchAll(/ !?~\*? '([^']*)'/g)].map(
    ([, source = '']): Pattern => ({ where: path, source, flags: '' }),
  )
  const calls = text.match(/ ~\*? [^']|\b(?:regexp_[a-z]{1,20}|similar to)\b/g) ?? []
  return { patterns, hidden: calls.map((call) => `${path} has a pattern in ${call.trim()}`) }
}

/** The patterns of one document, by what its name ends in. */
export const ofDocument = (path: string, text: string): Collected => {
  if (path.endsWith('.sql')) return ofSql(path, text)
  if (path.endsWith('.json')) return ofSchema(path, JSON.parse(text))
  return ofSchema(
    path,
    parseAllDocuments(text).map((document) => document.toJS()),
  )
}
