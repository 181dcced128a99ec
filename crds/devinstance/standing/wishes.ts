/**
 * How the wishes of the spec stand: what it says anew, what is awaited and of whom, and why it is not done
 * (rules/devinstance.md#wishes).
 */
import type { Meta } from '../../kernel/object.ts'
import { stalled, unready, type Verdict, waiting } from '../../kernel/plan.ts'
import { PROBLEMS } from '../../kernel/problem.ts'
import type { Surroundings } from '../life/context.ts'
import { extentOf } from '../life/guards.ts'
import type { Refusal } from '../life/refusal.ts'
import { awaitedPower, type DevInstanceRow } from '../life/row.ts'
import { does, isNewPower, isNewSize } from '../life/rows/wishes.ts'
import { decide } from '../life/transitions.ts'
import type { Said } from '../protocol.ts'
import type { DevInstanceSpec } from '../schema.ts'
import type { DevInstanceWorld } from '../world.ts'

type Wishing = { metadata: Meta; spec: DevInstanceSpec }
type NewWish = { trigger: 'wish-power'; said: Said['wish-power'] } | { trigger: 'wish-size'; said: Said['wish-size'] }

/** What the spec says that it did not say when it was heard last. */
export const newWishes = ({ metadata, spec }: Wishing, instance: DevInstanceRow): NewWish[] => {
  const of = { generation: metadata.generation, wish: spec.wish ?? 0 }
  const power = { ...of, power: spec.power ?? null }
  const size = { ...of, sizeClass: spec.sizeClass, diskGb: spec.diskGb ?? null }
  return [
    ...(isNewPower(instance, power) ? [{ trigger: 'wish-power' as const, said: power }] : []),
    ...(isNewSize(instance, size) ? [{ trigger: 'wish-size' as const, said: size }] : []),
  ]
}

/** With the cap, for a wish commits nothing: what would be committed to fulfil it is judged by the table alone. */
export const aroundWish = ({ account, record, lastReport }: DevInstanceWorld): Surroundings => ({
  git: lastReport?.git ?? null,
  cap: { othersMicroUsd: record?.othersMicroUsd ?? 0, capMicroUsd: account?.capMicroUsd ?? 0 },
})

const refused = ({ code, detail }: Refusal): Verdict => stalled(code, `${code}: ${detail}. ${PROBLEMS[code].next}`)

const PROVISIONER = 'waits for the provisioner (bottega-devbox run)'
const RESTING = ['ready', 'running', 'stopped'] as const
const isResting = ({ state }: DevInstanceRow): boolean => (RESTING as readonly string[]).includes(state)

const sizeVerdict = (instance: DevInstanceRow, around: Surroundings, at: string): Verdict | null => {
  const { open, undoneAt, generation, at: since } = instance.sizeWish
  if (open === null) return null
  if (undoneAt !== null) {
    const message = `${extentOf(open)} was tried, and at ${undoneAt} ${extentOf(instance)} was confirmed; raise spec.wish to have it tried again, or say in spec what it is`
    return unready({ ready: 'False', reason: 'ResizeUndone', message, warns: true })
  }
  const decision = decide('resizing', { instance, said: { version: instance.version, ...open }, at, around })
  if (decision.state === 'refused') return refused(decision.refusal)
  const message = `${PROVISIONER} to resize it from ${extentOf(instance)} to ${extentOf(open)}, wished by generation ${generation} at ${since}`
  return waiting('ResizeWished', message)
}

const powerVerdict = (instance: DevInstanceRow, around: Surroundings, at: string): Verdict | null => {
  const { asked, generation, at: since } = instance.powerWish
  const power = awaitedPower(instance.powerWish)
  if (power === null) return null
  const wished = asked ? `asked for over REST at ${since}` : `wished by generation ${generation} at ${since}`
  if (power === 'stopped') return waiting('StopWished', `${PROVISIONER} to stop it, ${wished}`)
  const said = { version: instance.version, newAddress: instance.eipAllocId === null }
  const decision = instance.state === 'running' ? null : decide('starting', { instance, said, at, around })
  if (decision?.state === 'refused') return refused(decision.refusal)
  return waiting('StartWished', `${PROVISIONER} to start it, ${wished}`)
}

/** What is to be said of it first: that a person must act, what is awaited, that it was not to be had. */
const FIRST: readonly Verdict['state'][] = ['stalled', 'waiting', 'unready']

/** Null where nothing is wished that is not so, or its state says what comes first. */
export const wishVerdict = (
  object: Wishing,
  instance: DevInstanceRow,
  world: DevInstanceWorld,
  now: Date,
): Verdict | null => {
  if (object.metadata.deletionTimestamp !== undefined || instance.deletedAt !== null) return null
  const [around, at] = [aroundWish(world), now.toISOString()]
  for (const { trigger, said } of newWishes(object, instance)) {
    const decision = decide(trigger, { instance, said: said as never, at, around })
    if (decision.state === 'refused') return refused(decision.refusal)
  }
  if (!isResting(instance)) return null
  const verdicts = [sizeVerdict(instance, around, at), powerVerdict(instance, around, at)].filter((one) => one !== null)
  return FIRST.flatMap((state) => verdicts.filter((one) => one.state === state))[0] ?? null
}

/** What the spec says and is not so, though nothing of it is wished any more; null where all is as it says. */
export const overtakenBy = (instance: DevInstanceRow): string | null => {
  const { powerWish, sizeWish, state, stateSince, sizeClass, diskGb } = instance
  if (!isResting(instance) || sizeWish.open !== null || powerWish.open) return null
  const { power } = powerWish
  const isOtherSize = sizeWish.sizeClass !== sizeClass || (sizeWish.diskGb !== null && sizeWish.diskGb !== diskGb)
  const differences = [
    ...(power !== null && !does(instance, power) ? [`power ${power}, and it is ${state} since ${stateSince}`] : []),
    ...(isOtherSize
      ? [
          `${sizeWish.sizeClass}${sizeWish.diskGb === null ? '' : ` with ${sizeWish.diskGb} GB`}, and it is ${extentOf(instance)}`,
        ]
      : []),
  ]
  if (differences.length === 0) return null
  return `spec says ${differences.join('; ')}. What came after it counts: change it, or raise spec.wish, to have it so`
}
