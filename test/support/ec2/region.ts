/**
 * What stands in the region of the stand-in, and the rules that the real one has and easy fakes leave out: a disk only grows,
 * an instance type has the image's architecture, an address in use is not released. States follow a clock that tests move.
 */
import { instanceTypeNamed } from '../../../crds/devinstance/sizing/sizes.ts'
import { Ec2Refusal } from './query.ts'

/** How long things take. A machine that has ended is shown for an hour more. */
export const TAKES_MS = { boot: 4_000, stop: 4_000, end: 4_000, grow: 4_000, forget: 3_600_000 } as const
const USER_DATA_BYTES_MAX = 16_384
const ADDRESSES_MAX = 5
const MODIFICATIONS_MAX = 4
const DAY_MS = 24 * 3_600_000

export type Tagged = { tags: Map<string, string>; madeMs: number }
export type Ec2Machine = Tagged & {
  id: string
  type: string
  imageId: string
  arch: string
  /** The state that it is in from `changesMs` on, and the one until then. */
  state: 'running' | 'stopped' | 'terminated'
  before: 'pending' | 'stopping' | 'shutting-down'
  changesMs: number
  /** Anew with each start, as EC2 has it. */
  launchedMs: number
  volumeId: string
  userData: Buffer
  shutdownBehavior: string
  httpTokens: string
  hopLimit: number
  creditMode: string
  rootDevice: string
}
export type Ec2Volume = Tagged & {
  id: string
  sizeGb: number
  type: string
  encrypted: boolean
  attachedTo: string | null
  deleteOnTermination: boolean
  changedMs: number[]
}
export type Ec2Address = Tagged & { id: string; ip: string; association: { id: string; machineId: string } | null }
export type Ec2Image = { arch: string; rootDevice: string }

export type Ec2Region = {
  nowMs(): number
  machines: Map<string, Ec2Machine>
  volumes: Map<string, Ec2Volume>
  addresses: Map<string, Ec2Address>
  images: ReadonlyMap<string, Ec2Image>
  /** Of launches: what was asked under the token, and what was made of it. */
  tokens: Map<string, { asked: string; machineId: string }>
  nextId(prefix: string): string
  /** `type base64`, where machines answer with real ones; without it each has one of its own, which is none. */
  hostKeyOf?: (machineId: string) => string
}

export const makeRegion = (nowMs: () => number): Ec2Region => {
  let made = 0
  return {
    nowMs,
    machines: new Map(),
    volumes: new Map(),
    addresses: new Map(),
    images: new Map([
      ['ami-0aaaaaaaaaaaaaaa1', { arch: 'arm64', rootDevice: '/dev/xvda' }],
      ['ami-0bbbbbbbbbbbbbbb2', { arch: 'x86_64', rootDevice: '/dev/sda1' }],
    ]),
    tokens: new Map(),
    nextId(prefix) {
      made += 1
      return `${prefix}-${made.toString(16).padStart(17, '0')}`
    },
  }
}

export const stateOf = ({ nowMs }: Ec2Region, { state, before, changesMs }: Ec2Machine): string =>
  nowMs() >= changesMs ? state : before

const notFound = (code: string, id: string): Ec2Refusal => new Ec2Refusal(code, `The ID '${id}' does not exist`)

export const isForgotten = ({ nowMs }: Ec2Region, { state, changesMs }: Ec2Machine): boolean =>
  state === 'terminated' && nowMs() >= changesMs + TAKES_MS.forget

export const machineNamed = (region: Ec2Region, id: string): Ec2Machine => {
  const found = region.machines.get(id)
  if (!found || isForgotten(region, found)) throw notFound('InvalidInstanceID.NotFound', id)
  return found
}

/** Under a token: the machine that was made of it before, where it still is one (boto/boto3#4406). */
export const machineOfToken = (region: Ec2Region, machineId: string): Ec2Machine => {
  const found = region.machines.get(machineId)
  if (!found || stateOf(region, found) === 'terminated')
    throw new Ec2Refusal('IdempotentInstanceTerminated', 'The client token is associated with a terminated instance.')
  return found
}

export const volumeNamed = ({ volumes }: Ec2Region, id: string): Ec2Volume => {
  const found = volumes.get(id)
  if (!found) throw notFound('InvalidVolume.NotFound', id)
  return found
}

export const addressNamed = ({ addresses }: Ec2Region, id: string): Ec2Address => {
  const found = addresses.get(id)
  if (!found) throw notFound('InvalidAllocationID.NotFound', id)
  return found
}

const wrongState = ({ id }: Ec2Machine, state: string): Ec2Refusal =>
  new Ec2Refusal('IncorrectInstanceState', `The instance '${id}' is not in a state for this: it is ${state}`)

export const refuseOtherThan = (region: Ec2Region, machine: Ec2Machine, states: readonly string[]): void => {
  const state = stateOf(region, machine)
  if (!states.includes(state)) throw wrongState(machine, state)
}

const archOf = (type: string, code: string): string => {
  const known = instanceTypeNamed(type)
  if (!known) throw new Ec2Refusal(code, `Invalid value '${type}' for InstanceType.`)
  return known.arch
}

export type Ec2Launch = Pick<
  Ec2Machine,
  'type' | 'imageId' | 'userData' | 'shutdownBehavior' | 'httpTokens' | 'hopLimit' | 'creditMode'
> & {
  disk: Pick<Ec2Volume, 'sizeGb' | 'type' | 'encrypted' | 'deleteOnTermination'> & { device: string }
  tags: Map<string, string>
  volumeTags: Map<string, string>
}

const refuseBadLaunch = ({ images }: Ec2Region, { type, imageId, userData, disk }: Ec2Launch): Ec2Image => {
  const image = images.get(imageId)
  if (!image) throw notFound('InvalidAMIID.NotFound', imageId)
  if (archOf(type, 'InvalidParameterValue') !== image.arch)
    throw new Ec2Refusal('InvalidParameterValue', `The architecture of '${type}' is not that of '${imageId}'`)
  if (userData.length > USER_DATA_BYTES_MAX)
    throw new Ec2Refusal('InvalidParameterValue', 'User data is limited to 16384 bytes')
  if (disk.device !== image.rootDevice)
    throw new Ec2Refusal('InvalidBlockDeviceMapping', `The root device of '${imageId}' is ${image.rootDevice}`)
  return image
}

export const launchMachine = (region: Ec2Region, launch: Ec2Launch): Ec2Machine => {
  const image = refuseBadLaunch(region, launch)
  const { disk, tags, volumeTags, ...rest } = launch
  const madeMs = region.nowMs()
  const { device: _, ...volumeShape } = disk
  const id = region.nextId('i')
  const volumeId = region.nextId('vol')
  const machine: Ec2Machine = {
    ...rest,
    id,
    volumeId,
    tags: new Map(tags),
    madeMs,
    launchedMs: madeMs,
    arch: image.arch,
    rootDevice: image.rootDevice,
    state: 'running',
    before: 'pending',
    changesMs: madeMs + TAKES_MS.boot,
  }
  region.machines.set(id, machine)
  region.volumes.set(volumeId, {
    ...volumeShape,
    id: volumeId,
    attachedTo: id,
    tags: new Map(volumeTags),
    madeMs,
    changedMs: [],
  })
  return machine
}

const change = (region: Ec2Region, machine: Ec2Machine, to: Pick<Ec2Machine, 'state' | 'before'>, ms: number): void => {
  Object.assign(machine, to, { changesMs: region.nowMs() + ms })
}

export const startMachine = (region: Ec2Region, machine: Ec2Machine): void => {
  if (['running', 'pending'].includes(stateOf(region, machine))) return
  refuseOtherThan(region, machine, ['stopped'])
  change(region, machine, { state: 'running', before: 'pending' }, TAKES_MS.boot)
  machine.launchedMs = region.nowMs()
}

export const stopMachine = (region: Ec2Region, machine: Ec2Machine): void => {
  if (['stopped', 'stopping'].includes(stateOf(region, machine))) return
  refuseOtherThan(region, machine, ['running'])
  change(region, machine, { state: 'stopped', before: 'stopping' }, TAKES_MS.stop)
}

/** Its disk goes with it where that was asked at the launch; its address stays, and leads nowhere. */
export const endMachine = (region: Ec2Region, machine: Ec2Machine): void => {
  if (['terminated', 'shutting-down'].includes(stateOf(region, machine))) return
  change(region, machine, { state: 'terminated', before: 'shutting-down' }, TAKES_MS.end)
  const volume = region.volumes.get(machine.volumeId)
  if (volume?.deleteOnTermination) region.volumes.delete(volume.id)
  else if (volume) volume.attachedTo = null
  for (const address of region.addresses.values())
    if (address.association?.machineId === machine.id) address.association = null
}

export const retypeMachine = (region: Ec2Region, machine: Ec2Machine, type: string): void => {
  refuseOtherThan(region, machine, ['stopped'])
  if (archOf(type, 'InvalidInstanceAttributeValue') !== machine.arch)
    throw new Ec2Refusal('InvalidParameterCombination', `'${type}' has another architecture than the instance`)
  machine.type = type
}

export const isModifying = ({ nowMs }: Ec2Region, { changedMs }: Ec2Volume): boolean =>
  nowMs() - (changedMs.at(-1) ?? Number.NEGATIVE_INFINITY) < TAKES_MS.grow

export const growVolume = (region: Ec2Region, volume: Ec2Volume, sizeGb: number): void => {
  const now = region.nowMs()
  if (sizeGb < volume.sizeGb)
    throw new Ec2Refusal('InvalidParameterValue', 'New size cannot be smaller than existing size')
  if (isModifying(region, volume))
    throw new Ec2Refusal('IncorrectModificationState', `Volume ${volume.id} is already modifying`)
  if (volume.changedMs.filter((ms) => now - ms < DAY_MS).length >= MODIFICATIONS_MAX)
    throw new Ec2Refusal('VolumeModificationRateExceeded', 'The volume was modified four times within 24 hours')
  volume.sizeGb = sizeGb
  volume.changedMs.push(now)
}

export const removeVolume = (region: Ec2Region, volume: Ec2Volume): void => {
  if (volume.attachedTo !== null) throw new Ec2Refusal('VolumeInUse', `Volume ${volume.id} is attached`)
  region.volumes.delete(volume.id)
}

export const allocateAddress = (region: Ec2Region, tags: Map<string, string>): Ec2Address => {
  if (region.addresses.size >= ADDRESSES_MAX)
    throw new Ec2Refusal('AddressLimitExceeded', 'The maximum number of addresses has been reached.')
  const id = region.nextId('eipalloc')
  const last = Number.parseInt(id.slice(-4), 16)
  const address: Ec2Address = {
    id,
    ip: `198.51.${100 + (last >> 8)}.${last & 255}`,
    association: null,
    tags,
    madeMs: region.nowMs(),
  }
  region.addresses.set(id, address)
  return address
}

export const associateAddress = (region: Ec2Region, address: Ec2Address, machine: Ec2Machine): string => {
  const state = stateOf(region, machine)
  // of a network interface EC2 says IncorrectInstanceState, of an instance this (hashicorp/terraform-provider-aws#21228)
  if (!['running', 'stopped', 'stopping'].includes(state)) {
    const said = `The ${state} instance '${machine.id}' is not in a valid state for this operation.`
    throw new Ec2Refusal('InvalidInstanceID', said)
  }
  if (address.association?.machineId === machine.id) return address.association.id
  if (address.association)
    throw new Ec2Refusal('Resource.AlreadyAssociated', `resource ${address.id} is already associated`)
  // a machine has one; the one before leads nowhere from then on
  for (const other of region.addresses.values())
    if (other.association?.machineId === machine.id) other.association = null
  address.association = { id: region.nextId('eipassoc'), machineId: machine.id }
  return address.association.id
}

export const releaseAddress = (region: Ec2Region, address: Ec2Address): void => {
  if (address.association) throw new Ec2Refusal('InvalidIPAddress.InUse', `Address ${address.ip} is in use.`)
  region.addresses.delete(address.id)
}
