/** What of Docker is a dev instance's, in our words. */
import {
  type CloudAddress,
  CloudFault,
  type CloudInventory,
  type CloudMachine,
  type CloudTags,
  type CloudVolume,
  INSTALLATION_TAG,
  type KnownIds,
  type MachineState,
} from '../driver.ts'
import { addressFrom, type DockerNetwork, networkIdOf } from './addresses.ts'
import { type DockerLabels, MACHINE_LABEL, type MachineName, readName, tagsFrom } from './container.ts'
import type { Engine } from './engine.ts'

export type DockerSettings = {
  installation: string
  socketPath: string
  /** A Debian with systemd, sshd and cloud-init. */
  image: string
  /** The key that opens the first login: cloud-init gives it to the user it makes. */
  authorizedKey: string
  /** The network by which machines reach the world. */
  network: string
  /** What addresses are taken of, as 10.83.0.0/24. */
  addressRange: string
  /** A folder of sockets that machines have on their loopback, each under the port that it is called as; empty: none. */
  loopback: string
  /** What is told as the place: nobody has reviewed prices of it, and the registry says so. */
  region: string
  /** The operator's word for it that what Docker keeps lies on an encrypted disk: nobody can look. */
  isEncrypted: boolean
  /** Of one call, the stop of a machine too. */
  timeoutMs: number
}

type Container = {
  Id: string
  Names: string[]
  Labels: DockerLabels
  State: string
  /** Seconds since 1970. */
  Created: number
  Mounts: { Type: string; Name?: string }[]
  NetworkSettings: { Networks: Readonly<Record<string, unknown>> }
}
type Volume = { Name: string; Labels: DockerLabels | null }
/** What a driver acts with. */
export type DockerParts = DockerSettings & { engine: Engine }
/** With what changes of it. */
export type Found = { container: Container; name: MachineName }

const STATES: Readonly<Record<string, MachineState>> = {
  created: 'stopped',
  exited: 'stopped',
  removing: 'shutting-down',
  dead: 'shutting-down',
}

const labelled = (label: string, value: string): string => JSON.stringify({ label: [`${label}=${value}`] })

export const containersBy = async ({ engine }: DockerParts, label: string, value: string): Promise<Found[]> => {
  const query = { all: 'true', filters: labelled(label, value) }
  const found = await engine.json<Container[]>({ method: 'GET', path: '/containers/json', query })
  return found.flatMap((container) => {
    const name = readName(container.Names[0] ?? '', container.Labels)
    return name ? [{ container, name }] : []
  })
}

export const missing = (id: string): CloudFault =>
  new CloudFault('missing', 'NotFound', `Docker has no ${id} of this installation`)

/** One that is ours, by its id. */
export const machineNamed = async (parts: DockerParts, machineId: string): Promise<Found | undefined> => {
  const found = await containersBy(parts, MACHINE_LABEL, machineId)
  return found.find(({ container }) => container.Labels[INSTALLATION_TAG] === parts.installation)
}

/** One that is ours. @throws CloudFault missing */
export const networkNamed = async (
  { engine, installation }: DockerParts,
  allocationId: string,
): Promise<DockerNetwork> => {
  const network = await engine.json<DockerNetwork>({ method: 'GET', path: `/networks/${networkIdOf(allocationId)}` })
  if (network.Labels?.[INSTALLATION_TAG] !== installation) throw missing(allocationId)
  return network
}

const machineFrom = ({ container, name }: Found): CloudMachine => ({
  ...tagsFrom(container.Labels),
  machineId: name.machineId,
  state: STATES[container.State] ?? 'running',
  instanceType: name.instanceType,
  launchedAt: new Date(container.Created * 1000).toISOString(),
  label: name.label,
})

/** Beside the machine of a dev instance all that it has is called as that is. */
const calledAs = (machines: readonly Found[], tags: CloudTags): CloudTags => {
  const own = machines.find(({ container }) => tagsFrom(container.Labels).box === tags.box)
  return own === undefined ? tags : { ...tags, label: own.name.label }
}

const volumeFrom = (machines: readonly Found[], { Name, Labels: labels }: Volume): CloudVolume => {
  const on = machines.find(({ container }) => container.Mounts.some((mount) => mount.Name === Name))
  return {
    volumeId: Name,
    sizeGb: (on?.name ?? readName('', labels ?? {}))?.diskGb ?? 0,
    attachedTo: on?.name.machineId ?? null,
    isGrowing: false,
    ...calledAs(machines, tagsFrom(labels)),
  }
}

const addressShown = (machines: readonly Found[], network: DockerNetwork): CloudAddress => {
  const on = machines.find(({ container }) => Object.hasOwn(container.NetworkSettings.Networks, network.Name))
  return { ...addressFrom(network, on?.name.machineId), ...calledAs(machines, tagsFrom(network.Labels)) }
}

const isMissing = (error: unknown): boolean => error instanceof CloudFault && error.sort === 'missing'

/** What rows name and our tag does not. */
const strangers = async (parts: DockerParts, known: KnownIds, seen: CloudInventory): Promise<CloudInventory> => {
  const machineIds = known.machineIds.filter((id) => seen.machines.every(({ machineId }) => machineId !== id))
  const allocationIds = known.allocationIds.filter((id) =>
    seen.addresses.every(({ allocationId }) => allocationId !== id),
  )
  const [machines, networks] = await Promise.all([
    Promise.all(machineIds.map((id) => containersBy(parts, MACHINE_LABEL, id))),
    Promise.all(
      allocationIds.map((id) =>
        parts.engine
          .json<DockerNetwork>({ method: 'GET', path: `/networks/${networkIdOf(id)}` })
          .then((network) => [network])
          .catch((error) => {
            if (isMissing(error)) return []
            throw error
          }),
      ),
    ),
  ])
  return {
    machines: machines.flat().map(machineFrom),
    volumes: [],
    addresses: networks.flat().map((network) => addressFrom(network, undefined)),
  }
}

export const inventory = async (parts: DockerParts, known: KnownIds): Promise<CloudInventory> => {
  const { engine, installation } = parts
  const query = { filters: labelled(INSTALLATION_TAG, installation) }
  const [machines, { Volumes }, networks] = await Promise.all([
    containersBy(parts, INSTALLATION_TAG, installation),
    engine.json<{ Volumes: Volume[] | null }>({ method: 'GET', path: '/volumes', query }),
    engine.json<DockerNetwork[]>({ method: 'GET', path: '/networks', query }),
  ])
  const ours = {
    machines: machines.map(machineFrom),
    volumes: (Volumes ?? []).map((volume) => volumeFrom(machines, volume)),
    addresses: networks.map((network) => addressShown(machines, network)),
  }
  const others = await strangers(parts, known, ours)
  return {
    machines: [...ours.machines, ...others.machines],
    volumes: ours.volumes,
    addresses: [...ours.addresses, ...others.addresses],
  }
}
