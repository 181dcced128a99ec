/** Whether something failed because a part that we stand on is away, and not because of what was asked. */
import { KubeError } from '../../base/errors.ts'
import { DatabaseUnavailable } from './pg.ts'

/** The control plane gave no answer, or one that says that it cannot serve now. */
export const isPlaneAway = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500)

/** The control plane or the ledger. Of a write that ended so it is not known whether it was done. */
export const isAway = (error: unknown): boolean => isPlaneAway(error) || error instanceof DatabaseUnavailable
