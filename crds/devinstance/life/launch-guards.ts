/**
 * The rules that the report of a launched instance may break, and what it says of itself once it is there. It is answered with
 * the code, and is on record. Source: rules/devinstance.md#reports-and-requests.
 */
import { checkFinalize } from '../bootstrap/assertions.ts'
import type { Trigger } from '../protocol.ts'
import type { TransitionContext } from './context.ts'
import { guard, hasLapsed, LEASE } from './guards.ts'

export const instanceFree = guard<'provisioning'>(
  {
    code: 'INSTANCE_MISMATCH',
    rule: 'the instance is attached to no other dev instance',
    reason: 'a machine is paid for once, and has one record',
    actor: 'provisioner',
  },
  ({ said, around }) =>
    around.taken?.includes('instance') ? `${said.instanceId} is attached to another dev instance` : null,
)

export const sameInstance = guard<'provisioning'>(
  {
    code: 'INSTANCE_MISMATCH',
    rule: 'one instance is launched',
    reason: 'of two one is an orphan that costs',
    actor: 'provisioner',
  },
  ({ instance, said }) =>
    said.instanceId === instance.instanceId
      ? null
      : `${instance.instanceId} is attached, ${said.instanceId} was reported: one of them is an orphan`,
)

/**
 * A lease that ran out is renewed once, by the report of the same instance. Of a second time it is on record that the machine
 * is there still, and nothing is renewed.
 */
export const renewable = guard<'provisioning'>(LEASE, (context) => {
  const { lease, instanceId } = context.instance
  return hasLapsed(context as TransitionContext<Trigger>) && lease?.renewed
    ? `the lease of ${instanceId} was renewed once and ran out again at ${lease.expiresAt}`
    : null
})

export const attachedInstance = guard<'finalize'>(
  {
    code: 'INSTANCE_MISMATCH',
    rule: 'what is finalized is the instance that was reported',
    reason: 'of two instances one is an orphan that costs',
    actor: 'provisioner',
  },
  ({ instance, said }) =>
    said.instanceId === instance.instanceId
      ? null
      : `${instance.instanceId} is attached, ${said.instanceId} was to be finalized: one of them is an orphan`,
)

export const asReserved = guard<'finalize'>(
  {
    code: 'ASSERTION_FAILED',
    rule: 'the facts of the cloud are as reserved, sshd says of itself what it must, its units are enabled and no password opens it',
    reason: 'ready means looked at, not hoped for',
    actor: 'provisioner',
  },
  ({ instance, said }) => {
    const faults = checkFinalize(instance, said)
    const [first, ...others] = faults
    if (!first) return null
    const rest = others.length === 0 ? '' : `; then ${others.map(({ pointer }) => pointer).join(', ')}`
    const detail = `${faults.length} of the facts and assertions do not hold, first ${first.pointer}: ${first.detail}${rest}`
    return { detail, faults }
  },
)

export const hostKeysOwn = guard<'finalize'>(
  {
    code: 'ASSERTION_FAILED',
    rule: 'no other dev instance has a host key of it',
    reason: 'who has the key of one machine could pass for the other',
    actor: 'provisioner',
  },
  ({ said, around }) => {
    if (!around.taken?.includes('hostKey')) return null
    const detail = `${said.facts.hostKeys?.join(', ')}: another dev instance has one of these; make host keys anew (ssh_deletekeys) in the image`
    return { detail, faults: [{ code: 'ASSERTION_FAILED', pointer: '/facts/hostKeys', detail }] }
  },
)

export const addressUncontested = guard<'finalize'>(
  {
    code: 'ADDRESS_IN_USE',
    rule: 'the address is held by no other dev instance',
    reason: 'an address leads to one machine',
    actor: 'provisioner',
  },
  ({ said, around }) =>
    around.taken?.includes('address') ? `${said.eipAllocId} (${said.publicIp}) is held by another dev instance` : null,
)
