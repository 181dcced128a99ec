/**
 * Every pattern of the tree, as the compiler sees it: literals, what `RegExp` is called with, what `match`, `matchAll` and
 * `search` make a pattern of, and `pattern` of schemas. A pattern must have a text that the compiler can spell out; one
 * that it cannot is told as hidden. The syntax comes from the compiler itself, which the lockfile pins, so that no
 * second reader of TypeScript may miss what the first one takes.
 */
import { join } from 'node:path'
import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import {
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isRegularExpressionLiteral,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
} from 'typescript/unstable/ast/is'
import { API, type Checker, type Type, TypeFlags } from 'typescript/unstable/sync'

export type Pattern = { where: string; source: string; flags: string }
export type Collected = { patterns: Pattern[]; hidden: string[] }

/** Functions that make patterns of a table, by name, with all that they make. */
export type Made = Readonly<Record<string, readonly string[]>>

/** What is collected so far, of one file. */
type Reading = Collected & { path: string; text: string; checker: Checker; made: Made; scripts: Map<string, string> }

/** The flag that schemas are read with, here and by those who read our documents. */
const SCHEMA_FLAGS = 'u'
const MAKES_PATTERNS = new Set(['match', 'matchAll', 'search'])
/** A text for a browser to run. */
const SCRIPT = /^\s*['"]use strict['"]|\b(?:document|window|navigator)\.\w+[.(=;[]/
const PAGE_PATTERN = ' pattern="'

const startOf = (reading: Reading, node: Node): number => {
  let at = node.pos
  while (/\s/.test(reading.text[at] ?? '')) at++
  return at
}
const placeOf = (reading: Reading, node: Node): string =>
  `${reading.path}:${reading.text.slice(0, startOf(reading, node)).split('\n').length}`
const hide = (reading: Reading, node: Node, what: string): void => {
  const text = reading.text.slice(startOf(reading, node), node.end).slice(0, 80)
  reading.hidden.push(`${placeOf(reading, node)} ${what}: ${text}`)
}

/** The texts that a type stands for; null among them when it stands for others too. */
const textsOf = (type: Type | undefined): (string | null)[] => {
  if (!type) return [null]
  if (type.isUnionType()) return type.getTypes().flatMap(textsOf)
  if (type.flags & TypeFlags.Undefined) return []
  return [type.isStringLiteralType() ? type.value : null]
}

/** Takes an expression that becomes a pattern; one that is a pattern already was met where it was written. */
const take = (reading: Reading, node: Node, flags: string, known?: Type): void => {
  if (isCallExpression(node) && isIdentifier(node.expression)) {
    const made = reading.made[node.expression.text]
    if (made)
      return void reading.patterns.push(...made.map((source) => ({ where: placeOf(reading, node), source, flags })))
  }
  const type = known ?? reading.checker.getTypeAtLocation(node)
  if (type?.getSymbol()?.name === 'RegExp') return
  for (const source of textsOf(type)) {
    if (source === null) hide(reading, node, 'is no text that the compiler knows')
    else reading.patterns.push({ where: placeOf(reading, node), source, flags })
  }
}

const takeLiteral = (reading: Reading, node: Node & { text: string }): void => {
  const end = node.text.lastIndexOf('/')
  reading.patterns.push({
    where: placeOf(reading, node),
    source: node.text.slice(1, end),
    flags: node.text.slice(end + 1),
  })
}

const takeMade = (reading: Reading, made: Node, [source, flags]: readonly Node[]): void => {
  const known = flags === undefined ? '' : isStringLiteral(flags) ? flags.text : null
  if (!source || known === null) hide(reading, made, 'has no text, or flags that the compiler does not know')
  else take(reading, source, known)
}

/** `RegExp` may be called, asked for with instanceof, and be a type. By another name it would not be seen. */
const takeRegExp = (reading: Reading, node: Node): void => {
  const { parent } = node
  const isAsked = isBinaryExpression(parent) && parent.operatorToken.kind === SyntaxKind.InstanceOfKeyword
  if (parent.kind === SyntaxKind.TypeReference || isAsked) return
  const isMade = (isNewExpression(parent) || isCallExpression(parent)) && parent.expression === node
  if (isMade) takeMade(reading, parent, parent.arguments ?? [])
  else hide(reading, parent, 'hands RegExp on')
}

const takeCall = (reading: Reading, node: Node): void => {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return
  const { expression, name } = node.expression
  const [first] = node.arguments
  if (first && MAKES_PATTERNS.has(name.text)) {
    const type = reading.checker.getTypeAtLocation(expression)
    if (!type || type.flags & (TypeFlags.StringLike | TypeFlags.Any))
      take(reading, first, name.text === 'matchAll' ? 'g' : '')
  }
  if (name.text === 'compile' && reading.checker.getTypeAtLocation(expression)?.getSymbol()?.name === 'RegExp')
    hide(reading, node, 'makes another pattern of one')
}

const nameOf = (node: Node): string => (isIdentifier(node) || isStringLiteral(node) ? node.text : '')

/** By its constant: the type of a property is as wide as what may be written there later. */
const takeShorthand = (reading: Reading, node: Node & { name: Node }): void => {
  const constant = reading.checker.getShorthandAssignmentValueSymbol(node)
  take(reading, node.name, SCHEMA_FLAGS, constant && reading.checker.getTypeOfSymbol(constant))
}

const takeSchema = (reading: Reading, node: Node): void => {
  if (isPropertyAssignment(node) || isShorthandPropertyAssignment(node)) {
    if (nameOf(node.name) === 'patternProperties') hide(reading, node, 'has patterns for names')
    if (nameOf(node.name) !== 'pattern') return
    if (isPropertyAssignment(node)) take(reading, node.initializer, SCHEMA_FLAGS)
    else takeShorthand(reading, node)
  }
  if (!isBinaryExpression(node) || node.operatorToken.kind !== SyntaxKind.EqualsToken) return
  if (isPropertyAccessExpression(node.left) && node.left.name.text === 'pattern')
    take(reading, node.right, SCHEMA_FLAGS)
}

/** Texts in texts: scripts of pages, and what a form of a page is judged with. */
const takeText = (reading: Reading, node: Node): void => {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) {
    if (SCRIPT.test(node.text)) reading.scripts.set(`${placeOf(reading, node)}.mjs`, node.text)
  } else if (!isTemplateExpression(node)) return
  const text = reading.text.slice(node.pos, node.end)
  for (let at = text.indexOf(PAGE_PATTERN); at >= 0; at = text.indexOf(PAGE_PATTERN, at + 1)) {
    const source = text.slice(at + PAGE_PATTERN.length).split('"', 1)[0] ?? ''
    if (source.includes('${')) hide(reading, node, 'has a pattern of parts')
    else reading.patterns.push({ where: placeOf(reading, node), source: `^(?:${source})$`, flags: 'u' })
  }
}

const walk = (reading: Reading, node: Node): void => {
  if (isRegularExpressionLiteral(node)) takeLiteral(reading, node)
  if (isIdentifier(node) && node.text === 'RegExp') takeRegExp(reading, node)
  takeCall(reading, node)
  takeSchema(reading, node)
  takeText(reading, node)
  node.forEachChild((child) => walk(reading, child))
}

const CONFIG = 'tsconfig.patterns.json'

/**
 * The patterns of these files.
 * @param files path from the root → text that is read in place of the file, or null for the file itself
 */
export const collect = (root: string, files: ReadonlyMap<string, string | null>, made: Made): Collected => {
  const config = {
    extends: './tsconfig.json',
    compilerOptions: { allowJs: true, checkJs: true, maxNodeModuleJsDepth: 0 },
  }
  const texts = new Map([...files].flatMap(([path, text]) => (text === null ? [] : [[join(root, path), text]])))
  texts.set(join(root, CONFIG), JSON.stringify({ ...config, include: [], files: [...files.keys()] }))
  const api = new API({
    cwd: root,
    fs: { readFile: (path) => texts.get(path), fileExists: (path) => (texts.has(path) ? true : undefined) },
  })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, CONFIG)] }).getProjects()
    if (!project) throw new Error('the compiler opened no project')
    const all: Collected = { patterns: [], hidden: [] }
    const scripts = new Map<string, string>()
    for (const path of files.keys()) {
      const file = project.program.getSourceFile(join(root, path))
      if (!file) throw new Error(`the compiler did not read ${path}`)
      walk({ ...all, path, text: file.text, checker: project.checker, made, scripts }, file)
    }
    if (scripts.size === 0) return all
    const inner = collect(root, scripts, made)
    return { patterns: [...all.patterns, ...inner.patterns], hidden: [...all.hidden, ...inner.hidden] }
  } finally {
    api.close()
  }
}
