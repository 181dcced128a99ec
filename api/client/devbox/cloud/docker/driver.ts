/**
 * Dev instances in Docker, for one's own machine and for tests (hack/decisions/091). Docker shows at once what it was told, so
 * nothing is kept here; what the two tags do not name as ours is never acted on.
 */
import { createHash } from 'node:crypto'
import { isBurst } from '../../../../../crds/devinstance/sizing/sizes.ts'
import { type CloudDriver, type CloudFacts, CloudFault, INSTALLATION_TAG, type MachineOrder } from '../driver.ts'
import { addressFrom, type DockerNetwork, joinedBy, networkFor, rangeOf } from './addresses.ts'
import { containerOf, limitsOf, type MachineName, machineIdFor, nameOf, userDataIn } from './container.ts'
import { openEngine } from './engine.ts'
import {
  type DockerParts,
  type DockerSettings,
  type Found,
  inventory,
  machineNamed,
  missing,
  networkNamed,
} from './look.ts'

const STOP_SECONDS = '60'
/** Of the console: the host keys stand near its end, behind what systemd says. */
const CONSOLE_LINES = '2000'
const ARCHES: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'arm64' }

const archOf = async ({ engine }: DockerParts, image: string): Promise<string> => {
  const { Architecture } = await engine.json<{ Architecture: string }>({ method: 'GET', path: `/images/${image}/json` })
  return ARCHES[Architecture] ?? Architecture
}

const post = async (
  { engine }: DockerParts,
  path: string,
  more: { query?: Record<string, string>; body?: object } = {},
) => void (await engine.text({ method: 'POST', path, ...more }))

/** With the limits of the type that it is now. */
const started = async (parts: DockerParts, { container, name }: Found): Promise<void> => {
  const at = `/containers/${container.Id}`
  await post(parts, `${at}/update`, { body: limitsOf(name.instanceType) })
  await post(parts, `${at}/start`)
}

/** Who repeats an order finds the machine that was made of it: its id is the order's. */
const launched = async (parts: DockerParts, order: MachineOrder): Promise<{ machineId: string }> => {
  const { clientToken, instanceType, diskGb, tags, arch } = order
  const machineId = machineIdFor(clientToken)
  const has = await archOf(parts, parts.image)
  if (has !== arch)
    throw new CloudFault('refused', 'ImageArchitecture', `${parts.image} is of ${has}, and it is to be ${arch}`)
  const present = await machineNamed(parts, machineId)
  if (!present) {
    const name = nameOf({ machineId, instanceType, diskGb, label: tags.label })
    await post(parts, '/containers/create', { query: { name }, body: containerOf(order, parts) })
  }
  await started(parts, present ?? (await theMachine(parts, machineId)))
  return { machineId }
}

/** @throws CloudFault missing */
const theMachine = async (parts: DockerParts, machineId: string): Promise<Found> => {
  const found = await machineNamed(parts, machineId)
  if (!found) throw missing(machineId)
  return found
}

/** What changes of a machine is its name. */
const renamed = async (parts: DockerParts, { container, name }: Found, change: Partial<MachineName>): Promise<void> => {
  const query = { name: nameOf({ ...name, ...change }) }
  if (query.name !== container.Names[0]?.slice(1)) await post(parts, `/containers/${container.Id}/rename`, { query })
}

const powerVerbs = (parts: DockerParts): Pick<CloudDriver, 'start' | 'stop' | 'terminate' | 'retype'> => ({
  start: async (id) => started(parts, await theMachine(parts, id)),
  stop: async (id) => {
    const { container } = await theMachine(parts, id)
    await post(parts, `/containers/${container.Id}/stop`, { query: { t: STOP_SECONDS } })
  },
  terminate: async (id) => {
    const { container } = await theMachine(parts, id)
    const path = `/containers/${container.Id}`
    await parts.engine.text({ method: 'DELETE', path, query: { force: 'true' } })
  },
  retype: async (id, instanceType) => renamed(parts, await theMachine(parts, id), { instanceType }),
})

const addressVerbs = (parts: DockerParts): Pick<CloudDriver, 'allocate' | 'associate' | 'disassociate' | 'release'> => {
  const { engine, addressRange } = parts
  return {
    async allocate(tags) {
      const range = rangeOf(addressRange)
      if (!range) throw new CloudFault('refused', 'InvalidRange', `${addressRange} is no range of addresses`)
      const present = await engine.json<DockerNetwork[]>({ method: 'GET', path: '/networks' })
      const body = networkFor(range, present, tags)
      const { Id } = await engine.json<{ Id: string }>({ method: 'POST', path: '/networks/create', body })
      return addressFrom(await engine.json<DockerNetwork>({ method: 'GET', path: `/networks/${Id}` }), undefined)
    },
    async associate(allocationId, machineId) {
      const { container } = await theMachine(parts, machineId)
      const network = await networkNamed(parts, allocationId)
      const { publicIp, associated } = addressFrom(network, machineId)
      // the one place of the subnet: a second machine is refused it
      const EndpointConfig = { IPAMConfig: { IPv4Address: publicIp } }
      await post(parts, `/networks/${network.Id}/connect`, { body: { Container: container.Id, EndpointConfig } })
      return { associationId: associated?.associationId ?? '' }
    },
    async disassociate(associationId) {
      const { allocationId, machineId } = joinedBy(associationId)
      const { container } = await theMachine(parts, machineId)
      const network = await networkNamed(parts, allocationId)
      await post(parts, `/networks/${network.Id}/disconnect`, { body: { Container: container.Id, Force: true } })
    },
    async release(allocationId) {
      const network = await networkNamed(parts, allocationId)
      await engine.text({ method: 'DELETE', path: `/networks/${network.Id}` })
    },
  }
}

type OwnVolume = { Labels: Readonly<Record<string, string>> | null }

const diskVerbs = (parts: DockerParts): Pick<CloudDriver, 'grow' | 'removeVolume'> => ({
  async grow(volumeId, diskGb) {
    const { volumes } = await inventory(parts, { machineIds: [], allocationIds: [] })
    const on = volumes.find((one) => one.volumeId === volumeId)?.attachedTo
    if (!on) throw missing(volumeId)
    await renamed(parts, await theMachine(parts, on), { diskGb })
  },
  async removeVolume(volumeId) {
    const path = `/volumes/${volumeId}`
    const { Labels } = await parts.engine.json<OwnVolume>({ method: 'GET', path })
    if (Labels?.[INSTALLATION_TAG] !== parts.installation) throw missing(volumeId)
    await parts.engine.text({ method: 'DELETE', path })
  },
})

/** What finalize asks and a container has no counterpart of, as strict as it can be said. */
const WITHOUT_COUNTERPART = {
  // the class that disks are priced as
  volumeType: 'gp3',
  // there is no metadata service, so none that answers without a token, or from further away
  httpTokens: 'required',
  hopLimit: 1,
} as const

type Inspected = {
  Image: string
  Config: { Env: string[] }
  HostConfig: { RestartPolicy: { Name: string } }
}

const facts = async (parts: DockerParts, machineId: string): Promise<CloudFacts> => {
  const { container, name } = await theMachine(parts, machineId)
  const path = `/containers/${container.Id}/json`
  const { Image, Config, HostConfig } = await parts.engine.json<Inspected>({ method: 'GET', path })
  return {
    ...WITHOUT_COUNTERPART,
    instanceType: name.instanceType,
    arch: await archOf(parts, Image),
    region: parts.region,
    imageId: Image,
    diskGb: name.diskGb,
    volumeEncrypted: parts.isEncrypted,
    // a limit of CPU is a limit: nothing beyond it is lent or billed
    ...(isBurst(name.instanceType) && { creditMode: 'standard' }),
    shutdownBehavior: HostConfig.RestartPolicy.Name === 'no' ? 'stop' : HostConfig.RestartPolicy.Name,
    userDataSha256: createHash('sha256').update(userDataIn(Config.Env)).digest('hex'),
  }
}

export const makeDocker = (settings: DockerSettings): CloudDriver => {
  const parts: DockerParts = { ...settings, engine: openEngine(settings) }
  return {
    // it shows at once what it was told
    settleMs: 0,
    namesMachinesOnly: true,
    inventory: (known) => inventory(parts, known),
    launch: (order) => launched(parts, order),
    ...powerVerbs(parts),
    ...addressVerbs(parts),
    ...diskVerbs(parts),
    async label(ids, label) {
      const found = await Promise.all(ids.filter((id) => id.startsWith('i-')).map((id) => theMachine(parts, id)))
      if (found.length === 0)
        throw new CloudFault(
          'refused',
          'NameIsTheMachines',
          `${ids.join(', ')}: is called as its machine is, and that is gone`,
        )
      for (const one of found) await renamed(parts, one, { label })
    },
    facts: (machineId) => facts(parts, machineId),
    async console(machineId) {
      const { container } = await theMachine(parts, machineId)
      const query = { stdout: 'true', tail: CONSOLE_LINES }
      return parts.engine.text({ method: 'GET', path: `/containers/${container.Id}/logs`, query })
    },
  }
}
