/**
 * The shapes that every resource of Bottega shares, as the API server keeps them.
 * Source: rules/platform.md#resources; Kubernetes API conventions.
 */

/** Group, version and category of all kinds (`kubectl get bottega` lists them all). */
export const GROUP = 'bottega.dev'
export const VERSION = 'v1alpha1'
export const CATEGORY = 'bottega'

/** `bottega.dev/paused: "true"` stops the passes over one object. */
export const PAUSED = `${GROUP}/paused`
/** A new value wakes the object's controller: the API appended a fact. */
export const RECONCILE_REQUESTED_AT = `${GROUP}/reconcile-requested-at`

/** What the call that made the object asked for, so that a repeat of it is known even after edits. Written by the API. */
export const CREATED_FROM = `${GROUP}/created-from`

/** What Bottega reads of an object's metadata. */
export type Meta = {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  generation: number
  creationTimestamp: string
  deletionTimestamp?: string
  finalizers?: string[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  /** Never in the cluster: the uid that its rows know it by, where it stands for a resource that was lost (kernel/desire/). */
  origin?: string
  /** Never in the cluster: there is no such resource in it, and this was made from what is kept of it. */
  isLost?: true
}

/** A condition in the kstatus sense. `lastTransitionTime` is an ISO instant with whole seconds. */
export type Condition = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  observedGeneration: number
  lastTransitionTime: string
}

/** The part of every status that the runtime writes; a kind adds its own facts beside it. */
export type CommonStatus = {
  observedGeneration?: number
  factSeq?: number
  phase?: string
  conditions?: Condition[]
}

/** A custom resource. Objects out of the cache are shared: treat them as frozen. */
export type Resource<Spec, Status extends CommonStatus = CommonStatus> = {
  apiVersion: string
  kind: string
  metadata: Meta
  spec: Spec
  status?: Status
}

/** `namespace/name`: what a queue holds. */
export type Key = string

export const keyOf = (meta: Pick<Meta, 'namespace' | 'name'>): Key => `${meta.namespace}/${meta.name}`
