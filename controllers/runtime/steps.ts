/** The looks and the steps of a pass, each under its deadline. */
import type { Resource } from '../../crds/kernel/object.ts'
import type { Plan } from '../../crds/kernel/plan.ts'
import { withDeadline } from '../base/errors.ts'
import type { AfterStep, Controller, Pass, PassDeps, StepEffect } from './contract.ts'
import type { Writer } from './writer.ts'

/** More rounds with steps than any plan needs: it contradicts itself. */
export const ROUNDS_MAX = 20

/** The types of one kind under one name: what its `Controller` declares one by one. */
export type KindTypes = { object: Resource<unknown>; facts: object; world: unknown; step: { do: string } }
export type PlanOf<K extends KindTypes> = Plan<K['step'], K['facts']>

/** What all passes of one controller share. */
export type PassContext<K extends KindTypes> = {
  controller: Controller<K['object'], K['facts'], K['world'], K['step']>
  deps: PassDeps<K['object']>
  writer: Writer<K['object'], K['facts']>
}

/** @throws Waiting, Stalled, or a fault */
export const look = async <K extends KindTypes>(
  { controller, deps }: PassContext<K>,
  pass: Pass,
  object: K['object'],
): Promise<K['world']> => {
  pass.stage = 'observe'
  return withDeadline('observe', deps.observeLimitMs, pass.signal, (signal) => controller.observe(object, signal))
}

const act = async <K extends KindTypes>(
  { controller, deps }: PassContext<K>,
  pass: Pass,
  step: K['step'],
  { object, world }: { object: K['object']; world: K['world'] },
) => {
  pass.stage = step.do
  // The record is keyed by the step's own name; the compiler cannot follow that through the union.
  const effect = controller.act[step.do as K['step']['do']] as StepEffect<K['step'], K['object'], K['world']>
  const limitMs = deps.actLimitMs
  const answer = await withDeadline(`step ${step.do}`, limitMs, pass.signal, (signal) =>
    effect(step, object, signal, world),
  )
  pass.log.debug({ step: step.do }, 'step done')
  return answer
}

/**
 * Takes the steps, and those that follow from what the steps themselves answered, without looking in between. What is
 * said of the object in the end comes from a fresh look.
 * @returns that look, where the last step has made it; else null
 */
export const takeSteps = async <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  first: { world: K['world']; steps: K['step'][] },
): Promise<AfterStep<K['world']> | null> => {
  let { world, steps } = first
  for (let n = 0; n < ROUNDS_MAX && steps.length > 0; n += 1) {
    const changes: ((world: K['world']) => K['world'])[] = []
    let looked: AfterStep<K['world']> | null = null
    for (const step of steps) {
      const answer = await act(context, pass, step, { object, world })
      looked = typeof answer === 'object' ? answer : null
      if (typeof answer === 'function') changes.push(answer)
    }
    if (looked || changes.length < steps.length) return looked
    world = changes.reduce((known, apply) => apply(known), world)
    pass.stage = 'plan'
    steps = context.controller.plan(object, world, context.deps.now()).steps
  }
  return null
}
