/**
 * Secrets and configs of a file (compose-spec 08 and 09): files of the upload, texts of the file itself and values of the app's env,
 * each mounted read-only where a service asks for it. Texts are sealed with the release; they are in no plan, record or log.
 */
import { createHash } from 'node:crypto'
import type { Mount } from '../project.ts'
import { isPlatformName, variablesAt } from '../reading/interpolate.ts'
import type { MapTree, Tree } from '../reading/parse.ts'
import { asMap, isNothing, type Read, readFields, readText, shown, textOf, writtenOf, wrong } from '../reading/read.ts'
import { insideBundle, type ValidationContext } from '../reading/validation.ts'
import { fileMount, type MountDraft, type SourceFound, sourceIn, targetOf } from './mounts.ts'

/** `secret` lies below /run/secrets, `config` at the root, unless a service says where. */
export type GivenSort = 'secret' | 'config'
type Content = SourceFound | { text: string }
/** Undefined for what was refused. */
export type Givens = ReadonlyMap<string, Content | undefined>

/** What a service asks for, under the name that the file gives it. */
export type Wanted = { sort: GivenSort; name: string; target: string; tree: Tree }

const GIVENS_MAX = 20
const TEXT_MAX_CHARS = 65_536
const NAME = /^[a-z0-9][a-z0-9_.-]{0,62}$/i

const raw: Read<Tree> = (_, tree) => tree
const GIVEN = { file: readText, content: raw, environment: readText, name: readText }

const outside = (what: GivenSort) => ({
  rule: 'outside-secret' as const,
  on: 'always' as const,
  detail: `The ${what} is kept outside of the project.`,
  next: 'Put it into the upload and name it as file, or set it by PATCH env and name it as environment.',
})

const fromFile = (validation: ValidationContext, tree: Tree, written: string): Content | undefined => {
  if (insideBundle(written) === null) {
    const next = 'Put it into the upload, or set it by PATCH env and name it as environment.'
    return validation.refuse(tree, 'outside-secret', `${shown(tree)} lies outside of the upload.`, next)
  }
  const found = sourceIn(validation, written)
  const next = 'Add it, or set it by PATCH env and name it as environment.'
  return found?.isFile ? found : validation.refuse(tree, 'bundle', `${shown(tree)} is no file of the upload.`, next)
}

const fromEnv = (validation: ValidationContext, tree: Tree, name: string): Content | undefined => {
  const value = isPlatformName(name) ? undefined : variablesAt(validation, tree).value(name)
  if (value !== undefined) return { text: value }
  validation.env.missing.add(name)
  return validation.refuse(tree, 'variable', `${shown(tree)} is not set.`, 'Set it by PATCH env.')
}

const contentOf = (validation: ValidationContext, map: MapTree, sort: GivenSort): Content | undefined => {
  const refused = {
    external: outside(sort),
    driver: outside(sort),
    driver_opts: outside(sort),
    template_driver: outside(sort),
  }
  const { fields } = readFields(validation, map, { of: `a ${sort}`, known: GIVEN, refused })
  const { file, content, environment, name } = fields
  if (refusedIn(map, refused)) return undefined
  const given = [file, content, environment].filter((one) => one !== undefined)
  if (given.length !== 1) return wrong(validation, map, 'one of file, content and environment')
  if (name !== undefined) goneName(validation, map)
  if (file !== undefined) return fromFile(validation, map.entries.get('file') ?? map, file)
  if (environment !== undefined) return fromEnv(validation, map.entries.get('environment') ?? map, environment)
  const text = content && readText(validation, content)
  return text === undefined ? undefined : { text }
}

const refusedIn = (map: MapTree, refused: object): boolean =>
  Object.keys(refused).some((name) => {
    const tree = map.entries.get(name)
    return tree !== undefined && !isNothing(tree)
  })

const goneName = (validation: ValidationContext, map: MapTree): void => {
  const tree = map.entries.get('name')
  const reason = 'It is known within the project only.'
  if (tree) validation.rewrite(tree, 'fixed-name', { from: writtenOf(tree), to: null, reason })
}

/** `secrets` and `configs` at the top. */
export const readGivens = (validation: ValidationContext, tree: Tree | undefined, sort: GivenSort): Givens => {
  if (!tree || isNothing(tree)) return new Map()
  const entries = [...(asMap(validation, tree)?.entries ?? [])]
  if (entries.length > GIVENS_MAX) wrong(validation, tree, `at most ${GIVENS_MAX} of them`)
  return new Map(
    entries.slice(0, GIVENS_MAX).map(([name, entry]) => {
      if (!NAME.test(name)) return [name, wrong(validation, entry, 'under a name of letters, digits, - and _')]
      return [name, entry.kind === 'map' ? contentOf(validation, entry, sort) : wrong(validation, entry, 'a mapping')]
    }),
  )
}

const OWNING = ['uid', 'gid', 'mode']
const WANTED = { source: readText, target: readText, uid: raw, gid: raw, mode: raw }

const placeOf = (sort: GivenSort, name: string, target = name): string => {
  if (target.startsWith('/')) return target
  return sort === 'secret' ? `/run/secrets/${target}` : `/${target}`
}

const wantedIn =
  (sort: GivenSort): Read<Wanted> =>
  (validation, tree) => {
    if (tree.kind === 'list') return wrong(validation, tree, `the name of a ${sort}`)
    if (tree.kind === 'scalar') {
      const name = textOf(tree)
      return { sort, name, target: placeOf(sort, name), tree }
    }
    const { source, target } = readFields(validation, tree, { of: `a ${sort} of a service`, known: WANTED }).fields
    if (source === undefined) return wrong(validation, tree, `a ${sort} with its source`)
    for (const key of OWNING) {
      const owning = tree.entries.get(key)
      const reason = 'Whoever runs in the container may read it; nobody may write it.'
      if (owning) validation.rewrite(owning, 'read-only', { from: writtenOf(owning), to: null, reason })
    }
    return { sort, name: source, target: placeOf(sort, source, target), tree }
  }

const WANTED_MAX = 20

/** `secrets` or `configs` of a service. */
export const readWanted =
  (sort: GivenSort): Read<Wanted[]> =>
  (validation, tree) => {
    if (tree.kind !== 'list') return wrong(validation, tree, 'a list')
    if (tree.items.length > WANTED_MAX) return wrong(validation, tree, `a list of at most ${WANTED_MAX}`)
    return tree.items.flatMap((item) => wantedIn(sort)(validation, item) ?? [])
  }

/** Whether it came out of a variable, whose value is not shown. */
const varies = (tree: Tree): boolean => {
  if (tree.kind === 'scalar') return tree.varies === true
  return [...(tree.kind === 'list' ? tree.items : tree.entries.values())].some(varies)
}

const mountOf = (content: Content, target: string): Mount =>
  'text' in content
    ? { type: 'text', target, text: content.text, digest: createHash('sha256').update(content.text).digest('hex') }
    : fileMount(content, target)

/** The mounts of what a service asks for; what is refused, or declared nowhere, is none. */
export const mountsOfWanted = (
  validation: ValidationContext,
  wanted: readonly Wanted[],
  givens: Readonly<Record<GivenSort, Givens>>,
): MountDraft[] =>
  wanted.flatMap(({ sort, name, target: asked, tree }) => {
    if (!givens[sort].has(name)) {
      const next = `Declare it in ${sort}s, or leave it out.`
      validation.refuse(tree, 'value', `There is no ${sort} ${shown(tree)} in the file.`, next)
    }
    const content = givens[sort].get(name)
    const target = targetOf(validation, tree, asked)
    if (!content || target === undefined) return []
    if ('text' in content && content.text.length > TEXT_MAX_CHARS) {
      validation.refuse(
        tree,
        'size',
        `It has more than ${TEXT_MAX_CHARS} characters.`,
        'Put it into the upload as a file.',
      )
      return []
    }
    const reason = 'It is a file of the release, read-only.'
    validation.rewrite(tree, 'read-only', { from: writtenOf(tree), to: varies(tree) ? 'a file' : target, reason })
    return [{ mount: mountOf(content, target), at: { pointer: tree.pointer, line: tree.line } }]
  })
