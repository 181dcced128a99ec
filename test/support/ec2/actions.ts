/** The actions that the provisioner uses, each with the parameters that it knows: another one is refused, as EC2 does. */
import { type Ec2Action, FILTERED, paged, passes, TAGGED, type Unseen } from './looks.ts'

import { Ec2Refusal, filtersOf, listOf, need, type Query, tagsFor, type XmlValue } from './query.ts'
import {
  addressNamed,
  allocateAddress,
  associateAddress,
  type Ec2Launch,
  type Ec2Machine,
  type Ec2Region,
  endMachine,
  growVolume,
  isForgotten,
  isModifying,
  launchMachine,
  machineNamed,
  machineOfToken,
  releaseAddress,
  removeVolume,
  retypeMachine,
  startMachine,
  stateOf,
  stopMachine,
  volumeNamed,
} from './region.ts'
import { addressXml, consoleOf, machineXml, stateXml, volumeXml } from './views.ts'

const DONE: XmlValue = { return: true }

const launchOf = (query: Query): Ec2Launch => ({
  type: need(query, 'InstanceType'),
  imageId: need(query, 'ImageId'),
  userData: Buffer.from(query.get('UserData') ?? '', 'base64'),
  shutdownBehavior: query.get('InstanceInitiatedShutdownBehavior') ?? 'stop',
  httpTokens: query.get('MetadataOptions.HttpTokens') ?? 'optional',
  hopLimit: Number(query.get('MetadataOptions.HttpPutResponseHopLimit') ?? '1'),
  creditMode: query.get('CreditSpecification.CpuCredits') ?? 'unlimited',
  disk: {
    device: need(query, 'BlockDeviceMapping.1.DeviceName'),
    sizeGb: Number(need(query, 'BlockDeviceMapping.1.Ebs.VolumeSize')),
    type: query.get('BlockDeviceMapping.1.Ebs.VolumeType') ?? 'gp2',
    encrypted: query.get('BlockDeviceMapping.1.Ebs.Encrypted') === 'true',
    deleteOnTermination: query.get('BlockDeviceMapping.1.Ebs.DeleteOnTermination') !== 'false',
  },
  tags: tagsFor(query, 'instance'),
  volumeTags: tagsFor(query, 'volume'),
})

const runInstances = (region: Ec2Region, query: Query): XmlValue => {
  const token = need(query, 'ClientToken')
  if (token.length > 64) throw new Ec2Refusal('InvalidParameterValue', 'ClientToken has at most 64 characters')
  for (const name of ['MinCount', 'MaxCount', 'SubnetId', 'SecurityGroupId.1', 'KeyName']) need(query, name)
  const asked = JSON.stringify([...query].sort())
  const before = region.tokens.get(token)
  if (before && before.asked !== asked)
    throw new Ec2Refusal('IdempotentParameterMismatch', 'The client token was used with other parameters')
  const machine = before ? machineOfToken(region, before.machineId) : launchMachine(region, launchOf(query))
  region.tokens.set(token, { asked, machineId: machine.id })
  return { reservationId: 'r-1', instancesSet: [machineXml(region, machine)] }
}

const onMachine = (act: (region: Ec2Region, machine: Ec2Machine) => void): Ec2Action => ({
  knows: ['InstanceId.#'],
  run(region, query) {
    const ids = listOf(query, 'InstanceId')
    if (ids.length === 0) need(query, 'InstanceId.1')
    const changed = ids.map((instanceId) => {
      const machine = machineNamed(region, instanceId)
      const previousState = stateXml(region, machine)
      act(region, machine)
      return { instanceId, currentState: stateXml(region, machine), previousState }
    })
    return { instancesSet: changed }
  },
})

const instanceAttribute = (region: Ec2Region, query: Query): XmlValue => {
  const machine = machineNamed(region, need(query, 'InstanceId'))
  const attribute = need(query, 'Attribute')
  if (attribute === 'userData')
    return { instanceId: machine.id, userData: { value: machine.userData.toString('base64') } }
  if (attribute === 'instanceInitiatedShutdownBehavior')
    return { instanceId: machine.id, instanceInitiatedShutdownBehavior: { value: machine.shutdownBehavior } }
  throw new Ec2Refusal('InvalidParameterValue', `Value (${attribute}) for parameter attribute is invalid`)
}

const taggables = ({ machines, volumes, addresses }: Ec2Region, id: string) =>
  machines.get(id) ?? volumes.get(id) ?? addresses.get(id)

const createTags = (region: Ec2Region, query: Query): XmlValue => {
  for (const id of listOf(query, 'ResourceId')) {
    const found = taggables(region, id)
    if (!found) throw new Ec2Refusal('InvalidID', `The ID '${id}' is not valid`)
    found.tags.set(need(query, 'Tag.1.Key'), query.get('Tag.1.Value') ?? '')
  }
  return DONE
}

const describeInstances = (region: Ec2Region, query: Query, unseen: Unseen): XmlValue => {
  const ids = listOf(query, 'InstanceId')
  for (const id of ids)
    if (unseen(machineNamed(region, id).id))
      throw new Ec2Refusal('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`)
  const filters = filtersOf(query)
  const found = [...region.machines.values()].filter(
    (one) =>
      !isForgotten(region, one) &&
      !unseen(one.id) &&
      (ids.length === 0 || ids.includes(one.id)) &&
      passes(one, filters, 'instance-id'),
  )
  return paged(
    query,
    found.map((one) => ({ reservationId: 'r-1', instancesSet: [machineXml(region, one)] })),
    'reservationSet',
  )
}

const describeVolumes = (region: Ec2Region, query: Query, unseen: Unseen): XmlValue => {
  const ids = listOf(query, 'VolumeId')
  const filters = filtersOf(query)
  const found = [...region.volumes.values()].filter(
    (one) =>
      !unseen(one.attachedTo ?? one.id) &&
      (ids.length === 0 || ids.includes(one.id)) &&
      passes(one, filters, 'volume-id'),
  )
  return paged(query, found.map(volumeXml), 'volumeSet')
}

export const ACTIONS: Readonly<Record<string, Ec2Action>> = {
  RunInstances: {
    knows: [
      ...['ClientToken', 'MinCount', 'MaxCount', 'ImageId', 'InstanceType', 'KeyName', 'SubnetId', 'SecurityGroupId.#'],
      ...['UserData', 'InstanceInitiatedShutdownBehavior', 'CreditSpecification.CpuCredits'],
      ...['MetadataOptions.HttpTokens', 'MetadataOptions.HttpPutResponseHopLimit', 'MetadataOptions.HttpEndpoint'],
      ...['DeviceName', 'Ebs.VolumeSize', 'Ebs.VolumeType', 'Ebs.Encrypted', 'Ebs.DeleteOnTermination'].map(
        (name) => `BlockDeviceMapping.#.${name}`,
      ),
      ...TAGGED,
    ],
    run: runInstances,
  },
  StartInstances: onMachine(startMachine),
  StopInstances: onMachine(stopMachine),
  TerminateInstances: onMachine(endMachine),
  ModifyInstanceAttribute: {
    knows: ['InstanceId', 'InstanceType.Value'],
    run(region, query) {
      retypeMachine(region, machineNamed(region, need(query, 'InstanceId')), need(query, 'InstanceType.Value'))
      return DONE
    },
  },
  DescribeInstances: { knows: ['InstanceId.#', ...FILTERED], run: describeInstances },
  DescribeInstanceAttribute: { knows: ['InstanceId', 'Attribute'], run: instanceAttribute },
  DescribeInstanceCreditSpecifications: {
    knows: ['InstanceId.#'],
    run: (region, query) => ({
      instanceCreditSpecificationSet: listOf(query, 'InstanceId').map((instanceId) => ({
        instanceId,
        cpuCredits: machineNamed(region, instanceId).creditMode,
      })),
    }),
  },
  DescribeImages: {
    knows: ['ImageId.#'],
    run: ({ images }, query) => ({
      imagesSet: listOf(query, 'ImageId').map((imageId) => {
        const image = images.get(imageId)
        if (!image) throw new Ec2Refusal('InvalidAMIID.NotFound', `The image id '[${imageId}]' does not exist`)
        return { imageId, architecture: image.arch, rootDeviceName: image.rootDevice }
      }),
    }),
  },
  DescribeVolumes: { knows: ['VolumeId.#', ...FILTERED], run: describeVolumes },
  DescribeVolumesModifications: {
    knows: FILTERED,
    run: (region, query) => ({
      volumeModificationSet: [...region.volumes.values()]
        .filter((one) => one.changedMs.length > 0)
        .map((one) => ({ volumeId: one.id, modificationState: isModifying(region, one) ? 'modifying' : 'completed' }))
        .filter((one) => filtersOf(query).every(({ values }) => values.includes(one.modificationState))),
    }),
  },
  ModifyVolume: {
    knows: ['VolumeId', 'Size'],
    run(region, query) {
      const volume = volumeNamed(region, need(query, 'VolumeId'))
      growVolume(region, volume, Number(need(query, 'Size')))
      return { volumeModification: { volumeId: volume.id, modificationState: 'modifying' } }
    },
  },
  DeleteVolume: {
    knows: ['VolumeId'],
    run(region, query) {
      removeVolume(region, volumeNamed(region, need(query, 'VolumeId')))
      return DONE
    },
  },
  AllocateAddress: {
    knows: ['Domain', ...TAGGED],
    run(region, query) {
      const { id, ip } = allocateAddress(region, tagsFor(query, 'elastic-ip'))
      return { allocationId: id, publicIp: ip, domain: 'vpc' }
    },
  },
  AssociateAddress: {
    knows: ['AllocationId', 'InstanceId', 'AllowReassociation'],
    run(region, query) {
      const address = addressNamed(region, need(query, 'AllocationId'))
      return {
        ...(DONE as object),
        associationId: associateAddress(region, address, machineNamed(region, need(query, 'InstanceId'))),
      }
    },
  },
  DisassociateAddress: {
    knows: ['AssociationId'],
    run({ addresses }, query) {
      const id = need(query, 'AssociationId')
      const address = [...addresses.values()].find(({ association }) => association?.id === id)
      if (!address) throw new Ec2Refusal('InvalidAssociationID.NotFound', `The association ID '${id}' does not exist`)
      address.association = null
      return DONE
    },
  },
  ReleaseAddress: {
    knows: ['AllocationId'],
    run(region, query) {
      releaseAddress(region, addressNamed(region, need(query, 'AllocationId')))
      return DONE
    },
  },
  DescribeAddresses: {
    knows: ['AllocationId.#', ...FILTERED],
    run: ({ addresses }, query, unseen) => ({
      addressesSet: [...addresses.values()]
        .filter((one) => !unseen(one.id) && passes(one, filtersOf(query), 'allocation-id'))
        .map(addressXml),
    }),
  },
  CreateTags: { knows: ['ResourceId.#', 'Tag.#.Key', 'Tag.#.Value'], run: createTags },
  GetConsoleOutput: {
    knows: ['InstanceId', 'Latest'],
    run(region, query) {
      const machine = machineNamed(region, need(query, 'InstanceId'))
      const text = stateOf(region, machine) === 'pending' ? '' : consoleOf(machine, region.hostKeyOf?.(machine.id))
      return { instanceId: machine.id, output: Buffer.from(text).toString('base64') }
    },
  },
}
