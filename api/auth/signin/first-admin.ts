/**
 * The first administrator, from settings and never with a password: the reader of mail at that address signs in by a
 * link. Made once; when any administrator exists the setting does nothing, so it may stay.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists } from '../../../controllers/base/errors.ts'
import type { Log } from '../../../controllers/base/log.ts'
import type { Kube } from '../../../controllers/kube/kube.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import { GROUP, VERSION } from '../../../crds/kernel/object.ts'

export const FIRST_ADMIN = 'admin'
const RETRY_MS = 5_000

type Settings = { kube: Kube; namespace: string; email: string }

/** @returns whether the account was made, an administrator was there, or its name was in use @throws KubeError */
export const ensureFirstAdmin = async ({ kube, namespace, email }: Settings) => {
  const admins = await kube.list(ACCOUNT, { namespace, fieldSelector: 'spec.role=admin', limit: 1 })
  if (admins.items.length > 0) return 'there is one' as const
  const metadata = { name: FIRST_ADMIN, namespace }
  const spec = { email, name: 'Administrator', role: 'admin' }
  try {
    await kube.create(ACCOUNT, { apiVersion: `${GROUP}/${VERSION}`, kind: ACCOUNT.kind, metadata, spec })
    return 'made' as const
  } catch (error) {
    // Another replica was faster, or a member is called that.
    if (isAlreadyExists(error)) return 'name in use' as const
    throw error
  }
}

/** Tries until the API server has answered; the service serves meanwhile. */
export const startFirstAdmin = (settings: Settings, log: Log, signal: AbortSignal): void => {
  const run = async () => {
    while (!signal.aborted) {
      try {
        const outcome = await ensureFirstAdmin(settings)
        return log.info({ outcome, account: FIRST_ADMIN }, 'first administrator looked for')
      } catch (err) {
        log.warn({ err }, 'first administrator not looked for; it is tried again')
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }
  run().catch((err) => log.error({ err }, 'first administrator not looked for'))
}
