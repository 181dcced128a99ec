/** The host as REST shows it (rules/host.md#who-sees-a-host). Who may see where it is decides the route. */
import type { CommonStatus, Resource } from '../kernel/object.ts'
import type { Verdict } from '../kernel/plan.ts'
import { toRest } from '../kernel/rest.ts'
import { BUILDER, GATE, REGISTRIES } from './builds.ts'
import { type Amounts, capacityOf, OVERCOMMIT } from './capacity.ts'
import { problemsOf } from './inspect.ts'
import { buildsOf } from './isolation.ts'
import { type HostPlan, type HostWorld, restartOf } from './plan.ts'
import { budgetOf, proxyOf } from './proxy.ts'
import type { EngineRestart } from './restart.ts'
import {
  type HostCertificate,
  type HostPhase,
  type HostSpec,
  type HostSpecClass,
  type HostStatus,
  spec as specSchema,
} from './schema.ts'

export type InspectionView = {
  ok: boolean
  /** What is to be repaired, in sentences. */
  problems: string[]
  arch: string | null
  versions: Record<string, string>
  disk: { total_gib: number; free_gib: number } | null
  isolation: Required<NonNullable<HostStatus['isolation']>>
  /** What a restart of its Docker does to apps; `detail`: in a sentence, with what to do, '' where it does nothing. */
  engine_restart: { does: EngineRestart; detail: string }
}

export type HostView = {
  id: string
  name: string
  class: HostSpecClass
  address: string
  /** Where visitors reach it. */
  public_address: string
  port: number
  user: string
  host_key: string
  host_key_fingerprint: string
  host_key_status: 'unverified' | 'pinned' | 'changed'
  approved: boolean
  /** Why its approval was withdrawn; null where it was not. */
  withdrawn: string | null
  /** It takes nothing new. */
  cordoned: boolean
  state: HostPhase
  /** Null before the first one. */
  inspection: InspectionView | null
  base_domain: string | null
  takes_sites: boolean
  site_root: string | null
  proxy: Record<string, unknown>
  budget: Record<string, unknown>
  /** What all apps may have together; null before it was inspected. */
  capacity: { cpu_millis: number; memory_mib: number; disk_gib: number } | null
  overcommit: Record<string, unknown>
  /** That builds take images from. */
  registries: readonly string[]
  /** Hosts that builds reach beside these; null: every public address. */
  packages: readonly string[] | null
  /** The image that builds run in, and the one that they go through where packages are named. */
  builder: string
  gate: string
  certificates: { hostname: string; state: HostCertificate['state']; not_after: string | null; issuer: string | null }[]
  /** What a person must do; null when nothing. */
  stalled: { code: string; detail: string } | null
  fact_seq: number
  created_at: string
  version: number
}

/** What only the owner and administrators are shown: how to get in. */
const WAY_IN = [
  'address',
  'public_address',
  'port',
  'user',
  'host_key',
  'host_key_fingerprint',
  'proxy',
  'site_root',
] as const

/** For those who may put apps on the host and do not run it. */
export const withoutWayIn = (view: HostView): Partial<HostView> =>
  Object.fromEntries(Object.entries(view).filter(([field]) => !(WAY_IN as readonly string[]).includes(field)))

const inspectionOf = (
  spec: HostSpec,
  { inspection, guard }: HostWorld,
  { disk }: HostPlan['status'],
): InspectionView | null => {
  if (inspection?.reach !== 'ok') return null
  const { findings } = inspection
  const faults = guard.state === 'faulty' ? [guard.detail] : []
  const problems = [...problemsOf(findings), ...faults]
  const { totalGib = 0, freeGib = 0 } = disk ?? {}
  return {
    ok: problems.length === 0,
    problems,
    arch: findings.arch,
    versions: findings.versions,
    disk: { total_gib: totalGib, free_gib: freeGib },
    isolation: {
      network: guard.state === 'stands' ? 'guarded' : 'open',
      users: findings.users,
      builds: buildsOf(findings.users),
    },
    engine_restart: restartOf(spec, findings, guard),
  }
}

const keyStatusOf = ({ inspection }: HostWorld): HostView['host_key_status'] => {
  if (inspection?.reach === 'key') return 'changed'
  return inspection?.reach === 'ok' || inspection?.reach === 'login' ? 'pinned' : 'unverified'
}

const stalledOf = (verdict: Verdict): HostView['stalled'] =>
  verdict.state === 'stalled' ? { code: verdict.code, detail: verdict.message.replace(/^[A-Z_]+: /, '') } : null

export const viewAmounts = (amounts: Amounts | null): HostView['capacity'] =>
  amounts && { cpu_millis: amounts.cpuMillis, memory_mib: amounts.memoryMib, disk_gib: amounts.diskGib }

type Viewed = Pick<Resource<HostSpec, HostStatus & CommonStatus>, 'metadata' | 'spec'>

export const viewHost = ({ metadata, spec }: Viewed, world: HostWorld, { status, verdict }: HostPlan): HostView => ({
  id: metadata.name,
  name: spec.name === '' ? metadata.name : spec.name,
  class: spec.class,
  address: spec.address,
  public_address: spec.publicAddress ?? spec.address,
  port: spec.port,
  user: spec.user,
  host_key: spec.hostKey,
  host_key_fingerprint: status.hostKeyFingerprint ?? '',
  host_key_status: keyStatusOf(world),
  approved: spec.approved,
  withdrawn: spec.withdrawn ?? null,
  cordoned: spec.cordoned,
  state: status.phase,
  inspection: inspectionOf(spec, world, status),
  base_domain: spec.baseDomain ?? null,
  takes_sites: spec.takesSites,
  site_root: spec.siteRoot ?? null,
  proxy: toRest(specSchema.properties.proxy, proxyOf(spec)),
  budget: toRest(specSchema.properties.budget, budgetOf(spec)),
  capacity: viewAmounts(capacityOf(spec, status)),
  overcommit: toRest(specSchema.properties.overcommit, { ...OVERCOMMIT, ...spec.overcommit }),
  registries: spec.registries ?? REGISTRIES,
  packages: spec.packages ?? null,
  builder: spec.builder ?? BUILDER,
  gate: spec.gate ?? GATE,
  certificates: (status.certificates ?? []).map(({ hostname, state, notAfter, issuer }) => ({
    hostname,
    state,
    not_after: notAfter ?? null,
    issuer: issuer ?? null,
  })),
  stalled: stalledOf(verdict),
  fact_seq: world.factSeq,
  created_at: metadata.creationTimestamp,
  version: metadata.generation,
})
