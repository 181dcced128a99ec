/** What is kept of a resource beside the cluster: what was asked, and no more (hack/decisions/037). */
import { GROUP, type Meta, RECONCILE_REQUESTED_AT } from '../object.ts'

/** `annotations` are ours alone; a spec holds no secret. */
export type Desire = {
  labels: Record<string, string>
  annotations: Record<string, string>
  spec: unknown
}

/** The newest that is kept of a resource. Instants are ISO. */
export type KeptDesire = Desire & {
  kind: string
  name: string
  uid: string
  /** The uid that its rows know it by. */
  origin: string
  generation: number
  account: string
  createdAt: string
}

const isOurs = (name: string): boolean => name.startsWith(`${GROUP}/`) && name !== RECONCILE_REQUESTED_AT

export const desireOf = ({ metadata, spec }: { metadata: Meta; spec: unknown }): Desire => ({
  labels: metadata.labels ?? {},
  annotations: Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => isOurs(name))),
  spec,
})

/** The uid that the rows of a resource know it by: its own, unless it stands for one that was lost. */
export const originOf = ({ uid, origin }: Pick<Meta, 'uid' | 'origin'>): string => origin ?? uid
