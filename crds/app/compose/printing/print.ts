/**
 * The documents that Compose runs on the host, in JSON (which is YAML): the same bytes for the same project and release.
 * They hold values of the app's env: whoever keeps them keeps them sealed, whoever uploads them does so with mode 0600.
 *
 * In the folder of a release lie `release.json` and the upload under `source/`; in the folder of the app's
 * base `base.json` and under `files/` what it mounts, by content, so that its services are started anew only when a
 * file that they mount has changed. The upload is never the project folder itself, where Compose would read its `.env`.
 */
import { type ComposeService, type Health, MIB_PER_GIB, type Project, type StartCondition } from '../project.ts'
import { present } from '../reading/read.ts'
import { replicaName, replicasIn } from '../replicas.ts'
import { bridgeOf } from './bridges.ts'
import { baseFile, mountsOf, type Owner, type Placed, placedOf } from './placed.ts'

/** One `docker compose -p <project> -f <file>`. */
export type ComposeDocument = { project: string; text: string }

export type Printed = {
  /** Null when no service is stateful. */
  base: ComposeDocument | null
  /** Null when every service is stateful. */
  release: ComposeDocument | null
  /** Under which conditions the release's services wait for those of the base. Sorted. */
  needs: { service: string; condition: StartCondition }[]
  /** What the base mounts: copy `from` (a file or a folder of the upload) to `to` beside `base.json`. */
  baseFiles: { from: string; to: string }[]
  /** What else has to lie there before anything is started. */
  placed: Placed[]
  /** Who takes the visitors: ask `docker compose port <service> <port>`. Docker chooses the port on 127.0.0.1 at every start. */
  routed: {
    document: 'base' | 'release'
    service: string
    port: number /** All of its replicas. */
    services: string[]
  }
}

export type Json = Record<string, unknown>

/** Characters that readers of YAML do not take as they are. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

export const print = (document: Json): string => {
  const text = JSON.stringify(document, null, 2)
  return `${text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}

/** All that was resolved is final: no dollar sign of ours is a variable. */
export const literal = <T>(value: T): T => {
  if (typeof value === 'string') return value.replaceAll('$', '$$$$') as T
  if (Array.isArray(value)) return value.map(literal) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, literal(inner)])) as T
}

const ms = (value: number | undefined): string | undefined => (value === undefined ? undefined : `${value}ms`)

const healthOf = (health: Health): Json => {
  if ('disable' in health) return { disable: true }
  return present({
    test: health.test,
    interval: ms(health.intervalMs),
    timeout: ms(health.timeoutMs),
    start_period: ms(health.startPeriodMs),
    retries: health.retries,
  })
}

const LOGGING = { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '3' } }

/** What holds for every container, whatever the file says. */
const held = ({ kept, limits, rights = [] }: ComposeService): Json => {
  const options = Array.isArray(kept.security_opt) ? kept.security_opt : []
  const added = [...new Set([...rights, ...(Array.isArray(kept.cap_add) ? kept.cap_add : [])])]
  return {
    cap_drop: ['ALL'],
    ...(added.length > 0 && { cap_add: added }),
    security_opt: ['no-new-privileges:true', ...options],
    logging: LOGGING,
    pids_limit: limits.pids,
    cpus: limits.cpuMillis / 1000,
    mem_limit: limits.memoryBytes,
    // as much as memory: no swap on top of it
    memswap_limit: limits.memoryBytes,
  }
}

/** A service without what depends on where it runs. */
export const serviceBody = (service: ComposeService, owner: Owner): Json => {
  const { volumes, tmpfs } = mountsOf(service, owner)
  const { stopGracePeriodMs, nofile, ...plain } = service
  const body = {
    image: service.image,
    command: service.command ?? undefined,
    entrypoint: service.entrypoint ?? undefined,
    environment: service.environment,
    healthcheck: service.health === null ? undefined : healthOf(service.health),
    restart: service.restart,
    init: service.init,
    read_only: service.readOnly,
    user: plain.user,
    working_dir: plain.workingDir,
    hostname: plain.hostname,
    stop_signal: plain.stopSignal,
    stop_grace_period: ms(stopGracePeriodMs),
    shm_size: plain.shmBytes,
    tty: plain.tty,
    stdin_open: plain.stdinOpen,
    ulimits: nofile === undefined ? undefined : { nofile: { soft: nofile, hard: nofile } },
    volumes: volumes.length > 0 ? volumes : undefined,
    tmpfs: tmpfs.length > 0 ? tmpfs : undefined,
  }
  return literal({ ...service.kept, ...present(body), ...held(service) })
}

export const LABEL = 'dev.bottega'

export type Placing = { project: Project; owner: Owner; release: number; origin: string }

export const projectIn = ({ project, owner, release }: Placing): string =>
  owner === 'base' ? `${project.slug}-base` : `${project.slug}-r${release}`

/** What a service is called in its document. */
const keyOf = (name: string, { owner, release }: Placing): string => (owner === 'base' ? name : `${name}-r${release}`)

export const inBase = ({ services }: Project, network: string): boolean =>
  services.some((service) => service.stateful && Object.hasOwn(service.networks, network))

/** How a release's document calls a network of the base: no name of a compose file begins so. */
export const joinedKey = (network: string): string => `_base_${network}`

const networksOf = (service: ComposeService, placing: Placing): Json => {
  const { project, owner } = placing
  const own = Object.entries(service.networks).map(([name, aliases]): [string, Json] => {
    const all = owner === 'base' ? aliases : [service.name, ...aliases]
    return [name, all.length > 0 ? { aliases: all } : {}]
  })
  if (owner === 'base') return Object.fromEntries(own)
  const joined = Object.keys(service.networks).filter((name) => inBase(project, name))
  return Object.fromEntries([...own, ...joined.map((name): [string, Json] => [joinedKey(name), {}])])
}

const dependsOn = (service: ComposeService, placing: Placing): Json | undefined => {
  const { services } = placing.project
  // What a release needs of the base is waited for before the release is started: `needs`.
  const together = Object.entries(service.dependsOn).filter(([name]) =>
    services.some((other) => other.name === name && other.stateful === service.stateful),
  )
  if (together.length === 0) return undefined
  return Object.fromEntries(
    together.map(([name, { condition, restart }]) => [keyOf(name, placing), { condition, restart, required: true }]),
  )
}

const needsOf = ({ services }: Project): Printed['needs'] => {
  const base = new Set(services.filter(({ stateful }) => stateful).map(({ name }) => name))
  const needs = services
    .filter(({ stateful }) => !stateful)
    .flatMap(({ dependsOn }) => Object.entries(dependsOn))
    .filter(([name]) => base.has(name))
    .map(([name, { condition }]) => `${name} ${condition}`)
  return [...new Set(needs)].sort().map((need) => {
    const [service = '', condition] = need.split(' ')
    return { service, condition: condition as StartCondition }
  })
}

/** Labels that the platform's own host lets stand, in either form. */
const keptLabels = ({ kept: { labels } }: ComposeService): Json => {
  if (!Array.isArray(labels)) return literal((labels ?? {}) as Json)
  const pairs = labels.map((label) => String(label).split(/=(.*)/s))
  return literal(Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value])))
}

const serviceIn = (service: ComposeService, placing: Placing): Json => {
  const { project, owner, release } = placing
  const { service: routed, port } = project.route
  return {
    ...serviceBody(service, owner),
    ...present({ depends_on: dependsOn(service, placing) }),
    networks: networksOf(service, placing),
    ...(service.name === routed && { ports: [`127.0.0.1::${port}`] }),
    labels: {
      ...keptLabels(service),
      [`${LABEL}.app`]: project.slug,
      // In MiB: the meter of the host holds the app to it (controllers/kinds/host/scripts/meter.sh).
      ...(project.diskGib !== undefined && { [`${LABEL}.disk`]: String(project.diskGib * MIB_PER_GIB) }),
      ...(owner === 'release' && { [`${LABEL}.release`]: String(release) }),
    },
  }
}

export const ownNetworks = (services: readonly ComposeService[], placing: Placing): Json => {
  const { project, owner, origin } = placing
  const used = project.networks.filter(({ name }) => services.some((service) => Object.hasOwn(service.networks, name)))
  const own = used.map(({ name, internal }): [string, Json] => [
    name,
    {
      driver: 'bridge',
      internal,
      driver_opts: { 'com.docker.network.bridge.name': bridgeOf(origin, `${projectIn(placing)}_${name}`) },
      labels: { [`${LABEL}.app`]: project.slug },
      // found by this name from every release
      ...(owner === 'base' && { name: `${projectIn(placing)}_${name}` }),
    },
  ])
  const joined = owner === 'base' ? [] : used.filter(({ name }) => inBase(project, name))
  return Object.fromEntries([
    ...own,
    ...joined.map(({ name }): [string, Json] => [
      joinedKey(name),
      { external: true, name: `${project.slug}-base_${name}` },
    ]),
  ])
}

const volumesOf = ({ slug, volumes }: Project): Json =>
  Object.fromEntries(
    volumes.map((name) => [name, { name: `${slug}-base_${name}`, labels: { [`${LABEL}.app`]: slug } }]),
  )

/** Under which names a service runs: each replica is a service of its own, with its own limits, port and name in logs. */
const namesOf = (
  { name }: Pick<ComposeService, 'name'>,
  { project, owner }: Pick<Placing, 'project' | 'owner'>,
): string[] => {
  const count = owner === 'release' && name === project.route.service ? replicasIn(project) : 1
  return Array.from({ length: count }, (_, place) => replicaName(name, place + 1))
}

const documentOf = (services: readonly ComposeService[], placing: Placing): ComposeDocument | null => {
  if (services.length === 0) return null
  const name = projectIn(placing)
  const text = print({
    name,
    services: Object.fromEntries(
      services.flatMap((service) =>
        namesOf(service, placing).map((one) => [keyOf(one, placing), serviceIn(service, placing)]),
      ),
    ),
    networks: ownNetworks(services, placing),
    ...(placing.owner === 'base' && { volumes: volumesOf(placing.project) }),
  })
  return { project: name, text }
}

/** @param release the number of the release, from 1 @param origin of the app (`originOf`) */
export const printProject = (project: Project, release: number, origin: string): Printed => {
  const stateful = project.services.filter((service) => service.stateful)
  const stateless = project.services.filter((service) => !service.stateful)
  const document = stateful.some(({ name }) => name === project.route.service) ? 'base' : 'release'
  const placing: Placing = { project, owner: document, release, origin }
  const binds = stateful.flatMap(({ mounts }) => mounts.flatMap((mount) => (mount.type === 'bind' ? [mount] : [])))
  const files = new Map(binds.map((mount) => [baseFile(mount), mount.source]))
  return {
    base: documentOf(stateful, { project, owner: 'base', release, origin }),
    release: documentOf(stateless, { project, owner: 'release', release, origin }),
    needs: needsOf(project),
    baseFiles: [...files].map(([to, from]) => ({ from, to })).sort((a, b) => (a.to < b.to ? -1 : 1)),
    placed: placedOf(project, release),
    routed: {
      document,
      service: keyOf(project.route.service, placing),
      port: project.route.port,
      services: namesOf({ name: project.route.service }, placing).map((one) => keyOf(one, placing)),
    },
  }
}
