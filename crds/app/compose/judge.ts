/**
 * The gate: reads a compose file with everything resolved and gives either the project that we run or every reason why not.
 * Pure and total: bad input is a finding, never a throw; the work is bounded by the limits of parse.ts and interpolate.ts.
 */
import { COMPOSE_NAMES, type SourceIndex } from '../source.ts'
import { buildDigest, readBuild } from './checking/build.ts'
import { type EnvFileName, readEnvFileNames } from './checking/environment.ts'
import { hintUser } from './checking/hints.ts'
import { BUILT_HERE } from './checking/image.ts'
import {
  checkDependencies,
  checkMounts,
  networksOf,
  oneShotNames,
  type ParsedServices,
  routeOf,
  type ServiceRoute,
  statefulNames,
} from './checking/layout.ts'
import { splitBudget } from './checking/limits.ts'
import { VOLUME_NAME } from './checking/mounts.ts'
import { REFUSED_IN_NETWORK, REFUSED_IN_PROJECT, REFUSED_IN_VOLUME } from './checking/refused.ts'
import { type ParsedService, readService } from './checking/service.ts'
import type { ComposeFinding } from './finding.ts'
import type { ComposeService, DeployTarget, Network, Project, ServiceLimits } from './project.ts'
import { resolveVariables } from './reading/interpolate.ts'
import { type MapTree, parseYaml, type Tree } from './reading/parse.ts'
import { asMap, isNothing, present, type Read, readBoolean, readFields, readMatching, wrong } from './reading/read.ts'
import { type At, insideBundle, makeValidationContext, type ValidationContext } from './reading/validation.ts'

export type ComposeVerdict =
  | { ok: true; project: Project; warnings: ComposeFinding[] }
  | { ok: false; findings: ComposeFinding[] }

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

const noName: Read<undefined> = (validation, tree) =>
  void (
    isNothing(tree) ||
    validation.warn(tree, 'no-effect', 'The project is named here by the app and its release.', 'Remove it.')
  )

const PROJECT = { services: raw, networks: raw, volumes: raw, name: noName, version: raw }
const NETWORK = { driver: readMatching(/^(bridge|default)$/, 'bridge'), internal: readBoolean }
const VOLUME = { driver: readMatching(/^(local|default)$/, 'local') }

const top: At = { pointer: '', line: 1 }

const tooMany = (validation: ValidationContext, { entries, ...at }: MapTree, max: number): undefined =>
  validation.refuse(at, 'size', `There are ${entries.size} here, at most ${max}.`, 'Leave some out.')

/** The entries of `networks` or `volumes`, each a mapping or nothing. */
const entriesOf = (validation: ValidationContext, tree: Tree | undefined, max: number): [string, Tree][] => {
  if (!tree || isNothing(tree)) return []
  const map = asMap(validation, tree)
  if (!map) return []
  if (map.entries.size > max) tooMany(validation, map, max)
  return [...map.entries].filter(([name, entry]) => {
    if (!VOLUME_NAME.test(name)) return wrong(validation, entry, 'under a name of letters, digits, - and _') ?? false
    return entry.kind === 'map' || isNothing(entry) || (wrong(validation, entry, 'a mapping') ?? false)
  })
}

const readNetworks = (validation: ValidationContext, tree: Tree | undefined): Map<string, Network> =>
  new Map(
    entriesOf(validation, tree, NETWORKS_MAX).map(([name, entry]) => {
      const rules = { of: 'a network', known: NETWORK, refused: REFUSED_IN_NETWORK }
      const { internal = false } = entry.kind === 'map' ? readFields(validation, entry, rules).fields : {}
      return [name, { name, internal }]
    }),
  )

const readVolumes = (validation: ValidationContext, tree: Tree | undefined): Set<string> =>
  new Set(
    entriesOf(validation, tree, VOLUMES_MAX).map(([name, entry]) => {
      if (entry.kind === 'map')
        readFields(validation, entry, { of: 'a volume', known: VOLUME, refused: REFUSED_IN_VOLUME })
      return name
    }),
  )

const readServices = (validation: ValidationContext, tree: Tree | undefined): Map<string, ParsedService> => {
  if (!tree || isNothing(tree)) {
    validation.refuse(tree ?? top, 'value', 'There is no service in the file.', 'Add services.')
    return new Map()
  }
  const map = asMap(validation, tree)
  if (map && map.entries.size > SERVICES_MAX) tooMany(validation, map, SERVICES_MAX)
  const read = [...(map?.entries ?? [])]
    .slice(0, SERVICES_MAX)
    .flatMap(([name, entry]) => readService(validation, name, entry) ?? [])
  return new Map(read.sort((a, b) => (a.name < b.name ? -1 : 1)).map((parsed) => [parsed.name, parsed]))
}

/** What is known of the whole when one service is put together. */
type Whole = {
  parsedServices: ParsedServices
  stateful: Set<string>
  oneShots: Set<string>
  networks: Map<string, Network>
  limits: Map<string, ServiceLimits>
}

const imageOf = (validation: ValidationContext, parsed: ParsedService): string => {
  if (!parsed.build) return parsed.image ?? ''
  // 128 bits: unlike the names of app and service, nobody can guess it
  return `${BUILT_HERE}/${validation.deployTarget.slug}/${parsed.name}:${buildDigest(validation, parsed.build).slice(0, 32)}`
}

/** What others wait for to end must not be started again for having ended. */
const restartOf = (validation: ValidationContext, { restart, at }: ParsedService, oneShot: boolean): string => {
  if (!oneShot) return restart ?? 'unless-stopped'
  if (restart !== 'unless-stopped') return restart ?? 'no'
  validation.warn(at, 'no-effect', 'Others wait for it to end, so it is not started again.', 'Write restart: "no".')
  return 'no'
}

const serviceOf = (validation: ValidationContext, parsed: ParsedService, whole: Whole): ComposeService => {
  const { name, build, command, entrypoint, environment, health, ports, plain, kept } = parsed
  const oneShot = whole.oneShots.has(name)
  const known = parsed.dependsOn.filter((dependency) => whole.parsedServices.has(dependency.name))
  const limits = whole.limits.get(name)
  if (!limits) throw new Error(`no limits were made for ${name}`)
  return {
    name,
    stateful: whole.stateful.has(name),
    oneShot,
    image: imageOf(validation, parsed),
    build: build ?? null,
    ...present({ command, entrypoint }),
    environment,
    dependsOn: Object.fromEntries(
      known
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, condition, restart }) => [name, { condition, restart }]),
    ),
    health,
    mounts: parsed.mounts.map(({ mount }) => mount).sort((a, b) => (a.target < b.target ? -1 : 1)),
    networks: networksOf(validation, parsed, whole.networks),
    ports,
    restart: restartOf(validation, parsed, oneShot),
    limits,
    ...plain,
    init: plain.init ?? true,
    readOnly: plain.readOnly ?? false,
    kept,
  }
}

/** A port on 127.0.0.1 leads into a container only by a network that leads out. */
const checkWayIn = (
  validation: ValidationContext,
  at: At,
  service: ComposeService,
  networks: ReadonlyMap<string, Network>,
): void => {
  const open = Object.keys(service.networks).some((name) => networks.get(name)?.internal !== true)
  if (open) return
  const detail = `${service.name} takes the visitors but is on internal networks only.`
  validation.refuse(at, 'route', detail, 'Add a network that is not internal.')
}

const assemble = (validation: ValidationContext, map: MapTree): Project | undefined => {
  const { fields } = readFields(validation, map, { of: 'a compose file', known: PROJECT, refused: REFUSED_IN_PROJECT })
  const volumes = readVolumes(validation, fields.volumes)
  const networks = readNetworks(validation, fields.networks)
  const parsedServices = readServices(validation, fields.services)
  const at = fields.services ?? top
  checkDependencies(validation, parsedServices)
  for (const parsed of parsedServices.values()) checkMounts(validation, parsed, volumes)
  for (const { at, image = '', plain } of parsedServices.values()) hintUser(validation, at, { image, user: plain.user })
  const whole: Whole = {
    parsedServices,
    networks,
    stateful: statefulNames(parsedServices),
    oneShots: oneShotNames(parsedServices),
    limits: splitBudget(validation, at, [...parsedServices.values()]),
  }
  const services = [...parsedServices.values()].map((parsed) => serviceOf(validation, parsed, whole))
  const route = routeOf(validation, at, parsedServices)
  const routed = services.find(({ name }) => name === route?.service)
  if (routed) checkWayIn(validation, parsedServices.get(routed.name)?.at ?? at, routed, networks)
  return route && projectOf(validation, { services, networks, route })
}

const projectOf = (
  validation: ValidationContext,
  { services, networks, route }: { services: ComposeService[]; networks: Map<string, Network>; route: ServiceRoute },
): Project => {
  const used = new Set(services.flatMap((service) => Object.keys(service.networks)))
  const volumes = services.flatMap(({ mounts }) =>
    mounts.flatMap((mount) => (mount.type === 'volume' ? [mount.source] : [])),
  )
  return {
    slug: validation.deployTarget.slug,
    diskGib: validation.deployTarget.budget.diskGib,
    services,
    networks: [...used].sort().map((name) => networks.get(name) ?? { name, internal: false }),
    volumes: [...new Set(volumes)].sort(),
    route,
    env: { used: [...validation.env.used].sort(), missing: [...validation.env.missing].sort() },
  }
}

const warnOfOtherFiles = (validation: ValidationContext, source: SourceIndex): void => {
  for (const name of [...OVERRIDES, ...COMPOSE_NAMES]) {
    if (name === source.composePath || !validation.bundle.file(name)) continue
    validation.warn(
      top,
      'other-file',
      `${name} is not read: ${source.composePath} is the whole project.`,
      'Merge it in, or remove it.',
    )
  }
}

const resolved = (validation: ValidationContext, source: SourceIndex): MapTree | undefined => {
  const text = source.texts.get(source.composePath)
  if (text === undefined) {
    return validation.refuse(top, 'bundle', `${source.composePath} is not in the upload.`, 'Add a compose file.')
  }
  const tree = parseYaml(validation, text)
  return tree && asMap(validation, resolveVariables(validation, tree))
}

/** Judges a compose file. The same input gives the same verdict; the project is there only if nothing refuses it. */
export const judgeCompose = (source: SourceIndex, deployTarget: DeployTarget): ComposeVerdict => {
  const validation = makeValidationContext(source, deployTarget)
  warnOfOtherFiles(validation, source)
  const map = resolved(validation, source)
  const project = map && assemble(validation, map)
  const refused = validation.findings.some(({ level }) => level === 'refuse')
  if (project && !refused) return { ok: true, project, warnings: [...validation.findings] }
  if (!refused) validation.refuse(top, 'value', 'The file is not a compose project.', 'Write a mapping with services.')
  return { ok: false, findings: [...validation.findings] }
}

/** Paths of the Dockerfiles that the compose file names, likewise. */
export const recipesOf = (source: SourceIndex, deployTarget: DeployTarget): string[] => {
  const validation = makeValidationContext(source, deployTarget)
  const services = resolved(validation, source)?.entries.get('services')
  const builds = [...(services?.kind === 'map' ? services.entries.values() : [])].flatMap((service) => {
    const tree = service.kind === 'map' ? service.entries.get('build') : undefined
    return (tree && readBuild(validation, tree)) ?? []
  })
  const paths = builds.flatMap(({ dockerfile, context }) =>
    dockerfile === undefined ? [] : (insideBundle(dockerfile, context) ?? []),
  )
  return [...new Set(paths)].sort()
}

/** Paths of the env files that the compose file names, so that their texts can be handed to the judge. */
export const envFilesOf = (source: SourceIndex, deployTarget: DeployTarget): string[] => {
  const validation = makeValidationContext(source, deployTarget)
  const services = resolved(validation, source)?.entries.get('services')
  const named = [...(services?.kind === 'map' ? services.entries.values() : [])].flatMap((service): EnvFileName[] => {
    const tree = service.kind === 'map' ? service.entries.get('env_file') : undefined
    return (tree && readEnvFileNames(validation, tree)) ?? []
  })
  return [...new Set(named.map(({ path }) => path))].filter((path) => validation.bundle.file(path)).sort()
}
