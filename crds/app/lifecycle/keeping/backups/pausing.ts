/** A service that is paused for a backup is not down: nobody else lets it go on, or two moments would be in the copy. */
import type { AppObservation } from '../../../world.ts'
import type { AppBackup } from './backup.ts'

const isPausing = ({ restores, state, packed, consistency }: AppBackup): boolean =>
  restores === null && state === 'running' && packed === null && consistency === 'moment'

/** What was seen, with what is paused as if it were about to go on. */
export const withoutPause = (look: AppObservation | null, backups: readonly AppBackup[]): AppObservation | null => {
  const paused = look?.containers.filter(({ state }) => state === 'paused') ?? []
  if (look === null || paused.length === 0 || !backups.some(isPausing)) return look
  return {
    ...look,
    containers: look.containers.map((one) => (one.state === 'paused' ? { ...one, state: 'created' } : one)),
    stopped: look.stopped.filter(({ service }) => paused.every((one) => one.service !== service)),
  }
}
