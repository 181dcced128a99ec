/**
 * Variables in a compose file, as Compose reads them (compose-spec 12, interpolation): `$A ${A} ${A:-d} ${A-d} ${A:?e}
 * ${A?e} ${A:+x} ${A+x} $$`. Values come from the app's env and from nowhere else.
 */

import type { ComposeRule } from '../finding.ts'
import type { MapTree, ScalarTree, Tree } from './parse.ts'
import { type At, RESOLVED_MAX_CHARS, type ValidationContext } from './validation.ts'

/** Defaults in defaults. */
const NESTING_MAX = 8

/** Names that mean something to the platform or to the programs it runs; an app neither reads nor sets them. */
const PLATFORM_NAME = /^(BOTTEGA|COMPOSE|DOCKER|BUILDKIT|BUILDX)_/i

export const isPlatformName = (name: string): boolean => PLATFORM_NAME.test(name)

/** How names are looked up, and what is to be told about them. */
export type Variables = {
  value(name: string): string | undefined
  /** A name without a value and without a default, which becomes empty or, when required, stops everything. */
  onMissing(name: string, required: boolean): void
  /** Characters that values may still bring in: what doubles from line to line is stopped while it is small. */
  room: { left: number }
}

/** Why a text could not be put together: the words of a finding. */
export class TemplateFault extends Error {
  readonly next: string
  readonly rule: ComposeRule
  constructor(detail: string, next: string, rule: ComposeRule = 'variable') {
    super(detail)
    this.name = 'TemplateFault'
    this.next = next
    this.rule = rule
  }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/
const OPERATOR = /^(:?[-?+])/

/** Where the brace that was opened just before `from` closes; -1 when it does not. */
const closing = (text: string, from: number): number => {
  let open = 1
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') open++
    else if (text[at] === '}' && --open === 0) return at
  }
  return -1
}

const unreadable = () =>
  new TemplateFault('A $ here begins no variable.', 'Write $$ for a dollar sign, or $NAME for a variable.')

/** The value of a name, which is counted. */
const valueFor = (name: string, variables: Variables): string | undefined => {
  const value = variables.value(name)
  variables.room.left -= value?.length ?? 0
  if (variables.room.left >= 0) return value
  const detail = `Variables bring in more than ${RESOLVED_MAX_CHARS} characters.`
  throw new TemplateFault(detail, 'Use shorter values, or use them less often.', 'size')
}

/** What `${…}` gives; `inner` is what stands between the braces. */
const braced = (inner: string, variables: Variables, depth: number): string => {
  const name = NAME.exec(inner)?.[0]
  if (name === undefined) throw unreadable()
  const rest = inner.slice(name.length)
  const value = valueFor(name, variables)
  if (rest === '') return value ?? missing(name, variables)
  const operator = OPERATOR.exec(rest)?.[0]
  if (operator === undefined) throw unreadable()
  const word = rest.slice(operator.length)
  const isSet = value !== undefined && !(operator.startsWith(':') && value === '')
  if (operator.endsWith('+')) return isSet ? expandTemplate(word, variables, depth + 1) : ''
  if (isSet) return value
  if (operator.endsWith('-')) return expandTemplate(word, variables, depth + 1)
  variables.onMissing(name, true)
  const said = word === '' ? '' : `: ${word.slice(0, 120)}`
  throw new TemplateFault(`The variable ${name} is required and has no value${said}.`, `Set ${name} by PATCH env.`)
}

const missing = (name: string, variables: Variables): string => {
  variables.onMissing(name, false)
  return ''
}

/**
 * A text with its variables put in.
 * @throws TemplateFault for a broken or a required variable
 */
export const expandTemplate = (text: string, variables: Variables, depth = 0): string => {
  if (depth > NESTING_MAX) throw new TemplateFault('Defaults are nested too deep.', 'Set the variable instead.')
  let out = ''
  let from = 0
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    out += text.slice(from, at)
    if (text[at + 1] === '$') {
      out += '$'
      from = at + 2
    } else if (text[at + 1] === '{') {
      const end = closing(text, at + 2)
      if (end < 0) throw unreadable()
      out += braced(text.slice(at + 2, end), variables, depth)
      from = end + 1
    } else {
      const name = NAME.exec(text.slice(at + 1, at + 257))?.[0]
      if (name === undefined) throw unreadable()
      out += valueFor(name, variables) ?? missing(name, variables)
      from = at + 1 + name.length
    }
  }
  return out + text.slice(from)
}

/** The app's env for a place in the file; every name that is asked for is taken down. */
export const variablesAt = (validation: ValidationContext, at: At): Variables => ({
  value(name) {
    if (isPlatformName(name)) {
      validation.refuse(at, 'platform-name', `${name} is a name of the platform.`, 'Use a name of your own.')
      return ''
    }
    validation.env.used.add(name)
    return Object.hasOwn(validation.deployTarget.env, name) ? validation.deployTarget.env[name] : undefined
  },
  room: validation.room,
  onMissing(name, required) {
    validation.env.missing.add(name)
    if (required) return
    const ownFile = validation.bundle.file('.env') ? ' A .env file in the upload is not read.' : ''
    validation.warn(at, 'variable', `${name} is not set and becomes empty.${ownFile}`, `Set ${name} by PATCH env.`)
  },
})

/** How a text stands in the file; of NAME=value also what stands behind the name. */
const noteWritten = ({ written }: ValidationContext, value: string, text: string): void => {
  written.set(value, text)
  const [name, at] = [/^[A-Za-z_][\w.-]{0,254}=/.exec(text)?.[0], value.indexOf('=')]
  if (name !== undefined && at === name.length - 1) written.set(value.slice(at + 1), text.slice(name.length))
}

const scalarIn = (validation: ValidationContext, tree: ScalarTree): ScalarTree => {
  if (typeof tree.value !== 'string' || !tree.value.includes('$')) return tree
  try {
    const value = expandTemplate(tree.value, variablesAt(validation, tree))
    noteWritten(validation, value, tree.text)
    return { ...tree, value, varies: true }
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error
    validation.refuse(tree, error.rule, error.message, error.next)
    return { ...tree, value: null }
  }
}

const mapIn = (validation: ValidationContext, tree: MapTree): MapTree => ({
  ...tree,
  entries: new Map(
    [...tree.entries].map(([name, value]) => [
      name,
      name.startsWith('x-') ? value : resolveVariables(validation, value),
    ]),
  ),
})

/** The whole tree with variables put in, values only; extensions (`x-…`) stay as they are, since nobody reads them. */
export const resolveVariables = (validation: ValidationContext, tree: Tree): Tree => {
  switch (tree.kind) {
    case 'scalar':
      return scalarIn(validation, tree)
    case 'list':
      return { ...tree, items: tree.items.map((item) => resolveVariables(validation, item)) }
    case 'map':
      return mapIn(validation, tree)
    default:
      return tree satisfies never
  }
}
