/** What is kept of the resources of a kind beside the cluster, as its passes ask for it (hack/decisions/037). */
import { ACCOUNT } from '../../crds/account/kind.ts'
import { desireOf, type KeptDesire } from '../../crds/kernel/desire/desire.ts'
import { objectOf } from '../../crds/kernel/desire/rebuild.ts'
import { PLATFORM } from '../../crds/kernel/fields.ts'
import type { Kind } from '../../crds/kernel/kind.ts'
import type { KeptBeside } from '../runtime/contract.ts'
import type { Desires, Origin } from '../store/ledger/desires.ts'
import { type AnyResource, keyOfAccount } from './held.ts'

/** Whose a resource is; what belongs to no account is the platform's own. */
export const accountOf = (kind: string, object: AnyResource): string =>
  kind === ACCOUNT.kind ? keyOfAccount(object) : (object.spec.account ?? PLATFORM)

/** A resource that is not in the cluster, made from what is kept of it: without a status, and with nothing to wait for. */
export const lostResource = (desire: KeptDesire, namespace: string, finalizer?: string): AnyResource => {
  const { metadata, spec, ...of } = objectOf(desire, namespace)
  const { uid, origin, generation, createdAt } = desire
  return {
    ...of,
    metadata: {
      ...metadata,
      ...{ uid, origin, generation },
      resourceVersion: '',
      creationTimestamp: createdAt,
      finalizers: finalizer === undefined ? [] : [finalizer],
      isLost: true,
    },
    spec: spec as AnyResource['spec'],
  }
}

type Given = {
  kind: Kind
  namespace: string
  desires: Desires
  /** It finds by itself what a new resource goes on as. */
  hasOwnLives: boolean
  /** Its rows go on though there is no resource. */
  goesOnWithout: boolean
}

export const keptOf = ({ kind: { kind, finalizer }, namespace, desires, ...given }: Given): KeptBeside<AnyResource> => {
  /** By uid. It does not change while the resource is there. */
  const origins = new Map<string, Origin>()
  const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1)
  const learn = async (object: AnyResource): Promise<Origin> => {
    const { name, uid } = object.metadata
    const known = origins.get(uid)
    if (known) return known
    const origin = await desires.originOf({ kind, name, uid, account: accountOf(kind, object) })
    origins.set(uid, origin)
    return origin
  }
  return {
    async known(object) {
      if (given.hasOwnLives) return object
      const { origin, createdAt } = await learn(object)
      const { metadata } = object
      if (origin === metadata.uid) return object
      return {
        ...object,
        metadata: { ...metadata, origin, creationTimestamp: createdAt ?? metadata.creationTimestamp },
      }
    },
    async stored(key) {
      if (!given.goesOnWithout) return null
      const desire = await desires.stored({ kind, name: nameOf(key) })
      return desire && lostResource(desire, namespace, finalizer)
    },
    async keep(object) {
      const { name, uid, generation, creationTimestamp: createdAt } = object.metadata
      const desire = desireOf(object)
      await desires.keep({ kind, name, uid, generation, account: accountOf(kind, object), createdAt, desire })
    },
    async deleted(key, seen) {
      const of = { kind, name: nameOf(key) }
      if (seen === null) await desires.see({ ...of, uid: null, generation: null, how: 'absent' })
      else await desires.see({ ...of, uid: seen.uid, generation: seen.generation, how: 'seen' })
      if (seen) origins.delete(seen.uid)
    },
  }
}
