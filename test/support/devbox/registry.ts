/**
 * The registry of dev instances in memory: the pure table, answering over HTTP as REST does, with keys that replay. For what
 * talks to it from outside; the real one has tests of its own.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bootstrapOf } from '../../../crds/devinstance/bootstrap/bootstrap.ts'
import type { CapBudget } from '../../../crds/devinstance/life/context.ts'
import { reserved } from '../../../crds/devinstance/life/effects.ts'
import type { DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import { allowedActions, decide } from '../../../crds/devinstance/life/transitions.ts'
import type { Said, Trigger } from '../../../crds/devinstance/protocol.ts'
import { type DevInstanceSpec, policyOf } from '../../../crds/devinstance/schema.ts'
import { PRICING_VERSION } from '../../../crds/devinstance/sizing/prices.ts'
import { conditionsOf } from '../../../crds/devinstance/standing/conditions.ts'
import { PROGRAMS_VERSION } from '../../../crds/devinstance/standing/launch.ts'
import { newWishes } from '../../../crds/devinstance/standing/wishes.ts'
import { devInstanceDetail, type HistoryEntry, type ShownDevInstance } from '../../../crds/devinstance/view.ts'
import type { DevInstanceWorld } from '../../../crds/devinstance/world.ts'
import { PROBLEMS, type ProblemCode } from '../../../crds/kernel/problem.ts'

type Json = Record<string, unknown>
type Answer = { status: number; body: Json | Buffer }
type Kept = {
  row: DevInstanceRow
  spec: DevInstanceSpec
  bootstrap: Buffer
  events: HistoryEntry[]
  lastReport: Json | null
  generation: number
}

export type MemoryRegistry = {
  url: string
  kept: Map<string, Kept>
  /** Reserves one, as POST does. @returns its id */
  reserve(spec: Partial<DevInstanceSpec>): string
  row(id: string): DevInstanceRow
  /** What kubectl changes of the spec, taken as the controllers take it. @returns the codes of what is refused */
  wish(id: string, change: Partial<DevInstanceSpec>): string[]
  /** The last report of the machine. */
  report(id: string, body: Json): void
  /** Calls that changed something, `id word`. */
  said: string[]
  /** The token that was issued last, by instance. */
  tokens: Map<string, string>
  /** The next answer of this word is lost after it was decided. */
  loseNext: Set<string>
  /** The cap of an instance's owner, and what the others take of it; none is in the way of the rest. */
  capOf: Map<string, CapBudget>
  end(): Promise<void>
}

const problem = (code: ProblemCode, detail: string, more: Json = {}): Answer => ({
  status: PROBLEMS[code].status,
  body: {
    code,
    detail,
    title: PROBLEMS[code].title,
    next: PROBLEMS[code].next,
    status: PROBLEMS[code].status,
    ...more,
  },
})

const gitOf = (report: Json | null) => {
  const git = report?.git as Record<'dirty' | 'untracked' | 'unpushed', number> | undefined
  return git ? { dirty: git.dirty, untracked: git.untracked, unpushed: git.unpushed } : null
}

const CALLS: readonly string[] = [
  'provisioning',
  'finalize',
  'starting',
  'started',
  'halting',
  'stopped',
  'resizing',
  'resized',
  'renamed',
  'eip-released',
  'terminating',
  'terminated',
]

/** What stands in the registry, and what was said to it. */
type Book = Pick<MemoryRegistry, 'kept' | 'said' | 'tokens' | 'loseNext' | 'capOf'> & {
  at(): string
  answers: Map<string, { body: string; answer: Answer }>
  made: number
}

const shown = ({ at }: Book, id: string, { row, spec, events, lastReport }: Kept) => {
  const stored: ShownDevInstance = {
    id,
    owner: spec.account,
    box: row,
    policy: policyOf(spec),
    // none of them reports
    conditions: conditionsOf(row, { lastReport: null } as DevInstanceWorld, new Date(at())).map(
      ({ status: _, ...condition }) => ({ ...condition, since: at() }),
    ),
    stalled: null,
    factSeq: 0,
    createdAt: row.reservedAt,
  }
  return devInstanceDetail(stored, { at: at(), lastReport, events })
}

const reserve = (book: Book, change: Partial<DevInstanceSpec>): string => {
  book.made += 1
  const id = `dev-${createHash('sha256').update(String(book.made)).digest('hex').slice(0, 32)}`
  const spec: DevInstanceSpec = { account: 'demo', sizeClass: 'S', arch: 'arm64', agents: ['codex'], ...change }
  const bootstrap = bootstrapOf({ name: spec.name ?? id, arch: spec.arch, agents: spec.agents, repo: spec.repo })
  if (!bootstrap.ok) throw new Error(bootstrap.detail)
  const { bytes, sha256: bootstrapSha256 } = bootstrap
  const programs = PROGRAMS_VERSION
  const made = { spec, fallbackName: id, pricingVersion: PRICING_VERSION, bootstrapSha256, programs, at: book.at() }
  const row = reserved(made)
  book.kept.set(id, { row, spec, bootstrap: bytes, events: [], lastReport: null, generation: 1 })
  return id
}

const call = <T extends Trigger>(book: Book, id: string, trigger: T, body: Said[T]): Answer => {
  const one = keptOf(book, id)
  const at = book.at()
  const cap = book.capOf.get(id)
  const around = { git: gitOf(one.lastReport), ...(cap && { cap }) }
  const decision = decide(trigger, { instance: one.row, said: body, at, around })
  if (decision.state === 'recorded') one.row = decision.instance
  if (decision.state === 'refused' || decision.state === 'recorded') {
    const { code, detail, faults } = decision.refusal
    const { version, state } = one.row
    const more = { version, state, allowedActions: allowedActions(one.row), ...(faults && { errors: faults }) }
    return problem(code, detail, more)
  }
  if (decision.state === 'accepted') {
    book.said.push(`${id} ${trigger}`)
    one.row = decision.instance
    const { version } = decision.instance
    for (const { kind, data } of decision.entries) one.events.push({ kind, data, version, at, by: 'demo' })
  }
  return { status: 200, body: { devbox: shown(book, id, one) } }
}

/** The same token under the same key. */
const issue = (book: Book, id: string, key: string): Answer => {
  const token = `dbr_${id}_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
  const answer = call(book, id, 'token', { hash: createHash('sha256').update(token).digest('hex') })
  if (answer.status !== 200) return answer
  book.tokens.set(id, token)
  return { status: 201, body: { ...(answer.body as Json), token } }
}

const readOne = (book: Book, id: string, word: string): Answer => {
  const one = keptOf(book, id)
  if (word === 'bootstrap') return { status: 200, body: one.bootstrap }
  if (word === 'proposal') return { status: 200, body: { proposal: null } }
  return { status: 200, body: { devbox: shown(book, id, one) } }
}

const changeOne = (book: Book, id: string, word: string, { body, key }: { body: Json; key: string }): Answer => {
  if (word === '') return call(book, id, 'delete', {})
  if (word === 'token') return issue(book, id, key)
  if (CALLS.includes(word)) return call(book, id, word as 'stopped', body as Said['stopped'])
  return problem('NOT_FOUND', word)
}

type Coming = { method: string; path: string; query: URLSearchParams; body: Json; key: string }

/** One page, as REST gives it. */
const listed = (book: Book, visible: [string, Kept][], query: URLSearchParams): Answer => {
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  const page = visible.slice(offset, offset + limit)
  const devboxes = page.map(([name, one]) => shown(book, name, one))
  return { status: 200, body: { devboxes, total: visible.length, limit, offset } }
}

const route = (book: Book, { method, path, query, body, key }: Coming): Answer => {
  const [, , , id = '', word = ''] = path.split('/')
  if (id === '' && method === 'POST') {
    const made = reserve(book, body as Partial<DevInstanceSpec>)
    return { status: 201, body: { devbox: shown(book, made, keptOf(book, made)) } }
  }
  const visible = [...book.kept].filter(([, { row }]) => row.deletedAt === null)
  if (id === '') return listed(book, visible, query)
  if (visible.every(([name]) => name !== id)) return problem('NOT_FOUND', `there is no ${id}`)
  return method === 'GET' ? readOne(book, id, word) : changeOne(book, id, word, { body, key })
}

/** A refusal leaves the key free. It is one of a route, whichever instance is meant: another one, or another body, is a mistake. */
const keyed = (book: Book, coming: Coming): Answer => {
  const { method, path, body, key } = coming
  if (key === '' || method !== 'POST') return route(book, coming)
  const [, , , , word = ''] = path.split('/')
  const name = `${word} ${key}`
  const before = book.answers.get(name)
  const text = `${path}\n${JSON.stringify(body)}`
  if (before && before.body !== text) return problem('IDEMPOTENCY_MISMATCH', 'another body')
  const answer = before?.answer ?? route(book, coming)
  if (answer.status < 400) book.answers.set(name, { body: text, answer })
  return answer
}

const handle = async (book: Book, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
  const key = String(request.headers['idempotency-key'] ?? '')
  const answer = keyed(book, {
    method: request.method ?? '',
    path,
    query,
    body: text === '' ? {} : JSON.parse(text),
    key,
  })
  if (book.loseNext.delete(path.split('/')[4] ?? '')) {
    request.socket.destroy()
    return
  }
  const bytes = answer.body instanceof Buffer ? answer.body : Buffer.from(JSON.stringify(answer.body))
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes)
}

const wish = (book: Book, id: string, change: Partial<DevInstanceSpec>): string[] => {
  const one = keptOf(book, id)
  one.spec = { ...one.spec, ...change }
  one.generation += 1
  const cap = book.capOf.get(id)
  const around = { git: gitOf(one.lastReport), ...(cap && { cap }) }
  const metadata = {
    name: id,
    namespace: 'bottega',
    uid: id,
    resourceVersion: '1',
    generation: one.generation,
    creationTimestamp: book.at(),
  }
  return newWishes({ metadata, spec: one.spec }, one.row).flatMap(({ trigger, said }) => {
    const decision = decide(trigger, { instance: one.row, said: said as never, at: book.at(), around })
    if (decision.state === 'accepted') one.row = decision.instance
    return decision.state === 'refused' ? [decision.refusal.code] : []
  })
}

const keptOf = ({ kept }: Pick<Book, 'kept'>, id: string): Kept => {
  const one = kept.get(id)
  if (!one) throw new Error(`there is no ${id}`)
  return one
}

export const startRegistry = async (nowMs: () => number): Promise<MemoryRegistry> => {
  const said: string[] = []
  const book: Book = {
    kept: new Map(),
    answers: new Map(),
    tokens: new Map(),
    said,
    loseNext: new Set(),
    capOf: new Map(),
    at: () => new Date(nowMs()).toISOString(),
    made: 0,
  }
  const server = createServer((request, response) => void handle(book, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    ...book,
    url: `http://127.0.0.1:${port}`,
    reserve: (change) => reserve(book, change),
    row: (id) => keptOf(book, id).row,
    wish: (id, change) => wish(book, id, change),
    report(id, body) {
      keptOf(book, id).lastReport = body
    },
    end: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
