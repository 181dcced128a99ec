/**
 * The registry over REST. Each confirmation goes under a key that follows from what it says, so that whoever repeats it after a
 * crash, without knowing of the first, finds what the first one did. The instance is part of it: a key is one of a route, and two that
 * stand alike say the same words.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { canonical } from '../../../../crds/values/canonical.ts'
import type { ApiAnswer, ApiClient } from '../../cli/net/api.ts'
import { RefusedByApi, UsageFault } from '../../cli/net/outcome.ts'
import type { BoxRow, Saying } from '../plan/world.ts'

/** A row of the list: enough to know what to look for. */
export type BoxItem = Pick<
  BoxRow,
  'id' | 'name' | 'state' | 'instanceId' | 'eipAllocId' | 'policy' | 'targetLabel' | 'wanted'
>
export type BoxProposal = { sizeClass: BoxRow['sizeClass']; diskGb: number; apply?: boolean }

export type BoxRegistry = {
  list(): Promise<BoxItem[]>
  /** Null: there is none, or it is not for the caller's eyes. */
  read(id: string): Promise<BoxRow | null>
  /** The open proposal that is to be taken without being asked. */
  proposal(id: string): Promise<BoxProposal | null>
  reserve(asked: Record<string, unknown>): Promise<string>
  /** The user data, as it is served. */
  bootstrap(id: string): Promise<Buffer>
  say(row: BoxRow, saying: Pick<Saying, 'word' | 'body'>): Promise<void>
  /** The same token for the same machine, as long as its key is kept. @param rotations so many were seen that this is to be one more */
  issueToken(id: string, instanceId: string, rotations?: number): Promise<string>
  discard(id: string): Promise<void>
  /** Where machines report to. */
  serviceUrl: string
}

const PAGE = 200
const OPERATION_EVERY_MS = 1_000
const BOOTSTRAP_BYTES_MAX = 64 * 1024

const pathOf = (id: string): string => `/api/devboxes/${encodeURIComponent(id)}`

const keyOf = (...parts: readonly unknown[]): string => createHash('sha256').update(canonical(parts)).digest('hex')

/** What becomes of an answer that leaves the verdict to an operation. @throws RefusedByApi as it was refused */
const settled = async (api: ApiClient, answer: ApiAnswer): Promise<ApiAnswer> => {
  const path = answer.headers.location
  if (answer.status !== 202 || path === undefined) return answer
  for (;;) {
    const { body } = await api.call({ method: 'GET', path })
    const { state, problem } = body.operation
    if (state === 'refused') throw new RefusedByApi({ status: problem?.status ?? 409, ...problem })
    // of one whose outcome is unknown the row tells
    if (state !== 'pending') return answer
    await sleep(OPERATION_EVERY_MS)
  }
}

const isMissing = (error: unknown): boolean => error instanceof RefusedByApi && error.refusal.status === 404

const readBytes = async (api: ApiClient, path: string): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of await api.stream({ method: 'GET', path })) {
    bytes += chunk.length
    if (bytes > BOOTSTRAP_BYTES_MAX) throw new Error('the bootstrap is larger than any cloud takes')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const listAll = async (api: ApiClient): Promise<BoxItem[]> => {
  const found: BoxItem[] = []
  for (let offset = 0; ; offset += PAGE) {
    const { body } = await api.call({ method: 'GET', path: `/api/devboxes?limit=${PAGE}&offset=${offset}` })
    found.push(...body.devboxes)
    if (body.devboxes.length < PAGE) return found
  }
}

export const makeRegistry = (api: ApiClient): BoxRegistry => {
  const post = (path: string, key: string, json?: unknown): Promise<ApiAnswer> =>
    api.call({ method: 'POST', path, key, ...(json !== undefined && { json }) })
  return {
    serviceUrl: api.baseUrl,
    list: () => listAll(api),
    async read(id) {
      try {
        return (await api.call({ method: 'GET', path: pathOf(id) })).body.devbox
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    async proposal(id) {
      const { proposal } = (await api.call({ method: 'GET', path: `${pathOf(id)}/proposal` })).body
      return proposal?.apply ? proposal : null
    },
    async reserve(asked) {
      const path = '/api/devboxes'
      const answer = await settled(api, await api.call({ method: 'POST', path, json: asked }))
      return answer.body.devbox.id
    },
    bootstrap: (id) => readBytes(api, `${pathOf(id)}/bootstrap`),
    async say({ id, lease }, { word, body }) {
      // a lease is renewed by the same words that began it
      const key = keyOf(id, word, body, lease?.expiresAt ?? null)
      await settled(api, await post(`${pathOf(id)}/${word}`, key, body))
    },
    async issueToken(id, instanceId, rotations) {
      const key = keyOf(id, 'token', instanceId, ...(rotations === undefined ? [] : [rotations]))
      const answer = await settled(api, await post(`${pathOf(id)}/token`, key))
      // where an operation had the verdict, the repeat has the answer
      const { body } = answer.status === 202 ? await post(`${pathOf(id)}/token`, key) : answer
      if (typeof body?.token !== 'string') throw new Error(`the report token of ${id} was issued and not shown`)
      return body.token
    },
    async discard(id) {
      await settled(api, await api.call({ method: 'DELETE', path: pathOf(id) }))
    },
  }
}

/** The id of what is called so, by name or by id. @throws UsageFault when there is none, or more than one */
export const idOf = async (registry: Pick<BoxRegistry, 'list'>, word: string): Promise<string> => {
  const found = (await registry.list()).filter(({ id, name }) => id === word || name === word)
  const [first, second] = found
  if (!first) throw new UsageFault(`There is no dev instance ${JSON.stringify(word.slice(0, 80))}.`)
  if (second)
    throw new UsageFault(`More than one is called ${word}: say its id, ${found.map(({ id }) => id).join(' or ')}.`)
  return first.id
}
