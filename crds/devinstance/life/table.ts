/** A row of the table of transitions, and the words that its rows share. */

import type { Trigger } from '../protocol.ts'
import { STATES, type State } from '../schema.ts'
import type { Actor, Guard, ReportCondition, TransitionContext, TransitionEffect } from './context.ts'
import type { DevInstanceRow } from './row.ts'

/** A tombstone is no state: it has the last one of the instance. What is said of it has happened all the same. */
export const STANDINGS = [...STATES, 'deleted'] as const
export type DevInstanceStanding = (typeof STANDINGS)[number]

export const standingOf = ({ state, deletedAt }: Pick<DevInstanceRow, 'state' | 'deletedAt'>): DevInstanceStanding =>
  deletedAt === null ? state : 'deleted'

/**
 * Who says each, and whether it is asked or has happened (rules/devinstance.md#reports-and-requests). What has happened is
 * never refused without being on record.
 */
export const SAYINGS = {
  provisioning: { by: 'provisioner', is: 'report' },
  token: { by: 'provisioner', is: 'request' },
  finalize: { by: 'provisioner', is: 'report' },
  starting: { by: 'provisioner', is: 'request' },
  started: { by: 'provisioner', is: 'report' },
  halting: { by: 'owner', is: 'request' },
  stopping: { by: 'instance', is: 'report' },
  stopped: { by: 'provisioner', is: 'report' },
  awake: { by: 'instance', is: 'report' },
  attested: { by: 'instance', is: 'report' },
  resizing: { by: 'provisioner', is: 'request' },
  resized: { by: 'provisioner', is: 'report' },
  renamed: { by: 'provisioner', is: 'report' },
  'eip-released': { by: 'provisioner', is: 'report' },
  terminating: { by: 'provisioner', is: 'request' },
  terminated: { by: 'provisioner', is: 'report' },
  'cap-override': { by: 'admin', is: 'request' },
  'override-lapse': { by: 'clock', is: 'request' },
  policy: { by: 'owner', is: 'request' },
  'wish-power': { by: 'owner', is: 'request' },
  'wish-size': { by: 'owner', is: 'request' },
  repo: { by: 'owner', is: 'request' },
  measurements: { by: 'provisioner', is: 'report' },
  env: { by: 'owner', is: 'request' },
  share: { by: 'owner', is: 'request' },
  unshare: { by: 'owner', is: 'request' },
  lapse: { by: 'clock', is: 'request' },
  delete: { by: 'owner', is: 'request' },
} as const satisfies Record<Trigger, { by: Actor; is: 'report' | 'request' }>

export const isReport = (trigger: Trigger): boolean => SAYINGS[trigger].is === 'report'

/** Those that are compare-and-set on the row version; `repo` only where the caller says one. */
export const VERSIONED: readonly Trigger[] = [
  'starting',
  'started',
  'halting',
  'stopped',
  'resizing',
  'resized',
  'renamed',
  'eip-released',
  'terminating',
  'terminated',
  'repo',
]

export type Row<T extends Trigger = Trigger> = {
  on: T
  from: readonly DevInstanceStanding[]
  /** `same`: the state stays; `said`: the effect says it. */
  to: State | 'same' | 'said'
  /** Of a request, in this order; the first that is broken refuses with its code, and nothing is kept. A report has none. */
  guards: readonly Guard<T>[]
  /** Of a report that is refused: it is answered with the code of the first, and each is on record as a condition. */
  records?: readonly Guard<T>[]
  /** What is known by it all the same. */
  recorded?: TransitionEffect<T>
  /** Of a report: it goes on, and what is broken is a condition. */
  conditions?: readonly ReportCondition<T>[]
  /** True where the dev instance is already as the caller says: nothing changes. */
  holds?: (context: TransitionContext<T>) => boolean
  effect: TransitionEffect<T>
  /** A change that a confirmation must have seen. */
  bumps: boolean
  /** Recorded when it comes, and not asked for in this state. */
  late?: true
}

export const ATTACHED = ['provisioning', 'configuring', 'ready', 'running', 'stopped', 'resizing'] as const
export const FINALIZED = ['ready', 'running', 'stopped', 'resizing'] as const
export const LIVE = ['reserved', ...ATTACHED] as const

/** Its trigger alone says what its guards and effects are given. */
export const row = <T extends Trigger>(made: { on: T } & NoInfer<Omit<Row<T>, 'on'>>): Row => made as unknown as Row
export const never: TransitionEffect<Trigger> = ({ instance }) => ({ instance, entries: [] })
export const always = () => true
