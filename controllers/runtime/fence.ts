/**
 * The fence: a lease's epoch, checked by PostgreSQL inside every effect statement.
 * A leader that was paused and believes that it still leads finds its next effect refused, however its clock went
 * (DESIGN section 1, "correctness rests on"; research/performance-reliability.md fault 18).
 */
import type { Pg } from './pg.ts'

/** The lease that the controllers' leader holds. */
export const LEASE = 'controllers'

/** The SQLSTATE that the `fence` function raises. */
export const STALE_EPOCH_STATE = 'BT001'

/** Somebody took the lease after us. Nothing was written; the only sound answer is to stop leading. */
export class StaleEpoch extends Error {
  override name = 'StaleEpoch'
}

/**
 * Raises the lease's epoch and returns the new one. Waits for effects in flight; every statement that still carries an
 * older epoch fails from now on with StaleEpoch.
 */
export const takeEpoch = async (pg: Pg, holder: string, lease: string = LEASE): Promise<number> => {
  const text = 'select take_epoch($1, $2) as epoch'
  const { rows } = await pg.query<{ epoch: number }>('take_epoch', text, [lease, holder])
  const epoch = rows[0]?.epoch
  if (epoch === undefined) throw new Error('take_epoch gave no epoch')
  return epoch
}
