/**
 * Operations of apps, from one state to the next: the rows are read with their revision, the pure table decides on them
 * (crds/app/lifecycle/transitions.ts), and what it decided is stored unless somebody was faster. Who was not reads again and
 * decides again (rules/app.md#operations).
 */
import type {
  NewAppOperation,
  OperationContext,
  OperationDecision,
  OperationEvent,
} from '../../../crds/app/lifecycle/events.ts'
import { decide, decideAsk } from '../../../crds/app/lifecycle/transitions.ts'
import type { Operation, Release } from '../../../crds/app/world.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

export type Ask = Omit<NewAppOperation, 'byController'> & { at: string }

export type OperationChange = {
  operation: Pick<Operation, 'app' | 'id'>
  event: OperationEvent
  /** ISO. */
  at: string
  /** The whole of its release, sealed. */
  sealed?: Buffer
  /** What is told when it is accepted, once. */
  told?: NewEvent
  /** The same, of an operation that is not at hand. */
  toldOf?: (operation: Operation) => NewEvent
}

export type AppOutcomes = {
  /** Enters an operation, or finds it under its id. */
  ask(ask: Ask): Promise<OperationDecision>
  /** @throws when there is no such operation of the app; StaleEpoch */
  change(change: OperationChange): Promise<OperationDecision>
}

/** Somebody else was faster, this often: more than can be in the queue of an app. */
const TRIES_MAX = 32

type DecisionRows = {
  rev: number
  held: Operation | null
  open: Operation[]
  last_operation: number
  release: Release | null
  live: Release | null
  last_release: number
  /** A restore that has stopped services, or is about to. */
  restoring: string | null
}

const READ = `
select rev, held, open, last_operation, release, live, last_release, restoring from app_decision_rows($1, $2)`
const STORE = 'select stored from store_app_outcome($1, $2, $3, $4, $5, $6, $7, $8, $9)'

/** PostgreSQL holds no NUL and no half of a pair; a log that was cut may have either. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '') : part))

const contextOf = (operation: Operation, rows: DecisionRows): OperationContext => ({
  operation,
  release: rows.release,
  live: rows.live,
  lastRelease: rows.last_release,
  running: rows.open.find(({ state }) => state === 'running')?.id ?? rows.restoring,
})

type Deciding = {
  name: string
  operation: Pick<Operation, 'app' | 'id'>
  at: string
  sealed?: Buffer | undefined
  told?: NewEvent | undefined
  toldOf?: OperationChange['toldOf'] | undefined
  decideOn(rows: DecisionRows): OperationDecision
}

/** @param deps.epoch of the lease; null in the API, which enters operations and asks them to stop, and no more */
export const makeAppOutcomes = (deps: { pg: Pg; epoch: (() => number) | null }): AppOutcomes => {
  const { pg, epoch } = deps

  const read = async ({ app, id }: Pick<Operation, 'app' | 'id'>): Promise<DecisionRows> => {
    const { rows } = await pg.query<DecisionRows>('app_decision_rows', READ, [app, id])
    if (!rows[0]) throw new Error('app_decision_rows gave no row')
    return rows[0]
  }

  /** @returns false when it was decided on rows that are no more */
  const store = async (
    { name, operation, at, sealed, told, toldOf }: Deciding,
    rev: number,
    decision: Extract<OperationDecision, { state: 'accepted' }>,
  ): Promise<boolean> => {
    const event = told ?? toldOf?.(decision.operation)
    const { rows } = await pg.query<{ stored: boolean }>(name, STORE, [
      LEASE,
      epoch?.() ?? null,
      operation.app,
      rev,
      textOf(decision.operation),
      textOf(decision.releases),
      sealed ?? null,
      event ? textOf(event) : null,
      at,
    ])
    return rows[0]?.stored ?? false
  }

  const settle = async (deciding: Deciding): Promise<OperationDecision> => {
    for (let left = TRIES_MAX; left > 0; left--) {
      const rows = await read(deciding.operation)
      const decision = deciding.decideOn(rows)
      if (decision.state !== 'accepted' || (await store(deciding, rows.rev, decision))) return decision
    }
    throw new Error(`others decided about ${deciding.operation.app} ${TRIES_MAX} times in between`)
  }

  return {
    ask: ({ at, ...asked }) =>
      settle({
        name: 'app_operation_asked',
        operation: asked,
        at,
        decideOn: ({ held, open, last_operation: last }) =>
          decideAsk({ ...asked, byController: epoch !== null }, { held, open, last }, at),
      }),
    change: ({ operation, event, at, sealed, told, toldOf }) =>
      settle({
        name: `app_operation_${event.on}`,
        operation,
        at,
        sealed,
        told,
        toldOf,
        decideOn: (rows) => {
          if (rows.held?.app !== operation.app) throw new Error(`${operation.app} has no operation ${operation.id}`)
          return decide(event, contextOf(rows.held, rows), at)
        },
      }),
  }
}
