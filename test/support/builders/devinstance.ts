import { generateKeyPairSync } from 'node:crypto'
import { AGENTS, type AgentId } from '../../../crds/devinstance/bootstrap/agents.ts'
import { SSHD_SETTINGS } from '../../../crds/devinstance/bootstrap/sshd.ts'
import { ENABLED } from '../../../crds/devinstance/bootstrap/units.ts'
import type { Surroundings } from '../../../crds/devinstance/life/context.ts'
import { reserved } from '../../../crds/devinstance/life/effects.ts'
import type { DecidedCall } from '../../../crds/devinstance/life/rebuilt.ts'
import type { DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import { decide } from '../../../crds/devinstance/life/transitions.ts'
import type { DevInstanceResource } from '../../../crds/devinstance/plan.ts'
import type { Said, Trigger } from '../../../crds/devinstance/protocol.ts'
import type { DevInstanceSpec } from '../../../crds/devinstance/schema.ts'
import { PRICING_VERSION } from '../../../crds/devinstance/sizing/prices.ts'
import { instanceTypeOf } from '../../../crds/devinstance/sizing/sizes.ts'
import { PROGRAMS_VERSION } from '../../../crds/devinstance/standing/launch.ts'

/** Boxes and what is said of them, for tests of pure functions. */

export const T0 = '2026-11-22T10:00:00.000Z'
export const later = (ms: number, from = T0): string => new Date(Date.parse(from) + ms).toISOString()
export const minutes = (n: number): number => n * 60_000
/** The resource. @param going it is being deleted */
export const anInstance = (change: Partial<DevInstanceSpec> = {}, going = false): DevInstanceResource => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'DevInstance',
  metadata: {
    name: 'dev-1',
    namespace: 'bottega',
    uid: 'uid-1',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: T0,
    ...(going && { deletionTimestamp: T0 }),
  },
  spec: { account: 'demo', sizeClass: 'S', arch: 'arm64', agents: ['codex'], ...change },
})

export const BOOTSTRAP = 'ab'.repeat(32)
export const INSTANCE = 'i-0123456789abcdef0'
export const HOST_KEY = `SHA256:${'one'.padEnd(43, 'A')}`
export const FIRST = { publicIp: '198.51.100.1', eipAllocId: 'eipalloc-1' }
export const SECOND = { publicIp: '198.51.100.2', eipAllocId: 'eipalloc-2' }
export const CLEAN: Surroundings = { git: null }

export const PROFILE = {
  commit: 'abcdef0',
  scannedAt: T0,
  trackedFiles: 10,
  trackedBytes: 1000,
  gitPackBytes: 1000,
  lfsBytes: 0,
  lockfileBytes: 0,
  resolvedPackages: 0,
  workspacePackages: 0,
  testFiles: 0,
  testParallelism: 0,
}

export const aDevInstance = (change: Partial<DevInstanceRow> = {}): DevInstanceRow => ({
  ...reserved({
    spec: { account: 'demo', name: 'october', sizeClass: 'S', arch: 'arm64', agents: ['codex'] },
    fallbackName: 'dev-1',
    pricingVersion: PRICING_VERSION,
    bootstrapSha256: BOOTSTRAP,
    programs: PROGRAMS_VERSION,
    at: T0,
  }),
  ...change,
})

/** A call that the table accepts, where there is one. */
export const good = (instance: DevInstanceRow): { [T in Trigger]: Said[T] } => {
  const { version } = instance
  const to = { sizeClass: 'M', diskGb: 80 } as const
  return {
    provisioning: { instanceId: INSTANCE },
    token: { hash: 'cd'.repeat(32) },
    finalize: finalizeOf(instance),
    started: instance.eipAllocId === null ? { version, ...SECOND } : { version },
    stopped: { version },
    resizing: { version, ...to },
    resized: { version, ...(instance.intent?.to ?? to), verifiedDf: '500G', state: 'stopped' },
    renamed: { version, name: 'november' },
    'eip-released': { version, allocationId: instance.eipAllocId ?? instance.held[0]?.eipAllocId ?? FIRST.eipAllocId },
    terminated: { version, instanceGone: true, eipGone: true, volumesGone: true },
    starting: { version },
    halting: { version },
    terminating: { version, acknowledgeWorkAtRisk: true },
    stopping: { reason: 'idle' },
    awake: {},
    attested: attestedOf(instance),
    policy: { policy: { idleMinutes: 45, autoscale: 'never' } },
    'wish-power': { generation: 2, wish: 0, power: instance.state === 'running' ? 'stopped' : 'running' },
    'wish-size': { generation: 2, wish: 0, sizeClass: 'M', diskGb: null },
    lapse: {},
    'override-lapse': {},
    'cap-override': {},
    repo: { version, repo: { url: 'https://git.acme.test/a.git' }, profile: PROFILE },
    measurements: { peakRssGb: '2.5', diskUsedGb: '12' },
    env: { key: 'env:1', keys: ['TOKEN'] },
    share: { teamId: 'studio' },
    unshare: { teamId: 'studio' },
    delete: {},
  }
}

export const finalizeOf = (instance: DevInstanceRow): Said['finalize'] => ({
  instanceId: instance.instanceId ?? INSTANCE,
  ...FIRST,
  facts: {
    instanceType: instanceTypeOf(instance),
    arch: instance.arch,
    diskGb: instance.diskGb,
    volumeType: 'gp3',
    volumeEncrypted: true,
    httpTokens: 'required',
    hopLimit: 1,
    creditMode: 'standard',
    shutdownBehavior: 'stop',
    userDataSha256: instance.bootstrapSha256,
    cloudInitStatus: 0,
    hostKeys: [HOST_KEY],
    listeners: [22],
    units: [...ENABLED],
    openAccounts: [],
    agents: Object.fromEntries(instance.agents.map((id: AgentId) => [id, AGENTS[id].version])),
  },
  assertions: Object.fromEntries(SSHD_SETTINGS.map(({ keyword, value }) => [keyword.toLowerCase(), value])),
})

/** As it was finalized. */
export const attestedOf = (instance: DevInstanceRow): Said['attested'] => {
  const { facts, assertions } = finalizeOf(instance)
  const { hostKeys = [], units = [], openAccounts = [], agents = {} } = facts
  return { facts: { hostKeys, units, openAccounts, agents }, assertions }
}

type Life = { instance: DevInstanceRow; calls: DecidedCall[] }

/** What was reserved: the first fact of every life. */
const BEGIN: DecidedCall = {
  trigger: 'reserve',
  said: {
    spec: { account: 'demo', name: 'october', sizeClass: 'S', arch: 'arm64', agents: ['codex'] },
    fallbackName: 'dev-1',
    pricingVersion: PRICING_VERSION,
    bootstrapSha256: BOOTSTRAP,
    programs: PROGRAMS_VERSION,
    at: T0,
  },
  at: T0,
  around: CLEAN,
}

/** A life that goes on with these calls, each of them accepted. */
const lived = (life: Life, ...triggers: Trigger[]): Life =>
  triggers.reduce(({ instance, calls }, trigger, index) => {
    const call = { trigger, said: good(instance)[trigger], at: later(1000 * (index + 1)), around: CLEAN }
    const decision = decide(trigger, { instance, ...call })
    if (decision.state !== 'accepted') throw new Error(`${trigger} in ${instance.state}: ${JSON.stringify(decision)}`)
    return { instance: decision.instance, calls: [...calls, call as DecidedCall] }
  }, life)

/** The dev instance after these calls, each of them accepted. */
export const after = (instance: DevInstanceRow, ...triggers: Trigger[]): DevInstanceRow =>
  lived({ instance, calls: [] }, ...triggers).instance

const TO_READY: Trigger[] = ['provisioning', 'token', 'finalize']
const LIVES: readonly Trigger[][] = [
  [],
  ['provisioning'],
  ['provisioning', 'token'],
  TO_READY,
  [...TO_READY, 'started'],
  [...TO_READY, 'stopped'],
  [...TO_READY, 'stopped', 'resizing'],
  [...TO_READY, 'terminated'],
]

/** One life up to each state, with all that was said. */
export const livesOf = (): Life[] =>
  LIVES.map((triggers) => lived({ instance: aDevInstance(), calls: [BEGIN] }, ...triggers))

/** One dev instance in each state. */
export const inEachState = (): DevInstanceRow[] => livesOf().map(({ instance }) => instance)

/** A new line of a .pub file. */
export const publicKey = (): string => {
  const { publicKey: key } = generateKeyPairSync('ed25519')
  const raw = key.export({ type: 'spki', format: 'der' }).subarray(-32)
  const string = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  const blob = Buffer.concat([string(Buffer.from('ssh-ed25519')), string(raw)])
  return `ssh-ed25519 ${blob.toString('base64')}`
}
