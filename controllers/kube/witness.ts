/**
 * Whether what goes was deleted by somebody. A definition or a namespace that is removed takes every resource with it, and to
 * the watch each looks like one that was deleted: nobody meant it. That holds also where the definition is back by the time
 * anybody asks: what is older than it went with the one before.
 */

import { GROUP } from '../../crds/kernel/object.ts'
import { CLUSTER_NAMESPACE } from '../../crds/kernel/platform.ts'
import { makeBatch } from '../base/batch.ts'
import { isNotFound, KubeError } from '../base/errors.ts'
import type { KindRef, Kube, Ref } from './kube.ts'
import type { AnyObject } from './objects.ts'

const DEFINITION: KindRef = {
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  group: 'apiextensions.k8s.io',
}
export const NAMESPACE: KindRef = { kind: 'Namespace', plural: 'namespaces', group: '', version: 'v1' }

export type Witness = {
  /**
   * True when a resource that has just gone was deleted for itself.
   * @param bornAt when it was made; null where that says nothing @throws KubeError when nobody can say
   */
  isDeleted(kind: KindRef, bornAt: string | null, name?: string): Promise<boolean>
  /** When the definition of the kind was made; null where it, or the namespace, is not there or on its way out. @throws KubeError */
  since(kind: KindRef): Promise<string | null>
}

/** Both by the clock of the API server, in whole seconds: what was made in the same one may have stood under the definition. */
export const isOlderThan = (bornAt: string, since: string): boolean => Date.parse(bornAt) < Date.parse(since)

export type WitnessDeps = {
  kube: Pick<Kube, 'get'>
  namespace: string
  /** Where a resource lived, where there are several namespaces. */
  livesIn?: (kind: KindRef, name: string) => string
}

/** Each answer was asked for after the question came; those that come together share it. */
export const makeWitness = ({ kube, namespace, livesIn = () => namespace }: WitnessDeps): Witness => {
  const madeAt = (kind: KindRef, ref: Ref): Promise<string | null> =>
    kube.get<AnyObject>(kind, ref).then(
      ({ metadata }) => (metadata.deletionTimestamp === undefined ? (metadata.creationTimestamp ?? null) : null),
      (error: unknown) => {
        if (isNotFound(error)) return null
        throw error
      },
    )
  /** Where nobody may look any more, the rights went with the namespace. */
  const stands = (name: string): Promise<boolean> =>
    madeAt(NAMESPACE, { namespace: '', name }).then(
      (made) => made !== null,
      (error: unknown) => {
        if (error instanceof KubeError && error.status === 403) return false
        throw error
      },
    )
  const since = makeBatch<KindRef, string | null>({
    async run(kinds) {
      const names = new Set(kinds.map(({ plural, group = GROUP }) => `${plural}.${group}`))
      const made = new Map<string, string | null>()
      const isHome = (await madeAt(NAMESPACE, { namespace: '', name: namespace })) !== null
      for (const name of names) made.set(name, isHome ? await madeAt(DEFINITION, { namespace: '', name }) : null)
      return kinds.map(({ plural, group = GROUP }) => made.get(`${plural}.${group}`) ?? null)
    },
  })
  return {
    since,
    async isDeleted(kind, bornAt, name = '') {
      const made = await since(kind)
      if (made === null || (bornAt !== null && isOlderThan(bornAt, made))) return false
      const where = livesIn(kind, name)
      return where === namespace || (await stands(where))
    },
  }
}

/** @throws KubeError */
export const clusterUidOf = async (kube: Pick<Kube, 'get'>): Promise<string> => {
  const { metadata } = await kube.get<AnyObject>(NAMESPACE, { namespace: '', name: CLUSTER_NAMESPACE })
  if (metadata.uid === undefined) throw new Error(`the namespace ${CLUSTER_NAMESPACE} has no uid`)
  return metadata.uid
}
