import { join } from 'node:path'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { applyNamespace, applyPlatform, writeServiceKubeconfig } from '../../../hack/platform/platform.ts'
import { createStack, type Stack } from '../../../hack/platform/stack.ts'
import type { Platform } from '../stage/invoicing.ts'
import { kubectlFor, scratchFolder } from '../stage/stage.ts'

/**
 * The two processes in another cluster, with the platform and nothing on it, given the database of a platform that lives elsewhere.
 * Whoever asks for it starts what it wants of it, and stops it.
 */
export async function makeStrangers(
  platform: Pick<Platform, 'namespace' | 'database' | 'secretKey'>,
  plane: ControlPlane,
): Promise<Stack> {
  const folder = scratchFolder('strangers')
  const kubectl = kubectlFor(plane.kubeconfig)
  const kubeconfigs = { api: join(folder, 'api.kubeconfig'), controllers: join(folder, 'controllers.kubeconfig') }
  await applyPlatform(kubectl)
  await applyNamespace(kubectl, platform.namespace.name)
  await writeServiceKubeconfig(kubectl, 'api', kubeconfigs.api)
  await writeServiceKubeconfig(kubectl, 'controllers', kubeconfigs.controllers)
  return createStack({
    folder,
    owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
    namespace: platform.namespace.name,
    databaseUrl: platform.database.url,
    kubeconfigs,
    env: { BOTTEGA_SECRET_KEY: platform.secretKey },
  })
}
