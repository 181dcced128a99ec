/**
 * Where visitors go (rules/app.md#routed-service): the service that the app names, else the one that the file opens to the
 * outside. Of several the front one: nobody who is open, too, depends on it, it is no database, and its port is one of the web's.
 */

import { oneShotNames, type ParsedServices, reaches } from '../checking/layout.ts'
import type { PublishedPort } from '../checking/ports.ts'
import type { ParsedService } from '../checking/service.ts'
import type { At, ValidationContext } from '../reading/validation.ts'

export type ServiceRoute = { service: string; port: number }

/** Ports at which people look for a web server, the likelier first. */
const WEB = [80, 443, 8080, 8000, 3000, 5000, 4200, 5173, 8888, 8081, 9000]
/** Behind these a container speaks TLS itself; the route speaks HTTP to it. */
const TLS = new Set([443, 4443, 8443, 9443])
/** Never HTTP: databases, queues, mail, shells, debuggers, games. */
const NOT_HTTP = new Set([
  ...[21, 22, 23, 25, 53, 110, 143, 389, 465, 587, 636, 853, 993, 995, 1433, 1521, 1883, 2181, 3306, 3389, 4222, 5432],
  ...[5671, 5672, 6379, 8883, 9042, 9092, 9229, 9230, 9300, 11211, 25565, 27017, 27018, 27019, 33060],
])
/** Images that stand behind others, by the last word of their path. */
const BEHIND = new Set([
  ...['postgres', 'postgresql', 'postgis', 'mysql', 'mysql-server', 'mariadb', 'percona', 'mongo', 'mongodb', 'redis'],
  ...['valkey', 'keydb', 'memcached', 'rabbitmq', 'elasticsearch', 'opensearch', 'logstash', 'kafka', 'zookeeper'],
  ...[
    'nats',
    'cassandra',
    'influxdb',
    'clickhouse',
    'mssql/server',
    'azure-sql-edge',
    'neo4j',
    'etcd',
    'eclipse-mosquitto',
  ],
])

/** @param image by its whole name, with a tag or a digest */
const standsBehind = (image: string): boolean => {
  const [last = '', ...before] = image.split('/').reverse()
  const name = last.split(/[:@]/)[0] ?? ''
  return BEHIND.has(name) || BEHIND.has(`${before[0]}/${name}`)
}

const UNLIKELY = 100_000

/** The lower, the likelier a web server: by the port that the host was to have, and what the container then speaks. */
const rankOf = ({ target, published }: Pick<PublishedPort, 'target' | 'published'>): number => {
  const place = WEB.indexOf(published)
  return (place < 0 ? WEB.length + published : place) + (TLS.has(target) ? UNLIKELY : 0)
}

/** A service with the ports that it may take visitors at, the likeliest first. */
type Candidate = { parsed: ParsedService; ports: PublishedPort[] }

const candidateOf = (
  { deployTarget }: ValidationContext,
  parsed: ParsedService,
  ports: readonly PublishedPort[],
): Candidate[] => {
  const isWeb = ({ target }: PublishedPort) => !NOT_HTTP.has(target) || target === deployTarget.route?.port
  const web = ports.filter(isWeb).sort((a, b) => rankOf(a) - rankOf(b))
  return web.length === 0 ? [] : [{ parsed, ports: web }]
}

const published = (parsed: ParsedService): PublishedPort[] => parsed.published.filter(({ isLocal }) => !isLocal)

const listening = ({ ports, published, at }: ParsedService): PublishedPort[] =>
  ports.map(
    (target) =>
      published.find((port) => port.target === target) ?? {
        target,
        published: target,
        protocol: 'tcp',
        isLocal: true,
        at,
      },
  )

const isBehind = ({ image = '' }: ParsedService): boolean => standsBehind(image)

const byFront = (parsedServices: ParsedServices, all: readonly Candidate[]): Candidate[] => {
  const needed = new Set(all.flatMap(({ parsed }) => [...reaches(parsedServices, parsed)]))
  const keyOf = ({ parsed, ports: [port] }: Candidate): number[] => [
    Number(isBehind(parsed)),
    Number(needed.has(parsed.name)),
    port ? rankOf(port) : UNLIKELY,
  ]
  const compare = (a: Candidate, b: Candidate): number => {
    const [left, right] = [keyOf(a), keyOf(b)]
    const place = left.findIndex((value, at) => value !== right[at])
    return place < 0 ? (a.parsed.name < b.parsed.name ? -1 : 1) : (left[place] ?? 0) - (right[place] ?? 0)
  }
  return [...all].sort(compare)
}

const list = (names: readonly (string | number)[]): string => names.slice(0, 10).join(', ')

const CHOOSE = 'Set route.service and route.port of the app to choose another.'

/** Tells which was taken, where there was more than one. */
const chosen = (validation: ValidationContext, [first, ...others]: readonly Candidate[]): ServiceRoute | undefined => {
  const port = validation.deployTarget.route?.port ?? first?.ports[0]?.target
  if (!first || port === undefined) return undefined
  const { name, at } = first.parsed
  const more = [
    ...first.ports.filter(({ target }) => target !== port).map(({ target }) => `${name} ${target}`),
    ...others.map(({ parsed, ports }) => `${parsed.name} ${list(ports.map(({ target }) => target))}`),
  ]
  if (more.length > 0 && validation.deployTarget.route?.port === undefined) {
    const detail = `Visitors go to ${name} on port ${port}; there would be ${list(more)} as well.`
    validation.warn(at, 'route', detail, CHOOSE)
  }
  return { service: name, port }
}

const named = (validation: ValidationContext, parsed: ParsedService): ServiceRoute | undefined => {
  const { name, at } = parsed
  const asked = validation.deployTarget.route?.port
  if (asked !== undefined) return { service: name, port: asked }
  if (parsed.ports.length === 0)
    return validation.refuse(at, 'route', `${name} does not say on which port it listens.`, 'Add expose with one port.')
  const [open, inner] = [
    candidateOf(validation, parsed, published(parsed)),
    candidateOf(validation, parsed, listening(parsed)),
  ]
  return chosen(validation, open.length > 0 ? open : inner) ?? noHttp(validation, [parsed])
}

const noHttp = (validation: ValidationContext, [first, ...more]: readonly ParsedService[]): undefined => {
  if (!first) return undefined
  const names = list([first, ...more].map(({ name, ports }) => `${name} on ${list(ports)}`))
  const detail = `No service takes visitors: ${names}, where HTTP is not spoken.`
  const next = 'Add ports or expose with the port that answers HTTP, or set route.service and route.port of the app.'
  return validation.refuse(first.at, 'route', detail, next)
}

/** Those that are open to the outside, else those that say where they listen and that none of these needs. */
const candidatesIn = (validation: ValidationContext, parsedServices: ParsedServices): Candidate[] => {
  const oneShots = oneShotNames(parsedServices)
  const all = [...parsedServices.values()].filter(({ name }) => !oneShots.has(name))
  const asked = validation.deployTarget.route?.port
  const meant = all.filter(({ ports }) => asked === undefined || ports.includes(asked))
  const of = meant.length > 0 ? meant : all
  const open = byFront(
    parsedServices,
    of.flatMap((parsed) => candidateOf(validation, parsed, published(parsed))),
  )
  if (open.some(({ parsed }) => !isBehind(parsed))) return open
  return byFront(
    parsedServices,
    of.flatMap((parsed) => candidateOf(validation, parsed, listening(parsed))),
  )
}

/** Who is exposed inside only is not opened on a guess: there must be one. */
const isGuess = (parsedServices: ParsedServices, all: readonly Candidate[]): boolean => {
  if (all.some(({ parsed }) => published(parsed).length > 0)) return false
  const needed = new Set(all.flatMap(({ parsed }) => [...reaches(parsedServices, parsed)]))
  return all.filter(({ parsed }) => !isBehind(parsed) && !needed.has(parsed.name)).length > 1
}

/** @param at the place of all services */
export const routeOf = (
  validation: ValidationContext,
  at: At,
  parsedServices: ParsedServices,
): ServiceRoute | undefined => {
  const asked = validation.deployTarget.route?.service
  if (asked !== undefined) {
    const parsed = parsedServices.get(asked)
    if (parsed) return named(validation, parsed)
    const known = list([...parsedServices.keys()])
    const detail = `The app's route names ${asked.slice(0, 60)}; there is ${known}.`
    return validation.refuse(at, 'route', detail, 'Correct route.service.')
  }
  const all = candidatesIn(validation, parsedServices)
  if (isGuess(parsedServices, all)) {
    const detail = `Several services have ports: ${list(all.map(({ parsed }) => parsed.name))}.`
    const next = 'Set route.service of the app, or write ports in place of expose at the one that takes visitors.'
    return validation.refuse(at, 'route', detail, next)
  }
  if (all.length > 0) return chosen(validation, all)
  const said = [...parsedServices.values()].filter(({ ports }) => ports.length > 0)
  if (said.length > 0) return noHttp(validation, said)
  const next = 'Add expose to the one that takes visitors.'
  return validation.refuse(at, 'route', 'No service says on which port it listens.', next)
}
