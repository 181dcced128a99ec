/** The rows of what is asked, by people, the provisioner, the spec or the clock. What no row speaks of is refused (../refusal.ts). */

import { isDeepStrictEqual } from '../../../values/compare.ts'
import { STATES } from '../../schema.ts'
import * as effects from '../effects.ts'
import * as guards from '../guards.ts'
import { awaitedPower } from '../row.ts'
import { ATTACHED, FINALIZED, LIVE, type Row, row } from '../table.ts'

const bumps = true

export const REQUEST_ROWS: readonly Row[] = [
  row({
    on: 'token',
    from: ['provisioning'],
    to: 'configuring',
    guards: [guards.withinLease],
    effect: effects.firstToken,
    bumps,
  }),
  row({
    on: 'token',
    from: ['configuring', ...FINALIZED],
    to: 'same',
    guards: [],
    effect: effects.nextToken,
    bumps: false,
  }),
  row({
    on: 'starting',
    from: ['ready', 'stopped'],
    to: 'same',
    guards: [guards.instanceThere, guards.startWithinCap],
    holds: ({ instance, said }) => instance.starting?.newAddress === (said.newAddress ?? false),
    effect: effects.starting,
    bumps,
  }),
  row({
    on: 'halting',
    from: ['ready', 'running'],
    to: 'same',
    guards: [],
    holds: ({ instance }) => awaitedPower(instance.powerWish) === 'stopped',
    effect: effects.halting,
    bumps,
  }),
  row({
    on: 'resizing',
    from: ['ready', 'running', 'stopped'],
    to: 'resizing',
    guards: [guards.instanceThere, guards.sameArch, guards.growingDisk, guards.workPushed, guards.resizeWithinCap],
    effect: effects.resizing,
    bumps,
  }),
  row({
    on: 'terminating',
    from: ATTACHED,
    to: 'same',
    guards: [guards.workPushed],
    holds: ({ instance, said }) =>
      instance.terminating?.acknowledgedWorkAtRisk === (said.acknowledgeWorkAtRisk ?? false),
    effect: effects.terminating,
    bumps,
  }),
  row({
    on: 'cap-override',
    from: LIVE,
    to: 'same',
    guards: [],
    holds: ({ instance, at }) =>
      instance.capOverride !== null && Date.parse(at) < Date.parse(instance.capOverride.expiresAt),
    effect: effects.overridden,
    bumps: false,
  }),
  row({
    on: 'override-lapse',
    from: LIVE,
    to: 'same',
    guards: [guards.overrideIsOver],
    effect: effects.overrideLapsed,
    bumps: false,
  }),
  row({
    on: 'policy',
    from: LIVE,
    to: 'same',
    guards: [],
    holds: ({ instance, said }) => isDeepStrictEqual(instance.policy, said.policy),
    effect: effects.policyChanged,
    bumps: false,
  }),
  row({
    on: 'repo',
    from: LIVE,
    to: 'same',
    guards: [guards.freshProfile, guards.largeEnough],
    effect: effects.assigned,
    bumps,
  }),
  row({ on: 'env', from: LIVE, to: 'same', guards: [], effect: effects.envReplaced, bumps: false }),
  row({
    on: 'share',
    from: STATES,
    to: 'same',
    guards: [guards.roomForTeam],
    holds: ({ instance, said }) => instance.teams.includes(said.teamId),
    effect: effects.shared,
    bumps: false,
  }),
  row({
    on: 'unshare',
    from: STATES,
    to: 'same',
    guards: [],
    holds: ({ instance, said }) => !instance.teams.includes(said.teamId),
    effect: effects.unshared,
    bumps: false,
  }),
  row({ on: 'lapse', from: ['reserved'], to: 'same', guards: [guards.dayIsOver], effect: effects.lapsed, bumps }),
  row({
    on: 'delete',
    from: ['reserved', 'terminated'],
    to: 'same',
    guards: [guards.nothingLeft],
    effect: effects.deleted,
    bumps,
  }),
]
