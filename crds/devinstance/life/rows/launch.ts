/** The rows of a launch: that an instance is there, and what it says of itself. */

import * as effects from '../effects.ts'
import { leaseLasts } from '../guards.ts'
import * as happened from '../happened.ts'
import { inOrder } from '../late-guards.ts'
import * as launched from '../launch-guards.ts'
import { withinCap } from '../report-guards.ts'
import { always, FINALIZED, never, type Row, row } from '../table.ts'

const bumps = true

const provisioned: readonly Row[] = [
  row({
    on: 'provisioning',
    from: ['reserved'],
    to: 'provisioning',
    guards: [],
    records: [launched.instanceFree],
    conditions: [withinCap],
    effect: happened.attach,
    bumps,
  }),
  row({
    on: 'provisioning',
    from: ['provisioning'],
    to: 'same',
    guards: [],
    records: [launched.sameInstance, launched.renewable],
    recorded: happened.seenThere,
    conditions: [withinCap],
    holds: leaseLasts,
    effect: happened.renewLease,
    bumps: false,
  }),
  row({
    on: 'provisioning',
    from: ['configuring', ...FINALIZED],
    to: 'same',
    guards: [],
    records: [launched.sameInstance],
    recorded: happened.seenThere,
    conditions: [withinCap],
    holds: always,
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'provisioning',
    from: ['terminated'],
    to: 'same',
    guards: [],
    records: [inOrder()],
    recorded: happened.seenAgain,
    conditions: [withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
]

const finalized: readonly Row[] = [
  row({
    on: 'finalize',
    from: ['reserved', 'provisioning'],
    to: 'same',
    guards: [],
    records: [inOrder()],
    recorded: happened.seenThere,
    conditions: [withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'finalize',
    from: ['configuring'],
    to: 'ready',
    guards: [],
    records: [launched.attachedInstance, launched.asReserved, launched.hostKeysOwn, launched.addressUncontested],
    recorded: happened.seenUnready,
    conditions: [withinCap],
    effect: effects.finalize,
    bumps,
  }),
  // The document: idempotent on the instance id.
  row({
    on: 'finalize',
    from: FINALIZED,
    to: 'same',
    guards: [],
    records: [launched.attachedInstance],
    recorded: happened.seenThere,
    conditions: [withinCap],
    holds: always,
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'finalize',
    from: ['terminated'],
    to: 'same',
    guards: [],
    records: [inOrder()],
    recorded: happened.seenAgain,
    conditions: [withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
]

export const LAUNCH_ROWS: readonly Row[] = [...provisioned, ...finalized]
