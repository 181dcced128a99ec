/** Who of several namespaces has a name, and what of them is seen inside the platform (hack/decisions/057). */
import {
  isTenanted,
  namespaceOf,
  type Stray,
  strayElsewhere,
  strayTwin,
  type Tenants,
} from '../../../crds/account/tenants.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { isNotFound, KubeError } from '../../base/errors.ts'
import type { KindRef, Kube } from '../kube.ts'
import type { AnyObject } from '../objects.ts'
import type { Strays } from './strays.ts'

export type Claim = { name: string; account: string; uid: string }
/** Which namespace a name lives in, kept by the ledger: the same for all processes, whoever saw it first. */
export type NamePlaces = {
  /** @returns by name which namespace has it */
  claim(kind: string, namespace: string, claims: readonly Claim[]): Promise<Map<string, string>>
  move(kind: string, from: string, to: string, claim: Claim): Promise<boolean>
  find(kind: string, name: string): Promise<string | null>
  leave(kind: string, namespace: string, of: { name: string; uid: string }): Promise<void>
  /** Whether a namespace can be looked into. */
  reach(namespace: string, isReached: boolean): Promise<void>
}

/** `claimed`: it is there, as far as this process knows; else it was there last. */
export type Whereabouts = { namespace: string; claimed: boolean }
export type Gateway = {
  kube: Kube
  tenants: Tenants
  namespaces: readonly string[]
  places: NamePlaces
  where: Map<string, Whereabouts>
  strays: Strays
}
export type Owned = AnyObject & { spec?: { account?: string } }

/** Whose resources live with their account. */
const TENANTED = new Set(KINDS.filter(isTenanted).map(({ plural }) => plural))
/** Names whose namespace is remembered. */
const KNOWN_MAX = 200_000

/** Whether a call is about something that may live in any of the namespaces. */
export const isMany = ({ tenants }: Gateway, { plural, group }: KindRef, namespace: string | undefined): boolean =>
  group === undefined && TENANTED.has(plural) && namespace === tenants.home

export const placeOf = ({ kind }: Pick<KindRef, 'kind'>, name: string): string => `${kind}/${name}`

export const remember = ({ where }: Pick<Gateway, 'where'>, place: string, namespace: string): void => {
  where.delete(place)
  where.set(place, { namespace, claimed: true })
  const [oldest] = where.keys()
  if (where.size > KNOWN_MAX && oldest !== undefined) where.delete(oldest)
}

/** As everybody inside sees it. */
export const insideOf = <R>({ tenants }: Pick<Gateway, 'tenants'>, object: R): R => {
  const { metadata } = object as AnyObject
  return { ...object, metadata: { ...metadata, namespace: tenants.home } }
}

const claimOf = ({ metadata, spec }: Owned): Claim => ({
  name: metadata.name,
  account: spec?.account ?? '',
  uid: metadata.uid ?? '',
})

/** Whether nobody is there any more who has the name; where nobody may look nothing is said. */
const isEmptyAt = async (door: Gateway, kind: KindRef, namespace: string, name: string): Promise<boolean> => {
  if (!door.namespaces.includes(namespace)) return false
  try {
    await door.kube.get(kind, { namespace, name })
    return false
  } catch (error) {
    if (isNotFound(error)) return true
    if (error instanceof KubeError && error.status === 403) return false
    throw error
  }
}

/** Reserves names in a namespace. @returns those that it has; the others are another's, by name and namespace */
export const claimIn = async (
  door: Gateway,
  kind: KindRef,
  namespace: string,
  claims: readonly Claim[],
): Promise<{ own: Set<string>; others: Map<string, string> }> => {
  const own = new Set<string>()
  const others = new Map<string, string>()
  const holders =
    claims.length === 0 ? new Map<string, string>() : await door.places.claim(kind.kind, namespace, claims)
  for (const claim of claims) {
    const holder = holders.get(claim.name) ?? namespace
    const isOwn =
      holder === namespace ||
      ((await isEmptyAt(door, kind, holder, claim.name)) &&
        (await door.places.move(kind.kind, holder, namespace, claim)))
    if (isOwn) own.add(claim.name)
    else others.set(claim.name, holder)
  }
  return { own, others }
}

const setAside = ({ strays }: Gateway, kind: KindRef, namespace: string, object: AnyObject, stray: Stray): null => {
  strays.put({ ...stray, kind, namespace, object })
  return null
}

/** @returns what is seen of it at once; undefined where the ledger has to be asked whose the name is */
export const admitKnown = (
  door: Gateway,
  kind: KindRef,
  namespace: string,
  object: Owned,
): AnyObject | null | undefined => {
  const { account } = object.spec ?? {}
  if (namespaceOf(door.tenants, account) !== namespace)
    return setAside(door, kind, namespace, object, strayElsewhere(account))
  const known = door.where.get(placeOf(kind, object.metadata.name))
  if (known?.claimed !== true || known.namespace !== namespace) return undefined
  return insideOf(door, object)
}

/** In their order; null for what stands where nobody works on it. @throws what the ledger or the API server could not say */
export const admit = async (
  door: Gateway,
  kind: KindRef,
  namespace: string,
  objects: readonly Owned[],
): Promise<(AnyObject | null)[]> => {
  const first = objects.map((object) => admitKnown(door, kind, namespace, object))
  const asked = objects.filter((_, index) => first[index] === undefined)
  const { own } = await claimIn(door, kind, namespace, asked.map(claimOf))
  return objects.map((object, index) => {
    const known = first[index]
    if (known !== undefined) return known
    const { name } = object.metadata
    if (!own.has(name)) return setAside(door, kind, namespace, object, strayTwin(name))
    remember(door, placeOf(kind, name), namespace)
    door.strays.drop(object)
    return insideOf(door, object)
  })
}

/** It went: what it was called is free, and it is still known where it was. */
export const leave = async (door: Gateway, kind: KindRef, namespace: string, object: AnyObject): Promise<void> => {
  const { name, uid = '' } = object.metadata
  door.strays.drop(object)
  const place = placeOf(kind, name)
  if (door.where.get(place)?.namespace === namespace) door.where.set(place, { namespace, claimed: false })
  // what stays reserved is given to whoever asks next, once nobody is found there
  await door.places.leave(kind.kind, namespace, { name, uid }).catch(() => undefined)
}
