/**
 * YAML as a tree that knows its lines. Everything about it is bounded: characters, tokens, depth, nodes after aliases.
 * What two readers of YAML could understand differently is refused: duplicate keys, several documents, tags, keys that
 * are no strings. Merge keys (`<<`) are resolved (YAML 1.1 merge type; compose-spec 10, fragments).
 */
import { type Document, isAlias, isMap, isScalar, isSeq, Lexer, type ParsedNode, parseDocument, stringify } from 'yaml'
import { pointerSegment } from '../../../values/pointer.ts'
import type { At, ValidationContext } from './validation.ts'

/** Characters of a compose file. */
export const COMPOSE_MAX_CHARS = 131_072
/** A page of YAML has about 300. */
const TOKENS_MAX = 25_000
const DEPTH_MAX = 32
/** Nodes once aliases are put in place: what stops an alias bomb. */
const NODES_MAX = 20_000

/** `text` is the scalar as written: what findings may show, since the value may come to hold secrets. */
export type ScalarTree = At & {
  kind: 'scalar'
  value: string | number | boolean | null
  text: string
  plain: boolean
  /** It held variables. */
  varies?: true
}
export type ListTree = At & { kind: 'list'; items: Tree[] }
export type MapTree = At & { kind: 'map'; entries: Map<string, Tree> }
export type Tree = ScalarTree | ListTree | MapTree

/** What a YAML 1.2 core scalar may be tagged; all others change the meaning of what they stand before. */
const CORE_TAG = /^tag:yaml\.org,2002:(str|int|float|bool|null|seq|map)$/
/** Numbers that YAML 1.1 and 1.2 read differently, and times. */
const AMBIGUOUS = /^[-+]?(0\d+|0b[01]+|\d+_[\d_.]*)$/

/** What is read so far, for one file. */
type Reading = {
  validation: ValidationContext
  lineOf(node: ParsedNode): number
  anchors: Map<string, ParsedNode>
  /** Aliases that are being put in place: one inside itself never ends. */
  open: Set<ParsedNode>
  nodes: number
}

/** Thrown to leave a walk whose finding is already made. */
class Unreadable extends Error {}

const lineStarts = (text: string): number[] => {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The line of an offset, from 1. */
const lineAt = (starts: readonly number[], offset: number): number => {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}

const isSmallEnough = (text: string): boolean => {
  if (text.length > COMPOSE_MAX_CHARS) return false
  let tokens = 0
  for (const _ of new Lexer().lex(text)) if (++tokens > TOKENS_MAX) return false
  return true
}

const stop = (reading: Reading, at: At, detail: string, next: string): never => {
  reading.validation.refuse(at, 'syntax', detail, next)
  throw new Unreadable(detail)
}

const checkTag = (reading: Reading, at: At, tag: string | undefined): void => {
  if (tag === undefined || tag === '!' || CORE_TAG.test(tag)) return
  stop(reading, at, `The tag ${JSON.stringify(tag.slice(0, 40))} is not read.`, 'Write the value without a tag.')
}

const scalar = (reading: Reading, at: At, node: { value: unknown; source?: string; type?: string }): ScalarTree => {
  const text = node.source ?? ''
  const plain = node.type === 'PLAIN'
  if (plain && AMBIGUOUS.test(text)) {
    stop(reading, at, `${text.slice(0, 40)} is not the same number to every reader of YAML.`, 'Write it in quotes.')
  }
  const value = typeof node.value === 'bigint' ? Number(node.value) : node.value
  const known = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  if (!known || (typeof value === 'number' && !Number.isFinite(value))) {
    stop(reading, at, `${text.slice(0, 40)} is neither text, nor a number, nor true or false.`, 'Write it in quotes.')
  }
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    stop(reading, at, 'The text holds a character that no program takes.', 'Remove the escape.')
  }
  // A number that a double cannot hold is kept as the digits that were written.
  const exact = typeof node.value === 'bigint' && BigInt(Number(node.value)) !== node.value ? String(node.value) : value
  return { ...at, kind: 'scalar', value: exact as ScalarTree['value'], text: text.slice(0, 200), plain }
}

const keyOf = (reading: Reading, at: At, key: unknown): { name: string; merge: boolean } => {
  const line = isAlias(key) || isScalar(key) || isMap(key) || isSeq(key) ? reading.lineOf(key as ParsedNode) : at.line
  if (!isScalar(key) || typeof key.value !== 'string' || key.value === '') {
    return stop(reading, { ...at, line }, 'A key here is not a name.', 'Write every key as text, in quotes if need be.')
  }
  checkTag(reading, { ...at, line }, key.tag)
  return { name: key.value, merge: key.value === '<<' && key.type === 'PLAIN' }
}

/** What `<<` brings in: one mapping or several, the first wins. They stand where they are merged. */
const merged = (reading: Reading, at: At, node: ParsedNode | null, depth: number): MapTree[] => {
  const sources = isSeq(node) ? (node.items as ParsedNode[]) : [node]
  return sources.map((source) => {
    const tree = walk(reading, source, at, depth + 1)
    return tree.kind === 'map' ? tree : stop(reading, at, '<< takes mappings only.', 'Point it at a mapping.')
  })
}

const mapping = (reading: Reading, at: At, node: { items: { key: unknown; value: unknown }[] }, depth: number) => {
  const entries = new Map<string, Tree>()
  const merges: MapTree[] = []
  for (const pair of node.items) {
    const { name, merge } = keyOf(reading, at, pair.key)
    const line = reading.lineOf(pair.key as ParsedNode)
    if (merge) {
      merges.push(...merged(reading, { pointer: at.pointer, line }, pair.value as ParsedNode | null, depth))
      continue
    }
    const place = { pointer: `${at.pointer}/${pointerSegment(name)}`, line }
    const value = walk(reading, pair.value as ParsedNode | null, place, depth + 1)
    if (entries.has(name)) {
      stop(reading, place, `${JSON.stringify(name.slice(0, 60))} is here twice.`, 'Keep one of the two.')
    }
    entries.set(name, value)
  }
  for (const { entries: more } of merges)
    for (const [name, value] of more) if (!entries.has(name)) entries.set(name, value)
  return { ...at, kind: 'map' as const, entries }
}

const aliased = (reading: Reading, at: At, name: string, depth: number): Tree => {
  const target = reading.anchors.get(name)
  if (!target)
    return stop(reading, at, `There is no anchor ${JSON.stringify(name.slice(0, 60))} before this.`, 'Define it above.')
  if (reading.open.has(target)) return stop(reading, at, 'The anchor holds itself.', 'Take the alias out of it.')
  return walk(reading, target, at, depth, true)
}

const walk = (reading: Reading, node: ParsedNode | null, at: At, depth: number, again = false): Tree => {
  if (++reading.nodes > NODES_MAX) stop(reading, at, `There are more than ${NODES_MAX} values.`, 'Use fewer aliases.')
  if (depth > DEPTH_MAX) stop(reading, at, `It is nested deeper than ${DEPTH_MAX} levels.`, 'Make it flatter.')
  if (node === null) return { ...at, kind: 'scalar', value: null, text: '', plain: true }
  if (isAlias(node)) return aliased(reading, at, node.source, depth)
  checkTag(reading, at, node.tag)
  if (node.anchor !== undefined && !again) reading.anchors.set(node.anchor, node)
  if (isScalar(node)) return scalar(reading, at, node)
  reading.open.add(node)
  try {
    if (isMap(node)) return mapping(reading, at, node, depth)
    const items = node.items.map((item, index) => {
      const pointer = `${at.pointer}/${index}`
      const line = item === null ? at.line : reading.lineOf(item as ParsedNode)
      return walk(reading, item as ParsedNode, { pointer, line }, depth + 1)
    })
    return { ...at, kind: 'list', items }
  } finally {
    reading.open.delete(node)
  }
}

const contentOf = (
  validation: ValidationContext,
  text: string,
  starts: readonly number[],
): ParsedNode | null | undefined => {
  const document: Document.Parsed = parseDocument(text, {
    uniqueKeys: false, // compares each key with each other one; `mapping` looks them up
    prettyErrors: false, // copies text around every error
    intAsBigInt: true,
    merge: false,
    version: '1.2',
  })
  const [problem] = document.errors
  if (!problem && !document.directives.yaml.explicit) return document.contents
  if (!problem) {
    const detail = 'A %YAML line changes how the rest is read.'
    return validation.refuse({ pointer: '', line: 1 }, 'syntax', detail, 'Remove it.')
  }
  const at = { pointer: '', line: lineAt(starts, problem.pos[0]) }
  if (problem.code === 'MULTIPLE_DOCS')
    return validation.refuse(at, 'syntax', 'The file holds several documents.', 'Keep one.')
  return validation.refuse(at, 'syntax', `This is not YAML: ${problem.message.slice(0, 200)}.`, 'Correct this line.')
}

/** The tree of a text, or undefined with the reason on the validation context. Never throws; bounded work for any text. */
export const parseYaml = (validation: ValidationContext, text: string): Tree | undefined => {
  const top: At = { pointer: '', line: 1 }
  if (!isSmallEnough(text)) {
    const detail = `The file has more than ${COMPOSE_MAX_CHARS} characters or ${TOKENS_MAX} tokens.`
    return validation.refuse(top, 'size', detail, 'Keep only what the project needs.')
  }
  const starts = lineStarts(text)
  const content = contentOf(validation, text, starts)
  if (content === undefined) return undefined
  const lineOf = (node: ParsedNode): number => lineAt(starts, node.range[0])
  try {
    return walk({ validation, lineOf, anchors: new Map(), open: new Set(), nodes: 0 }, content, top, 0)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** Plain values as YAML, for people to read. */
export const yamlOf = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
