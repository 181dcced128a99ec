/**
 * The gate: reads a compose file with everything resolved and gives either the project that we run or every reason why not.
 * Pure and total: bad input is a finding, never a throw; the work is bounded by the limits of parse.ts and interpolate.ts.
 */
import { COMPOSE_NAMES, type SourceIndex } from '../sources/source.ts'
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
  statefulNames,
} from './checking/layout.ts'
import { splitBudget } from './checking/limits.ts'
import { goes } from './checking/parts.ts'
import { REFUSED_IN_PROJECT } from './checking/refused.ts'
import { rightsOf } from './checking/rights.ts'
import { mountsOfWanted, readGivens } from './checking/secrets.ts'
import { type ParsedService, readService } from './checking/service.ts'
import type { ComposeChange, ComposeFinding } from './finding.ts'
import { printRuns } from './printing/runs.ts'
import type { ComposeService, DeployTarget, Network, Project, ServiceLimits } from './project.ts'
import { resolveVariables } from './reading/interpolate.ts'
import { type MapTree, parseYaml, type Tree } from './reading/parse.ts'
import { asMap, isNothing, present, type Read, readFields, writtenOf } from './reading/read.ts'
import { type At, insideBundle, makeValidationContext, type ValidationContext } from './reading/validation.ts'
import { settleNames } from './whole/names.ts'
import { settleReplicas } from './whole/replicas.ts'
import { routeOf, type ServiceRoute } from './whole/route.ts'
import { readNetworks, readVolumes, tooMany } from './whole/tops.ts'

/** `changes`: what runs otherwise than it was written. `runs`: the file as it runs, in YAML, without any value of the env. */
export type ComposeVerdict =
  | { ok: true; project: Project; warnings: ComposeFinding[]; changes: ComposeChange[]; runs: string }
  | { ok: false; findings: ComposeFinding[] }

const SERVICES_MAX = 20
const OVERRIDES = [
  'compose.override.yaml',
  'compose.override.yml',
  'docker-compose.override.yml',
  'docker-compose.override.yaml',
]

const raw: Read<Tree> = (_, tree) => tree

const gone =
  (reason: string): Read<undefined> =>
  (validation, tree) =>
    goes(validation, tree, reason)

const PROJECT = {
  services: raw,
  networks: raw,
  volumes: raw,
  secrets: raw,
  configs: raw,
  name: gone('The project is named by the app and its release.'),
  version: gone('Compose reads no version of a file any more.'),
}

const top: At = { pointer: '', line: 1 }

/** A service with a profile is started only by who asks for the profile, and nobody does: it is no part of the project. */
const isLeftOut = (validation: ValidationContext, entry: Tree): boolean => {
  const profiles = entry.kind === 'map' ? entry.entries.get('profiles') : undefined
  if (!profiles || isNothing(profiles)) return false
  const reason = 'A service with a profile is started only where the profile is asked for; here nobody does.'
  validation.rewrite(entry, 'no-effect', { from: `profiles: ${writtenOf(profiles)}`, to: null, reason })
  return true
}

const readServices = (validation: ValidationContext, tree: Tree | undefined): Map<string, ParsedService> => {
  if (!tree || isNothing(tree)) {
    validation.refuse(tree ?? top, 'value', 'There is no service in the file.', 'Add services.')
    return new Map()
  }
  const map = asMap(validation, tree)
  if (map && map.entries.size > SERVICES_MAX) tooMany(validation, map, SERVICES_MAX)
  const read = [...(map?.entries ?? [])]
    .slice(0, SERVICES_MAX)
    .filter(([, entry]) => !isLeftOut(validation, entry))
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
    rights: rightsOf(validation, { user: plain.user, ...parsed.rights }),
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

/** What the whole file gives its services: names, mounts of what they ask for. */
const settle = (validation: ValidationContext, services: Map<string, ParsedService>, given: Given): void => {
  settleNames(validation, services)
  checkDependencies(validation, services)
  for (const parsed of services.values()) {
    parsed.mounts.push(...mountsOfWanted(validation, parsed.wanted, given))
    checkMounts(validation, parsed, given.volumes)
    hintUser(validation, parsed.at, { image: parsed.image ?? '', user: parsed.plain.user })
  }
}

type Given = Parameters<typeof mountsOfWanted>[2] & { volumes: ReadonlySet<string> }

type Assembled = { project: Project; shown: ReadonlyMap<string, Record<string, string>> }

const assemble = (validation: ValidationContext, map: MapTree): Assembled | undefined => {
  const { fields } = readFields(validation, map, { of: 'a compose file', known: PROJECT, refused: REFUSED_IN_PROJECT })
  const given: Given = {
    volumes: readVolumes(validation, fields.volumes),
    secret: readGivens(validation, fields.secrets, 'secret'),
    config: readGivens(validation, fields.configs, 'config'),
  }
  const networks = readNetworks(validation, fields.networks)
  const parsedServices = readServices(validation, fields.services)
  const at = fields.services ?? top
  settle(validation, parsedServices, given)
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
  const replicas = settleReplicas(validation, parsedServices, { routed: route?.service, stateful: whole.stateful })
  if (routed) checkWayIn(validation, parsedServices.get(routed.name)?.at ?? at, routed, networks)
  if (!route) return undefined
  const shown = new Map([...parsedServices.values()].map((parsed) => [parsed.name, parsed.shownEnvironment]))
  return { project: projectOf(validation, { services, networks, route, replicas }), shown }
}

type ProjectParts = {
  services: ComposeService[]
  networks: Map<string, Network>
  route: ServiceRoute
  replicas: number
}

const projectOf = (validation: ValidationContext, { services, networks, route, replicas }: ProjectParts): Project => {
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
    ...(replicas > 1 && { replicas }),
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
  const isLink = source.entries.some(({ path, link }) => path === source.composePath && link !== undefined)
  if (isLink) {
    return validation.refuse(top, 'bundle', `${source.composePath} is a link.`, 'Send the file itself under that name.')
  }
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
  const assembled = map && assemble(validation, map)
  const refused = validation.findings.some(({ level }) => level === 'refuse')
  if (assembled && !refused) {
    const { project, shown } = assembled
    const runs = printRuns(validation, project, shown)
    return { ok: true, project, warnings: [...validation.findings], changes: [...validation.changes], runs }
  }
  if (!refused) validation.refuse(top, 'value', 'The file is not a compose project.', 'Write a mapping with services.')
  return { ok: false, findings: [...validation.findings] }
}

/** Of those that are files of the upload where they really lie, each once. */
const realPaths = ({ bundle }: ValidationContext, paths: readonly string[]): string[] =>
  [...new Set(paths.flatMap((path) => (bundle.file(path) ? (bundle.real(path) ?? []) : [])))].sort()

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
  return realPaths(validation, paths)
}

/** Paths of the env files that the compose file names, so that their texts can be handed to the judge. */
export const envFilesOf = (source: SourceIndex, deployTarget: DeployTarget): string[] => {
  const validation = makeValidationContext(source, deployTarget)
  const services = resolved(validation, source)?.entries.get('services')
  const named = [...(services?.kind === 'map' ? services.entries.values() : [])].flatMap((service): EnvFileName[] => {
    const tree = service.kind === 'map' ? service.entries.get('env_file') : undefined
    return (tree && readEnvFileNames(validation, tree)) ?? []
  })
  return realPaths(
    validation,
    named.map(({ path }) => path),
  )
}
