/**
 * What a dev instance says of itself once a minute (rules/devinstance.md#reports). It is looked at, and moves no state; that it
 * stops itself, or has not stopped after all, becomes a fact.
 */
import type { JsonSchema } from '../../kernel/rest.ts'
import type { Surroundings } from '../life/context.ts'
import { isAttested, isAttestedOut } from '../life/effects.ts'
import type { DevInstanceRow } from '../life/row.ts'
import { ACCOUNTS_MAX, type AttestedAgain, HOST_KEYS_MAX, type Said, UNITS_MAX } from '../protocol.ts'
import type { Policy } from '../schema.ts'
import { type ObservedUse, type Proposal, proposalOf, WINDOW_MS } from '../sizing/leakguard.ts'
import { centsOf } from '../sizing/prices.ts'
import { REPORT_STALE_MS } from '../standing/conditions.ts'

const TEXT_MAX = 256
const LIST_MAX = 50
const COUNT_MAX = 1_000_000_000

const text = (description: string): JsonSchema => ({ type: 'string', description, maxLength: TEXT_MAX })
const number = (description: string): JsonSchema => ({ type: 'number', description, minimum: 0, maximum: COUNT_MAX })
const instant = (description: string): JsonSchema => ({
  type: 'string',
  description,
  maxLength: 40,
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$',
})
const part = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: false,
  properties,
})
const texts = (description: string, maxItems: number): JsonSchema => ({
  type: 'array',
  description,
  maxItems,
  items: text('One.'),
})
/** How many, or only whether. */
const howMany = (description: string): JsonSchema => ({
  type: ['integer', 'boolean'],
  description,
  minimum: 0,
  maximum: COUNT_MAX,
})

export const REPORT: JsonSchema = {
  ...part('One report.', {
    at: instant('When it was taken, by the clock of the instance.'),
    uptimeSeconds: number('Seconds since it was started.'),
    memory: part('Memory.', {
      totalGb: number('In all.'),
      usedGb: number('In use.'),
      peakRssGb: number('Most that one program held.'),
    }),
    disk: part('Disk.', { totalGb: number('In all.'), usedGb: number('In use.') }),
    oom: part('What the kernel ended for want of memory.', {
      count: { ...number('How often, since the start.'), type: 'integer' },
      victim: text('The program that was ended last.'),
      cgroup: text('Where it ran.'),
      at: instant('When.'),
    }),
    git: part('What is in the working tree.', {
      dirty: howMany('Changed files.'),
      untracked: howMany('Files that are not tracked.'),
      unpushed: howMany('Commits that were not pushed.'),
      head: text('The commit.'),
      repositories: {
        type: 'array',
        description: 'The same for each repository; the figures above are those of all.',
        maxItems: LIST_MAX,
        items: part('One repository, with its work trees.', {
          path: text('Where it lies.'),
          dirty: howMany('Changed files.'),
          untracked: howMany('Files that are not tracked.'),
          unpushed: howMany('Commits that were not pushed.'),
          head: text('The commit.'),
        }),
      },
    }),
    agents: {
      type: 'object',
      description: 'Versions of the agents.',
      maxProperties: LIST_MAX,
      additionalProperties: text('A version.'),
    },
    holds: part('What it was handed, as it lies there.', {
      keysSha256: {
        type: 'string',
        description: 'Digest of the lines of authorized_keys that are from here, in hex.',
        pattern: '^[0-9a-f]{64}$',
        maxLength: 64,
      },
      envVersion: {
        type: 'string',
        description: 'Which environment it has, as the answer named it.',
        pattern: '^[0-9a-f]{16}$',
        maxLength: 16,
      },
    }),
    sealTo: {
      type: 'string',
      description: 'Public X25519 key of this start, in base64url: asks for the environment, sealed to it.',
      pattern: '^[A-Za-z0-9_-]{43}$',
      maxLength: 43,
    },
    attested: part('What it attests again, as for finalize: told after a start, and each hour.', {
      facts: part('Of the machine.', {
        cloudInitStatus: number('Exit code of cloud-init status.'),
        hostKeys: texts('SHA256 fingerprints of the host keys.', HOST_KEYS_MAX),
        listeners: { type: 'array', description: 'Ports that listen.', maxItems: 65_535, items: number('A port.') },
        bakedSha256: text('Digest of what its image had installed.'),
        units: texts('Units of its programs that are enabled.', UNITS_MAX),
        openAccounts: texts('Accounts that a password opens.', ACCOUNTS_MAX),
        agents: {
          type: 'object',
          description: 'Versions.',
          maxProperties: LIST_MAX,
          additionalProperties: text('One.'),
        },
      }),
      assertions: {
        type: 'object',
        description: 'What sshd -T says, by its keys.',
        maxProperties: LIST_MAX,
        additionalProperties: text('A value.'),
      },
    }),
    stopping: part('It stops now, and reports nothing until it is started.', {
      reason: text('Why: for how long it was idle, or that somebody shut it down.'),
    }),
    activity: {
      type: 'array',
      description: 'What keeps it awake.',
      maxItems: LIST_MAX,
      items: {
        type: ['string', 'object'],
        description: 'A source, or a source with its weight.',
        maxLength: TEXT_MAX,
        maxProperties: 10,
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: TEXT_MAX },
      },
    },
  }),
  required: ['at'],
}

export type Report = {
  at: string
  memory?: { totalGb?: number; usedGb?: number; peakRssGb?: number }
  disk?: { totalGb?: number; usedGb?: number }
  oom?: { count?: number; victim?: string; cgroup?: string; at?: string }
  git?: { dirty?: number | boolean; untracked?: number | boolean; unpushed?: number | boolean; head?: string }
  holds?: { keysSha256?: string; envVersion?: string }
  sealTo?: string
  attested?: Partial<AttestedAgain>
  stopping?: { reason?: string }
}
/** A report as it was kept; `at` is when it arrived. */
export type KeptFigures = { at: string; body: Record<string, unknown> }

/** What it says that it was handed. */
export const heldOf = (body: Record<string, unknown>): NonNullable<Report['holds']> => (body as Report).holds ?? {}

/** What is on the machine and nowhere else; null when the report does not speak of it. */
export const gitOf = (body: Report | Record<string, unknown>): Surroundings['git'] => {
  const { git } = body as Report
  if (!git) return null
  const count = (value: number | boolean | undefined): number => Number(value ?? 0)
  return { dirty: count(git.dirty), untracked: count(git.untracked), unpushed: count(git.unpushed) }
}

type Activity = { source?: unknown; weight?: unknown; secondsAgo?: unknown }

/**
 * The latest instant of use that a report tells of, by the clock of the instance, ISO; null when it tells of none. Work that is
 * nowhere else keeps a machine awake, and is no use of it.
 */
export const usedAtOf = (body: Record<string, unknown>): string | null => {
  const { at, activity } = body as { at?: string; activity?: readonly (Activity | string)[] }
  const atMs = Date.parse(at ?? '')
  const used = (activity ?? []).flatMap((one) => {
    if (typeof one === 'string' || one.source === 'unpushed') return []
    if (typeof one.secondsAgo === 'number') return Math.max(0, one.secondsAgo)
    return typeof one.weight === 'number' && one.weight > 0 ? 0 : []
  })
  if (Number.isNaN(atMs) || used.length === 0) return null
  return new Date(atMs - Math.min(...used) * 1000).toISOString()
}

const isAtRisk = (kept: KeptFigures): boolean => {
  const git = gitOf(kept.body)
  return git !== null && git.dirty + git.untracked + git.unpushed > 0
}

/**
 * Whether a report says something that the conditions of the resource must follow; most say the same as the one before. That it
 * attests is news whatever it says: it is once an hour, and somebody may have missed it.
 */
export const isNews = (before: KeptFigures | null, now: KeptFigures): boolean =>
  before === null ||
  Date.parse(now.at) - Date.parse(before.at) >= REPORT_STALE_MS ||
  isAtRisk(before) !== isAtRisk(now) ||
  (now.body as Report).attested !== undefined

/** How long reports of a machine that stops may still come in. */
const LAST_WORDS_MS = REPORT_STALE_MS

/** What a report tells of the machine that its row does not know; null for nearly all of them. */
export const machineNews = (
  { machine, machineSince }: Pick<DevInstanceRow, 'machine' | 'machineSince'>,
  { at, body }: KeptFigures,
): { trigger: 'stopping'; said: Said['stopping'] } | { trigger: 'awake'; said: Said['awake'] } | null => {
  const { stopping } = body as Report
  if (stopping)
    return machine === 'up' ? { trigger: 'stopping', said: { reason: stopping.reason ?? 'not said' } } : null
  const isLate = Date.parse(at) - Date.parse(machineSince) < LAST_WORDS_MS
  return machine === 'up' || isLate ? null : { trigger: 'awake', said: {} }
}

/** What a report attests anew; null where its row knows it. What has no machine any more, or none yet, attests nothing. */
export const attestedNews = (instance: DevInstanceRow, { at, body }: KeptFigures): Said['attested'] | null => {
  const { attested } = body as Report
  if (!attested || instance.hostKeys.length === 0 || isAttestedOut(instance, at)) return null
  const { hostKeys, units, openAccounts, agents } = attested.facts ?? {}
  const facts = {
    ...(hostKeys && { hostKeys }),
    ...(units && { units }),
    ...(openAccounts && { openAccounts }),
    ...(agents && { agents }),
  }
  const said = { facts, assertions: attested.assertions ?? {} }
  return isAttested(instance, said) ? null : said
}

/** The reports as the monitor reads them: an end by the kernel counts once, when its count has risen. */
const observedOf = (reports: readonly KeptFigures[]): ObservedUse[] => {
  let counted = 0
  return reports.map(({ at, body }) => {
    const { at: sentAt, memory, disk, oom } = body as Report
    const count = oom?.count ?? (oom?.at ? counted + 1 : 0)
    const isNew = count > counted || (oom?.at !== undefined && count > 0)
    counted = count
    return {
      at,
      ...(sentAt !== undefined && { sentAt }),
      ...(memory?.totalGb !== undefined && { memory: { ...memory, totalGb: memory.totalGb } }),
      ...(disk?.totalGb !== undefined &&
        disk.usedGb !== undefined && { disk: { totalGb: disk.totalGb, usedGb: disk.usedGb } }),
      ...(isNew && oom && { oom: { ...(oom.victim && { victim: oom.victim }), ...(oom.at && { at: oom.at }) } }),
    }
  })
}

/** From when on reports matter for a proposal, ISO. */
export const proposalSince = (now: Date): string => new Date(now.getTime() - WINDOW_MS).toISOString()

/** The open resize proposal of a dev instance that is up; null when there is none. */
export const resizeProposal = (
  of: { id: string; box: DevInstanceRow; policy: Policy },
  seen: { reports: readonly KeptFigures[]; committedMicroUsd: number; capMicroUsd: number; now: Date },
): Proposal | null => {
  const { id, box: instance, policy } = of
  if (instance.intent !== null || !['ready', 'running', 'stopped'].includes(instance.state)) return null
  const address = instance.held.find(({ eipAllocId }) => eipAllocId === instance.eipAllocId)
  const { sizeClass, arch, diskGb, pricingVersion, sizedAt, reservedAt } = instance
  return proposalOf({
    box: { id, sizeClass, arch, diskGb, pricingVersion, publicIp: address?.publicIp ?? null },
    autoscale: policy.autoscale,
    reports: observedOf(seen.reports),
    since: sizedAt,
    lastAutoStepAt: policy.autoscale === 'auto' && sizedAt !== reservedAt ? sizedAt : undefined,
    committedCents: centsOf(seen.committedMicroUsd),
    capCents: centsOf(seen.capMicroUsd),
    now: seen.now,
  })
}
