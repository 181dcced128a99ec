import { PROFILE } from '../builders/devinstance.ts'
import { assert } from '../runner/spec.ts'
import { addAccount, makeMinter } from '../stage/callers.ts'
import { makeProvisioner, type Provisioner, setCap } from '../stage/devinstances.ts'
import { call, type Json, type Platform, type Reply, startPlatform } from '../stage/invoicing.ts'

/** What a walk of document 3 needs: its lists, written by hand from the document, its callers, and what they met on the way. */

/** Endpoints: the document's table, line by line. */
export const ENDPOINTS = [
  'GET /sizes',
  'GET /agents',
  'POST /size',
  'GET ',
  'POST ',
  'GET /:id',
  'PATCH /:id',
  'DELETE /:id',
  'GET /:id/bootstrap',
  'POST /:id/provisioning',
  'POST /:id/token',
  'POST /:id/finalize',
  'POST /:id/report',
  'PUT /:id/repo',
  'PUT /:id/env',
  'PUT /:id/measurements',
  'POST /:id/env/reveal',
  'POST /:id/started',
  'POST /:id/eip-released',
  'POST /:id/stopped',
  'POST /:id/resizing',
  'POST /:id/resized',
  'POST /:id/renamed',
  'POST /:id/terminated',
  'POST /:id/cap-override',
  'POST /:id/teams',
  'DELETE /:id/teams/:team',
  'GET /:id/proposal',
] as const
export const READS = ENDPOINTS.filter((one) => one.startsWith('GET') && one !== 'GET /:id/bootstrap')
export const CHANGES = ENDPOINTS.filter(
  (one) => !READS.includes(one) && !['POST /size', 'GET /:id/bootstrap'].includes(one),
)
export const REPORT = 'POST /:id/report'

export const STATES = ['provisioning', 'configuring', 'ready', 'running', 'stopped', 'terminated']
export const FIELDS = 'id name sizeClass arch agents repo policy diskGb version publicIp eipAllocId state'.split(' ')
export const DETAIL = 'sizing price policy lastReport events costToDateUsd'.split(' ')
export const GONE = { instanceGone: true, eipGone: true, volumesGone: true }

/** Who asks, by the name of a caller or with a token as it is; null: nobody. */
type Ask = [who: string | null, method: string, path: string, body?: unknown, headers?: Record<string, string>]

export type Walk = {
  platform: Platform
  /** A provisioner of the owner. */
  box: Provisioner
  /** Tokens by name: owner, admin, bareAdmin, member, stranger, reads, manages, session. */
  callers: Record<string, string>
  /** What was met: endpoints that answered well, states, and codes with their status. */
  met: { endpoints: Set<string>; states: Set<string>; codes: Set<string> }
  ask(...of: Ask): Promise<Reply>
  /** @throws when it was refused  @returns the body */
  good(...of: Ask): Promise<Json>
  /** @throws when it was not refused so  @returns the problem */
  refused(wanted: string, ...of: Ask): Promise<Json>
  detail(id: string): Promise<Json>
  version(id: string): Promise<{ version: number }>
  /** A confirmation of the owner, on the version as it is. */
  say(id: string, word: string, body?: Json): Promise<Json>
  kinds(id: string): Promise<string[]>
  /** One field of the resource, by kubectl. */
  ofKube(id: string, path: string): Promise<string>
  advance(duration: string): Promise<Reply>
  end(): Promise<void>
}

export const codeOf = ({ status, json }: Reply): string => `${status} ${json?.code ?? ''}`.trim()

/** A scanner's profile of now. */
export const profile = (change: Json = {}) => ({ ...PROFILE, scannedAt: new Date().toISOString(), ...change })

const wordOf = (path: string): string =>
  path
    .replace(/[?].*$/, '')
    .replace(/^[/]dev-[^/]+/, '/:id')
    .replace(/[/]teams[/].+$/, '/teams/:team')

const startCallers = async (platform: Platform) => {
  const minter = makeMinter(platform)
  const capabilities = ['devbox.manage']
  const owner = await addAccount(platform, 'walker', { capabilities, teams: ['studio'] })
  const callers = {
    owner,
    admin: await addAccount(platform, 'chief', { capabilities, role: 'admin' }),
    bareAdmin: await addAccount(platform, 'clerk', { role: 'admin' }),
    member: await addAccount(platform, 'member', { teams: ['studio'] }),
    stranger: await addAccount(platform, 'stranger', { capabilities }),
    reads: (await minter.token('walker', { scopes: ['devboxes:read'] })).secret,
    manages: (await minter.token('walker', { scopes: ['devboxes:manage'] })).secret,
    session: await minter.session('walker'),
  }
  await setCap(platform, { account: 'walker', token: owner }, 2_000)
  return { minter, callers }
}

export const startWalk = async (): Promise<Walk> => {
  const platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
  const { minter, callers } = await startCallers(platform)
  const tokens: Record<string, string> = callers
  const met: Walk['met'] = { endpoints: new Set(), states: new Set(), codes: new Set() }

  const ask: Walk['ask'] = async (who, method, path, body, headers) => {
    const token = who === null ? null : (tokens[who] ?? who)
    const reply = await call(platform.baseUrl, token, method, `/api/devboxes${path}`, body, headers)
    if (reply.status < 300) met.endpoints.add(`${method} ${wordOf(path)}`)
    if (typeof reply.json?.code === 'string') met.codes.add(codeOf(reply))
    if (typeof reply.json?.devbox?.state === 'string') met.states.add(reply.json.devbox.state)
    return reply
  }
  const good: Walk['good'] = async (...of) => {
    const reply = await ask(...of)
    assert.ok(reply.status < 300, `${of[1]} ${of[2]}: ${reply.status} ${reply.text}`)
    return reply.json
  }
  const detail = async (id: string): Promise<Json> => (await good('owner', 'GET', `/${id}`)).devbox
  const version = async (id: string) => ({ version: (await detail(id)).version as number })
  return {
    platform,
    box: makeProvisioner(platform, callers.owner),
    callers: tokens,
    met,
    ask,
    good,
    detail,
    version,
    refused: async (wanted, ...of) => {
      const reply = await ask(...of)
      assert.is(codeOf(reply), wanted, `${of[1]} ${of[2]}: ${reply.text}`)
      return reply.json
    },
    say: async (id, word, body = {}) =>
      (await good('owner', 'POST', `/${id}/${word}`, { ...(await version(id)), ...body })).devbox,
    kinds: async (id) => (await detail(id)).events.map(({ kind }: Json) => kind),
    ofKube: async (id, path) => (await platform.kubectl(['get', 'dbx', id, '-o', `jsonpath={${path}}`])).trim(),
    advance: (duration) => call(platform.baseUrl, callers.admin, 'POST', '/api/dev/clock', { advance: duration }),
    end: async () => {
      await minter.end()
      await platform.end()
    },
  }
}
