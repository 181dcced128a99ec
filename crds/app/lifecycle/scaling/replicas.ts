/** How many containers of its routed service a release has, as its record says (rules/app.md#replicas). */
import type { Project } from '../../compose/project.ts'
import { replicaKeys } from '../../compose/replicas.ts'
import type { AppSpec } from '../../schema.ts'
import type { ReleaseRecord } from '../../world.ts'

export const wantedReplicas = ({ replicas }: Pick<AppSpec, 'replicas'>): number => replicas ?? 1

/** It may have been scaled since it was sealed. */
export const replicasOf = (record: Pick<ReleaseRecord, 'replicas'> | null | undefined): number => record?.replicas ?? 1

/** The routed service keeps something, or another that does needs it: one of it runs. */
export const isSingle = (record: Pick<ReleaseRecord, 'route' | 'stateful'> | null | undefined): boolean =>
  record?.route !== undefined && (record.stateful ?? []).includes(record.route.service)

/** What takes visitors of a release, as its compose project calls it. */
export const listenersOf = (record: ReleaseRecord | null, release: number): string[] => {
  const { route, listener } = record ?? {}
  if (!route || listener === undefined) return []
  return isSingle(record) ? [listener] : replicaKeys(route.service, release, replicasOf(record))
}

/** A further replica, one that is wanted or not. @param name in the compose project */
export const isReplica = (record: ReleaseRecord | null, name: string): boolean =>
  record?.route !== undefined && name.startsWith(`${record.route.service}.`)

/** The project as it runs. */
export const scaledProject = (project: Project, record: ReleaseRecord | null, count = replicasOf(record)): Project => {
  const limits = record?.limits ?? {}
  const services = project.services.map((service) => ({ ...service, limits: limits[service.name] ?? service.limits }))
  return { ...project, services, replicas: count }
}
