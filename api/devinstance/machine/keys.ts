/** Which public keys open a dev instance, and what it says that it has of them (rules/devinstance.md#who-may-log-in). */
import {
  type AuthorizedAnswer,
  type AuthorizedKey,
  authorizedAnswer,
  authorizedLines,
  linesDigest,
} from '../../../crds/devinstance/bootstrap/authorized.ts'
import { heldOf, type KeptFigures } from '../../../crds/devinstance/bootstrap/report.ts'
import type { ShownDevInstance } from '../../../crds/devinstance/view.ts'
import type { DevInstanceNeeds } from '../needs.ts'

type KeyNeeds = Pick<DevInstanceNeeds, 'sshKeys' | 'devInstances'>

export const openingKeys = ({ sshKeys }: Pick<DevInstanceNeeds, 'sshKeys'>, { id, policy }: ShownDevInstance) =>
  sshKeys.opening(id, { teams: policy.teamLogin === true })

/** Keys as they are told to people. */
const toldKeys = (keys: readonly AuthorizedKey[]) =>
  keys.map(({ account, name, fingerprint }) => ({ account, name, fingerprint }))

/**
 * What the answer to a report says of them, to a machine that speaks of them. That the machine has others than with the report before is told in its history: it
 * attests them, and the service does not only believe that it sent them.
 */
export const keysFor = async (
  deps: KeyNeeds,
  stored: ShownDevInstance,
  { before, report }: { before: KeptFigures | null; report: KeptFigures },
): Promise<{ authorizedKeys?: AuthorizedAnswer }> => {
  const held = heldOf(report.body).keysSha256
  if (held === undefined) return {}
  const keys = await openingKeys(deps, stored)
  const answer = authorizedAnswer(keys, held)
  if (held === answer.sha256 && before !== null && heldOf(before.body).keysSha256 !== held) {
    const by = { account: stored.owner, kind: 'instance', id: stored.id }
    await deps.devInstances.note(stored.id, {
      kind: 'keys.installed',
      at: report.at,
      by,
      data: { sha256: held, keys: toldKeys(keys).map(({ account, fingerprint }) => ({ account, fingerprint })) },
    })
  }
  return { authorizedKeys: answer }
}

/** Who may log in, and whether the machine has said that it lets in exactly these; null: it has not spoken of it. */
export const shownKeys = (keys: readonly AuthorizedKey[], lastReport: KeptFigures | null) => {
  const sha256 = linesDigest(authorizedLines(keys))
  const held = lastReport ? heldOf(lastReport.body).keysSha256 : undefined
  return { sha256, keys: toldKeys(keys), onMachine: held === undefined ? null : held === sha256 }
}
