/**
 * What a cloud has to be able to do for dev instances: sixteen verbs at most, each of them one call of the cloud where it can be.
 * A driver keeps nothing. What it makes bears two tags, so that it can be found again by whoever comes after a crash, and so
 * that what another installation made is never taken for our own.
 */
import type { SizeArch } from '../../../../crds/devinstance/sizing/sizes.ts'

/** The tags of all that is made: whose it is, for which dev instance, and its name for people. */
export const INSTALLATION_TAG = 'bottega:installation'
export const BOX_TAG = 'bottega:devbox'
export const NAME_TAG = 'Name'

/** Null where the tag is missing: then nobody of ours made it. */
export type CloudTags = { installation: string | null; box: string | null; label: string | null }

export type MachineState = 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated'

export type CloudMachine = CloudTags & {
  machineId: string
  state: MachineState
  instanceType: string
  /** ISO, and anew with each start; of two that were never started again, the one that was launched first is the one. */
  launchedAt: string
}

/** `attachedTo`: the machine, or null. `isGrowing`: a change of its size is under way. */
export type CloudVolume = CloudTags & {
  volumeId: string
  sizeGb: number
  attachedTo: string | null
  isGrowing: boolean
}

/** `associated`: with which machine, and under which id the two are told apart again. */
export type CloudAddress = CloudTags & {
  allocationId: string
  publicIp: string
  associated: { machineId: string; associationId: string } | null
}

export type CloudInventory = { machines: CloudMachine[]; volumes: CloudVolume[]; addresses: CloudAddress[] }

/** What rows name; it is looked for whatever its tags say. */
export type KnownIds = { machineIds: readonly string[]; allocationIds: readonly string[] }

export type MachineOrder = {
  /** The cloud makes one machine of it, however often it is repeated, and none once that machine has ended. */
  clientToken: string
  tags: CloudTags
  instanceType: string
  arch: SizeArch
  diskGb: number
  userData: Buffer
}

/** What the cloud says of a machine for finalize, under the names that finalize has. */
export type CloudFacts = {
  instanceType: string
  arch: string
  region: string
  imageId: string
  diskGb: number
  volumeType: string
  volumeEncrypted: boolean
  httpTokens: string
  hopLimit: number
  /** Of burst types only. */
  creditMode?: string
  shutdownBehavior: string
  userDataSha256: string
}

export type CloudDriver = {
  /** For so long what it was just told to make may not be shown. */
  settleMs: number
  /** What a machine has has no name of its own: it is called as the machine is, and as nothing once that is gone. */
  namesMachinesOnly: boolean
  /** All that bears the tag of the installation, and what is known by its id. */
  inventory(known: KnownIds): Promise<CloudInventory>
  launch(launch: MachineOrder): Promise<{ machineId: string }>
  start(machineId: string): Promise<void>
  stop(machineId: string): Promise<void>
  terminate(machineId: string): Promise<void>
  /** Of a machine that is stopped. */
  retype(machineId: string, instanceType: string): Promise<void>
  grow(volumeId: string, sizeGb: number): Promise<void>
  removeVolume(volumeId: string): Promise<void>
  /** A new address each time: there is no token for it, so whoever repeats it looks first. */
  allocate(tags: CloudTags): Promise<CloudAddress>
  associate(allocationId: string, machineId: string): Promise<{ associationId: string }>
  disassociate(associationId: string): Promise<void>
  release(allocationId: string): Promise<void>
  /** Gives things of any sort a new name. */
  label(ids: readonly string[], label: string): Promise<void>
  facts(machineId: string): Promise<CloudFacts>
  /** What the machine has written on its console, or '' while there is nothing. */
  console(machineId: string): Promise<string>
}

/**
 * capacity: none of this type here and now. limit: of the account. busy: later. missing: there is no such thing, or it is not
 * seen yet. spent: the machine of this client token has ended. unknown: whether it was done cannot be said. denied: the
 * credentials do not allow it. refused: asked wrongly.
 */
export type CloudFaultSort = 'capacity' | 'limit' | 'busy' | 'missing' | 'spent' | 'unknown' | 'denied' | 'refused'

/** How a call of the cloud failed. */
export class CloudFault extends Error {
  readonly sort: CloudFaultSort
  /** In the cloud's own words. */
  readonly code: string
  constructor(sort: CloudFaultSort, code: string, message: string) {
    super(message)
    this.name = 'CloudFault'
    this.sort = sort
    this.code = code
  }
}
