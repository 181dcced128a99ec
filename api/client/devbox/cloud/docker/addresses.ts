/**
 * Addresses in Docker: each is a small network of its own, whose second host is the machine. A network is there until it is
 * removed, bears labels, and keeps the machine's address while that stands still, which is what an allocation is. There are as
 * many as the range has room for.
 */
import { bytesOfAddress } from '../../../../../crds/values/address.ts'
import { type CloudAddress, CloudFault, type CloudTags } from '../driver.ts'
import { type DockerLabels, labelsOf, tagsFrom } from './container.ts'

/** As Docker shows a network. */
export type DockerNetwork = {
  Id: string
  Name: string
  Labels: DockerLabels | null
  IPAM: { Config: { Subnet?: string; Gateway?: string }[] | null }
}

type Range = { first: number; size: number }

const SUBNET_BITS = 30
const SUBNET = 2 ** (32 - SUBNET_BITS)
const ALLOCATION = 'eipalloc-'
/** Docker knows a network by the beginning of its id. */
const ID_LENGTH = 20

const numberOf = (address: string): number =>
  (bytesOfAddress(address) ?? []).reduce((number, byte) => number * 256 + byte, 0)
const addressOf = (number: number): string => [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.')

/** `10.83.0.0/24`. Null: it is none of IPv4. */
export const rangeOf = (text: string): Range | null => {
  const [, address = '', bits] = /^([\d.]+)\/(\d{1,2})$/.exec(text) ?? []
  if (bits === undefined || bytesOfAddress(address) === null || Number(bits) > SUBNET_BITS) return null
  const size = 2 ** (32 - Number(bits))
  return { first: numberOf(address) - (numberOf(address) % size), size }
}

const subnetsOf = ({ IPAM }: DockerNetwork): Range[] =>
  (IPAM.Config ?? []).flatMap(({ Subnet = '' }) => rangeOf(Subnet) ?? [])

const meet = (a: Range, b: Range): boolean => a.first < b.first + b.size && b.first < a.first + a.size

/** @throws CloudFault limit */
export const networkFor = (range: Range, present: readonly DockerNetwork[], tags: CloudTags): object => {
  const taken = present.flatMap(subnetsOf)
  const count = range.size / SUBNET
  const free = Array.from({ length: count }, (_, at) => ({ first: range.first + at * SUBNET, size: SUBNET })).find(
    (one) => !taken.some((other) => meet(one, other)),
  )
  if (!free)
    throw new CloudFault(
      'limit',
      'AddressLimitExceeded',
      `all ${count} addresses of ${addressOf(range.first)} are taken`,
    )
  const [subnet, gateway] = [addressOf(free.first), addressOf(free.first + 1)]
  return {
    Name: `bottega-${subnet}`,
    Driver: 'bridge',
    // a way in, not out: that is the network which all machines share
    Internal: true,
    CheckDuplicate: true,
    IPAM: { Config: [{ Subnet: `${subnet}/${SUBNET_BITS}`, Gateway: gateway }] },
    Labels: labelsOf(tags),
  }
}

export const networkIdOf = (allocationId: string): string => allocationId.slice(ALLOCATION.length)

/** @param machineId whom it leads to */
export const addressFrom = (network: DockerNetwork, machineId: string | undefined): CloudAddress => {
  const allocationId = `${ALLOCATION}${network.Id.slice(0, ID_LENGTH)}`
  const [subnet] = subnetsOf(network)
  return {
    allocationId,
    publicIp: addressOf((subnet?.first ?? 0) + 2),
    associated: machineId === undefined ? null : { machineId, associationId: `${allocationId}.${machineId}` },
    ...tagsFrom(network.Labels),
  }
}

/** The two that an association joins. */
export const joinedBy = (associationId: string): { allocationId: string; machineId: string } => {
  const [allocationId = '', machineId = ''] = associationId.split('.')
  return { allocationId, machineId }
}
