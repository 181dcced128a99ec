/** How the stand-in shows what stands in its region. */
import { tagSet, type XmlValue } from './query.ts'
import { type Ec2Address, type Ec2Machine, type Ec2Region, type Ec2Volume, stateOf } from './region.ts'

/** EC2 API reference, InstanceState. */
const STATE_CODES: Readonly<Record<string, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
}
export const stateXml = (region: Ec2Region, machine: Ec2Machine): XmlValue => {
  const name = stateOf(region, machine)
  return { code: STATE_CODES[name], name }
}

export const machineXml = (region: Ec2Region, one: Ec2Machine): XmlValue => ({
  instanceId: one.id,
  imageId: one.imageId,
  instanceState: stateXml(region, one),
  instanceType: one.type,
  launchTime: new Date(one.launchedMs).toISOString(),
  architecture: one.arch,
  rootDeviceName: one.rootDevice,
  blockDeviceMapping: [{ deviceName: one.rootDevice, ebs: { volumeId: one.volumeId, status: 'attached' } }],
  metadataOptions: { state: 'applied', httpTokens: one.httpTokens, httpPutResponseHopLimit: one.hopLimit },
  tagSet: tagSet(one.tags),
})

export const volumeXml = (one: Ec2Volume): XmlValue => ({
  volumeId: one.id,
  size: one.sizeGb,
  volumeType: one.type,
  encrypted: one.encrypted,
  status: one.attachedTo === null ? 'available' : 'in-use',
  attachmentSet: one.attachedTo === null ? [] : [{ volumeId: one.id, instanceId: one.attachedTo, status: 'attached' }],
  tagSet: tagSet(one.tags),
})

export const addressXml = (one: Ec2Address): XmlValue => ({
  allocationId: one.id,
  publicIp: one.ip,
  domain: 'vpc',
  associationId: one.association?.id,
  instanceId: one.association?.machineId,
  tagSet: tagSet(one.tags),
})

/** As cloud-init writes it. @param hostKey `type base64`, where machines answer with a real one */
export const consoleOf = ({ id }: Ec2Machine, hostKey?: string): string =>
  [
    '[   20.1] boot',
    '-----BEGIN SSH HOST KEY KEYS-----',
    `${hostKey ?? `ssh-ed25519 ${Buffer.from(`key of ${id}`).toString('base64')}`} root@box`,
    '-----END SSH HOST KEY KEYS-----',
    '',
  ].join('\r\n')
