/**
 * What is mounted into a container: volumes of the project, memory, and files or folders of the upload, read-only.
 * Nothing of the host, by whatever way it is written; links cannot lead there either, since an upload holds none.
 */
import { createHash } from 'node:crypto'
import { digestOf } from '../../archive.ts'
import { type At, type Desk, insideBundle } from './desk.ts'
import type { ScalarTree, Tree } from './parse.ts'
import type { Mount } from './project.ts'
import { type Read, readBoolean, readBytes, readFields, readOneOf, readText, shown, textOf, wrong } from './read.ts'

export const TMPFS_DEFAULT_BYTES = 67_108_864
const TMPFS_MAX_BYTES = 1_073_741_824
const TMPFS_MIN_BYTES = 4096
const TARGET_MAX = 512

export type MountDraft = { mount: Mount; at: At }

export const VOLUME_NAME = /^[a-z0-9][a-z0-9_.-]{0,62}$/i
/** Sockets that command the host, by their usual names and as the pipe of Windows. */
const SOCKET =
  /(docker|containerd|podman|crio|cri-dockerd|buildkitd|dockershim)[^/\\]*\.sock|docker_engine|^\/+(var\/+)?run\/*$/i
const OWN_BY_KERNEL = /^\/(proc|sys|dev)(\/|$)/

const hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A path in the container, without `.`, `..` and doubled slashes. */
const targetOf = (desk: Desk, tree: Tree, text: string): string | undefined => {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const odd = /[\u0000-\u001f\\:,]/.test(text) || parts.includes('..') || text.length > TARGET_MAX
  if (!text.startsWith('/') || odd || parts.length === 0) return wrong(desk, tree, 'an absolute path in the container')
  const target = `/${parts.join('/')}`
  if (!OWN_BY_KERNEL.test(target) || target === '/dev/shm') return target
  return desk.refuse(
    tree,
    'host-access',
    `${shown(tree)} is mounted over what belongs to the kernel.`,
    'Mount it elsewhere.',
  )
}

/** A file or folder of the upload. */
const bindOf = (
  desk: Desk,
  tree: Tree,
  written: string,
  more: { target: string; readOnly: boolean },
): Mount | undefined => {
  if (SOCKET.test(written)) {
    const detail = 'The Docker socket is the whole host; no app gets it.'
    return desk.refuse(tree, 'docker-socket', detail, 'Remove it. Logs, deploys and restarts are calls of the API.')
  }
  const source = insideBundle(written)
  if (source === null) {
    const detail = 'It mounts a place of the host.'
    return desk.refuse(tree, 'host-mount', detail, 'Use a named volume, or put the file into the upload.')
  }
  const file = desk.bundle.file(source)
  if (!file && !desk.bundle.hasFolder(source)) {
    return desk.refuse(tree, 'bundle', `${shown(tree)} is not in the upload.`, 'Add it, or remove the mount.')
  }
  const detail = 'A file of the upload is mounted for writing; what is written would be gone with the release.'
  if (!more.readOnly && !desk.allows(tree, 'host-mount', detail, 'Add :ro, or use a named volume.')) return undefined
  const digest = file ? hex(`${file.mode} ${file.sha256}`) : digestOf(desk.bundle.filesUnder(source))
  return { type: 'bind', source, target: more.target, digest }
}

const volumeOf = (desk: Desk, tree: Tree, source: string, more: { target: string; readOnly: boolean }) =>
  VOLUME_NAME.test(source)
    ? { type: 'volume' as const, source, ...more }
    : wrong(desk, tree, 'the name of a volume, or ./ and a path')

const MODES = new Set(['ro', 'rw', 'nocopy', 'cached', 'delegated', 'consistent', 'z', 'Z'])

const anonymous = (desk: Desk, at: At, target: string): Mount => {
  desk.warn(
    at,
    'no-effect',
    'A volume without a name is empty again with each release.',
    'Name it, and declare it in volumes.',
  )
  return { type: 'anonymous', target }
}

const readShort = (desk: Desk, tree: ScalarTree): Mount | undefined => {
  const text = textOf(tree)
  const [first = '', second, third = '', ...more] = text.split(':')
  const modes = third === '' ? [] : third.split(',')
  if (SOCKET.test(text)) return bindOf(desk, tree, text, { target: '/', readOnly: true })
  if (more.length > 0 || modes.some((mode) => !MODES.has(mode)))
    return wrong(desk, tree, 'source:/target or source:/target:ro')
  if (second === undefined) {
    const target = targetOf(desk, tree, first)
    return target === undefined ? undefined : anonymous(desk, tree, target)
  }
  const isPath = /^[./~]|\\/.test(first)
  if (isPath && insideBundle(first) === null) return bindOf(desk, tree, first, { target: '/', readOnly: true })
  const target = targetOf(desk, tree, second)
  if (target === undefined) return undefined
  const where = { target, readOnly: modes.includes('ro') }
  return isPath ? bindOf(desk, tree, first, where) : volumeOf(desk, tree, first, where)
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
  desk: Desk,
  tree: Tree | undefined,
  of: string,
  known: T,
) => (tree?.kind === 'map' ? readFields(desk, tree, { of, known, refused: REFUSED_OPTIONS }).fields : undefined)

const readLong = (desk: Desk, tree: Tree & { kind: 'map' }): Mount | undefined => {
  const { fields } = readFields(desk, tree, { of: 'a mount', known: LONG })
  const targetTree = tree.entries.get('target') ?? tree
  const target = targetOf(desk, targetTree, fields.target ?? '')
  optionsOf(desk, fields.volume, 'a volume mount', VOLUME)
  optionsOf(desk, fields.bind, 'a bind mount', BIND)
  const memory = optionsOf(desk, fields.tmpfs, 'a tmpfs mount', TMPFS)
  if (target === undefined || (fields.type === undefined && tree.entries.has('type'))) return undefined
  const sourceTree = tree.entries.get('source') ?? tree
  const where = { target, readOnly: fields.read_only ?? false }
  switch (fields.type) {
    case 'bind':
      return bindOf(desk, sourceTree, fields.source ?? '', where)
    case 'tmpfs':
      return tmpfs(target, memory?.size)
    case 'volume':
      return fields.source === undefined
        ? anonymous(desk, tree, target)
        : volumeOf(desk, sourceTree, fields.source, where)
    case undefined:
      return wrong(desk, tree, 'a mount with a type')
    default:
      return fields.type satisfies never
  }
}

/** One entry of `volumes`. */
export const readMount: Read<MountDraft> = (desk, tree) => {
  if (tree.kind === 'list') return wrong(desk, tree, 'a mount')
  const mount = tree.kind === 'scalar' ? readShort(desk, tree) : readLong(desk, tree)
  return mount && { mount, at: { pointer: tree.pointer, line: tree.line } }
}

const tmpfs = (target: string, sizeBytes = TMPFS_DEFAULT_BYTES, mode?: number): Mount => ({
  type: 'tmpfs',
  target,
  sizeBytes,
  ...(mode !== undefined && { mode }),
})

/** One entry of `tmpfs`: `/run` or `/run:size=64m,mode=1777`. */
export const readTmpfs: Read<MountDraft> = (desk, tree) => {
  if (tree.kind !== 'scalar') return wrong(desk, tree, 'a path, as /run')
  const [path = '', options = '', ...more] = textOf(tree).split(':')
  const target = targetOf(desk, tree, path)
  const [size, mode] = ['size', 'mode'].map((name) => new RegExp(`(?:^|,)${name}=([^,]*)(?:,|$)`).exec(options)?.[1])
  const known = options
    .split(',')
    .every((option) => /^(size=\d+[bkmg]?|mode=[0-7]{3,4}|noexec|nosuid|nodev|rw)?$/i.test(option))
  if (!known || more.length > 0) return wrong(desk, tree, 'a path with size= and mode= at most')
  const asked = size === undefined ? undefined : TMPFS.size(desk, { ...tree, value: size })
  if (target === undefined || (size !== undefined && asked === undefined)) return undefined
  const mount = tmpfs(target, asked, mode === undefined ? undefined : Number.parseInt(mode, 8))
  return { mount, at: { pointer: tree.pointer, line: tree.line } }
}
