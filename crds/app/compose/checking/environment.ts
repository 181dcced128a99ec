/**
 * The environment of a service. Later wins: its env files, the app's env (given to every service:
 * rules/app.md#environment-of-a-service), what the compose file itself sets. With `x-bottega-env: false` a service gets
 * only what the file names, so that it need not be started anew when another value changes: right for a database.
 */

import { readEnvFile } from '../reading/dotenv.ts'
import { isPlatformName, variablesAt } from '../reading/interpolate.ts'
import type { MapTree, ScalarTree } from '../reading/parse.ts'
import { type Read, readBoolean, readFields, readOneOf, readText, shown, textOf, wrong } from '../reading/read.ts'
import { type At, insideBundle, type ValidationContext } from '../reading/validation.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}$/
const NAMES_MAX = 512
const VALUE_MAX = 131_072
const ENV_FILES_MAX = 16

/** `shown`: the value where it stands in the compose file itself, variables by their names. */
type Entry = { name: string; at: At; value: string | undefined; shown?: string }

/** @param written the name as it stands in the file, for findings */
const nameIsFree = (
  validation: ValidationContext,
  at: At,
  name: string,
  written = JSON.stringify(name.slice(0, 60)),
): boolean => {
  if (isPlatformName(name)) {
    validation.refuse(at, 'platform-name', `${written} is a name of the platform.`, 'Use a name of your own.')
    return false
  }
  if (NAME.test(name)) return true
  validation.refuse(at, 'value', `${written} is no name of a variable.`, 'Use letters, digits and _.')
  return false
}

/** A name without a value takes the app's; without one there it is not set. */
const passed = (validation: ValidationContext, at: At, name: string): Entry => ({
  name,
  at,
  value: variablesAt(validation, at).value(name),
})

const numberIsExact = (validation: ValidationContext, tree: ScalarTree): void => {
  if (typeof tree.value !== 'number' || String(tree.value) === tree.text) return
  const detail = `${shown(tree)} is a number here and becomes ${tree.value}.`
  validation.warn(tree, 'value', detail, 'Write it in quotes to keep it as it is.')
}

const fromMap = (validation: ValidationContext, map: MapTree): Entry[] =>
  [...map.entries].flatMap(([name, tree]) => {
    if (tree.kind !== 'scalar') return wrong(validation, tree, 'a text, a number, true or false') ?? []
    if (!nameIsFree(validation, tree, name)) return []
    if (tree.value === null && tree.plain) return passed(validation, tree, name)
    numberIsExact(validation, tree)
    return { name, at: tree, value: textOf(tree), shown: tree.varies ? tree.text : textOf(tree) }
  })

/** What stands behind the name; where the name itself came out of a variable, nothing is known to be harmless. */
const shownItem = ({ text, varies }: ScalarTree, item: string, name: string): string => {
  if (!varies) return item.slice(name.length + 1)
  return text.startsWith(`${name}=`) ? text.slice(name.length + 1) : `\${${name}}`
}

const fromItem: Read<Entry> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree) : ''
  const split = text.indexOf('=')
  const name = split < 0 ? text : text.slice(0, split)
  if (tree.kind !== 'scalar' || name === '') return wrong(validation, tree, 'NAME=value')
  if (!nameIsFree(validation, tree, name, shown(tree))) return undefined
  if (split < 0) return passed(validation, tree, name)
  return { name, at: tree, value: text.slice(split + 1), shown: shownItem(tree, text, name) }
}

/** `environment` and `args`: a mapping, or a list of NAME=value. */
export const readPairs: Read<Entry[]> = (validation, tree) => {
  if (tree.kind === 'scalar') return wrong(validation, tree, 'a mapping, or a list of NAME=value')
  const entries =
    tree.kind === 'map' ? fromMap(validation, tree) : tree.items.flatMap((item) => fromItem(validation, item) ?? [])
  if (entries.length > NAMES_MAX) return wrong(validation, tree, `at most ${NAMES_MAX} variables`)
  const long = entries.find(({ value = '' }) => value.length > VALUE_MAX || value.includes('\0'))
  return long
    ? validation.refuse(long.at, 'size', `The value has more than ${VALUE_MAX} characters.`, 'Use a file.')
    : entries
}

const FILE = {
  path: readText,
  required: readBoolean,
  format: readOneOf(['raw']),
}

export type EnvFileName = { path: string; required: boolean; at: At; written: string }

const readName: Read<EnvFileName> = (validation, tree) => {
  if (tree.kind === 'list') return wrong(validation, tree, 'a path')
  const asked =
    tree.kind === 'map' ? readFields(validation, tree, { of: 'an env file', known: FILE }).fields : undefined
  if (asked?.format !== undefined) return wrong(validation, tree, 'an env file without a format')
  const written = asked ? asked.path : readText(validation, tree)
  if (written === undefined) return asked && wrong(validation, tree, 'an env file with a path')
  const named = tree.kind === 'map' ? tree.entries.get('path') : tree
  if (named?.kind === 'scalar' && named.varies) {
    // Which files are kept as text is decided when the upload is read, once for every env that it will run with.
    return validation.refuse(tree, 'variable', 'The path of an env file holds a variable.', 'Write the path out.')
  }
  const path = insideBundle(written)
  if (path === null) {
    return validation.refuse(tree, 'bundle', `${shown(tree)} leads out of the upload.`, 'Put the file into the upload.')
  }
  return {
    path,
    required: asked?.required ?? true,
    at: { pointer: tree.pointer, line: tree.line },
    written: shown(tree),
  }
}

/** `env_file`: a path, or a list of paths or `{path, required}`. */
export const readEnvFileNames: Read<EnvFileName[]> = (validation, tree) => {
  const items = tree.kind === 'list' ? tree.items : [tree]
  if (items.length > ENV_FILES_MAX) return wrong(validation, tree, `at most ${ENV_FILES_MAX} files`)
  return items.flatMap((item) => readName(validation, item) ?? [])
}

const fromFile = (validation: ValidationContext, { path, required, at, written }: EnvFileName): Entry[] => {
  if (!validation.bundle.file(path)) {
    if (required) validation.refuse(at, 'bundle', `${written} is not in the upload.`, 'Add it, or remove the line.')
    return []
  }
  const text = validation.bundle.text(path)
  if (text === undefined) {
    validation.refuse(at, 'bundle', `${written} was not kept with this upload.`, 'Deploy the upload again.')
    return []
  }
  const file = readEnvFile(text, variablesAt(validation, at))
  if (!('values' in file)) {
    validation.refuse({ ...at, file: path, line: file.line }, file.rule, file.detail, file.next)
    return []
  }
  return [...file.values].flatMap(([name, value]) => (nameIsFree(validation, at, name) ? { name, at, value } : []))
}

const hiddenNames = (validation: ValidationContext, entries: readonly Entry[]): void => {
  for (const { name, at, value } of entries) {
    const stored = Object.hasOwn(validation.deployTarget.env, name) ? validation.deployTarget.env[name] : value
    if (stored === value) continue
    const detail = `The file sets ${name} itself, so the value in the app's env does not reach this service.`
    validation.warn(at, 'no-effect', detail, `Write ${name} without a value to take the app's.`)
  }
}

export type Environment = { values: Record<string, string>; shown: Record<string, string> }

const byName = (values: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))

/** @param given what the service says; `wholeEnv`: whether it gets all of the app's env */
export const environmentOf = (
  validation: ValidationContext,
  given: { files: EnvFileName[]; pairs: Entry[]; wholeEnv: boolean },
): Environment => {
  hiddenNames(validation, given.pairs)
  const values = new Map<string, string>()
  for (const { name, value } of given.files.flatMap((file) => fromFile(validation, file))) values.set(name, value ?? '')
  if (given.wholeEnv) for (const [name, value] of Object.entries(validation.deployTarget.env)) values.set(name, value)
  const shown = new Map([...values.keys()].map((name) => [name, `\${${name}}`]))
  for (const { name, value, shown: written = `\${${name}}` } of given.pairs) {
    if (value === undefined) {
      values.delete(name)
      shown.delete(name)
    } else {
      values.set(name, value)
      shown.set(name, written)
    }
  }
  return { values: byName(values), shown: byName(shown) }
}
