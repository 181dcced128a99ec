/** How a call of the protocol was judged, for who made it (rules/devinstance.md#calls-are-facts). */
import { nextAsItStands, type Refusal } from '../../crds/devinstance/life/refusal.ts'
import { allowedActions } from '../../crds/devinstance/life/transitions.ts'
import type { ScannerProfile } from '../../crds/devinstance/sizing/profile.ts'
import { sizingOf } from '../../crds/devinstance/sizing/repo.ts'
import type { ShownDevInstance } from '../../crds/devinstance/view.ts'
import { isProblemCode } from '../../crds/kernel/problem.ts'
import type { FactGoal } from '../command/command.ts'
import { Problem } from '../http/problem.ts'
import type { Deps } from '../wiring/deps.ts'
import { pathOf } from './find.ts'

/** What a refusal is told by, beside the instance. `profile`: of the repository that was to be assigned. */
export type Asked = { profile?: ScannerProfile }

/**
 * What a refusal says beside its words: how the instance stands, and what may be done
 * (rules/devinstance.md#allowed-actions).
 */
export const refuse = (
  { code, detail, faults }: Refusal,
  { id, box: instance }: ShownDevInstance,
  asked: Asked,
): never => {
  const needed = { ...instance, profile: asked.profile ?? null, measurements: null }
  const allowed = allowedActions(instance)
  const members = {
    version: instance.version,
    state: instance.state,
    allowedActions: allowed,
    ...(code === 'RESIZE_REQUIRED' && { sizing: sizingOf(needed) }),
  }
  const kept =
    instance.deletedAt === null ? '' : `; what is kept of it, with what was said since: ${pathOf(id)}?deleted=1`
  const next = nextAsItStands(code, instance, allowed)
  throw new Problem(code, `${detail}${kept}.`, {
    members,
    ...(next !== undefined && { next }),
    ...(faults && { faults }),
  })
}

/**
 * @param after the instance as it stands since the controllers have looked
 * @returns whether the call was accepted; false while it is pending @throws Problem as it was refused
 */
export const isAccepted = async (
  { devInstances }: Pick<Deps, 'devInstances'>,
  after: ShownDevInstance,
  { seq, ...asked }: FactGoal & Asked,
): Promise<boolean> => {
  const verdict = await devInstances.verdict(after.id, { seq })
  if (!verdict || verdict.state === 'pending') return false
  if (verdict.state === 'accepted') return true
  const code = verdict.code !== null && isProblemCode(verdict.code) ? verdict.code : 'INTERNAL'
  const { detail, faults } = verdict
  return refuse({ code, detail: detail ?? 'the call was refused', ...(faults && { faults }) }, after, asked)
}
