/** How an image is built: from the upload alone, by its Dockerfile, on the host. */
import { createHash } from 'node:crypto'
import { digestOf } from '../../archive.ts'
import { type Desk, insideBundle } from './desk.ts'
import { readPairs } from './environment.ts'
import type { MapTree, Tree } from './parse.ts'
import type { Build } from './project.ts'
import { type Read, readBoolean, readFields, readList, readMatching, readText, shown, wrong } from './read.ts'
import { REFUSED_IN_BUILD } from './refused.ts'

/** What Docker would fetch from elsewhere: addresses, and the short forms of git. */
const REMOTE = /:\/\/|^git@|^github\.com\/|\.git(#|$)|^-$/i
const DOCKERFILE_INLINE_MAX = 32_768

export const readPlatform: Read<string> = (desk, tree) => {
  const platform = readMatching(
    /^linux\/(amd64|arm64)(\/v8)?$|^(amd64|arm64|aarch64|x86_64)$/,
    'a platform, as linux/arm64',
  )(desk, tree)
  const arch = platform && (/amd64|x86_64/.test(platform) ? 'amd64' : 'arm64')
  if (arch === undefined || arch === desk.ground.arch) return arch
  const detail = `It is made for ${arch}; the host runs ${desk.ground.arch}.`
  return desk.refuse(tree, 'architecture', detail, `Use an image for linux/${desk.ground.arch}.`)
}

const KNOWN = {
  context: (_: Desk, tree: Tree) => tree,
  dockerfile: readText,
  dockerfile_inline: readText,
  target: readMatching(/^[\w.-]{1,128}$/, 'the name of a stage'),
  args: readPairs,
  no_cache: readBoolean,
  pull: readBoolean,
  platforms: readList(readPlatform, 4),
}

const contextOf = (desk: Desk, tree: Tree): string | undefined => {
  const written = readText(desk, tree)
  if (written === undefined) return undefined
  if (REMOTE.test(written)) {
    return desk.refuse(tree, 'remote-build', `${shown(tree)} lies elsewhere.`, 'Put the sources into the upload.')
  }
  const context = insideBundle(written)
  if (context === null) {
    return desk.refuse(tree, 'bundle', `${shown(tree)} leads out of the upload.`, 'Put the sources into the upload.')
  }
  if (desk.bundle.hasFolder(context)) return context
  return desk.refuse(tree, 'bundle', `${shown(tree)} is no folder of the upload.`, 'Add it, or correct the path.')
}

type Recipe = Pick<Build, 'dockerfile' | 'dockerfileInline'>

/** A Dockerfile is named from the context, as Compose takes it; it may lie outside of the context, but not of the upload. */
const recipeOf = (
  desk: Desk,
  map: MapTree,
  given: { context: string; file?: string; inline?: string },
): Recipe | undefined => {
  const { context, file, inline } = given
  if (inline !== undefined) {
    const good = file === undefined && inline.length <= DOCKERFILE_INLINE_MAX
    return good ? { dockerfileInline: inline } : wrong(desk, map, 'either dockerfile or a short dockerfile_inline')
  }
  const dockerfile = file ?? 'Dockerfile'
  const path = insideBundle(dockerfile, context)
  if (path !== null && desk.bundle.file(path)) return { dockerfile }
  const at = map.entries.get('dockerfile') ?? map
  return desk.refuse(
    at,
    'bundle',
    `The Dockerfile ${at === map ? 'is not in the context' : `${shown(at)} is no file of the upload`}.`,
    'Add it, or correct the path.',
  )
}

const fromMap = (desk: Desk, map: MapTree): Build | undefined => {
  const { fields } = readFields(desk, map, { of: 'a build', known: KNOWN, refused: REFUSED_IN_BUILD })
  const context = fields.context ? contextOf(desk, fields.context) : '.'
  if (context === undefined) return undefined
  const { dockerfile: file, dockerfile_inline: inline, target, args: pairs = [] } = fields
  const recipe = recipeOf(desk, map, {
    context,
    ...(file !== undefined && { file }),
    ...(inline !== undefined && { inline }),
  })
  if (!recipe) return undefined
  const args = pairs.flatMap(({ name, value }): [string, string][] => (value === undefined ? [] : [[name, value]]))
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
export const readBuild: Read<Build> = (desk, tree) => {
  if (tree.kind === 'list') return wrong(desk, tree, 'a folder or a mapping')
  const asMapping: MapTree =
    tree.kind === 'map' ? tree : { ...tree, kind: 'map', entries: new Map([['context', tree]]) }
  return fromMap(desk, asMapping)
}

/** Names what a build is made of: the same files and settings give the same name, and are not built twice. */
export const buildDigest = (desk: Desk, build: Build): string => {
  const { dockerfile = '', context } = build
  const outside = desk.bundle.file(insideBundle(dockerfile, context) ?? '')?.sha256 ?? ''
  return createHash('sha256')
    .update(JSON.stringify([build, outside]))
    .update(digestOf(desk.bundle.filesUnder(context)))
    .digest('hex')
}
