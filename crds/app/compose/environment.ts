/**
 * The environment of a service. Later wins: its env files, the app's env (CONTRACT section 10: given to every service), what
 * the compose file itself sets. With `x-bottega-env: false` a service gets only what the file names, so that it need not
 * be started anew when another value changes: right for a database.
 */
import { type At, type Desk, insideBundle } from './desk.ts'
import { readEnvFile } from './dotenv.ts'
import { isPlatformName, variablesAt } from './interpolate.ts'
import type { MapTree, ScalarTree } from './parse.ts'
import { type Read, readBoolean, readFields, readOneOf, readText, shown, textOf, wrong } from './read.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}$/
const NAMES_MAX = 512
const VALUE_MAX = 131_072
const ENV_FILES_MAX = 16

type Entry = { name: string; at: At; value: string | undefined }

/** @param written the name as it stands in the file, for findings */
const nameIsFree = (desk: Desk, at: At, name: string, written = JSON.stringify(name.slice(0, 60))): boolean => {
  if (isPlatformName(name)) {
    desk.refuse(at, 'platform-name', `${written} is a name of the platform.`, 'Use a name of your own.')
    return false
  }
  if (NAME.test(name)) return true
  desk.refuse(at, 'value', `${written} is no name of a variable.`, 'Use letters, digits and _.')
  return false
}

/** A name without a value takes the app's; without one there it is not set. */
const passed = (desk: Desk, at: At, name: string): Entry => ({ name, at, value: variablesAt(desk, at).value(name) })

const numberIsExact = (desk: Desk, tree: ScalarTree): void => {
  if (typeof tree.value !== 'number' || String(tree.value) === tree.text) return
  const detail = `${shown(tree)} is a number here and becomes ${tree.value}.`
  desk.warn(tree, 'value', detail, 'Write it in quotes to keep it as it is.')
}

const fromMap = (desk: Desk, map: MapTree): Entry[] =>
  [...map.entries].flatMap(([name, tree]) => {
    if (tree.kind !== 'scalar') return wrong(desk, tree, 'a text, a number, true or false') ?? []
    if (!nameIsFree(desk, tree, name)) return []
    if (tree.value === null && tree.plain) return passed(desk, tree, name)
    numberIsExact(desk, tree)
    return { name, at: tree, value: textOf(tree) }
  })

const fromItem: Read<Entry> = (desk, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree) : ''
  const split = text.indexOf('=')
  const name = split < 0 ? text : text.slice(0, split)
  if (tree.kind !== 'scalar' || name === '') return wrong(desk, tree, 'NAME=value')
  if (!nameIsFree(desk, tree, name, shown(tree))) return undefined
  return split < 0 ? passed(desk, tree, name) : { name, at: tree, value: text.slice(split + 1) }
}

/** `environment` and `args`: a mapping, or a list of NAME=value. */
export const readPairs: Read<Entry[]> = (desk, tree) => {
  if (tree.kind === 'scalar') return wrong(desk, tree, 'a mapping, or a list of NAME=value')
  const entries = tree.kind === 'map' ? fromMap(desk, tree) : tree.items.flatMap((item) => fromItem(desk, item) ?? [])
  if (entries.length > NAMES_MAX) return wrong(desk, tree, `at most ${NAMES_MAX} variables`)
  const long = entries.find(({ value = '' }) => value.length > VALUE_MAX || value.includes('\0'))
  return long
    ? desk.refuse(long.at, 'size', `The value has more than ${VALUE_MAX} characters.`, 'Use a file.')
    : entries
}

const FILE = {
  path: readText,
  required: readBoolean,
  format: readOneOf(['raw']),
}

export type EnvFileName = { path: string; required: boolean; at: At; written: string }

const readName: Read<EnvFileName> = (desk, tree) => {
  if (tree.kind === 'list') return wrong(desk, tree, 'a path')
  const asked = tree.kind === 'map' ? readFields(desk, tree, { of: 'an env file', known: FILE }).fields : undefined
  if (asked?.format !== undefined) return wrong(desk, tree, 'an env file without a format')
  const written = asked ? asked.path : readText(desk, tree)
  if (written === undefined) return asked && wrong(desk, tree, 'an env file with a path')
  const named = tree.kind === 'map' ? tree.entries.get('path') : tree
  if (named?.kind === 'scalar' && named.varies) {
    // Which files are kept as text is decided when the upload is read, once for every env that it will run with.
    return desk.refuse(tree, 'variable', 'The path of an env file holds a variable.', 'Write the path out.')
  }
  const path = insideBundle(written)
  if (path === null) {
    return desk.refuse(tree, 'bundle', `${shown(tree)} leads out of the upload.`, 'Put the file into the upload.')
  }
  return {
    path,
    required: asked?.required ?? true,
    at: { pointer: tree.pointer, line: tree.line },
    written: shown(tree),
  }
}

/** `env_file`: a path, or a list of paths or `{path, required}`. */
export const readEnvFileNames: Read<EnvFileName[]> = (desk, tree) => {
  const items = tree.kind === 'list' ? tree.items : [tree]
  if (items.length > ENV_FILES_MAX) return wrong(desk, tree, `at most ${ENV_FILES_MAX} files`)
  return items.flatMap((item) => readName(desk, item) ?? [])
}

const fromFile = (desk: Desk, { path, required, at, written }: EnvFileName): Entry[] => {
  if (!desk.bundle.file(path)) {
    if (required) desk.refuse(at, 'bundle', `${written} is not in the upload.`, 'Add it, or remove the line.')
    return []
  }
  const text = desk.bundle.text(path)
  if (text === undefined) {
    desk.refuse(at, 'bundle', `${written} was not kept with this upload.`, 'Deploy the upload again.')
    return []
  }
  const file = readEnvFile(text, variablesAt(desk, at))
  if (!('values' in file)) {
    desk.refuse({ ...at, file: path, line: file.line }, file.rule, file.detail, file.next)
    return []
  }
  return [...file.values].flatMap(([name, value]) => (nameIsFree(desk, at, name) ? { name, at, value } : []))
}

const hiddenNames = (desk: Desk, entries: readonly Entry[]): void => {
  for (const { name, at, value } of entries) {
    const stored = Object.hasOwn(desk.ground.env, name) ? desk.ground.env[name] : value
    if (stored === value) continue
    const detail = `The file sets ${name} itself, so the value in the app's env does not reach this service.`
    desk.warn(at, 'no-effect', detail, `Write ${name} without a value to take the app's.`)
  }
}

/** @param given what the service says; `wholeEnv`: whether it gets all of the app's env */
export const environmentOf = (
  desk: Desk,
  given: { files: EnvFileName[]; pairs: Entry[]; wholeEnv: boolean },
): Record<string, string> => {
  hiddenNames(desk, given.pairs)
  const values = new Map<string, string>()
  for (const { name, value } of given.files.flatMap((file) => fromFile(desk, file))) values.set(name, value ?? '')
  if (given.wholeEnv) for (const [name, value] of Object.entries(desk.ground.env)) values.set(name, value)
  for (const { name, value } of given.pairs) {
    if (value === undefined) values.delete(name)
    else values.set(name, value)
  }
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}
