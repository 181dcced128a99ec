/**
 * What a dev instance is launched from: made again while nothing is launched, and after that what it is for good. Source:
 * rules/devinstance.md#bootstrap.
 */
import { type BootstrapInput, bootstrapOf } from '../bootstrap/bootstrap.ts'
import type { LaunchedFrom } from '../life/context.ts'
import type { DevInstanceRow } from '../life/row.ts'
import type { Sayable } from '../world.ts'

/**
 * Of the programs that the bootstrap lays on a machine. It rises when they can what an operator has to know that older ones cannot;
 * then LACKS says what that is. Programs come with the launch, and are not changed after it.
 */
export const PROGRAMS_VERSION = 4

/** By version, what programs up to it cannot. */
const LACKS: Readonly<Record<number, string>> = {
  1: 'say that it stops, so that it counts and costs as running until the provisioner has looked',
  2: 'attest again after a start, so that nobody hears of it when sshd, its host keys or its units are changed',
  3: 'tell that it attests as before, so that nobody hears of it when it attests no more',
}
/** Of a row from before they had one. */
const FIRST_VERSION = 1

export const bootstrapInputOf = ({ name, arch, agents, repo }: DevInstanceRow): BootstrapInput => ({
  name,
  arch,
  agents,
  ...(repo && { repo }),
})

/** What a call changes of what it is to be launched from. */
const changedBy = (call: Sayable): Partial<BootstrapInput> | null => {
  if (call.trigger === 'repo') return { repo: call.said.repo }
  return call.trigger === 'renamed' ? { name: call.said.name } : null
}

/** The user data that a call leads to where nothing is launched yet; undefined: what was reserved stays. */
export const launchedFrom = (instance: DevInstanceRow, call: Sayable): LaunchedFrom | undefined => {
  const change = instance.state === 'reserved' ? changedBy(call) : null
  const made = change && bootstrapOf({ ...bootstrapInputOf(instance), ...change })
  return made?.ok ? { sha256: made.sha256, programs: PROGRAMS_VERSION } : undefined
}

/** What the programs of a machine cannot that those of a new one can, with the next step; null where they can all. */
export const programsLack = ({ instanceId, machine, programs = FIRST_VERSION }: DevInstanceRow): string | null => {
  const lacks = Object.entries(LACKS).flatMap(([version, words]) => (Number(version) >= programs ? [words] : []))
  if (instanceId === null || machine === 'gone' || lacks.length === 0) return null
  return `${instanceId} has the programs of its launch, version ${programs}, where new ones have version ${PROGRAMS_VERSION}. It cannot ${lacks.join('; nor ')}. It goes on working; one that is reserved and launched anew can`
}
