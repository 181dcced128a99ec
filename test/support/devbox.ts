import { AGENTS, type AgentId } from '../../crds/devinstance/agents.ts'
import type { Box } from '../../crds/devinstance/box.ts'
import { reserved } from '../../crds/devinstance/effects.ts'
import { PRICING_VERSION } from '../../crds/devinstance/prices.ts'
import type { Said, Trigger } from '../../crds/devinstance/protocol.ts'
import { instanceTypeOf } from '../../crds/devinstance/sizes.ts'
import { SSHD_SETTINGS } from '../../crds/devinstance/sshd.ts'
import { type Around, decide } from '../../crds/devinstance/transitions.ts'

/** Boxes and what is said of them, for tests of pure functions. */

export const T0 = '2026-11-22T10:00:00.000Z'
export const later = (ms: number, from = T0): string => new Date(Date.parse(from) + ms).toISOString()
export const minutes = (n: number): number => n * 60_000
export const BOOTSTRAP = 'ab'.repeat(32)
export const INSTANCE = 'i-0123456789abcdef0'
export const FIRST = { publicIp: '198.51.100.1', eipAllocId: 'eipalloc-1' }
export const SECOND = { publicIp: '198.51.100.2', eipAllocId: 'eipalloc-2' }
export const CLEAN: Around = { git: null }

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

export const aBox = (change: Partial<Box> = {}): Box => ({
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
export const good = (box: Box): { [T in Trigger]: Said[T] } => {
  const { version } = box
  const to = { sizeClass: 'M', diskGb: 80 } as const
  return {
    provisioning: { instanceId: INSTANCE },
    token: { hash: 'cd'.repeat(32) },
    finalize: finalizeOf(box),
    started: box.eipAllocId === null ? { version, ...SECOND } : { version },
    stopped: { version },
    resizing: { version, ...to },
    resized: { version, ...(box.intent?.to ?? to), verifiedDf: '500G', state: 'stopped' },
    renamed: { version, name: 'november' },
    'eip-released': { version, allocationId: box.eipAllocId ?? box.held[0]?.eipAllocId ?? FIRST.eipAllocId },
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

export const finalizeOf = (box: Box): Said['finalize'] => ({
  instanceId: box.instanceId ?? INSTANCE,
  ...FIRST,
  facts: {
    instanceType: instanceTypeOf(box),
    arch: box.arch,
    diskGb: box.diskGb,
    volumeType: 'gp3',
    volumeEncrypted: true,
    httpTokens: 'required',
    hopLimit: 1,
    creditMode: 'standard',
    shutdownBehavior: 'stop',
    userDataSha256: box.bootstrapSha256,
    cloudInitStatus: 0,
    hostKeys: ['SHA256:one'],
    listeners: [22],
    agents: Object.fromEntries(box.agents.map((id: AgentId) => [id, AGENTS[id].version])),
  },
  assertions: Object.fromEntries(SSHD_SETTINGS.map(({ keyword, value }) => [keyword.toLowerCase(), value])),
})

/** The box after these calls, each of them accepted. */
export const after = (box: Box, ...triggers: Trigger[]): Box =>
  triggers.reduce((held, trigger, index) => {
    const decision = decide(trigger, {
      box: held,
      said: good(held)[trigger],
      at: later(1000 * (index + 1)),
      around: CLEAN,
    })
    if (decision.state !== 'accepted') throw new Error(`${trigger} in ${held.state}: ${JSON.stringify(decision)}`)
    return decision.box
  }, box)

const TO_READY: Trigger[] = ['provisioning', 'token', 'finalize']
/** One box in each state. */
export const inEachState = (): Box[] => [
  aBox(),
  after(aBox(), 'provisioning'),
  after(aBox(), 'provisioning', 'token'),
  after(aBox(), ...TO_READY),
  after(aBox(), ...TO_READY, 'started'),
  after(aBox(), ...TO_READY, 'stopped'),
  after(aBox(), ...TO_READY, 'stopped', 'resizing'),
  after(aBox(), ...TO_READY, 'terminated'),
]
