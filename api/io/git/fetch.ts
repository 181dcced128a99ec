/**
 * One commit of a repository, without its history, by git's own protocol over HTTPS (gitprotocol-v2: ls-refs, fetch with deepen 1).
 * Every request goes through the egress guard: no redirect, no private address, bounded bytes and time.
 */
import type { Egress, EgressAnswer } from '../../../controllers/net/egress.ts'
import { readPack } from './pack.ts'
import { DELIMITER, FLUSH, GitRefused, lineOf, packet, packets } from './packets.ts'
import { filesOfCommit, type GitFile } from './tree.ts'

export type GitLogin = { username: string; password: string }
export type GitTree = { commit: string; files: GitFile[] }

const LIMIT_MS = 60_000
const REFS_BYTES_MAX = 1_000_000
/** Packed, and unpacked with all folders. */
const PACK_BYTES_MAX = 50_000_000
const FILES_BYTES_MAX = 150_000_000
const OBJECTS_MAX = 40_000

const COMMIT = /^[0-9a-f]{40}$/

type Asking = {
  egress: Pick<Egress, 'exchange'>
  url: string
  headers: Record<string, string>
  endMs: number
  signal?: AbortSignal | undefined
}

const STATUSES: Readonly<Record<number, string>> = {
  301: 'answers with a redirect, which is not followed; write the address that it leads to, often with .git',
  302: 'answers with a redirect, which is not followed; write the address that it leads to, often with .git',
  401: 'wants a login',
  403: 'does not take the login',
  404: 'has no such repository, or shows it to nobody without a login',
}

const bodyOf = (answer: EgressAnswer): Buffer => {
  if (!answer.ok) throw new GitRefused(answer.detail)
  if (answer.status === 200) return answer.body
  throw new GitRefused(STATUSES[answer.status] ?? `answers with status ${answer.status}`)
}

const ask = async (
  asking: Asking,
  method: 'GET' | 'POST',
  path: string,
  bytesMax: number,
  body?: Buffer,
): Promise<Buffer> => {
  const { egress, url, headers, endMs, signal } = asking
  const limitMs = endMs - performance.now()
  if (limitMs <= 0) throw new GitRefused(`took more than ${LIMIT_MS / 1_000} s`)
  const sent = body === undefined ? {} : { 'content-type': 'application/x-git-upload-pack-request' }
  const request = { method, url: `${url}${path}`, headers: { ...headers, ...sent }, limitMs, bytesMax }
  return bodyOf(await egress.exchange({ ...request, ...(body && { body }), ...(signal && { signal }) }))
}

const command = (name: string, lines: readonly string[]): Buffer =>
  Buffer.concat([packet(`command=${name}\n`), packet('agent=bottega\n'), DELIMITER, ...lines.map(packet), FLUSH])

const refuseOldServers = (advertised: Buffer): void => {
  for (const one of packets(advertised)) if (Buffer.isBuffer(one) && lineOf(one) === 'version 2') return
  throw new GitRefused('speaks no version 2 of the protocol')
}

/** The commit that a branch, a tag or HEAD stands for. */
const resolved = async (asking: Asking, ref: string): Promise<string> => {
  if (COMMIT.test(ref)) return ref
  const names = ref === 'HEAD' || ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
  const lines = ['peel\n', ...names.map((name) => `ref-prefix ${name}\n`)]
  const answer = await ask(asking, 'POST', '/git-upload-pack', REFS_BYTES_MAX, command('ls-refs', lines))
  const found = new Map<string, string>()
  for (const one of packets(answer)) {
    if (!Buffer.isBuffer(one)) continue
    const [commit = '', name = '', ...more] = lineOf(one).split(' ')
    const peeled = more.find((word) => word.startsWith('peeled:'))?.slice('peeled:'.length)
    found.set(name, peeled ?? commit)
  }
  const commit = names.map((name) => found.get(name)).find((one) => one !== undefined && COMMIT.test(one))
  if (commit === undefined) throw new GitRefused(`has no branch and no tag ${JSON.stringify(ref.slice(0, 100))}`)
  return commit
}

/** What the bands of the answer's packfile section carry. */
const packIn = (answer: Buffer): Buffer => {
  const parts: Buffer[] = []
  let isPack = false
  for (const one of packets(answer)) {
    if (!Buffer.isBuffer(one)) continue
    if (!isPack) {
      const line = lineOf(one)
      if (line.startsWith('ERR ')) throw new GitRefused(`says: ${line.slice(4, 204)}`)
      isPack = line === 'packfile'
      continue
    }
    if (one[0] === 3) throw new GitRefused(`says: ${one.toString('utf8', 1, 201).trim()}`)
    if (one[0] === 1) parts.push(one.subarray(1))
  }
  return Buffer.concat(parts)
}

/**
 * @param of.url https, without a login; `ref` a branch, a tag, HEAD, or a whole commit
 * @throws GitRefused, whose message goes on from "the repository"
 */
export const fetchTree = async (
  egress: Pick<Egress, 'exchange'>,
  of: { url: string; ref: string; login: GitLogin | null; signal?: AbortSignal | undefined },
): Promise<GitTree> => {
  const { login, ref, signal } = of
  const headers: Record<string, string> = { 'git-protocol': 'version=2', accept: '*/*' }
  if (login) {
    headers.authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`, 'utf8').toString('base64')}`
  }
  const url = of.url.replace(/\/$/, '')
  const asking: Asking = { egress, url, headers, endMs: performance.now() + LIMIT_MS, signal }
  refuseOldServers(await ask(asking, 'GET', '/info/refs?service=git-upload-pack', REFS_BYTES_MAX))
  const commit = await resolved(asking, ref)
  const lines = ['no-progress\n', 'ofs-delta\n', 'deepen 1\n', `want ${commit}\n`, 'done\n']
  const answer = await ask(asking, 'POST', '/git-upload-pack', PACK_BYTES_MAX, command('fetch', lines))
  const objects = await readPack(packIn(answer), { objectsMax: OBJECTS_MAX, bytesMax: FILES_BYTES_MAX })
  return { commit, files: filesOfCommit(objects, commit) }
}
