/** Asks the controllers to look at an account, and so at whatever of it is not ready. */
import { KubeError } from '../../controllers/runtime/errors.ts'
import { ACCOUNT } from '../../crds/account/kind.ts'
import { RECONCILE_REQUESTED_AT } from '../../crds/object.ts'
import type { Deps } from '../deps.ts'

/**
 * An invoice that is Stalled for want of its issuer looks again, and logos that were sent are looked into. What was written
 * stands without it: where the control plane cannot be reached, the next pass over the account does the same.
 */
export const wakeAccount = async (deps: Deps, account: string): Promise<void> => {
  const annotations = { [RECONCILE_REQUESTED_AT]: deps.now().toISOString() }
  try {
    await deps.kube.patchMeta(ACCOUNT, { namespace: deps.namespace, name: account }, { annotations })
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
  }
}
