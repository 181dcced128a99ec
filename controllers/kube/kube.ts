/**
 * Typed verbs over the API server. One connection pool for all calls, a deadline on each, bounded retries on reads and on
 * writes with a precondition (rules/platform.md#calls-to-the-cluster).
 */

import { GROUP, VERSION } from '../../crds/kernel/object.ts'
import type { AnyObject, WatchEvent } from './objects.ts'
import { streamEvents } from './stream.ts'
import { type KubeMethod, makeTransport, type Transport, type TransportOptions } from './transport.ts'

export { KubeError } from '../base/errors.ts'

/** What the runtime needs of a kind. `group` '' is the core group; without `group` it is Bottega's own. */
export type KindRef = { kind: string; plural: string; group?: string; version?: string }

/** `namespace` '' for kinds without one. */
export type Ref = { namespace: string; name: string }

export type NewObject = { metadata: { name?: string; namespace?: string }; [field: string]: unknown }

export type Selection = {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
}

export type ListOptions = Selection & {
  limit?: number
  continue?: string
  resourceVersion?: string
  timeoutMs?: number
  signal?: AbortSignal
}

export type Listing<R> = { resourceVersion: string; continue: string; items: R[] }

export type WatchOptions = Selection & {
  resourceVersion: string
  /** The server ends the watch after this. */
  timeoutSeconds: number
  /** Without a byte for this long the connection is cut: KubeError reason `Stalled`. */
  idleMs: number
  signal: AbortSignal
  onEvent: (event: WatchEvent) => void
  /** Any byte at all, bookmarks included. */
  onBytes?: () => void
}

/** `resourceVersion`: refused with a conflict when the object has moved on; also makes the write safe to repeat. */
export type Precondition = { resourceVersion?: string; signal?: AbortSignal; timeoutMs?: number }

/** The part of an object that a person or the API may desire. `null` removes a field (RFC 7386). */
export type SpecPatch = {
  spec?: Record<string, unknown>
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> }
}

export type MetaPatch = {
  /** The whole list: always with a resourceVersion. */
  finalizers?: string[] | null
  annotations?: Record<string, string | null>
  labels?: Record<string, string | null>
}

/** Every verb throws KubeError. */
export type Kube = {
  get<R = AnyObject>(kind: KindRef, ref: Ref, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<R>
  /** One page; `continue` is '' on the last. */
  list<R = AnyObject>(kind: KindRef, options?: ListOptions): Promise<Listing<R>>
  /** Never repeated on failure: with a deterministic name the caller may repeat and read AlreadyExists. */
  create<R = AnyObject>(kind: KindRef, object: NewObject): Promise<R>
  /** Strict: a field that the schema does not know is refused with 400. */
  patchSpec<R = AnyObject>(kind: KindRef, ref: Ref, patch: SpecPatch, precondition?: Precondition): Promise<R>
  /** Merges `status` into the status subresource: a field that shall go is `null`. */
  patchStatus<R = AnyObject>(kind: KindRef, ref: Ref, status: object, precondition?: Precondition): Promise<R>
  patchMeta<R = AnyObject>(kind: KindRef, ref: Ref, patch: MetaPatch, precondition?: Precondition): Promise<R>
  delete(kind: KindRef, ref: Ref, precondition?: { uid?: string; resourceVersion?: string }): Promise<void>
  /** Resolves when the server ends the watch. @throws KubeError, also for an ERROR event in the stream */
  watch(kind: KindRef, options: WatchOptions): Promise<void>
  /** Any path of the API server. Only GET is repeated. */
  raw<R = unknown>(method: KubeMethod, path: string, body?: object, options?: RawOptions): Promise<R>
  /** Of the kubeconfig's context or of the pod. */
  namespace(): string | undefined
  /** Ends calls and watches under way. */
  close(): Promise<void>
}

export type RawOptions = { query?: string; contentType?: string; signal?: AbortSignal; timeoutMs?: number }

export type KubeOptions = TransportOptions & {
  /** Who owns the fields that are written: one manager per process kind. */
  fieldManager?: 'bottega-api' | 'bottega-controllers' | (string & {})
}

const MERGE_PATCH = 'application/merge-patch+json'
const JSON_BODY = 'application/json'
/** A page of 500 large objects on a busy server. */
const LIST_TIMEOUT_MS = 60_000

/** Kubernetes' MicroTime: the API server answers 400 to a stamp with the three digits of toISOString, it wants six. */
export const microTime = (at: Date): string => at.toISOString().replace('Z', '000Z')

/** `/apis/bottega.dev/v1alpha1/namespaces/shop/invoices/inv-1` */
export const pathOf = (kind: KindRef, namespace?: string, name?: string): string => {
  const group = kind.group ?? GROUP
  const version = kind.version ?? (kind.group === undefined ? VERSION : 'v1')
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const space = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${space}/${kind.plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

const queryOf = (fields: Record<string, string | number | boolean | undefined>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.toString()
}

const timing = (options: { signal?: AbortSignal; timeoutMs?: number } | undefined) => ({
  ...(options?.signal && { signal: options.signal }),
  ...(options?.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
})

const metadataOf = (metadata: object | undefined, { resourceVersion }: Precondition = {}): object =>
  resourceVersion === undefined && metadata === undefined
    ? {}
    : { metadata: { ...metadata, ...(resourceVersion !== undefined && { resourceVersion }) } }

type Page<R> = { metadata: { resourceVersion: string; continue?: string }; items: R[] | null }

const makeReads = ({ call }: Transport): Pick<Kube, 'get' | 'list'> => ({
  get: (kind, ref, timed) => {
    const path = pathOf(kind, ref.namespace, ref.name)
    return call({ verb: 'get', method: 'GET', path, idempotent: true, ...timing(timed) })
  },

  list: async <R>(kind: KindRef, { namespace, signal, timeoutMs, ...selection }: ListOptions = {}) => {
    const page = await call<Page<R>>({
      verb: 'list',
      method: 'GET',
      path: pathOf(kind, namespace),
      query: queryOf(selection),
      idempotent: true,
      ...timing({ ...(signal && { signal }), timeoutMs: timeoutMs ?? LIST_TIMEOUT_MS }),
    })
    const { resourceVersion, continue: next = '' } = page.metadata
    return { resourceVersion, continue: next, items: page.items ?? [] }
  },
})

type Writes = Pick<Kube, 'create' | 'patchSpec' | 'patchStatus' | 'patchMeta' | 'delete'>

const makeWrites = ({ call }: Transport, fieldManager: string): Writes => {
  const query = `fieldManager=${encodeURIComponent(fieldManager)}`
  const strictQuery = `${query}&fieldValidation=Strict`

  const patch = <R>(path: string, body: object, precondition: Precondition = {}, strict = true): Promise<R> =>
    call<R>({
      verb: 'patch',
      method: 'PATCH',
      path,
      query: strict ? strictQuery : query,
      body: JSON.stringify(body),
      contentType: MERGE_PATCH,
      // Once it is in, the version has moved on: a second one is refused.
      idempotent: precondition.resourceVersion !== undefined,
      ...timing(precondition),
    })

  return {
    create: (kind, object) =>
      call({
        verb: 'create',
        method: 'POST',
        path: pathOf(kind, object.metadata.namespace),
        query: strictQuery,
        body: JSON.stringify(object),
        contentType: JSON_BODY,
        idempotent: false,
      }),

    patchSpec: (kind, ref, { spec, metadata }, precondition) => {
      const body = { ...(spec && { spec }), ...metadataOf(metadata, precondition) }
      return patch(pathOf(kind, ref.namespace, ref.name), body, precondition)
    },

    patchStatus: (kind, ref, status, precondition) => {
      const path = `${pathOf(kind, ref.namespace, ref.name)}/status`
      return patch(path, { status, ...metadataOf(undefined, precondition) }, precondition)
    },

    patchMeta: (kind, ref, metadata, precondition) =>
      patch(pathOf(kind, ref.namespace, ref.name), metadataOf(metadata, precondition), precondition, false),

    delete: async (kind, ref, preconditions) => {
      await call({
        verb: 'delete',
        method: 'DELETE',
        path: pathOf(kind, ref.namespace, ref.name),
        body: JSON.stringify({ ...(preconditions && { preconditions }) }),
        contentType: JSON_BODY,
        idempotent: preconditions?.uid !== undefined,
      })
    },
  }
}

/** @throws Error when no kubeconfig can be read */
export const makeKube = (options: KubeOptions = {}): Kube => {
  const transport = makeTransport(options)
  const closed = new AbortController()
  return {
    ...makeReads(transport),
    ...makeWrites(transport, options.fieldManager ?? 'bottega'),

    watch: (kind, { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, ...stream }) => {
      const selection = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds }
      return streamEvents(transport, {
        verb: 'watch',
        path: pathOf(kind, namespace),
        query: queryOf({ watch: true, allowWatchBookmarks: true, ...selection }),
        ...stream,
        signal: AbortSignal.any([stream.signal, closed.signal]),
      })
    },

    raw: (method, path, body, extra) =>
      transport.call({
        verb: method.toLowerCase(),
        method,
        path,
        idempotent: method === 'GET',
        ...(extra?.query !== undefined && { query: extra.query }),
        ...(body && { body: JSON.stringify(body), contentType: extra?.contentType ?? JSON_BODY }),
        ...timing(extra),
      }),

    namespace: () => transport.auth.namespace(),

    close: async () => {
      closed.abort()
      await transport.close()
    },
  }
}
