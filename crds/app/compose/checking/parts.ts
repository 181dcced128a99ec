/** Smaller keys of a service that have an inside: dependencies, deploy, restart, limits of files, logging, security. */

import type { StartCondition } from '../project.ts'
import type { Tree } from '../reading/parse.ts'
import {
  asList,
  asMap,
  isNothing,
  present,
  type Read,
  readBoolean,
  readBytes,
  readCpuMillis,
  readDurationMs,
  readFields,
  readMatching,
  readOneOf,
  readText,
  readWhole,
  textOf,
  writtenOf,
  wrong,
} from '../reading/read.ts'
import type { At, ValidationContext } from '../reading/validation.ts'
import { REFUSED_IN_DEPLOY } from './refused.ts'

const DEPENDENCIES_MAX = 32
const CONDITIONS = [
  'service_started',
  'service_healthy',
  'service_completed_successfully',
] as const satisfies StartCondition[]
const RETRIES_MAX = 10
/** More open files than this some hosts do not allow. */
const NOFILE_MAX = 65_536
const MEMORY_MIN_BYTES = 6_291_456
const MEMORY_MAX_BYTES = 1_099_511_627_776

export type Dependency = { name: string; condition: StartCondition; restart: boolean; required: boolean; at: At }

const raw: Read<Tree> = (_, tree) => tree

const DEPENDENCY = { condition: readOneOf(CONDITIONS), restart: readBoolean, required: readBoolean }

/** `depends_on`: a list of names, or a mapping with conditions. */
export const readDependsOn: Read<Dependency[]> = (validation, tree) => {
  if (tree.kind === 'scalar') return wrong(validation, tree, 'a list or a mapping of services')
  const named: [string, Tree][] =
    tree.kind === 'map'
      ? [...tree.entries]
      : tree.items.map((item) => [item.kind === 'scalar' ? textOf(item) : '', item])
  if (named.length > DEPENDENCIES_MAX) return wrong(validation, tree, `at most ${DEPENDENCIES_MAX} services`)
  return named.map(([name, item]) => {
    const fields =
      item.kind === 'map' ? readFields(validation, item, { of: 'a dependency', known: DEPENDENCY }).fields : {}
    const { condition = 'service_started', restart = false, required = true } = fields
    return { name, condition, restart, required, at: { pointer: item.pointer, line: item.line } }
  })
}

/** `no`, `unless-stopped` (which `always` becomes: what was stopped stays so) or `on-failure:n`. */
export const readRestart: Read<string> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree) : ''
  if (text === 'unless-stopped') return text
  if (text === 'always') {
    const reason = 'It is started again after every end; what was stopped on purpose stays so.'
    validation.rewrite(tree, 'no-effect', { from: text, to: 'unless-stopped', reason })
    return 'unless-stopped'
  }
  if (text === 'no' || text === 'false') return 'no'
  const [whole, count = String(RETRIES_MAX)] = /^on-failure(?::(\d{1,4}))?$/.exec(text) ?? []
  if (whole === undefined) return wrong(validation, tree, 'no, always, unless-stopped or on-failure:5')
  const restart = `on-failure:${Math.min(RETRIES_MAX, Math.max(1, Number(count)))}`
  const reason = `At most ${RETRIES_MAX} tries are made.`
  if (restart !== whole) validation.rewrite(tree, 'no-effect', { from: whole, to: restart, reason })
  return restart
}

/** It is left out, and the project is the same without it. */
export const goes = (validation: ValidationContext, tree: Tree, reason: string): undefined =>
  void (isNothing(tree) || validation.rewrite(tree, 'no-effect', { from: writtenOf(tree), to: null, reason }))

const LIMITS = {
  cpus: readCpuMillis,
  memory: readBytes(MEMORY_MIN_BYTES, MEMORY_MAX_BYTES),
  pids: readWhole(1, 32_768),
}
const RESERVED = { cpus: readCpuMillis, memory: readBytes(0, MEMORY_MAX_BYTES) }
const RESOURCES = { limits: raw, reservations: raw }
const POLICY = {
  condition: readOneOf(['none', 'on-failure', 'any']),
  max_attempts: readWhole(1, RETRIES_MAX),
  delay: readDurationMs(0, 3_600_000),
  window: readDurationMs(0, 3_600_000),
}
/** `replicas` and `scale`: how many, as it is written. What may have more than one is known with the whole (whole/replicas.ts). */
export type AskedReplicas = { count: number; at: Tree }
export const readReplicas: Read<AskedReplicas> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? (textOf(tree) ?? '') : ''
  return /^\d{1,9}$/.test(text) ? { count: Number(text), at: tree } : wrong(validation, tree, 'a whole number')
}

const DEPLOY = {
  resources: raw,
  restart_policy: raw,
  replicas: readReplicas,
  mode: readMatching(/^replicated$/, 'replicated'),
}

const limitsOf = (validation: ValidationContext, tree: Tree | undefined) => {
  if (!tree || isNothing(tree)) return {}
  const map = asMap(validation, tree)
  const { limits, reservations } = map ? readFields(validation, map, { of: 'resources', known: RESOURCES }).fields : {}
  const held = reservations && asMap(validation, reservations)
  if (held) {
    readFields(validation, held, { of: 'reservations', known: RESERVED })
    goes(validation, held, 'Nothing is reserved; limits hold.')
  }
  const limited = limits && asMap(validation, limits)
  return limited ? readFields(validation, limited, { of: 'limits', known: LIMITS }).fields : {}
}

const policyOf = (validation: ValidationContext, tree: Tree | undefined): string | undefined => {
  if (!tree || isNothing(tree)) return undefined
  const map = asMap(validation, tree)
  const { condition = 'any', max_attempts = RETRIES_MAX } = map
    ? readFields(validation, map, { of: 'a restart policy', known: POLICY }).fields
    : {}
  if (condition === 'on-failure') return `on-failure:${max_attempts}`
  return condition === 'none' ? 'no' : 'unless-stopped'
}

type Deploy = { cpuMillis?: number; memoryBytes?: number; pids?: number; restart?: string; replicas?: AskedReplicas }

export const readDeploy: Read<Deploy> = (validation, tree) => {
  const map = asMap(validation, tree)
  if (!map) return undefined
  const { fields } = readFields(validation, map, { of: 'deploy', known: DEPLOY, refused: REFUSED_IN_DEPLOY })
  const { cpus, memory, pids } = limitsOf(validation, fields.resources)
  const restart = policyOf(validation, fields.restart_policy)
  return present({ cpuMillis: cpus, memoryBytes: memory, pids, restart, replicas: fields.replicas })
}

const BOUNDS = { soft: readWhole(1, NOFILE_MAX), hard: readWhole(1, NOFILE_MAX) }

/** `ulimits`: open files alone, as one number for both bounds. */
export const readNofile: Read<number> = (validation, tree) => {
  const map = asMap(validation, tree)
  if (!map) return undefined
  for (const [name, limit] of map.entries) {
    if (name === 'nofile') continue
    const detail = `The limit ${name.slice(0, 40)} is the host's to set.`
    validation.refuse(limit, 'privileges', detail, 'Remove it; nofile alone may be set.')
  }
  const nofile = map.entries.get('nofile')
  if (!nofile) return undefined
  if (nofile.kind !== 'map') return BOUNDS.hard(validation, nofile)
  const { soft, hard } = readFields(validation, nofile, { of: 'nofile', known: BOUNDS }).fields
  return hard ?? soft
}

const LOGGING = { driver: readText, options: raw }

/** Logs are always kept by the host, bounded. Options of the same driver are passed over, another driver is refused. */
export const readLogging: Read<undefined> = (validation, tree) => {
  const map = asMap(validation, tree)
  if (!map) return undefined
  const { driver = 'json-file' } = readFields(validation, map, { of: 'logging', known: LOGGING }).fields
  if (driver === 'json-file' || driver === 'local') {
    return goes(validation, tree, 'Logs are kept by the host: three files of 10 MB per service.')
  }
  validation.allows(tree, 'host-access', 'The logs would be sent elsewhere by the host.', 'Read them by GET logs.')
  return undefined
}

/** What stands beside no-new-privileges, which holds always: on the platform's own host it is kept. */
export const readSecurity: Read<string[]> = (validation, tree) => {
  const list = asList(validation, tree)
  return (list?.items ?? []).flatMap((item) => {
    const option = readText(validation, item) ?? ''
    if (/^no-new-privileges(?:[:=]true)?$/.test(option)) return []
    const detail = 'Security options change what the container is kept from.'
    return validation.allows(item, 'privileges', detail, 'Remove it.') ? [option] : []
  })
}

/** The network of the project under its old names; anything else is shared with others than the container. */
export const readNetworkMode: Read<undefined> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree) : ''
  if (text === 'bridge' || text === 'default') return goes(validation, tree, 'Each project has a bridge of its own.')
  return validation.refuse(
    tree,
    'host-namespace',
    'It shares the network with others than the container.',
    'Remove it.',
  )
}
