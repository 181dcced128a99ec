/**
 * Whether what goes was deleted by somebody. A definition or a namespace that is removed takes every resource with it, and to
 * the watch each looks like one that was deleted: nobody meant it.
 */

import { GROUP } from '../../crds/kernel/object.ts'
import { CLUSTER_NAMESPACE } from '../../crds/kernel/platform.ts'
import { makeBatch } from '../base/batch.ts'
import { isNotFound } from '../base/errors.ts'
import type { KindRef, Kube, Ref } from './kube.ts'
import type { AnyObject } from './objects.ts'

const DEFINITION: KindRef = {
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  group: 'apiextensions.k8s.io',
}
export const NAMESPACE: KindRef = { kind: 'Namespace', plural: 'namespaces', group: '', version: 'v1' }

/** True when a resource of the kind that has just gone was deleted for itself. @throws KubeError when nobody can say */
export type Witness = (kind: KindRef) => Promise<boolean>

/** Each answer was asked for after the question came; those that come together share it. */
export const makeWitness = ({ kube, namespace }: { kube: Pick<Kube, 'get'>; namespace: string }): Witness => {
  const isStaying = (kind: KindRef, ref: Ref): Promise<boolean> =>
    kube.get<AnyObject>(kind, ref).then(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
      (error: unknown) => {
        if (isNotFound(error)) return false
        throw error
      },
    )
  return makeBatch<KindRef, boolean>({
    async run(kinds) {
      const names = new Set(kinds.map(({ plural, group = GROUP }) => `${plural}.${group}`))
      const staying = new Map<string, boolean>()
      const isHome = await isStaying(NAMESPACE, { namespace: '', name: namespace })
      for (const name of names) {
        staying.set(name, isHome && (await isStaying(DEFINITION, { namespace: '', name })))
      }
      return kinds.map(({ plural, group = GROUP }) => staying.get(`${plural}.${group}`) ?? false)
    },
  })
}

/** @throws KubeError */
export const clusterUidOf = async (kube: Pick<Kube, 'get'>): Promise<string> => {
  const { metadata } = await kube.get<AnyObject>(NAMESPACE, { namespace: '', name: CLUSTER_NAMESPACE })
  if (metadata.uid === undefined) throw new Error(`the namespace ${CLUSTER_NAMESPACE} has no uid`)
  return metadata.uid
}
