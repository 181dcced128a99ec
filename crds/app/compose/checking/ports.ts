/**
 * Ports of a service. Only those of the container count: visitors come through the platform's route, so a port of the host
 * becomes that of the container, and tells where visitors were meant to come in (route.ts).
 */

import type { Tree } from '../reading/parse.ts'
import {
  isNothing,
  type Read,
  readFields,
  readList,
  readOneOf,
  readText,
  readWhole,
  textOf,
  writtenOf,
  wrong,
} from '../reading/read.ts'
import type { At, ValidationContext } from '../reading/validation.ts'

const PORT_MAX = 65_535
/** Ports in one range. */
const RANGE_MAX = 32
const PORTS_MAX = 64

const SHORT =
  /^(?:(?:(\[[0-9a-f:.]+\]|[\d.]+|localhost):)?(\d{0,5}(?:-\d{1,5})?):)?(\d{1,5}(?:-\d{1,5})?)(?:\/(tcp|udp|sctp))?$/i
const LOOPBACK = /^(127\.|\[::1\]$|::1$|localhost$)/i

/** A port that others than the project itself were to reach. */
export type PublishedPort = {
  /** Of the container. */
  target: number
  /** Of the host, where one was named; else that of the container. */
  published: number
  protocol: string
  /** Asked for on the host's own loopback: for nobody from outside. */
  isLocal: boolean
  at: At
}

const rangeOf = (validation: ValidationContext, tree: Tree, text: string): number[] | undefined => {
  const [from = 0, to = from] = text.split('-').map(Number)
  const good = from >= 1 && to >= from && to <= PORT_MAX && to - from < RANGE_MAX
  return good ? Array.from({ length: to - from + 1 }, (_, index) => from + index) : wrong(validation, tree, 'a port')
}

const becomesTarget = (validation: ValidationContext, at: Tree, target: string): void =>
  validation.rewrite(at, 'host-port', {
    from: writtenOf(at),
    to: target,
    reason: 'No port of the host is taken: visitors come through the route of the app, services by name.',
  })

const readShort = (validation: ValidationContext, tree: Tree, text: string): PublishedPort[] | undefined => {
  const [whole, address, published = '', target = '', protocol = 'tcp'] = SHORT.exec(text) ?? []
  if (whole === undefined) return wrong(validation, tree, 'a port, as "8080"')
  const ports = rangeOf(validation, tree, target)
  const hosts = published === '' ? ports : rangeOf(validation, tree, published)
  if (!ports || !hosts) return undefined
  if (address !== undefined || published !== '') becomesTarget(validation, tree, target)
  const isLocal = address !== undefined && LOOPBACK.test(address)
  return ports.map((port, place) => ({
    target: port,
    published: hosts[place] ?? port,
    protocol: protocol.toLowerCase(),
    isLocal,
    at: { pointer: tree.pointer, line: tree.line },
  }))
}

const raw: Read<Tree> = (_, tree) => tree

const LONG = {
  target: readWhole(1, PORT_MAX),
  published: raw,
  host_ip: raw,
  protocol: readOneOf(['tcp', 'udp', 'sctp']),
  mode: readOneOf(['ingress', 'host']),
  name: readText,
  app_protocol: readText,
}

const readLong = (validation: ValidationContext, tree: Tree & { kind: 'map' }): PublishedPort[] | undefined => {
  const {
    target,
    published,
    host_ip,
    protocol = 'tcp',
  } = readFields(validation, tree, { of: 'a port', known: LONG }).fields
  if (target === undefined)
    return tree.entries.has('target') ? undefined : wrong(validation, tree, 'a port with a target')
  const asked = [published, host_ip].filter((one) => one !== undefined && !isNothing(one)) as Tree[]
  for (const one of asked) if (one.kind !== 'scalar') return wrong(validation, one, 'a port')
  const host = published?.kind === 'scalar' ? textOf(published) : ''
  const hosts = host === '' ? [target] : rangeOf(validation, published as Tree, host)
  if (!hosts) return undefined
  for (const one of asked) becomesTarget(validation, one, String(target))
  const isLocal = host_ip?.kind === 'scalar' && LOOPBACK.test(textOf(host_ip))
  const at = { pointer: tree.pointer, line: tree.line }
  return [{ target, published: hosts[0] ?? target, protocol, isLocal, at }]
}

const readPort: Read<PublishedPort[]> = (validation, tree) => {
  if (tree.kind === 'scalar') return readShort(validation, tree, textOf(tree))
  return tree.kind === 'list' ? wrong(validation, tree, 'a port, as "8080"') : readLong(validation, tree)
}

/** What is not TCP goes where the same port is there by TCP, too; alone it is what the service is for. */
const isTcp = (validation: ValidationContext, port: PublishedPort, all: readonly PublishedPort[]): boolean => {
  const { protocol, target, at } = port
  if (protocol === 'tcp') return true
  if (all.some((other) => other.protocol === 'tcp' && other.target === target)) {
    const reason = `Nothing leads ${protocol} from outside to the app; inside the project it is reached all the same.`
    validation.rewrite(at, 'host-port', { from: `${target}/${protocol}`, to: null, reason })
    return false
  }
  const next =
    'Remove it where only the project needs it, which reaches it without; else the app needs a host of its own.'
  validation.allows(at, 'host-port', `Nothing leads ${protocol} from outside to the app.`, next)
  return false
}

/** `ports`: the TCP ports of the container that were to be reached from outside. */
export const readPorts: Read<PublishedPort[]> = (validation, tree) => {
  const all = readList(readPort, PORTS_MAX)(validation, tree)?.flat()
  return all?.filter((port) => isTcp(validation, port, all))
}

/** One entry of `expose`. */
export const readExposed: Read<number[]> = (validation, tree) => {
  const [whole, ports = '', protocol = 'tcp'] =
    /^(\d{1,5}(?:-\d{1,5})?)(?:\/(tcp|udp|sctp))?$/i.exec(tree.kind === 'scalar' ? textOf(tree) : '') ?? []
  if (whole === undefined) return wrong(validation, tree, 'a port, as "8080"')
  const range = rangeOf(validation, tree, ports)
  return range && protocol.toLowerCase() === 'tcp' ? range : range && []
}
