/** What the watch holds of the kinds. */

import type { AccountStatus } from '../../crds/account/schema.ts'
import type { Kind } from '../../crds/kernel/kind.ts'
import type { CommonStatus, Resource } from '../../crds/kernel/object.ts'
import type { Index } from '../kube/indexer.ts'
import type { Cache } from '../kube/watch.ts'

/** What the watch holds of a kind. */
export type Held<O> = Pick<Cache<O>, 'get' | 'list' | 'subscribe'>

/** What every process of the controllers keeps, leader or not, so that a standby takes over warm. */
export type Caches = {
  of<Spec, Status extends CommonStatus>(kind: Kind<Spec, Status>): Cache<Resource<Spec, Status>>
  byKind: ReadonlyMap<string, Cache<AnyResource>>
  /** By kind: an index for each line of what it follows (kind-controller.ts). */
  followers: ReadonlyMap<string, readonly Index[]>
  /** What is served is listed. A kind without a definition is not waited for: it is picked up when it appears. */
  synced: Promise<unknown>
  /** Kinds that the API server does not know just now: nothing is said of any of their resources. */
  unserved(): string[]
  /** All others. */
  served(): ReadonlyMap<string, Cache<AnyResource>>
  stop(): Promise<unknown>
}

/** Any resource, as those see it who handle all kinds alike. */
export type AnyResource = Resource<{ account?: string }>

/** What resources of an account name it by. */
export const keyOfAccount = ({ metadata, status }: AnyResource): string =>
  (status as AccountStatus | undefined)?.key ?? metadata.name
