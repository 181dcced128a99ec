/**
 * What the planner is given and what it gives. It is given the row as REST shows it, the inventory of the cloud, what is asked, and
 * what this run has learned; it gives one step. Nothing of it is kept on a disk: whoever comes after a crash sees the same row
 * and the same inventory, and what was learned is learned again.
 */
import type { Said } from '../../../../crds/devinstance/protocol.ts'
import type { SizeClass } from '../../../../crds/devinstance/sizing/sizes.ts'
import type { devInstanceDetail } from '../../../../crds/devinstance/view.ts'
import type { CloudAddress, CloudFacts, CloudMachine, CloudVolume } from '../cloud/driver.ts'

/** The row, as GET answers it. */
export type BoxRow = ReturnType<typeof devInstanceDetail>

/** What is asked. `asIs`: that the row says what is there, and what was begun or is wished of the registry is brought to its end. */
export type BoxGoal =
  | { kind: 'asIs'; mendsReports?: true }
  | { kind: 'running' }
  | { kind: 'stopped' }
  | { kind: 'resized'; sizeClass: SizeClass; diskGb?: number; acknowledgeWorkAtRisk: boolean }
  | { kind: 'renamed'; name: string }
  /** Null: each that the row holds. */
  | { kind: 'released'; allocationId: string | null }
  | { kind: 'terminated'; acknowledgeWorkAtRisk: boolean }

/** The half of finalize that only the machine knows. */
export type MachineFacts = Pick<Said['finalize'], 'facts' | 'assertions'>

/** What a look inside found. `attested` is null until cloud-init has ended. */
export type InsideLook = { df: string; hasToken: boolean; attested: MachineFacts | null }

/** What this run knows beside row and inventory. */
export type Learned = {
  /** Types that had no capacity. */
  triedTypes: readonly string[]
  /** Of the client tokens of its launches, in their order: so many belong to machines that ended, whatever is still shown of them. */
  spentTokens: number
  /** Addresses that were allocated; the cloud shows them later. */
  allocated: readonly CloudAddress[]
  token: string | null
  /** Since the latest change of size or power; null: to be looked at. */
  inside: InsideLook | null
  cloudFacts: CloudFacts | null
  /** The size of the root file system, which stays while the machine is stopped. */
  df: string | null
  /** The file system was told to fill its volume. */
  hasGrown: boolean
  /** A resize was undone, for there was no capacity. */
  isUndone: boolean
}

export const NOTHING_LEARNED: Learned = {
  triedTypes: [],
  spentTokens: 0,
  allocated: [],
  token: null,
  inside: null,
  cloudFacts: null,
  df: null,
  hasGrown: false,
  isUndone: false,
}

/** What bears the tags of one dev instance. Machines that are gone are counted in `dead` only. */
export type BoxThings = {
  machines: readonly CloudMachine[]
  volumes: readonly CloudVolume[]
  addresses: readonly CloudAddress[]
  dead: number
}

export type BoxWorld = BoxThings & {
  row: BoxRow
  /** Of the things that the row names: those that do not bear our tag. */
  foreign: readonly string[]
  learned: Learned
  /** For so long the cloud may not show what it was just told to make. */
  settleMs: number
  /** Volumes and addresses are called as their machine is (cloud/driver.ts). */
  namesMachinesOnly: boolean
  /** Milliseconds since 1970. */
  nowMs: number
}

type SayingWord =
  | 'provisioning'
  | 'finalize'
  | 'starting'
  | 'started'
  | 'stopped'
  | 'resizing'
  | 'resized'
  | 'renamed'
  | 'eip-released'
  | 'terminating'
  | 'terminated'

/** A request or a confirmation: the last word of its endpoint, and what it says. */
export type Saying = { [T in SayingWord]: { do: 'say'; word: T; body: Said[T] } }[SayingWord]

/** One effect each. */
export type BoxEffect =
  | { do: 'launch'; instanceType: string }
  | { do: 'start'; machineId: string; instanceType: string }
  | { do: 'stop' | 'terminate'; machineId: string }
  | { do: 'retype'; machineId: string; instanceType: string }
  | { do: 'grow'; volumeId: string; sizeGb: number }
  | { do: 'removeVolume'; volumeId: string }
  | { do: 'allocate' }
  | { do: 'associate'; allocationId: string; machineId: string }
  | { do: 'disassociate'; associationId: string }
  | { do: 'release'; allocationId: string }
  | { do: 'label'; ids: readonly string[]; label: string }
  /** Of the cloud and over SSH; changes nothing. */
  | { do: 'lookInside'; machineId: string; publicIp: string }
  | { do: 'handToken'; machineId: string; publicIp: string }
  | { do: 'growFileSystem'; machineId: string; publicIp: string }
  /** `rotations`: one more than were seen, for the one that was issued under the key of none is not good any more. */
  | { do: 'issueToken'; instanceId: string; rotations?: number }
  | Saying
  /** The reservation is given back. */
  | { do: 'discard' }

/** Nothing to do now: it is done, something has to happen first, or somebody has to act. */
export type BoxPause =
  | { do: 'done' }
  | { do: 'wait'; why: string; ms: number }
  | { do: 'stuck'; code: string; detail: string; next: string }

export type BoxStep = BoxEffect | BoxPause

/** A part of the plan: a step, or null where it has nothing to say and the next part is asked. */
export type BoxPlan = (world: BoxWorld) => BoxStep | null

/** Parts in their order: the first that has a step decides. */
export const firstOf =
  (...parts: readonly BoxPlan[]): BoxPlan =>
  (world) => {
    for (const part of parts) {
      const step = part(world)
      if (step !== null) return step
    }
    return null
  }

export const wait = (why: string, ms = 5_000): BoxPause => ({ do: 'wait', why, ms })
export const stuck = (code: string, detail: string, next: string): BoxPause => ({ do: 'stuck', code, detail, next })
