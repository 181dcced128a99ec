/**
 * What was changed with kubectl, or any other client of the API server: a new generation of a resource whose spec was
 * last written by somebody else than our API goes into the account's chain, once per uid and generation.
 *
 * What is known is the field manager's name, which the client chooses, not the user. Generations that nobody saw because
 * no controller ran are told by the gap in their numbers. Who deletes is not told at all. Times are whole seconds: when
 * our API and a client write in the same second, the client is named, rather once too often than left out.
 */
import type { Log } from '../base/log.ts'
import type { AnyResource } from '../kinds/held.ts'
import { accountOf } from '../kinds/kept.ts'
import { specWritersOf } from '../kube/cache.ts'
import type { Cache } from '../kube/watch.ts'
import { sameJson } from '../runtime/status.ts'
import type { AuditEntry } from '../store/audit.ts'

/** What goes through REST has an entry of its own, which says more. */
const API_MANAGER = 'bottega-api'
const RETRY_MS = 2_000

type Watched = {
  metadata: { uid: string; name: string; generation: number; deletionTimestamp?: string }
  spec: object
}

export type SpecAuditDeps = {
  /** By kind. */
  caches: ReadonlyMap<string, Pick<Cache<AnyResource>, 'subscribe'>>
  /** Whether the chain has it: after a restart it has nearly all that is held. */
  knows: (event: { account: string; once: string }) => Promise<boolean>
  append: (entry: AuditEntry) => Promise<unknown>
  now: () => Date
  log?: Log
}

/** Names of the fields in which two specs differ; all of the second when the first was not seen. */
const changedFields = (before: object | undefined, after: object): string[] => {
  const [was, is] = [(before ?? {}) as Record<string, unknown>, after as Record<string, unknown>]
  return Object.keys({ ...was, ...is }).filter((name) => !sameJson(was[name], is[name]))
}

type Told = { generation: number; spec: object }

/** The entry of one generation, or null when it came through REST. */
const entryOf = (
  kind: string,
  account: string,
  { object, before }: { object: Watched; before: Told | undefined },
): Omit<AuditEntry, 'at'> | null => {
  const { uid, name, generation } = object.metadata
  const writer = specWritersOf(object).find(({ manager }) => manager !== API_MANAGER)
  if (writer === undefined) return null
  return {
    account,
    once: `${uid}/${generation}`,
    who: { kind: 'kubernetes', manager: writer.manager, operation: writer.operation },
    what: {
      verb: `${kind} spec generation ${generation}`,
      resource: `${kind}/${name}`,
      fields: changedFields(before?.spec, object.spec),
    },
    ip: null,
    requestId: null,
    status: null,
  }
}

/** Starts with what is held; the chain itself leaves out what it has already. @returns the way to end it */
export const startSpecAudit = ({ caches, knows, append, now, log }: SpecAuditDeps): (() => void) => {
  /** What was told last, by uid: status changes are no news. */
  const told = new Map<string, Told>()
  const timers = new Set<NodeJS.Timeout>()
  let ended = false

  const write = async (entry: AuditEntry): Promise<void> => {
    try {
      if (!(await knows(entry))) await append(entry)
    } catch (error) {
      if (ended) return
      log?.warn({ err: error, once: entry.once }, 'audit entry not written')
      const timer = setTimeout(() => {
        timers.delete(timer)
        void write(entry)
      }, RETRY_MS)
      timers.add(timer)
    }
  }
  const see = (kind: string, object: AnyResource, deleted: boolean): void => {
    const { uid, generation, deletionTimestamp } = object.metadata
    if (deleted) {
      told.delete(uid)
      return
    }
    const before = told.get(uid)
    // The mark of deletion raises the generation too; nobody wrote the spec.
    if (deletionTimestamp !== undefined || (before?.generation ?? 0) >= generation) return
    told.set(uid, { generation, spec: object.spec })
    const entry = entryOf(kind, accountOf(kind, object), { object, before })
    if (entry) void write({ ...entry, at: now().toISOString() })
  }
  const follow = (kind: string, cache: Pick<Cache<AnyResource>, 'subscribe'>) =>
    cache.subscribe((_key, { object, deleted }) => see(kind, object, deleted), { inTurns: true })

  const ends = [...caches].map(([kind, cache]) => follow(kind, cache))
  return () => {
    ended = true
    for (const end of ends) end()
    for (const timer of timers) clearTimeout(timer)
  }
}
