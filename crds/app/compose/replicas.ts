/**
 * Containers of the routed service side by side: how many, how each is called, and where each listens
 * (rules/app.md#replicas). A service has no dot in its name, so no replica is called like another service.
 */
import type { Project } from './project.ts'

/** `web`, then `web.2`, `web.3`, … */
export const replicaName = (service: string, place: number): string => (place === 1 ? service : `${service}.${place}`)

/** `web.3` is `web`. */
export const serviceOfReplica = (name: string): string => name.split('.')[0] ?? name

/** What the service is called in the compose project of a release, replica by replica. */
export const replicaKeys = (service: string, release: number, count: number): string[] =>
  Array.from({ length: count }, (_, place) => `${replicaName(service, place + 1)}-r${release}`)

/** How many run of a project's routed service. */
export const replicasIn = ({ replicas = 1 }: Pick<Project, 'replicas'>): number => replicas

/** An address of a release is that of each replica, in their order, by commas. */
export const addressesIn = (address: string | null): string[] => (address ? address.split(',') : [])

export const joinedAddress = (addresses: readonly string[]): string => addresses.join(',')
