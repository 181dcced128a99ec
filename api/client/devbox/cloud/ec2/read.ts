/** Answers of EC2 in our words. What a driver needs and EC2 leaves out is a fault, not a guess. */
import assert from 'node:assert/strict'
import type { Address, Instance, Tag, Volume, VolumeModification } from '@aws-sdk/client-ec2'
import {
  BOX_TAG,
  type CloudAddress,
  type CloudMachine,
  type CloudTags,
  type CloudVolume,
  INSTALLATION_TAG,
  type MachineState,
  NAME_TAG,
} from '../driver.ts'

export const tagsOf = (tags: readonly Tag[] | undefined): CloudTags => {
  const named = (key: string) => tags?.find(({ Key }) => Key === key)?.Value ?? null
  return { installation: named(INSTALLATION_TAG), box: named(BOX_TAG), label: named(NAME_TAG) }
}

export const ec2Tags = ({ installation, box, label }: CloudTags): Tag[] =>
  Object.entries({ [INSTALLATION_TAG]: installation, [BOX_TAG]: box, [NAME_TAG]: label }).flatMap(([Key, Value]) =>
    Value === null ? [] : [{ Key, Value }],
  )

export const machineFrom = ({ InstanceId, State, InstanceType, LaunchTime, Tags }: Instance): CloudMachine => {
  assert(InstanceId && State?.Name && InstanceType && LaunchTime, 'an instance has id, state, type and launch time')
  return {
    machineId: InstanceId,
    state: State.Name as MachineState,
    instanceType: InstanceType,
    launchedAt: LaunchTime.toISOString(),
    ...tagsOf(Tags),
  }
}

export const volumeFrom = (
  { VolumeId, Size, Attachments, Tags }: Volume,
  modifications: readonly VolumeModification[],
): CloudVolume => {
  assert(VolumeId && Size !== undefined, 'a volume has id and size')
  const changing = modifications.some((one) => one.VolumeId === VolumeId && one.ModificationState === 'modifying')
  return {
    volumeId: VolumeId,
    sizeGb: Size,
    attachedTo: Attachments?.[0]?.InstanceId ?? null,
    isGrowing: changing,
    ...tagsOf(Tags),
  }
}

export const addressFrom = ({ AllocationId, PublicIp, AssociationId, InstanceId, Tags }: Address): CloudAddress => {
  assert(AllocationId && PublicIp, 'an address of a VPC has an allocation id')
  return {
    allocationId: AllocationId,
    publicIp: PublicIp,
    associated: AssociationId ? { machineId: InstanceId ?? '', associationId: AssociationId } : null,
    ...tagsOf(Tags),
  }
}
