/**
 * The rows of what has happened: there is one for every state, so that none of it is lost. Of launches: launch.ts, of tombstones:
 * deleted.ts.
 */

import * as effects from '../effects.ts'
import * as happened from '../happened.ts'
import * as late from '../late-guards.ts'
import * as broken from '../report-guards.ts'
import { ATTACHED, LIVE, never, type Row, row, STANDINGS } from '../table.ts'

const bumps = true
const EARLY = ['reserved', 'provisioning', 'configuring'] as const
const ADDRESS = [broken.addressKnown, broken.addressKept, broken.addressFree]

const starts: readonly Row[] = [
  row({
    on: 'started',
    from: ['ready', 'stopped'],
    to: 'running',
    guards: [],
    records: [broken.addressPair],
    recorded: happened.seenUp,
    conditions: [broken.wasThere, ...ADDRESS, broken.withinCap],
    effect: happened.started,
    bumps,
  }),
  row({
    on: 'started',
    from: ['running'],
    to: 'same',
    guards: [],
    records: [broken.addressPair],
    recorded: happened.seenUp,
    conditions: [...ADDRESS, broken.withinCap],
    holds: broken.runsThere,
    effect: happened.readdressed,
    bumps,
  }),
  row({
    on: 'started',
    from: ['resizing'],
    to: 'same',
    guards: [],
    records: [broken.addressPair, late.noBypass],
    recorded: happened.startedInResize,
    conditions: [broken.addressKept, broken.addressFree, broken.withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'started',
    from: [...EARLY, 'terminated'],
    to: 'same',
    guards: [],
    records: [broken.addressPair, late.inOrder()],
    recorded: happened.seenUp,
    conditions: [broken.withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
]

const stops: readonly Row[] = [
  row({ on: 'stopped', from: ['ready', 'running'], to: 'stopped', guards: [], effect: happened.stopped, bumps }),
  row({
    on: 'stopped',
    from: ['stopped'],
    to: 'same',
    guards: [],
    conditions: [broken.wasThere, broken.withinCap],
    holds: ({ instance }) => instance.machine === 'down',
    effect: happened.stopped,
    bumps,
  }),
  // To be given another size a machine is stopped.
  row({
    on: 'stopped',
    from: ['resizing'],
    to: 'same',
    guards: [],
    holds: ({ instance }) => instance.machine === 'down',
    effect: happened.stopped,
    bumps: false,
  }),
  row({
    on: 'stopped',
    from: [...EARLY, 'terminated'],
    to: 'same',
    guards: [],
    records: [late.inOrder()],
    recorded: happened.seenDown,
    conditions: [broken.withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'stopping',
    from: STANDINGS,
    to: 'same',
    guards: [],
    holds: ({ instance }) => instance.machine !== 'up',
    effect: happened.stopping,
    bumps: false,
    late: true,
  }),
  row({
    on: 'awake',
    from: STANDINGS,
    to: 'same',
    guards: [],
    conditions: [broken.withinCap],
    holds: ({ instance }) => instance.machine === 'up',
    effect: happened.awake,
    bumps: false,
    late: true,
  }),
  row({
    on: 'attested',
    from: STANDINGS,
    to: 'same',
    guards: [],
    holds: ({ instance, said }) => effects.isAttested(instance, said),
    effect: effects.attested,
    bumps: false,
    late: true,
  }),
]

const resizes: readonly Row[] = [
  row({
    on: 'resized',
    from: ['resizing'],
    to: 'said',
    guards: [],
    records: [broken.addressPair],
    recorded: happened.seenResized,
    conditions: [
      broken.keptArch,
      broken.keptDisk,
      broken.asIntended,
      broken.verifiedDisk,
      ...ADDRESS,
      broken.withinCap,
    ],
    effect: happened.resized,
    bumps,
  }),
  row({
    on: 'resized',
    from: [...EARLY, 'ready', 'running', 'stopped'],
    to: 'same',
    guards: [],
    records: [broken.addressPair, late.wasAnnounced],
    recorded: happened.seenResized,
    conditions: [broken.withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'resized',
    from: ['terminated'],
    to: 'same',
    guards: [],
    records: [broken.addressPair, late.inOrder()],
    recorded: happened.seenResized,
    conditions: [broken.withinCap],
    effect: never,
    bumps: false,
    late: true,
  }),
]

const others: readonly Row[] = [
  row({
    on: 'renamed',
    from: LIVE,
    to: 'same',
    guards: [],
    records: [broken.nameFree],
    holds: ({ instance, said }) => instance.name === said.name,
    effect: happened.renamed,
    bumps,
  }),
  row({
    on: 'renamed',
    from: ['terminated'],
    to: 'same',
    guards: [],
    records: [late.inOrder()],
    effect: never,
    bumps: false,
    late: true,
  }),
  row({
    on: 'eip-released',
    from: ATTACHED,
    to: 'said',
    guards: [],
    records: [broken.heldAddress],
    conditions: [broken.addressInUse],
    holds: broken.releasedBefore,
    effect: happened.addressReleased,
    bumps,
  }),
  row({
    on: 'eip-released',
    from: ['reserved', 'terminated'],
    to: 'same',
    guards: [],
    records: [broken.heldAddress],
    holds: broken.releasedBefore,
    effect: happened.addressReleased,
    bumps: false,
    late: true,
  }),
  row({
    on: 'terminated',
    from: LIVE,
    to: 'said',
    guards: [],
    records: [broken.confirmsSomething, broken.knownInstance],
    conditions: [broken.workSaved, broken.addressesInUse],
    holds: happened.isKnownGone,
    effect: happened.gone,
    bumps,
  }),
  row({
    on: 'terminated',
    from: ['terminated'],
    to: 'said',
    guards: [],
    records: [broken.confirmsSomething, broken.knownInstance],
    holds: happened.isKnownGone,
    effect: happened.gone,
    bumps,
    late: true,
  }),
]

const measured: readonly Row[] = [
  row({ on: 'measurements', from: LIVE, to: 'same', guards: [], effect: effects.measured, bumps: false }),
  row({
    on: 'measurements',
    from: ['terminated'],
    to: 'same',
    guards: [],
    records: [late.inOrder()],
    effect: never,
    bumps: false,
    late: true,
  }),
]

export const REPORT_ROWS: readonly Row[] = [...starts, ...stops, ...resizes, ...others, ...measured]
