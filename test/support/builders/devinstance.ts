import { AGENTS, type AgentId } from '../../../crds/devinstance/bootstrap/agents.ts'
import { SSHD_SETTINGS } from '../../../crds/devinstance/bootstrap/sshd.ts'
import type { Surroundings } from '../../../crds/devinstance/life/context.ts'
import { reserved } from '../../../crds/devinstance/life/effects.ts'
import type { DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import { decide } from '../../../crds/devinstance/life/transitions.ts'
import type { Said, Trigger } from '../../../crds/devinstance/protocol.ts'
import { PRICING_VERSION } from '../../../crds/devinstance/sizing/prices.ts'
import { instanceTypeOf } from '../../../crds/devinstance/sizing/sizes.ts'

/** Boxes and what is said of them, for tests of pure functions. */

export const T0 = '2026-11-22T10:00:00.000Z'
export const later = (ms: number, from = T0): string => new Date(Date.parse(from) + ms).toISOString()
export const minutes = (n: number): number => n * 60_000
export const BOOTSTRAP = 'ab'.repeat(32)
export const INSTANCE = 'i-0123456789abcdef0'
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
    hostKeys: ['SHA256:one'],
    listeners: [22],
    agents: Object.fromEntries(instance.agents.map((id: AgentId) => [id, AGENTS[id].version])),
  },
  assertions: Object.fromEntries(SSHD_SETTINGS.map(({ keyword, value }) => [keyword.toLowerCase(), value])),
})

/** The dev instance after these calls, each of them accepted. */
export const after = (instance: DevInstanceRow, ...triggers: Trigger[]): DevInstanceRow =>
  triggers.reduce((held, trigger, index) => {
    const decision = decide(trigger, {
      instance: held,
      said: good(held)[trigger],
      at: later(1000 * (index + 1)),
      around: CLEAN,
    })
    if (decision.state !== 'accepted') throw new Error(`${trigger} in ${held.state}: ${JSON.stringify(decision)}`)
    return decision.instance
  }, instance)

const TO_READY: Trigger[] = ['provisioning', 'token', 'finalize']
/** One dev instance in each state. */
export const inEachState = (): DevInstanceRow[] => [
  aDevInstance(),
  after(aDevInstance(), 'provisioning'),
  after(aDevInstance(), 'provisioning', 'token'),
  after(aDevInstance(), ...TO_READY),
  after(aDevInstance(), ...TO_READY, 'started'),
  after(aDevInstance(), ...TO_READY, 'stopped'),
  after(aDevInstance(), ...TO_READY, 'stopped', 'resizing'),
  after(aDevInstance(), ...TO_READY, 'terminated'),
]
