/** How an image is built: from the upload alone, by its Dockerfile, on the host. */
import { createHash } from 'node:crypto'
import { digestOf } from '../../../files/archive.ts'
import { relativeFrom } from '../../../files/links.ts'
import type { Build } from '../project.ts'
import type { MapTree, Tree } from '../reading/parse.ts'
import { type Read, readBoolean, readFields, readList, readMatching, readText, shown, wrong } from '../reading/read.ts'
import { insideBundle, type ValidationContext } from '../reading/validation.ts'
import { readPairs } from './environment.ts'
import { checkRecipe } from './recipe.ts'
import { REFUSED_IN_BUILD } from './refused.ts'

/** What Docker would fetch from elsewhere: addresses, and the short forms of git. */
const REMOTE = /:\/\/|^git@|^github\.com\/|\.git(#|$)|^-$/i
const DOCKERFILE_INLINE_MAX = 32_768

export const readPlatform: Read<string> = (validation, tree) => {
  const platform = readMatching(
    /^linux\/(amd64|arm64)(\/v8)?$|^(amd64|arm64|aarch64|x86_64)$/,
    'a platform, as linux/arm64',
  )(validation, tree)
  const arch = platform && (/amd64|x86_64/.test(platform) ? 'amd64' : 'arm64')
  if (arch === undefined || arch === validation.deployTarget.arch) return arch
  const detail = `It is made for ${arch}; the host runs ${validation.deployTarget.arch}.`
  return validation.refuse(tree, 'architecture', detail, `Use an image for linux/${validation.deployTarget.arch}.`)
}

const KNOWN = {
  context: (_: ValidationContext, tree: Tree) => tree,
  dockerfile: readText,
  dockerfile_inline: readText,
  target: readMatching(/^[\w.-]{1,128}$/, 'the name of a stage'),
  args: readPairs,
  no_cache: readBoolean,
  pull: readBoolean,
  platforms: readList(readPlatform, 4),
}

const contextOf = (validation: ValidationContext, tree: Tree): string | undefined => {
  const written = readText(validation, tree)
  if (written === undefined) return undefined
  if (REMOTE.test(written)) {
    return validation.refuse(tree, 'remote-build', `${shown(tree)} lies elsewhere.`, 'Put the sources into the upload.')
  }
  const context = insideBundle(written)
  if (context === null) {
    return validation.refuse(
      tree,
      'bundle',
      `${shown(tree)} leads out of the upload.`,
      'Put the sources into the upload.',
    )
  }
  const folder = validation.bundle.real(context)
  if (folder !== undefined && validation.bundle.hasFolder(folder)) return folder
  return validation.refuse(tree, 'bundle', `${shown(tree)} is no folder of the upload.`, 'Add it, or correct the path.')
}

type Recipe = Pick<Build, 'dockerfile' | 'dockerfileInline'>

/** The same Dockerfile where it really lies: who builds is given that folder, and no link leads out of it. */
const withoutLinks = ({ bundle }: ValidationContext, dockerfile: string, context: string): string => {
  const path = insideBundle(dockerfile, context) ?? ''
  const real = bundle.real(path) ?? path
  return real === path ? dockerfile : relativeFrom(context === '.' ? 'x' : `${context}/x`, real)
}

/** A Dockerfile is named from the context, as Compose takes it; it may lie outside of the context, but not of the upload. */
const recipeOf = (
  validation: ValidationContext,
  map: MapTree,
  given: { context: string; file?: string; inline?: string },
): Recipe | undefined => {
  const { context, file, inline } = given
  if (inline !== undefined) {
    const good = file === undefined && inline.length <= DOCKERFILE_INLINE_MAX
    return good
      ? { dockerfileInline: inline }
      : wrong(validation, map, 'either dockerfile or a short dockerfile_inline')
  }
  const dockerfile = file ?? 'Dockerfile'
  const path = insideBundle(dockerfile, context)
  if (path !== null && validation.bundle.file(path))
    return { dockerfile: withoutLinks(validation, dockerfile, context) }
  const at = map.entries.get('dockerfile') ?? map
  return validation.refuse(
    at,
    'bundle',
    `The Dockerfile ${at === map ? 'is not in the context' : `${shown(at)} is no file of the upload`}.`,
    'Add it, or correct the path.',
  )
}

const checkText = (
  validation: ValidationContext,
  map: MapTree,
  { context, dockerfile, dockerfileInline, args }: Recipe & { context: string; args: Record<string, string> },
): void => {
  const path = dockerfile === undefined ? null : insideBundle(dockerfile, context)
  const text = dockerfileInline ?? (path === null ? undefined : validation.bundle.text(path))
  const at = map.entries.get(dockerfileInline === undefined ? 'dockerfile' : 'dockerfile_inline') ?? map
  const place = { pointer: at.pointer, line: at.line, ...(path !== null && { file: path }) }
  if (text !== undefined) checkRecipe(validation, place, { text, args })
}

const fromMap = (validation: ValidationContext, map: MapTree): Build | undefined => {
  const { fields } = readFields(validation, map, { of: 'a build', known: KNOWN, refused: REFUSED_IN_BUILD })
  const context = fields.context ? contextOf(validation, fields.context) : '.'
  if (context === undefined) return undefined
  const { dockerfile: file, dockerfile_inline: inline, target, args: pairs = [] } = fields
  const recipe = recipeOf(validation, map, {
    context,
    ...(file !== undefined && { file }),
    ...(inline !== undefined && { inline }),
  })
  if (!recipe) return undefined
  const args = pairs.flatMap(({ name, value }): [string, string][] => (value === undefined ? [] : [[name, value]]))
  checkText(validation, map, { context, ...recipe, args: Object.fromEntries(args) })
  return {
    context,
    ...recipe,
    ...(target !== undefined && { target }),
    args: Object.fromEntries(args.sort(([a], [b]) => (a < b ? -1 : 1))),
    noCache: fields.no_cache ?? false,
    pull: fields.pull ?? false,
  }
}

/** `build`: a folder, or a mapping. */
export const readBuild: Read<Build> = (validation, tree) => {
  if (tree.kind === 'list') return wrong(validation, tree, 'a folder or a mapping')
  const asMapping: MapTree =
    tree.kind === 'map' ? tree : { ...tree, kind: 'map', entries: new Map([['context', tree]]) }
  return fromMap(validation, asMapping)
}

/** Images under names of an earlier form may hold other files than these: they are never taken for what was built. */
const FORM = 2

/**
 * Names what a build is made of: the same files and settings give the same name, and are not built twice. Beside a
 * Dockerfile, which may lie outside of the context, may lie what the build is to ignore.
 */
export const buildDigest = (validation: ValidationContext, build: Build): string => {
  const { dockerfile = '', context } = build
  const path = insideBundle(dockerfile, context) ?? ''
  const outside = [path, `${path}.dockerignore`].map((one) => validation.bundle.file(one)?.sha256 ?? '')
  return createHash('sha256')
    .update(JSON.stringify([FORM, build, outside]))
    .update(digestOf(validation.bundle.filesUnder(context)))
    .digest('hex')
}
