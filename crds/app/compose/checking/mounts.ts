/**
 * What is mounted into a container: volumes of the project, memory, and files or folders of the upload, read-only.
 * Nothing of the host, by whatever way it is written; links cannot lead there either, since those of an upload stay in it.
 */
import { createHash } from 'node:crypto'
import { digestOf } from '../../../files/archive.ts'
import type { Mount } from '../project.ts'
import type { ScalarTree, Tree } from '../reading/parse.ts'
import {
  type Read,
  readBoolean,
  readBytes,
  readFields,
  readOneOf,
  readText,
  shown,
  textOf,
  writtenOf,
  wrong,
} from '../reading/read.ts'
import { type At, insideBundle, type ValidationContext } from '../reading/validation.ts'

export const TMPFS_DEFAULT_BYTES = 67_108_864
const TMPFS_MAX_BYTES = 1_073_741_824
const TMPFS_MIN_BYTES = 4096
const TARGET_MAX = 512

/** `isMade`: a volume that the file does not declare, in place of a folder of the host. */
export type MountDraft = { mount: Mount; at: At; isMade?: true }

export const VOLUME_NAME = /^[a-z0-9][a-z0-9_.-]{0,62}$/i
const ENGINE = /docker|containerd|podman|crio|cri-dockerd|buildkitd|dockershim/i
const OTHER_SOCKET = /docker_engine|^\/+(var\/+)?run\/*$/i

/** Sockets that command the host, by their usual names and as the pipe of Windows. */
export const isSocket = (written: string): boolean =>
  OTHER_SOCKET.test(written) ||
  written.split(/[/\\]/).some((name) => {
    const engine = ENGINE.exec(name)
    return engine !== null && /\.sock/i.test(name.slice(engine.index + engine[0].length))
  })
const OWN_BY_KERNEL = /^\/(proc|sys|dev)(\/|$)/

const hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A path in the container, without `.`, `..` and doubled slashes. */
export const targetOf = (validation: ValidationContext, tree: Tree, text: string): string | undefined => {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const odd = /[\u0000-\u001f\\:,]/.test(text) || parts.includes('..') || text.length > TARGET_MAX
  if (!text.startsWith('/') || odd || parts.length === 0)
    return wrong(validation, tree, 'an absolute path in the container')
  const target = `/${parts.join('/')}`
  if (!OWN_BY_KERNEL.test(target) || target === '/dev/shm') return target
  return validation.refuse(
    tree,
    'host-access',
    `${shown(tree)} is mounted over what belongs to the kernel.`,
    'Mount it elsewhere.',
  )
}

export type SourceFound = { source: string; digest: string; isFile: boolean }

/** A file or folder of the upload, with what names its content; undefined when there is none. */
export const sourceIn = ({ bundle }: ValidationContext, written: string): SourceFound | undefined => {
  const path = insideBundle(written)
  const source = path === null ? undefined : bundle.real(path)
  if (source === undefined) return undefined
  const file = bundle.file(source)
  if (file) return { source, digest: hex(`${file.mode} ${file.sha256}`), isFile: true }
  return { source, digest: digestOf(bundle.filesUnder(source)), isFile: false }
}

const PLAIN = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)*$/

/** `./var/data` is the volume `var_data`. No two folders are one: what is not as plain as that has a digest at its end. */
const volumeNameOf = (path: string): string => {
  if (PLAIN.test(path)) return path.replaceAll('/', '_')
  const words = path.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return `${words.join('-')}-${hex(path).slice(0, 8)}`
}

/**
 * A folder that nobody sent and that may be written: Docker would make it, empty, and the app keeps its data there. That is a
 * volume. What looks like a file, or is only read, was forgotten.
 */
const volumeFor = (
  validation: ValidationContext,
  tree: Tree,
  written: string,
  { target, readOnly }: { target: string; readOnly: boolean },
): Mount | undefined => {
  const path = insideBundle(written) ?? ''
  const last = path.slice(path.lastIndexOf('/') + 1).replace(/^\./, '')
  const name = volumeNameOf(path)
  if (readOnly || /\.(?!d$)/.test(last) || !VOLUME_NAME.test(name)) {
    const next = 'Add it, or remove the mount.'
    return validation.refuse(tree, 'bundle', `${shown(tree)} is not in the upload.`, next)
  }
  const reason = 'No such folder was sent, so it begins empty and keeps what is written: a volume of the app.'
  validation.rewrite(tree, 'host-mount', { from: writtenOf(tree), to: 'a volume', reason })
  return { type: 'volume', source: name, target, readOnly: false }
}

const COPY = 'It is a copy of what was uploaded, new with each release: what would be written there would be lost.'

/** A file or folder of the upload. */
const bindOf = (
  validation: ValidationContext,
  tree: Tree,
  written: string,
  more: { target: string; readOnly: boolean },
): Mount | undefined => {
  if (isSocket(written)) {
    const detail = 'The Docker socket is the whole host; no app gets it.'
    return validation.refuse(
      tree,
      'docker-socket',
      detail,
      'Remove it. Logs, deploys and restarts are calls of the API.',
    )
  }
  if (insideBundle(written) === null) {
    const detail = 'It mounts a place of the host.'
    return validation.refuse(tree, 'host-mount', detail, 'Use a named volume, or put the file into the upload.')
  }
  const found = sourceIn(validation, written)
  if (!found) return volumeFor(validation, tree, written, more)
  if (!more.readOnly) {
    validation.rewrite(tree, 'read-only', { from: writtenOf(tree), to: 'read-only', reason: COPY })
  }
  return fileMount(found, more.target)
}

/** A file or folder of the upload at a place. */
export const fileMount = ({ source, digest, isFile }: SourceFound, target: string): Mount => ({
  type: 'bind',
  source,
  target,
  digest,
  ...(isFile && { isFile }),
})

const volumeOf = (
  validation: ValidationContext,
  tree: Tree,
  source: string,
  more: { target: string; readOnly: boolean },
) =>
  VOLUME_NAME.test(source)
    ? { type: 'volume' as const, source, ...more }
    : wrong(validation, tree, 'the name of a volume, or ./ and a path')

const MODES = new Set(['ro', 'rw', 'nocopy', 'cached', 'delegated', 'consistent', 'z', 'Z'])

const anonymous = (validation: ValidationContext, at: At, target: string): Mount => {
  validation.warn(
    at,
    'no-effect',
    'A volume without a name is empty again with each release.',
    'Name it, and declare it in volumes.',
  )
  return { type: 'anonymous', target }
}

const readShort = (validation: ValidationContext, tree: ScalarTree): Mount | undefined => {
  const text = textOf(tree)
  const [first = '', second, third = '', ...more] = text.split(':')
  const modes = third === '' ? [] : third.split(',')
  if (isSocket(text)) return bindOf(validation, tree, text, { target: '/', readOnly: true })
  if (more.length > 0 || modes.some((mode) => !MODES.has(mode)))
    return wrong(validation, tree, 'source:/target or source:/target:ro')
  if (second === undefined) {
    const target = targetOf(validation, tree, first)
    return target === undefined ? undefined : anonymous(validation, tree, target)
  }
  const isPath = /^[./~]|\\/.test(first)
  if (isPath && insideBundle(first) === null) return bindOf(validation, tree, first, { target: '/', readOnly: true })
  const target = targetOf(validation, tree, second)
  if (target === undefined) return undefined
  const where = { target, readOnly: modes.includes('ro') }
  return isPath ? bindOf(validation, tree, first, where) : volumeOf(validation, tree, first, where)
}

const raw: Read<Tree> = (_, tree) => tree

const TMPFS = { size: readBytes(TMPFS_MIN_BYTES, TMPFS_MAX_BYTES) }
const VOLUME = { nocopy: readBoolean }
const BIND = { create_host_path: readBoolean, selinux: readOneOf(['z', 'Z']) }

const LONG = {
  type: readOneOf(['volume', 'bind', 'tmpfs']),
  source: readText,
  target: readText,
  read_only: readBoolean,
  consistency: readText,
  volume: raw,
  bind: raw,
  tmpfs: raw,
}

const REFUSED_OPTIONS = {
  propagation: {
    rule: 'host-mount',
    on: 'always',
    detail: 'Mounts are not passed on between host and container.',
    next: 'Remove it.',
  },
  mode: {
    rule: 'value',
    on: 'always',
    detail: 'A mode here is decimal to some readers and octal to others.',
    next: 'Use the short form: tmpfs: /run:mode=1777.',
  },
  subpath: { rule: 'value', on: 'always', detail: 'Volumes are mounted as a whole.', next: 'Use a volume of its own.' },
} as const

const optionsOf = <T extends Record<string, Read<unknown>>>(
  validation: ValidationContext,
  tree: Tree | undefined,
  of: string,
  known: T,
) => (tree?.kind === 'map' ? readFields(validation, tree, { of, known, refused: REFUSED_OPTIONS }).fields : undefined)

const readLong = (validation: ValidationContext, tree: Tree & { kind: 'map' }): Mount | undefined => {
  const { fields } = readFields(validation, tree, { of: 'a mount', known: LONG })
  const targetTree = tree.entries.get('target') ?? tree
  const target = targetOf(validation, targetTree, fields.target ?? '')
  optionsOf(validation, fields.volume, 'a volume mount', VOLUME)
  optionsOf(validation, fields.bind, 'a bind mount', BIND)
  const memory = optionsOf(validation, fields.tmpfs, 'a tmpfs mount', TMPFS)
  if (target === undefined || (fields.type === undefined && tree.entries.has('type'))) return undefined
  const sourceTree = tree.entries.get('source') ?? tree
  const where = { target, readOnly: fields.read_only ?? false }
  switch (fields.type) {
    case 'bind':
      return bindOf(validation, sourceTree, fields.source ?? '', where)
    case 'tmpfs':
      return tmpfs(target, memory?.size)
    case 'volume':
      return fields.source === undefined
        ? anonymous(validation, tree, target)
        : volumeOf(validation, sourceTree, fields.source, where)
    case undefined:
      return wrong(validation, tree, 'a mount with a type')
    default:
      return fields.type satisfies never
  }
}

/** One entry of `volumes`. */
export const readMount: Read<MountDraft> = (validation, tree) => {
  if (tree.kind === 'list') return wrong(validation, tree, 'a mount')
  const mount = tree.kind === 'scalar' ? readShort(validation, tree) : readLong(validation, tree)
  if (!mount) return undefined
  const isMade = mount.type === 'volume' && mount.source !== sourceText(tree)
  return { mount, at: { pointer: tree.pointer, line: tree.line }, ...(isMade && { isMade }) }
}

/** The source as it is said: of a volume its name. */
const sourceText = (tree: Tree): string => {
  if (tree.kind === 'scalar') return textOf(tree).split(':')[0] ?? ''
  const source = tree.kind === 'map' ? tree.entries.get('source') : undefined
  return source?.kind === 'scalar' ? textOf(source) : ''
}

const tmpfs = (target: string, sizeBytes = TMPFS_DEFAULT_BYTES, mode?: number): Mount => ({
  type: 'tmpfs',
  target,
  sizeBytes,
  ...(mode !== undefined && { mode }),
})

/** One entry of `tmpfs`: `/run` or `/run:size=64m,mode=1777`. */
export const readTmpfs: Read<MountDraft> = (validation, tree) => {
  if (tree.kind !== 'scalar') return wrong(validation, tree, 'a path, as /run')
  const [path = '', options = '', ...more] = textOf(tree).split(':')
  const target = targetOf(validation, tree, path)
  const written = options.split(',')
  const [size, mode] = ['size=', 'mode='].map((name) =>
    written.find((option) => option.startsWith(name))?.slice(name.length),
  )
  const known = written.every((option) => /^(size=\d+[bkmg]?|mode=[0-7]{3,4}|noexec|nosuid|nodev|rw)?$/i.test(option))
  if (!known || more.length > 0) return wrong(validation, tree, 'a path with size= and mode= at most')
  const asked = size === undefined ? undefined : TMPFS.size(validation, { ...tree, value: size })
  if (target === undefined || (size !== undefined && asked === undefined)) return undefined
  const mount = tmpfs(target, asked, mode === undefined ? undefined : Number.parseInt(mode, 8))
  return { mount, at: { pointer: tree.pointer, line: tree.line } }
}
