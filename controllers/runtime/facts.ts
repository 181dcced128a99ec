/**
 * Facts: what happened, written once under a unique key, never changed. A fact that may be refused is pending until a
 * controller's plan accepts or refuses it (DESIGN section 1).
 */
import type { NewEvent } from '../../crds/event.ts'
import { makeBatch } from './batch.ts'
import { LEASE } from './fence.ts'
import { isItemFault, type Pg } from './pg.ts'

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
  key: string
  kind: string
  body: Record<string, unknown>
  state: 'pending' | 'accepted'
  /** ISO instant. */
  at: string
  /** NewEvent when the fact is accepted: at once for one that is never pending. */
  event?: NewEvent
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
const DECIDE = 'select resource, seq, state from decide_facts($1, $2, $3)'

type Pending = { fact: NewFact; epoch: number | null }
type AppendedRow = FactRow & { resource: string; fresh: boolean }

const appendAll = async (pg: Pg, pending: Pending[]): Promise<Appended[]> => {
  const epoch = pending[0]?.epoch ?? null
  const writtenBy = epoch === null ? 'api' : 'controller'
  const given = pending.map(({ fact }) => ({ ...fact, writtenBy }))
  const values = [LEASE, epoch, JSON.stringify(given)]
  const { rows } = await pg.query<AppendedRow>('append_facts', APPEND, values)
  const found = new Map(rows.map(({ resource, ...row }) => [JSON.stringify([resource, row.key]), row]))
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
