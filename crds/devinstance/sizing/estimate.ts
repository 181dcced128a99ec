/**
 * What a repository needs of a machine: memory, processors, disk. Estimated from the scanner's profile, or measured.
 * Everything is an integer (MiB, thousandths of a CPU, MB), and no need falls when an input rises.
 * Source: rules/devinstance.md#sizing; the figures marked "assumed" are there to be replaced by measurements.
 */
import assert from 'node:assert/strict'
import { parseDecimal, SCALE } from '../../values/decimal.ts'
import { divideHalfUp } from '../../values/money.ts'
import type { AgentId } from '../bootstrap/agents.ts'
import type { Measurements, ScannerProfile } from './profile.ts'

/** The part of a profile that is sized by; `Profile` is one. */
export type SizedProfile = Omit<ScannerProfile, 'commit' | 'scannedAt' | 'scannerVersion'>

export type NeedInput = {
  profile: SizedProfile
  measurements?: Measurements
  /** How many pieces of work go on at a time. */
  concurrency: number
  /** The agents of the dev instance; none named counts as one of the heaviest. */
  agents?: readonly AgentId[]
}

export const MIB_PER_GIB = 1024
const MB = 1_000_000
const MB_PER_GB = 1000

const OS_MIB = 820 // 0.8 GiB
/** Assumed. */
const AGENT_MIB: Readonly<Record<AgentId, number>> = { 'claude-code': 1536, 'gemini-cli': 1024, codex: 512 }
/** Builds that run at the same time wait for each other's processors: more than two do not need more memory at once. */
const BUILDS_AT_ONCE_MAX = 2

/** Assumed: what a compiler of the language takes for a middling project. The keys are in lower case. */
const BUILD_MIB: Readonly<Record<string, number>> = {
  rust: 1536,
  'c++': 1024,
  java: 1280,
  kotlin: 1536,
  scala: 1792,
  swift: 1280,
  'c#': 1024,
  haskell: 1536,
  typescript: 768,
  javascript: 512,
  go: 640,
  c: 512,
}
const BUILD_MIB_OTHER = 256
const BUILD_SOURCE_BYTES_PER_MIB = 64 * 1024
const BUILD_PACKAGES_PER_MIB = 4
const TEST_WORKER_MIB = 192
const TEST_BASE_MIB = 128

const SERVER_MIB_MIN = 512
const SERVER_MIB_MAX = 2048
const SERVER_SOURCE_BYTES_PER_MIB = 32 * 1024
const SERVER_PACKAGES_PER_MIB = 4

/** Assumed: what an image takes that declares nothing, by the last part of its name. */
const IMAGE_MIB: Readonly<Record<string, number>> = {
  postgres: 256,
  mysql: 512,
  mariadb: 384,
  mongo: 512,
  redis: 64,
  valkey: 64,
  memcached: 64,
  rabbitmq: 256,
  kafka: 1024,
  elasticsearch: 2048,
  opensearch: 2048,
  clickhouse: 1024,
}
const IMAGE_MIB_OTHER = 256

const HEADROOM_PERCENT = 125
const MEASURED_HEADROOM_PERCENT = 130

const percent = (value: number, of: number): number => Math.ceil((value * of) / 100)
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * A decimal in `unit`s, rounded up: `'3.2'` of 1024 → 3277; zero when absent. A program that measures tells more digits than
 * a decimal has: what was in use is then rounded up too.
 */
const scaled = (decimal: string | undefined, unit: number): number => {
  const text = decimal ?? '0'
  const value = parseDecimal(text) ?? BigInt(Math.ceil(Number(text) * Number(SCALE)))
  assert(value >= 0n, `a measure is not below zero: ${text}`)
  return Number((value * BigInt(unit) + SCALE - 1n) / SCALE)
}

const sourceBytes = (profile: SizedProfile): number => sum(Object.values(profile.languages ?? {}))

const agentsMib = (agents: readonly AgentId[] | undefined): number =>
  agents === undefined || agents.length === 0
    ? Math.max(...Object.values(AGENT_MIB))
    : sum([...new Set(agents)].map((agent) => AGENT_MIB[agent]))

const buildMib = (profile: SizedProfile): number => {
  const languages = Object.entries(profile.languages ?? {}).filter(([, bytes]) => bytes > 0)
  const compilers = languages.map(([language]) => {
    const name = language.toLowerCase()
    return Object.hasOwn(BUILD_MIB, name) ? (BUILD_MIB[name] ?? BUILD_MIB_OTHER) : BUILD_MIB_OTHER
  })
  const packages = Math.ceil((profile.resolvedPackages + profile.workspacePackages) / BUILD_PACKAGES_PER_MIB)
  const source = Math.ceil(sourceBytes(profile) / BUILD_SOURCE_BYTES_PER_MIB)
  return Math.max(0, ...compilers) + source + packages
}

const testMib = ({ testFiles, testParallelism }: SizedProfile): number => {
  const workers = Math.min(testFiles, Math.max(1, testParallelism))
  return workers === 0 ? 0 : TEST_BASE_MIB + workers * TEST_WORKER_MIB
}

const languageServerMib = (profile: SizedProfile): number => {
  const source = Math.ceil(sourceBytes(profile) / SERVER_SOURCE_BYTES_PER_MIB)
  const packages = Math.ceil(profile.resolvedPackages / SERVER_PACKAGES_PER_MIB)
  return Math.min(SERVER_MIB_MAX, SERVER_MIB_MIN + source + packages)
}

type Service = NonNullable<SizedProfile['composeServices']>[number]

/** `ghcr.io/acme/postgres:17@sha256:…` → `postgres`. */
const imageName = (image: string): string => image.split('/').at(-1)?.split(/[:@]/)[0]?.toLowerCase() ?? ''

const serviceMib = ({ image, memoryMb }: Service): number => {
  if (memoryMb !== undefined) return memoryMb
  const name = imageName(image ?? '')
  return Object.hasOwn(IMAGE_MIB, name) ? (IMAGE_MIB[name] ?? IMAGE_MIB_OTHER) : IMAGE_MIB_OTHER
}

/** The parts of an estimate, in MiB. `totalMib` has the headroom on top. */
export type EstimatedMemory = {
  osMib: number
  agentsMib: number
  workMib: number
  servicesMib: number
  languageServerMib: number
  totalMib: number
}

/** Memory by the profile alone. */
export const estimatedMemory = ({ profile, concurrency, agents }: NeedInput): EstimatedMemory => {
  const heaviest = Math.max(buildMib(profile), testMib(profile))
  const parts = {
    osMib: OS_MIB,
    agentsMib: concurrency * agentsMib(agents),
    workMib: heaviest * Math.min(concurrency, BUILDS_AT_ONCE_MAX),
    servicesMib: sum((profile.composeServices ?? []).map(serviceMib)),
    languageServerMib: languageServerMib(profile),
  }
  return { ...parts, totalMib: percent(sum(Object.values(parts)), HEADROOM_PERCENT) }
}

/** The parts of a measured need, in MiB. */
export type MeasuredMemory = { peakMib: number; furtherAgentsMib: number; totalMib: number }

/** Memory by measurement, which beats the estimate: the warm-up held one piece of work, its agent included. */
export const measuredMemory = ({ measurements, concurrency, agents }: NeedInput): MeasuredMemory | undefined => {
  if (measurements?.peakRssGb === undefined) return undefined
  const peakMib = scaled(measurements.peakRssGb, MIB_PER_GIB)
  const furtherAgentsMib = (concurrency - 1) * agentsMib(agents)
  return { peakMib, furtherAgentsMib, totalMib: percent(peakMib, MEASURED_HEADROOM_PERCENT) + furtherAgentsMib }
}

/** Processors: two at least, one per piece of work, what is declared, half of the tests that run at a time. */
export const vcpuNeed = ({ profile, concurrency }: NeedInput): number =>
  Math.max(2, concurrency, profile.hostRequirements?.cpus ?? 0, Math.ceil(profile.testParallelism / 2))

const AGENT_MILLI_CPU = 150
const TEST_WORKER_MILLI_CPU = 50
const SERVICE_MILLI_CPU = 50

/** Assumed: the processor time of a working day, in thousandths of a CPU. An agent waits for its model most of the time. */
export const steadyNeedMilliCpu = ({ profile, concurrency }: NeedInput): number =>
  concurrency * (AGENT_MILLI_CPU + TEST_WORKER_MILLI_CPU * profile.testParallelism) +
  (profile.composeServices ?? []).length * SERVICE_MILLI_CPU

const BASE_MB = 14 * MB_PER_GB
const PACKAGE_MB = 2
const IMAGE_MB = 700
const FULL_PERCENT = 70
const MEASURED_FULL_PERCENT = 60
const DISK_STEP_GB = 10

/** The disk in GB on which `usedMb` fill `fullPercent`, in steps of ten. */
const diskFor = (usedMb: number, fullPercent: number): number => {
  const gb = (usedMb * 100) / (fullPercent * MB_PER_GB)
  return Math.ceil(gb / DISK_STEP_GB) * DISK_STEP_GB
}

/** Disk need in GB. `usedMb` is what it was worked out from. */
export type DiskNeed = { measured: boolean; usedMb: number; needGb: number }

/** Git keeps the packed history twice while it repacks; each piece of work has a working tree of its own. */
export const diskNeed = ({ profile, measurements, concurrency }: NeedInput): DiskNeed => {
  if (measurements?.diskUsedGb !== undefined) {
    const usedMb = scaled(measurements.diskUsedGb, MB_PER_GB)
    return { measured: true, usedMb, needGb: diskFor(usedMb, MEASURED_FULL_PERCENT) }
  }
  const historyMb = Math.ceil((profile.gitPackBytes + profile.lfsBytes) / MB) * 2
  const treesMb = Math.ceil((profile.trackedBytes + profile.lfsBytes) / MB) * concurrency
  const dependenciesMb = profile.resolvedPackages * PACKAGE_MB
  const imagesMb = (profile.composeServices ?? []).length * IMAGE_MB
  const usedMb = BASE_MB + historyMb + treesMb + dependenciesMb + imagesMb
  return { measured: false, usedMb, needGb: diskFor(usedMb, FULL_PERCENT) }
}

/** What the repository declares for its machine: a floor on the nominal memory and on the disk. */
export const declaredFloor = ({ profile }: NeedInput): { memoryMib: number; diskGb: number } => ({
  memoryMib: scaled(profile.hostRequirements?.memoryGb, MIB_PER_GIB),
  diskGb: scaled(profile.hostRequirements?.storageGb, 1),
})

/** MiB → GiB with two decimals, for people. */
export const gibOf = (mib: number): number => Number(divideHalfUp(BigInt(mib) * 100n, BigInt(MIB_PER_GIB))) / 100
