import type { EventNamed, KnownRelease, OperationContext, OperationEvent } from '../../../crds/app/lifecycle/events.ts'
import { decide } from '../../../crds/app/lifecycle/transitions.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import type { AppStep } from '../../../crds/app/steps.ts'
import {
  type AppIntent,
  type AppObservation,
  type AppWorld,
  DEPLOY_STEPS,
  type JobState,
  type Operation,
  type Release,
} from '../../../crds/app/world.ts'

/** Builders for an app and the world around it, and a model of what the ledger and the host make of each step. */

export const AT = '2026-11-22T10:00:00.000Z'
export const NOW = new Date(AT)
export const NAME = 'app-1'

export const anApp = (
  spec: Partial<AppResource['spec']> = {},
  more: Partial<AppResource['metadata']> = {},
): AppResource => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'App',
  metadata: {
    name: NAME,
    namespace: 'test',
    uid: '11111111-2222-3333-4444-555555555555',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: AT,
    ...more,
  },
  spec: {
    account: 'demo',
    slug: 'shop',
    hostId: 'local',
    access: 'public',
    applicationPolicy: 'none',
    asked: 0,
    volumesOnDelete: 'keep',
    ...spec,
  },
})

/** A release that runs and answers. */
export const aLook = (change: Partial<AppObservation> = {}): AppObservation => ({
  at: AT,
  address: '127.0.0.1:30001',
  dial: null,
  running: ['web'],
  stopped: [],
  http: 200,
  disk: null,
  ...change,
})

export const aWorld = (change: Partial<AppWorld> = {}): AppWorld => ({
  account: { name: 'demo', capabilities: ['app.deploy'] },
  host: {
    name: 'local',
    account: null,
    class: 'shared',
    approved: true,
    ready: true,
    arch: 'amd64',
    baseDomain: 'apps.test',
    siteRoot: null,
    httpsPort: 443,
    budget: { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 10 },
    remapsUsers: true,
  },
  slugHolder: NAME,
  operations: [],
  releases: [],
  env: null,
  passwordVersion: null,
  route: null,
  job: null,
  retiring: {},
  requests: {},
  look: null,
  unreachable: null,
  logs: [],
  publicUrl: 'https://platform.test',
  gateToken: 'app-1.mac',
  ...change,
})

const DEPLOY: AppIntent = { kind: 'deploy', digest: 'a'.repeat(64), envVersion: null, volumes: [] }

export const anOperation = (change: Partial<Operation> = {}): Operation => {
  const intent = change.intent ?? DEPLOY
  return {
    id: `op-${change.n ?? 1}`,
    app: NAME,
    account: 'demo',
    n: 1,
    kind: intent.kind,
    intent,
    byController: false,
    state: 'queued',
    release: null,
    code: null,
    message: null,
    createdAt: AT,
    startedAt: null,
    endedAt: null,
    cancelAt: null,
    switchAt: null,
    steps: DEPLOY_STEPS.map((name) => ({ name, state: 'pending', startedAt: null, endedAt: null, message: null })),
    ...change,
  }
}

export const aRelease = (number: number, change: Partial<Release> = {}): Release => ({
  number,
  id: `rel-${number}`,
  operation: `op-${number}`,
  state: 'live',
  reason: null,
  logTail: null,
  restoredFrom: null,
  source: 'a'.repeat(64),
  envVersion: null,
  record: {
    images: [{ service: 'web', name: 'shop/web', id: `sha256:${'1'.repeat(64)}` }],
    project: `shop-r${number}`,
  },
  digest: 'd',
  address: `127.0.0.1:${30_000 + number}`,
  createdAt: AT,
  liveAt: AT,
  supersededAt: null,
  retiredAt: null,
  ...change,
})

/** How the host answers: what each job ends with. */
export type Fate = { images: JobState; start: JobState }

const withOperation = (world: AppWorld, changed: Operation): AppWorld => ({
  ...world,
  operations: world.operations.map((one) => (one.id === changed.id ? changed : one)),
})

const withRelease = (world: AppWorld, number: number, change: Partial<Release>): AppWorld => ({
  ...world,
  releases: world.releases.map((one) => (one.number === number ? { ...one, ...change } : one)),
})

/** What a decision about an operation rests on in this world. */
export const contextIn = (world: AppWorld, operation: Operation): OperationContext => ({
  operation,
  release: world.releases.find(({ number }) => number === operation.release) ?? null,
  live: world.releases.find(({ state }) => state === 'live') ?? null,
  lastRelease: Math.max(0, ...world.releases.map(({ number }) => number)),
  running: world.operations.find(({ state }) => state === 'running')?.id ?? null,
})

/** The world after an event, by the rows that the ledger has; the same one when it is refused. */
export const happened = (world: AppWorld, { id }: Pick<Operation, 'id'>, event: OperationEvent): AppWorld => {
  const operation = world.operations.find((one) => one.id === id)
  const decision = operation && decide(event, contextIn(world, operation), AT)
  if (decision?.state !== 'accepted') return world
  const { releases } = decision
  const made = releases.filter(({ number }) => world.releases.every((one) => one.number !== number))
  const kept = world.releases.map((one) => releases.find(({ number }) => number === one.number) ?? one)
  return withOperation({ ...world, releases: [...made, ...kept] }, decision.operation)
}

const passed = (
  world: AppWorld,
  operation: Operation,
  step: EventNamed<'passed'>['step'],
  known: KnownRelease = {},
) => ({
  ...happened(world, operation, { on: 'passed', step, known, message: null }),
  job: { state: 'absent' } as const,
})

/** What the world is after a step. A job is over as soon as it has begun. */
export const stepped = (world: AppWorld, step: AppStep, fate: Fate): AppWorld => {
  switch (step.do) {
    case 'takeSlug':
      return { ...world, slugHolder: NAME }
    case 'ask': {
      const n = Math.max(0, ...world.operations.map((one) => one.n)) + 1
      const asked = anOperation({ id: step.id, n, intent: step.intent, byController: true })
      return { ...world, operations: [...world.operations, asked] }
    }
    case 'begin': {
      const { source, envVersion, restoredFrom } = step
      return happened(world, step.operation, { on: 'begun', source, envVersion, restoredFrom })
    }
    case 'check':
    case 'upload':
      return passed(world, step.operation, step.do)
    case 'startJob':
      return { ...world, job: fate[step.step] }
    case 'takeImages': {
      const record = { images: [{ service: 'web', name: 'shop/web', id: `sha256:${'2'.repeat(64)}` }] }
      return passed(world, step.operation, 'images', { record, state: 'starting' })
    }
    case 'takeAddress':
      return passed(world, step.operation, 'start', { address: step.address })
    case 'claimSwitch':
      return happened(world, step.operation, { on: 'claimed' })
    case 'setRoute':
      return {
        ...withRelease(world, step.release, { address: step.address }),
        route: { digest: step.digest, address: step.address },
        look: world.look && { ...world.look, dial: step.dialFile && step.address },
      }
    case 'goLive':
      return { ...happened(world, step.operation, { on: 'switched' }), look: null }
    case 'end': {
      const { state, code, message, log } = step
      return happened(world, step.operation, { on: state, code, message, log })
    }
    case 'takeDown':
      return { ...world, retiring: { ...world.retiring, [step.release.number]: ENDED_WELL } }
    case 'retire':
      // The operation that made it may be too long ago to be among those of the world.
      return withRelease(world, step.release.number, { retiredAt: AT })
    case 'removeRoute':
      return { ...world, route: null }
    case 'clear':
      return { ...world, job: ENDED_WELL }
    case 'forget':
      return { ...world, slugHolder: null, operations: [], releases: [] }
    case 'cancelJob':
      return world
    case 'fetchLogs':
      return { ...world, logs: [] }
    default:
      return step satisfies never
  }
}

export const ENDED_WELL: JobState = { state: 'exited', code: 0, log: '', cancelled: false }
export const GOOD: Fate = {
  images: { ...ENDED_WELL, log: `bottega: image sha256:${'2'.repeat(64)} amd64\n` },
  start: { ...ENDED_WELL, log: 'up\nbottega: address 127.0.0.1:40001\n' },
}
