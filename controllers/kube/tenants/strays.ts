/** What stands where nobody works on it: its account is bound to another namespace, or its name is another's. Nothing of it is forgotten. */
import type { Stray } from '../../../crds/account/tenants.ts'
import type { KindRef } from '../kube.ts'
import type { AnyObject } from '../objects.ts'

/** `object` as the API server has it, with the namespace that it stands in. */
export type StrayObject = Stray & { kind: KindRef; namespace: string; object: AnyObject }

export type Strays = {
  list(): StrayObject[]
  /** Of a kind: they are there, whatever else is to be said of them. */
  ofKind(kind: string): StrayObject[]
  /** It is one, as it stands now. */
  put(stray: StrayObject): void
  /** It is none, or not there any more. */
  drop(object: AnyObject): void
}

export const makeStrays = (): Strays => {
  const held = new Map<string, StrayObject>()
  return {
    list: () => [...held.values()],
    ofKind: (kind) => [...held.values()].filter((one) => one.kind.kind === kind),
    put: (stray) => void held.set(stray.object.metadata.uid ?? '', stray),
    drop: ({ metadata }) => void held.delete(metadata.uid ?? ''),
  }
}
