/**
 * Facts: what happened, written once under a unique key, never changed. A fact that may be refused is pending until a
 * controller's plan accepts or refuses it (rules/platform.md#facts).
 */
import type { NewEvent } from '../../../crds/kernel/event.ts'
import { makeBatch } from '../../base/batch.ts'
import { LEASE } from '../pg/fence.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'

export type FactState = 'pending' | 'accepted' | 'refused'

/** `seq` counts the facts of one resource from 1. `body` is whatever the kind of fact says. */
export type FactRow = {
  seq: number
  key: string
  kind: string
  body: Record<string, unknown>
  state: FactState
  refusedCode: string | null
  /** What was decided beside yes or no; as an append answers, a row is without it. */
  outcome?: Record<string, unknown> | null
  at: string
}

/** `key` is unique per resource: the same report again finds the fact that stands there. */
export type NewFact = {
  resource: string
  resourceKind: string
  key: string
  kind: string
  body: Record<string, unknown>
  state: 'pending' | 'accepted'
  /** ISO instant. */
  at: string
  /** NewEvent when the fact is accepted: at once for one that is never pending. */
  event?: NewEvent
  /**
   * Of a report (no epoch): its key says nothing of who asks, so another one of its kind and body is this one, until what
   * became of that can be seen (sql/functions/report_facts.sql).
   */
  once?: boolean
}

/** `new`: written now. `old`: the key was taken; `fact` is what stands there (compare its body). */
export type Appended = { result: 'new' | 'old'; fact: FactRow }
export type FactVerdict = { resource: string; seq: number; at: string } & (
  | { state: 'accepted'; event?: NewEvent; outcome?: Record<string, unknown> }
  | { state: 'refused'; refusedCode: string; outcome?: Record<string, unknown> }
)

const APPEND = `
select resource, seq, key, kind, body, state, refused_code as "refusedCode", at, fresh
from append_facts($1, $2, $3)`
const REPORT = `
select asked, resource, seq, key, kind, body, state, refused_code as "refusedCode", at, fresh
from report_facts($1)`
const DECIDE = 'select resource, seq, state from decide_facts($1, $2, $3)'

type Pending = { fact: NewFact; epoch: number | null }
type AppendedRow = FactRow & { resource: string; fresh: boolean }

/** By what was asked for: a report may stand under the key of the same one before it. */
const rowsOf = async (pg: Pg, pending: Pending[]): Promise<(AppendedRow & { asked: string })[]> => {
  const epoch = pending[0]?.epoch ?? null
  const writtenBy = epoch === null ? 'api' : 'controller'
  const given = JSON.stringify(pending.map(({ fact }) => ({ ...fact, writtenBy })))
  if (epoch === null) return (await pg.query<AppendedRow & { asked: string }>('report_facts', REPORT, [given])).rows
  const { rows } = await pg.query<AppendedRow>('append_facts', APPEND, [LEASE, epoch, given])
  return rows.map((row) => ({ ...row, asked: row.key }))
}

const appendAll = async (pg: Pg, pending: Pending[]): Promise<Appended[]> => {
  const rows = await rowsOf(pg, pending)
  const found = new Map(rows.map(({ resource, asked, ...row }) => [JSON.stringify([resource, asked]), row]))
  return pending.map(({ fact }) => {
    const key = JSON.stringify([fact.resource, fact.key])
    const row = found.get(key)
    if (row === undefined) throw new Error('append_facts left a fact without an answer')
    const { fresh, ...stands } = row
    found.set(key, { ...row, fresh: false })
    return { result: fresh ? 'new' : 'old', fact: stands }
  })
}

/**
 * @param deps.epoch the controllers' epoch; null in the API, whose facts only report and need no lease
 * @returns a function that appends one fact; safe to call again after any failure
 */
export const makeAppendFact = (deps: {
  pg: Pg
  epoch: (() => number) | null
}): ((fact: NewFact) => Promise<Appended>) => {
  const append = makeBatch<Pending, Appended>({
    run: (pending) => appendAll(deps.pg, pending),
    mayJoin: (chosen, next) => chosen[0]?.epoch === next.epoch,
    isItemFault,
  })
  return (fact) => append({ fact, epoch: deps.epoch === null ? null : deps.epoch() })
}

type PendingVerdict = { verdict: FactVerdict; epoch: number }

const decideAll = async (pg: Pg, pending: PendingVerdict[]): Promise<FactState[]> => {
  const values = [LEASE, pending[0]?.epoch, JSON.stringify(pending.map(({ verdict }) => verdict))]
  const { rows } = await pg.query<{ resource: string; seq: number; state: FactState }>('decide_facts', DECIDE, values)
  return pending.map(({ verdict }) => {
    const row = rows.find((one) => one.seq === verdict.seq && one.resource === verdict.resource)
    if (row === undefined) throw new Error(`there is no fact ${verdict.seq} of ${verdict.resource}`)
    return row.state
  })
}

/** @returns a function that decides one pending fact and says how it stands: the first verdict stays. */
export const makeDecideFact = (deps: {
  pg: Pg
  epoch: () => number
}): ((verdict: FactVerdict) => Promise<FactState>) => {
  const decide = makeBatch<PendingVerdict, FactState>({
    run: (pending) => decideAll(deps.pg, pending),
    mayJoin: (chosen, { verdict, epoch }) =>
      chosen[0]?.epoch === epoch &&
      chosen.every((one) => one.verdict.seq !== verdict.seq || one.verdict.resource !== verdict.resource),
    isItemFault: (error) =>
      isItemFault(error) || (error instanceof Error && error.message.startsWith('there is no fact')),
  })
  return (verdict) => decide({ verdict, epoch: deps.epoch() })
}

/** A fact that nobody has decided on. */
export type PendingFact = { kind: string; resource: string; seq: number }

const PENDING = `
select resource_kind as kind, resource, seq from facts
where state = 'pending' and (resource, seq) > ($1, $2) order by resource, seq limit $3`

/** @returns what is undecided, after one fact (null: from the first), in the order of resource and seq */
export const readPending = async (
  { pg }: { pg: Pg },
  after: PendingFact | null,
  limit: number,
): Promise<PendingFact[]> =>
  (await pg.query<PendingFact>('facts_pending', PENDING, [after?.resource ?? '', after?.seq ?? 0, limit])).rows
