/** Objects and events as the API server sends them. */

/** By its own name here: who asks for the lease alone needs no client with it. */
export const LEASE = { kind: 'Lease', plural: 'leases', group: 'coordination.k8s.io', version: 'v1' } as const

/** The least that any object of the API server has. */
export type AnyObject = {
  metadata: {
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    generation?: number
    creationTimestamp?: string
    deletionTimestamp?: string
    finalizers?: string[]
    labels?: Record<string, string>
    annotations?: Record<string, string>
    managedFields?: unknown
  }
}

export type WatchEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: AnyObject }
