/** One service, key by key. What is not in the table is not run (rules/app.md#compose-policy). */

import type { Build, Health, KeptSetting } from '../project.ts'
import type { MapTree, Tree } from '../reading/parse.ts'
import {
  isNothing,
  present,
  type Read,
  readBoolean,
  readBytes,
  readCommand,
  readCpuMillis,
  readDurationMs,
  readFields,
  readList,
  readMatching,
  readOneOf,
  readTexts,
  readWhole,
  wrong,
} from '../reading/read.ts'
import type { At, ValidationContext } from '../reading/validation.ts'
import { readBuild, readPlatform } from './build.ts'
import { type EnvFileName, type Environment, environmentOf, readEnvFileNames, readPairs } from './environment.ts'
import { readHealth } from './health.ts'
import { readImage } from './image.ts'
import { type MountDraft, readMount, readTmpfs } from './mounts.ts'
import { readContainerName, readLinks, type ServiceLink } from './names.ts'
import {
  type AskedReplicas,
  type Dependency,
  goes,
  readDependsOn,
  readDeploy,
  readLogging,
  readNetworkMode,
  readNofile,
  readReplicas,
  readRestart,
  readSecurity,
} from './parts.ts'
import { type PublishedPort, readExposed, readPorts } from './ports.ts'
import { REFUSED_IN_SERVICE } from './refused.ts'
import { type AskedRights, readAdded } from './rights.ts'
import { readWanted, type Wanted } from './secrets.ts'

const MOUNTS_MAX = 32
const PORTS_MAX = 64
const STOP_MAX_MS = 120_000
const MEMORY_MIN_BYTES = 6_291_456
const MEMORY_MAX_BYTES = 1_099_511_627_776

/** A part of names of containers, images and hosts alike. */
const SERVICE_NAME = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/
const SERVICE_NAME_MAX = 40
const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** A service as read, before it is put among the others. */
export type ParsedService = {
  name: string
  at: At
  declaredStateful: boolean
  image?: string
  build?: Build
  command?: string | string[] | null
  entrypoint?: string | string[] | null
  environment: Record<string, string>
  /** The same as it may be shown: values of the app's env and of env files by their names. */
  shownEnvironment: Record<string, string>
  dependsOn: Dependency[]
  health: Health | null
  mounts: MountDraft[]
  /** Undefined: the default network. */
  networks?: { name: string; aliases: string[]; at: At }[]
  ports: number[]
  /** Those of them that others than the project were to reach. */
  published: PublishedPort[]
  /** Further names on its networks. */
  aliases: string[]
  links: ServiceLink[]
  /** Secrets and configs. */
  wanted: Wanted[]
  rights: { added: string[]; removed: string[] }
  restart?: string
  /** How many of it the file asks for, wherever it does. */
  replicas: AskedReplicas[]
  asked: { cpuMillis?: number; memoryBytes?: number; pids?: number }
  plain: Plain
  kept: KeptSetting
}

/** What is copied as it was read. */
type Plain = Partial<
  Record<'user' | 'workingDir' | 'hostname' | 'stopSignal', string> &
    Record<'init' | 'readOnly' | 'tty' | 'stdinOpen', boolean> &
    Record<'stopGracePeriodMs' | 'shmBytes' | 'nofile', number>
>

const raw: Read<Tree> = (_, tree) => tree

const ALIAS = readMatching(HOST_NAME, 'a host name')
const IN_NETWORK = { aliases: readList(ALIAS, 16), priority: raw, gw_priority: raw }

const readNetworks: Read<NonNullable<ParsedService['networks']>> = (validation, tree) => {
  if (tree.kind === 'scalar') return wrong(validation, tree, 'a list or a mapping of networks')
  if (tree.kind === 'list') {
    const names = tree.items.flatMap((item) => {
      const [name] = readTexts(1)(validation, item) ?? []
      return name === undefined ? [] : [{ name, aliases: [], at: { pointer: item.pointer, line: item.line } }]
    })
    return names
  }
  return [...tree.entries].map(([name, item]) => {
    const fields =
      item.kind === 'map'
        ? readFields(validation, item, { of: 'a network of a service', known: IN_NETWORK }).fields
        : {}
    if (item.kind !== 'map' && !isNothing(item)) wrong(validation, item, 'a mapping')
    return { name, aliases: fields.aliases ?? [], at: { pointer: item.pointer, line: item.line } }
  })
}

const left =
  (reason: string): Read<undefined> =>
  (validation, tree) =>
    goes(validation, tree, reason)

const readTmpfsList: Read<MountDraft[]> = (validation, tree) =>
  tree.kind === 'list'
    ? readList(readTmpfs, MOUNTS_MAX)(validation, tree)
    : [readTmpfs(validation, tree)].flatMap((mount) => mount ?? [])

const KNOWN = {
  image: readImage,
  build: readBuild,
  command: readCommand,
  entrypoint: readCommand,
  environment: readPairs,
  env_file: readEnvFileNames,
  depends_on: readDependsOn,
  healthcheck: readHealth,
  volumes: readList(readMount, MOUNTS_MAX),
  tmpfs: readTmpfsList,
  networks: readNetworks,
  ports: readPorts,
  expose: readList(readExposed, PORTS_MAX),
  restart: readRestart,
  deploy: readDeploy,
  cpus: readCpuMillis,
  mem_limit: readBytes(MEMORY_MIN_BYTES, MEMORY_MAX_BYTES),
  pids_limit: readWhole(1, 32_768),
  scale: readReplicas,
  user: readMatching(/^[a-z0-9_][a-z0-9_.-]{0,31}(:[a-z0-9_][a-z0-9_.-]{0,31})?$/i, 'a user, as 1000:1000'),
  working_dir: readMatching(/^\/[^\\:]{0,511}$/, 'an absolute path'),
  hostname: readMatching(HOST_NAME, 'a host name'),
  init: readBoolean,
  read_only: readBoolean,
  tty: readBoolean,
  stdin_open: readBoolean,
  stop_signal: readMatching(/^(SIG[A-Z0-9+]{2,12}|\d{1,2})$/, 'a signal, as SIGTERM'),
  stop_grace_period: readDurationMs(0, STOP_MAX_MS),
  shm_size: readBytes(65_536, MEMORY_MAX_BYTES),
  ulimits: readNofile,
  cap_drop: readTexts(64),
  cap_add: readAdded,
  security_opt: readSecurity,
  platform: readPlatform,
  container_name: readContainerName,
  links: readLinks,
  secrets: readWanted('secret'),
  configs: readWanted('config'),
  network_mode: readNetworkMode,
  pull_policy: readOneOf(['always', 'missing', 'if_not_present', 'build', 'daily', 'weekly']),
  logging: readLogging,
  ipc: readOneOf(['private']),
  cgroup: readOneOf(['private']),
  attach: left('Nobody is attached to what runs here.'),
  develop: left('Nothing is watched here; each change is a deploy.'),
}

type Read_ = ReturnType<typeof readFields<typeof KNOWN>>['fields']

const plainOf = (fields: Read_): Plain =>
  present({
    user: fields.user,
    workingDir: fields.working_dir,
    hostname: fields.hostname,
    stopSignal: fields.stop_signal,
    init: fields.init,
    readOnly: fields.read_only,
    tty: fields.tty,
    stdinOpen: fields.stdin_open,
    stopGracePeriodMs: fields.stop_grace_period,
    shmBytes: fields.shm_size,
    nofile: fields.ulimits,
  })

const askedOf = ({ deploy, cpus, mem_limit, pids_limit }: Read_): ParsedService['asked'] =>
  present({
    cpuMillis: deploy?.cpuMillis ?? cpus,
    memoryBytes: deploy?.memoryBytes ?? mem_limit,
    pids: deploy?.pids ?? pids_limit,
  })

const flag = (validation: ValidationContext, map: MapTree, name: string): boolean | undefined => {
  const tree = map.entries.get(name)
  return tree && readBoolean(validation, tree)
}

const environment = (validation: ValidationContext, map: MapTree, fields: Read_): Environment => {
  const files: EnvFileName[] = fields.env_file ?? []
  return environmentOf(validation, {
    files,
    pairs: fields.environment ?? [],
    wholeEnv: flag(validation, map, 'x-bottega-env') ?? true,
  })
}

const hasGoodName = (validation: ValidationContext, at: At, name: string): boolean => {
  const good = SERVICE_NAME.test(name) && name.length <= SERVICE_NAME_MAX && !/-r\d+$/.test(name)
  if (good) return true
  const detail = `${JSON.stringify(name.slice(0, 60))} cannot name a service.`
  const next = `Use at most ${SERVICE_NAME_MAX} of a-z, 0-9, - and _ between them, without -r and a number at the end.`
  validation.refuse(at, 'value', detail, next)
  return false
}

/** What runs: an image of a registry, or one that is built here and then has a name of ours. */
const originOf = (
  validation: ValidationContext,
  map: MapTree,
  { image, build }: Read_,
): Pick<ParsedService, 'image' | 'build'> => {
  const named = map.entries.get('image')
  if (!named && !map.entries.has('build')) {
    validation.refuse(map, 'image', 'The service has neither an image nor a build.', 'Add one of them.')
  }
  if (named && build) {
    goes(validation, named, 'A built image is named here by what it was built from.')
  }
  return build ? { build } : present({ image })
}

/** What the platform's own host passes on of keys that are read. */
const keptOf = ({ security_opt = [], cap_add }: { security_opt?: string[]; cap_add?: AskedRights }): KeptSetting => ({
  ...(security_opt.length > 0 && { security_opt }),
  ...(cap_add?.kept !== undefined && { cap_add: cap_add.kept }),
})

/** One entry of `services`; undefined when it is not one at all. */
export const readService = (validation: ValidationContext, name: string, tree: Tree): ParsedService | undefined => {
  const at = { pointer: tree.pointer, line: tree.line }
  if (!hasGoodName(validation, at, name)) return undefined
  if (tree.kind !== 'map') return wrong(validation, tree, 'a mapping')
  const { fields, kept } = readFields(validation, tree, { of: 'a service', known: KNOWN, refused: REFUSED_IN_SERVICE })
  const { command, entrypoint, networks, ports = [], expose = [], volumes = [], tmpfs = [] } = fields
  const { values, shown } = environment(validation, tree, fields)
  return {
    name,
    at,
    declaredStateful: flag(validation, tree, 'x-bottega-stateful') ?? false,
    ...originOf(validation, tree, fields),
    ...present({ command, entrypoint, networks, restart: fields.restart ?? fields.deploy?.restart }),
    environment: values,
    shownEnvironment: shown,
    dependsOn: fields.depends_on ?? [],
    health: fields.healthcheck ?? null,
    mounts: [...volumes, ...tmpfs],
    ports: [...new Set([...ports.map(({ target }) => target), ...expose.flat()])].sort((a, b) => a - b),
    published: ports,
    aliases: fields.container_name === undefined ? [] : [fields.container_name],
    links: fields.links ?? [],
    wanted: [...(fields.secrets ?? []), ...(fields.configs ?? [])],
    rights: { added: fields.cap_add?.names ?? [], removed: fields.cap_drop ?? [] },
    replicas: [fields.scale, fields.deploy?.replicas].filter((one) => one !== undefined),
    asked: askedOf(fields),
    plain: plainOf(fields),
    kept: { ...kept, ...keptOf(fields) },
  }
}
