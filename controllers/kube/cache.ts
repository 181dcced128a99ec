/**
 * What the watch knows of one kind. Objects are shared and frozen. Versions only move forward: a late event never takes
 * back what a write has just answered (kubernetes#59848).
 */
import type { Key } from '../../crds/kernel/object.ts'
import type { AnyObject } from './objects.ts'

/** Deletions are remembered so that a late answer to a write does not bring a deleted object back. */
const TOMBSTONES_MAX = 10_000

/** `namespace/name`; cluster-scoped kinds have an empty namespace. */
export const keyOfObject = ({ metadata }: AnyObject): Key => `${metadata.namespace ?? ''}/${metadata.name}`

const DECIMAL = /^[0-9]+$/

/** True when version `a` is newer than `b`. Versions that are no decimal numbers cannot be compared: then any change is newer. */
export const isNewer = (a: string | undefined, b: string | undefined): boolean => {
  if (b === undefined) return true
  if (a === undefined || a === b) return false
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return true
  return a.length === b.length ? a > b : a.length > b.length
}

const deepFreeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const child of Object.values(value)) deepFreeze(child)
}

/** Who wrote a spec, by managedFields: a name that the client chose, how, and when (ISO, whole seconds). */
export type SpecWriter = { manager: string; operation: string; time: string }

type ManagedField = { manager?: string; operation?: string; time?: string; subresource?: string; fieldsV1?: object }

/** Beside the objects, not in them: managedFields themselves are dropped. */
const specWriters = new WeakMap<object, SpecWriter[]>()

const newestSpecWriters = (managedFields: unknown): SpecWriter[] => {
  if (!Array.isArray(managedFields)) return []
  const writers = (managedFields as ManagedField[])
    .filter(({ subresource, fieldsV1 }) => !subresource && fieldsV1 !== undefined && 'f:spec' in fieldsV1)
    .map(({ manager = '', operation = '', time = '' }) => ({ manager, operation, time }))
  const newest = writers.reduce((latest, { time }) => (time > latest ? time : latest), '')
  return writers.filter(({ time }) => time === newest)
}

/** Who wrote the spec of an object from a cache last, as far as the API server says; all who did within that second. */
export const specWritersOf = (object: object): SpecWriter[] => specWriters.get(object) ?? []

export type Store<R> = {
  get(key: Key): R | undefined
  list(): R[]
  size(): number
  /** Takes the object unless what is held is as new. @returns whether it was taken */
  put(object: R): boolean
  /** @returns false when what is held is newer: an earlier object of the same name died */
  remove(object: R): boolean
  /** The newest version known, by event, list or write. */
  newest(): string | undefined
  /** The server is at least at this version. */
  advance(resourceVersion: string | undefined): void
  /** Forgets everything about a server that went back in time; it is at this version now. */
  reset(resourceVersion: string): void
}

export const makeStore = <R extends AnyObject>(): Store<R> => {
  let objects = new Map<Key, R>()
  let tombstones = new Map<Key, string>()
  let newest: string | undefined

  const advance = (resourceVersion: string | undefined) => {
    if (resourceVersion !== undefined && isNewer(resourceVersion, newest)) newest = resourceVersion
  }

  const bury = (key: Key, resourceVersion: string) => {
    tombstones.delete(key)
    tombstones.set(key, resourceVersion)
    if (tombstones.size <= TOMBSTONES_MAX) return
    const [oldest] = tombstones.keys()
    if (oldest !== undefined) tombstones.delete(oldest)
  }

  const buried = (key: Key, resourceVersion: string | undefined): boolean => {
    const died = tombstones.get(key)
    return died !== undefined && !isNewer(resourceVersion, died)
  }

  const remove = (object: R): boolean => {
    const key = keyOfObject(object)
    const held = objects.get(key)
    const version = object.metadata.resourceVersion
    advance(version)
    if (held !== undefined && isNewer(held.metadata.resourceVersion, version)) return false
    if (version !== undefined) bury(key, version)
    objects.delete(key)
    return true
  }

  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    size: () => objects.size,
    put: (object) => {
      const key = keyOfObject(object)
      const { resourceVersion, deletionTimestamp, finalizers } = object.metadata
      advance(resourceVersion)
      if (!isNewer(resourceVersion, objects.get(key)?.metadata.resourceVersion)) return false
      if (buried(key, resourceVersion)) return false
      // The answer to the patch that took the last finalizer off shows an object that is already gone.
      if (deletionTimestamp !== undefined && !finalizers?.length) {
        objects.delete(key)
        if (resourceVersion !== undefined) bury(key, resourceVersion)
        return true
      }
      // They are half of an object's bytes; who wrote the spec is all that anybody reads of them.
      specWriters.set(object, newestSpecWriters(object.metadata.managedFields))
      if (object.metadata.managedFields !== undefined) delete object.metadata.managedFields
      deepFreeze(object)
      objects.set(key, object)
      tombstones.delete(key)
      return true
    },
    remove,
    newest: () => newest,
    advance,
    reset: (resourceVersion) => {
      objects = new Map()
      tombstones = new Map()
      newest = resourceVersion
    },
  }
}
