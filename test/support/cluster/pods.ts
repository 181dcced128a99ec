/** Pods of the chart, as a test looks at them. */
import type { Kubectl } from '../../../hack/platform/kubectl.ts'

type Volume = { secret?: { secretName: string }; projected?: object }

export type Pod = {
  metadata: { name: string }
  spec: { containers: { env?: { valueFrom?: { secretKeyRef?: { name: string } } }[] }[]; volumes?: Volume[] }
  status: { podIP: string; containerStatuses?: { state: { terminated?: { exitCode: number; reason: string } } }[] }
}

export const podsWith = async (kubectl: Kubectl, namespace: string, selector: string): Promise<Pod[]> =>
  JSON.parse(await kubectl(['get', 'pods', '-n', namespace, '-l', selector, '-o', 'json'])).items

/** Each Secret that it is given anything of, once. */
export const secretsOf = ({ spec: { containers, volumes = [] } }: Pod): string[] => [
  ...new Set([
    ...containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])),
    ...volumes.flatMap(({ secret }) => secret?.secretName ?? []),
  ]),
]

/** Whether a token of the cluster lies in it. */
export const hasClusterToken = ({ spec: { volumes = [] } }: Pod): boolean => volumes.some(({ projected }) => projected)

/** A script of node that tries to connect, and prints the names of the places that let it, as a JSON array. @param places name → `host:port` */
export const reachScript = (places: Readonly<Record<string, string>>): string => `
  const { connect } = require('node:net')
  const tries = Object.entries(${JSON.stringify(places)}).map(([name, place]) => new Promise((resolve) => {
    const at = place.lastIndexOf(':')
    const socket = connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)), timeout: 5000 })
    const end = (isReached) => { socket.destroy(); resolve(isReached ? [name] : []) }
    socket.on('connect', () => end(true)).on('error', () => end(false)).on('timeout', () => end(false))
  }))
  Promise.all(tries).then((found) => console.log(JSON.stringify(found.flat())))`
