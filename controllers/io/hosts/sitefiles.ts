/**
 * The files of sites on a host. Bytes lie once, by their sha256, in `store`; a release is a folder of hard links to them, and
 * `current` a link to one release, so that a switch is one rename. Every script may run again, whole or after a cut: what is
 * half done lies under a name of its own and is begun anew.
 */
import type { ManifestEntry } from '../../../crds/site/publishing/manifest.ts'
import type { RemoteScript } from './hosts.ts'
import type { HostLink } from './link.ts'
import { scriptOf } from './scripts.ts'
import { tarOf } from './tar.ts'

const LOOK_LIMIT_MS = 30_000
const UPLOAD_LIMIT_MS = 120_000
const SWITCH_LIMIT_MS = 90_000
/** Of one upload; more go in several. */
const UPLOAD_BYTES = 16 * 1024 * 1024

/** Says which of these the store does not have. */
const MISSING = scriptOf('site-missing')
/** Takes files named by their sums. */
const STORE = scriptOf('site-store')
/** Makes a release and lets `current` lead to it. */
const SWITCH = scriptOf('site-switch')
const REMOVE = scriptOf('site-remove')

const SUM = /^[0-9a-f]{64}$/
const PATH = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/

/** The host gets the names that the renderer gave; any other would be our own fault. */
const checked = (files: readonly ManifestEntry[]): readonly ManifestEntry[] => {
  const odd = files.find(({ path, sha256 }) => !SUM.test(sha256) || !PATH.test(path) || path.includes('..'))
  if (odd) throw new Error(`${odd.path} is no name for a file of a site`)
  return files
}

const demand = (script: RemoteScript, { code, stderr }: { code: number; stderr: string }): void => {
  if (code !== 0) throw new Error(`${script.name} ended with ${code}: ${stderr.slice(-300)}`)
}

export type SiteFiles = {
  /** Brings what the host does not have. @returns how many bytes that were */
  upload(
    files: readonly ManifestEntry[],
    read: (sha256: string) => Promise<Buffer>,
    signal: AbortSignal,
  ): Promise<number>
  /** Makes the release, if it is not there, and `current` lead to it. Other releases than `keep` go. */
  switchTo(
    of: { site: string; digest: string; keep: readonly string[]; files: readonly ManifestEntry[] },
    signal: AbortSignal,
  ): Promise<void>
  /** All files of a site but those in the store, which goes by itself. */
  remove(site: string, signal: AbortSignal): Promise<void>
}

/** In as many parts as the limit asks for; a larger file goes alone. */
const partsOf = (files: readonly ManifestEntry[]): ManifestEntry[][] => {
  const parts: ManifestEntry[][] = []
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

/** @param root the host's folder of sites  @throws what HostLink.run throws */
export const makeSiteFiles = (link: HostLink, root: string): SiteFiles => ({
  async upload(files, read, signal) {
    const bySum = new Map(checked(files).map((file) => [file.sha256, file]))
    const body = Buffer.from([...bySum.keys()].map((sum) => `${sum}\n`).join(''))
    const look = await link.run({ script: MISSING, lines: [root], body, deadlineMs: LOOK_LIMIT_MS, signal })
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
    const body = Buffer.from(
      checked(files)
        .map(({ sha256, path }) => `${sha256} ${path}\n`)
        .join(''),
    )
    const lines = [root, site, digest, keep.join(' ')]
    demand(SWITCH, await link.run({ script: SWITCH, lines, body, deadlineMs: SWITCH_LIMIT_MS, signal }))
  },
  async remove(site, signal) {
    demand(REMOVE, await link.run({ script: REMOVE, lines: [root, site], deadlineMs: SWITCH_LIMIT_MS, signal }))
  },
})
