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
import { type EnvFileName, environmentOf, readEnvFileNames, readPairs } from './environment.ts'
import { readHealth } from './health.ts'
import { readImage } from './image.ts'
import { type MountDraft, readMount, readTmpfs } from './mounts.ts'
import {
  type Dependency,
  readDependsOn,
  readDeploy,
  readLogging,
  readNofile,
  readOne,
  readRestart,
  readSecurity,
} from './parts.ts'
import { readExposed, readPort } from './ports.ts'
import { REFUSED_IN_SERVICE } from './refused.ts'

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
  dependsOn: Dependency[]
  health: Health | null
  mounts: MountDraft[]
  /** Undefined: the default network. */
  networks?: { name: string; aliases: string[]; at: At }[]
  ports: number[]
  restart?: string
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

const noEffect =
  (detail: string): Read<undefined> =>
  (validation, tree) =>
    void (isNothing(tree) || validation.warn(tree, 'no-effect', detail, 'Remove it.'))

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
  ports: readList(readPort, PORTS_MAX),
  expose: readList(readExposed, PORTS_MAX),
  restart: readRestart,
  deploy: readDeploy,
  cpus: readCpuMillis,
  mem_limit: readBytes(MEMORY_MIN_BYTES, MEMORY_MAX_BYTES),
  pids_limit: readWhole(1, 32_768),
  scale: readOne,
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
  security_opt: readSecurity,
  platform: readPlatform,
  pull_policy: readOneOf(['always', 'missing', 'if_not_present', 'build', 'daily', 'weekly']),
  logging: readLogging,
  ipc: readOneOf(['private']),
  cgroup: readOneOf(['private']),
  attach: noEffect('Nobody is attached to what runs here.'),
  develop: noEffect('Nothing is watched here; each change is a deploy.'),
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

const environment = (validation: ValidationContext, map: MapTree, fields: Read_): Record<string, string> => {
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
    validation.warn(named, 'no-effect', 'A built image is named here by what it was built from.', 'Remove image.')
  }
  return build ? { build } : present({ image })
}

/** One entry of `services`; undefined when it is not one at all. */
export const readService = (validation: ValidationContext, name: string, tree: Tree): ParsedService | undefined => {
  const at = { pointer: tree.pointer, line: tree.line }
  if (!hasGoodName(validation, at, name)) return undefined
  if (tree.kind !== 'map') return wrong(validation, tree, 'a mapping')
  const { fields, kept } = readFields(validation, tree, { of: 'a service', known: KNOWN, refused: REFUSED_IN_SERVICE })
  const { command, entrypoint, networks, ports = [], expose = [], volumes = [], tmpfs = [], security_opt = [] } = fields
  return {
    name,
    at,
    declaredStateful: flag(validation, tree, 'x-bottega-stateful') ?? false,
    ...originOf(validation, tree, fields),
    ...present({ command, entrypoint, networks, restart: fields.restart ?? fields.deploy?.restart }),
    environment: environment(validation, tree, fields),
    dependsOn: fields.depends_on ?? [],
    health: fields.healthcheck ?? null,
    mounts: [...volumes, ...tmpfs],
    ports: [...new Set([...ports, ...expose].flat())].sort((a, b) => a - b),
    asked: askedOf(fields),
    plain: plainOf(fields),
    kept: { ...kept, ...(security_opt.length > 0 && { security_opt }) },
  }
}
