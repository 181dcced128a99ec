/**
 * EC2, through its own SDK: for its signatures and for where credentials come from (hack/decisions/083). No call is repeated here: who
 * repeats one has looked at the inventory again, or two things would be made of one wish.
 */
import { createHash } from 'node:crypto'
import {
  AllocateAddressCommand,
  AssociateAddressCommand,
  CreateTagsCommand,
  DeleteVolumeCommand,
  DescribeAddressesCommand,
  DescribeImagesCommand,
  DescribeInstanceAttributeCommand,
  DescribeInstanceCreditSpecificationsCommand,
  DescribeInstancesCommand,
  DescribeVolumesCommand,
  DescribeVolumesModificationsCommand,
  DisassociateAddressCommand,
  EC2Client,
  type Filter,
  GetConsoleOutputCommand,
  type Instance,
  ModifyInstanceAttributeCommand,
  ModifyVolumeCommand,
  paginateDescribeInstances,
  paginateDescribeVolumes,
  ReleaseAddressCommand,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2'
import { isBurst, type SizeArch } from '../../../../../crds/devinstance/sizing/sizes.ts'
import {
  type CloudDriver,
  type CloudFacts,
  CloudFault,
  INSTALLATION_TAG,
  type KnownIds,
  type MachineOrder,
  NAME_TAG,
} from '../driver.ts'
import { faultOf } from './faults.ts'
import { addressFrom, ec2Tags, machineFrom, volumeFrom } from './read.ts'

export type Ec2Settings = {
  region: string
  installation: string
  /** Without it EC2 itself; a stand-in on loopback otherwise. */
  endpoint?: string
  subnetId: string
  securityGroupIds: readonly string[]
  /** The key pair that opens the first login; cloud-init gives it to the user it makes. */
  keyName: string
  images: Readonly<Record<SizeArch, string>>
  /** Of one call, until its outcome is given up as unknown. */
  timeoutMs: number
}

/** EC2: eventual consistency. */
const SETTLE_MS = 5 * 60_000
/** Most values that one filter takes. */
const FILTER_VALUES_MAX = 200
const PAGE = 500

const inLots = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / FILTER_VALUES_MAX) }, (_, lot) =>
    ids.slice(lot * FILTER_VALUES_MAX, (lot + 1) * FILTER_VALUES_MAX),
  )

/** Ours, and the known ones, which may be anybody's. */
const filtersFor = (installation: string, name: string, ids: readonly string[]): Filter[][] => [
  [{ Name: `tag:${INSTALLATION_TAG}`, Values: [installation] }],
  ...inLots(ids).map((Values) => [{ Name: name, Values }]),
]

/** Once each, though two filters may find the same. */
const once = <T>(found: readonly T[], idOf: (one: T) => string): T[] => [
  ...new Map(found.map((one) => [idOf(one), one])).values(),
]

const launchInput = (settings: Ec2Settings, launch: MachineOrder, rootDevice: string): RunInstancesCommandInput => {
  const { clientToken, tags, instanceType, arch, diskGb, userData } = launch
  const tagged = (['instance', 'volume'] as const).map((ResourceType) => ({ ResourceType, Tags: ec2Tags(tags) }))
  return {
    ClientToken: clientToken,
    MinCount: 1,
    MaxCount: 1,
    ImageId: settings.images[arch],
    InstanceType: instanceType as RunInstancesCommandInput['InstanceType'],
    KeyName: settings.keyName,
    SubnetId: settings.subnetId,
    SecurityGroupIds: [...settings.securityGroupIds],
    UserData: userData.toString('base64'),
    // `terminate` would let it destroy itself when it stops itself
    InstanceInitiatedShutdownBehavior: 'stop',
    MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1, HttpEndpoint: 'enabled' },
    // `unlimited` bills surplus CPU beside the price
    ...(isBurst(instanceType) && { CreditSpecification: { CpuCredits: 'standard' } }),
    BlockDeviceMappings: [
      {
        DeviceName: rootDevice,
        Ebs: { VolumeSize: diskGb, VolumeType: 'gp3', Encrypted: true, DeleteOnTermination: true },
      },
    ],
    TagSpecifications: tagged,
  }
}

/** What the image calls its first disk: /dev/xvda, /dev/sda1 and others. */
const rootDeviceOf = async (client: EC2Client, imageId: string): Promise<string> => {
  const { Images } = await client.send(new DescribeImagesCommand({ ImageIds: [imageId] }))
  const name = Images?.[0]?.RootDeviceName
  if (!name) throw new CloudFault('refused', 'InvalidAMIID.NotFound', `${imageId} is no image with a root device`)
  return name
}

/** @throws CloudFault */
const asking = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CloudFault ? error : faultOf(error)
  }
}

const instancesBy = async (client: EC2Client, Filters: Filter[]): Promise<Instance[]> => {
  const found: Instance[] = []
  for await (const page of paginateDescribeInstances({ client, pageSize: PAGE }, { Filters }))
    found.push(...(page.Reservations ?? []).flatMap(({ Instances }) => Instances ?? []))
  return found
}

const machines = async (client: EC2Client, installation: string, ids: readonly string[]) => {
  const found = await Promise.all(
    filtersFor(installation, 'instance-id', ids).map((filters) => instancesBy(client, filters)),
  )
  return once(found.flat().map(machineFrom), ({ machineId }) => machineId)
}

const volumes = async (client: EC2Client, Filters: Filter[]) => {
  const found = []
  for await (const page of paginateDescribeVolumes({ client, pageSize: PAGE }, { Filters }))
    found.push(...(page.Volumes ?? []))
  const changing = [{ Name: 'modification-state', Values: ['modifying'] }]
  const { VolumesModifications = [] } =
    found.length === 0 ? {} : await client.send(new DescribeVolumesModificationsCommand({ Filters: changing }))
  return found.map((one) => volumeFrom(one, VolumesModifications))
}

const addresses = async (client: EC2Client, installation: string, ids: readonly string[]) => {
  const found = await Promise.all(
    filtersFor(installation, 'allocation-id', ids).map((Filters) =>
      client.send(new DescribeAddressesCommand({ Filters })),
    ),
  )
  return once(found.flatMap(({ Addresses = [] }) => Addresses).map(addressFrom), ({ allocationId }) => allocationId)
}

const inventory = async (client: EC2Client, installation: string, { machineIds, allocationIds }: KnownIds) => {
  const [ourMachines, ourVolumes, ourAddresses] = await Promise.all([
    machines(client, installation, machineIds),
    volumes(client, [{ Name: `tag:${INSTALLATION_TAG}`, Values: [installation] }]),
    addresses(client, installation, allocationIds),
  ])
  return { machines: ourMachines, volumes: ourVolumes, addresses: ourAddresses }
}

/** The other names that EC2 has for an architecture are the same as ours. */
const facts = async (client: EC2Client, { region }: Ec2Settings, machineId: string): Promise<CloudFacts> => {
  const { Reservations } = await client.send(new DescribeInstancesCommand({ InstanceIds: [machineId] }))
  const machine = Reservations?.[0]?.Instances?.[0]
  const rootId = machine?.BlockDeviceMappings?.find(({ DeviceName }) => DeviceName === machine.RootDeviceName)?.Ebs
    ?.VolumeId
  if (!machine || !rootId)
    throw new CloudFault('missing', 'InvalidInstanceID.NotFound', `${machineId} is not shown yet`)
  const attribute = (Attribute: 'instanceInitiatedShutdownBehavior' | 'userData') =>
    client.send(new DescribeInstanceAttributeCommand({ InstanceId: machineId, Attribute }))
  const [disks, shutdown, userData, credits] = await Promise.all([
    client.send(new DescribeVolumesCommand({ VolumeIds: [rootId] })),
    attribute('instanceInitiatedShutdownBehavior'),
    attribute('userData'),
    isBurst(machine.InstanceType ?? '')
      ? client.send(new DescribeInstanceCreditSpecificationsCommand({ InstanceIds: [machineId] }))
      : null,
  ])
  const disk = disks.Volumes?.[0]
  const creditMode = credits?.InstanceCreditSpecifications?.[0]?.CpuCredits
  const bytes = Buffer.from(userData.UserData?.Value ?? '', 'base64')
  return {
    instanceType: machine.InstanceType ?? '',
    arch: machine.Architecture ?? '',
    region,
    imageId: machine.ImageId ?? '',
    diskGb: disk?.Size ?? 0,
    volumeType: disk?.VolumeType ?? '',
    volumeEncrypted: disk?.Encrypted ?? false,
    httpTokens: machine.MetadataOptions?.HttpTokens ?? '',
    hopLimit: machine.MetadataOptions?.HttpPutResponseHopLimit ?? 0,
    ...(creditMode !== undefined && { creditMode }),
    shutdownBehavior: shutdown.InstanceInitiatedShutdownBehavior?.Value ?? '',
    userDataSha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

const powerVerbs = (client: EC2Client): Pick<CloudDriver, 'start' | 'stop' | 'terminate' | 'retype'> => ({
  start: (id) => asking(async () => void (await client.send(new StartInstancesCommand({ InstanceIds: [id] })))),
  stop: (id) => asking(async () => void (await client.send(new StopInstancesCommand({ InstanceIds: [id] })))),
  terminate: (id) => asking(async () => void (await client.send(new TerminateInstancesCommand({ InstanceIds: [id] })))),
  retype: (InstanceId, Value) =>
    asking(async () => {
      await client.send(new ModifyInstanceAttributeCommand({ InstanceId, InstanceType: { Value } }))
    }),
})

const addressVerbs = (client: EC2Client): Pick<CloudDriver, 'allocate' | 'associate' | 'disassociate' | 'release'> => ({
  allocate: (tags) =>
    asking(async () => {
      const made = await client.send(
        new AllocateAddressCommand({
          Domain: 'vpc',
          TagSpecifications: [{ ResourceType: 'elastic-ip', Tags: ec2Tags(tags) }],
        }),
      )
      return { ...addressFrom(made), ...tags }
    }),
  associate: (AllocationId, InstanceId) =>
    asking(async () => {
      // what is associated elsewhere is not taken away from there
      const asked = { AllocationId, InstanceId, AllowReassociation: false }
      const { AssociationId } = await client.send(new AssociateAddressCommand(asked))
      if (!AssociationId) throw new CloudFault('unknown', 'NoAssociation', `${AllocationId} was answered without one`)
      return { associationId: AssociationId }
    }),
  disassociate: (AssociationId) =>
    asking(async () => void (await client.send(new DisassociateAddressCommand({ AssociationId })))),
  release: (AllocationId) => asking(async () => void (await client.send(new ReleaseAddressCommand({ AllocationId })))),
})

export const makeEc2 = (settings: Ec2Settings): CloudDriver => {
  const { region, endpoint, installation, timeoutMs } = settings
  const client = new EC2Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: 1,
    requestHandler: { requestTimeout: timeoutMs, connectionTimeout: timeoutMs, throwOnRequestTimeout: true },
  })
  return {
    settleMs: SETTLE_MS,
    namesMachinesOnly: false,
    inventory: (known) => asking(() => inventory(client, installation, known)),
    launch: (launch) =>
      asking(async () => {
        const rootDevice = await rootDeviceOf(client, settings.images[launch.arch])
        const { Instances } = await client.send(new RunInstancesCommand(launchInput(settings, launch, rootDevice)))
        const machineId = Instances?.[0]?.InstanceId
        if (!machineId) throw new CloudFault('unknown', 'NoInstance', 'the launch was answered without an instance')
        return { machineId }
      }),
    ...powerVerbs(client),
    ...addressVerbs(client),
    grow: (VolumeId, Size) => asking(async () => void (await client.send(new ModifyVolumeCommand({ VolumeId, Size })))),
    removeVolume: (VolumeId) => asking(async () => void (await client.send(new DeleteVolumeCommand({ VolumeId })))),
    label: (ids, Value) =>
      asking(async () => {
        await client.send(new CreateTagsCommand({ Resources: [...ids], Tags: [{ Key: NAME_TAG, Value }] }))
      }),
    facts: (machineId) => asking(() => facts(client, settings, machineId)),
    console: (InstanceId) =>
      asking(async () => {
        const { Output } = await client.send(new GetConsoleOutputCommand({ InstanceId, Latest: true }))
        return Buffer.from(Output ?? '', 'base64').toString('utf8')
      }),
  }
}
