/** Ports of a service. Only those of the container count: visitors come through the platform's route. */

import type { Tree } from '../reading/parse.ts'
import { isNothing, type Read, readFields, readOneOf, readText, readWhole, textOf, wrong } from '../reading/read.ts'
import type { At, ValidationContext } from '../reading/validation.ts'

const PORT_MAX = 65_535
/** Ports in one range. */
const RANGE_MAX = 32

const SHORT = /^(?:(?:(\[[0-9a-f:.]+\]|[\d.]+):)?(\d{0,5}(?:-\d{1,5})?):)?(\d{1,5}(?:-\d{1,5})?)(?:\/(tcp|udp|sctp))?$/i

const rangeOf = (validation: ValidationContext, tree: Tree, text: string): number[] | undefined => {
  const [from = 0, to = from] = text.split('-').map(Number)
  const good = from >= 1 && to >= from && to <= PORT_MAX && to - from < RANGE_MAX
  return good ? Array.from({ length: to - from + 1 }, (_, index) => from + index) : wrong(validation, tree, 'a port')
}

const refuseHostPort = (validation: ValidationContext, at: At, target: string): boolean =>
  validation.allows(
    at,
    'host-port',
    'A port of the host is asked for; visitors come through the route of the app.',
    `Write "${target}", the port of the container alone.`,
  )

const onlyTcp = (validation: ValidationContext, tree: Tree, protocol: string, ports: number[]): number[] => {
  if (protocol.toLowerCase() === 'tcp') return ports
  validation.allows(
    tree,
    'host-port',
    `Nothing leads ${protocol} from outside to the app.`,
    'Remove it; use expose inside the project.',
  )
  return []
}

const readShort = (validation: ValidationContext, tree: Tree, text: string): number[] | undefined => {
  const [whole, address, published, target = '', protocol = 'tcp'] = SHORT.exec(text) ?? []
  if (whole === undefined) return wrong(validation, tree, 'a port, as "8080"')
  const ports = rangeOf(validation, tree, target)
  if (!ports) return undefined
  const host = address !== undefined || (published ?? '') !== ''
  if (host && !refuseHostPort(validation, tree, target)) return undefined
  return onlyTcp(validation, tree, protocol, ports)
}

const LONG = {
  target: readWhole(1, PORT_MAX),
  published: (_: ValidationContext, tree: Tree) => tree,
  host_ip: (_: ValidationContext, tree: Tree) => tree,
  protocol: readOneOf(['tcp', 'udp', 'sctp']),
  mode: readOneOf(['ingress', 'host']),
  name: readText,
  app_protocol: readText,
}

/** One entry of `ports`: the container's TCP ports that it means. */
export const readPort: Read<number[]> = (validation, tree) => {
  if (tree.kind === 'scalar') return readShort(validation, tree, textOf(tree))
  if (tree.kind === 'list') return wrong(validation, tree, 'a port, as "8080"')
  const {
    target,
    published,
    host_ip,
    protocol = 'tcp',
  } = readFields(validation, tree, { of: 'a port', known: LONG }).fields
  if (target === undefined)
    return tree.entries.has('target') ? undefined : wrong(validation, tree, 'a port with a target')
  const host = [published, host_ip].find((asked) => asked !== undefined && !isNothing(asked))
  if (host && !refuseHostPort(validation, host, String(target))) return undefined
  return onlyTcp(validation, tree, protocol, [target])
}

/** One entry of `expose`. */
export const readExposed: Read<number[]> = (validation, tree) => {
  const [whole, ports = '', protocol = 'tcp'] =
    /^(\d{1,5}(?:-\d{1,5})?)(?:\/(tcp|udp|sctp))?$/i.exec(tree.kind === 'scalar' ? textOf(tree) : '') ?? []
  if (whole === undefined) return wrong(validation, tree, 'a port, as "8080"')
  const range = rangeOf(validation, tree, ports)
  return range && protocol.toLowerCase() === 'tcp' ? range : range && []
}
