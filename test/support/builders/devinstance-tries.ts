import type { Surroundings } from '../../../crds/devinstance/life/context.ts'
import {
  addressOf,
  committedMicroUsd,
  type DevInstanceRow,
  presentMonthlyMicroUsd,
} from '../../../crds/devinstance/life/row.ts'
import { isReport } from '../../../crds/devinstance/life/table.ts'
import { decide, TRIGGERS, type TransitionDecision } from '../../../crds/devinstance/life/transitions.ts'
import type { Said, Trigger } from '../../../crds/devinstance/protocol.ts'
import { STATES } from '../../../crds/devinstance/schema.ts'
import { FIRST, good, later, PROFILE, SECOND } from './devinstance.ts'

/** What may be said of a dev instance, and what must hold of it whatever was said: for the checks of the table. */

export type Try = { [T in Trigger]: { trigger: T; said: Said[T] } }[Trigger]
export const OTHER_INSTANCE = 'i-ffffffff'

/** What fits, and what does not in each way that a rule knows. */
export const tries = (instance: DevInstanceRow): Try[] => {
  const fits = good(instance)
  const { version } = instance
  const stale = version - 1
  const versioned = ['started', 'stopped', 'resizing', 'resized', 'renamed', 'eip-released', 'terminated'] as const
  const gone = { version, instanceGone: false, eipGone: false, volumesGone: false }
  return [
    ...TRIGGERS.map((trigger) => ({ trigger, said: fits[trigger] }) as Try),
    ...versioned.map((trigger) => ({ trigger, said: { ...fits[trigger], version: stale } }) as Try),
    { trigger: 'provisioning', said: { instanceId: OTHER_INSTANCE } },
    { trigger: 'finalize', said: { ...fits.finalize, instanceId: OTHER_INSTANCE } },
    { trigger: 'starting', said: { version, newAddress: true } },
    { trigger: 'started', said: { version } },
    { trigger: 'started', said: { version, ...SECOND } },
    { trigger: 'started', said: { version, ...FIRST, publicIp: '198.51.100.7' } },
    { trigger: 'started', said: { version, publicIp: '198.51.100.9' } },
    { trigger: 'started', said: { version, eipAllocId: 'eipalloc-9' } },
    { trigger: 'started', said: { version, instanceType: 'm8g.xlarge', region: 'us-east-1' } },
    { trigger: 'resized', said: { ...fits.resized, instanceType: 't4g.xlarge' } },
    { trigger: 'finalize', said: { ...fits.finalize, facts: { ...fits.finalize.facts, instanceType: 'x9.metal' } } },
    { trigger: 'resized', said: { ...fits.resized, publicIp: '198.51.100.9' } },
    { trigger: 'finalize', said: { ...fits.finalize, assertions: {} } },
    { trigger: 'finalize', said: { ...fits.finalize, ...SECOND } },
    { trigger: 'resizing', said: { version, sizeClass: 'XS', arch: 'x86_64' } },
    { trigger: 'resizing', said: { version, sizeClass: 'M', diskGb: 1 } },
    { trigger: 'resizing', said: { version, sizeClass: 'XS' } },
    { trigger: 'resized', said: { ...fits.resized, state: 'running', ...SECOND } },
    { trigger: 'resized', said: { ...fits.resized, sizeClass: 'XL', diskGb: 20, state: 'running' } },
    {
      trigger: 'resized',
      said: { version, sizeClass: instance.sizeClass, diskGb: instance.diskGb, verifiedDf: '490G', state: 'ready' },
    },
    { trigger: 'resized', said: { ...fits.resized, verifiedDf: '10G' } },
    { trigger: 'eip-released', said: { version, allocationId: 'eipalloc-none' } },
    { trigger: 'eip-released', said: { version, allocationId: FIRST.eipAllocId } },
    { trigger: 'terminated', said: { ...gone, instanceGone: true } },
    { trigger: 'terminated', said: { ...gone, eipGone: true } },
    { trigger: 'terminated', said: { ...gone, volumesGone: true } },
    { trigger: 'terminated', said: { ...gone, instanceGone: true, instanceId: OTHER_INSTANCE } },
    { trigger: 'terminated', said: gone },
    { trigger: 'wish-power', said: { generation: 3, wish: 0, power: 'stopped' } },
    { trigger: 'wish-power', said: { generation: 3, wish: 0, power: null } },
    { trigger: 'wish-size', said: { generation: 3, wish: 0, sizeClass: 'S', diskGb: null } },
    { trigger: 'wish-size', said: { generation: 3, wish: 0, sizeClass: 'XL', diskGb: 300 } },
    { trigger: 'wish-size', said: { generation: 3, wish: 0, sizeClass: 'S', diskGb: 60 } },
    { trigger: 'repo', said: { ...fits.repo, profile: { ...PROFILE, scannedAt: later(-90_000_000) } } },
    { trigger: 'repo', said: { ...fits.repo, profile: { ...PROFILE, resolvedPackages: 100_000 } } },
  ]
}

export const told = ({ trigger, said }: Try) => `${trigger} ${JSON.stringify(said)}`

export const say = (instance: DevInstanceRow, { trigger, said }: Try, at: string, around: Surroundings) =>
  decide(trigger, { instance, said: said as never, at, around })

/** Whether something that has happened would be lost: it is refused, and not because the very same is on record. */
export const isLost = (before: DevInstanceRow, one: Try, decision: TransitionDecision): boolean => {
  if (decision.state !== 'refused' || !isReport(one.trigger)) return false
  const { code, detail } = decision.refusal
  const isKnown = before.breaches.some(
    (each) => each.on === one.trigger && each.code === code && each.detail === detail,
  )
  return !isKnown
}

/** What holds of every dev instance, whatever was said of it. */
export const faultsOf = (before: DevInstanceRow, one: Try, instance: DevInstanceRow): string[] => {
  const allocations = instance.held.map(({ eipAllocId }) => eipAllocId)
  const isOver = instance.state === 'terminated' || instance.deletedAt !== null
  const rules: [string, boolean][] = [
    ['the state is one of the table', (STATES as readonly string[]).includes(instance.state)],
    ['the version rises by one at most', [0, 1].includes(instance.version - before.version)],
    ['a move shows in the version', instance.state === before.state || instance.version > before.version],
    ['an intent stands while it resizes', (instance.intent !== null) === (instance.state === 'resizing')],
    [
      'a state beyond reserved has an instance',
      instance.state === 'reserved' || isOver || instance.instanceId !== null,
    ],
    ['an instance stays the same', before.instanceId === null || instance.instanceId === before.instanceId],
    ['the address in use is held', instance.eipAllocId === null || addressOf(instance) !== null],
    ['an address is held once', new Set(allocations).size === allocations.length],
    [
      'what is gone holds nothing and opens nothing',
      !isOver || (instance.held.length === 0 && instance.tokenHash === null && instance.env === null),
    ],
    ['what costs is committed', presentMonthlyMicroUsd(instance) <= committedMicroUsd(instance)],
    [
      'what was launched is kept until it is resized or told anew',
      before.launched === null ||
        instance.launched?.instanceType === before.launched.instanceType ||
        ['finalize', 'started', 'resized'].includes(one.trigger),
    ],
    [
      'what is gone in every part costs nothing',
      instance.state !== 'terminated' ||
        instance.machine !== 'gone' ||
        !instance.volumesGone ||
        instance.strays.length > 0 ||
        presentMonthlyMicroUsd(instance) === 0,
    ],
    [
      'one that runs without an address is said to',
      instance.state !== 'running' ||
        addressOf(instance) !== null ||
        instance.breaches.some(({ code }) => code === 'ADDRESS_PAIR_REQUIRED' || code === 'ADDRESS_IN_USE'),
    ],
    [
      'a disk shrinks by a report alone, and with a condition',
      instance.diskGb >= before.diskGb || isBroken(instance, 'DISK_SHRINK'),
    ],
    ['the architecture stays', instance.arch === before.arch],
    [
      'the clock of cost runs at the present price',
      instance.meter.monthlyMicroUsd === presentMonthlyMicroUsd(instance),
    ],
    ['what is wished is not so', !isWishedInVain(instance)],
    [
      'a wish is closed by what makes it so, by something asked for, or by another wish',
      !isForgotten(before, one, instance),
    ],
    ['one breach a code', new Set(instance.breaches.map(({ code }) => code)).size === instance.breaches.length],
    [
      'only a deleted one has an end',
      instance.deletedAt === null || ['reserved', 'terminated'].includes(instance.state),
    ],
    [
      'a second instance is said to be',
      instance.strays.length === 0 || one.trigger !== 'provisioning' || instance.breaches.length > 0,
    ],
  ]
  return rules.filter(([, holds]) => !holds).map(([rule]) => rule)
}

const SILENT: readonly Trigger[] = ['stopping', 'share', 'unshare', 'env', 'policy', 'measurements', 'renamed', 'repo']

/** A wish that nobody fulfilled or overtook is not open any more. */
const isForgotten = (before: DevInstanceRow, { trigger }: Try, after: DevInstanceRow): boolean =>
  SILENT.includes(trigger) &&
  ((before.powerWish.open && !after.powerWish.open) || (before.sizeWish.open !== null && after.sizeWish.open === null))

/** Open though it is as wished, or over. */
const isWishedInVain = ({
  powerWish,
  sizeWish,
  state,
  machine,
  sizeClass,
  diskGb,
  deletedAt,
}: DevInstanceRow): boolean => {
  if (!powerWish.open && sizeWish.open === null) return false
  if (state === 'terminated' || deletedAt !== null) return true
  const does = powerWish.power === 'running' ? state === 'running' && machine === 'up' : state === 'stopped'
  const { open } = sizeWish
  const isSized = open !== null && state !== 'resizing' && open.sizeClass === sizeClass && diskGb >= open.diskGb
  return (powerWish.open && does) || isSized
}

const isBroken = ({ breaches }: DevInstanceRow, code: string) => breaches.some((one) => one.code === code)
