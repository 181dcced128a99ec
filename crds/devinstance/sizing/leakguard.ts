/**
 * The resize proposal of the monitor: out of memory → one class up; disk over 90 % → volume plus 50 %. An agent that leaks
 * would march a dev instance to the largest class, so its own end by the kernel buys no memory: the second one within a day proposes
 * to cap the agents. Source: rules/devinstance.md#proposals.
 */
import { AGENT_IDS, AGENTS } from '../bootstrap/agents.ts'
import { DEV_USER } from '../bootstrap/places.ts'
import { centsOf } from './prices.ts'
import { CLASSES, DISK_GB_MAX, nextClass, priceOf, type SizeArch, type SizeClass } from './sizes.ts'

/** Reports within this time are looked at, and an automatic step is taken at most once in it. */
export const WINDOW_MS = 24 * 60 * 60 * 1000
const DISK_FULL_PERCENT = 90
/** An agent with this share of the memory is what filled it. */
const LEAK_SHARE_PERCENT = 50
const LEAKS_UNTIL_CAP = 2
const CAPPED_PERCENT = 50

/**
 * The part of a report that is looked at: `at` by our clock, `sentAt` and `oom.at` by that of the dev instance. An end by the kernel is
 * told again in every report until a new one comes; `oom.at` tells which it is.
 */
export type ObservedUse = {
  at: string
  sentAt?: string
  memory?: { totalGb: number; peakRssGb?: number }
  disk?: { totalGb: number; usedGb: number }
  oom?: { victim?: string; at?: string }
}

export type ProposalInput = {
  box: {
    id: string
    sizeClass: SizeClass
    arch: SizeArch
    diskGb: number
    publicIp: string | null
    pricingVersion: string
  }
  autoscale: 'never' | 'ask' | 'auto'
  /** Oldest first. */
  reports: readonly ObservedUse[]
  /** Since when the dev instance has its present size (ISO): what happened before is answered by it. */
  since: string
  /** When a proposal was last applied without being asked (ISO). */
  lastAutoStepAt?: string | undefined
  /** What its owner has committed in all, this dev instance included, and may commit. */
  committedCents: number
  capCents: number
  now: Date
}

export type ProposalCode = 'OUT_OF_MEMORY' | 'DISK_FULL' | 'AGENT_LEAK_SUSPECTED'

/** `apply`: the provisioner takes the step by itself. `reason` begins with its codes. */
export type Proposal = { sizeClass: SizeClass; diskGb: number; reason: string; command: string; apply: boolean }

/** The open proposal of a dev instance, or null. Not to be asked while a resize is under way. */
export const proposalOf = (input: ProposalInput): Proposal | null => {
  if (input.autoscale === 'never') return null
  const { box: instance } = input
  const oom = oomOf(input)
  const disk = diskGrowth(input)
  const up = oom?.code === 'OUT_OF_MEMORY' ? nextClass(instance.sizeClass) : undefined
  if (up === undefined && disk === undefined) return oom ? capProposal(input, oom) : null
  const sizeClass = up ?? instance.sizeClass
  const classGb = up === undefined ? 0 : CLASSES[up].diskGb
  const diskGb = Math.max(instance.diskGb, classGb, disk?.diskGb ?? 0)
  const reasons = [up === undefined ? undefined : oom?.reason, disk?.reason]
  return {
    sizeClass,
    diskGb,
    reason: reasons.filter((reason) => reason !== undefined).join('; '),
    command: `bottega devbox resize ${instance.id} --size-class ${sizeClass} --disk-gb ${diskGb}`,
    apply: mayApply(input, { sizeClass, diskGb }),
  }
}

type Oom = { code: 'OUT_OF_MEMORY' | 'AGENT_LEAK_SUSPECTED'; reason: string; leaks: number }

const MATCHING = new Set<string>([...AGENT_IDS, ...AGENT_IDS.map((id) => AGENTS[id].command)])

/** `/opt/bottega/…/claude` and `claude` are agents; `cc1plus` and `node` are work, whoever started them. */
const isAgent = (victim: string | undefined): boolean => MATCHING.has(victim?.split('/').at(-1)?.toLowerCase() ?? '')

/** An agent that was ended by the kernel while it held half of the memory; unknown shares count as more. */
const isLeak = ({ oom, memory }: ObservedUse): boolean => {
  if (!isAgent(oom?.victim)) return false
  const { peakRssGb, totalGb = 0 } = memory ?? {}
  return peakRssGb === undefined || peakRssGb * 100 >= totalGb * LEAK_SHARE_PERCENT
}

/** When the kernel ended something, by our clock: as long before the report came in as the dev instance says, whatever its clock. */
const oomMs = ({ at, sentAt, oom }: ObservedUse): number => {
  const ageMs = oom?.at === undefined ? 0 : Date.parse(sentAt ?? at) - Date.parse(oom.at)
  return Date.parse(at) - Math.max(0, ageMs)
}

/** Each end by the kernel once, as it was told first; in the window and since the present size. */
const oomEvents = ({ reports, since, now }: ProposalInput): ObservedUse[] => {
  const fromMs = Math.max(Date.parse(since), now.getTime() - WINDOW_MS)
  const byTime = new Map<string, ObservedUse>()
  for (const report of reports) {
    if (!report.oom) continue
    const key = report.oom.at ?? report.at
    if (oomMs(report) >= fromMs && !byTime.has(key)) byTime.set(key, report)
  }
  return [...byTime.values()]
}

const oomOf = (input: ProposalInput): Oom | undefined => {
  const events = oomEvents(input)
  const needs = events.filter((event) => !isLeak(event))
  const last = needs.at(-1)
  if (last) {
    const victim = last.oom?.victim ?? 'a process'
    const of = last.memory ? ` of ${last.memory.totalGb} GB` : ''
    const reason = `OUT_OF_MEMORY: ${victim} was ended by the kernel at ${last.oom?.at ?? last.at}, out of memory${of}`
    return { code: 'OUT_OF_MEMORY', reason, leaks: 0 }
  }
  const leak = events.at(-1)
  if (!leak) return undefined
  const reason = `AGENT_LEAK_SUSPECTED: ${leak.oom?.victim} filled the memory and was ended by the kernel ${events.length} times in 24 h; cap it instead of buying more`
  return { code: 'AGENT_LEAK_SUSPECTED', reason, leaks: events.length }
}

const capProposal = ({ box: instance }: ProposalInput, { reason, leaks }: Oom): Proposal | null => {
  if (leaks < LEAKS_UNTIL_CAP) return null
  const host = instance.publicIp ?? instance.id
  const command = `ssh ${DEV_USER}@${host} systemctl --user set-property agents.slice MemoryMax=${CAPPED_PERCENT}%`
  return { sizeClass: instance.sizeClass, diskGb: instance.diskGb, reason, command, apply: false }
}

/** By the latest report alone: what was cleared away since needs no larger volume. */
const diskGrowth = ({
  box: instance,
  reports,
  since,
}: ProposalInput): { diskGb: number; reason: string } | undefined => {
  const last = reports.findLast((report) => report.disk !== undefined && Date.parse(report.at) >= Date.parse(since))
  if (!last?.disk || last.disk.usedGb * 100 <= last.disk.totalGb * DISK_FULL_PERCENT) return undefined
  const diskGb = Math.min(DISK_GB_MAX, Math.ceil((instance.diskGb * 3) / 2))
  if (diskGb === instance.diskGb) return undefined
  const percent = Math.floor((last.disk.usedGb * 100) / last.disk.totalGb)
  return { diskGb, reason: `DISK_FULL: ${percent} % of ${last.disk.totalGb} GB are in use` }
}

const mayApply = (input: ProposalInput, to: { sizeClass: SizeClass; diskGb: number }): boolean => {
  const { autoscale, lastAutoStepAt, box: instance, committedCents, capCents, now } = input
  if (autoscale !== 'auto') return false
  if (lastAutoStepAt !== undefined && now.getTime() - Date.parse(lastAutoStepAt) < WINDOW_MS) return false
  const running = (size: typeof to) =>
    centsOf(priceOf({ arch: instance.arch, ...size }, instance.pricingVersion).runningMicroUsd)
  return committedCents - running(instance) + running(to) <= capCents
}
