/**
 * The rows of a tombstone: what is said of one that was deleted is answered as everything of it, and is on record. What is there
 * after all costs until it is confirmed gone. Source: rules/devinstance.md#tombstones.
 */
import type { Trigger } from '../../protocol.ts'
import type { TransitionEffect } from '../context.ts'
import * as happened from '../happened.ts'
import { notDeleted } from '../late-guards.ts'
import * as broken from '../report-guards.ts'
import { never, type Row, row } from '../table.ts'

const from = ['deleted'] as const

/** @param recorded what is known by it; nothing when left out */
const said = <T extends Trigger>(on: T, recorded?: TransitionEffect<T>): Row =>
  row<Trigger>({
    on,
    from,
    to: 'same',
    guards: [],
    records: [notDeleted()],
    ...(recorded && {
      recorded: recorded as TransitionEffect<Trigger>,
      conditions: [broken.withinCap],
    }),
    effect: never,
    bumps: false,
    late: true,
  })

export const DELETED_ROWS: readonly Row[] = [
  said('provisioning', happened.seenAgain),
  said('finalize', happened.seenAgain),
  said('started', happened.seenUp),
  said('stopped', happened.seenDown),
  said('resized', happened.seenResized),
  said('renamed'),
  said('measurements'),
  row({
    on: 'eip-released',
    from,
    to: 'same',
    guards: [],
    records: [notDeleted(broken.releasedBefore)],
    holds: broken.releasedBefore,
    effect: never,
    bumps: false,
    late: true,
  }),
  // What was seen since is confirmed gone.
  row({
    on: 'terminated',
    from,
    to: 'said',
    guards: [],
    records: [broken.confirmsSomething, broken.knownInstance],
    holds: happened.isKnownGone,
    effect: happened.gone,
    bumps: true,
    late: true,
  }),
]
