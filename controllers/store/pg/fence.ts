/**
 * The fence: a lease's epoch, checked by PostgreSQL inside every effect statement.
 * A leader that was paused and believes that it still leads finds its next effect refused, however its clock went
 * (rules/platform.md#fencing).
 */
import type { Pg } from './pg.ts'

/** The lease that the controllers' leader holds. */
export const LEASE = 'controllers'

/**
 * Raises the lease's epoch and returns the new one. Waits for effects in flight; every statement that still carries an
 * older epoch fails from now on with StaleEpoch.
 * @param floor an epoch that was taken once, as somebody else than the database remembers: the new one is above it
 */
export const takeEpoch = async (pg: Pg, holder: string, lease: string = LEASE, floor = 0): Promise<number> => {
  const text = 'select take_epoch($1, $2, $3) as epoch'
  const { rows } = await pg.query<{ epoch: number }>('take_epoch', text, [lease, holder, floor])
  const epoch = rows[0]?.epoch
  if (epoch === undefined) throw new Error('take_epoch gave no epoch')
  return epoch
}

const LEADING = `hashtextextended('bottega leads by ${LEASE}', 0)`
/** Said by a connection of who leads: it shows for as long as that lives (`isLed`). Leaders that overlap do not wait for each other. */
export const SHOW_LEADING = `select pg_advisory_lock_shared(${LEADING})`

/** Whether somebody leads by this database, however old their epoch is. */
export const isLed = async (pg: Pg): Promise<boolean> => {
  const text = `select pg_try_advisory_xact_lock(${LEADING}) as "isFree"`
  const { rows } = await pg.query<{ isFree: boolean }>('is_led', text, [])
  return rows[0]?.isFree !== true
}

/**
 * Raises the epoch that is held above a mark that was found outside.
 * @throws StaleEpoch when it is not held any more
 */
export const raiseEpoch = async (pg: Pg, held: number, mark: number): Promise<number> => {
  const text = 'select raise_epoch($1, $2, $3) as epoch'
  const { rows } = await pg.query<{ epoch: number }>('raise_epoch', text, [LEASE, held, mark])
  const epoch = rows[0]?.epoch
  if (epoch === undefined) throw new Error('raise_epoch gave no epoch')
  return epoch
}
