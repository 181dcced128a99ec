/** What the clauses of the second document are walked with: both ways in, and what was refused with which code. */
import { assert } from '../../../support/runner/spec.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'
import { makeSite, type SitePlatform } from '../../../support/stage/publishing.ts'

/** The parts of the document, in its order. */
export const PARTS = [
  'What the service does',
  'Resources and their fields',
  'States and transitions',
  'Endpoints',
  'Authentication',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
] as const

/** The rules (headings of hack/docs/rules/site.md) that it shows, and how it is asked. */
export type Clause = {
  part: (typeof PARTS)[number]
  says: string
  rules: readonly string[]
  over: 'REST' | 'kubectl' | 'both'
  walk(w: Walk): Promise<void>
}

export type Walk = {
  platform: SitePlatform
  /** Codes that REST has refused with. */
  refused: Set<string>
  ask(method: string, path: string, body?: unknown, token?: string | null): Promise<Reply>
  /** @returns the body of an answer below 300 */
  sure(method: string, path: string, body?: unknown, token?: string): Promise<Json>
  /** Answers with that status and code, and keeps that it did. */
  refuses(status: number, code: string, method: string, path: string, body?: unknown, token?: string): Promise<Json>
  make(body?: Record<string, unknown>): Promise<Json>
  /** The same site by each way in, looked at as it was rendered: sent over REST, then written over kubectl in the names of the resource. */
  eachWay(body: Sent, look: (site: Json, way: 'REST' | 'kubectl') => Promise<void>): Promise<void>
  site(id: string): Promise<Json>
  /** Over kubectl. */
  apply(name: string, spec: object): Promise<void>
  /** The words with which the API server refuses it; null when it takes it. */
  denial(name: string, spec: object): Promise<string | null>
  patch(kind: string, name: string, spec: object): Promise<void>
  object(name: string): Promise<Json>
  /** Until the condition says so, with the code as the first word of its message. */
  stalled(name: string, code: string): Promise<void>
  page(site: Json, path?: string): Promise<string>
  hostname(label: string): string
  account: string
}

/** What generate takes and a spec can say as well; pictures are sent over REST, and a spec names what was sent. */
export type Sent = { content: Record<string, unknown>; preset?: string; assets?: Record<string, string> }

/** The names of the resource for those of REST; what is no name stays. */
const camel = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(camel)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camel(one),
    ]),
  )
}

const OWNER = 'demo'

/** All of them: the last line alone does not say which field it is. */
const wordsOf = (error: { detail?: string }): string => error.detail ?? String(error)

export const makeWalk = (platform: SitePlatform): Walk => {
  const refused = new Set<string>()
  let written = 0
  const ask: Walk['ask'] = (method, path, body, token) => platform.as(method, path, body, token)
  const object = async (name: string): Promise<Json> =>
    JSON.parse(await platform.kubectl(['get', 'wsite', name, '-o', 'json']))
  const apply = (name: string, spec: object) =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Site',
      metadata: { name },
      spec,
    })
  return {
    platform,
    refused,
    account: OWNER,
    ask,
    async sure(method, path, body, token) {
      const reply = await ask(method, path, body, token)
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
      return reply.json
    },
    async refuses(status, code, method, path, body, token) {
      const reply = await ask(method, path, body, token)
      assert.equal([reply.status, reply.json?.code], [status, code], reply.text)
      assert.ok(reply.json.next.length > 0, 'says what to do next')
      refused.add(code)
      return reply.json
    },
    make: (body = {}) => makeSite(platform, body),
    async eachWay({ assets, ...body }, look) {
      const sent = await makeSite(platform, { ...body, ...(assets && { assets }) })
      await look(sent, 'REST')
      const name = `doc-way-${++written}`
      const known = assets && { assets: (await object(sent.id)).spec.assets }
      await apply(name, { account: OWNER, ...body, content: camel(body.content), ...known })
      const made = await eventually(`${name} to be rendered`, async () => {
        const { json, status } = await ask('GET', `/api/website/${name}`)
        return status === 200 && json.site.preview_digest !== null && json.site
      })
      await look(made, 'kubectl')
    },
    site: async (id) => (await platform.as('GET', `/api/website/${id}`)).json.site,
    apply: async (name, spec) => {
      await apply(name, spec)
    },
    denial: (name, spec) => apply(name, spec).then(() => null, wordsOf),
    async patch(kind, name, spec) {
      await platform.kubectl(['patch', kind, name, '--type=merge', '-p', JSON.stringify({ spec })])
    },
    object,
    async stalled(name, code) {
      await eventually(`${name} to be Stalled with ${code}`, async () => {
        const conditions = (await object(name)).status?.conditions ?? []
        const stalled = conditions.find((one: Json) => one.type === 'Stalled')
        return stalled?.status === 'True' && stalled.message.startsWith(code)
      })
    },
    page: async ({ preview_url }, path = '') => (await fetch(`${preview_url}${path}`)).text(),
    hostname: (label) => `${label}.${platform.host.baseDomain}`,
  }
}

/** The content in the names of the resource, with what every site needs. */
export const specContent = (more: object = {}): object => ({
  meta: { companyName: 'Voss Ceramics', lang: 'en', layout: 'classic', template: 'studio' },
  hero: { title: 'Stoneware for every day' },
  ...more,
})
