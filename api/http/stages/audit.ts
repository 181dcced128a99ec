/**
 * The audit of the API: every POST, PUT, PATCH and DELETE of a caller that got past the checks of right and shape, with
 * its outcome, refusals and failures too; a replay under an Idempotency-Key did nothing and is not written again.
 *
 * An entry is on disk before the answer leaves. When it cannot be written, the mutation has happened all the same and is
 * answered as it went; the entry waits in memory and is tried again. As long as one waits, no further mutation is begun:
 * 503, nothing was done. A process that dies in that state loses what waits.
 */

import type { Log } from '../../../controllers/base/log.ts'
import type { AuditEntry, Who } from '../../../controllers/store/audit.ts'
import { DatabaseUnavailable } from '../../../controllers/store/pg/pg.ts'
import { belongsTo } from '../../../crds/kernel/fields.ts'
import { withoutCredentials } from '../../auth/credentials.ts'
import type { Exchange, Stage } from '../exchange.ts'
import { statusOf, unavailable } from '../problem.ts'
import type { Answer, Audited } from '../route.ts'

const MUTATIONS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const RETRY_MS = 1_000
/** Requests that were under way when the database went; no more are let in. */
const WAITING_MAX = 10_000
/** Maps whose keys the caller names: the names say what was changed, the values are secrets. */
const NAMED_MAPS: ReadonlySet<string> = new Set(['env'])

export type Audit = {
  /** Settles once the entry is on disk, or waits to be. Never rejects. */
  record(entry: AuditEntry): Promise<void>
  /** Entries that could not be written yet. */
  waiting(): number
  /** Tries at once to write what waits. */
  flush(): Promise<void>
  /** Tries once more to write what waits, and ends the trying. */
  close(): Promise<void>
}

/** @param deps.append makeAppendAudit */
export const makeAudit = (deps: { append: (entry: AuditEntry) => Promise<unknown>; log?: Log }): Audit => {
  let waiting: AuditEntry[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const write = async (entry: AuditEntry): Promise<void> => {
    try {
      await deps.append(entry)
    } catch (error) {
      const again = error instanceof DatabaseUnavailable && waiting.length < WAITING_MAX
      deps.log?.[again ? 'warn' : 'error']({ err: error, once: entry.once, again }, 'audit entry not written')
      if (again) waiting.push(entry)
    }
  }
  const retry = async (): Promise<void> => {
    const entries = waiting
    waiting = []
    // All at once: they share statements, in their order.
    await Promise.all(entries.map(write))
    schedule()
  }
  const schedule = (): void => {
    if (closed || timer !== undefined || waiting.length === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void retry()
    }, RETRY_MS)
    timer.unref()
  }

  let flushed = Promise.resolve()
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    // one after the other: whoever waits for the second waits for the first
    flushed = flushed.then(retry)
    return flushed
  }

  return {
    async record(entry) {
      await write(entry)
      schedule()
    },
    waiting: () => waiting.length,
    flush,
    close: () => {
      closed = true
      return flush()
    },
  }
}

/** An event that is no route's mutation, such as a sign-in: `once` is made of the request and the verb. */
export type AuditEvent = {
  account: string
  who: Who
  /** Words or a route: `sign in by mail link`. */
  verb: string
  resource?: string
  fields?: string[]
  ip: string
  requestId: string
  status: number
}

/** Writes one event to an account's chain, before the answer leaves. Never rejects. */
export const recordAudit = (deps: { audit: Audit; now: () => Date }, event: AuditEvent): Promise<void> =>
  deps.audit.record({
    account: event.account,
    once: `${event.requestId}/${event.verb}`,
    at: deps.now().toISOString(),
    who: event.who,
    what: { verb: event.verb, resource: event.resource ?? null, fields: event.fields ?? [] },
    ip: event.ip,
    requestId: event.requestId,
    status: event.status,
  })

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Names of the fields that a body sets, `env.KEY` for what is named by the caller. */
const fieldsOf = (body: unknown): string[] => {
  if (!isObject(body)) return []
  return Object.entries(body).flatMap(([name, value]) =>
    NAMED_MAPS.has(name) && isObject(value) ? Object.keys(value).map((key) => `${name}.${key}`) : [name],
  )
}

/** The account that an admin's route acts on. */
const subjectOf = ({ route, params }: Exchange): string | undefined =>
  route.path.startsWith('/api/admin/accounts/:id') ? params.id : undefined

const pathOf = (url: string): string => withoutCredentials(url.split('?', 1)[0] ?? url)

type Ended = { status: number; location?: string | undefined }

/** The caller's entry, and the same in the chain of the account that was acted on. */
const entriesOf = (exchange: Exchange, audited: Audited, ended: Ended & { at: string }): AuditEntry[] => {
  const { route, caller, body, url, ip, requestId } = exchange
  if (!caller) return []
  const verb = `${route.method} ${route.path}`
  const resource = audited.resource ?? ended.location ?? pathOf(url)
  const entry: AuditEntry = {
    account: caller.account,
    once: requestId,
    at: ended.at,
    who: { kind: caller.by.kind, id: caller.by.id },
    what: { verb, resource, fields: audited.fields ?? fieldsOf(body) },
    ip,
    requestId,
    status: ended.status,
  }
  // Only what happened: a refusal must not write into the chain of an account that may not even exist.
  const subject = ended.status < 400 ? (audited.account ?? subjectOf(exchange)) : undefined
  return subject === undefined || belongsTo(caller, subject) ? [entry] : [entry, { ...entry, account: subject }]
}

const rehearses = (route: Exchange['route']): boolean => !route.hidden && route.rehearses === true

/** @throws Problem UNAVAILABLE while entries wait to be written: nothing was done */
export const makeAuditStage =
  ({ audit, now }: { audit: Audit; now: () => Date }): Stage =>
  async (exchange, next) => {
    const { route, caller, method } = exchange
    if (!caller || route.observes || rehearses(route) || !MUTATIONS.has(method)) return next()
    if (audit.waiting() > 0) throw unavailable('The audit cannot be written')
    const audited: Audited = {}
    exchange.audited = audited
    const write = (ended: Ended) =>
      Promise.all(entriesOf(exchange, audited, { ...ended, at: now().toISOString() }).map(audit.record))
    let answer: Answer
    try {
      answer = await next()
    } catch (error) {
      await write({ status: statusOf(error) })
      throw error
    }
    await write({ status: answer.status, location: answer.headers?.location })
    return answer
  }
