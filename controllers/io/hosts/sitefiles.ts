/**
 * The files of sites on a host. A release is a folder of copies, made whole under a name of its own and checked before `current`
 * leads to it, so that a switch is one rename and nothing is mended under the eyes of visitors; `store` holds by their sha256
 * what was sent lately. Every script may run again, whole or after a cut: what is half done is begun anew
 * (hack/decisions/061).
 */
import { createHash } from 'node:crypto'
import type { ManifestEntry } from '../../../crds/site/publishing/manifest.ts'
import { STATEMENT_PATH } from '../../../crds/site/publishing/statement.ts'
import { Stalled } from '../../base/errors.ts'
import type { RemoteScript } from './hosts.ts'
import type { HostLink } from './link.ts'
import { scriptOf, textOf } from './scripts.ts'
import { tarOf } from './tar.ts'

const LOOK_LIMIT_MS = 30_000
const UPLOAD_LIMIT_MS = 120_000
const SWITCH_LIMIT_MS = 90_000
/** Of one upload; more go in several. */
const UPLOAD_BYTES = 16 * 1024 * 1024
/** How soon a host without room is tried again. */
const FULL_RETRY_MS = 30_000

const withParts = (name: string): RemoteScript => ({ name, text: `${textOf('site-parts')}${textOf(name)}` })

/** Says which of these are nowhere on the host as they should be. */
const MISSING = withParts('site-missing')
/** Takes files named by their sums. */
const STORE = scriptOf('site-store')
/** Makes a release, unless it is there whole, and lets `current` lead to it. */
const SWITCH = withParts('site-switch')
/** What is not as it should be. */
const LOOK = withParts('site-look')
const REMOVE = scriptOf('site-remove')

const SUM = /^[0-9a-f]{64}$/
const PATH = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/
const PRINT = /^print ([0-9a-f]{64})$/m

type Named = Pick<ManifestEntry, 'path' | 'sha256'>
/** A file as it is sent. */
export type SentFile = Pick<ManifestEntry, 'path' | 'sha256' | 'bytes'>

/** The host gets the names that the renderer gave; any other would be our own fault. */
const checked = <File extends Named>(files: readonly File[]): readonly File[] => {
  const isOdd = ({ path, sha256 }: Named) =>
    !SUM.test(sha256) || (path !== STATEMENT_PATH && !PATH.test(path)) || path.includes('..')
  const odd = files.find(isOdd)
  if (odd) throw new Error(`${odd.path} is no name for a file of a site`)
  return files
}

/** As `sha256sum -c` reads it. */
const listOf = (files: readonly Named[]): Buffer =>
  Buffer.from(
    checked(files)
      .map(({ sha256, path }) => `${sha256}  ./${path}\n`)
      .join(''),
  )

const foldersOf = (path: string): string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, place) => `./${parts.slice(0, place + 1).join('/')}`)
}

/** The sha256 of all entries that a release has, with their modes, as `shape_of` of site-parts.sh gives it. */
export const shapeOf = (files: readonly Pick<ManifestEntry, 'path'>[]): string => {
  const folders = new Set(['.', ...files.flatMap(({ path }) => foldersOf(path))])
  const lines = [
    ...[...folders].map((folder) => `755 directory ${folder}`),
    ...files.map(({ path }) => `644 regular file ./${path}`),
  ]
  return createHash('sha256')
    .update(
      lines
        .sort()
        .map((line) => `${line}\n`)
        .join(''),
    )
    .digest('hex')
}

/** As the C library says it, and tar of a file of which a part was written. */
const NO_ROOM = /No space left on device|Disk quota exceeded|Wrote only \d+ of \d+ bytes/

const demand = (script: RemoteScript, { code, stderr }: { code: number; stderr: string }): void => {
  if (code === 0) return
  if (NO_ROOM.test(stderr)) throw new HostFull()
  throw new Error(`${script.name} ended with ${code}: ${stderr.slice(-300)}`)
}

/** There is no room for the files. */
export class HostFull extends Stalled {
  constructor() {
    const detail = 'the host has no room left for the files of the site; free some on it, the site goes on by itself'
    super('HOST_FULL', `HOST_FULL: ${detail}`, new Date(Date.now() + FULL_RETRY_MS).toISOString())
    this.name = 'HostFull'
  }
}

/** One release of one site. */
export type SiteFolder = { site: string; digest: string; files: readonly SentFile[] }

/** `strayed`: what is not as it should be, at most forty; none when all is. `print` names how all of it was found. */
export type FilesLook = { strayed: string[]; print: string | null }

export type SiteFiles = {
  /** Brings what the host does not have. @returns how many bytes that were */
  upload(of: SiteFolder, read: (sha256: string) => Promise<Buffer>, signal: AbortSignal): Promise<number>
  /** Makes the release, if it is not there whole, and `current` lead to it. Other releases than `keep` go. */
  switchTo(of: SiteFolder & { keep: readonly string[] }, signal: AbortSignal): Promise<void>
  /** Whether what `current` leads to is this release. @param before of a look that found it so: equal means unchanged since */
  look(of: SiteFolder, before: string | null, signal: AbortSignal): Promise<FilesLook>
  /** All files of a site but those in the store, which go by themselves. */
  remove(site: string, signal: AbortSignal): Promise<void>
}

/** In as many parts as the limit asks for; a larger file goes alone. */
const partsOf = (files: readonly SentFile[]): SentFile[][] => {
  const parts: SentFile[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const file of files) {
    if (bytes + file.bytes > UPLOAD_BYTES) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(file)
    bytes += file.bytes
  }
  return parts
}

/** What the script says of each thing, for people. */
const SAID: Record<string, (path: string) => string> = {
  link: () => 'the release that is served',
  shape: () => 'files or modes that are not of the release',
  file: (path) => path,
  kept: (path) => `kept ${path}`,
}

const lookIn = (text: string): FilesLook => {
  const lines = text.split('\n').filter((line) => line !== '')
  const strayed = lines.flatMap((line) => {
    const [word = '', ...rest] = line.split(' ')
    const said = SAID[word]
    return said ? [said(rest.join(' '))] : []
  })
  return { strayed, print: strayed.length === 0 ? (PRINT.exec(text)?.[1] ?? null) : null }
}

/** @param root the host's folder of sites  @throws what HostLink.run throws, and HostFull */
export const makeSiteFiles = (link: HostLink, root: string): SiteFiles => ({
  async upload({ site, digest, files }, read, signal) {
    const bySum = new Map(checked(files).map((file) => [file.sha256, file]))
    const lines = [root, site, digest, shapeOf(files)]
    const look = await link.run({ script: MISSING, lines, body: listOf(files), deadlineMs: LOOK_LIMIT_MS, signal })
    demand(MISSING, look)
    const missing = look.stdout
      .toString()
      .split('\n')
      .flatMap((sum) => bySum.get(sum) ?? [])
    for (const part of partsOf(missing)) {
      const contents = await Promise.all(
        part.map(async ({ sha256 }) => ({ name: sha256, content: await read(sha256) })),
      )
      const sent = await tarOf(contents)
      const run = { script: STORE, lines: [root], body: sent, deadlineMs: UPLOAD_LIMIT_MS, signal }
      demand(STORE, await link.run(run))
    }
    return missing.reduce((sum, { bytes }) => sum + bytes, 0)
  },
  async switchTo({ site, digest, keep, files }, signal) {
    const lines = [root, site, digest, shapeOf(files), keep.join(' ')]
    const run = { script: SWITCH, lines, body: listOf(files), deadlineMs: SWITCH_LIMIT_MS, signal }
    demand(SWITCH, await link.run(run))
  },
  async look({ site, digest, files }, before, signal) {
    const lines = [root, site, digest, shapeOf(files), before ?? '-']
    const body = listOf(files)
    const run = { script: LOOK, lines, body, deadlineMs: LOOK_LIMIT_MS, lane: 'status', signal } as const
    const result = await link.run(run)
    demand(LOOK, result)
    return lookIn(result.stdout.toString())
  },
  async remove(site, signal) {
    demand(REMOVE, await link.run({ script: REMOVE, lines: [root, site], deadlineMs: SWITCH_LIMIT_MS, signal }))
  },
})
