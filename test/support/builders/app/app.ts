import { NO_PREVIEWS, type PreviewRow } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import { NO_RUNS } from '../../../../crds/app/runs/run.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import {
  type AppIntent,
  type AppObservation,
  type AppWorld,
  DEPLOY_STEPS,
  type Operation,
  type Release,
  SCALE_STEPS,
} from '../../../../crds/app/world.ts'
import type { OwnName } from '../../../../crds/names/name.ts'

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
    routing: 'managed',
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
  containers: [],
  hasRoute: null,
  badSince: null,
  ...change,
})

export const DEFAULT_BUDGET = { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 10 }

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
    budget: DEFAULT_BUDGET,
    capacity: null,
    remapsUsers: true,
    isCordoned: false,
  },
  home: 'local',
  wanted: 'local',
  places: [{ host: 'local', place: 'home', until: null }],
  moving: null,
  leaving: {},
  slugHolder: NAME,
  room: { held: DEFAULT_BUDGET, others: { cpuMillis: 0, memoryMib: 0, diskGib: 0 } },
  budgetRefusal: null,
  operations: [],
  releases: [],
  env: null,
  passwordVersion: null,
  hasRows: false,
  route: null,
  job: null,
  retiring: {},
  requests: {},
  look: null,
  before: null,
  episode: null,
  uploadedAt: null,
  unreachable: null,
  logs: [],
  naming: { names: [], taken: [], rules: { baseDomains: ['apps.test'], testDomains: true }, address: '192.0.2.1' },
  previews: NO_PREVIEWS,
  linksEnded: 0,
  reach: null,
  runs: { ...NO_RUNS, jobs: {} },
  backups: [],
  backupJobs: {},
  publicUrl: 'https://platform.test',
  gateToken: 'app-1.mac',
  ...change,
})

/** The app itself, as a preview of another one. */
export const aPreview = (change: Partial<PreviewRow> = {}): PreviewRow => ({
  app: NAME,
  parent: 'app-live',
  ref: 'feature/basket',
  createdAt: AT,
  expiresAt: '2026-11-29T10:00:00.000Z',
  endedAt: null,
  reason: null,
  ...change,
})

/** A proven domain that leads to the host. */
export const anOwnName = (name: string, change: Partial<OwnName> = {}): OwnName => ({
  name,
  settled: true,
  state: 'verified',
  proof: 'txt',
  changedAt: AT,
  seenAt: AT,
  missingSince: null,
  until: null,
  lookedAt: AT,
  dueAt: null,
  reason: null,
  routed: false,
  spare: false,
  checks: [
    { name: `_bottega-challenge.${name}`, type: 'TXT', expected: 't', seen: ['t'], ok: true },
    { name, type: 'A', expected: '192.0.2.1', seen: ['192.0.2.1'], ok: true },
    { name, type: 'CAA', expected: 'none', seen: [], ok: true },
  ],
  records: [{ type: 'TXT', name: `_bottega-challenge.${name}`, value: 't' }],
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
    steps: (intent.kind === 'scale' ? SCALE_STEPS : DEPLOY_STEPS).map((name) => ({
      name,
      state: 'pending',
      startedAt: null,
      endedAt: null,
      message: null,
    })),
    commands: null,
    runs: [],
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
