/**
 * One commit of a repository, without its history, by git's own protocol over HTTPS (gitprotocol-v2: ls-refs, fetch with deepen 1).
 * Every request goes through the egress guard: no redirect, no private address, bounded bytes and time.
 */
import type { Egress, EgressAnswer } from '../../../controllers/net/egress.ts'
import { DELIMITER, eachPacket, FLUSH, GitRefused, GitTooLarge, lineIn, packet } from './packets.ts'

export type GitLogin = { username: string; password: string }
/** `answer`: what the server said, not looked at yet (commit.ts). */
export type FetchedCommit = { commit: string; answer: Buffer }

const LIMIT_MS = 60_000
const REFS_BYTES_MAX = 1_000_000
const PACK_BYTES_MAX = 50_000_000

const COMMIT = /^[0-9a-f]{40}$/
const COMMIT_CHARS = 40

type Asking = {
  egress: Pick<Egress, 'exchange'>
  url: string
  headers: Record<string, string>
  endMs: number
  signal?: AbortSignal | undefined
  onBytes?: ((bytes: number) => void) | undefined
}

const STATUSES: Readonly<Record<number, string>> = {
  301: 'answers with a redirect, which is not followed; write the address that it leads to, often with .git',
  302: 'answers with a redirect, which is not followed; write the address that it leads to, often with .git',
  401: 'wants a login',
  403: 'does not take the login',
  404: 'has no such repository, or shows it to nobody without a login',
}

const bodyOf = (answer: EgressAnswer): Buffer => {
  if (!answer.ok && answer.fault === 'ANSWER_TOO_LARGE') throw new GitTooLarge(answer.detail)
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
  const { egress, url, headers, endMs, signal, onBytes } = asking
  const limitMs = endMs - performance.now()
  if (limitMs <= 0) throw new GitRefused(`took more than ${LIMIT_MS / 1_000} s`)
  const sent = body === undefined ? {} : { 'content-type': 'application/x-git-upload-pack-request' }
  const request = { method, url: `${url}${path}`, headers: { ...headers, ...sent }, limitMs, bytesMax }
  const more = { ...(body && { body }), ...(signal && { signal }), ...(onBytes && { onBytes }) }
  return bodyOf(await egress.exchange({ ...request, ...more }))
}

const command = (name: string, lines: readonly string[]): Buffer =>
  Buffer.concat([packet(`command=${name}\n`), packet('agent=bottega\n'), DELIMITER, ...lines.map(packet), FLUSH])

const refuseOldServers = (advertised: Buffer): void => {
  let isNew = false
  eachPacket(advertised, (from, to) => {
    isNew = lineIn(advertised, from, to) === 'version 2'
    return isNew ? 'enough' : undefined
  })
  if (!isNew) throw new GitRefused('speaks no version 2 of the protocol')
}

/** The commit that a branch, a tag or HEAD stands for. */
const resolved = async (asking: Asking, ref: string): Promise<string> => {
  if (COMMIT.test(ref)) return ref
  const names = ref === 'HEAD' || ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
  const lines = ['peel\n', ...names.map((name) => `ref-prefix ${name}\n`)]
  const answer = await ask(asking, 'POST', '/git-upload-pack', REFS_BYTES_MAX, command('ls-refs', lines))
  const found = new Map<string, string>()
  eachPacket(answer, (from, to) => {
    if (to - from <= COMMIT_CHARS) return undefined
    const [commit = '', name = '', ...more] = lineIn(answer, from, to).split(' ')
    const peeled = more.find((word) => word.startsWith('peeled:'))?.slice('peeled:'.length)
    if (names.includes(name)) found.set(name, peeled ?? commit)
    return undefined
  })
  const commit = names.map((name) => found.get(name)).find((one) => one !== undefined && COMMIT.test(one))
  if (commit === undefined) throw new GitRefused(`has no branch and no tag ${JSON.stringify(ref.slice(0, 100))}`)
  return commit
}

export type CommitWanted = {
  /** https, without a login. */
  url: string
  /** A branch, a tag, HEAD, or a whole commit. */
  ref: string
  login: GitLogin | null
  signal?: AbortSignal | undefined
  /** Told of the bytes of answers as they come; what it throws ends the fetch. */
  onBytes?: ((bytes: number) => void) | undefined
}

/** @throws GitRefused, whose message goes on from "the repository"; GitTooLarge; what `onBytes` throws */
export const fetchCommit = async (egress: Pick<Egress, 'exchange'>, of: CommitWanted): Promise<FetchedCommit> => {
  const { login, ref, signal, onBytes } = of
  const headers: Record<string, string> = { 'git-protocol': 'version=2', accept: '*/*' }
  if (login) {
    headers.authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`, 'utf8').toString('base64')}`
  }
  const url = of.url.replace(/\/$/, '')
  const asking: Asking = { egress, url, headers, endMs: performance.now() + LIMIT_MS, signal, onBytes }
  refuseOldServers(await ask(asking, 'GET', '/info/refs?service=git-upload-pack', REFS_BYTES_MAX))
  const commit = await resolved(asking, ref)
  const lines = ['no-progress\n', 'ofs-delta\n', 'deepen 1\n', `want ${commit}\n`, 'done\n']
  return { commit, answer: await ask(asking, 'POST', '/git-upload-pack', PACK_BYTES_MAX, command('fetch', lines)) }
}
