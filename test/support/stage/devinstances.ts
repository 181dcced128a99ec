import { createHash } from 'node:crypto'
import { AGENTS, type AgentId } from '../../../crds/devinstance/bootstrap/agents.ts'
import { SSHD_SETTINGS } from '../../../crds/devinstance/bootstrap/sshd.ts'
import { ENABLED } from '../../../crds/devinstance/bootstrap/units.ts'
import { instanceTypeOf, isBurst } from '../../../crds/devinstance/sizing/sizes.ts'
import { call, eventually, type Json, type Platform, type Reply } from './invoicing.ts'

/** A provisioner without a cloud: it says what a real one would, and counts its instances. */
export type Provisioner = {
  reserve(change?: Record<string, unknown>, headers?: Record<string, string>): Promise<Json>
  /** One call under /api/devboxes/:id, as the owner. */
  on(id: string, method: string, word: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  detail(id: string): Promise<Json>
  /** Reserved → ready. */
  toReady(change?: Record<string, unknown>): Promise<Json>
  /** Reserved → running. */
  toRunning(change?: Record<string, unknown>): Promise<Json>
}

/** Gives an account another cap, and waits until the API knows it. @param of the account, with a token of it */
export const setCap = async (
  platform: Platform,
  of: { account: string; token: string },
  usd: number,
): Promise<void> => {
  const patch = JSON.stringify({ spec: { costCapUsd: usd } })
  await platform.kubectl(['patch', 'acct', of.account, '--type=merge', '-p', patch])
  const known = async () => (await call(platform.baseUrl, of.token, 'GET', '/api/devboxes')).json.capMonthlyUsd === usd
  await eventually('the cap', known)
}

let counter = 0
/** Ids that no other instance has. */
export const cloud = () => {
  counter += 1
  const hex = (process.pid * 100_000 + counter).toString(16).padStart(8, '0')
  const [high, low] = [Math.floor(counter / 250) + 1, (counter % 250) + 1]
  return { instanceId: `i-${hex.slice(-17)}`, eipAllocId: `eipalloc-${hex}`, publicIp: `198.51.${high}.${low}` }
}

export const reservation = (change: Record<string, unknown> = {}) => {
  counter += 1
  return {
    name: `box-${process.pid}-${counter}`,
    sizeClass: 'XS',
    arch: 'arm64',
    agents: ['claude-code'],
    repo: { url: 'https://git.acme.test/shop.git', ref: 'main' },
    policy: { idleMinutes: 30, autoscale: 'ask' },
    ...change,
  }
}

/** A fingerprint that no other machine has. */
const hostKeyOf = (instanceId: string): string =>
  `SHA256:${createHash('sha256').update(instanceId).digest('base64').slice(0, 43)}`

const sshd = () => Object.fromEntries(SSHD_SETTINGS.map(({ keyword, value }) => [keyword.toLowerCase(), value]))

/** What a machine that is as reserved says of itself. */
export const finalizeBody = (devbox: Json, of = cloud()) => {
  const instanceType = instanceTypeOf({ sizeClass: devbox.sizeClass, arch: devbox.arch })
  const agents = (devbox.agents as AgentId[]).map((id) => [id, AGENTS[id].version])
  return {
    instanceId: devbox.instanceId ?? of.instanceId,
    publicIp: of.publicIp,
    eipAllocId: of.eipAllocId,
    facts: {
      instanceType,
      arch: devbox.arch,
      region: 'us-east-1',
      imageId: 'ami-0123456789abcdef0',
      diskGb: devbox.diskGb,
      volumeType: 'gp3',
      volumeEncrypted: true,
      httpTokens: 'required',
      hopLimit: 1,
      ...(isBurst(instanceType) && { creditMode: 'standard' }),
      shutdownBehavior: 'stop',
      userDataSha256: devbox.bootstrapSha256,
      cloudInitStatus: 0,
      hostKeys: [hostKeyOf(devbox.instanceId ?? of.instanceId)],
      listeners: [22],
      units: [...ENABLED],
      openAccounts: [],
      agents: Object.fromEntries(agents),
    },
    assertions: sshd(),
  }
}

export const makeProvisioner = (platform: Pick<Platform, 'baseUrl'>, token: string): Provisioner => {
  const on: Provisioner['on'] = (id, method, word, body, headers) =>
    call(platform.baseUrl, token, method, `/api/devboxes/${id}${word && `/${word}`}`, body, headers)
  const must = (reply: Reply): Json => {
    if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
    return reply.json
  }
  const reserve: Provisioner['reserve'] = async (change, headers) =>
    must(await call(platform.baseUrl, token, 'POST', '/api/devboxes', reservation(change), headers))
  const toReady: Provisioner['toReady'] = async (change) => {
    const { devbox } = await reserve(change)
    const of = cloud()
    must(await on(devbox.id, 'POST', 'provisioning', { instanceId: of.instanceId }))
    must(await on(devbox.id, 'POST', 'token'))
    return must(await on(devbox.id, 'POST', 'finalize', finalizeBody({ ...devbox, instanceId: of.instanceId }, of)))
      .devbox
  }
  return {
    reserve,
    on,
    detail: async (id) => must(await on(id, 'GET', '')).devbox,
    toReady,
    toRunning: async (change) => {
      const { id, version } = await toReady(change)
      return must(await on(id, 'POST', 'started', { version })).devbox
    },
  }
}
