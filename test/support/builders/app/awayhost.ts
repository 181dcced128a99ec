import { makeKube } from '../../../../controllers/kube/kube.ts'
import { HOST } from '../../../../crds/host/kind.ts'
import { eventually, type Platform } from '../../stage/invoicing.ts'

/** Hosts that are registered and cannot be reached: what is decided from rows and resources alone. */

export const HOST_KEY = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`

type Machine = { arch: string; capacity: { cpuMillis: number; memoryMib: number; diskGib: number } }
type Given = { name: string; machine: Machine; spec: object }

/** As if it had been inspected: what was known of a host that is away stands. */
export const addAwayHost = async (platform: Platform, { name, machine, spec: more }: Given): Promise<void> => {
  const at = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey: HOST_KEY, baseDomain: `${name}.test` }
  const spec = { ...at, ...more }
  const resource = { apiVersion: 'bottega.dev/v1alpha1', kind: 'Host', metadata: { name }, spec }
  await platform.kubectl(['apply', '-f', '-'], resource)
  const phase = () => platform.kubectl(['get', 'bhost', name, '-o', 'jsonpath={.status.phase}'])
  await eventually(`a look at ${name}`, async () => (await phase()) !== '')
  const operator = makeKube({ kubeconfig: platform.kubeconfigs.controllers })
  await operator.patchStatus(HOST, { namespace: platform.namespace.name, name }, machine)
  await operator.close()
}
