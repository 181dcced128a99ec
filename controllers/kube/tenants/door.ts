/**
 * The door between one platform and the namespaces of its tenants: inside, a resource is known by its name alone, as in an
 * installation of one namespace; which namespace it lives in is known here and nowhere else (hack/decisions/057). What stands in a
 * namespace that its account is not bound to is shown to nobody inside.
 */
import { namespaceOf, namespacesOf, type Tenants } from '../../../crds/account/tenants.ts'
import { isNotFound, KubeError, NAMESPACE_NOT_SERVED } from '../../base/errors.ts'
import type { KindRef, Kube, NewObject, Ref } from '../kube.ts'
import {
  admit,
  claimIn,
  type Gateway,
  insideOf,
  isMany,
  type NamePlaces,
  type Owned,
  placeOf,
  remember,
} from './admit.ts'
import { makeStrays, type Strays } from './strays.ts'
import { makeList, makeWatch, type Streaming } from './streams.ts'

type GetOptions = Parameters<Kube['get']>[2]

const callOf = ({ plural }: KindRef, { name }: Pick<Ref, 'name'>): string => `get ${plural}/${name}`

const nowhere = (kind: KindRef, ref: Ref): KubeError =>
  new KubeError(callOf(kind, ref), {
    status: 404,
    reason: 'NotFound',
    detail: `${kind.plural} "${ref.name}" not found`,
  })

const notServed = (kind: KindRef, ref: Pick<Ref, 'name'>): KubeError =>
  new KubeError(callOf(kind, ref), { status: 403, reason: NAMESPACE_NOT_SERVED })

/** What is there for a reader; null where there is nothing, or nobody may look. */
const lookIn = async (door: Gateway, kind: KindRef, ref: Ref, timed?: GetOptions): Promise<Owned | null> => {
  try {
    return await door.kube.get<Owned>(kind, ref, timed)
  } catch (error) {
    const isShut = error instanceof KubeError && error.status === 403 && ref.namespace !== door.tenants.home
    if (isNotFound(error) || isShut) return null
    throw error
  }
}

/**
 * Where a name lives: where it was seen, or where the ledger says; one that nobody has seen yet is asked for in each namespace.
 * @throws KubeError NotFound for a name that is nowhere, NamespaceNotServed for one that lives where nobody looks
 */
const locate = async (door: Gateway, kind: KindRef, ref: Ref, timed?: GetOptions): Promise<string> => {
  const place = placeOf(kind, ref.name)
  const known = door.where.get(place)
  if (known?.claimed) return known.namespace
  const kept = await door.places.find(kind.kind, ref.name)
  if (kept !== null) {
    if (!door.namespaces.includes(kept)) throw notServed(kind, ref)
    remember(door, place, kept)
    return kept
  }
  for (const namespace of door.namespaces) {
    const object = await lookIn(door, kind, { ...ref, namespace }, timed)
    const [seen] = object ? await admit(door, kind, namespace, [object]) : [null]
    if (seen) return namespace
  }
  throw nowhere(kind, ref)
}

/** Does something where a resource lives; what is not there any more is looked for once more. */
const there = async <R>(
  door: Gateway,
  kind: KindRef,
  ref: Ref,
  work: (ref: Ref) => Promise<R>,
  timed?: GetOptions,
): Promise<R> => {
  if (!isMany(door, kind, ref.namespace)) return work(ref)
  const namespace = await locate(door, kind, ref, timed)
  try {
    const answer = await work({ ...ref, namespace })
    return answer === undefined ? answer : insideOf(door, answer)
  } catch (error) {
    const isShut = error instanceof KubeError && error.status === 403 && error.reason === 'Forbidden'
    if (isShut && namespace !== door.tenants.home && (await lookIn(door, kind, { ...ref, namespace })) === null)
      throw notServed(kind, ref)
    if (!isNotFound(error)) throw error
    door.where.delete(placeOf(kind, ref.name))
    const now = await locate(door, kind, ref, timed)
    if (now === namespace) throw error
    const answer = await work({ ...ref, namespace: now })
    return answer === undefined ? answer : insideOf(door, answer)
  }
}

const makeReads = (door: Gateway): Pick<Kube, 'get'> => ({
  get: async <R>(kind: KindRef, ref: Ref, timed?: GetOptions): Promise<R> => {
    if (!isMany(door, kind, ref.namespace)) return door.kube.get<R>(kind, ref, timed)
    const look = async (at: Ref): Promise<R> => {
      const object = await door.kube.get<Owned>(kind, at, timed)
      const [seen] = await admit(door, kind, at.namespace, [object])
      // it has the name, and its account is bound elsewhere by now
      if (!seen) throw notServed(kind, ref)
      return seen as R
    }
    return there(door, kind, ref, look, timed)
  },
})

type Regarding = { kind?: string; name?: string; namespace?: string }

/** An Event stands beside what it is about. */
const eventIn = (door: Gateway, object: NewObject): NewObject => {
  const regarding = (object.regarding ?? {}) as Regarding
  const { namespace } = door.where.get(placeOf({ kind: regarding.kind ?? '' }, regarding.name ?? '')) ?? {}
  if (namespace === undefined || regarding.namespace !== door.tenants.home) return object
  remember(door, `Event/${object.metadata.name}`, namespace)
  return { ...object, metadata: { ...object.metadata, namespace }, regarding: { ...regarding, namespace } }
}

/** The path of a series of an Event that was written beside its resource. */
const eventPathIn = (door: Gateway, path: string): string => {
  const [, before = '', namespace, name = ''] =
    /^(\/apis\/events\.k8s\.io\/v1\/namespaces\/)([^/]+)\/events\/([^/]+)$/.exec(path) ?? []
  const known = door.where.get(`Event/${name}`)
  return namespace === door.tenants.home && known ? `${before}${known.namespace}/events/${name}` : path
}

/** Reserved before it is written, so that no other namespace has the name. @throws KubeError AlreadyExists, NamespaceNotServed */
const makeIn = async <R>(door: Gateway, kind: KindRef, object: NewObject): Promise<R> => {
  const { account } = (object as { spec?: { account?: string } }).spec ?? {}
  const { name = '' } = object.metadata
  const namespace = namespaceOf(door.tenants, account)
  const { others } = await claimIn(door, kind, namespace, [{ name, account: account ?? '', uid: '' }])
  const holder = others.get(name)
  if (holder !== undefined && !door.namespaces.includes(holder)) throw notServed(kind, { name })
  if (holder !== undefined)
    throw new KubeError(`create ${kind.plural}`, { status: 409, reason: 'AlreadyExists', detail: `${name} is in use` })
  const made = await door.kube.create<R>(kind, { ...object, metadata: { ...object.metadata, namespace } })
  return insideOf(door, made)
}

type Writes = Pick<Kube, 'create' | 'patchSpec' | 'patchStatus' | 'patchMeta' | 'delete' | 'raw'>
const makeWrites = (door: Gateway): Writes => ({
  create: async <R>(kind: KindRef, object: NewObject): Promise<R> => {
    if (kind.group === 'events.k8s.io') return door.kube.create<R>(kind, eventIn(door, object))
    const isOurs = isMany(door, kind, object.metadata.namespace)
    return isOurs ? makeIn<R>(door, kind, object) : door.kube.create<R>(kind, object)
  },
  patchSpec: (kind, ref, patch, precondition) =>
    there(door, kind, ref, (at) => door.kube.patchSpec(kind, at, patch, precondition)),
  patchStatus: (kind, ref, status, precondition) =>
    there(door, kind, ref, (at) => door.kube.patchStatus(kind, at, status, precondition)),
  patchMeta: (kind, ref, patch, precondition) =>
    there(door, kind, ref, (at) => door.kube.patchMeta(kind, at, patch, precondition)),
  delete: (kind, ref, precondition) => there(door, kind, ref, (at) => door.kube.delete(kind, at, precondition)),
  raw: (method, path, body, options) => door.kube.raw(method, eventPathIn(door, path), body, options),
})

export type TenantDoor = {
  /** As in an installation of one namespace, which is called home. */
  kube: Kube
  strays: Pick<Strays, 'list' | 'ofKind' | 'put'>
  /** Where a resource lives, or was seen last. */
  livesIn(kind: KindRef, name: string): string
}

export type DoorOptions = { kube: Kube; tenants: Tenants; places: NamePlaces; againMs?: number }

export const makeTenantDoor = ({ kube, tenants, places, againMs }: DoorOptions): TenantDoor => {
  const strays = makeStrays()
  const namespaces = namespacesOf(tenants)
  const door: Streaming = {
    ...{ kube, tenants, namespaces, places, strays, where: new Map(), kept: new Map(), shut: new Set() },
    ...(againMs !== undefined && { againMs }),
  }
  return {
    kube: { ...kube, ...makeReads(door), ...makeList(door), ...makeWatch(door), ...makeWrites(door) },
    strays,
    livesIn: (kind, name) => door.where.get(placeOf(kind, name))?.namespace ?? tenants.home,
  }
}
