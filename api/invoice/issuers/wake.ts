/** Asks the controllers to look at an account, and so at whatever of it is not ready. */
import { KubeError } from '../../../controllers/base/errors.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'

/**
 * An invoice that is Stalled for want of its issuer looks again, and logos that were sent are looked into. What was written
 * stands without it: where the control plane cannot be reached, the next pass over the account does the same.
 */
export const wakeAccount = async (deps: Pick<Deps, 'wake'>, { caller }: Pick<ApiRequest, 'caller'>): Promise<void> => {
  try {
    await deps.wake(ACCOUNT, caller.profile.id)
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
  }
}
