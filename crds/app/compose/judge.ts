/**
 * The gate: reads a compose file with everything resolved and gives either the project that we run or every reason why not.
 * Pure and total: bad input is a finding, never a throw; the work is bounded by the limits of parse.ts and interpolate.ts.
 */
import { COMPOSE_NAMES, type SourceIndex } from '../source.ts'
import { buildDigest } from './build.ts'
import { type At, type Desk, makeDesk } from './desk.ts'
import type { EnvFileName } from './environment.ts'
import { readEnvFileNames } from './environment.ts'
import type { Finding } from './finding.ts'
import { hintUser } from './hints.ts'
import { BUILT_HERE } from './image.ts'
import { resolveVariables } from './interpolate.ts'
import {
  checkDependencies,
  checkMounts,
  type Drafts,
  networksOf,
  oneShotNames,
  type Route,
  routeOf,
  statefulNames,
} from './layout.ts'
import { splitBudget } from './limits.ts'
import { VOLUME_NAME } from './mounts.ts'
import { type MapTree, parseYaml, type Tree } from './parse.ts'
import type { Ground, Limits, Network, Project, Service } from './project.ts'
import { asMap, isNothing, present, type Read, readBoolean, readFields, readMatching, wrong } from './read.ts'
import { REFUSED_IN_NETWORK, REFUSED_IN_PROJECT, REFUSED_IN_VOLUME } from './refused.ts'
import { type Draft, readService } from './service.ts'

export type Verdict = { ok: true; project: Project; warnings: Finding[] } | { ok: false; findings: Finding[] }

const SERVICES_MAX = 20
const VOLUMES_MAX = 20
/** Each takes a subnet of the host for every release. */
const NETWORKS_MAX = 4
const OVERRIDES = [
  'compose.override.yaml',
  'compose.override.yml',
  'docker-compose.override.yml',
  'docker-compose.override.yaml',
]

const raw: Read<Tree> = (_, tree) => tree

const noName: Read<undefined> = (desk, tree) =>
  void (
    isNothing(tree) ||
    desk.warn(tree, 'no-effect', 'The project is named here by the app and its release.', 'Remove it.')
  )

const PROJECT = { services: raw, networks: raw, volumes: raw, name: noName, version: raw }
const NETWORK = { driver: readMatching(/^(bridge|default)$/, 'bridge'), internal: readBoolean }
const VOLUME = { driver: readMatching(/^(local|default)$/, 'local') }

const top: At = { pointer: '', line: 1 }

const tooMany = (desk: Desk, { entries, ...at }: MapTree, max: number): undefined =>
  desk.refuse(at, 'size', `There are ${entries.size} here, at most ${max}.`, 'Leave some out.')

/** The entries of `networks` or `volumes`, each a mapping or nothing. */
const entriesOf = (desk: Desk, tree: Tree | undefined, max: number): [string, Tree][] => {
  if (!tree || isNothing(tree)) return []
  const map = asMap(desk, tree)
  if (!map) return []
  if (map.entries.size > max) tooMany(desk, map, max)
  return [...map.entries].filter(([name, entry]) => {
    if (!VOLUME_NAME.test(name)) return wrong(desk, entry, 'under a name of letters, digits, - and _') ?? false
    return entry.kind === 'map' || isNothing(entry) || (wrong(desk, entry, 'a mapping') ?? false)
  })
}

const readNetworks = (desk: Desk, tree: Tree | undefined): Map<string, Network> =>
  new Map(
    entriesOf(desk, tree, NETWORKS_MAX).map(([name, entry]) => {
      const rules = { of: 'a network', known: NETWORK, refused: REFUSED_IN_NETWORK }
      const { internal = false } = entry.kind === 'map' ? readFields(desk, entry, rules).fields : {}
      return [name, { name, internal }]
    }),
  )

const readVolumes = (desk: Desk, tree: Tree | undefined): Set<string> =>
  new Set(
    entriesOf(desk, tree, VOLUMES_MAX).map(([name, entry]) => {
      if (entry.kind === 'map') readFields(desk, entry, { of: 'a volume', known: VOLUME, refused: REFUSED_IN_VOLUME })
      return name
    }),
  )

const readServices = (desk: Desk, tree: Tree | undefined): Map<string, Draft> => {
  if (!tree || isNothing(tree)) {
    desk.refuse(tree ?? top, 'value', 'There is no service in the file.', 'Add services.')
    return new Map()
  }
  const map = asMap(desk, tree)
  if (map && map.entries.size > SERVICES_MAX) tooMany(desk, map, SERVICES_MAX)
  const read = [...(map?.entries ?? [])]
    .slice(0, SERVICES_MAX)
    .flatMap(([name, entry]) => readService(desk, name, entry) ?? [])
  return new Map(read.sort((a, b) => (a.name < b.name ? -1 : 1)).map((draft) => [draft.name, draft]))
}

/** What is known of the whole when one service is put together. */
type Whole = {
  drafts: Drafts
  stateful: Set<string>
  oneShots: Set<string>
  networks: Map<string, Network>
  limits: Map<string, Limits>
}

const imageOf = (desk: Desk, draft: Draft): string => {
  if (!draft.build) return draft.image ?? ''
  // 128 bits: unlike the names of app and service, nobody can guess it
  return `${BUILT_HERE}/${desk.ground.slug}/${draft.name}:${buildDigest(desk, draft.build).slice(0, 32)}`
}

/** What others wait for to end must not be started again for having ended. */
const restartOf = (desk: Desk, { restart, at }: Draft, oneShot: boolean): string => {
  if (!oneShot) return restart ?? 'unless-stopped'
  if (restart !== 'unless-stopped') return restart ?? 'no'
  desk.warn(at, 'no-effect', 'Others wait for it to end, so it is not started again.', 'Write restart: "no".')
  return 'no'
}

const serviceOf = (desk: Desk, draft: Draft, whole: Whole): Service => {
  const { name, build, command, entrypoint, environment, health, ports, plain, kept } = draft
  const oneShot = whole.oneShots.has(name)
  const known = draft.dependsOn.filter((dependency) => whole.drafts.has(dependency.name))
  const limits = whole.limits.get(name)
  if (!limits) throw new Error(`no limits were made for ${name}`)
  return {
    name,
    stateful: whole.stateful.has(name),
    oneShot,
    image: imageOf(desk, draft),
    build: build ?? null,
    ...present({ command, entrypoint }),
    environment,
    dependsOn: Object.fromEntries(
      known
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, condition, restart }) => [name, { condition, restart }]),
    ),
    health,
    mounts: draft.mounts.map(({ mount }) => mount).sort((a, b) => (a.target < b.target ? -1 : 1)),
    networks: networksOf(desk, draft, whole.networks),
    ports,
    restart: restartOf(desk, draft, oneShot),
    limits,
    ...plain,
    init: plain.init ?? true,
    readOnly: plain.readOnly ?? false,
    kept,
  }
}

/** A port on 127.0.0.1 leads into a container only by a network that leads out. */
const checkWayIn = (desk: Desk, at: At, service: Service, networks: ReadonlyMap<string, Network>): void => {
  const open = Object.keys(service.networks).some((name) => networks.get(name)?.internal !== true)
  if (open) return
  const detail = `${service.name} takes the visitors but is on internal networks only.`
  desk.refuse(at, 'route', detail, 'Add a network that is not internal.')
}

const assemble = (desk: Desk, map: MapTree): Project | undefined => {
  const { fields } = readFields(desk, map, { of: 'a compose file', known: PROJECT, refused: REFUSED_IN_PROJECT })
  const volumes = readVolumes(desk, fields.volumes)
  const networks = readNetworks(desk, fields.networks)
  const drafts = readServices(desk, fields.services)
  const at = fields.services ?? top
  checkDependencies(desk, drafts)
  for (const draft of drafts.values()) checkMounts(desk, draft, volumes)
  for (const { at, image = '', plain } of drafts.values()) hintUser(desk, at, { image, user: plain.user })
  const whole: Whole = {
    drafts,
    networks,
    stateful: statefulNames(drafts),
    oneShots: oneShotNames(drafts),
    limits: splitBudget(desk, at, [...drafts.values()]),
  }
  const services = [...drafts.values()].map((draft) => serviceOf(desk, draft, whole))
  const route = routeOf(desk, at, drafts)
  const routed = services.find(({ name }) => name === route?.service)
  if (routed) checkWayIn(desk, drafts.get(routed.name)?.at ?? at, routed, networks)
  return route && projectOf(desk, { services, networks, route })
}

const projectOf = (
  desk: Desk,
  { services, networks, route }: { services: Service[]; networks: Map<string, Network>; route: Route },
): Project => {
  const used = new Set(services.flatMap((service) => Object.keys(service.networks)))
  const volumes = services.flatMap(({ mounts }) =>
    mounts.flatMap((mount) => (mount.type === 'volume' ? [mount.source] : [])),
  )
  return {
    slug: desk.ground.slug,
    services,
    networks: [...used].sort().map((name) => networks.get(name) ?? { name, internal: false }),
    volumes: [...new Set(volumes)].sort(),
    route,
    env: { used: [...desk.env.used].sort(), missing: [...desk.env.missing].sort() },
  }
}

const warnOfOtherFiles = (desk: Desk, source: SourceIndex): void => {
  for (const name of [...OVERRIDES, ...COMPOSE_NAMES]) {
    if (name === source.composePath || !desk.bundle.file(name)) continue
    desk.warn(
      top,
      'other-file',
      `${name} is not read: ${source.composePath} is the whole project.`,
      'Merge it in, or remove it.',
    )
  }
}

const resolved = (desk: Desk, source: SourceIndex): MapTree | undefined => {
  const text = source.texts.get(source.composePath)
  if (text === undefined) {
    return desk.refuse(top, 'bundle', `${source.composePath} is not in the upload.`, 'Add a compose file.')
  }
  const tree = parseYaml(desk, text)
  return tree && asMap(desk, resolveVariables(desk, tree))
}

/** Judges a compose file. The same input gives the same verdict; the project is there only if nothing refuses it. */
export const judgeCompose = (source: SourceIndex, ground: Ground): Verdict => {
  const desk = makeDesk(source, ground)
  warnOfOtherFiles(desk, source)
  const map = resolved(desk, source)
  const project = map && assemble(desk, map)
  const refused = desk.findings.some(({ level }) => level === 'refuse')
  if (project && !refused) return { ok: true, project, warnings: [...desk.findings] }
  if (!refused) desk.refuse(top, 'value', 'The file is not a compose project.', 'Write a mapping with services.')
  return { ok: false, findings: [...desk.findings] }
}

/** Paths of the env files that the compose file names, so that their texts can be handed to the judge. */
export const envFilesOf = (source: SourceIndex, ground: Ground): string[] => {
  const desk = makeDesk(source, ground)
  const services = resolved(desk, source)?.entries.get('services')
  const named = [...(services?.kind === 'map' ? services.entries.values() : [])].flatMap((service): EnvFileName[] => {
    const tree = service.kind === 'map' ? service.entries.get('env_file') : undefined
    return (tree && readEnvFileNames(desk, tree)) ?? []
  })
  return [...new Set(named.map(({ path }) => path))].filter((path) => desk.bundle.file(path)).sort()
}
