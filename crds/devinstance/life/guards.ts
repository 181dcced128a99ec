/**
 * The guards of what is asked of a dev instance: each looks at one thing and gives null, or how the rule is broken, with its
 * figures. Those of what has happened: launch-guards.ts, report-guards.ts. Source: rules/devinstance.md#guards.
 */
import type { Trigger } from '../protocol.ts'
import { capDetail } from '../reserving.ts'
import { profileFault } from '../sizing/profile.ts'
import { resizeNeeded } from '../sizing/repo.ts'
import type { Broken, Guard, LifeRule, TransitionContext } from './context.ts'
import { RESERVATION_MS, resizing, starting } from './effects.ts'
import { committedMicroUsd, type DevInstanceRow, type Extent, presentMonthlyMicroUsd } from './row.ts'

export const TEAMS_MAX = 20

export const guard = <T extends Trigger>(
  rule: LifeRule,
  check: (context: TransitionContext<T>) => Broken | string | null,
): Guard<T> => ({
  ...rule,
  check: (context) => {
    const broken = check(context)
    return typeof broken === 'string' ? { detail: broken } : broken
  },
})

/** Of a reservation, which has no row yet: the database judges it under the owner's lock (sql/functions/reserve_devbox.sql). */
export const RESERVATION_RULES: readonly LifeRule[] = [
  {
    code: 'CAPABILITY_REQUIRED',
    rule: 'the account has devbox.manage',
    reason: 'machines cost money, so the right to have them is granted one by one',
    actor: 'admin',
  },
  {
    code: 'NAME_TAKEN',
    rule: "the name is free among the owner's instances",
    reason: 'people and command lines tell instances apart by it',
    actor: 'owner',
  },
  {
    code: 'CAP_EXCEEDED',
    rule: "what the owner's instances cost while they run stays within the cap",
    reason: 'the cap must hold before a cloud call, for nothing can be taken back after it',
    actor: 'admin',
  },
  {
    code: 'BOOTSTRAP_TOO_LARGE',
    rule: 'the user data fits into 16 KB, compressed if need be',
    reason: 'the cloud takes no more',
    actor: 'owner',
  },
]

/** What it would be committed to, when that is more than before and too much. */
export const overCap = (
  before: DevInstanceRow,
  after: DevInstanceRow,
  around: TransitionContext<Trigger>['around'],
) => {
  const committed = committedMicroUsd(after)
  if (around.cap === undefined || committed <= committedMicroUsd(before)) return null
  const { othersMicroUsd, capMicroUsd } = around.cap
  if (othersMicroUsd + committed <= capMicroUsd) return null
  const detail = capDetail({ committedMicroUsd: committed, capMicroUsd, others: othersMicroUsd })
  return { detail, limitMicroUsd: Math.max(0, capMicroUsd - othersMicroUsd) }
}

const WITHIN_CAP: LifeRule = {
  code: 'CAP_EXCEEDED',
  rule: "what the owner's instances cost while they run stays within the cap",
  reason: 'the cap must hold before a cloud call, for nothing can be taken back after it',
  actor: 'admin',
}

/** An override is spent by the next resize, whether or not it was needed. */
export const resizeWithinCap = guard<'resizing'>(WITHIN_CAP, (context) => {
  const { instance, at, around } = context
  const isOverridden = instance.capOverride !== null && Date.parse(at) < Date.parse(instance.capOverride.expiresAt)
  return isOverridden ? null : overCap(instance, resizing(context).instance, around)
})

export const startWithinCap = guard<'starting'>(WITHIN_CAP, (context) =>
  overCap(context.instance, starting(context).instance, context.around),
)

export const instanceThere = guard<'resizing' | 'starting'>(
  {
    code: 'WRONG_STATE',
    rule: 'the instance was not confirmed gone',
    reason: 'what is gone is neither started nor resized; another one is reserved',
    actor: 'owner',
  },
  ({ instance }) =>
    instance.machine === 'gone' ? `${instance.instanceId} was confirmed gone at ${instance.machineSince}` : null,
)

export const hasLapsed = ({ instance, at }: TransitionContext<Trigger>): boolean =>
  instance.lease !== null && Date.parse(at) > Date.parse(instance.lease.expiresAt)

export const leaseLasts = (context: TransitionContext<'provisioning'>): boolean =>
  !hasLapsed(context as TransitionContext<Trigger>)

export const LEASE: LifeRule = {
  code: 'LEASE_EXPIRED',
  rule: 'a launched instance has its token within 30 minutes, renewed once',
  reason: 'a machine that never comes up must not go on unseen',
  actor: 'provisioner',
}

export const withinLease = guard<'token'>(LEASE, (context) =>
  hasLapsed(context as TransitionContext<Trigger>)
    ? `the lease of ${context.instance.instanceId} ran out at ${context.instance.lease?.expiresAt}`
    : null,
)

export const sameArch = guard<'resizing'>(
  {
    code: 'ARCH_CHANGE',
    rule: 'the architecture never changes in place',
    reason: 'an image is made for one',
    actor: 'owner',
  },
  ({ instance, said }) =>
    said.arch === undefined || said.arch === instance.arch
      ? null
      : `the instance is ${instance.arch}, ${said.arch} was asked for`,
)

export const growingDisk = guard<'resizing'>(
  { code: 'DISK_SHRINK', rule: 'a disk only grows', reason: 'a volume cannot shrink', actor: 'owner' },
  ({ instance, said }) =>
    said.diskGb === undefined || said.diskGb >= instance.diskGb
      ? null
      : `the disk has ${instance.diskGb} GB, ${said.diskGb} GB were asked for`,
)

export const extentOf = ({ sizeClass, diskGb }: Extent): string => `${sizeClass} with ${diskGb} GB`

/** What would be lost; null where nothing would. */
export const unpushed = ({ around }: Pick<TransitionContext<Trigger>, 'around'>): string | null => {
  const { dirty, untracked, unpushed: commits } = around.git ?? { dirty: 0, untracked: 0, unpushed: 0 }
  return dirty + untracked + commits === 0
    ? null
    : `the last report tells of ${dirty} changed and ${untracked} untracked files and ${commits} commits that were not pushed`
}

/** What is on the machine alone would be lost, or is at risk while its disk is changed. */
export const workPushed = guard<'resizing' | 'terminating'>(
  {
    code: 'WORK_AT_RISK',
    rule: 'work was pushed, or its loss is acknowledged',
    reason: 'what is on the machine alone goes with it',
    actor: 'owner',
  },
  (context) =>
    context.said.acknowledgeWorkAtRisk ? null : unpushed(context as Pick<TransitionContext<Trigger>, 'around'>),
)

export const freshProfile = guard<'repo'>(
  {
    code: 'PROFILE_STALE',
    rule: 'the profile is at most 24 hours old, of the same commit',
    reason: 'a size is worth no more than what it was reckoned from',
    actor: 'owner',
  },
  ({ said, at }) => {
    const stale = profileFault(said.profile, said.repo, new Date(at))
    return stale ? { detail: stale.detail, faults: [stale] } : null
  },
)

/** The server computes class and disk itself (rules/devinstance.md#repository). */
export const largeEnough = guard<'repo'>(
  {
    code: 'RESIZE_REQUIRED',
    rule: 'the instance is large enough for the repository',
    reason: 'work that runs out of memory or disk is lost work',
    actor: 'owner',
  },
  ({ instance, said }) => {
    const proposal = resizeNeeded(instance, said.profile)
    return proposal && `the repository needs ${extentOf(proposal)}; the instance is ${extentOf(instance)}`
  },
)

export const roomForTeam = guard<'share'>(
  {
    code: 'INVALID_FIELD',
    rule: `it is shared with at most ${TEAMS_MAX} teams`,
    reason: 'every list looks through them',
    actor: 'owner',
  },
  ({ instance }) =>
    instance.teams.length < TEAMS_MAX ? null : `it is shared with ${TEAMS_MAX} teams, which is the most`,
)

export const nothingLeft = guard<'delete'>(
  {
    code: 'INSTANCE_LIVE',
    rule: 'nothing is left that costs',
    reason: 'what still costs must not lose its record',
    actor: 'provisioner',
  },
  ({ instance }) =>
    presentMonthlyMicroUsd(instance) === 0
      ? null
      : `${[instance.instanceId ?? 'a machine', ...instance.strays.map((one) => one.instanceId)].join(', ')} was seen and not confirmed gone since`,
)

export const dayIsOver = guard<'lapse'>(
  {
    code: 'WRONG_STATE',
    rule: 'a reservation without an instance is a day old, and nothing was seen of one',
    reason: 'what nobody launches must not hold a part of the cap',
    actor: 'clock',
  },
  ({ instance, at }) =>
    instance.machine === null && Date.parse(at) >= Date.parse(instance.reservedAt) + RESERVATION_MS
      ? null
      : `reserved at ${instance.reservedAt}`,
)

export const overrideIsOver = guard<'override-lapse'>(
  {
    code: 'WRONG_STATE',
    rule: 'an override is as old as one may get',
    reason: 'leave to exceed the cap is given for what is at hand',
    actor: 'clock',
  },
  ({ instance, at }) =>
    instance.capOverride !== null && Date.parse(at) >= Date.parse(instance.capOverride.expiresAt)
      ? null
      : 'there is none that has run out',
)
