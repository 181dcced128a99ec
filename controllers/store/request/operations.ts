/**
 * Operations: requests that were answered before they were decided. Each keeps what decides it, and then how it ended, for
 * 7 days (rules/platform.md#operations). Goal and outcome are sealed, because an answer may show a credential.
 */
import type { Sealer } from '../../base/seal.ts'
import type { Pg } from '../pg/pg.ts'

/** From the answer 202 on. */
export const OPERATION_KEEP_MS = 7 * 24 * 3_600_000
/** Rows per statement of the sweep: none of them holds locks for long. */
const SWEEP_BATCH = 500

export type VerdictState = 'pending' | 'succeeded' | 'refused' | 'unknown'

/** `scope` and `goal` are JSON that nobody here looks into. */
export type NewOperation = {
  id: string
  account: string
  method: string
  path: string
  scope: unknown
  kind: string
  name: string
  resource: string
  command: string
  goal: unknown
  /** ISO instant. */
  createdAt: string
}
/** `outcome` is null while it is pending. */
export type StoredOperation = NewOperation & {
  state: VerdictState
  outcome: unknown
  settledAt: string | null
}

export type NewVerdict = { state: Exclude<VerdictState, 'pending'>; outcome: unknown; at: string }

export type OperationStore = {
  /** Enters it, or finds the one that an earlier try of the same request has entered. */
  add(operation: NewOperation): Promise<StoredOperation>
  /** @returns undefined where there is none, or it is another account's */
  get(id: string, account: string): Promise<StoredOperation | undefined>
  /** The id of the newest of a request, made after an instant; null where there is none. */
  latest(of: { account: string; method: string; path: string; since: string }): Promise<string | null>
  /** The first verdict stands; a later one is not looked at. @returns the operation as it ended */
  settle(id: string, account: string, verdict: NewVerdict): Promise<StoredOperation | undefined>
}

const COLUMNS = `id, account, method, path, scope, kind, name, resource, command, goal, state, outcome,
  iso_ms(created_at) as "createdAt", iso_ms(settled_at) as "settledAt"`
const ADD = `
insert into operations (id, account, method, path, scope, kind, name, resource, command, goal, state, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11)
on conflict do nothing`
const GET = `select ${COLUMNS} from operations where id = $1 and account = $2`
const LATEST = `
select id from operations
where created_at > $4 and account = $1 and method = $2 and path = $3
order by created_at desc limit 1`
const SETTLE = `
update operations set state = $3, outcome = $4, settled_at = $5
where id = $1 and account = $2 and state = 'pending'`
const SWEEP = `
delete from operations where id in (
  select id from operations
  where created_at <= $1::timestamptz - $2::bigint * interval '1 ms'
  order by created_at limit ${SWEEP_BATCH} for update skip locked
) returning 1 as gone`

type Row = Omit<StoredOperation, 'goal' | 'outcome'> & { goal: Buffer; outcome: Buffer | null }

/** What the two sealed values of an operation belong to. */
export const aboutGoal = (id: string): string => `${id}/goal`
export const aboutOutcome = (id: string): string => `${id}/outcome`

/** @param deps.sealer of keys.sealer('operation') */
export const makeOperationStore = ({ pg, sealer }: { pg: Pg; sealer: Sealer }): OperationStore => {
  const seal = (value: unknown, about: string) => sealer.seal(Buffer.from(JSON.stringify(value), 'utf8'), about)
  const open = (sealed: Buffer, about: string): unknown => JSON.parse(sealer.open(sealed, about).toString('utf8'))

  const get: OperationStore['get'] = async (id, account) => {
    const { rows } = await pg.query<Row>('operation_get', GET, [id, account])
    const row = rows[0]
    if (!row) return undefined
    const outcome = row.outcome && open(row.outcome, aboutOutcome(id))
    return { ...row, goal: open(row.goal, aboutGoal(id)), outcome }
  }

  return {
    get,
    async latest({ account, method, path, since }) {
      const { rows } = await pg.query<{ id: string }>('operation_latest', LATEST, [account, method, path, since])
      return rows[0]?.id ?? null
    },
    async add(operation) {
      const { id, account, method, path, scope, kind, name, resource, command, goal, createdAt } = operation
      const place = [id, account, method, path, JSON.stringify(scope), kind, name, resource, command]
      await pg.query('operation_add', ADD, [...place, seal(goal, aboutGoal(id)), createdAt])
      const stored = await get(id, account)
      if (!stored) throw new Error(`the operation ${id} is not there after it was entered`)
      return stored
    },
    async settle(id, account, { state, outcome, at }) {
      await pg.query('operation_settle', SETTLE, [id, account, state, seal(outcome, aboutOutcome(id)), at])
      return get(id, account)
    },
  }
}

/** Deletes what has been kept long enough, in small batches. @returns how many went */
export const sweepOperations = async (deps: { pg: Pg; now: () => Date }): Promise<number> => {
  for (let swept = 0; ; ) {
    const { rows } = await deps.pg.query('sweep_operations', SWEEP, [deps.now().toISOString(), OPERATION_KEEP_MS])
    swept += rows.length
    if (rows.length < SWEEP_BATCH) return swept
  }
}
