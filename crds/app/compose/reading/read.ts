/**
 * Readers of the tree: each gives a value of a known sort, or undefined with the reason on the validation context. `fields` is the
 * allowlist: a key that is in no table is a finding, whatever it holds.
 */
import { nearest } from '../../../values/nearest.ts'
import type { ComposeRule } from '../finding.ts'
import type { ListTree, MapTree, ScalarTree, Tree } from './parse.ts'
import type { At, ValidationContext } from './validation.ts'

export type Read<T> = (validation: ValidationContext, tree: Tree) => T | undefined

/**
 * Why a known key may not be used. `always`: on no host. `gone`: it is left out on every host, and told as a change. `kept`:
 * the platform's own host passes it on as written, with a warning.
 */
export type ReadRefusal = { rule: ComposeRule; on: 'always' | 'kept' | 'gone'; detail: string; next: string }

const TEXT_MAX = 32_768

/** What findings show of a value: as written, so without what variables brought in. */
export const shown = (tree: Tree): string => {
  if (tree.kind === 'list') return 'a list'
  if (tree.kind === 'map') return 'a mapping'
  return JSON.stringify(tree.text.slice(0, 80))
}

/** A value as it stands in the file, on one line. */
export const writtenOf = (tree: Tree): string => {
  switch (tree.kind) {
    case 'scalar':
      return tree.text
    case 'list':
      return `[${tree.items.map(writtenOf).join(', ')}]`
    case 'map':
      return `{${[...tree.entries].map(([name, inner]) => `${name}: ${writtenOf(inner)}`).join(', ')}}`
    default:
      return tree satisfies never
  }
}

export const wrong = (validation: ValidationContext, tree: Tree, wanted: string): undefined =>
  validation.refuse(tree, 'value', `${shown(tree)} is not ${wanted}.`, `Write ${wanted}.`)

export const isNothing = (tree: Tree): boolean =>
  (tree.kind === 'scalar' && (tree.value === null || tree.value === false || tree.value === '')) ||
  (tree.kind === 'list' && tree.items.length === 0) ||
  (tree.kind === 'map' && tree.entries.size === 0)

/** The text of a scalar; numbers and booleans as YAML writes them. */
export const textOf = (tree: ScalarTree): string => (tree.value === null ? '' : String(tree.value))

export const readText: Read<string> = (validation, tree) => {
  if (tree.kind !== 'scalar' || tree.value === null) return wrong(validation, tree, 'a text')
  const text = textOf(tree)
  return text.length <= TEXT_MAX ? text : wrong(validation, tree, `a text of at most ${TEXT_MAX} characters`)
}

export const readMatching =
  (pattern: RegExp, wanted: string): Read<string> =>
  (validation, tree) => {
    if (tree.kind !== 'scalar' || tree.value === null) return wrong(validation, tree, wanted)
    const text = textOf(tree)
    return pattern.test(text) ? text : wrong(validation, tree, wanted)
  }

export const readOneOf =
  <T extends string>(known: readonly T[]): Read<T> =>
  (validation, tree) => {
    const text = tree.kind === 'scalar' ? textOf(tree) : undefined
    return known.find((name) => name === text) ?? wrong(validation, tree, `one of ${known.join(', ')}`)
  }

export const readBoolean: Read<boolean> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree).toLowerCase() : ''
  if (text === 'true') return true
  return text === 'false' ? false : wrong(validation, tree, 'true or false')
}

/** A whole number in bounds; digits in quotes will do, as they do for Compose. */
export const readWhole =
  (min: number, max: number): Read<number> =>
  (validation, tree) => {
    const text = tree.kind === 'scalar' ? textOf(tree) : ''
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : wrong(validation, tree, `a whole number from ${min} to ${max}`)
  }

const UNIT_MS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001, µs: 0.001, ns: 0.000_001 }
const DURATION = /^(\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/

/** A duration as Go writes it (`1m30s`), in whole milliseconds. */
export const readDurationMs =
  (minMs: number, maxMs: number): Read<number> =>
  (validation, tree) => {
    const text = tree.kind === 'scalar' ? textOf(tree).slice(0, 40) : ''
    const wanted = `a duration from ${minMs / 1000}s to ${maxMs / 1000}s, as 10s or 1m30s`
    if (!DURATION.test(text)) return wrong(validation, tree, wanted)
    const parts = text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/gy)
    let ms = 0
    for (const [, count, unit] of parts) ms += Number(count) * (UNIT_MS[unit ?? ''] ?? 0)
    const whole = Math.round(ms)
    return whole >= minMs && whole <= maxMs ? whole : wrong(validation, tree, wanted)
  }

const UNIT_BYTES: Record<string, number> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

/** A number of bytes as Compose writes it (`512m`, `1gb`, `1.5g`). */
export const readBytes =
  (min: number, max: number): Read<number> =>
  (validation, tree) => {
    const [, count, unit] =
      /^(\d{1,15}(?:\.\d{1,6})?)\s*([bkmg]?)(?:i?b)?$/i.exec(tree.kind === 'scalar' ? textOf(tree) : '') ?? []
    const bytes = Math.floor(Number(count) * (UNIT_BYTES[(unit ?? '').toLowerCase()] ?? 1))
    return bytes >= min && bytes <= max ? bytes : wrong(validation, tree, `a size from ${min} to ${max} bytes, as 256m`)
  }

const CPU_MILLIS_MAX = 256_000

/** A share of processors, in thousandths. */
export const readCpuMillis: Read<number> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree) : ''
  const millis = /^\d{1,3}(\.\d{1,6})?$/.test(text) ? Math.round(Number(text) * 1000) : Number.NaN
  return millis >= 1 && millis <= CPU_MILLIS_MAX ? millis : wrong(validation, tree, 'a number of CPUs, as 0.5')
}

export const asList = (validation: ValidationContext, tree: Tree): ListTree | undefined =>
  tree.kind === 'list' ? tree : wrong(validation, tree, 'a list')

export const asMap = (validation: ValidationContext, tree: Tree): MapTree | undefined =>
  tree.kind === 'map' ? tree : wrong(validation, tree, 'a mapping')

/** Entries that cannot be read are left out; their findings are on the validation context. */
export const readList =
  <T>(read: Read<T>, max: number): Read<T[]> =>
  (validation, tree) => {
    const list = asList(validation, tree)
    if (!list) return undefined
    if (list.items.length > max) return wrong(validation, tree, `a list of at most ${max}`)
    return list.items.flatMap((item) => read(validation, item) ?? [])
  }

/** A text, or a list of texts: what a program is started with. */
export const readCommand: Read<string | string[] | null> = (validation, tree) => {
  if (tree.kind === 'scalar' && tree.value === null) return null
  return tree.kind === 'list' ? readList(readText, 256)(validation, tree) : readText(validation, tree)
}

/** A text or a list of texts, always as a list. */
export const readTexts =
  (max: number): Read<string[]> =>
  (validation, tree) => {
    if (tree.kind === 'list') return readList(readText, max)(validation, tree)
    const text = readText(validation, tree)
    return text === undefined ? undefined : [text]
  }

/** What becomes of a key that is known and not run. */
export const refuseKey = (validation: ValidationContext, at: Tree, refusal: ReadRefusal): 'kept' | 'left out' => {
  const { rule, on, detail, next } = refusal
  if (on === 'gone') {
    validation.rewrite(at, rule, { from: writtenOf(at), to: null, reason: detail })
    return 'left out'
  }
  if (on === 'always') {
    validation.refuse(at, rule, detail, next)
    return 'left out'
  }
  const said = validation.deployTarget.hostClass === 'platform' ? `${detail} It stands on this host.` : detail
  return validation.allows(at, rule, said, next) ? on : 'left out'
}

/** The same without what is not there. */
export const present = <T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

type Table = Record<string, Read<unknown>>
export type FieldReads<T extends Table> = { [K in keyof T]?: T[K] extends Read<infer V> ? V : never }

export type FieldRules<T extends Table> = {
  /** Of what the mapping is, for findings: `a service`. */
  of: string
  known: T
  refused?: Readonly<Record<string, ReadRefusal>>
}

/** `kept`: by its key, what the platform's own host passes on as written. */
type WhatStands<T extends Table> = { fields: FieldReads<T>; kept: Record<string, unknown> }

/** Reads a mapping by its table. Keys with nothing in them (`cap_add: []`) ask for nothing and are passed over. */
export const readFields = <T extends Table>(
  validation: ValidationContext,
  map: MapTree,
  rules: FieldRules<T>,
): WhatStands<T> => {
  const fields: FieldReads<T> = {}
  const kept: Record<string, unknown> = {}
  for (const [name, tree] of map.entries) {
    const read = own(rules.known, name)
    const refusal = own(rules.refused ?? {}, name)
    if (read) Object.assign(fields, { [name]: read(validation, tree) })
    else if (refusal && !isNothing(tree) && refuseKey(validation, tree, refusal) === 'kept') kept[name] = plainOf(tree)
    else if (!refusal && !name.startsWith('x-')) unknownKey(validation, tree, name, rules)
  }
  return { fields, kept }
}

const own = <V>(table: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const unknownKey = (validation: ValidationContext, at: At, name: string, { of, known }: FieldRules<Table>): void => {
  const meant = nearest(name, Object.keys(known))
  const detail = `${JSON.stringify(name.slice(0, 60))} is not a key of ${of} that is run here.`
  validation.refuse(at, 'unknown-key', detail, meant ? `Did you mean ${meant}?` : 'Remove it.')
}

/** The plain value of a tree, for what is passed on as written. */
export const plainOf = (tree: Tree): unknown => {
  switch (tree.kind) {
    case 'scalar':
      return tree.value
    case 'list':
      return tree.items.map(plainOf)
    case 'map':
      return Object.fromEntries([...tree.entries].map(([name, value]) => [name, plainOf(value)]))
    default:
      return tree satisfies never
  }
}
