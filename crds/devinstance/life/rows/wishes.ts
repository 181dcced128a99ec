/**
 * What the spec wishes of a machine: a change of its power or its size counts once, with its generation. It is judged as the request
 * that fulfils it, and is open until a report says that it is so, or something that was asked for later overtakes it.
 * Source: rules/devinstance.md#wishes.
 */
import type { Said, Trigger } from '../../protocol.ts'
import type { Power } from '../../schema.ts'
import { CLASSES } from '../../sizing/sizes.ts'
import type { LifeRule, TransitionContext, TransitionEffect } from '../context.ts'
import { unwished } from '../effects.ts'
import { newEntry } from '../entry.ts'
import * as guards from '../guards.ts'
import { awaitedPower, closedWish, type DevInstanceRow, type Extent } from '../row.ts'
import { LIVE, type Row, row } from '../table.ts'

const RESIZABLE: readonly string[] = ['ready', 'running', 'stopped']

/** Whether it does what is wished, by whoever spoke of it last. */
export const does = ({ state, machine }: DevInstanceRow, power: Power): boolean =>
  power === 'running' ? state === 'running' && machine === 'up' : state === 'stopped'

const isOf = (instance: Extent, { sizeClass, diskGb }: Extent): boolean =>
  instance.sizeClass === sizeClass && instance.diskGb >= diskGb

/** What the spec wishes anew, part by part. Raised, its number has all of it wished again. */
const sizeChanges = ({ sizeWish }: DevInstanceRow, said: Said['wish-size']) => {
  const isAgain = said.wish > sizeWish.wish
  return {
    sizeClass: isAgain || said.sizeClass !== sizeWish.sizeClass,
    diskGb: said.diskGb !== null && (isAgain || said.diskGb !== sizeWish.diskGb),
  }
}

/** What it is to become, null where it is so. What the spec says as before is no wish: it may have been overtaken since. */
export const sizeWished = (instance: DevInstanceRow, said: Said['wish-size']): Extent | null => {
  const { open } = instance.sizeWish
  const isNew = sizeChanges(instance, said)
  const sizeClass = isNew.sizeClass ? said.sizeClass : (open ?? instance).sizeClass
  const asked = isNew.diskGb || open !== null ? (said.diskGb ?? 0) : 0
  const to = { sizeClass, diskGb: Math.max(instance.diskGb, CLASSES[sizeClass].diskGb, asked) }
  return isOf(instance, to) ? null : to
}

/** Of what is withdrawn, or is so already, nothing is judged. */
const ofSize = (
  rule: LifeRule,
  check: (context: TransitionContext<'wish-size'>, asResize: TransitionContext<'resizing'>) => string | null,
) =>
  guards.guard<'wish-size'>(rule, (context) => {
    const { instance, said } = context
    const to = sizeWished(instance, said)
    if (to === null) return null
    return check(context, { ...context, said: { version: instance.version, ...to } })
  })

const whyOf = (rule: typeof guards.instanceThere | typeof guards.workPushed | typeof guards.resizeWithinCap) =>
  ofSize(rule, (_, asResize) => rule.check(asResize)?.detail ?? null)

const notShrinking = guards.guard<'wish-size'>(guards.growingDisk, ({ instance, said }) => {
  const isNew = sizeChanges(instance, said).diskGb && said.diskGb !== null && said.diskGb < instance.diskGb
  return isNew ? `the disk has ${instance.diskGb} GB, ${said.diskGb} GB were asked for` : null
})

const roomForClass = guards.guard<'wish-size'>(
  {
    code: 'INVALID_FIELD',
    rule: 'the disk that is asked for is that of the class at least',
    reason: 'a class is sold with its disk',
    actor: 'owner',
  },
  ({ instance, said }) => {
    const { sizeClass: isNew, diskGb: isNewDisk } = sizeChanges(instance, said)
    const least = CLASSES[said.sizeClass].diskGb
    const isLess = said.diskGb !== null && said.diskGb < least
    return (isNew || isNewDisk) && isLess
      ? `/diskGb ${said.diskGb} GB are less than the ${least} GB of ${said.sizeClass}`
      : null
  },
)

const finalized = ofSize(
  {
    code: 'WRONG_STATE',
    rule: 'the instance is ready',
    reason: 'only what was finalized is resized; it waits until then',
    actor: 'provisioner',
  },
  ({ instance }) =>
    RESIZABLE.includes(instance.state) || instance.state === 'resizing'
      ? null
      : `resizing is not for an instance that is ${instance.state}`,
)

const PENDING = {
  code: 'RESIZE_PENDING',
  rule: 'no resize is under way',
  reason: 'one thing is done after the other',
  actor: 'provisioner',
} as const

const resizeWords = ({ intent }: DevInstanceRow): string =>
  `a resize${intent ? ` from ${guards.extentOf(intent.from)} to ${guards.extentOf(intent.to)}` : ''} is under way`

const noResize = ofSize(PENDING, ({ instance }) => (instance.state === 'resizing' ? resizeWords(instance) : null))

const sizeWish: TransitionEffect<'wish-size'> = ({ instance, said, at }) => {
  const open = sizeWished(instance, said)
  const { sizeClass, diskGb, wish, generation } = said
  return {
    instance: {
      ...instance,
      sizeWish: { sizeClass, diskGb, wish, generation, at, open, undoneAt: null },
      terminating: open === null ? instance.terminating : null,
    },
    entries: [newEntry('wished', { generation, size: open ?? 'as it is' })],
  }
}

/** What it is to do, null where it does so, or nothing is wished. */
const powerWished = (instance: DevInstanceRow, { power }: Said['wish-power']): Power | null =>
  power === null || does(instance, power) ? null : power

/** A start may cost an address more; whether it does the provisioner says when it asks. */
const startOf = (context: TransitionContext<'wish-power'>): TransitionContext<'starting'> => {
  const { instance } = context
  return { ...context, said: { version: instance.version, newAddress: instance.eipAllocId === null } }
}

const ofStart = (rule: typeof guards.instanceThere | typeof guards.startWithinCap) =>
  guards.guard<'wish-power'>(rule, (context) => {
    const isStart =
      powerWished(context.instance, context.said) === 'running' && RESIZABLE.includes(context.instance.state)
    return isStart ? (rule.check(startOf(context))?.detail ?? null) : null
  })

const noResizeNow = guards.guard<'wish-power'>(PENDING, ({ instance, said }) =>
  powerWished(instance, said) !== null && instance.state === 'resizing' ? resizeWords(instance) : null,
)

const powerWish: TransitionEffect<'wish-power'> = ({ instance, said, at }) => {
  const to = powerWished(instance, said)
  const { power, wish, generation } = said
  return {
    instance: {
      ...instance,
      powerWish: { power, wish, generation, at, open: to !== null },
      starting: power === 'stopped' ? null : instance.starting,
      terminating: to === null ? instance.terminating : null,
    },
    entries: [newEntry('wished', { generation, power: to ?? 'as it is' })],
  }
}

const bumps = true

export const WISH_ROWS: readonly Row[] = [
  row({
    on: 'wish-power',
    from: LIVE,
    to: 'same',
    guards: [noResizeNow, ofStart(guards.instanceThere), ofStart(guards.startWithinCap)],
    holds: ({ instance, said }) => !isNewPower(instance, said),
    effect: powerWish,
    bumps,
  }),
  row({
    on: 'wish-size',
    from: LIVE,
    to: 'same',
    guards: [
      notShrinking,
      roomForClass,
      finalized,
      noResize,
      whyOf(guards.instanceThere),
      whyOf(guards.workPushed),
      whyOf(guards.resizeWithinCap),
    ],
    holds: ({ instance, said }) => !isNewSize(instance, said),
    effect: sizeWish,
    bumps,
  }),
]

/** Whether the spec says something else than it did when it was heard last. */
export const isNewPower = ({ powerWish: before }: DevInstanceRow, said: Said['wish-power']): boolean =>
  said.power !== before.power || said.wish > before.wish

export const isNewSize = (instance: DevInstanceRow, said: Said['wish-size']): boolean => {
  const isNew = sizeChanges(instance, said)
  return isNew.sizeClass || isNew.diskGb || said.diskGb !== instance.sizeWish.diskGb
}

/** What has come about is wished no more; a size that was tried and not had is not tried again by itself. */
export const afterWishes = (instance: DevInstanceRow, on: Trigger, at: string): DevInstanceRow => {
  const { powerWish: power, sizeWish: size, state, deletedAt } = instance
  if (!power.open && size.open === null) return instance
  if (state === 'terminated' || deletedAt !== null) return unwished(instance)
  const awaited = awaitedPower(power)
  const isDone = awaited !== null && does(instance, awaited)
  const isSized = size.open !== null && state !== 'resizing' && isOf(instance, size.open)
  const isUndone = size.open !== null && !isSized && on === 'resized' && state !== 'resizing'
  if (!isDone && !isSized && !isUndone) return instance
  return {
    ...instance,
    powerWish: isDone ? closedWish(power) : power,
    sizeWish: isSized ? { ...size, open: null, undoneAt: null } : isUndone ? { ...size, undoneAt: at } : size,
  }
}
